//! Hooks for tests of what embeds the library.

use super::status;
use crate::fault::Fault;

/// Test hook: after `after_calls` more calls of namespace_create, submit, submit_batch, wait or preload on this device,
/// the next one panics inside (`kind` 1: the device is out of service from then on, MELDSIM_ERR_PANIC) or fails, as does
/// every later one (`kind` 2: MELDSIM_ERR_INJECTED), or never returns (`kind` 3). `kind` 0 disarms. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (kind), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_inject_fault(handle: i64, kind: u32, after_calls: u64) -> i32 {
    status(handle, |session| {
        session.arm(Fault::parse(kind, after_calls)?)
    })
}
