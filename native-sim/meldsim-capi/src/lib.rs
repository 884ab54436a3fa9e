//! The C ABI of the SSD simulator `meldsim`, as a Rust library: `libmeldsim` makes a C library of it. `meldsim-capi-study` adds
//! whole workloads.
//!
//! In: integers, pointers and strings of a C caller. Out: the same, and nothing ever unwinds.
//! `include/meldsim.h`, generated from `abi`, is the contract.
//!
//! ```text
//!   abi: the functions --> entry: panics, pointers --> handles: i64 to device --> session: its calls
//!   session --> monitor: the lock and its waiters --> state: device, tickets, ring, clock
//! ```
//!
//! Devices are behind integer handles, so a stale or invented one is an error and never undefined
//! behaviour. Simulated time moves as far as waits require (account mode) or follows the wall clock.

#![deny(missing_docs, clippy::undocumented_unsafe_blocks)]

mod abi;
mod clock;
mod entry;
mod error;
mod handles;
mod monitor;
mod ring;
mod session;
mod state;
mod tickets;

#[cfg(test)]
mod tests;

/// What [`monitor`] and [`ring`] are made of; their model tests put shuttle's and loom's in the place of these.
mod sync {
    pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64};
}

pub use abi::*;
pub use error::{
    MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CAPACITY, MELDSIM_ERR_CLOCK,
    MELDSIM_ERR_CLOSED, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_PANIC, MELDSIM_ERR_POLICY,
    MELDSIM_ERR_PROFILE, MELDSIM_ERR_RANGE, MELDSIM_ERR_SNAPSHOT, MELDSIM_ERR_TICKET,
    MELDSIM_ERR_TIMEOUT, MELDSIM_ERR_UNSUPPORTED, MELDSIM_ERR_ZONE, MELDSIM_OK,
};
pub use session::MELDSIM_MAX_OUTSTANDING;

/// For a C library with functions of its own beside these. Rust only.
pub mod extension {
    pub use crate::entry::{boundary, copy_text, long, string};
    pub use crate::error::{Failure, device_code};

    /// Refuses a caller that was compiled for another version of the interface.
    ///
    /// # Errors
    ///
    /// MELDSIM_ERR_ABI.
    pub fn check_abi(abi_version: u32) -> Result<(), Failure> {
        crate::abi::check_abi(abi_version)
    }
}

/// For tests of what embeds the library. Rust only: no function of the C library reaches it.
pub mod testing {
    use crate::{entry, error::Failure, handles};

    pub use crate::state::{ERR_INJECTED, FaultCheck};

    /// Has `check` run at the begin of each call that creates a namespace, binds a stream,
    /// preconditions, preloads, submits or waits. `None` takes it away; a text is refused as an
    /// argument. Returns a status.
    pub fn set_fault_check(handle: i64, check: Result<Option<FaultCheck>, String>) -> i32 {
        entry::status(handle, |session| {
            let check = check.map_err(Failure::argument)?;
            session.set_fault_check(check)
        })
    }

    /// The handles of all open devices.
    pub fn open_devices() -> Vec<i64> {
        handles::open()
    }
}
