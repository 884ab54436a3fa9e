//! Whole workloads: what the command line's `run` does, with the result kept for the calling thread.

use std::cell::RefCell;
use std::ffi::c_char;
use std::fs::File;
use std::io::BufReader;

use meldsim_calibrate::Message;
use meldsim_hdfs::{JobsRequest, report_jobs};
use meldsim_workload::RunRequest;
use meldsim_workload::trace::decompressed;

use super::device::check_abi;
use crate::entry::{boundary, copy_text, long, string};
use crate::error::Failure;

thread_local! {
    static LAST_RESULT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs a whole workload on a device of its own, as `meldsim run` does, and keeps the result for the calling thread:
/// `meldsim_run_result` gives it. Returns the bytes that it needs, its NUL included.
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
    boundary(|| {
        LAST_RESULT.take();
        check_abi(abi_version)?;
        // SAFETY: the contract of this function on `request`.
        let request = unsafe { string(request, "request") }?;
        if let Some(message) = Message::from_json(request)? {
            return Ok(keep(message.answer()?));
        }
        let open = |path: &str| decompressed(BufReader::new(File::open(path)?));
        let result = RunRequest::from_json(request)?.run(open)?;
        Ok(keep(result))
    })
}

/// Compares what Spark jobs of hdfs-meld recorded and draws a page of it, as `meldsim report` does, and keeps a JSON object for the
/// calling thread: `text` for a terminal, and whether all `holds` that was expected. `meldsim_run_result` gives it. Returns the
/// bytes that it needs, its NUL included. Thread-safe.
///
/// `request` is a JSON object: `inputs`, paths of records and of folders with some; `command`, which the page shows; if wanted,
/// `html` and `json`, files to write, and `expect`, what must hold.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, not UTF-8, unknown keys, an expectation or a record that is none, a file that cannot be read
/// or written), MELDSIM_ERR_PANIC.
///
/// # Safety
/// `request` is null or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_report(request: *const c_char) -> i64 {
    boundary(|| {
        LAST_RESULT.take();
        // SAFETY: the contract of this function on `request`.
        let request = unsafe { string(request, "request") }?;
        let bad = |error: serde_json::Error| Failure::argument(format!("request: {error}"));
        let request: JobsRequest = serde_json::from_str(request).map_err(bad)?;
        let report = report_jobs(&request).map_err(Failure::argument)?;
        Ok(keep(serde_json::to_string(&report).map_err(bad)?))
    })
}

/// Keeps a result for the calling thread. The bytes that it needs, its NUL included.
pub(super) fn keep(result: String) -> i64 {
    let bytes = long(result.len() as u64 + 1);
    LAST_RESULT.set(result);
    bytes
}

/// Copies the result of the calling thread's last `meldsim_run`, `meldsim_report` or `meldsim_timeline_join` into `buf`; else as
/// `meldsim_last_error`. Returns 1 when there is none. The result stays until the thread runs something else; running anything that is refused frees it.
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
