//! A calibration whose simulations are done elsewhere, as programs ask for it: in JSON, a step at a time.

use serde::{Deserialize, Serialize};

use super::{CalibrateError, Calibration, Evaluation, Place, Progress, Request, Unit};

/// `{"calibrate": {...}}`: a step of the search, or some simulations of it.
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
    /// To be simulated, one after the other.
    units: Option<Vec<Unit>>,
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
        let value = match serde_json::from_str::<serde_json::Value>(text) {
            Ok(value) if value.get("calibrate").is_some() => value,
            _ => return Ok(None),
        };
        let message = serde_path_to_error::deserialize(value);
        let wrong = |error: serde_path_to_error::Error<serde_json::Error>| {
            CalibrateError::Input(format!(
                "request: {}: {}; docs/reference/c-abi.md has the keys",
                error.path(),
                error.inner()
            ))
        };
        message.map(Some).map_err(wrong)
    }

    /// The evaluations of the units; without them `{"simulate": [units]}` or `{"done": result}`.
    ///
    /// # Errors
    ///
    /// The cells are wrong, or a device cannot be simulated.
    pub fn answer(self) -> Result<String, CalibrateError> {
        let Asked {
            request,
            known,
            units,
        } = self.calibrate;
        let calibration = Calibration::new(request)?;
        let json = match units {
            Some(units) => {
                let evaluations = units.iter().map(|unit| calibration.simulate(unit));
                let evaluations: Vec<Evaluation> = evaluations.collect::<Result<_, _>>()?;
                serde_json::to_string(&evaluations)
            }
            None => match calibration.find(&known, &Place::Elsewhere)? {
                Progress::Simulate(units) => serde_json::to_string(&Step::Simulate(units)),
                Progress::Done(done) => serde_json::to_string(&Step::Done(&done)),
                Progress::Interrupted => Ok(String::new()),
            },
        };
        json.map_err(|error| CalibrateError::Input(format!("result: {error}")))
    }
}
