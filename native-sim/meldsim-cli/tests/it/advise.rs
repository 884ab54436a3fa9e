//! Advice on workloads: golden, as JSON, and for both kinds of device.

use crate::support::{meldsim, stdout, text_file};
use serde_json::Value;

const TINY: &str = "../workloads/optane/tiny-crowd.fio";
const TRACE: &str = "../workloads/tpcc-small.trace";

fn advice(line: &str) -> Value {
    serde_json::from_str(&stdout(&format!("advise {line} --format json"))).unwrap()
}

fn rules(advice: &Value) -> Vec<u64> {
    let broken = advice["broken"].as_array().unwrap().iter();
    broken
        .map(|broken| broken["rule"].as_u64().unwrap())
        .collect()
}

#[test]
fn advice_on_a_job_is_golden() {
    insta::assert_snapshot!(
        "advise_tiny_crowd",
        stdout(&format!("advise --profile optane-900p --job {TINY}"))
    );
}

#[test]
fn each_rule_is_found_by_the_workload_that_breaks_it() {
    for (job, rule) in [
        (
            "rw=randread\nbs=64k\nsize=64m\nio_size=64m\niodepth=64",
            Some(1),
        ),
        ("rw=randread\nbs=4k\nsize=64m\nio_size=4m\niodepth=2", None),
        (
            "rw=randread\nbs=512\nsize=4k\nio_size=1m\niodepth=8",
            Some(3),
        ),
        (
            "rw=randread\nbs=1k\nsize=64m\nio_size=4m\niodepth=1",
            Some(5),
        ),
    ] {
        let file = text_file("job.fio", &format!("[job]\n{job}\n"));
        let advice = advice(&format!("--profile optane-900p --job {}", file.path));
        let rules = rules(&advice);
        match rule {
            None => assert!(rules.is_empty(), "{job}: {advice}"),
            Some(rule) => assert!(rules.contains(&rule), "{job}: {advice}"),
        }
        for broken in advice["broken"].as_array().unwrap() {
            let costs =
                ["latency_cost", "bandwidth_cost"].map(|cost| broken[cost].as_f64().unwrap());
            assert!(costs.iter().any(|cost| *cost > 1.0), "{job}: {broken}");
        }
    }
}

#[test]
fn rules_are_those_of_the_device() {
    let optane = advice(&format!("--profile optane-900p --trace {TRACE}"));
    assert_eq!(optane["rules_checked"], serde_json::json!([1, 3, 5, 6]));
    assert_eq!(optane["requests"], 6999);
    assert!(rules(&optane).contains(&6), "{optane}");
    let flash = advice(&format!("--profile flash-970pro --trace {TRACE}"));
    assert_eq!(flash["rules_checked"], serde_json::json!([2, 3, 5, 6, 7]));
    assert!(rules(&flash).contains(&7), "{flash}");
}

/// Blocks of HDFS, and volumes, that are as large as they may be touch nothing of each other.
#[test]
fn what_a_trace_keeps_apart_shares_nothing() {
    let meld = "# meld-trace 3\ntime_ns,volume,block,offset,length,op,pattern,client,directory\n\
                0,v,1,268435456,4096,read,none,c,0\n0,v,2,0,4096,read,none,c,0\n";
    let msr = "1,h,0,Read,1099511627776,4096,1\n1,h,1,Read,0,4096,1\n";
    for text in [meld, msr] {
        let file = text_file("t.trace", text);
        let advice = advice(&format!("--profile flash-970pro --trace {}", file.path));
        assert!(!rules(&advice).contains(&3), "{text}: {advice}");
    }
}

#[test]
fn what_no_device_has_an_address_for_is_refused() {
    let job = "[a]\nsize=8388607t\nrw=randread\nnorandommap\nnumber_ios=4\n[b]\nsize=8388607t\n[c]\nsize=4t\n";
    let traces = [
        "0 0 36028797018963952 8 1\n",
        "1,h,0,Read,9223372036854775808,4096,1\n1,h,1,Read,9223372036854775808,4096,1\n",
    ];
    let job = text_file("far.fio", job);
    let traces = traces.map(|text| text_file("far.trace", text));
    for (line, said) in [
        (
            format!("--job {}", job.path),
            "size: with the jobs before it ends beyond 2^64 B",
        ),
        (
            format!("--trace {}", traces[0].path),
            "far.trace:1: offset: is 18446744073709543424",
        ),
        (
            format!("--trace {}", traces[1].path),
            "far.trace:2: offset: is 9223372036854775808",
        ),
    ] {
        let outcome = meldsim(&format!("advise {line}"));
        assert_eq!(outcome.code, 2, "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{line}: {}", outcome.stderr);
    }
}

#[test]
fn a_workload_must_be_named() {
    assert_eq!(meldsim("advise").code, 2);
    let missing = meldsim("advise --job /nowhere.fio");
    assert_eq!(missing.code, 2);
    assert!(
        missing.stderr.contains("/nowhere.fio"),
        "{}",
        missing.stderr
    );
}
