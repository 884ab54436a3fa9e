//! JSON: one object, indented, keys in the order of the result's fields, floats with all their digits.

use serde::Serialize;

/// `value` as JSON text that ends in a newline.
pub fn json<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(value).map(|text| text + "\n")
}
