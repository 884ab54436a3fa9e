//! The C ABI of the SSD simulator `meldsim` with what drives and judges a device: `libmeldsim_study` makes a C library of it.
//!
//! All of `meldsim-capi`, which has no more than a device, and the functions below. `include/meldsim.h` there declares both.
//!
//! | file | what |
//! | --- | --- |
//! | `run` | whole workloads, steps of a calibration; the result that a thread keeps |
//! | `jobs` | pages and timelines of what Spark jobs and DataNodes recorded |

#![deny(missing_docs, clippy::undocumented_unsafe_blocks)]

mod jobs;
mod run;

#[cfg(test)]
mod tests;

pub use jobs::*;
pub use meldsim_capi::*;
pub use run::*;
