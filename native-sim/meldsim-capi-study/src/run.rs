//! Whole workloads: what the command line's `run` does, with the result kept for the calling thread.

use std::cell::RefCell;
use std::ffi::c_char;
use std::fs::File;
use std::io::BufReader;

use meldsim_calibrate::{CalibrateError, Message};
use meldsim_capi::extension::{Failure, boundary, check_abi, copy_text, device_code, long, string};
use meldsim_capi::{
    MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CAPACITY, MELDSIM_ERR_PANIC, MELDSIM_ERR_POLICY,
    MELDSIM_ERR_PROFILE,
};
use meldsim_workload::trace::decompressed;
use meldsim_workload::{RequestError, RunError, RunRequest};

thread_local! {
    static LAST_RESULT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Of libmeldsim_study. Runs a whole workload on a device of its own, as `meldsim run` does, and keeps the result for the
/// calling thread: `meldsim_run_result` gives it. Returns the bytes that it needs, its NUL included.
///
/// `abi_version` is MELDSIM_ABI_VERSION as the caller was compiled with. `request` is a JSON object, read before the call
/// returns; docs/reference/c-abi.md describes its keys. The result is what `meldsim run --format json` prints for the same profile,
/// workload and seed, byte by byte. Or the request is a step of a calibration, or some of its simulations. The call returns when
/// the run is over and cannot be interrupted. Thread-safe; runs on several threads share nothing.
///
/// Errors: MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT (null, not UTF-8, unknown keys, an impossible job, an unreadable trace),
/// MELDSIM_ERR_PROFILE (unknown name, unknown key, impossible device), as meldsim_submit where the device refuses a
/// request, MELDSIM_ERR_PANIC. The thread's earlier result is gone in any case.
///
/// # Safety
/// `request` is null or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_run(abi_version: u32, request: *const c_char) -> i64 {
    kept(|| {
        check_abi(abi_version)?;
        // SAFETY: the contract of this function on `request`.
        let request = unsafe { string(request, "request") }?;
        let refused = |error: CalibrateError| Failure::argument(error.to_string());
        if let Some(message) = Message::from_json(request).map_err(refused)? {
            return message.answer().map_err(refused);
        }
        let open = |path: &str| decompressed(BufReader::new(File::open(path)?));
        let result = RunRequest::from_json(request).and_then(|request| request.run(open));
        result.map_err(|error| Failure::new(request_code(&error), error.to_string()))
    })
}

/// Keeps what `run` gives for the calling thread, in the place of what was kept before. The bytes that it needs, its NUL
/// included.
pub(crate) fn kept(run: impl FnOnce() -> Result<String, Failure>) -> i64 {
    boundary(|| {
        LAST_RESULT.take();
        let result = run()?;
        let bytes = long(result.len() as u64 + 1);
        LAST_RESULT.set(result);
        Ok(bytes)
    })
}

/// Of libmeldsim_study. Copies the result of the calling thread's last `meldsim_run`, `meldsim_report` or
/// `meldsim_timeline_join` into `buf`; else as `meldsim_last_error`. Returns 1 when there is none. The result stays until the
/// thread runs something else; running anything that is refused frees it.
///
/// # Safety
/// `buf` is null, or points to `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_run_result(buf: *mut c_char, len: u64) -> i64 {
    boundary(|| {
        let needed = LAST_RESULT.with_borrow(|text| {
            // SAFETY: the contract of this function on `buf` and `len`.
            unsafe { copy_text(text, buf, len) }
        });
        Ok(long(needed))
    })
}

fn request_code(error: &RequestError) -> i32 {
    match error {
        RequestError::Profile(_) | RequestError::Run(RunError::Profile(_)) => MELDSIM_ERR_PROFILE,
        RequestError::Run(RunError::Device { error, .. } | RunError::Precondition(error)) => {
            device_code(error)
        }
        RequestError::Run(RunError::Policy(_) | RunError::NoVictim { .. }) => MELDSIM_ERR_POLICY,
        RequestError::Run(RunError::Room { .. }) => MELDSIM_ERR_CAPACITY,
        RequestError::Malformed(_)
        | RequestError::JobFile(_)
        | RequestError::Option(_)
        | RequestError::Unreadable { .. }
        | RequestError::Run(RunError::Job { .. } | RunError::Trace(_)) => MELDSIM_ERR_ARGUMENT,
        // Defects: a run that is stuck, a result beyond JSON.
        RequestError::Run(_) | RequestError::Result(_) => MELDSIM_ERR_PANIC,
    }
}
