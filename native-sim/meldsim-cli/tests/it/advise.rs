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
    insta::assert_snapshot!("advise_tiny_crowd", stdout(&format!("advise --job {TINY}")));
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
        let advice = advice(&format!("--job {}", file.path));
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
    let optane = advice(&format!("--trace {TRACE}"));
    assert_eq!(optane["rules_checked"], serde_json::json!([1, 3, 5, 6]));
    assert_eq!(optane["requests"], 6999);
    assert!(rules(&optane).contains(&6), "{optane}");
    let flash = advice(&format!("--profile flash-970pro --trace {TRACE}"));
    assert_eq!(flash["rules_checked"], serde_json::json!([2, 3, 5, 6, 7]));
    assert!(rules(&flash).contains(&7), "{flash}");
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
