//! What is wrong with a profile.

use std::fmt;

use thiserror::Error;

/// One thing wrong with a profile: the key, what was read, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {message}; {remedy}")]
pub struct ProfileError {
    /// The key with its section: `geometry.channels`.
    pub key: String,
    /// What was found: `is 0`.
    pub message: String,
    /// What to do: `must be at least 1`.
    pub remedy: String,
}

impl ProfileError {
    pub(crate) fn new(
        key: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ProfileError {
        ProfileError {
            key: key.into(),
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}

/// Everything wrong with a profile, one per line when displayed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct ProfileErrors(pub Vec<ProfileError>);

impl fmt::Display for ProfileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl From<ProfileError> for ProfileErrors {
    fn from(error: ProfileError) -> ProfileErrors {
        ProfileErrors(vec![error])
    }
}
