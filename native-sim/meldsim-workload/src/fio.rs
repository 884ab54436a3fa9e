//! A result in the shape of fio's `--output-format=json`, so that scripts for fio read it. The host is not simulated: its
//! times are 0, and context switches and the like are left out; `device`, `host_path`, `limit`, `flash`, `fill`, `fdp`, `zones`,
//! `time_series` and `trace` are added.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::direction::Direction;
use super::result::{JobResult, RunResult, Samples};
use super::tally::Tally;
use meldsim::engine::Duration;
use meldsim_stats::{LatencyHistogram, document};

/// fio's default list, and two more: a simulated run can be long enough for them.
const PERCENTILES: [f64; 19] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99, 99.995, 99.999,
];

impl RunResult {
    /// The result as `meldsim run --format json` prints it: fio's shape, with the command that gave it.
    ///
    /// # Errors
    ///
    /// When a figure cannot be JSON: a defect.
    pub fn to_json(&self, command: &str, profile: &str) -> Result<String, serde_json::Error> {
        document(command, profile, "simulated", &self.to_fio_json())
    }

    /// The run as fio would report it: an object of `jobs`, `device`, and what else there is.
    pub fn to_fio_json(&self) -> Value {
        let jobs: Vec<Value> = self.jobs.iter().map(job).collect();
        let mut document = json!({
            // The version whose shape it has.
            "fio version": "fio-3.33",
            // Those of [global] are with each job's.
            "global options": {},
            "jobs": jobs,
            "device": self.device,
        });
        let flash = self.device.flash().zip(self.device.fill);
        let passed_over = Some(&self.passed_over).filter(|options| !options.is_empty());
        add(&mut document, "host_path", &self.host_path);
        add(&mut document, "precondition", &self.precondition);
        add(&mut document, "limit", &self.limit);
        add(&mut document, "flash", &flash.map(|(flash, _)| flash));
        add(&mut document, "fill", &flash.map(|(_, fill)| fill));
        add(&mut document, "fdp", &self.device.fdp);
        add(&mut document, "zones", &self.device.zones);
        add(&mut document, "passed_over", &passed_over);
        add(&mut document, "partial", &self.is_partial.then_some(true));
        add(&mut document, "time_series", &self.series);
        add(&mut document, "trace", &self.trace);
        document
    }
}

/// What there may be, with its key.
fn add(to: &mut Value, key: &str, value: &Option<impl Serialize>) {
    if let Some(value) = value {
        to[key] = json!(value);
    }
}

fn job(job: &JobResult) -> Value {
    let options = job.options.iter();
    let options: Map<String, Value> = options
        .map(|(key, value)| ((*key).to_owned(), Value::from(value.as_str())))
        .collect();
    let failed = job.failed();
    // fio's is an errno: ENOSPC when the device was full, ETIMEDOUT of a job that was too slow.
    let error = match (failed, &job.stopped) {
        (0, None) => 0,
        (0, Some(_)) => 110,
        _ => 28,
    };
    let mut of_job = json!({
        "jobname": job.name,
        "groupid": job.group,
        "error": error,
        "total_err": failed,
        "job options": options,
        "job_start_us": job.start_us,
        // fio's is in milliseconds, and too coarse for simulated runs.
        "job_runtime": (job.duration_us / 1e3).ceil() as u64,
        "job_runtime_us": job.duration_us,
        "read": direction(job, Direction::Read),
        "write": direction(job, Direction::Write),
        "trim": direction(job, Direction::Trim),
        "sync": sync(job),
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
    });
    for (key, limits, unit) in LATENCIES {
        of_job[key] = shares(job, limits, unit);
    }
    add(&mut of_job, "window", &job.window);
    let uniform = &job.uniform_write_amplification;
    add(&mut of_job, "uniform_write_amplification", uniform);
    add(&mut of_job, "latency_depth", &job.latency_depth);
    add(&mut of_job, "steady_us", &job.steady_us);
    add(&mut of_job, "stopped", &job.stopped);
    of_job
}

