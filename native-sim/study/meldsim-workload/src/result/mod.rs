//! What a run gives: a [`Tally`](meldsim_host::Tally) for each direction of each job, and what the device counted meanwhile.

mod device;
pub(crate) mod fio;
pub(crate) mod group;
mod job;
pub(crate) mod output;
pub(crate) mod rates;
pub(crate) mod series;
mod terse;

use serde::Serialize;
use serde::ser::Serializer;
use serde_json::json;

pub(crate) use self::device::Before;
use self::device::is_zero;
pub use self::device::{DeviceResult, FdpResult, Fill, FlashPages, ProgrammedBytes, ZonesResult};
use self::group::Group;
pub(crate) use self::job::Span;
pub use self::job::{Half, JobResult, Window};
use self::series::TimeSeries;
use crate::limit::Limit;
use meldsim::device::Device;
use meldsim::engine::Duration;
use meldsim::profile::{HostPath, PathTimes};
use meldsim_host::Direction;
use meldsim_stats::percent_of;
use meldsim_timeline::TimelineData;
use meldsim_timeline::Waits;

/// The outcome of a run. Every figure is simulated.
#[derive(Clone, Debug, Default)]
pub struct RunResult {
    /// One entry per job in their order, or per volume of a trace.
    pub jobs: Vec<JobResult>,
    /// The host's path that is in every latency; `None` when it took no time.
    pub host_path: Option<HostPathResult>,
    /// The state in which the device was put before, if it was.
    pub precondition: Option<Preconditioned>,
    /// What the device did meanwhile.
    pub device: DeviceResult,
    /// The run over time, if it was asked for.
    pub series: Option<TimeSeries>,
    /// What each group of a trace's blocks got, if that was asked for.
    pub groups: Vec<Group>,
    /// How the trace was fitted to the device, if one was replayed.
    pub trace: Option<TraceSummary>,
    /// Whether the run was broken off before its end.
    pub is_partial: bool,
    /// The device's timeline for the page, if that was asked for.
    pub timelines: Vec<TimelineData>,
    /// What the slowest commands waited for, if there was a timeline.
    pub waits: Vec<Waits>,
    /// JSON has how often there was each latency: fio's `json+`.
    pub has_bins: bool,
    /// Options of the job file that a simulated device gives no meaning.
    pub passed_over: Vec<String>,
    /// What kept it from being faster; [`Run`](crate::Run) says so.
    pub limit: Option<Limit>,
}

/// The state of a device before the run.
#[derive(Clone, Debug, Serialize)]
pub struct Preconditioned {
    /// As asked for, with what was left out.
    pub state: String,
    /// Share of what the device can hold that it held.
    pub filled_percent: f64,
    /// A placement policy that was not asked in it.
    #[serde(skip)]
    pub unasked: Option<String>,
}

impl Preconditioned {
    /// Of a device that has just been put into its state.
    pub(crate) fn of(device: &Device, state: String) -> Preconditioned {
        let stats = device.stats();
        Preconditioned {
            state,
            filled_percent: percent_of(stats.mapped_pages, stats.capacity_pages),
            unasked: Some(device.profile().ftl.placement.to_string())
                .filter(|name| !["streams", "isolated"].contains(&name.as_str())),
        }
    }

    /// In a line, for people.
    pub fn to_text(&self) -> String {
        let share = self.filled_percent;
        let mut text = format!(
            "before: {}, which is {share:.1} % of the device",
            self.state
        );
        if share < 50.0 {
            text += ": the rest is spare to it, so collection has little to do; --size 100% is all of it";
        }
        if let Some(name) = &self.unasked {
            text += &format!(
                "; all of it lies at frontier 0, since a past does not ask ftl.placement = \"{name}\": its own steady state comes after as much as the device holds was written a few times"
            );
        }
        text + "\n"
    }
}

/// The host's path to the device, as `host.path` of the profile has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPathResult {
    /// By what software.
    pub path: HostPath,
    /// What it took for each command.
    pub times: PathTimes,
}

impl HostPathResult {
    /// That of the device's profile, if there is one.
    pub(crate) fn of(device: &Device) -> Option<HostPathResult> {
        let host = &device.profile().host;
        (!matches!(host.path, HostPath::None | HostPath::Included)).then(|| HostPathResult {
            path: host.path,
            times: host.path_times(),
        })
    }
}

impl Serialize for HostPathResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ns = |time: Duration| time.as_ps() as f64 / 1e3;
        let (submit, completion) = (ns(self.times.submit), ns(self.times.completion));
        json!({ "name": self.path.name(), "submit_ns": submit, "completion_ns": completion })
            .serialize(serializer)
    }
}

/// How a trace was fitted to the device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TraceSummary {
    /// Records replayed.
    pub records: u64,
    /// Of these, flushes.
    pub flushes: u64,
    /// Of these, deletions.
    pub deletions: u64,
    /// Of these, truncations.
    pub truncations: u64,
    /// Of these, files handed to readers whose reads are not in the trace.
    pub opens: u64,
    /// Requests beyond the end of the device, moved to within.
    pub wrapped: u64,
    /// Requests that did not begin or end at a logical block, made larger until they did.
    pub widened: u64,
    /// Records earlier than the one before, replayed with it.
    pub out_of_order: u64,
    /// Bytes that were read before they were written: placed before their first read, in no simulated time.
    pub preloaded_bytes: u64,
    /// Reads of such data for which there was no room: they did not read flash.
    pub without_room: u64,
    /// Of the records, ranges given up.
    #[serde(skip_serializing_if = "is_zero")]
    pub trims: u64,
    /// Of the records, those that had arrived by the end of the run and found no place in its queue.
    #[serde(skip_serializing_if = "is_zero")]
    pub unserved: u64,
    /// Reads and writes of no bytes, passed over.
    #[serde(skip_serializing_if = "is_zero")]
    pub empty: u64,
    /// Lines that are no request, passed over.
    #[serde(skip_serializing_if = "is_zero")]
    pub others: u64,
    /// What about its times makes no sense.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

impl RunResult {
    /// How many requests failed, and why: what reads give up is the flash's (`timing.cells` of the profile), and to write there
    /// must be room.
    pub fn failures(&self) -> Option<String> {
        failures(self.jobs.iter().collect())
    }
}

/// The same of some jobs.
pub(crate) fn failures(jobs: Vec<&JobResult>) -> Option<String> {
    let failed = |reads: bool| {
        let all = jobs.iter().flat_map(|job| job.directions());
        let all = all.filter(|(name, _)| (*name == Direction::Read.name()) == reads);
        all.map(|(_, tally)| tally.failed).sum::<u64>()
    };
    let said = |(count, text): (u64, &str)| (count > 0).then(|| format!("{count} {text}"));
    let parts = [
        (
            failed(true),
            "reads failed: their data could not be read (timing.cells)",
        ),
        (failed(false), "requests failed: the device is full"),
    ];
    let parts: Vec<String> = parts.into_iter().filter_map(said).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
