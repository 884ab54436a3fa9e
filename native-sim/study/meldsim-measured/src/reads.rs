//! `read_latency_by_depth`: random reads alone.

use super::prelude::*;

const KIND: &str = "read_latency_by_depth";
const IOPS_P50: Class = Class::new(KIND, "IOPS and p50", Bar::MedianAndMost(0.03, 0.08));
const P99: Class = Class::new(KIND, "p99", Bar::Within(0.2));
const BEYOND: Class = Class::new(KIND, "beyond p99", Bar::Factor(1.5));
const OTHER: Class = Class::new(KIND, "mean and other percentiles", Bar::Reported);
const COLUMNS: [(&str, Class, f64); 11] = [
    ("iops", IOPS_P50, 0.0),
    ("p50_us", IOPS_P50, 1.0),
    ("p99_us", P99, 1.0),
    ("p99_9_us", BEYOND, 1.0),
    ("p99_99_us", BEYOND, 1.0),
    ("mean_us", OTHER, 0.0),
    ("min_us", OTHER, 0.0),
    ("p1_us", OTHER, 1.0),
    ("p10_us", OTHER, 1.0),
    ("p90_us", OTHER, 1.0),
    ("p95_us", OTHER, 1.0),
];

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    let asked = tasks.ask(table, |tasks, row, drive| {
        if row.text("limit")? == "link_or_host" {
            tasks.leave_out(row, "the link or the host is the limit")?;
            return Ok(None);
        }
        let block = row.count("block_bytes")?;
        let (threads, depth) = (row.count("threads")?, row.count("depth_per_thread")?);
        let dataset = row.text("dataset")?;
        // The curves that gave dies, read times and what is in series.
        let is_basis = match drive.name {
            "980PRO" => true,
            "ZN540" => {
                (block == 4096) == dataset.starts_with("rate_inteference")
                    && !dataset.starts_with("ConfZNS")
            }
            _ => false,
        };
        let cells = Cells {
            row,
            drive,
            curve: format!("{dataset}, {block} B, {threads} threads"),
            at: format!("depth {depth}"),
            x: depth as f64,
            is_fitted: is_basis && tasks.are_own,
        };
        let questions = cells.questions(COLUMNS)?;
        Ok(Some((
            (block, threads * depth, reached_by(row)?),
            questions,
        )))
    })?;
    tasks.simulate(asked, |tasks, drive, (block, depth, path)| {
        let smaller = tasks.smaller(drive)?.through(path);
        let bytes = smaller.bytes(drive.capacity_bytes, 1 << 20);
        let counted = tasks.scale.choose(20_000, 200_000);
        let pages = (bytes / PAGE, block.div_ceil(PAGE));
        Ok(Simulation {
            smaller,
            bytes,
            past: Past::Filled,
            sources: Box::new(move |nsid| {
                vec![random(nsid, depth, Arrivals::Closed, pages, 0.0, 1)]
            }),
            warm_up: counted / 8 + 2 * depth,
            counted,
            cost: counted / 4,
            value: Box::new(|measured, column| match column {
                "iops" => measured.reads().iops(),
                column => latency_us(measured.reads().latencies(), column),
            }),
        })
    })
}
