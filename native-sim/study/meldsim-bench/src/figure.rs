//! One measured figure with its bar, and the time and memory by which it is measured.

use std::fs;
use std::time::{Duration, Instant};

use meldsim_stats::count;
use serde::{Deserialize, Serialize};

/// Below this, CPU time is too coarse: a tick may be 10 ms.
const MEASURABLE: Duration = Duration::from_millis(100);

const AT_LEAST: &str = "at least";

/// Time that something took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    /// CPU time of this thread, or wall time where the system has no figure for it.
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
        // The system counts in ticks: the wall clock measures what takes only a few of them.
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

/// The most memory that the process had in RAM, where the system has a figure for it.
pub(super) fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// One measured figure with its bar.
#[derive(Deserialize, Serialize)]
pub struct Figure {
    pub(super) what: String,
    /// The profile of the device, where it is one and the program says so.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub(super) device: String,
    pub(super) value: f64,
    pub(super) unit: String,
    bar: f64,
    /// Whether the value must be at least the bar, or at most.
    bar_is: String,
    pub(super) passes: bool,
    cpu_s: f64,
    wall_s: f64,
}

impl Figure {
    /// A figure that must be at least `bar`.
    pub(super) fn at_least(what: String, value: f64, unit: &str, bar: f64, spent: Spent) -> Figure {
        Figure {
            passes: value >= bar,
            bar_is: AT_LEAST.to_owned(),
            ..Figure::at_most(what, value, unit, bar, spent)
        }
    }

    /// A figure that must be at most `bar`.
    pub(super) fn at_most(what: String, value: f64, unit: &str, bar: f64, spent: Spent) -> Figure {
        Figure {
            what,
            device: String::new(),
            value,
            unit: unit.to_owned(),
            bar,
            bar_is: "at most".to_owned(),
            passes: value <= bar,
            cpu_s: spent.cpu_s,
            wall_s: spent.wall_s,
        }
    }

    /// The same of a device of this profile.
    pub(super) fn of(self, device: &str) -> Figure {
        Figure {
            device: device.to_owned(),
            ..self
        }
    }

    /// Of a rate; less is better of a time and of memory.
    pub(super) fn is_better_when_more(&self) -> bool {
        self.bar_is == AT_LEAST
    }

    /// A value with as many digits as matter.
    pub(super) fn number(value: f64) -> String {
        match value {
            value if value >= 1e4 => count(value),
            value if value >= 10.0 => format!("{value:.0}"),
            value => format!("{value:.3}"),
        }
    }

    pub(super) fn cells(&self) -> Vec<String> {
        vec![
            self.what.clone(),
            self.device.clone(),
            format!("{} {}", Figure::number(self.value), self.unit),
            format!("{} {}", self.bar_is, Figure::number(self.bar)),
            if self.passes { "passes" } else { "FAILS" }.to_owned(),
            format!("{:.2}", self.cpu_s),
            format!("{:.2}", self.wall_s),
        ]
    }
}
