//! Submission queues.

use super::{fill, status};
use crate::convert;
use crate::error::Failure;
use crate::handles;
use crate::panic::boundary;

/// Priority of `meldsim_queue_create`: before all others, under weighted round robin.
pub const MELDSIM_PRIORITY_URGENT: u32 = 0;
/// Priority of `meldsim_queue_create`.
pub const MELDSIM_PRIORITY_HIGH: u32 = 1;
/// Priority of `meldsim_queue_create`, and of queue 0.
pub const MELDSIM_PRIORITY_MEDIUM: u32 = 2;
/// Priority of `meldsim_queue_create`.
pub const MELDSIM_PRIORITY_LOW: u32 = 3;

/// Adds a submission queue that holds `depth` commands at most, and stores its number in `*queue`. Queues matter where the
/// profile's `[host]` limits what the controller works on; queue 0 is always there, without a limit. They live as long as
/// the device. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, depth 0, priority), MELDSIM_ERR_CAPACITY (65536 queues), MELDSIM_ERR_CLOSED,
/// MELDSIM_ERR_PANIC. `*queue` is set on success only.
///
/// # Safety
/// `queue` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_queue_create(
    handle: i64,
    depth: u32,
    priority: u32,
    queue: *mut u32,
) -> i32 {
    status(handle, |session| {
        if queue.is_null() {
            return Err(Failure::argument("queue is null"));
        }
        let priority = convert::priority(priority)?;
        let created = session.on_device(|device| {
            device
                .create_queue(depth, priority)
                .map_err(convert::refused)
        })?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { queue.write(created.0.into()) };
        Ok(())
    })
}

/// Commands that wait in a submission queue to be fetched; none in one that does not exist. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_queued(handle: i64, queue: u32) -> i32 {
    boundary(|| {
        let queue = convert::queue(queue)?;
        let queued = handles::get(handle)?
            .guard(|session| session.on_device(|device| Ok(device.queued(queue))))?;
        Ok(i32::try_from(queued).unwrap_or(i32::MAX))
    })
}

/// Changes the arbitration burst and the weights of the priorities below urgent, as NVMe's Feature 01h does. A burst of 0 is
/// no limit; a weight of 0 is taken for 1. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_set_arbitration(
    handle: i64,
    burst: u32,
    high: u32,
    medium: u32,
    low: u32,
) -> i32 {
    status(handle, |session| {
        session.on_device(|device| {
            device.set_arbitration(burst, [high, medium, low]);
            Ok(())
        })
    })
}

/// Fills `out` with at most `n` of: arbitration burst, 0 for no limit; weights of high, medium and low priority.
///
/// Returns how many values there are (4, more in a later library). The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_arbitration(handle: i64, out: *mut u64, n: u32) -> i32 {
    boundary(|| {
        let (burst, [high, medium, low]) = handles::get(handle)?
            .guard(|session| session.on_device(|device| Ok(device.arbitration())))?;
        let values = [burst, high, medium, low].map(u64::from);
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, values.into_iter()) }
    })
}
