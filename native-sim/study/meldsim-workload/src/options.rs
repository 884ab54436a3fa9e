//! Options of a job that are several values together: how its requests follow one another, and what ends it.

use super::quantity::{parse_decimal, parse_name};
use meldsim::engine::Duration;

/// Random requests that follow one another: fio's `rw=randread:8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Requests until the next random block.
    pub requests: u32,
    /// Whether they all touch the same block, and not each the next one: `rw_sequencer=identical`.
    pub identical: bool,
}

/// Zones of the region that are worked on one after the other: fio's `zonemode=strided`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strided {
    /// Bytes of a zone.
    pub range_bytes: u64,
    /// Bytes to transfer in it; less than its size leaves the rest out, more goes round again.
    pub size_bytes: u64,
    /// Bytes to skip after it.
    pub skip_bytes: u64,
}

/// Zones of the device: fio's `zonemode=zbd`. Shares are in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZonedBlock {
    /// From the start of a zone to that of the next; the device's when 0.
    pub zone_bytes: u64,
    /// Bytes of a zone that can be written; the device's when 0.
    pub capacity_bytes: u64,
    /// Zones that all jobs write to at a time; as many as the device allows when 0.
    pub max_open: u32,
    /// Zones that the job writes to at a time; no limit when 0.
    pub job_max_open: u32,
    /// Share of the region that is written before zones are reset.
    pub reset_threshold: u64,
    /// Resets for a write from then on; none when 0.
    pub reset_frequency: u64,
    /// Reads may be of what is not written.
    pub read_beyond: bool,
}

impl ZonedBlock {
    /// All, as a share.
    pub const ALL: u64 = 1_000_000;
}

/// Jobs of one flow proceed in the ratio of their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Which flow.
    pub id: u32,
    /// The job's weight.
    pub weight: u32,
    /// Pause of a job that is ahead of the others.
    pub sleep: Duration,
}

/// Which jobs end when one does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exit {
    /// That one.
    #[default]
    Alone,
    /// All of its group.
    Group,
    /// All that run, up to the next that waits for them.
    Stonewall,
    /// All, and what would follow does not begin.
    All,
}

/// The names of `exit_what`.
pub(super) const EXITS: [(&str, Exit); 3] = [
    ("group", Exit::Group),
    ("stonewall", Exit::Stonewall),
    ("all", Exit::All),
];

/// A search for the largest queue depth at which requests are fast enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyTarget {
    /// What a request may take.
    pub target: Duration,
    /// Time over which a depth is tried.
    pub window: Duration,
    /// Percentage of requests that must meet the target, in millionths.
    pub percentile: u64,
    /// Whether to go on with the depth that was found.
    pub run: bool,
}

impl Default for LatencyTarget {
    fn default() -> LatencyTarget {
        LatencyTarget {
            target: Duration::ZERO,
            window: Duration::ZERO,
            percentile: LatencyTarget::ALL,
            run: false,
        }
    }
}

impl LatencyTarget {
    /// All requests, as `percentile`.
    pub const ALL: u64 = 100_000_000;
}

/// What must be steady.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Requests a second.
    #[default]
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// Mean completion latency, in nanoseconds.
    Latency,
}

/// When a job's speed counts as steady: fio's `steadystate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteadyState {
    /// What must be steady.
    pub measure: Measure,
    /// Whether the slope decides, and not the largest distance from the mean.
    pub is_slope: bool,
    /// The limit, in millionths.
    pub limit: u64,
    /// Whether the limit is in percent of the mean.
    pub is_percent: bool,
    /// The last so much time decides.
    pub window: Duration,
    /// Time from the start that does not count.
    pub ramp_time: Duration,
    /// Time between two measurements.
    pub interval: Duration,
}

/// The names of what `steadystate` looks at.
const CRITERIA: [(&str, (Measure, bool)); 6] = [
    ("iops", (Measure::Iops, false)),
    ("iops_slope", (Measure::Iops, true)),
    ("bw", (Measure::Bandwidth, false)),
    ("bw_slope", (Measure::Bandwidth, true)),
    ("lat", (Measure::Latency, false)),
    ("lat_slope", (Measure::Latency, true)),
];

impl SteadyState {
    /// Most intervals in a window.
    pub const MOST: u64 = 4096;
    /// The shortest interval.
    pub const SHORTEST: Duration = Duration::from_us(1);

    /// fio's `iops:10%`, with times that are still to be set.
    pub(super) fn parse(text: &str) -> Result<SteadyState, String> {
        let (name, limit) = text.split_once(':').unwrap_or((text, ""));
        let (measure, is_slope) = parse_name(name, &CRITERIA)?;
        let number = limit.strip_suffix('%').unwrap_or(limit);
        let limit_millionths = parse_decimal(number, 1_000_000).ok_or_else(|| {
            format!("has the limit \"{limit}\"; write a number or a percentage, such as iops:2%")
        })?;
        Ok(SteadyState {
            measure,
            is_slope,
            limit: limit_millionths,
            is_percent: limit.ends_with('%'),
            window: Duration::ZERO,
            ramp_time: Duration::ZERO,
            interval: Duration::from_ms(1000),
        })
    }
}

/// How a job's writes say which data belongs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataPlacement {
    /// They do not.
    #[default]
    None,
    /// By the streams directive.
    Streams,
    /// By the data placement directive: reclaim unit handles.
    Fdp,
}

/// The names of placements in job files.
pub(super) const PLACEMENTS: [(&str, DataPlacement); 3] = [
    ("none", DataPlacement::None),
    ("streams", DataPlacement::Streams),
    ("fdp", DataPlacement::Fdp),
];
