//! Groups of jobs as rows, by what they did.

use super::json::{Direction, Job};
use super::latency::Latency;
use super::{IdleRead, Measured};
use meldsim_measured::Table;

const PERCENTILES: [(&str, f64); 8] = [
    ("p1_us", 1.0),
    ("p10_us", 10.0),
    ("p50_us", 50.0),
    ("p90_us", 90.0),
    ("p95_us", 95.0),
    ("p99_us", 99.0),
    ("p99_9_us", 99.9),
    ("p99_99_us", 99.99),
];
/// The steady state begins at this share of the bytes written.
const STEADY_FROM: f64 = 0.6;
/// Parts of a steady state differ by no more, in the mean.
const STEADY_WITHIN: f64 = 0.05;
/// A rate that falls short by more is saturated.
const KEPT: f64 = 0.98;

type Fields = Vec<(String, String)>;
/// How a job's direction is taken.
type Side = fn(&Job) -> &Direction;
const READ: Side = |job| &job.read;
const WRITE: Side = |job| &job.write;

/// Random writes one after the other on one region.
struct Part {
    file: String,
    fields: Fields,
    region: u64,
    bytes: f64,
    iops: f64,
}

pub(super) struct Found {
    drive: String,
    capacity: Option<u64>,
    measured: Measured,
    parts: Vec<Part>,
}

impl Found {
    pub(super) fn new(drive: &str, capacity: Option<u64>) -> Found {
        Found {
            drive: drive.to_owned(),
            capacity,
            measured: Measured::default(),
            parts: Vec::new(),
        }
    }

    pub(super) fn measured(mut self) -> Measured {
        self.end_of_parts();
        self.measured
    }

    pub(super) fn add(&mut self, file: &str, jobs: &[Job]) -> Result<(), String> {
        let Some(first) = jobs.first() else {
            return Ok(());
        };
        let jobs: &[&Job] = &jobs.iter().collect::<Vec<_>>();
        let all = |access: &[&str]| jobs.iter().all(|job| access.contains(&job.access()));
        let is_rated = jobs.iter().any(|job| job.is_rated());
        let pauses = jobs.iter().any(|job| job.option(&["thinktime"]).is_some());
        let same = |job: &Job| (job.block(), job.depth()) == (first.block(), first.depth());
        let is_same = jobs.iter().all(|job| same(job));
        let is_parts = all(&["randwrite"]) && !is_rated && !pauses && is_same;
        if !is_parts || self.parts.first().is_some_and(|part| part.file != file) {
            self.end_of_parts();
        }
        if jobs.iter().any(|job| job.failed) {
            return self.note(first, "ended with an error");
        }
        let files = |job: &Job| job.option(&["filename"]).map(str::to_owned);
        if jobs.iter().any(|job| files(job) != files(first)) {
            return self.note(first, "ran beside one on another filename");
        }
        let is_known =
            |job: &Job| job.block().is_some_and(|bytes| bytes > 0) && job.depth().is_some();
        if !jobs.iter().all(|job| is_known(job)) {
            return self.note(first, "has several or unknown sizes or depths");
        }
        if is_parts {
            return self.part(file, jobs);
        }
        if all(&["randread"]) && pauses && is_same && !is_rated {
            return self.idle(jobs);
        }
        if all(&["randread"]) && !is_rated && is_same && !pauses {
            return self.reads(jobs);
        }
        if all(&["write"]) && !is_rated && is_same && !pauses {
            return self.sequential(jobs);
        }
        if all(&["randwrite", "randrw"]) && jobs.iter().all(|job| job.is_rated()) {
            return self.rates(jobs);
        }
        if all(&["randread", "write"]) && !pauses {
            return self.mixed(jobs);
        }
        self.note(first, "does what no kind of measurement has")
    }

    fn note(&mut self, job: &Job, what: &str) -> Result<(), String> {
        // Of a file that has the same of many jobs, the first is enough.
        let file = job.at.split(": ").next().unwrap_or_default();
        let is_known = |note: &String| note.starts_with(file) && note.contains(what);
        if !self.measured.notes.iter().any(is_known) {
            self.measured
                .notes
                .push(format!("{}: {what}; its group is left out", job.at));
        }
        Ok(())
    }

