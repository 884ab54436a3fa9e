//! What a run gives: a [`Tally`] for each direction of each job, and what the device counted meanwhile.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::json;

use super::group::Group;
use super::job::Given;
use super::limit::Limit;
use super::rates::Rates;
use super::series::TimeSeries;
use meldsim::device::{Device, Precondition, Programmed, Stats, Utilisation};
use meldsim::engine::{Duration, Instant};
use meldsim::nvme::zone::ZoneCounts;
use meldsim::profile::{HostPath, Kind, PathTimes};
use meldsim_host::{Direction, Tally};
use meldsim_stats::{duration, percent, percent_of, rate_mib_s};
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
    /// What kept it from being faster; [`Run`](super::Run) says so.
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
    pub(super) fn of(device: &Device, state: String) -> Preconditioned {
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
    pub(super) fn of(device: &Device) -> Option<HostPathResult> {
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

/// The outcome of one job.
#[derive(Clone, Debug, Default)]
pub struct JobResult {
    /// The job's name.
    pub name: String,
    /// Its reporting group, from 0: another begins with `stonewall` or `new_group`.
    pub group: usize,
    /// What it does, in the job file's words, and what else was said of it.
    pub options: Vec<(String, String)>,
    /// Most requests outstanding.
    pub iodepth: u32,
    /// When counting began.
    pub start_us: f64,
    /// Simulated time from then until it was over.
    pub duration_us: f64,
    /// The jobs' own times, added up.
    pub(crate) run_time: Duration,
    /// Rates of reads, writes and trims in parts of their time.
    pub(crate) rates: [Rates; 3],
    /// Requests by how many were outstanding with them, in powers of two.
    pub(crate) depths: [u64; 7],
    /// Its options as the job file has them; of several jobs those of the last, as in fio.
    pub(crate) given: Given,
    /// The reads, if any.
    pub read: Option<Tally>,
    /// The writes, if any; done means accepted by the device's write buffer.
    pub write: Option<Tally>,
    /// The trims, if any.
    pub trim: Option<Tally>,
    /// The flushes, if any.
    pub sync: Option<Tally>,
    /// Equal jobs and jobs of a group that it is the sum of.
    pub jobs: u32,
    /// Percentiles of latencies to show, in millionths of a percent; fio's list when empty.
    pub percentiles: Vec<u64>,
    /// What its NVM set did while it was counted; `None` of a trace.
    pub window: Option<Window>,
    /// What uniform random overwrites of all that its NVM set holds come to by the closed form, if that is what it does.
    pub uniform_write_amplification: Option<f64>,
    /// With `latency_target`, the queue depth that was found; 0 when none that was tried meets it.
    pub latency_depth: Option<u32>,
    /// Bytes of logical blocks that requests had no part in, and that were read or written with them.
    pub widened_bytes: u64,
    /// With `steadystate`, when speed had become steady, if it had.
    pub steady_us: Option<f64>,
    /// Why it ended before its work was done.
    pub stopped: Option<String>,
    /// What was not counted, from its start on.
    pub(crate) ramp_time: Duration,
    /// How its region was fitted to zones, if it was.
    pub(crate) rounded: Option<String>,
}

/// What was counted of a job, and whether it would go on so. A job that shares its NVM set with others sees what they do, too.
#[derive(Clone, Debug)]
pub struct Window {
    /// Bytes programmed to flash for each byte that the host wrote; `None` where there was none of these, or no flash.
    pub write_amplification: Option<f64>,
    /// Bytes programmed.
    pub programmed_bytes: u64,
    /// Bytes the host wrote.
    pub written_bytes: u64,
    /// Blocks erased.
    pub blocks_erased: u64,
    /// Flash was programmed, and no block erased.
    pub is_fresh: bool,
    /// By its end blocks had been erased, be it before it began.
    pub was_erased: bool,
    /// Its halves, where they have enough requests to tell.
    pub halves: Option<[Half; 2]>,
    /// Whether rate and write amplification of the halves are alike within 5 %, where there are halves, and collection freed as
    /// much as was written: some blocks, where some were programmed.
    pub is_steady: Option<bool>,
    /// Bytes that collection freed for each that was written, where these are 5 % apart.
    pub freed: Option<f64>,
    /// From when on that is so of what is left, from the window's start.
    pub steady_since: Option<Duration>,
}

/// A part of a window.
#[derive(Clone, Copy, Debug)]
pub struct Half {
    /// Bytes of requests that completed.
    pub bytes: u64,
    /// How long it was.
    pub seconds: f64,
    /// As of the whole.
    pub write_amplification: Option<f64>,
}

impl Window {
    /// Whether it is steady, in words; nothing where nobody would doubt it. `is_new`: nothing was done to the device before the run.
    pub(super) fn to_text(&self, is_new: bool) -> Option<String> {
        let writes = self.written_bytes > 0;
        if self.is_fresh && writes {
            let state = match is_new && !self.was_erased {
                true => "fresh, out of the box",
                false => "not steady",
            };
            return Some(format!("{state}: no block erased yet"));
        }
        let text = match (self.is_steady, &self.halves) {
            (Some(false), Some([first, second])) => {
                let mut text = format!("not steady: {} → {}", first.rate(), second.rate());
                if let (Some(one), Some(other)) =
                    (first.write_amplification, second.write_amplification)
                {
                    text += &format!(", write amplification {one:.2} → {other:.2}");
                }
                text += " from the first half to the second";
                if let Some(freed) = self.freed {
                    let freed = percent(freed.max(0.0), 1.0);
                    text += &format!(", collection freed {freed} of what was written");
                }
                match self.steady_since {
                    Some(since) => text + &format!("; steady since {}", duration(since)),
                    None => text,
                }
            }
            (Some(_), _) if writes => "steady: both halves are alike within 5 %".to_owned(),
            (None, _) if writes => "too few requests to tell whether it is steady".to_owned(),
            _ => return None,
        };
        Some(text)
    }
}

impl Half {
    /// The rate.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }

    /// In the words of a result.
    fn rate(&self) -> String {
        rate_mib_s(self.bytes_per_s() / f64::from(1 << 20))
    }

    /// Whether what is outstanding at its ends is little beside what was done.
    pub(super) fn tells(&self, outstanding_bytes: u64) -> bool {
        self.bytes >= outstanding_bytes.saturating_mul(HALF_DEPTHS)
    }
}

/// So many times what is outstanding, and a half's rate is known to 2.5 %.
const HALF_DEPTHS: u64 = 40;

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let half = |half: &Half| {
            json!({
                "bytes_per_s": half.bytes_per_s(),
                "write_amplification": half.write_amplification,
            })
        };
        let since = self.steady_since.map(|time| time.as_ps() as f64 / 1e6);
        let halves = self.halves.as_ref();
        json!({
            "write_amplification": self.write_amplification,
            "programmed_bytes": self.programmed_bytes,
            "written_bytes": self.written_bytes,
            "blocks_erased": self.blocks_erased,
            "halves": halves.map(|halves| halves.each_ref().map(half)),
            "is_steady": self.is_steady,
            "is_fresh": self.is_fresh,
            "steady_since_us": since,
        })
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

/// A stretch of simulated time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: Instant,
    pub(super) end: Instant,
}

impl JobResult {
    /// What was counted in that time, of nobody yet.
    pub(super) fn new(span: Span, [read, write, trim, sync]: [Option<Tally>; 4]) -> JobResult {
        let duration = span.end.saturating_since(span.start);
        JobResult {
            start_us: span.start.as_ps() as f64 / 1e6,
            duration_us: duration.as_ps() as f64 / 1e6,
            run_time: duration,
            read,
            write,
            trim,
            sync,
            jobs: 1,
            ..JobResult::default()
        }
    }

    /// The requests of a direction, if there were any.
    pub fn tally(&self, direction: Direction) -> Option<&Tally> {
        let all = [&self.read, &self.write, &self.trim, &self.sync];
        all[direction as usize].as_ref()
    }

    /// The directions that had requests, with their names.
    pub fn directions(&self) -> impl Iterator<Item = (&'static str, &Tally)> {
        let all = Direction::ALL.into_iter();
        all.filter_map(|direction| Some((direction.name(), self.tally(direction)?)))
    }

    /// Requests of all directions that completed with an error.
    pub fn failed(&self) -> u64 {
        self.directions().map(|(_, tally)| tally.failed).sum()
    }
}

impl RunResult {
    /// How many requests failed, and why: what reads give up is the flash's (`timing.cells` of the profile), and to write there
    /// must be room.
    pub fn failures(&self) -> Option<String> {
        failures(self.jobs.iter().collect())
    }
}

/// The same of some jobs.
pub(super) fn failures(jobs: Vec<&JobResult>) -> Option<String> {
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

/// What the device counted.
#[derive(Clone, Debug, Default)]
pub struct DeviceResult {
    /// The counters since the device was built.
    pub stats: Stats,
    /// Those of the run alone: without what was done to the device before.
    pub run: Stats,
    /// How full it is; `None` of memory that is mapped by address, which keeps nothing.
    pub fill: Option<Fill>,
    /// Flexible data placement in the run, of a device that has it.
    pub fdp: Option<FdpResult>,
    /// What was done to zones in the run, of a device that has them.
    pub zones: Option<ZonesResult>,
    /// Busy times of every channel and die.
    pub utilisation: Utilisation,
    /// What `ftl.placement` asked for and did not get, in words.
    pub unplaced: Option<String>,
}

/// What a device has counted when a run begins.
#[derive(Clone, Debug)]
pub(super) struct Before {
    pub(super) stats: Stats,
    fdp_events: BTreeMap<&'static str, u64>,
    zones: ZoneCounts,
}

impl Before {
    pub(super) fn of(device: &Device) -> Before {
        Before {
            stats: device.stats(),
            fdp_events: fdp_events(device),
            zones: device.zone_counts(),
        }
    }
}

/// Events of all NVM sets by type, since the device was built.
fn fdp_events(device: &Device) -> BTreeMap<&'static str, u64> {
    let events = (0..device.sets()).flat_map(|set| device.fdp_event_counts(set));
    let mut counts = BTreeMap::new();
    for (kind, count) in events {
        *counts.entry(kind.name()).or_default() += count;
    }
    counts
}

impl DeviceResult {
    /// Of a device that had counted `before` when the run began.
    pub(super) fn of(device: &Device, before: &Before, overwritten_pages: u64) -> DeviceResult {
        let counted = (device.stats(), device.utilisation());
        DeviceResult::counted(device, counted, before, overwritten_pages)
    }

    /// The same, of what such a device has counted in the end.
    pub(super) fn counted(
        device: &Device,
        (stats, utilisation): (Stats, Utilisation),
        before: &Before,
        overwritten_pages: u64,
    ) -> DeviceResult {
        let keeps_data = device.profile().kind == Kind::Nand;
        let run = stats.since(&before.stats);
        DeviceResult {
            fdp: FdpResult::of(device, &run, before),
            zones: ZonesResult::of(device, before),
            run,
            fill: keeps_data.then_some(Fill {
                mapped_pages: stats.mapped_pages,
                capacity_pages: stats.capacity_pages,
                overwritten_pages,
            }),
            stats,
            utilisation,
            unplaced: unplaced(device),
        }
    }

    /// Pages that went to flash or came from it in the run, and for whom; `None` of other memory.
    pub fn flash(&self) -> Option<FlashPages> {
        let run = &self.run;
        self.fill.map(|_| FlashPages {
            host_pages_read: run.host_pages_read,
            merge_pages_read: run.merge_pages_read,
            read_ahead_pages: run.read_ahead_pages,
            gc_pages_read: run.gc_pages_read,
            host_pages_programmed: run.host_pages_programmed,
            gc_pages_programmed: run.gc_pages_programmed,
            journal_pages_programmed: run.journal_pages_programmed,
            map_pages_read: run.map_pages_read,
            map_pages_programmed: run.map_pages_programmed,
            padded_pages: run.padded_pages,
            bytes: run.programmed().into(),
            write_amplification: run.write_amplification(),
        })
    }

    /// Share of the simulated time that each channel's bus was held.
    pub fn channels_busy_percent(&self) -> Vec<f64> {
        self.percent(&self.utilisation.channels_busy)
    }

    /// Share of the simulated time that each die was busy, those of channel 0 first.
    pub fn dies_busy_percent(&self) -> Vec<f64> {
        self.percent(&self.utilisation.dies_busy)
    }

    fn percent(&self, busy: &[Duration]) -> Vec<f64> {
        let percent = |time: &Duration| percent_of(time.as_ps(), self.stats.now_ps);
        busy.iter().map(percent).collect()
    }
}

/// Flexible data placement in a run, over all NVM sets: the FDP Statistics log page, and how many events there were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FdpResult {
    /// Reclaim unit handles of each NVM set.
    pub handles: u16,
    /// Host Bytes with Metadata Written.
    pub host_bytes_written: u64,
    /// Media Bytes with Metadata Written.
    pub media_bytes_written: u64,
    /// Media Bytes Erased.
    pub media_bytes_erased: u64,
    /// Events by type.
    pub events: BTreeMap<&'static str, u64>,
}

