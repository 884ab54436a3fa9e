//! Results as JSON.

use serde::Serialize;

/// `value` as JSON that ends in a newline: indented, keys in the order of its fields, floats with all their digits.
///
/// # Errors
///
/// When `value` cannot be JSON, as a map whose keys are no texts.
pub fn json<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(value).map(|text| text + "\n")
}

/// Version of the form of JSON results. It grows when a key goes or changes its meaning; new keys may come without.
pub const SCHEMA_VERSION: u32 = 3;

/// `body` as a JSON document that says where it comes from: the command that gave it, as it can be repeated, the
/// simulator's version, the device's profile, and whether the numbers are simulated or measured.
///
/// # Errors
///
/// As [`json`].
pub fn document<T: Serialize>(
    command: &str,
    profile: &str,
    kind: &str,
    body: &T,
) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Document<'a, T> {
        command: &'a str,
        meldsim_version: &'static str,
        schema_version: u32,
        profile: &'a str,
        kind: &'a str,
        #[serde(flatten)]
        body: &'a T,
    }
    json(&Document {
        command,
        meldsim_version: env!("CARGO_PKG_VERSION"),
        schema_version: SCHEMA_VERSION,
        profile,
        kind,
        body,
    })
}
