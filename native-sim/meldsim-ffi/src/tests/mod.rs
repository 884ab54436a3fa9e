//! Tests through the entry points, as a C caller would use them.
//!
//! They live inside of the crate because a C library has no Rust interface to link a test against.

mod header;
