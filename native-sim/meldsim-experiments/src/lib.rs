//! What is done with [`meldsim`]: jobs and traces are run on a device, published results are
//! repeated and compared, and what comes of it is shown.
//!
//! - [`workload`]: jobs in fio's syntax, recorded traces, what-if, advice, and what a run gives
//! - [`experiment`]: published results, repeated and compared
//! - [`calibrate`]: a profile fitted to what was measured on a drive
//! - [`parallel`]: independent parts on all cores, with results in a fixed order
//! - [`report`]: latency histograms, tables, charts and pages
//! - [`timeline`]: what every part of a device did, for Perfetto and as a page

#![forbid(unsafe_code)]
#![deny(missing_docs)]
// A test may look at a hash map in any order.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::iter_over_hash_type))]

pub mod calibrate;
pub mod experiment;
pub mod report;
pub mod workload;
