//! A result in the shape of fio's `--output-format=json`, so that scripts for fio read it. The host is not simulated: its
//! times, context switches and page faults are 0. A run has no date, so that its bytes are the same every time: it begins in
//! 1970. `device`, `host_path`, `limit`, `flash`, `fill`, `fdp`, `zones`,
//! `time_series` and `trace` are added.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::result::rates::Spread;
use crate::result::{JobResult, RunResult};
use meldsim::engine::Duration;
use meldsim_host::{Direction, Tally};
use meldsim_stats::{LatencyHistogram, bucket, bucket_values, document};

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
        let elapsed = self
            .device
            .stats
            .now_ps
            .div_ceil(Duration::from_ms(1000).as_ps());
        let jobs = self.jobs.iter().map(|of| {
            let group = self.jobs.iter().filter(|other| other.group == of.group);
            job(of, group, elapsed, self.has_bins)
        });
        let jobs: Vec<Value> = jobs.collect();
        let global = self.jobs.iter().map(|job| &job.given.global);
        let mut document = json!({
            // The version whose shape it has.
            "fio version": "fio-3.33",
            "timestamp": 0,
            "timestamp_ms": 0,
            "time": "Thu Jan  1 00:00:00 1970",
            "global options": object(global.max_by_key(|options| options.len()).into_iter().flatten()),
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

/// Options by their names.
fn object<'a>(options: impl IntoIterator<Item = &'a (String, String)>) -> Value {
    let pairs = options.into_iter();
    let pairs = pairs.map(|(key, value)| (key.clone(), Value::from(value.as_str())));
    Value::Object(pairs.collect())
}

/// The options of a job as they were given, or else as it has them. What fio would need to keep the depth is added.
fn options(job: &JobResult) -> Value {
    let mut options = object(&job.given.own);
    if job.given.own.is_empty() && job.given.global.is_empty() {
        options = object(&job.options);
    }
    if job.given.get("ioengine").is_none() && job.iodepth > job.jobs {
        options["ioengine"] = "libaio".into();
    }
    options
}

/// A job of that group, of a run that took so many seconds.
fn job<'a>(
    job: &JobResult,
    group: impl Iterator<Item = &'a JobResult> + Clone,
    elapsed: u64,
    has_bins: bool,
) -> Value {
    let of = |direction| of_direction(job, direction, group.clone(), has_bins);
    let failed = job.failed();
    // fio's is an errno: EIO of data that could not be read, ENOSPC when the device was full, ETIMEDOUT of a job that was too slow.
    let error = match (failed, &job.stopped) {
        (0, None) => 0,
        (0, Some(_)) => 110,
        _ if job.read.as_ref().is_some_and(|reads| reads.failed > 0) => 5,
        _ => 28,
    };
    let mut of_job = json!({
        "jobname": job.name,
        "groupid": job.group,
        "error": error,
        "total_err": failed,
        "eta": 0,
        "elapsed": elapsed,
        "job options": options(job),
        "job_start_us": job.start_us,
        // fio's is in milliseconds, and too coarse for simulated runs.
        "job_runtime": milliseconds(job.run_time.as_secs_f64()),
        "job_runtime_us": job.duration_us,
        "read": of(Direction::Read),
        "write": of(Direction::Write),
        "trim": of(Direction::Trim),
        "sync": sync(job, has_bins),
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": depths(&DEPTHS, job.depths),
    });
    // Each is submitted and seen by itself.
    let all = [0, job.depths.iter().sum(), 0, 0, 0, 0, 0];
    for key in ["iodepth_submit", "iodepth_complete"] {
        of_job[key] = depths(&AT_ONCE, all);
    }
    for (key, limits, unit) in LATENCIES {
        of_job[key] = shares(job, limits, unit);
    }
    add(&mut of_job, "window", &job.window);
    let uniform = &job.uniform_write_amplification;
    add(&mut of_job, "uniform_write_amplification", uniform);
    add(&mut of_job, "latency_depth", &job.latency_depth);
    add(&mut of_job, "steady_us", &job.steady_us);
    add(&mut of_job, "stopped", &job.stopped);
    let widened = (job.widened_bytes > 0).then_some(job.widened_bytes);
    add(&mut of_job, "widened_bytes", &widened);
    of_job
}

const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
const AT_ONCE: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// Shares of requests, in percent.
fn depths(names: &[&str; 7], counts: [u64; 7]) -> Value {
    let all = counts.iter().sum::<u64>().max(1) as f64;
    let shares = names.iter().zip(counts);
    let shares =
        shares.map(|(name, count)| ((*name).to_owned(), (100.0 * count as f64 / all).into()));
    Value::Object(shares.collect())
}

fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1e3).ceil() as u64
}