fn direction(job: &JobResult, direction: Direction) -> Value {
    let tally = job.tally(direction);
    let duration_us = job.duration_us;
    let nothing = Tally::default();
    let counted = tally.unwrap_or(&nothing);
    let bytes_per_s = match duration_us {
        us if us > 0.0 => counted.bytes as f64 * 1e6 / us,
        _ => 0.0,
    };
    let mut waited = LatencyHistogram::new();
    match &counted.waited {
        Some(times) => waited.merge(times),
        None => waited.record_many(Duration::ZERO, counted.requests),
    }
    let mut in_device = latency(&counted.in_device);
    let mut in_all = latency(counted.latencies());
    if tally.is_some() {
        in_device["percentile"] = percentiles(job, &counted.in_device);
    }
    if counted.waited.is_some() {
        in_all["percentile"] = percentiles(job, counted.latencies());
    }
    let mut of_direction = json!({
        "io_bytes": counted.bytes,
        "io_kbytes": counted.bytes / 1024,
        "bw_bytes": bytes_per_s as u64,
        // KiB/s, as in fio.
        "bw": (bytes_per_s / 1024.0) as u64,
        "iops": counted.iops().unwrap_or(0.0),
        "runtime": tally.map_or(0, |_| (duration_us / 1e3).ceil() as u64),
        "total_ios": counted.requests,
        "failed_ios": counted.failed,
        "slat_ns": latency(&waited),
        "clat_ns": in_device,
        "lat_ns": in_all,
    });
    let samples = job.window.as_ref().filter(|_| tally.is_some());
    let samples = samples.map(|window| &window.samples[direction as usize]);
    let of = |part: fn(&Samples) -> &[f64]| Spread::of(samples.map_or(&[], part));
    let iops = of(|samples| &samples.iops);
    let kib_s = of(|samples| &samples.bytes_per_s).scaled(1.0 / 1024.0);
    for (name, spread) in [("iops", iops), ("bw", kib_s)] {
        // fio writes these as whole numbers.
        of_direction[format!("{name}_min")] = json!(spread.min as u64);
        of_direction[format!("{name}_max")] = json!(spread.max as u64);
        of_direction[format!("{name}_mean")] = json!(spread.mean);
        let deviation = if name == "bw" { "dev" } else { "stddev" };
        of_direction[format!("{name}_{deviation}")] = json!(spread.deviation);
        of_direction[format!("{name}_samples")] = json!(spread.samples);
    }
    of_direction
}

/// Flushes have no bytes.
fn sync(job: &JobResult) -> Value {
    let nothing = Tally::default();
    let counted = job.sync.as_ref().unwrap_or(&nothing);
    let mut times = latency(counted.latencies());
    if job.sync.is_some() {
        times["percentile"] = percentiles(job, counted.latencies());
    }
    json!({ "total_ios": counted.requests, "lat_ns": times })
}

/// Numbers, as fio tells them.
#[derive(Clone, Copy, Default)]
struct Spread {
    min: f64,
    max: f64,
    mean: f64,
    deviation: f64,
    samples: usize,
}

impl Spread {
    fn of(values: &[f64]) -> Spread {
        if values.is_empty() {
            return Spread::default();
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean) * (value - mean));
        // As fio's, of a sample.
        let variance = squares.sum::<f64>() / (count - 1.0).max(1.0);
        Spread {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(0.0, f64::max),
            mean,
            deviation: libm::sqrt(variance),
            samples: values.len(),
        }
    }

    fn scaled(self, by: f64) -> Spread {
        Spread {
            min: self.min * by,
            max: self.max * by,
            mean: self.mean * by,
            deviation: self.deviation * by,
            ..self
        }
    }
}

/// fio's tables of latencies: the keys, which are ends of ranges in so many nanoseconds.
const LATENCIES: [(&str, &[u64], u64); 3] = [
    ("latency_ns", &RANGES, 1),
    ("latency_us", &RANGES, 1_000),
    (
        "latency_ms",
        &[2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000],
        1_000_000,
    ),
];
const RANGES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Shares of a job's reads, writes and trims by latency in the device, in percent.
fn shares(job: &JobResult, limits: &[u64], unit_ns: u64) -> Value {
    // What is shorter than the unit is of the table before.
    let least = if unit_ns == 1 { 0 } else { 1 };
    let ends = std::iter::once(&least).chain(limits);
    let ends: Vec<Duration> = ends.map(|end| Duration::from_ns(end * unit_ns)).collect();
    let mut below = vec![0; ends.len()];
    let mut all = 0;
    for direction in [Direction::Read, Direction::Write, Direction::Trim] {
        if let Some(tally) = job.tally(direction) {
            let counts = tally.in_device.shorter_than(&ends);
            below
                .iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
            all += tally.in_device.count();
        }
    }
    let percent = |count: u64| Value::from(100.0 * count as f64 / (all as f64).max(1.0));
    let pairs = below.windows(2).map(|pair| percent(pair[1] - pair[0]));
    let mut table: Map<String, Value> = limits.iter().map(u64::to_string).zip(pairs).collect();
    if unit_ns == 1_000_000 {
        let rest = all - below.last().copied().unwrap_or(0);
        table.insert(">=2000".to_owned(), percent(rest));
    }
    Value::Object(table)
}

/// Minimum, maximum, mean and deviation in nanoseconds; zeros of nothing, as in fio.
fn latency(histogram: &LatencyHistogram) -> Value {
    json!({
        "min": histogram.min().as_ns(),
        "max": histogram.max().as_ns(),
        "mean": histogram.mean_ps() / 1e3,
        "stddev": histogram.deviation_ps() / 1e3,
        "N": histogram.count(),
    })
}

/// The percentiles that the job asks for.
fn percentiles(job: &JobResult, histogram: &LatencyHistogram) -> Value {
    let asked = job.percentiles.iter().map(|part| *part as f64 / 1e6);
    let asked: Vec<f64> = asked.collect();
    let list = if asked.is_empty() {
        &PERCENTILES[..]
    } else {
        &asked
    };
    let percentiles = list.iter().map(|percent| {
        let ns = histogram.quantile(percent / 100.0).as_ns();
        (format!("{percent:.6}"), Value::from(ns))
    });
    Value::Object(percentiles.collect())
}
