//! Time and memory that this process uses.

use std::fs;
use std::time::{Duration, Instant};

/// Below this, CPU time is too coarse: a tick may be 10 ms.
const MEASURABLE: Duration = Duration::from_millis(100);

/// Time that something took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    /// CPU time of this thread, or wall time where the system does not tell.
    pub(super) cpu_s: f64,
    pub(super) wall_s: f64,
}

/// Measures CPU time, so that other load does not count.
#[derive(Debug)]
pub(super) struct Stopwatch {
    started: Instant,
    cpu: Option<Duration>,
}

impl Stopwatch {
    pub(super) fn start() -> Stopwatch {
        Stopwatch {
            started: Instant::now(),
            cpu: Stopwatch::cpu(),
        }
    }

    pub(super) fn spent(&self) -> Spent {
        let wall_s = self.started.elapsed().as_secs_f64();
        let cpu = self.cpu.zip(Stopwatch::cpu());
        let cpu = cpu.map(|(before, after)| after.saturating_sub(before));
        // The system counts in ticks: what takes fewer than some of them is told by the wall clock.
        let cpu_s = match cpu {
            Some(cpu) if cpu >= MEASURABLE => cpu.as_secs_f64(),
            _ => wall_s,
        };
        Spent { cpu_s, wall_s }
    }

    fn cpu() -> Option<Duration> {
        let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let ns = text.split(' ').next()?.parse().ok()?;
        Some(Duration::from_nanos(ns))
    }
}

/// The most memory that the process had in RAM, where the system tells.
pub(super) fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
