//! What one device and layout gave: a run comes in, the figures to compare go out.

use serde::Serialize;

use super::used::Use;
use meldsim::nvme::Pattern;
use meldsim::profile::Profile;
use meldsim_stats::{LatencyHistogram, LatencySummary, percent_of};
use meldsim_workload::Group;
use meldsim_workload::Limit;
use meldsim_workload::RunResult;
use meldsim_workload::Tally;
use meldsim_workload::trace::{Assignment, ReplayMode};

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
    pub(super) const ALL: [Layout; 3] = [Layout::AsRecorded, Layout::AllMelded, Layout::NoneMelded];

    /// The layouts that a device of this profile can have.
    pub fn of(profile: &Profile) -> &'static [Layout] {
        match profile.timing.melded_read {
            Some(_) => &Layout::ALL,
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

    /// The same for one group of the trace's blocks.
    pub(super) fn assignment(self) -> Assignment {
        self.read_pattern()
            .map_or(Assignment::AsRecorded, Assignment::Laid)
    }

    /// The name where a part of the data is laid out so.
    pub(super) fn brief(self) -> &'static str {
        match self {
            Layout::AsRecorded => "as recorded",
            Layout::AllMelded => "melded",
            Layout::NoneMelded => "normal",
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
    /// Requests that failed.
    pub failed: u64,
    /// How many and why, in words.
    #[serde(skip)]
    pub failures: Option<String>,
    /// Mean share of the time that a die was busy.
    pub dies_busy_percent: f64,
    /// Mean share of the time that a channel's bus was held.
    pub channels_busy_percent: f64,
    /// Bytes programmed for each byte written; `None` where nothing was.
    pub write_amplification: Option<f64>,
    /// What kept it from being faster, where that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The device's number, since two may have one name.
    #[serde(skip)]
    pub(super) device: usize,
    /// How it used the device.
    #[serde(skip)]
    pub(super) used: Use,
    /// What each group of the trace's blocks got.
    #[serde(skip)]
    pub(super) groups: Vec<Group>,
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

impl Outcome {
    /// The figures of a run on one of `profiles`, by its number.
    pub fn new(profiles: &[Profile], device: usize, layout: Layout, run: &RunResult) -> Outcome {
        let duration_us = run.jobs.iter().map(|job| job.duration_us);
        let duration_us = duration_us.fold(0.0, f64::max);
        let figures = |name| {
            let directions = run.jobs.iter().flat_map(|job| job.directions());
            let parts = directions.filter(|(direction, _)| *direction == name);
            Figures::of(parts.map(|(_, tally)| tally), duration_us)
        };
        let stats = &run.device.stats;
        let time_ps = u128::from(stats.now_ps);
        let busy = |busy_ps: u64, units: u64| percent_of(busy_ps, time_ps * u128::from(units));
        Outcome {
            profile: profiles[device].name.clone(),
            layout,
            duration_us,
            read: figures("read"),
            write: figures("write"),
            failed: run.jobs.iter().map(|job| job.failed()).sum(),
            failures: run.failures(),
            dies_busy_percent: busy(stats.die_busy_ps, stats.dies),
            channels_busy_percent: busy(stats.channel_busy_ps, stats.channels),
            write_amplification: run.device.run.write_amplification(),
            limit: run.limit.clone(),
            device,
            used: Use::new(run),
            groups: run.groups.clone(),
        }
    }

    /// Bytes of both directions per simulated time.
    pub fn bandwidth_mib_s(&self) -> f64 {
        let both = [&self.read, &self.write].into_iter().flatten();
        both.map(|figures| figures.bandwidth_mib_s).sum()
    }

    /// The latencies that are compared, added up over all groups, for each interval of the trace.
    pub(super) fn costs(&self, mode: ReplayMode) -> Vec<u128> {
        total_costs(&self.groups, mode)
    }

    /// The mean latency of the reads, or of the writes where nothing is read.
    pub(super) fn mean_us(&self) -> f64 {
        let figures = self.read.as_ref().or(self.write.as_ref());
        figures.map_or(0.0, |figures| figures.latency.mean_us)
    }

    pub(super) fn name(&self) -> String {
        format!("{} {}", self.profile, self.layout.name())
    }
}

impl Figures {
    fn of<'a>(parts: impl Iterator<Item = &'a Tally>, duration_us: f64) -> Option<Figures> {
        let mut all = Tally::default();
        parts.for_each(|part| all.merge(part));
        let seconds = (duration_us / 1e6).max(f64::MIN_POSITIVE);
        Some(Figures {
            requests: all.requests,
            bytes: all.bytes,
            bandwidth_mib_s: all.bytes as f64 / f64::from(1 << 20) / seconds,
            latency: all.latencies().summary()?,
            latencies: all.latencies().clone(),
        })
    }
}

/// The latencies that are compared, added up over groups: in a closed loop all, since what keeps a place of the depth
/// keeps others out; else those of reads, where there are any.
pub(super) fn total_costs(groups: &[Group], mode: ReplayMode) -> Vec<u128> {
    let any_reads = groups.iter().any(|group| group.reads > 0);
    let reads = any_reads || mode == ReplayMode::Closed;
    let writes = !any_reads || mode == ReplayMode::Closed;
    let mut sums = Vec::new();
    for group in groups {
        let counted = [(reads, &group.read_ps), (writes, &group.write_ps)];
        for (_, costs) in counted.into_iter().filter(|(counts, _)| *counts) {
            add(&mut sums, costs);
        }
    }
    sums
}

/// The same of one group by itself.
pub(super) fn group_costs(group: &Group, mode: ReplayMode) -> Vec<u128> {
    total_costs(std::slice::from_ref(group), mode)
}

fn add(sums: &mut Vec<u128>, more: &[u128]) {
    sums.resize(sums.len().max(more.len()), 0);
    sums.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
}
