//! The integration tests of this crate, in one program: one to link, whose tests run side by side.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "../common/mod.rs"]
mod common;

mod capacity;
mod churn;
mod collection;
mod conservation;
mod directives;
mod examples;
mod fdp;
mod host;
mod journal;
mod large;
mod limits;
mod mapping_cache;
mod mapping_unit;
mod memory;
mod nvme;
mod own_policy;
mod pacing;
mod policies;
mod profiles;
mod program_order;
mod read_ahead;
mod reads;
mod shared;
mod standstill;
mod windows;
mod writes;
mod xpoint;
mod zones;
