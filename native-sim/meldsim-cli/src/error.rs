//! Errors of input, and the exit code of every error.

use std::fmt::Display;

use meldsim::ProfileErrors;
use meldsim::policy::PolicyFault;
use meldsim::profile::list_mistakes;
use meldsim_bench::BadProgram;
use meldsim_calibrate::CalibrateError;
use meldsim_host::LoadError;
use meldsim_lab::{ExperimentError, MeasureError};
use meldsim_workload::trace::TraceError;
use meldsim_workload::{JobFileErrors, RunError};

pub(crate) const RUNTIME_FAILURE: u8 = 1;
const BAD_INPUT: u8 = 2;

/// Input that cannot be used; the text names the culprit and the remedy.
#[derive(Debug)]
pub(crate) struct BadInput(pub(crate) String);

impl std::fmt::Display for BadInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadInput {}

/// Several mistakes of a file, each on a line.
pub(crate) fn several<E: Display>(path: &str, mistakes: &[E]) -> String {
    let mut text = format!("{path}: {} mistakes\n", mistakes.len());
    // Writing to a string does not fail.
    let _ = list_mistakes(&mut text, "  ", mistakes);
    text
}

/// The exit code for `error`: 2 when the input is wrong, which its author can correct, and 1 when
/// something failed that is not of the input.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    // Stuck is a defect of the model.
    let run_error = error.downcast_ref::<RunError>();
    let is_of_workload = run_error.is_some_and(|error| !matches!(error, RunError::Stuck { .. }));
    let input = error.is::<BadInput>()
        || error.is::<BadProgram>()
        || error.is::<PolicyFault>()
        || error.is::<ProfileErrors>()
        || error.is::<JobFileErrors>()
        || error.is::<TraceError>()
        || matches!(error.downcast_ref(), Some(CalibrateError::Input(_)))
        || is_of_workload
        || matches!(
            error.downcast_ref(),
            Some(
                ExperimentError::Profile(_)
                    | ExperimentError::Device(_)
                    | ExperimentError::Load(LoadError::Device(_))
                    | ExperimentError::RequestSize { .. }
                    | ExperimentError::LogicalBlock { .. }
                    | ExperimentError::Measured(
                        MeasureError::Profile(_)
                            | MeasureError::Device(_)
                            | MeasureError::Load(LoadError::Device(_))
                            | MeasureError::Rows(_)
                    )
            )
        );
    if input { BAD_INPUT } else { RUNTIME_FAILURE }
}
