//! The C ABI of the meldsim SSD simulator; see `include/meldsim.h` for the contract with C callers.
//!
//! Every entry point lives in `abi` and crosses one panic boundary. Devices are behind integer handles, so a stale or
//! invented handle is an error and never undefined behaviour. Simulated time is moved by one of two executives:
//! `account` and `realtime`.

#![deny(missing_docs, clippy::undocumented_unsafe_blocks)]

mod abi;
mod account;
mod convert;
mod deadline;
mod error;
mod fault;
mod handles;
mod lock;
mod names;
mod panic;
mod realtime;
mod results;
mod session;
mod state;
mod tickets;

#[cfg(test)]
mod tests;

pub use abi::*;
pub use error::{
    MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CAPACITY, MELDSIM_ERR_CLOSED,
    MELDSIM_ERR_INJECTED, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_PANIC, MELDSIM_ERR_PROFILE,
    MELDSIM_ERR_RANGE, MELDSIM_ERR_SNAPSHOT, MELDSIM_ERR_TICKET, MELDSIM_ERR_TIMEOUT,
    MELDSIM_ERR_UNSUPPORTED, MELDSIM_OK,
};
pub use session::MELDSIM_MAX_OUTSTANDING;
