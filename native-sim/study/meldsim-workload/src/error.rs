//! What is wrong with a workload: a job on this device, a line of a trace.

use thiserror::Error;

use super::job::JobError;
use meldsim::device::{Device, DeviceError};
use meldsim::policy::PolicyFault;
use meldsim::profile::ProfileErrors;

/// Why a workload cannot run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The profile describes an impossible device.
    #[error(transparent)]
    Profile(#[from] ProfileErrors),
    /// A job is impossible by itself, or on this device.
    #[error("job {job}: {error}")]
    Job {
        /// The job's name.
        job: String,
        /// What is wrong with it.
        error: JobError,
    },
    /// The jobs' data are more than the device can hold.
    #[error("job {job}: {error}")]
    Room {
        /// The job with which they are too much.
        job: String,
        /// How much there is, and how much there can be.
        error: JobError,
    },
    /// The device refuses a job's data or a request.
    #[error("job {job}: {error}")]
    Device {
        /// The job's name.
        job: String,
        /// The refusal.
        error: DeviceError,
    },
    /// A trace cannot be read or replayed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The device cannot be brought into the required state.
    #[error("precondition: {0}")]
    Precondition(DeviceError),
    /// The device has no timeline.
    #[error("timeline: {0}")]
    Timeline(DeviceError),
    /// A registered policy ended the run.
    #[error(transparent)]
    Policy(#[from] PolicyFault),
    /// Garbage collection stands still since its policy names no superblock.
    #[error(
        "gc.victim: policy \"{policy}\" names no superblock though there are some to collect, and {outstanding} commands wait for \
         room; let its rank leave at least one"
    )]
    NoVictim {
        /// The policy.
        policy: String,
        /// How many wait.
        outstanding: usize,
    },
    /// Commands are outstanding and no event is scheduled: a defect of the model.
    #[error("{outstanding} commands are outstanding and nothing will happen")]
    Stuck {
        /// How many.
        outstanding: usize,
    },
}

// Its text has the reason: it is no source besides.
impl From<DeviceError> for RunError {
    fn from(error: DeviceError) -> RunError {
        RunError::Precondition(error)
    }
}

impl RunError {
    /// A run that is stuck, with the policy that is the cause, if one is.
    pub(super) fn explained(self, device: &Device) -> RunError {
        match self {
            RunError::Stuck { outstanding } if device.names_no_victim() => RunError::NoVictim {
                policy: device.profile().gc.victim.to_string(),
                outstanding,
            },
            error => error,
        }
    }

    /// What the device refuses of `job`.
    pub fn of(job: &str) -> impl FnOnce(DeviceError) -> RunError + use<'_> {
        move |error| RunError::Device {
            job: job.to_owned(),
            error,
        }
    }
}

/// What is wrong with a trace: the file, the line, the field, the remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// A line that cannot be used.
    #[error("{file}:{line}: {field}: {message}; {remedy}")]
    Line {
        /// The file's name, given by the caller.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The field, in the format's words.
        field: &'static str,
        /// What was found.
        message: String,
        /// What to do.
        remedy: String,
    },
    /// The trace cannot be read on.
    #[error("{file}:{line}: cannot be read: {error}; the trace may be cut off or damaged")]
    Read {
        /// The file's name, given by the caller.
        file: String,
        /// The line, from 1.
        line: u64,
        /// Why.
        error: std::io::Error,
    },
}

/// What is wrong with a line, before it is known which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) field: &'static str,
    pub(super) message: String,
    pub(super) remedy: String,
}

impl Fault {
    pub(super) fn new(
        field: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Fault {
        Fault {
            field,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    pub(super) fn at(self, file: &str, line: u64) -> TraceError {
        TraceError::Line {
            file: file.to_owned(),
            line,
            field: self.field,
            message: self.message,
            remedy: self.remedy,
        }
    }
}
