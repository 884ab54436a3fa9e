//! Fields of fio's JSON.

use serde_json::{Map, Value};

/// A number that may be left out, which is 0.
pub(super) fn number(at: &str, fields: &Map<String, Value>, name: &str) -> Result<f64, String> {
    fields
        .get(name)
        .map_or(Ok(0.0), |value| amount(at, name, value))
}

/// A number from 0.
pub(super) fn amount(at: &str, name: &str, value: &Value) -> Result<f64, String> {
    let number = value.as_f64();
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("{at}: {name}: is not a number from 0; keep what fio wrote"))
}
