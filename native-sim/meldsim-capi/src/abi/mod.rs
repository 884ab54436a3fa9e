//! The entry points. Each checks its pointers, crosses the panic boundary, and leaves the work to the session.
//!
//! A file for what belongs together: the library and its devices, devices as bytes, namespaces, submission queues, input
//! and output, ranges, predictable latency windows, counters, whole workloads, test hooks.

mod counters;
mod dataset;
mod device;
mod io;
mod namespace;
mod queue;
mod run;
mod snapshot;
mod testing;
mod window;

pub use counters::*;
pub use dataset::*;
pub use device::*;
pub use io::*;
pub use namespace::*;
pub use queue::*;
pub use run::*;
pub use snapshot::*;
pub use testing::*;
pub use window::*;

use crate::error::{self, Failure};
use crate::handles;
use crate::panic::boundary;
use crate::session::Session;

fn status(handle: i64, body: impl FnOnce(&Session) -> Result<(), Failure>) -> i32 {
    boundary(|| {
        handles::get(handle)?.guard(body)?;
        Ok(error::MELDSIM_OK)
    })
}

/// Refuses flags of a submission that are not known.
fn check_flags(flags: u32) -> Result<(), Failure> {
    match flags & !(MELDSIM_DETACHED | MELDSIM_NO_WAIT) {
        0 => Ok(()),
        _ => Err(Failure::argument(format!(
            "flags {flags:#x} has unknown bits; only 1 (detached) and 2 (no wait) are known"
        ))),
    }
}

/// Copies as many of `values` as fit to the caller and returns how many there are.
///
/// # Safety
/// `out` points to `n` writable values, or is null.
unsafe fn fill(
    out: *mut u64,
    n: u32,
    values: impl ExactSizeIterator<Item = u64>,
) -> Result<i32, Failure> {
    let count = values.len();
    let fit = count.min(n as usize);
    if fit > 0 && (out.is_null() || !out.is_aligned()) {
        return Err(Failure::argument("out is null or not aligned"));
    }
    for (at, value) in values.take(fit).enumerate() {
        // SAFETY: not null, aligned, and the caller vouches for `n >= fit > at` writable values.
        unsafe { out.add(at).write(value) };
    }
    Ok(count as i32)
}
