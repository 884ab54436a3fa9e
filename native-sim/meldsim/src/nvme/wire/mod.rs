//! The wire: structures of the NVM Express specifications, byte for byte.
//!
//! Offsets are those of the NVM Express Base specification 2.0 and the NVM Command Set
//! specification 1.0, checked against the public headers of Linux, SPDK and libnvme. Each structure
//! is laid out once, for encoding and parsing alike; every field names its bytes.

pub mod admin;
pub mod directives;
mod entry;
#[cfg(test)]
mod golden_tests;
pub mod identify;
pub mod io;
mod layout;
#[cfg(test)]
mod round_trip_tests;
pub mod sets;
mod status;

pub use entry::{Cqe, Sqe};
pub use status::StatusCode;
