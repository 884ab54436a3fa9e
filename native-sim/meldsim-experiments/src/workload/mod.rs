//! Workloads: jobs in fio's terms and their files, recorded traces, and what runs them on a device.
//!
//! ```text
//!   job file --parse--> Job ---------Runner----> Device
//!   trace ---TraceReader--> Record --Replay---->   |
//!                                             completions --> Tally, Series --> RunResult --> table, JSON, CSV, HTML
//! ```

pub mod advise;
mod distribution;
mod job;
mod jobfile;
mod output;
mod pace;
mod placement;
mod popularity;
mod quantity;
mod request;
mod requests;
mod result;
mod run;
mod runner;
mod running;
mod series;
mod speed;
mod tally;
pub mod trace;
pub mod what_if;

pub use distribution::{Distribution, Zone};
pub use job::{BlockShare, Job, JobError, Rate, ReadWrite, parse_read_pattern};
pub use jobfile::{JobFileError, parse_job_file};
pub use meldsim::engine::Random;
pub use placement::DataPlacement;
pub use quantity::{parse_bytes, parse_decimal, parse_time};
pub use request::{JobText, RequestError, RequestedWorkload, RunRequest, TraceFile};
pub use result::{DeviceResult, DirectionResult, JobResult, RunResult};
pub use run::{Run, Workload};
pub use runner::{RunError, Runner};
pub use series::{DeviceInterval, Interval, TimeSeries, Track};
pub use speed::{Counted, SpeedTest};