impl FdpResult {
    fn of(device: &Device, run: &Stats, before: &Before) -> Option<FdpResult> {
        let handles = device.handles();
        let mut events = fdp_events(device);
        for (kind, count) in &before.fdp_events {
            events.entry(kind).and_modify(|all| *all -= count);
        }
        (handles > 0).then(|| FdpResult {
            handles,
            host_bytes_written: run.host_written_bytes,
            media_bytes_written: run.programmed_bytes,
            media_bytes_erased: run.erases * device.profile().block_size().0,
            events,
        })
    }
}

/// What was done to zones in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ZonesResult {
    /// Zones that were reset and were not empty.
    pub resets: u64,
    /// Zones that were finished and were not full.
    pub finishes: u64,
    /// Zones that were closed because another was opened.
    pub implicit_closes: u64,
}

impl ZonesResult {
    fn of(device: &Device, before: &Before) -> Option<ZonesResult> {
        let (all, before) = (device.zone_counts(), before.zones);
        device.zone_shape().map(|_| ZonesResult {
            resets: all.resets - before.resets,
            finishes: all.finishes - before.finishes,
            implicit_closes: all.implicit_closes - before.implicit_closes,
        })
    }
}

/// How full the device is at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fill {
    /// Logical pages that hold data.
    pub mapped_pages: u64,
    /// Logical pages that can hold data at one time.
    pub capacity_pages: u64,
    /// Pages that were overwritten at random before the run, as preconditioning says.
    pub overwritten_pages: u64,
}

