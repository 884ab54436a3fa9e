//! The C ABI's whole workloads give what the command line prints, byte by byte.

use std::ffi::CString;

use crate::support::{stdout, text_file};
use meldsim_capi_study::{MELDSIM_ABI_VERSION, meldsim_run, meldsim_run_result};
use serde_json::{Value, json};

const WORKLOADS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads");

/// Runs `line` in the shell and `request` in this process, which must give the same.
fn assert_same(line: &str, mut request: Value) {
    let printed = stdout(&format!("run {line} --format json"));
    let document: Value = serde_json::from_str(&printed).unwrap();
    request["command"] = document["command"].clone();
    let request = CString::new(request.to_string()).unwrap();
    // SAFETY: a NUL-terminated string.
    let bytes = unsafe { meldsim_run(MELDSIM_ABI_VERSION, request.as_ptr()) };
    assert!(bytes > 1, "{line}: {bytes}");
    let mut text = vec![0u8; usize::try_from(bytes).unwrap()];
    // SAFETY: as many bytes as the result needs.
    unsafe { meldsim_run_result(text.as_mut_ptr().cast(), bytes as u64) };
    assert_eq!(text.pop(), Some(0));
    assert!(String::from_utf8(text).unwrap() == printed, "{line}");
}

#[test]
fn jobs() {
    let name = format!("{WORKLOADS}/mixed.fio");
    let text = std::fs::read_to_string(&name).unwrap();
    let job = |seed: Option<u64>| json!({ "job": { "name": name, "text": text, "seed": seed } });
    assert_same(
        &format!("--job {name} --profile melded-tlc-8x8"),
        json!({ "profile": "melded-tlc-8x8", "workload": job(None) }),
    );
    assert_same(
        &format!("--job {name} --seed 9 --precondition fill=50 --profile melded-qlc-8x8"),
        json!({ "profile": "melded-qlc-8x8", "precondition": "fill=50", "workload": job(Some(9)) }),
    );
    assert_same(
        &format!(
            "--job {name} --profile melded-tlc-8x8 --set ftl.page_allocation=PDWC --set sets.layout=vertical --set sets.count=4"
        ),
        json!({
            "profile": "melded-tlc-8x8",
            "set": ["ftl.page_allocation=PDWC", "sets.layout=vertical", "sets.count=4"],
            "workload": job(None),
        }),
    );
}

#[test]
fn a_profile_of_ones_own() {
    let text = "base = \"melded-tlc-8x8\"\nname = \"mine\"\n[controller]\nlba_size = \"512B\"\n";
    let profile = text_file("mine.toml", text);
    let job = text_file("x.fio", "[reads]\nrw=randread\nbs=1k\nsize=1m\n");
    assert_same(
        &format!("--profile {} --job {}", profile.path, job.path),
        json!({
            "profile": text,
            "workload": { "job": { "name": "x", "text": "[reads]\nrw=randread\nbs=1k\nsize=1m\n" } },
        }),
    );
}

#[test]
fn traces() {
    let trace = |name: &str, mut options: Value| {
        options["name"] = name.into();
        options["path"] = format!("{WORKLOADS}/{name}").into();
        json!({ "profile": "melded-tlc-8x8", "workload": { "trace": options } })
    };
    for (flags, name, options) in [
        ("", "hdfs-scan.meld.gz", json!({})),
        ("", "tpcc-small.trace", json!({})),
        (
            "--replay closed --iodepth 16 --trace-format mqsim",
            "tpcc-small.trace",
            json!({ "replay": "closed", "iodepth": 16, "format": "mqsim" }),
        ),
        (
            "--speedup 2.5 --beyond refuse --read-pattern sequential",
            "two-scans.meld",
            json!({ "speedup": "2.5", "beyond": "refuse", "read_pattern": "sequential" }),
        ),
    ] {
        assert_same(
            &format!("--trace {WORKLOADS}/{name} --profile melded-tlc-8x8 {flags}"),
            trace(name, options),
        );
    }
}
