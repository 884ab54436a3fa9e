//! `write_latency_by_depth`: sequential writes alone.

use super::csv::Table;
use super::drive::reached_by;
use super::error::MeasureError;
use super::judge::{Bar, Class};
use super::sources::{Arrivals, Extent, PAGE, Source, latency_us, run};
use super::task::{Cells, Past, Tasks, device, group};

const KIND: &str = "write_latency_by_depth";
const MEAN: Class = Class::new(KIND, "mean", Bar::Within(0.1));
const OTHER: Class = Class::new(KIND, "IOPS and percentiles", Bar::Reported);
const PERCENTILES: [&str; 7] = [
    "min_us",
    "p50_us",
    "p90_us",
    "p95_us",
    "p99_us",
    "p99_9_us",
    "p99_99_us",
];
/// Bytes written before anything is counted: the write buffer is full where it will be.
pub(super) const WARM_UP_BYTES: u64 = 128 << 20;

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    let mut rows = Vec::new();
    for row in &table.rows {
        let Some(drive) = tasks.drive(table, row)? else {
            continue;
        };
        if row.text("op")? != "write" {
            tasks.leave_out(table, row, "zones and their appends are not modelled")?;
            continue;
        }
        let block = row.count("block_bytes")?;
        let (writers, depth) = (
            row.count("zones_or_threads")?,
            row.count("depth_per_thread")?,
        );
        let cells = Cells {
            table,
            row,
            drive,
            curve: format!("{writers} zones"),
            at: format!("{block} B, depth {depth}"),
            x: block as f64,
            // The latency of the controller, and the link.
            is_fitted: tasks.are_own && writers == 1 && [4096, 131_072].contains(&block),
        };
        let mut questions = Vec::new();
        cells.ask(&mut questions, "mean_us", MEAN, 0.0)?;
        for column in ["iops", "MBps"] {
            cells.ask(&mut questions, column, OTHER, 0.0)?;
        }
        for column in PERCENTILES {
            cells.ask(&mut questions, column, OTHER, 1.0)?;
        }
        let spec = (drive.name, block, writers, depth, reached_by(row)?);
        rows.push((spec, (drive, questions)));
    }
    for ((_, block, writers, depth, path), rows) in group(rows) {
        let Some((drive, _)) = rows.first() else {
            continue;
        };
        let smaller = tasks.smaller(*drive)?.through(path);
        let warm_up_bytes = tasks.scale.choose(WARM_UP_BYTES / 2, WARM_UP_BYTES);
        let questions = rows.into_iter().flat_map(|(_, questions)| questions);
        let answer = move |questions: &[_]| {
            // Room for a wrap without collection of what is valid.
            let bytes = smaller.bytes(smaller.drive.capacity_bytes / 2, writers * (1 << 20));
            let (mut device, nsid) = device(&smaller, bytes, Past::Filled)?;
            let (region, per) = (bytes / PAGE / writers, block.div_ceil(PAGE));
            let writer = |n| Source::sequential(depth, Arrivals::Closed, n * region, (region, per));
            let requests = warm_up_bytes / block;
            let extent = Extent {
                warm_up: requests,
                counted: 2 * requests,
                mark_every: 0,
            };
            let measured = run(
                &mut device,
                nsid,
                (0..writers).map(writer).collect(),
                extent,
            )?;
            let mut all = meldsim_stats::LatencyHistogram::new();
            for [_, writes] in &measured.latencies {
                all.merge(writes);
            }
            let value = |question: &super::judge::Question| match question.column.as_str() {
                "iops" => Some(measured.write_iops()),
                "MBps" => Some(measured.write_iops() * block as f64 / 1e6),
                column => latency_us(&all, column),
            };
            Ok(questions.iter().map(value).collect())
        };
        tasks.add(
            questions.collect(),
            3 * warm_up_bytes / PAGE,
            Box::new(answer),
        );
    }
    Ok(())
}
