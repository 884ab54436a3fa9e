//! Latencies of one direction, of one job or of several together.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::field::{amount, number};

#[derive(Clone, Debug)]
pub(super) struct Latency {
    pub(super) count: f64,
    pub(super) mean_ns: f64,
    pub(super) min_ns: f64,
    /// Nanoseconds by percent.
    percentiles: Vec<(f64, f64)>,
    /// How many took so many nanoseconds.
    bins: BTreeMap<u64, f64>,
    /// Percentiles do not have what submission takes.
    pub(super) is_of_completion: bool,
}

impl Latency {
    /// `lat_ns`, or the percentiles of `clat_ns` where only that has some.
    pub(super) fn read(at: &str, fields: &Map<String, Value>) -> Result<Option<Latency>, String> {
        let of = |name: &str| fields.get(name).and_then(Value::as_object);
        let has = |fields: &&Map<String, Value>| {
            fields.contains_key("percentile") || fields.contains_key("bins")
        };
        let Some(lat) = of("lat_ns") else {
            return Ok(None);
        };
        let at = format!("{at}: lat_ns");
        let completion = of("clat_ns").filter(has);
        let is_of_completion = !has(&lat) && completion.is_some();
        let detail = if is_of_completion {
            completion.unwrap_or(lat)
        } else {
            lat
        };
        let mut percentiles = Vec::new();
        for (name, value) in pairs(detail.get("percentile")) {
            percentiles.push((key::<f64>(&at, name)?, amount(&at, name, value)?));
        }
        let mut bins = BTreeMap::new();
        for (name, value) in pairs(detail.get("bins")) {
            bins.insert(key::<u64>(&at, name)?, amount(&at, name, value)?);
        }
        let count = number(&at, lat, "N")?;
        Ok((count > 0.0).then_some(Latency {
            count,
            mean_ns: number(&at, lat, "mean")?,
            min_ns: number(&at, lat, "min")?,
            percentiles,
            bins,
            is_of_completion,
        }))
    }

    /// Adds those of another job. Percentiles cannot be averaged: bins are needed.
    pub(super) fn merge(&mut self, other: &Latency, at: &str) -> Result<(), String> {
        if self.bins.is_empty() || other.bins.is_empty() {
            return Err(format!(
                "{at}: lat_ns: bins: are not there, and percentiles of several jobs cannot be joined; \
                 run fio with --output-format=json+ or group_reporting"
            ));
        }
        let count = self.count + other.count;
        self.mean_ns = (self.mean_ns * self.count + other.mean_ns * other.count) / count;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.count = count;
        self.percentiles.clear();
        for (ns, count) in &other.bins {
            *self.bins.entry(*ns).or_default() += count;
        }
        self.is_of_completion |= other.is_of_completion;
        Ok(())
    }

    /// That of so many percent, as fio has it.
    pub(super) fn percentile_us(&self, percent: f64) -> Option<f64> {
        let known = self
            .percentiles
            .iter()
            .find(|(known, _)| (known - percent).abs() < 1e-9);
        if let Some((_, ns)) = known {
            return Some(ns / 1e3);
        }
        let rank = self.bins.values().sum::<f64>() * percent / 100.0;
        let mut sum = 0.0;
        let found = self.bins.iter().find(|(_, count)| {
            sum += **count;
            sum >= rank
        });
        found.map(|(ns, _)| *ns as f64 / 1e3)
    }
}

fn pairs(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

fn key<T: std::str::FromStr>(at: &str, name: &str) -> Result<T, String> {
    let wrong = |_| format!("{at}: {name}: is not a number; keep what fio wrote");
    name.parse().map_err(wrong)
}
