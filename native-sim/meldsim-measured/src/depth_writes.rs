//! `write_latency_by_depth`: sequential writes alone.

use super::prelude::*;

const KIND: &str = "write_latency_by_depth";
const MEAN: Class = Class::new(KIND, "mean", Bar::Within(0.1));
const OTHER: Class = Class::new(KIND, "IOPS and percentiles", Bar::Reported);
const COLUMNS: [(&str, Class, f64); 10] = [
    ("mean_us", MEAN, 0.0),
    ("iops", OTHER, 0.0),
    ("MBps", OTHER, 0.0),
    ("min_us", OTHER, 1.0),
    ("p50_us", OTHER, 1.0),
    ("p90_us", OTHER, 1.0),
    ("p95_us", OTHER, 1.0),
    ("p99_us", OTHER, 1.0),
    ("p99_9_us", OTHER, 1.0),
    ("p99_99_us", OTHER, 1.0),
];
/// Bytes written before anything is counted: the write buffer is full where it will be.
pub(super) const WARM_UP_BYTES: u64 = 128 << 20;

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    let asked = tasks.ask(table, |tasks, row, drive| {
        if row.text("op")? != "write" {
            tasks.leave_out(
                row,
                "an append: its ceiling of commands a second is not modelled",
            )?;
            return Ok(None);
        }
        let (block, writers) = (row.count("block_bytes")?, row.count("zones_or_threads")?);
        let depth = row.count("depth_per_thread")?;
        let cells = Cells {
            row,
            drive,
            curve: format!("{writers} zones"),
            at: format!("{block} B, depth {depth}"),
            x: block as f64,
            // The latency of the controller, and the link.
            is_fitted: tasks.are_own && writers == 1 && [4096, 131_072].contains(&block),
        };
        let questions = cells.questions(COLUMNS)?;
        Ok(Some(((block, writers, depth, reached_by(row)?), questions)))
    })?;
    tasks.simulate(asked, |tasks, drive, (block, writers, depth, path)| {
        let smaller = tasks.smaller(drive)?.through(path);
        let warm_up_bytes = tasks.scale.choose(WARM_UP_BYTES / 2, WARM_UP_BYTES);
        let requests = warm_up_bytes / block;
        // Room for a wrap without collection of what is valid.
        let bytes = smaller.bytes(drive.capacity_bytes / 2, writers * (1 << 20));
        let (region, per) = (bytes / PAGE / writers, block.div_ceil(PAGE));
        let writer =
            move |n| Source::sequential(depth, Arrivals::Closed, n * region, (region, per));
        Ok(Simulation {
            smaller,
            bytes,
            past: Past::Filled,
            sources: Box::new(move || (0..writers).map(writer).collect()),
            extent: Extent::of(requests, 2 * requests),
            cost: 3 * warm_up_bytes / PAGE,
            value: Box::new(move |measured, column| match column {
                "iops" => Some(measured.write_iops()),
                "MBps" => Some(measured.write_iops() * block as f64 / 1e6),
                column => latency_us(&measured.writes_from(0), column),
            }),
        })
    })
}