impl Fill {
    /// Pages of a device that has just been preconditioned which were overwritten at random.
    pub(super) fn overwritten_pages(device: &Device, past: &Precondition) -> u64 {
        match device.profile().kind {
            Kind::Nand => device.stats().mapped_pages * u64::from(past.random_percent) / 100,
            Kind::Xpoint => 0,
        }
    }
}

/// Pages that went to flash or came from it in a run. The names are those of the counters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlashPages {
    /// Pages that reads had from flash.
    pub host_pages_read: u64,
    /// Pages read because a write covers them in part.
    pub merge_pages_read: u64,
    /// Pages read ahead; left out where none were.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_ahead_pages: u64,
    /// Pages that garbage collection read.
    pub gc_pages_read: u64,
    /// Pages programmed for the host.
    pub host_pages_programmed: u64,
    /// Pages programmed for garbage collection.
    pub gc_pages_programmed: u64,
    /// Pages of the journal programmed; left out where there is no journal.
    #[serde(skip_serializing_if = "is_zero")]
    pub journal_pages_programmed: u64,
    /// Translation pages read; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub map_pages_read: u64,
    /// Translation pages programmed; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub map_pages_programmed: u64,
    /// Pages programmed with nothing in them.
    pub padded_pages: u64,
    /// What the bytes programmed are made of.
    pub bytes: ProgrammedBytes,
    /// Bytes programmed for each byte that the host wrote; `None` when there was none of these.
    pub write_amplification: Option<f64>,
}

