//! HDFS and Spark on simulated devices.
//!
//! ```text
//!   records of jobs and of the demo --jobs--> table, expectations, page
//!   records of DataNodes and Spark  --join--> one timeline, down to flash
//!   Profile --end_to_end, hdfs_lifetimes--> Outcome, as of every experiment
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]
// A test may look at a hash map in any order.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::iter_over_hash_type))]

mod end_to_end;
mod hdfs_lifetimes;
mod jobs;
mod join;

pub use end_to_end::END_TO_END;
pub use hdfs_lifetimes::HDFS_LIFETIMES;
pub use jobs::{JobsReport, JobsRequest, report_jobs};
pub use join::{JoinError, Joined, Names, join};
