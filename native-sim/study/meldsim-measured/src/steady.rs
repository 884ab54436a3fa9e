//! `steady_random_writes` and `waf_by_fill`: random writes until the drive is steady.

use super::prelude::*;
use super::sources::{collection_reads, write_amplification};

const STEADY: &str = "steady_random_writes";
const UNIFORM: Class = Class::new(STEADY, "uniform", Bar::Within(0.05));
const SKEWED_7450: Class = Class::new(STEADY, "skewed, 7450s", Bar::Within(0.08));
const SKEWED: Class = Class::new(STEADY, "skewed, others", Bar::Within(0.15));
const HELD: Class = Class::new(STEADY, "held by firmware", Bar::Reported).given();
const UNSTEADY: Class = Class::new(STEADY, "had not become steady", Bar::Reported);
const LATENCY: Class = Class::new(STEADY, "latency at 512 outstanding", Bar::Reported);

const FILL: &str = "waf_by_fill";
const FILL_WAF: Class = Class::new(FILL, "write amplification", Bar::Within(0.03));
const FILL_IOPS: Class = Class::new(FILL, "IOPS", Bar::Within(0.08));
const FILL_MEDIA: Class = Class::new(FILL, "media writes and reads", Bar::Reported);

/// Drive writes before anything is counted: the drive is steady already, but its buffer and its credit are not.
const WARM_UP: f64 = 0.4;
/// Pages of flash and rows of a superblock under skewed writes.
const SKEWED_PAGES: (u64, u64) = (1_120_000, 12);
const COUNTED: f64 = 0.7;

/// Writes that are simulated once, whatever asks for them.
#[derive(Clone, Copy, Debug)]
struct Writes {
    pattern: Pattern,
    bytes: u64,
    outstanding: u64,
}

impl PartialEq for Writes {
    fn eq(&self, other: &Writes) -> bool {
        // Files of two measurements of one drive differ in some blocks.
        let differ = self.bytes.abs_diff(other.bytes);
        (self.pattern, self.outstanding) == (other.pattern, other.outstanding)
            && differ < self.bytes / 10_000
    }
}

/// Both files: rows that ask for the same are simulated once.
pub(super) fn plan(
    steady: Option<&Table>,
    fill: Option<&Table>,
    tasks: &mut Tasks<'_>,
) -> Result<(), MeasureError> {
    let mut asked = Vec::new();
    if let Some(table) = steady {
        asked.extend(steady_rows(table, tasks)?);
    }
    if let Some(table) = fill {
        asked.extend(fill_rows(table, tasks)?);
    }
    tasks.simulate(asked, |tasks, drive, writes: Writes| {
        let smaller = match writes.pattern.is_uniform() {
            true => tasks.smaller(drive)?,
            false => tasks.smaller_of(drive, SKEWED_PAGES)?,
        };
        let smaller = smaller.with_small_buffer();
        let bytes = smaller.bytes(writes.bytes, PAGE);
        let pages = bytes / PAGE;
        let [warm_up, counted] = [WARM_UP, COUNTED].map(|times| (times * pages as f64) as u64);
        Ok(Simulation {
            smaller,
            bytes,
            past: Past::Overwritten(writes.pattern),
            sources: Box::new(move |nsid| {
                vec![super::sources::writes(
                    nsid,
                    writes.outstanding,
                    writes.pattern,
                    pages,
                )]
            }),
            warm_up,
            counted,
            cost: 3 * (warm_up + counted),
            value: Box::new(move |measured, column| value(drive, measured, column)),
        })
    })
}

fn value(drive: Drive, measured: &Measured, column: &str) -> Option<f64> {
    let amplification = write_amplification(measured) * drive.overhead;
    let writes = measured.writes_from(0);
    let iops = writes.iops();
    match column {
        "iops_steady" => iops,
        "waf_counter" => Some(amplification),
        "media_write_MBps" => Some(amplification * iops? * PAGE as f64 / 1e6),
        "media_read_per_media_write" => Some(collection_reads(measured)),
        _ => latency_us(writes.latencies(), column),
    }
}

fn steady_rows(table: &Table, tasks: &mut Tasks<'_>) -> Result<Asked<Writes>, String> {
    tasks.leave_out_columns(
        table,
        &["iops_third_quarter", "iops_last_quarter", "cv_last_quarter"],
        "parts of iops_steady",
    );
    tasks.leave_out_columns(
        table,
        &["iops_first_interval", "waf_implied"],
        "an interval before the steady state, and an upper bound made of it; see init_series",
    );
    tasks.ask(table, |tasks, row, drive| {
        let (name, parameter) = (row.text("pattern")?, row.number("param")?);
        let pattern = match Pattern::named(name, parameter) {
            Ok(pattern) => pattern,
            Err(reason) => {
                tasks.leave_out(row, reason)?;
                return Ok(None);
            }
        };
        let depth = row.measured("depth_per_thread")?.unwrap_or(128.0) as u64;
        let writes = Writes {
            pattern,
            bytes: row.count("file_bytes")?,
            outstanding: (row.count("threads")? * depth).max(1),
        };
        let class = match drive.name {
            _ if row.measured("steady")? == Some(0.0) => UNSTEADY,
            "PM9A3" => HELD,
            _ if pattern.is_uniform() => UNIFORM,
            "7450PRO" | "7450MAX" => SKEWED_7450,
            _ => SKEWED,
        };
        let cells = Cells {
            row,
            drive,
            curve: format!("{}, {name}", row.text("dataset")?),
            at: format!("{name} {parameter}"),
            x: parameter,
            // They gave the raw capacities.
            is_fitted: tasks.are_own && pattern.is_uniform(),
        };
        let mut questions = cells.questions([
            ("iops_steady", class, 0.0),
            ("waf_counter", class, 0.0),
            ("write_p50_us", LATENCY, 1.0),
        ])?;
        if row.measured("p99_clipped")? != Some(1.0) {
            cells.ask(&mut questions, "write_p99_us", LATENCY, 1.0)?;
        }
        Ok(Some((writes, questions)))
    })
}

fn fill_rows(table: &Table, tasks: &mut Tasks<'_>) -> Result<Asked<Writes>, String> {
    tasks.leave_out_columns(
        table,
        &[
            "iops_third_quarter",
            "iops_last_quarter",
            "cv_last_quarter",
            "waf_third_quarter",
            "waf_last_quarter",
            "seq_fill_MBps",
            "seq_fill_waf",
        ],
        "parts of the steady value, and the fill before it, which gave the program time",
    );
    tasks.ask(table, |tasks, row, drive| {
        let bytes = row.count("file_bytes")?;
        if bytes > drive.capacity_bytes + drive.capacity_bytes / 1000 {
            tasks.leave_out(row, "the file is larger than the drive")?;
            return Ok(None);
        }
        let writes = Writes {
            pattern: Pattern::Uniform,
            bytes,
            outstanding: row.count("threads")? * row.count("depth_per_thread")?,
        };
        let cells = Cells {
            row,
            drive,
            curve: "fill".to_owned(),
            at: format!("{:.0} GB", bytes as f64 / 1e9),
            x: bytes as f64,
            is_fitted: tasks.are_own,
        };
        let questions = cells.questions([
            ("waf_counter", FILL_WAF, 0.0),
            ("iops_steady", FILL_IOPS, 0.0),
            ("media_write_MBps", FILL_MEDIA, 0.0),
            ("media_read_per_media_write", FILL_MEDIA, 0.0),
        ])?;
        Ok(Some((writes, questions)))
    })
}