    fn push(&mut self, file: &str, fields: Fields) {
        let known = self
            .measured
            .tables
            .iter()
            .position(|table| table.file == file);
        let at = known.unwrap_or_else(|| {
            self.measured.tables.push(Table::new(file));
            self.measured.tables.len() - 1
        });
        self.measured.tables[at].push(fields);
    }

    /// The drive and how it was reached.
    fn start(&self, first: &Job) -> Fields {
        let engine = first.engine();
        let path = match engine {
            "io_uring" | "io_uring_cmd" => "io_uring".to_owned(),
            "libaio" => "libaio".to_owned(),
            _ if engine.contains("spdk") => "SPDK".to_owned(),
            _ => format!("libaio (as {engine})"),
        };
        let mut fields = Fields::new();
        set(&mut fields, "drive", &self.drive);
        set(&mut fields, "unit", "");
        set(&mut fields, "dataset", "fio");
        set(&mut fields, "sw_path", path);
        set(&mut fields, "block_bytes", first.block().unwrap_or(0));
        set(&mut fields, "depth_per_thread", first.depth().unwrap_or(1));
        set(&mut fields, "limit", "");
        fields
    }

    fn latencies(
        &mut self,
        fields: &mut Fields,
        prefix: &str,
        jobs: &[&Job],
        side: Side,
    ) -> Result<Option<Latency>, String> {
        let mut joined: Option<Latency> = None;
        for job in jobs {
            let Some(latency) = &side(job).latency else {
                continue;
            };
            match &mut joined {
                Some(joined) => joined.merge(latency, &job.at)?,
                None => joined = Some(latency.clone()),
            }
        }
        if let (Some(latency), Some(job)) = (&joined, jobs.first()) {
            if latency.is_of_completion {
                let file = job.at.split(": ").next().unwrap_or_default();
                let note =
                    format!("{file}: percentiles are without submission; set lat_percentiles=1");
                if !self.measured.notes.contains(&note) {
                    self.measured.notes.push(note);
                }
            }
        }
        let all = joined.as_ref();
        let percentiles = PERCENTILES.map(|(name, percent)| {
            let value = all.and_then(|all| all.percentile_us(percent));
            (name, value)
        });
        let mean_and_least = [
            ("mean_us", all.map(|all| all.mean_ns / 1e3)),
            ("min_us", all.map(|all| all.min_ns / 1e3)),
        ];
        for (name, value) in mean_and_least.into_iter().chain(percentiles) {
            set(fields, &format!("{prefix}{name}"), known(value));
        }
        Ok(joined)
    }

    fn reads(&mut self, jobs: &[&Job]) -> Result<(), String> {
        let mut fields = self.start(jobs[0]);
        set(&mut fields, "threads", threads(jobs));
        set(&mut fields, "iops", iops(jobs, READ));
        set(&mut fields, "runtime_s", jobs[0].read.runtime_s);
        self.latencies(&mut fields, "", jobs, READ)?;
        self.push("read_latency_by_depth.csv", fields);
        Ok(())
    }

    fn idle(&mut self, jobs: &[&Job]) -> Result<(), String> {
        let job = jobs[0];
        if jobs.len() > 1 || job.depth() != Some(1) {
            return self.note(job, "pauses, but is not one job at depth 1");
        }
        let Some(pause_s) = job.pause_s() else {
            return self.note(job, "has a thinktime that is not a time");
        };
        let all = self.latencies(&mut Fields::new(), "", &[job], READ)?;
        if let Some(all) = all {
            let blocks = job.option(&["thinktime_blocks"]);
            self.measured.idle.push(IdleRead {
                pause_s,
                reads: blocks.and_then(super::options::size).unwrap_or(1),
                block_bytes: job.block().unwrap_or(0),
                mean_us: all.mean_ns / 1e3,
                p50_us: all.percentile_us(50.0),
                p99_us: all.percentile_us(99.0),
            });
        }
        Ok(())
    }

