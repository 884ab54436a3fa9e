//! What Spark jobs and DataNodes of hdfs-meld recorded, as pages and as one timeline.

use std::ffi::c_char;
use std::path::Path;

use meldsim_capi::extension::{Failure, string};
use meldsim_hdfs::{JobsRequest, Names, join, report_jobs};

use super::run::kept;

/// Of libmeldsim_study. Compares what Spark jobs of hdfs-meld recorded and draws a page of it, as `meldsim report` does, and
/// keeps a JSON object for the calling thread: `text` for a terminal, and whether all `holds` that was expected.
/// `meldsim_run_result` gives it. Returns the bytes that it needs, its NUL included. Thread-safe.
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
    kept(|| {
        // SAFETY: the contract of this function on `request`.
        let request = unsafe { string(request, "request") }?;
        let bad = |error: serde_json::Error| Failure::argument(format!("request: {error}"));
        let request: JobsRequest = serde_json::from_str(request).map_err(bad)?;
        let report = report_jobs(&request).map_err(Failure::argument)?;
        serde_json::to_string(&report).map_err(bad)
    })
}

/// Of libmeldsim_study. Makes one timeline of what DataNodes and Spark recorded in `folder`, as `meldsim timeline --join` does,
/// and writes it to `output` for Perfetto. Names are hashes where `redact` is not 0. Keeps a JSON object of counts for the
/// calling thread: `meldsim_run_result` gives it. Returns the bytes that it needs, its NUL included. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, not UTF-8, nothing recorded there, a damaged file, one that cannot be written),
/// MELDSIM_ERR_PANIC.
///
/// # Safety
/// `folder` and `output` are null or NUL-terminated strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_timeline_join(
    folder: *const c_char,
    output: *const c_char,
    redact: u32,
) -> i64 {
    kept(|| {
        // SAFETY: the contract of this function on `folder`.
        let folder = unsafe { string(folder, "folder") }?;
        // SAFETY: the contract of this function on `output`.
        let output = unsafe { string(output, "output") }?;
        let names = match redact {
            0 => Names::default(),
            _ => Names::redacted(),
        };
        let joined = join(Path::new(folder), Path::new(output), &names);
        let joined = joined.map_err(|error| Failure::argument(error.to_string()))?;
        Ok(joined.to_json())
    })
}
