//! What a run gives.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::job::Job;
use crate::device::Stats;
use crate::engine::Time;
use crate::report::{
    Align, LatencyHistogram, LatencySummary, Table, bytes, count, duration, percent, rate_mib_s,
};

/// The outcome of all jobs of a run. Every figure is simulated.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RunResult {
    /// One entry per job, in their order.
    pub jobs: Vec<JobResult>,
    /// What the device did meanwhile.
    pub device: DeviceResult,
}

/// The outcome of one job.
#[derive(Clone, Debug, serde::Serialize)]
pub struct JobResult {
    /// The job's name.
    pub name: String,
    /// Direction and order, in fio's words.
    pub rw: String,
    /// Bytes of a request.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub iodepth: u32,
    /// Bytes of the job's namespace.
    pub size_bytes: u64,
    /// How the data is said to be read.
    pub read_pattern: &'static str,
    /// Seed of random order and mix.
    pub seed: u64,
    /// Simulated time from the first submission to the last completion.
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
    /// Submission to completion.
    pub latency: Option<LatencySummary>,
}

/// The device's counters over a run.
#[derive(Clone, Debug)]
pub struct DeviceResult(pub Stats);

impl Serialize for DeviceResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Stats::NAMES.len()))?;
        for (name, value) in Stats::NAMES.iter().zip(self.0.to_array()) {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

/// Counts one direction of a running job.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) failed: u64,
    pub(super) succeeded: u64,
    pub(super) latency: LatencyHistogram,
}

impl Tally {
    pub(super) fn result(&self, block_bytes: u64, duration: Time) -> Option<DirectionResult> {
        let requests = self.failed + self.succeeded;
        let bytes = self.succeeded * block_bytes;
        let per_second =
            |amount: f64| (duration > Time::ZERO).then(|| amount / duration.as_secs_f64());
        (requests > 0).then(|| DirectionResult {
            requests,
            failed: self.failed,
            bytes,
            bandwidth_mib_s: per_second(bytes as f64 / f64::from(1 << 20)),
            iops: per_second(requests as f64),
            latency: self.latency.summary(),
        })
    }
}

impl JobResult {
    pub(super) fn new(job: &Job, duration: Time, read: &Tally, write: &Tally) -> JobResult {
        JobResult {
            name: job.name.clone(),
            rw: job.rw.to_string(),
            block_bytes: job.block_bytes,
            iodepth: job.iodepth,
            size_bytes: job.size_bytes,
            read_pattern: super::job::pattern_name(job.read_pattern),
            seed: job.seed,
            duration_us: duration.as_ps() as f64 / 1e6,
            read: read.result(job.block_bytes, duration),
            write: write.result(job.block_bytes, duration),
        }
    }
}

impl RunResult {
    /// The run as text.
    pub fn to_text(&self) -> String {
        let columns = [
            ("job", Align::Left),
            ("op", Align::Left),
            ("block", Align::Right),
            ("depth", Align::Right),
            ("requests", Align::Right),
            ("bandwidth", Align::Right),
            ("IOPS", Align::Right),
            ("min us", Align::Right),
            ("mean us", Align::Right),
            ("p50 us", Align::Right),
            ("p99 us", Align::Right),
            ("p99.9 us", Align::Right),
            ("max us", Align::Right),
        ];
        let mut table = Table::new(columns);
        for job in &self.jobs {
            for (op, direction) in [("read", &job.read), ("write", &job.write)] {
                if let Some(direction) = direction {
                    table.row(direction.cells(job, op));
                }
            }
        }
        let mut text = table.to_string();
        for job in &self.jobs {
            let failed: u64 = [&job.read, &job.write]
                .into_iter()
                .flatten()
                .map(|d| d.failed)
                .sum();
            if failed > 0 {
                text += &format!(
                    "{}: {failed} requests failed: the device is full\n",
                    job.name
                );
            }
        }
        text + &self.device.to_text()
    }
}

impl DirectionResult {
    fn cells(&self, job: &JobResult, op: &str) -> Vec<String> {
        let mut cells = vec![
            job.name.clone(),
            op.to_owned(),
            bytes(job.block_bytes),
            job.iodepth.to_string(),
            self.requests.to_string(),
            self.bandwidth_mib_s.map_or("-".to_owned(), rate_mib_s),
            self.iops.map_or("-".to_owned(), count),
        ];
        if let Some(l) = &self.latency {
            let figures = [
                l.min_us, l.mean_us, l.p50_us, l.p99_us, l.p99_9_us, l.max_us,
            ];
            cells.extend(figures.map(|us| format!("{us:.1}")));
        }
        cells
    }
}

impl DeviceResult {
    /// Two lines on what the device was busy with.
    fn to_text(&self) -> String {
        let s = &self.0;
        let (now, channels, dies) = (s.now_ps as f64, s.channels as f64, s.dies as f64);
        let pages = s.page_reads + s.melded_pages_read;
        format!(
            "device: {} simulated; channels {} busy, dies {} busy; {} of {} pages read came from {} melded reads\n\
             flash: {} wordlines programmed ({} melded, {} pages of padding), {} blocks erased, {} pages moved by garbage collection\n",
            duration(Time::from_ps(s.now_ps)),
            percent(s.channel_busy_ps as f64, now * channels),
            percent(s.die_busy_ps as f64, now * dies),
            percent(s.melded_pages_read as f64, pages as f64),
            pages,
            s.melded_reads,
            s.programs,
            s.melded_wordlines_programmed,
            s.padded_pages,
            s.erases,
            s.gc_pages_moved,
        )
    }
}
