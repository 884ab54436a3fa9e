//! Ctrl-C: what is done so far is printed, labelled, and the exit code is 130.

#![cfg(target_os = "linux")]
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::support::{self, BINARY, schema, text_file};
use serde_json::Value;

/// Starts `line`, and returns when it has used the processor for that many ticks, or has ended.
fn busy(line: &str, ticks: u64) -> Child {
    let mut child = Command::new(BINARY)
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stat = format!("/proc/{}/stat", child.id());
    while child.try_wait().unwrap().is_none() {
        let stat = std::fs::read_to_string(&stat).unwrap();
        // What follows the name: the state is field 3, the ticks in user mode are field 14.
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        if fields.split(' ').nth(11).unwrap().parse::<u64>().unwrap() >= ticks {
            break;
        }
        sleep(Duration::from_millis(5));
    }
    child
}

fn interrupt(child: &Child) {
    let id = child.id().to_string();
    let _ = Command::new("kill").args(["-INT", &id]).status().unwrap();
}

/// Runs `line`, and interrupts it after a while; on a fast machine a run may have ended before, so the while gets shorter.
fn interrupted(line: &str) -> (i32, String, String) {
    for ticks in [50, 20, 10] {
        let child = busy(line, ticks);
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap();
        if code == 130 {
            return (code, text(output.stdout), text(output.stderr));
        }
        assert_eq!(code, 0, "{}", text(output.stderr));
    }
    panic!("{line}: cannot be interrupted");
}

#[test]
fn a_sweep_gives_the_rows_until_then_and_is_finished_later() {
    let folder = tempfile::tempdir().unwrap();
    let [out, whole] = ["out.csv", "whole.csv"].map(|name| folder.path().join(name));
    let depths: Vec<String> = (1..=16).map(|depth| depth.to_string()).collect();
    let line = format!(
        "run --quiet --rw randread --size 1g --set job.iodepth={} --out",
        depths.join(",")
    );
    let (_, text, _) = interrupted(&format!("{line} {}", out.display()));
    assert!(text.starts_with("partial: the first "), "{text}");
    let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
    let before = read(&out);
    assert!((1..17).contains(&before.lines().count()), "{before}");
    support::stdout(&format!("{line} {}", out.display()));
    support::stdout(&format!("{line} {}", whole.display()));
    let after = read(&out);
    assert!(after.starts_with(&before));
    assert_eq!(after.replace("out.csv", "whole.csv"), read(&whole));
}

#[test]
fn a_run_gives_the_requests_until_then() {
    let line = "run --rw randread --size 64g --iodepth 64";
    let (_, text, notes) = interrupted(line);
    assert!(text.starts_with("device: 7450-pro\npartial: "), "{text}");
    assert!(
        text.contains("randread") && text.contains("device: "),
        "{text}"
    );
    assert!(notes.contains("interrupted"), "{notes}");
    let line = format!("{line} --format json");
    let (_, json, _) = interrupted(&line);
    schema::check(&line, &json);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["partial"], true);
    let done = json["jobs"][0]["read"]["total_ios"].as_u64().unwrap();
    assert!(0 < done && done < 16 << 20, "{done}");
}

/// A trace that takes long.
fn long_trace() -> support::TextFile {
    let mut trace = Vec::new();
    for index in 0..3_000_000u64 {
        let sector = index * 7919 % 1_000_000 * 8;
        writeln!(trace, "{} 0 {sector} 8 1", index * 2_000).unwrap();
    }
    text_file("long.trace", &String::from_utf8(trace).unwrap())
}

#[test]
fn a_replay_gives_the_records_until_then_and_what_if_the_devices() {
    let trace = long_trace();
    let line = format!("run --trace {} --format json", trace.path);
    let (_, json, _) = interrupted(&line);
    schema::check(&line, &json);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["partial"], true);
    let done = json["trace"]["records"].as_u64().unwrap();
    assert!(0 < done && done < 3_000_000, "{done}");
    let line = format!("what-if {} --jobs 1", trace.path);
    let (_, text, _) = interrupted(&line);
    let said = "devices: 7450-pro, pm9a3, p5520, cm7-r\npartial: interrupted after ";
    assert!(text.starts_with(said), "{text}");
    assert!(text.contains(" of 4 replays"), "{text}");
}

#[test]
fn a_validation_gives_the_experiments_until_then() {
    let line = "validate --jobs 1";
    let (_, text, _) = interrupted(line);
    assert!(text.starts_with("partial: interrupted before "), "{text}");
    assert!(text.contains(" experiments were done"), "{text}");
    assert!(text.contains("\nno verdict: "), "{text}");
    assert!(!text.contains("\nverdict: "), "{text}");
    let line = format!("{line} --format json");
    let (_, json, _) = interrupted(&line);
    schema::check(&line, &json);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["holds"], Value::Null);
}

/// Nothing follows then: neither the rest of the work nor its result.
#[test]
fn the_second_ends_it_at_once() {
    let mut child = busy("validate --quiet --jobs 1", 20);
    while child.try_wait().unwrap().is_none() {
        interrupt(&child);
        sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty());
}
