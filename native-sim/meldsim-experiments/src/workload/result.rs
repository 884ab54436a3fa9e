//! What a run gives.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::job::{Job, Rate, pattern_name, priority_name};
use super::series::TimeSeries;
use super::tally::Tally;
use super::trace::TraceSummary;
use crate::report::{LatencyHistogram, LatencySummary, percent_of};
use meldsim::device::{Device, Stats, Utilisation};
use meldsim::engine::Time;

/// The outcome of a run. Every figure is simulated.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RunResult {
    /// One entry per job in their order, or per volume of a trace.
    pub jobs: Vec<JobResult>,
    /// What the device did meanwhile.
    pub device: DeviceResult,
    /// The run over time, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<TimeSeries>,
    /// How the trace was fitted to the device, if one was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSummary>,
}

/// The outcome of one job.
#[derive(Clone, Debug, serde::Serialize)]
pub struct JobResult {
    /// The job's name.
    pub name: String,
    /// The options that differ from the defaults, in the job file's words.
    pub options: Vec<(&'static str, String)>,
    /// Most requests outstanding.
    pub iodepth: u32,
    /// When counting began.
    pub start_us: f64,
    /// Simulated time from then to the last completion.
    pub duration_us: f64,
    /// The reads, if any.
    pub read: Option<DirectionResult>,
    /// The writes, if any; done means accepted by the device's write buffer.
    pub write: Option<DirectionResult>,
}

/// The reads or the writes of a job.
#[derive(Clone, Debug, serde::Serialize)]
pub struct DirectionResult {
    /// Requests completed.
    pub requests: u64,
    /// Of these, completed with an error.
    pub failed: u64,
    /// Bytes of the requests that succeeded.
    pub bytes: u64,
    /// Bytes per simulated time; `None` when no time has passed.
    pub bandwidth_mib_s: Option<f64>,
    /// Requests per simulated second; `None` when no time has passed.
    pub iops: Option<f64>,
    /// Arrival to completion.
    pub latency: Option<LatencySummary>,
    /// All latencies from submission to completion.
    #[serde(skip)]
    pub in_device: LatencyHistogram,
    /// All times from arrival to submission; `None` when no request had to wait.
    #[serde(skip)]
    pub waited: Option<LatencyHistogram>,
    /// All latencies from arrival to completion; `None` when no request had to wait, then they are as in the device.
    #[serde(skip)]
    pub in_all: Option<LatencyHistogram>,
}

/// The device's counters over a run.
#[derive(Clone, Debug)]
pub struct DeviceResult {
    /// The counters.
    pub stats: Stats,
    /// Busy times of every channel and die.
    pub utilisation: Utilisation,
}

impl DeviceResult {
    pub(super) fn of(device: &Device) -> DeviceResult {
        DeviceResult {
            stats: device.stats(),
            utilisation: device.utilisation(),
        }
    }

    /// Share of the simulated time that each channel's bus was held.
    pub fn channels_busy_percent(&self) -> Vec<f64> {
        self.percent(&self.utilisation.channels_busy)
    }

    /// Share of the simulated time that each die was busy, those of channel 0 first.
    pub fn dies_busy_percent(&self) -> Vec<f64> {
        self.percent(&self.utilisation.dies_busy)
    }

    fn percent(&self, busy: &[Time]) -> Vec<f64> {
        let percent = |time: &Time| percent_of(time.as_ps(), self.stats.now_ps);
        busy.iter().map(percent).collect()
    }
}

impl Serialize for DeviceResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Stats::NAMES.len() + 2))?;
        for (name, value) in Stats::NAMES.iter().zip(self.stats.to_array()) {
            map.serialize_entry(name, &value)?;
        }
        map.serialize_entry("channels_busy_percent", &self.channels_busy_percent())?;
        map.serialize_entry("dies_busy_percent", &self.dies_busy_percent())?;
        map.end()
    }
}

/// A stretch of simulated time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: Time,
    pub(super) end: Time,
}

impl DirectionResult {
    /// All latencies from arrival to completion.
    pub fn latencies(&self) -> &LatencyHistogram {
        self.in_all.as_ref().unwrap_or(&self.in_device)
    }

    fn of(tally: Tally, duration: Time) -> Option<DirectionResult> {
        let (requests, bytes) = (tally.requests(), tally.bytes);
        let per_second =
            |amount: f64| (duration > Time::ZERO).then(|| amount / duration.as_secs_f64());
        (requests > 0).then(|| DirectionResult {
            requests,
            failed: tally.failed,
            bytes,
            bandwidth_mib_s: per_second(bytes as f64 / f64::from(1 << 20)),
            iops: per_second(requests as f64),
            latency: tally.latency().summary(),
            in_device: tally.in_device,
            waited: tally.waited,
            in_all: tally.in_all,
        })
    }
}

