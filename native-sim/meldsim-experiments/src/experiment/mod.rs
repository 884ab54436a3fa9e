//! Experiments: a workload on a device, held against published numbers.
//!
//! Each is a file of device profiles, loads, sheets and claims, and a line of [`EXPERIMENTS`]. It ends in an [`Outcome`]: its
//! numbers, their provenance, and the [`Claim`]s that they bear out or not. [`Validation`] runs them all.
//!
//! ```text
//!   Profile --> Device --workload--> latencies, counters --> Outcome { sheets, figures, claims }
//!                                                               |          |          |
//!                                                       table, CSV, JSON  HTML    Validation
//! ```

mod burst;
mod claim;
mod contract;
mod firmware;
mod interleave;
mod latency_windows;
mod melded;
mod noisy;
mod outcome;
mod palloc;
mod plan;
mod programming;
mod qlc;
mod registry;
mod setup;
mod sheet;
mod window;

pub use burst::{ExperimentError, Layout, burst_read};
pub use claim::{Basis, Claim, claims_table};
pub use outcome::{Outcome, Provenance};
pub use plan::{Experiment, Options, Run, Scale};
pub use registry::{EXPERIMENTS, Validation};
pub use setup::{BusSpeed, Setup};
pub use sheet::{Cell, Sheet};
