//! The integration tests of this crate, in one program: one to link, whose tests run side by side.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "../support/mod.rs"]
mod support;

mod listen;
mod once;
mod page;