    fn sequential(&mut self, jobs: &[&Job]) -> Result<(), String> {
        let mut fields = self.start(jobs[0]);
        let all = iops(jobs, WRITE);
        let mb_s = all * jobs[0].block().unwrap_or(0) as f64 / 1e6;
        set(&mut fields, "iops", all);
        let is_time_based = jobs[0].option(&["time_based"]);
        if is_time_based.is_none_or(|text| text == "0") {
            set(&mut fields, "threads", threads(jobs));
            for name in ["MBps_min", "MBps_median", "MBps_max"] {
                set(&mut fields, name, mb_s);
            }
            set(&mut fields, "runs", 1);
            set(&mut fields, "waf_counter", "");
            self.push("sequential_write.csv", fields);
            return Ok(());
        }
        set(&mut fields, "op", "write");
        set(&mut fields, "zones_or_threads", threads(jobs));
        set(&mut fields, "MBps", mb_s);
        set(&mut fields, "runtime_s", jobs[0].write.runtime_s);
        self.latencies(&mut fields, "", jobs, WRITE)?;
        self.push("write_latency_by_depth.csv", fields);
        Ok(())
    }

    fn rates(&mut self, jobs: &[&Job]) -> Result<(), String> {
        let mut offered = [0.0, 0.0];
        for job in jobs {
            let Some(rates) = job.rate_iops() else {
                return self.note(job, "has a rate that is not a number");
            };
            let reads = match job.access() {
                "randrw" => rates[0],
                _ => 0.0,
            };
            let times = job.threads() as f64;
            offered = [offered[0] + reads * times, offered[1] + rates[1] * times];
        }
        // The probe reads and writes; the others write.
        let is_probe = |job: &&Job| job.access() == "randrw" && job.read_percent() >= 10.0;
        let (probe, others): (Vec<&Job>, Vec<&Job>) = jobs.iter().copied().partition(is_probe);
        let mut fields = self.start(jobs[0]);
        let achieved = iops(jobs, WRITE);
        set(&mut fields, "offered_total_iops", offered[0] + offered[1]);
        set(&mut fields, "offered_write_iops", offered[1]);
        set(&mut fields, "offered_read_iops", offered[0]);
        set(&mut fields, "sweeps", 1);
        set(&mut fields, "achieved_write_iops", achieved);
        set(&mut fields, "achieved_read_iops", iops(jobs, READ));
        let is_saturated = achieved < KEPT * offered[1];
        set(&mut fields, "saturated", u8::from(is_saturated));
        self.latencies(&mut fields, "read_", &probe, READ)?;
        self.latencies(&mut fields, "pwrite_", &probe, WRITE)?;
        self.latencies(&mut fields, "write_", &others, WRITE)?;
        self.push("latency_by_offered_rate.csv", fields);
        Ok(())
    }

    fn mixed(&mut self, jobs: &[&Job]) -> Result<(), String> {
        let (readers, writers): (Vec<&Job>, Vec<&Job>) = jobs
            .iter()
            .copied()
            .partition(|job| job.access() == "randread");
        let (Some(reader), Some(writer)) = (readers.first(), writers.first()) else {
            return self.note(jobs[0], "does what no kind of measurement has");
        };
        if readers.iter().any(|job| job.is_rated()) {
            return self.note(reader, "holds reads to a rate");
        }
        let mut fields = self.start(reader);
        let block = writer.block().unwrap_or(0) as f64;
        let writes = writers.iter().map(|job| job.write.iops).sum::<f64>();
        let asked = |job: &&Job| Some(job.rate_iops()?[1] * job.threads() as f64);
        let asked: Option<f64> = writers.iter().map(asked).sum();
        set(&mut fields, "write_op", "write");
        set(&mut fields, "write_block_bytes", block);
        set(&mut fields, "write_jobs", threads(&writers));
        set(&mut fields, "write_depth", writer.depth().unwrap_or(1));
        let asked_mb_s = asked.map(|iops| iops * block / 1e6);
        set(&mut fields, "write_rate_asked_MBps", known(asked_mb_s));
        set(&mut fields, "write_MBps", writes * block / 1e6);
        let is_kept = asked.map(|asked| u8::from(writes >= KEPT * asked));
        set(&mut fields, "write_rate_kept", known(is_kept));
        set(&mut fields, "read_block_bytes", reader.block().unwrap_or(0));
        let depth = reader.depth().unwrap_or(1);
        let outstanding = depth.saturating_mul(threads(&readers));
        set(&mut fields, "read_depth", outstanding);
        set(&mut fields, "read_iops", iops(&readers, READ));
        set(&mut fields, "runtime_s", reader.read.runtime_s);
        self.latencies(&mut fields, "read_", &readers, READ)?;
        self.latencies(&mut fields, "write_", &writers, WRITE)?;
        self.push("mixed_read_write.csv", fields);
        Ok(())
    }

