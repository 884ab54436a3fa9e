//! Fields of fio's JSON.

use serde_json::{Map, Value};

/// A number that may be left out, which is 0.
pub(super) fn number(at: &str, fields: &Map<String, Value>, name: &str) -> Result<f64, String> {
    let Some(value) = fields.get(name) else {
        return Ok(0.0);
    };
    let number = value
        .as_f64()
        .filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("{at}: {name}: is not a number from 0; keep what fio wrote"))
}
