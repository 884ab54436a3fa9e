//! Traces of any length in constant memory. A program of its own: the memory of the process is that of all its tests.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::io::{BufRead, BufReader, Read};

use meldsim::Profile;
use meldsim_workload::trace::{Replay, ReplayOptions, TraceFormat, TraceReader};

/// Lines made as they are read: a file that no disk has to hold.
struct Generated<F> {
    line: F,
    next: u64,
    lines: u64,
    text: Vec<u8>,
    used: usize,
}

impl<F: FnMut(u64) -> String> Read for Generated<F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.used == self.text.len() && self.next < self.lines {
            self.text = (self.line)(self.next).into_bytes();
            (self.next, self.used) = (self.next + 1, 0);
        }
        let bytes = buffer.len().min(self.text.len() - self.used);
        buffer[..bytes].copy_from_slice(&self.text[self.used..self.used + bytes]);
        self.used += bytes;
        Ok(bytes)
    }
}

fn generated(lines: u64, line: impl FnMut(u64) -> String) -> impl BufRead {
    BufReader::new(Generated {
        line,
        next: 0,
        lines,
        text: Vec::new(),
        used: 0,
    })
}

fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// 10 GB of lines of 64 bytes would be 160 million; memory is seen to stay flat long before.
#[test]
fn memory_does_not_grow_with_the_trace() {
    let line = |n: u64| {
        let sector = n * 7919 % 4096 * 8;
        format!("{} 0 {sector} 8 {}\n", n * 20_000, u64::from(n % 8 > 0))
    };
    let reader = TraceReader::new("t", generated(600_000, line), Some(TraceFormat::Mqsim)).unwrap();
    let profile = Profile::builtin("melded-tlc-8x8").unwrap();
    let mut readings = Vec::new();
    let replay = Replay::new(&profile, reader, ReplayOptions::default()).unwrap();
    let result = replay.run(|| readings.extend(resident_kib())).unwrap();
    assert_eq!(result.trace.unwrap().records, 600_000);
    // From a sixth of the way to the end.
    if let [_, _, _, _, _, _, early, .., last] = readings[..] {
        assert!(last < early + 4096, "{early} KiB, then {last} KiB");
    }
}
