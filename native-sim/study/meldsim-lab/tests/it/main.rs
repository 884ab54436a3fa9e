//! The integration tests of this crate, in one program: one to link, whose tests run side by side.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "../common/mod.rs"]
#[allow(dead_code, reason = "tests of meldsim use the rest")]
mod common;

mod design_space;
mod published;
