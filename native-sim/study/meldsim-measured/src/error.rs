//! Why measured cells cannot be simulated.

use meldsim::device::DeviceError;
use meldsim::profile::ProfileErrors;
use meldsim_host::LoadError;
use thiserror::Error;

/// Why measured cells cannot be simulated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The profile describes an impossible device.
    #[error(transparent)]
    Profile(#[from] ProfileErrors),
    /// The device refuses the data.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The rows cannot be read: where, why, and the remedy.
    #[error("{0}")]
    Rows(String),
    /// The device refuses a request, or one did not succeed.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl From<String> for MeasureError {
    fn from(message: String) -> MeasureError {
        MeasureError::Rows(message)
    }
}
