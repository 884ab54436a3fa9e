//! What a recorded workload would get from other devices, and from other layouts of its data.
//!
//! The trace is replayed once for each device and layout; each run starts with a fresh device.

mod output;

use serde::Serialize;

use super::result::{DirectionResult, RunResult};
use super::trace::ReplayMode;
use crate::report::{LatencyHistogram, LatencySummary, percent_of, rate_mib_s};
use meldsim::nvme::Pattern;
use meldsim::profile::Profile;

/// How a trace's data is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// As the trace says of each block.
    AsRecorded,
    /// Everything melded, as data that is read sequentially.
    AllMelded,
    /// Nothing melded.
    NoneMelded,
}

impl Layout {
    /// The layouts that a device of this profile can have.
    pub fn of(profile: &Profile) -> &'static [Layout] {
        match profile.timing.melded_read {
            Some(_) => &[Layout::AsRecorded, Layout::AllMelded, Layout::NoneMelded],
            None => &[Layout::AsRecorded],
        }
    }

    /// The read pattern to replay with in place of the recorded one, if any.
    pub fn read_pattern(self) -> Option<Pattern> {
        match self {
            Layout::AsRecorded => None,
            Layout::AllMelded => Some(Pattern::Sequential),
            Layout::NoneMelded => Some(Pattern::None),
        }
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Layout::AsRecorded => "as recorded",
            Layout::AllMelded => "all melded",
            Layout::NoneMelded => "none melded",
        }
    }
}

/// What one device and layout gave. Every figure is simulated.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The device.
    pub profile: String,
    /// How the data lay.
    pub layout: Layout,
    /// Simulated time from the first request's arrival to the last completion.
    pub duration_us: f64,
    /// The reads of all volumes, if any.
    pub read: Option<Figures>,
    /// The writes of all volumes, if any; done means accepted by the device's write buffer.
    pub write: Option<Figures>,
    /// Requests that failed because the device was full.
    pub failed: u64,
    /// Mean share of the time that a die was busy.
    pub dies_busy_percent: f64,
    /// Mean share of the time that a channel's bus was held.
    pub channels_busy_percent: f64,
    /// Pages programmed with data for each page the host wrote.
    pub write_amplification: f64,
}

/// The reads or the writes of an outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Requests completed.
    pub requests: u64,
    /// Bytes of the requests that succeeded.
    pub bytes: u64,
    /// Bytes per simulated time.
    pub bandwidth_mib_s: f64,
    /// Arrival to completion.
    pub latency: LatencySummary,
    /// All latencies.
    #[serde(skip)]
    pub latencies: LatencyHistogram,
}

/// The outcomes, one for each device and layout in the order they were asked for.
#[derive(Clone, Debug, Serialize)]
pub struct WhatIf {
    /// `open`: requests arrived when they were recorded; `closed`: when one before them had completed.
    pub replay: &'static str,
    /// What was found.
    pub outcomes: Vec<Outcome>,
    /// Index of the best outcome.
    pub best: usize,
    /// The best outcome in a sentence, and what is best about it.
    pub verdict: String,
}

impl Outcome {
    /// The figures of a run.
    pub fn new(profile: &Profile, layout: Layout, run: &RunResult) -> Outcome {
        let duration_us = run.jobs.iter().map(|job| job.duration_us);
        let duration_us = duration_us.fold(0.0, f64::max);
        let directions = || run.jobs.iter().flat_map(|job| job.directions());
        let figures = |name| {
            let parts = directions().filter(|(direction, _)| *direction == name);
            Figures::of(parts.map(|(_, direction)| direction), duration_us)
        };
        let stats = &run.device.stats;
        let busy = |busy_ps: u64, units: u64| percent_of(busy_ps, stats.now_ps * units.max(1));
        Outcome {
            profile: profile.name.clone(),
            layout,
            duration_us,
            read: figures("read"),
            write: figures("write"),
            failed: directions().map(|(_, direction)| direction.failed).sum(),
            dies_busy_percent: busy(stats.die_busy_ps, stats.dies),
            channels_busy_percent: busy(stats.channel_busy_ps, stats.channels),
            write_amplification: stats.write_amplification(),
        }
    }

    /// Bytes of both directions per simulated time.
    pub fn bandwidth_mib_s(&self) -> f64 {
        let both = [&self.read, &self.write].into_iter().flatten();
        both.map(|figures| figures.bandwidth_mib_s).sum()
    }

    /// The mean latency of the reads, or of the writes where nothing is read.
    fn mean_us(&self) -> f64 {
        let figures = self.read.as_ref().or(self.write.as_ref());
        figures.map_or(0.0, |figures| figures.latency.mean_us)
    }

    fn name(&self) -> String {
        format!("{} {}", self.profile, self.layout.name())
    }
}

impl Figures {
    fn of<'a>(
        parts: impl Iterator<Item = &'a DirectionResult>,
        duration_us: f64,
    ) -> Option<Figures> {
        let mut latencies = LatencyHistogram::new();
        let (mut requests, mut bytes) = (0, 0);
        for part in parts {
            latencies.merge(part.latencies());
            requests += part.requests;
            bytes += part.bytes;
        }
        let seconds = (duration_us / 1e6).max(f64::MIN_POSITIVE);
        Some(Figures {
            requests,
            bytes,
            bandwidth_mib_s: bytes as f64 / f64::from(1 << 20) / seconds,
            latency: latencies.summary()?,
            latencies,
        })
    }
}

impl WhatIf {
    /// Compares outcomes, of which there is at least one.
    pub fn new(mode: ReplayMode, outcomes: Vec<Outcome>) -> WhatIf {
        let better = |a: &Outcome, b: &Outcome| {
            // A device that had to refuse requests is no choice.
            let order = a.failed.cmp(&b.failed);
            order.then(match mode {
                ReplayMode::Open => a.mean_us().total_cmp(&b.mean_us()),
                ReplayMode::Closed => b.bandwidth_mib_s().total_cmp(&a.bandwidth_mib_s()),
            })
        };
        let best = (0..outcomes.len()).min_by(|a, b| better(&outcomes[*a], &outcomes[*b]));
        let best = best.unwrap_or(0);
        WhatIf {
            replay: match mode {
                ReplayMode::Open => "open",
                ReplayMode::Closed => "closed",
            },
            verdict: verdict(mode, &outcomes, best),
            outcomes,
            best,
        }
    }
}

fn verdict(mode: ReplayMode, outcomes: &[Outcome], best: usize) -> String {
    let (Some(best), Some(first)) = (outcomes.get(best), outcomes.first()) else {
        return String::new();
    };
    let (what, value): (_, fn(&Outcome) -> String) = match (mode, &best.read) {
        (ReplayMode::Closed, _) => ("most throughput", |outcome| {
            rate_mib_s(outcome.bandwidth_mib_s())
        }),
        (ReplayMode::Open, Some(_)) => ("least mean read latency", |outcome| {
            format!("{:.1} us", outcome.mean_us())
        }),
        (ReplayMode::Open, None) => ("least mean write latency", |outcome| {
            format!("{:.1} us", outcome.mean_us())
        }),
    };
    let against = if std::ptr::eq(best, first) {
        String::new()
    } else {
        format!(" against {} of {}", value(first), first.name())
    };
    let times = match mode {
        ReplayMode::Open => "requests arrive when they were recorded",
        ReplayMode::Closed => "each request arrives when one before it has completed",
    };
    format!(
        "Best: {} has the {what}, {}{against}. Simulated; {times}.",
        best.name(),
        value(best)
    )
}