impl JobResult {
    pub(super) fn new(
        name: String,
        options: Vec<(&'static str, String)>,
        iodepth: u32,
        span: Span,
        read: Tally,
        write: Tally,
    ) -> JobResult {
        let duration = span.end.saturating_sub(span.start);
        JobResult {
            name,
            options,
            iodepth,
            start_us: span.start.as_ps() as f64 / 1e6,
            duration_us: duration.as_ps() as f64 / 1e6,
            read: DirectionResult::of(read, duration),
            write: DirectionResult::of(write, duration),
        }
    }

    /// The result of a job; `grouped` when it is that of all its equal jobs.
    pub(super) fn of_job(
        job: &Job,
        grouped: bool,
        span: Span,
        read: Tally,
        write: Tally,
    ) -> JobResult {
        let name = match job.name.rsplit_once('.') {
            Some((name, _)) if grouped => name.to_owned(),
            _ => job.name.clone(),
        };
        let jobs = if grouped { job.numjobs } else { 1 };
        JobResult::new(name, options(job), job.iodepth * jobs, span, read, write)
    }

    /// Both directions that had requests, with their names.
    pub fn directions(&self) -> impl Iterator<Item = (&'static str, &DirectionResult)> {
        let both = [("read", &self.read), ("write", &self.write)];
        both.into_iter()
            .filter_map(|(name, direction)| Some((name, direction.as_ref()?)))
    }
}

/// The options of a job that say what it does, and those that differ from fio's defaults.
fn options(job: &Job) -> Vec<(&'static str, String)> {
    let default = Job::new("");
    let mut options = vec![("rw", job.rw.to_string())];
    if job.block_split.is_empty() {
        options.push(("bs", job.block_bytes.to_string()));
    } else {
        let shares = job.block_split.iter();
        let shares: Vec<String> = shares
            .map(|b| format!("{}/{}", b.bytes, b.percent))
            .collect();
        options.push(("bssplit", shares.join(":")));
    }
    options.push(("iodepth", job.iodepth.to_string()));
    options.push(("size", job.size_bytes.to_string()));
    let time = |time: Time| format!("{}ns", time.as_ns());
    let mut add = |key, differs: bool, value: String| {
        if differs {
            options.push((key, value));
        }
    };
    let io_bytes = job.io_bytes.unwrap_or(0);
    add("io_size", job.io_bytes.is_some(), io_bytes.to_string());
    add("offset", job.offset_bytes > 0, job.offset_bytes.to_string());
    add(
        "filename",
        job.file.is_some(),
        job.file.clone().unwrap_or_default(),
    );
    add(
        "runtime",
        job.runtime.is_some(),
        time(job.runtime.unwrap_or(Time::ZERO)),
    );
    add("time_based", job.time_based, "1".to_owned());
    add("ramp_time", job.ramp_time > Time::ZERO, time(job.ramp_time));
    add(
        "startdelay",
        job.start_delay > Time::ZERO,
        time(job.start_delay),
    );
    add("stonewall", job.stonewall, "1".to_owned());
    add("numjobs", job.numjobs > 1, job.numjobs.to_string());
    add("group_reporting", job.group_reporting, "1".to_owned());
    let mixed = job.rw.reads() && job.rw.writes();
    add("rwmixread", mixed, job.rwmixread.to_string());
    add(
        "random_distribution",
        job.distribution != default.distribution,
        job.distribution.to_string(),
    );
    add("randseed", true, job.seed.to_string());
    for (bytes_key, requests_key, rate) in [
        ("rate_read", "rate_iops_read", job.rate_read),
        ("rate_write", "rate_iops_write", job.rate_write),
    ] {
        match rate {
            Some(Rate::Bytes(rate)) => add(bytes_key, true, rate.to_string()),
            Some(Rate::Requests(rate)) => add(requests_key, true, rate.to_string()),
            None => {}
        }
    }
    add("rate_process", job.poisson, "poisson".to_owned());
    add(
        "thinktime",
        job.think_time > Time::ZERO,
        time(job.think_time),
    );
    add(
        "thinktime_blocks",
        job.think_blocks > 1,
        job.think_blocks.to_string(),
    );
    let set = job.nvm_set.unwrap_or(0);
    add("nvm_set", job.nvm_set.is_some(), set.to_string());
    let priority = priority_name(job.queue_priority);
    add(
        "queue_priority",
        job.queue_priority != default.queue_priority,
        priority.to_owned(),
    );
    let pattern = pattern_name(job.read_pattern);
    add(
        "read_pattern",
        job.read_pattern != default.read_pattern,
        pattern.to_owned(),
    );
    if job.data_placement != default.data_placement {
        add("dataplacement", true, job.data_placement.name().to_owned());
        let ids: Vec<String> = job.placement_ids.iter().map(u16::to_string).collect();
        add("plids", true, ids.join(","));
    }
    options
}
