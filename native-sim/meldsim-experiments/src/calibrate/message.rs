//! A calibration whose simulations are done elsewhere, as programs ask for it: in JSON, a step at a time.

use serde::{Deserialize, Serialize};

use super::{CalibrateError, Calibration, Evaluation, Place, Progress, Request, Unit};

/// `{"calibrate": {...}}`: a step of the search, or one simulation of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    calibrate: Asked,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    request: Request,
    /// What was simulated so far: the search goes on from there.
    #[serde(default)]
    known: Vec<Evaluation>,
    /// To be simulated.
    unit: Option<Unit>,
}

/// How far the search is.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Step<'a> {
    /// These are to be simulated, in any order.
    Simulate(Vec<Unit>),
    /// The result.
    Done(&'a super::Calibrated),
}

impl Message {
    /// Reads a message; nothing where the text is a request of another kind.
    ///
    /// # Errors
    ///
    /// It is one, with a key or a value that is wrong.
    pub fn from_json(text: &str) -> Result<Option<Message>, CalibrateError> {
        let is_one = serde_json::from_str::<serde_json::Value>(text)
            .is_ok_and(|value| value.get("calibrate").is_some());
        if !is_one {
            return Ok(None);
        }
        let mut reader = serde_json::Deserializer::from_str(text);
        let message = serde_path_to_error::deserialize(&mut reader);
        let wrong = |error: serde_path_to_error::Error<serde_json::Error>| {
            CalibrateError::Input(format!(
                "request: {}: {}; docs/reference/c-abi.md has the keys",
                error.path(),
                error.inner()
            ))
        };
        message.map(Some).map_err(wrong)
    }

    /// The evaluation of the unit; without one `{"simulate": [units]}` or `{"done": result}`.
    ///
    /// # Errors
    ///
    /// The cells are wrong, or a device cannot be simulated.
    pub fn answer(self) -> Result<String, CalibrateError> {
        let Asked {
            request,
            known,
            unit,
        } = self.calibrate;
        let calibration = Calibration::new(request)?;
        let json = match unit {
            Some(unit) => serde_json::to_string(&calibration.simulate(&unit)?),
            None => match calibration.find(&known, &Place::Elsewhere)? {
                Progress::Simulate(units) => serde_json::to_string(&Step::Simulate(units)),
                Progress::Done(done) => serde_json::to_string(&Step::Done(&done)),
                Progress::Interrupted => Ok(String::new()),
            },
        };
        json.map_err(|error| CalibrateError::Input(format!("result: {error}")))
    }
}
