//! Workloads: jobs in fio's terms and their files, recorded traces, and what runs them on a device.
//!
//! ```text
//!   job file --parse--> Job ---------Runner--> host --> Device
//!   trace ---TraceReader--> Record --Replay-->   |
//!                                          completions --> Tally, Series --> RunResult --> table, JSON, CSV
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]
// A test may look at a hash map in any order.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::iter_over_hash_type))]

mod declared;
mod direction;
mod distribution;
mod error;
mod expression;
mod job;
mod jobfile;
mod limit;
mod options;
mod past;
mod placement;
mod quantity;
mod requests;
mod result;
mod room;
mod run;
mod runner;
pub mod sample;
mod settings;
pub mod trace;

pub use declared::{is_job_option, job_options, named_option};
pub use distribution::{Distribution, Preference, Zone, Zones};
pub use error::RunError;
pub use job::{
    BlockShare, BlockSizes, Generator, Job, JobError, Rate, ReadWrite, parse_read_pattern,
};
pub use jobfile::{
    COMMAND_LINE, JobFile, JobFileError, JobFileErrors, JobList, NoSurroundings, Surroundings,
    is_own_engine, parse_job_file, reasons,
};
pub use limit::{Arrivals, FULL_PERCENT, Limit, Load};
pub use meldsim_host::{Direction, Tally};
pub use options::{
    DataPlacement, Exit, Flow, LatencyTarget, Measure, Repeat, SteadyState, Strided,
};
pub use past::Past;
pub use quantity::{Amount, parse_bytes, parse_decimal, parse_time};
pub use result::group::{Group, RANDOM_BELOW_BYTES};
pub use result::series::{DeviceInterval, Interval, IntervalRate, IntervalTail, TimeSeries, Track};
pub use result::{
    DeviceResult, FdpResult, Fill, FlashPages, Half, HostPathResult, JobResult, Preconditioned,
    ProgrammedBytes, RunResult, TraceSummary, Window, ZonesResult,
};
pub use run::{
    JobText, Reached, RequestError, RequestedWorkload, Run, RunRequest, TraceFile, Workload,
    capacity_bytes,
};
pub use runner::Runner;
pub use runner::list::write_requests;
pub use settings::Settings;
