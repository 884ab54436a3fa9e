//! Requests of `meldsim_run`: any text is a result in JSON, or an error with a text.

use std::ffi::CString;
use std::path::Path;

use meldsim::Profile;
use meldsim_capi_study::*;
use meldsim_workload::{Job, parse_job_file};
use serde_json::{Value, json};

use super::job::small;

/// What a request that is run may ask of a device.
const MOST_DEVICE_BYTES: u64 = 1 << 30;

/// Makes the request that `data` is, unless it asks for much.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let text = match serde_json::from_str(&text) {
        Ok(request) => match with_safe_trace(request) {
            request if is_small(&request) => request.to_string(),
            _ => return,
        },
        Err(_) => text.into_owned(),
    };
    let Ok(request) = CString::new(text) else {
        return;
    };
    // SAFETY: a NUL-terminated string.
    let needed = unsafe { meldsim_run(MELDSIM_ABI_VERSION, request.as_ptr()) };
    // SAFETY: null with 0.
    let kept = unsafe { meldsim_run_result(std::ptr::null_mut(), 0) };
    if needed < 0 {
        assert!(needed != i64::from(MELDSIM_ERR_PANIC), "{request:?} panics");
        assert_eq!(kept, 1, "{request:?}: refused, and there is a result");
        // SAFETY: null with 0.
        let error = unsafe { meldsim_last_error(std::ptr::null_mut(), 0) };
        assert!(error > 1, "{request:?}: no text of its error");
        return;
    }
    assert_eq!(kept, needed);
    let mut result = vec![0x7Fu8; needed as usize];
    // SAFETY: so many writable bytes.
    unsafe { meldsim_run_result(result.as_mut_ptr().cast(), needed as u64) };
    assert_eq!(result.pop(), Some(0));
    assert!(serde_json::from_slice::<Value>(&result).is_ok());
}

/// A trace is one of this folder's corpus, or none: what else there is on the machine may never end.
fn with_safe_trace(mut request: Value) -> Value {
    if let Some(path) = request.pointer_mut("/workload/trace/path") {
        if let Some(text) = path.as_str() {
            let name = Path::new(text).file_name().unwrap_or_default();
            let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/run");
            *path = json!(corpus.join(name).to_string_lossy());
        }
    }
    request
}

/// Whether it ends soon: small jobs, on a small device where it is filled or a trace is replayed.
fn is_small(request: &Value) -> bool {
    let text = |pointer: &str| request.pointer(pointer).and_then(Value::as_str);
    let fills = request
        .get("precondition")
        .is_some_and(|value| !value.is_null());
    let is_small_device = match text("/profile").map(Profile::from_toml) {
        Some(Ok(profile)) => {
            request.get("set").is_none_or(Value::is_null) && capacity(&profile) <= MOST_DEVICE_BYTES
        }
        _ => false,
    };
    let jobs = text("/workload/job/text").map(|text| parse_job_file("job", text, &Job::new("")));
    let are_small_jobs = !jobs.is_some_and(|jobs| jobs.is_ok_and(|list| !small(&list.jobs)));
    let replays = request.pointer("/workload/trace").is_some();
    (is_small_device || !(fills || replays)) && are_small_jobs
}

fn capacity(profile: &Profile) -> u64 {
    match meldsim::Device::new(profile) {
        Ok(device) => device.stats().capacity_pages * profile.geometry.page_size.0,
        Err(_) => 0,
    }
}
