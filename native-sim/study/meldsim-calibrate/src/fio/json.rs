//! fio's JSON: the jobs of a text, with their options and what they measured.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::field::number;
use super::latency::Latency;

/// An entry of `jobs`: a job, or equal ones that were reported as one.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// The file and the job, for messages.
    pub(super) at: String,
    pub(super) group: u64,
    pub(super) failed: bool,
    /// The global ones and the job's own.
    pub(super) options: BTreeMap<String, String>,
    pub(super) read: Direction,
    pub(super) write: Direction,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Direction {
    pub(super) bytes: f64,
    pub(super) iops: f64,
    pub(super) runtime_s: f64,
    pub(super) latency: Option<Latency>,
}

/// Reads the jobs of a text. What fio printed before the JSON is skipped.
pub(super) fn jobs(file: &str, text: &str) -> Result<Vec<Job>, String> {
    let remedy = "write it with fio --output-format=json+";
    let start = match text.starts_with('{') {
        true => Some(0),
        // A message may end without a new line.
        false => text.find("\n{").map(|at| at + 1).or_else(|| text.find('{')),
    };
    let Some(start) = start else {
        return Err(format!("{file}: has no JSON; {remedy}"));
    };
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let value = match values.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) => return Err(format!("{file}: is not JSON: {error}; {remedy}")),
        None => return Err(format!("{file}: has no JSON; {remedy}")),
    };
    let Some(entries) = value.get("jobs").and_then(Value::as_array) else {
        return Err(format!("{file}: jobs: is not there; {remedy}"));
    };
    let global = options(value.get("global options"));
    entries
        .iter()
        .map(|entry| job(file, &global, entry))
        .collect()
}

fn options(value: Option<&Value>) -> BTreeMap<String, String> {
    let fields = value.and_then(Value::as_object).into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
    fields
        .map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

fn job(file: &str, global: &BTreeMap<String, String>, entry: &Value) -> Result<Job, String> {
    let name = entry.get("jobname").and_then(Value::as_str).unwrap_or("");
    let at = format!("{file}: job {name}");
    let Some(fields) = entry.as_object() else {
        return Err(format!(
            "{at}: is not an object; write it with fio --output-format=json+"
        ));
    };
    let mut all = global.clone();
    all.extend(options(fields.get("job options")));
    Ok(Job {
        group: number(&at, fields, "groupid")? as u64,
        failed: number(&at, fields, "error")? != 0.0,
        options: all,
        read: direction(&at, fields, "read")?,
        write: direction(&at, fields, "write")?,
        at,
    })
}

fn direction(at: &str, fields: &Map<String, Value>, name: &str) -> Result<Direction, String> {
    let Some(fields) = fields.get(name).and_then(Value::as_object) else {
        return Ok(Direction::default());
    };
    let at = format!("{at}: {name}");
    Ok(Direction {
        bytes: number(&at, fields, "io_bytes")?,
        iops: number(&at, fields, "iops")?,
        runtime_s: number(&at, fields, "runtime")? / 1e3,
        latency: Latency::read(&at, fields)?,
    })
}
