//! Why measured cells cannot be simulated.

use meldsim::device::DeviceError;
use meldsim::nvme::Completion;
use meldsim::profile::ProfileErrors;
use meldsim_host::Failure;
use thiserror::Error;

/// Why measured cells cannot be simulated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The profile describes an impossible device.
    #[error(transparent)]
    Profile(#[from] ProfileErrors),
    /// The device refuses the data or a request.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The rows cannot be read: where, why, and the remedy.
    #[error("{0}")]
    Rows(String),
    /// A request did not succeed: a defect of the model.
    #[error("the read did not complete: {0:?}")]
    Incomplete(Option<Completion>),
}

impl<R> From<Failure<R>> for MeasureError {
    fn from(failure: Failure<R>) -> MeasureError {
        match failure {
            Failure::Refused(_, _, error) => MeasureError::Device(error),
            Failure::Stuck { .. } => MeasureError::Incomplete(None),
        }
    }
}

impl From<String> for MeasureError {
    fn from(message: String) -> MeasureError {
        MeasureError::Rows(message)
    }
}
