//! Devices as bytes.

use meldsim::Device;

use super::device::check_abi;
use crate::convert;
use crate::error::{self, Failure};
use crate::handles;
use crate::panic::boundary;
use crate::session::Session;

/// Copies what would survive if the power were cut now into `out`, when its `n` bytes are enough: all data whose write has
/// been acknowledged, the wear of the blocks, the namespaces, and the profile. Commands on the device are not in it, and
/// neither are counters, what was said of ranges and streams, or predictable latency mode. The device goes on unchanged.
///
/// Returns the bytes that the snapshot needs; a null `out` with `n` 0 asks for that only. The state may change between two
/// calls: compare what the second one returns with `n`. The same state gives the same bytes. The caller owns `out`.
/// Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null), MELDSIM_ERR_SNAPSHOT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_snapshot(handle: i64, out: *mut u8, n: u64) -> i64 {
    boundary(|| {
        if out.is_null() && n > 0 {
            return Err(Failure::argument("out is null"));
        }
        let bytes = handles::get(handle)?.guard(|session| {
            session.on_device(|device| device.snapshot().map_err(convert::no_snapshot))
        })?;
        if bytes.len() as u64 <= n {
            // SAFETY: the caller gives `n` writable bytes at `out`, and there are no more of them.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len()) };
        }
        Ok(i64::try_from(bytes.len()).unwrap_or(i64::MAX))
    })
}

/// Opens a device in account mode in the state of a snapshot, as after the power has come back: its time and its counters
/// begin anew, its namespaces keep their ids. The snapshot brings the profile with it. Else as `meldsim_open`.
///
/// `snapshot` is `n` bytes of `meldsim_snapshot`, from this or another process; it is read before the call returns. What is
/// not a snapshot is refused and changes nothing. Thread-safe.
///
/// Errors: MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT (null), MELDSIM_ERR_SNAPSHOT (another version, damaged, contradictory),
/// MELDSIM_ERR_CAPACITY (too many devices open). `*handle` is set on success only.
///
/// # Safety
/// `snapshot` is null or points to `n` bytes; `handle` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_restore(
    abi_version: u32,
    snapshot: *const u8,
    n: u64,
    handle: *mut i64,
) -> i32 {
    boundary(|| {
        check_abi(abi_version)?;
        if snapshot.is_null() || handle.is_null() {
            return Err(Failure::argument("snapshot or handle is null"));
        }
        let length = isize::try_from(n)
            .map_err(|_| Failure::argument(format!("no snapshot has {n} bytes")))?;
        // SAFETY: not null, a length that a slice may have, and the caller vouches for as many bytes that live through
        // the call.
        let bytes = unsafe { std::slice::from_raw_parts(snapshot, length.unsigned_abs()) };
        let device = Device::restore(bytes).map_err(convert::no_snapshot)?;
        let opened = handles::insert(Session::new(device))?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { handle.write(opened) };
        Ok(error::MELDSIM_OK)
    })
}
