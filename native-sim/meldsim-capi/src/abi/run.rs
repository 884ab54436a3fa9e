//! Whole workloads.

use std::ffi::{CStr, c_char};

use super::device::{check_abi, copy_text};
use crate::convert;
use crate::error::Failure;
use crate::panic::boundary;
use crate::results;

/// Runs a whole workload on a device of its own, as `meldsim run` does, and keeps the result for the calling thread:
/// `meldsim_run_result` gives it. Returns the bytes that it needs, its NUL included.
///
/// `abi_version` is MELDSIM_ABI_VERSION as the caller was compiled with. `request` is a JSON object, read before the call
/// returns; docs/c-abi.md describes its keys. The result is what `meldsim run --format json` prints for the same profile,
/// workload and seed, byte by byte. The call returns when the run is over and cannot be interrupted. Thread-safe; runs on
/// several threads share nothing.
///
/// Errors: MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT (null, not UTF-8, unknown keys, an impossible job, an unreadable trace),
/// MELDSIM_ERR_PROFILE (unknown name, unknown key, impossible device), as meldsim_submit where the device refuses a
/// request, MELDSIM_ERR_PANIC. The thread's earlier result is gone in any case.
///
/// # Safety
/// `request` is null or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_run(abi_version: u32, request: *const c_char) -> i64 {
    boundary(|| {
        results::clear();
        check_abi(abi_version)?;
        if request.is_null() {
            return Err(Failure::argument("request is null"));
        }
        // SAFETY: not null, and the caller vouches for a NUL-terminated string that lives through the call.
        let request = unsafe { CStr::from_ptr(request) };
        let request = request
            .to_str()
            .map_err(|_| Failure::argument("the request is not UTF-8"))?;
        Ok(results::keep(convert::run(request)?))
    })
}

/// Copies the result of the calling thread's last `meldsim_run` into `buf`; else as `meldsim_last_error`. Returns 1 when there
/// is none. The result stays until the thread runs something else; running anything that is refused frees it.
///
/// # Safety
/// `buf` is null, or points to `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_run_result(buf: *mut c_char, len: u64) -> i64 {
    boundary(|| {
        Ok(results::with_last(|text| {
            // SAFETY: the contract of this function on `buf` and `len`.
            unsafe { copy_text(text, buf, len) }.into()
        }))
    })
}