/// What the bytes programmed in a run are made of: they add up to `programmed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ProgrammedBytes {
    /// All of it.
    pub programmed: u64,
    /// Data that the host wrote.
    pub host: u64,
    /// An older copy, in pages that the host wrote in part.
    pub merge: u64,
    /// Nothing, in pages that the host wrote in part and that held nothing before.
    pub filling: u64,
    /// Moved by garbage collection to make room.
    pub collection: u64,
    /// Moved to level wear.
    pub levelling: u64,
    /// Translation pages; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub mapping: u64,
    /// The journal of the mapping.
    pub journal: u64,
    /// Nothing, to close a wordline.
    pub padding: u64,
}

impl From<Programmed> for ProgrammedBytes {
    fn from(of: Programmed) -> ProgrammedBytes {
        ProgrammedBytes {
            programmed: of.total(),
            host: of.host_bytes,
            merge: of.merge_bytes,
            filling: of.filling_bytes,
            collection: of.collection_bytes,
            levelling: of.levelling_bytes,
            mapping: of.mapping_bytes,
            journal: of.journal_bytes,
            padding: of.padding_bytes,
        }
    }
}

impl Serialize for DeviceResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in Stats::NAMES.iter().zip(self.stats.to_array()) {
            let is_optional = *name == JOURNAL || name.starts_with(MAPPING);
            if is_optional && is_zero(&value) {
                continue;
            }
            map.serialize_entry(name, &value)?;
        }
        map.serialize_entry("channels_busy_percent", &self.channels_busy_percent())?;
        map.serialize_entry("dies_busy_percent", &self.dies_busy_percent())?;
        map.end()
    }
}

/// The counter that a device without a journal does not show.
const JOURNAL: &str = "journal_pages_programmed";
/// How those begin that a device with its whole mapping at hand does not show.
const MAPPING: &str = "map_";

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What became of pages whose frontier was not there.
fn unplaced(device: &Device) -> Option<String> {
    let sets = (0..device.sets()).filter_map(|set| device.set_info(set));
    let (none, beyond) = sets.fold((0, 0), |(none, beyond), set| {
        (
            none + set.pages_without_frontier,
            beyond + set.pages_beyond_frontiers,
        )
    });
    let said = [
        (
            none,
            "pages went to frontier 0, for there are too few spare superblocks for theirs: give controller.capacity less of the flash, or more blocks a plane",
        ),
        (
            beyond,
            "pages were sent to frontiers beyond the last, and went to the last",
        ),
    ];
    let said = said.iter().filter(|(pages, _)| *pages > 0);
    let said: Vec<String> = said
        .map(|(pages, text)| format!("{pages} {text}"))
        .collect();
    let name = &device.profile().ftl.placement;
    (!said.is_empty()).then(|| format!("ftl.placement = \"{name}\": {}\n", said.join("; ")))
}
