//! Tests through the entry points, as a C caller would use them.
//!
//! They live inside of the crate because a C library has no Rust interface to link a test against.

mod account;
mod batches;
mod concurrency;
mod conservation;
mod dataset;
mod faults;
mod fuzz;
mod header;
mod hints;
mod lifecycle;
mod precondition;
mod queues;
mod runs;
mod sets;
mod snapshot;
mod support;
mod windows;
