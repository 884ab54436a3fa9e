//! A result in the shape of fio's `--output-format=json`, so that scripts for fio read it. What fio measures and a
//! simulated device does not have (CPU, context switches) is left out; `device`, `host_path`, `limit`, `flash`, `fill`, `fdp`,
//! `time_series` and `trace` are added.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::result::{JobResult, RunResult};
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
        let mut document = json!({ "jobs": jobs, "device": self.device });
        let flash = self.device.flash().zip(self.device.fill);
        let passed_over = Some(&self.passed_over).filter(|options| !options.is_empty());
        add(&mut document, "host_path", &self.host_path);
        add(&mut document, "precondition", &self.precondition);
        add(&mut document, "limit", &self.limit);
        add(&mut document, "flash", &flash.map(|(flash, _)| flash));
        add(&mut document, "fill", &flash.map(|(_, fill)| fill));
        add(&mut document, "fdp", &self.device.fdp);
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
        "groupid": 0,
        "error": error,
        "total_err": failed,
        "job options": options,
        "job_start_us": job.start_us,
        // fio's is in milliseconds, and too coarse for simulated runs.
        "job_runtime": (job.duration_us / 1e3).ceil() as u64,
        "job_runtime_us": job.duration_us,
        "read": direction(job.read.as_ref(), job.duration_us),
        "write": direction(job.write.as_ref(), job.duration_us),
    });
    add(&mut of_job, "window", &job.window);
    let uniform = &job.uniform_write_amplification;
    add(&mut of_job, "uniform_write_amplification", uniform);
    add(&mut of_job, "latency_depth", &job.latency_depth);
    add(&mut of_job, "steady_us", &job.steady_us);
    add(&mut of_job, "stopped", &job.stopped);
    of_job
}

fn direction(tally: Option<&Tally>, duration_us: f64) -> Value {
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
        in_device["percentile"] = percentiles(&counted.in_device);
    }
    if counted.waited.is_some() {
        in_all["percentile"] = percentiles(counted.latencies());
    }
    json!({
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
    })
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

fn percentiles(histogram: &LatencyHistogram) -> Value {
    let percentiles = PERCENTILES.iter().map(|percent| {
        let ns = histogram.quantile(percent / 100.0).as_ns();
        (format!("{percent:.6}"), Value::from(ns))
    });
    Value::Object(percentiles.collect())
}
