//! Experiments: a workload on a device, held against published numbers.
//!
//! Each ends in an [`Outcome`]: its numbers, what they rest on, and the [`Claim`]s that they bear out or not.
//! [`Validation`] runs them all.
//!
//! ```text
//!   Profile --> Device --workload--> latencies, counters --> Outcome { sheets, figures, claims }
//!                                                               |          |          |
//!                                                       table, CSV, JSON  HTML    Validation
//! ```

mod burst;
mod claim;
mod contract;
mod effort;
mod firmware;
mod interleave;
mod latency;
mod latency_windows;
mod melded;
mod noisy;
mod outcome;
mod palloc;
mod programming;
mod published;
mod qlc;
mod registry;
mod setup;
mod sheet;
mod throughput;
mod verdict;
mod window;

pub use burst::{ExperimentError, Layout, burst_read};
pub use claim::{Basis, Claim};
pub use effort::Effort;
pub use latency::{LatencyCell, LatencyReport, PublishedLatency, melded_latency};
pub use outcome::{Chart, Figure, Grounds, Outcome, claims_table};
pub use published::SOURCE;
pub use registry::{EXPERIMENTS, Experiment, Validation};
pub use setup::{BusSpeed, Setup};
pub use sheet::{Cell, Column, Sheet};
pub use throughput::{PublishedThroughput, ThroughputCell, ThroughputReport, melded_throughput};
pub use verdict::Verdict;
