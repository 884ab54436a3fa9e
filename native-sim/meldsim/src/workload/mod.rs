//! Synthetic workloads: jobs in fio's terms, their files, and a closed-loop runner.
//!
//! ```text
//!   job file --parse--> Job --Runner--> Device
//!                        |                 |
//!                     offsets          completions --> histograms --> JobResult
//! ```

mod job;
mod jobfile;
mod offsets;
mod quantity;
mod random;
mod result;
mod runner;
mod suggest;

pub use job::{Job, JobError, ReadWrite, parse_read_pattern};
pub use jobfile::{JobFileError, parse_job_file};
pub use quantity::{parse_bytes, parse_time};
pub use result::{DeviceResult, DirectionResult, JobResult, RunResult};
pub use runner::{RunError, Runner};
