//! Memory that the process really has in RAM, where the system tells: Linux's `VmHWM`.

#![cfg(target_os = "linux")]
use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{BINARY, stdout};
use serde_json::Value;

const MIB: usize = 1 << 20;

/// The most memory that a process has had in RAM.
fn peak_bytes(process: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.unwrap().split_whitespace().nth(1).unwrap();
    kib.parse::<usize>().unwrap() << 10
}

/// About that many bytes of a trace, from its `from`-th request on: reads and writes all over 64 MiB.
fn lines(from: u64, bytes: usize) -> (u64, String) {
    let mut text = String::new();
    let mut n = from;
    while text.len() < bytes {
        let sector = n * 40_009 % 16_384 * 8;
        text += &format!("{} 0 {sector} 8 {}\n", n * 5_000, u64::from(n % 8 != 0));
        n += 1;
    }
    (n, text)
}

/// The most memory after 2 MiB of a trace, and after `more` bytes of it. All of it must be served.
fn streamed(flags: &[&str], more: usize) -> (usize, usize) {
    let mut child = Command::new(BINARY)
        .args(["run", "--trace", "-", "--format", "csv"])
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // What is written has been read, but for what the pipe and the reader hold.
    let (next, text) = lines(0, 2 * MIB);
    pipe.write_all(text.as_bytes()).unwrap();
    let early = peak_bytes(child.id());
    let (end, text) = lines(next, more);
    pipe.write_all(text.as_bytes()).unwrap();
    let late = peak_bytes(child.id());
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let csv = String::from_utf8(output.stdout).unwrap();
    let served = csv.lines().skip(1).map(|line| {
        let requests = line.split(',').nth(2).unwrap();
        requests.parse::<u64>().unwrap()
    });
    assert_eq!(served.sum::<u64>(), end);
    (early, late)
}

#[test]
fn a_trace_streams_in_constant_memory() {
    let (early, late) = streamed(&[], 12 * MIB);
    assert!(
        late < early + MIB,
        "{early} B after 2 MiB of text, {late} B after 14 MiB"
    );
    assert!(late < 32 * MIB, "{late}");
}

#[test]
fn timelines_take_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (early, late) = streamed(&["--timeline", &path("all.gz")], 4 * MIB);
    assert!(late < early + MIB, "{early} B, then {late} B");
    let slowest = [
        "--timeline",
        &path("slowest.gz"),
        "--timeline-slowest",
        "1000",
    ];
    for flags in [&slowest[..], &["--timeline", &path("page.html")]] {
        let (_, late) = streamed(flags, 4 * MIB);
        assert!(late < 64 * MIB, "{flags:?}: {late} B");
    }
}

/// The figure that `bench` prints, measured of a process of its own.
#[test]
fn a_terabyte_of_blocks_takes_as_little_ram_as_promised() {
    let text = stdout("bench --alone sequential");
    let figures: Value = serde_json::from_str(&text).unwrap();
    let mib = figures[0]["value"].as_f64().unwrap();
    assert!((1.0..=64.0).contains(&mib), "{figures}");
}
