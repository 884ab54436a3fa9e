//! Experiments: a workload on a device, held against published numbers.
//!
//! Each is a file of device profiles, loads, sheets and claims, and a line of [`EXPERIMENTS`]. It ends in an [`Outcome`]: its
//! numbers, their provenance, and the [`Claim`]s that they bear out or not. [`Validation`] runs them all,
//! [`Controls`] shows that claims can fail, and [`Sensitivity`] what they depend on.
//!
//! ```text
//!   Profile --> Device --workload--> latencies, counters --> Outcome { sheets, figures, claims }
//!                                                               |          |          |
//!                                                       table, CSV, JSON  HTML    Validation
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]
// A test may look at a hash map in any order.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::iter_over_hash_type))]

mod burst;
mod claim;
mod contract;
mod firmware;
mod ftl_policies;
mod interleave;
mod latency_windows;
mod melded;
mod noisy;
mod outcome;
mod palloc;
mod plan;
pub mod prelude;
mod programming;
mod qlc;
mod real_drives;
mod registry;
mod setup;
mod validation;
mod window;

pub use burst::{ExperimentError, Layout, Result, burst_read};
pub use claim::{
    Bound, Change, ChangeError, Claim, Constant, Count, Kind, claims_table, constants,
};
pub use melded::PAPER as MELDED_PAGES;
pub use meldsim_measured::{MeasureError, Scale};
pub use outcome::{Outcome, Provenance};
pub use plan::{Experiment, Options, Run};
pub use registry::EXPERIMENTS;
pub use setup::{BusSpeed, Setup};
pub use validation::{
    Control, Controls, Effect, Influence, NotVaried, Sensitivity, VARIED_PERCENT, Validation,
};