fn of_direction<'a>(
    job: &JobResult,
    direction: Direction,
    group: impl Iterator<Item = &'a JobResult>,
    has_bins: bool,
) -> Value {
    let tally = job.tally(direction);
    let nothing = Tally::default();
    let counted = tally.unwrap_or(&nothing);
    let per_second = |bytes: u64, seconds: f64| match seconds {
        seconds if seconds > 0.0 => bytes as f64 / seconds,
        _ => 0.0,
    };
    let bytes_per_s = per_second(counted.bytes, counted.seconds());
    let mut waited = LatencyHistogram::new();
    match &counted.waited {
        Some(times) => waited.merge(times),
        None => waited.record_many(Duration::ZERO, counted.requests),
    }
    let is_on = |key: &str, default| job.given.get(key).map_or(default, |text| text != "0");
    let part = |histogram: &LatencyHistogram, has_percentiles| {
        latency(job, histogram, has_percentiles && tally.is_some(), has_bins)
    };
    let has_waited = counted.waited.is_some();
    let mut of_direction = json!({
        "io_bytes": counted.bytes,
        "io_kbytes": counted.bytes / 1024,
        "bw_bytes": bytes_per_s as u64,
        // KiB/s, as in fio.
        "bw": (bytes_per_s / 1024.0) as u64,
        "iops": counted.iops().unwrap_or(0.0),
        "runtime": milliseconds(counted.seconds()),
        "total_ios": counted.requests,
        "failed_ios": counted.failed,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": part(&waited, is_on("slat_percentiles", false)),
        "clat_ns": part(&counted.in_device, is_on("clat_percentiles", true)),
        "lat_ns": part(counted.latencies(), is_on("lat_percentiles", has_waited)),
    });
    let rates = &job.rates[direction as usize];
    for (name, spread) in [("iops", &rates.iops), ("bw", &rates.kib_s)] {
        let Spread {
            min,
            max,
            mean,
            samples,
            ..
        } = *spread;
        // fio writes these as whole numbers.
        of_direction[format!("{name}_min")] = json!(min as u64);
        of_direction[format!("{name}_max")] = json!(max as u64);
        of_direction[format!("{name}_mean")] = json!(mean);
        let deviation = if name == "bw" { "dev" } else { "stddev" };
        of_direction[format!("{name}_{deviation}")] = json!(spread.deviation());
        of_direction[format!("{name}_samples")] = json!(samples);
    }
    // The job's share of its group, in percent.
    let group = group.filter_map(|other| other.tally(direction));
    let (bytes, seconds) = group.fold((0, 0.0_f64), |(bytes, seconds), tally| {
        (bytes + tally.bytes, seconds.max(tally.seconds()))
    });
    let mean = rates.kib_s.mean;
    let share = match per_second(bytes, seconds) / 1024.0 {
        all if all > 1.0 => (100.0 * mean / all).min(100.0),
        _ => 100.0,
    };
    of_direction["bw_agg"] = json!(if rates.kib_s.samples > 0 { share } else { 0.0 });
    of_direction
}

/// Flushes have no bytes.
fn sync(job: &JobResult, has_bins: bool) -> Value {
    let nothing = Tally::default();
    let counted = job.sync.as_ref().unwrap_or(&nothing);
    let times = latency(job, counted.latencies(), job.sync.is_some(), has_bins);
    json!({ "total_ios": counted.requests, "lat_ns": times })
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

/// Minimum, maximum, mean and deviation in nanoseconds, and percentiles and bins where they are wanted; zeros of nothing, as in
/// fio.
fn latency(
    job: &JobResult,
    histogram: &LatencyHistogram,
    has_percentiles: bool,
    has_bins: bool,
) -> Value {
    let mut of = json!({
        "min": histogram.min().as_ns(),
        "max": histogram.max().as_ns(),
        "mean": histogram.mean_ps() / 1e3,
        "stddev": histogram.deviation_ps() / 1e3,
        "N": histogram.count(),
    });
    if has_percentiles {
        of["percentile"] = percentiles(job, histogram);
        if has_bins {
            of["bins"] = bins(histogram);
        }
    }
    of
}

/// How often there was each latency, in fio's bins: their names are what is in their middle, in nanoseconds.
fn bins(histogram: &LatencyHistogram) -> Value {
    let mut bins = BTreeMap::new();
    for (latency, count) in histogram.counts() {
        let bin = bucket::<FIO_BITS>(latency.as_ns());
        *bins.entry(bin).or_insert(0) += count;
    }
    let named = bins.into_iter().map(|(bin, count): (u32, u64)| {
        let (least, most) = bucket_values::<FIO_BITS>(bin);
        ((least + most).div_ceil(2).to_string(), count.into())
    });
    Value::Object(named.collect())
}

/// What fio keeps of a latency besides its leading bit.
const FIO_BITS: u32 = 6;

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
