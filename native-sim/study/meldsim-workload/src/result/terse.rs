//! A run's result as lines of fio's terse format, version 3: what `--minimal` prints, a line for each job.

use serde_json::Value;

use crate::result::RunResult;

/// Fields of percentiles, whether there are so many or not.
const PERCENTILES: usize = 20;

impl RunResult {
    /// One line for each job, its fields at fio's places.
    pub fn to_terse(&self, command: &str, profile: &str) -> Result<String, serde_json::Error> {
        let all: Value = serde_json::from_str(&self.to_json(command, profile)?)?;
        let jobs = all["jobs"].as_array().into_iter().flatten();
        let version = concat!("meldsim-", env!("CARGO_PKG_VERSION"));
        Ok(jobs.map(|job| line(job, version) + "\n").collect())
    }
}

fn line(job: &Value, version: &str) -> String {
    let name = job["jobname"].as_str().unwrap_or_default();
    let mut fields = vec!["3".to_owned(), version.to_owned(), name.replace(';', ",")];
    fields.extend(["groupid", "error"].map(|key| number(&job[key], 1).to_string()));
    for direction in ["read", "write"] {
        fields.extend(of_direction(&job[direction]));
    }
    // The host's processor, context switches and faults, of which there are none.
    fields.extend(["0.000000%", "0.000000%", "0", "0", "0"].map(str::to_owned));
    for (key, places) in [("iodepth_level", 7), ("latency_us", 10), ("latency_ms", 12)] {
        let shares = job[key].as_object();
        let shares = shares.map(|shares| shares.values().collect::<Vec<_>>());
        let digits = if places == 7 { 1 } else { 2 };
        fields.extend((0..places).map(|place| {
            let share = shares
                .as_ref()
                .and_then(|shares| shares.get(place)?.as_f64());
            format!("{:.digits$}%", share.unwrap_or(0.0))
        }));
    }
    fields.join(";")
}

/// A number of JSON in whole parts of `unit`.
fn number(value: &Value, unit: u64) -> u64 {
    value.as_f64().unwrap_or(0.0) as u64 / unit
}

fn of_direction(of: &Value) -> Vec<String> {
    let keys = ["io_kbytes", "bw", "iops", "runtime"];
    let mut fields: Vec<String> = keys.map(|key| number(&of[key], 1).to_string()).into();
    let spread = |times: &Value| {
        let us = |key: &str| times[key].as_f64().unwrap_or(0.0) / 1000.0;
        let (min, max) = (number(&times["min"], 1000), number(&times["max"], 1000));
        [
            min.to_string(),
            max.to_string(),
            format!("{:.6}", us("mean")),
            format!("{:.6}", us("stddev")),
        ]
    };
    fields.extend(spread(&of["slat_ns"]));
    fields.extend(spread(&of["clat_ns"]));
    let percentiles = of["clat_ns"]["percentile"].as_object();
    let known = percentiles.into_iter().flatten();
    let mut known: Vec<String> = known
        .map(|(percent, ns)| format!("{percent}%={}", number(ns, 1000)))
        .collect();
    known.resize(PERCENTILES, "0%=0".to_owned());
    fields.extend(known);
    fields.extend(spread(&of["lat_ns"]));
    fields.extend(["bw_min", "bw_max"].map(|key| number(&of[key], 1).to_string()));
    let share = 100.0 * f64::from(u8::from(number(&of["bw"], 1) > 0));
    fields.push(format!("{share:.6}%"));
    let bandwidths = ["bw_mean", "bw_dev"].map(|key| of[key].as_f64().unwrap_or(0.0));
    fields.extend(bandwidths.map(|kib_s| format!("{kib_s:.6}")));
    fields
}
