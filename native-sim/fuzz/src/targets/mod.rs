//! The targets. Each says what must hold whatever the bytes are.

pub mod abi;
pub mod device;
mod exercise;
pub mod job;
pub mod profile;
pub mod run;
pub mod snapshot;
pub mod trace;
