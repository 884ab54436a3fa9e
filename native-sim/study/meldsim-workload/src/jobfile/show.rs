//! The options of a job as a result shows them.

use super::super::job::{Job, PATTERNS};
use super::super::quantity::name_of;
use meldsim::engine::Duration;
use meldsim::nvme::Pattern;

/// What the job does, in numbers, whatever was said of it; then what else was, in its words.
pub(crate) fn options(job: &Job) -> Vec<(String, String)> {
    let is_mix = job.rw.reads() && job.rw.writes();
    let has_pattern = job.read_pattern != Pattern::None;
    let one_size = job.block_sizes.is_none();
    let shown = [
        ("rw", Some(direction(job))),
        ("bs", one_size.then(|| job.block_bytes.to_string())),
        ("iodepth", Some(job.iodepth.to_string())),
        ("size", Some(job.size_bytes.to_string())),
        ("runtime", job.runtime.map(time)),
        ("numjobs", Some(job.numjobs.to_string())),
        ("rwmixread", is_mix.then(|| job.rwmixread.to_string())),
        ("randseed", Some(job.seed.to_string())),
        ("randrepeat", (!job.random_repeat).then(|| "0".to_owned())),
        (
            "read_pattern",
            has_pattern.then(|| name_of(&job.read_pattern, &PATTERNS)),
        ),
    ];
    let shown = shown.into_iter();
    let mut options: Vec<(String, String)> = shown
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect();
    // What is said of a job goes before what is said of all.
    for (key, value) in job.given.own.iter().chain(&job.given.global) {
        if key != "name" && options.iter().all(|(known, _)| known != key) {
            options.push((key.clone(), value.clone()));
        }
    }
    options
}

/// In fio's units, of which nanoseconds are none.
fn time(time: Duration) -> String {
    let ns = time.as_ns();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = units.iter().find(|(unit, _)| ns % unit == 0);
    let (unit, name) = unit.unwrap_or(&(1, "ns"));
    format!("{}{name}", ns / unit)
}

/// `rw` with its modifier.
fn direction(job: &Job) -> String {
    let rw = job.rw;
    match (job.step_bytes, job.repeat) {
        (_, Some(repeat)) => format!("{rw}:{}", repeat.requests),
        (0, None) => rw.to_string(),
        (step, None) => format!("{rw}:{step}"),
    }
}