    fn part(&mut self, file: &str, jobs: &[&Job]) -> Result<(), String> {
        let job = jobs[0];
        let distribution = job.option(&["random_distribution"]).unwrap_or("random");
        let (pattern, param) = match distribution.split_once(':') {
            None if distribution == "random" && job.option(&["norandommap"]).is_none() => {
                return self.note(
                    job,
                    "writes each block once a pass, as far as its options say, which is not uniform; write norandommap=1 (fio leaves an option without a value out of its result)",
                );
            }
            None if distribution == "random" => ("uniform", "0"),
            Some(("zipf", theta)) if theta.parse::<f64>().is_ok_and(f64::is_finite) => {
                ("zipf", theta)
            }
            _ => return self.note(job, "has a random_distribution that is not random or zipf"),
        };
        let Some(region) = job.region(self.capacity).filter(|bytes| *bytes > 0) else {
            return self.note(job, "has no size, and the capacity is not known");
        };
        let mut fields = self.start(job);
        set(&mut fields, "pattern", pattern);
        set(&mut fields, "param", param);
        set(&mut fields, "file_bytes", region);
        let capacity = self.capacity.filter(|bytes| *bytes > 0);
        let fill = capacity.map(|bytes| region as f64 / bytes as f64);
        set(&mut fields, "fill_fraction", known(fill));
        set(&mut fields, "fill_of_exposed", known(fill));
        set(&mut fields, "threads", threads(jobs));
        self.latencies(&mut fields, "write_", jobs, WRITE)?;
        if self.parts.last().is_some_and(|last| last.region != region) {
            self.end_of_parts();
        }
        self.parts.push(Part {
            file: file.to_owned(),
            fields,
            region,
            bytes: jobs.iter().map(|job| job.write.bytes).sum(),
            iops: iops(jobs, WRITE),
        });
        Ok(())
    }

    /// The parts were one run: its end is the steady state.
    fn end_of_parts(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        let Some(last) = parts.last() else {
            return;
        };
        let total: f64 = parts.iter().map(|part| part.bytes).sum();
        let (mut before, mut bytes, mut time) = (0.0, 0.0, 0.0);
        let mut rates = Vec::new();
        for part in &parts {
            before += part.bytes;
            if before > STEADY_FROM * total + part.bytes / 2.0 && part.iops > 0.0 {
                bytes += part.bytes;
                time += part.bytes / part.iops;
                rates.push(part.iops);
            }
        }
        let steady = if time > 0.0 { bytes / time } else { last.iops };
        let squares = rates.iter().map(|rate| (rate - steady) * (rate - steady));
        let spread = libm::sqrt(squares.sum::<f64>() / rates.len().max(1) as f64) / steady.max(1.0);
        let mut fields = last.fields.clone();
        let times = total / last.region as f64;
        for (name, value) in [
            ("drive_writes_in_run", times),
            ("drive_writes_of_file", times),
            ("iops_steady", steady),
        ] {
            set(&mut fields, name, value);
        }
        if rates.len() > 1 {
            set(&mut fields, "cv_last_quarter", spread);
        }
        if let Some(first) = parts.first().filter(|_| parts.len() > 1) {
            set(&mut fields, "iops_first_interval", first.iops);
        }
        // Less than one write of the region does not show whether it was steady.
        let is_steady = times >= 1.0 && spread < STEADY_WITHIN;
        set(&mut fields, "steady", u8::from(is_steady));
        set(&mut fields, "waf_counter", "");
        let has = |name: &str, takes: fn(&str) -> bool| {
            let mut fields = fields.iter();
            fields.any(|(of, text)| of == name && takes(text))
        };
        let is_part = |text: &str| text.parse::<f64>().is_ok_and(|fill| fill < 0.995);
        let is_fill = has("fill_fraction", is_part) && has("pattern", |text| text == "uniform");
        let file = match is_fill {
            true => "waf_by_fill.csv",
            false => "steady_random_writes.csv",
        };
        self.push(file, fields);
    }
}

fn set(fields: &mut Fields, name: &str, value: impl ToString) {
    fields.push((name.to_owned(), value.to_string()));
}

/// Nothing where it was not measured.
fn known(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn threads(jobs: &[&Job]) -> u64 {
    jobs.iter().map(|job| job.threads()).sum()
}

fn iops(jobs: &[&Job], side: Side) -> f64 {
    jobs.iter().map(|job| side(job).iops).sum()
}
