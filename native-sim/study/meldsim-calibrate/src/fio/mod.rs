//! fio's JSON as tables of measured rows, those of the experiment `real-drives`.
//!
//! Jobs of one group ran at once. What they did is read from their options, not from their names.

mod field;
mod json;
mod latency;
mod options;
mod rows;
#[cfg(test)]
mod tests;

use json::Job;
use meldsim_measured::{Table, of_key};

/// What fio measured.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) tables: Vec<Table>,
    pub(crate) idle: Vec<IdleRead>,
    /// What was left out, with the reason.
    pub(crate) notes: Vec<String>,
}

/// Reads at depth 1 after a pause.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IdleRead {
    pub(crate) pause_s: f64,
    /// Reads after each pause.
    pub(crate) reads: u64,
    pub(crate) block_bytes: u64,
    pub(crate) mean_us: f64,
    pub(crate) p50_us: Option<f64>,
    pub(crate) p99_us: Option<f64>,
}

/// Reads texts of fio, each with the name of its file.
pub(crate) fn tables(
    texts: &[(String, String)],
    drive: &str,
    capacity_bytes: Option<u64>,
) -> Result<Measured, String> {
    let mut found = rows::Found::new(drive, capacity_bytes);
    for (file, text) in texts {
        let jobs = json::jobs(file, text)?;
        let mut groups: Vec<(u64, Vec<Job>)> = Vec::new();
        for job in jobs {
            of_key(&mut groups, job.group).push(job);
        }
        for (_, group) in groups {
            found.add(file, &group)?;
        }
    }
    Ok(found.measured())
}
