//! The frame around every result in JSON.

use serde::Serialize;

/// A result with where it comes from.
#[derive(Clone, Debug, Serialize)]
pub struct Document<T: Serialize> {
    /// The command that gave it, as it can be repeated.
    pub command: String,
    /// The simulator's version.
    pub meldsim_version: &'static str,
    /// The device's profile.
    pub profile: String,
    /// What the numbers are: simulated or measured.
    pub kind: &'static str,
    /// The result.
    #[serde(flatten)]
    pub body: T,
}

impl<T: Serialize> Document<T> {
    /// A result of this version.
    pub fn new(
        command: impl Into<String>,
        profile: &str,
        kind: &'static str,
        body: T,
    ) -> Document<T> {
        Document {
            command: command.into(),
            meldsim_version: env!("CARGO_PKG_VERSION"),
            profile: profile.to_owned(),
            kind,
            body,
        }
    }

    /// The document as JSON text that ends in a newline.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        super::json(self)
    }
}
