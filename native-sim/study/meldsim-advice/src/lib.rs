//! Advice on a workload: what it would get from other devices and layouts, and which rules of a device it breaks.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
// A test may look at a hash map in any order.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::iter_over_hash_type))]

pub mod advise;
pub mod what_if;
