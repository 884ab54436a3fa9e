//! `read_latency_by_depth`: random reads alone.

use super::csv::Table;
use super::drive::reached_by;
use super::error::MeasureError;
use super::judge::{Bar, Class};
use super::sources::{Arrivals, Extent, PAGE, Source, latency_us, run};
use super::task::{Cells, Past, Tasks, device, group};

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
    let mut rows = Vec::new();
    for row in &table.rows {
        let Some(drive) = tasks.drive(table, row)? else {
            continue;
        };
        if row.text("limit")? == "link_or_host" {
            tasks.leave_out(table, row, "the link or the host is the limit")?;
            continue;
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
            table,
            row,
            drive,
            curve: format!("{dataset}, {block} B, {threads} threads"),
            at: format!("depth {depth}"),
            x: depth as f64,
            is_fitted: is_basis && tasks.are_own,
        };
        let mut questions = Vec::new();
        for (column, class, resolution) in COLUMNS {
            cells.ask(&mut questions, column, class, resolution)?;
        }
        let path = reached_by(row)?;
        let spec = (drive.name, block, threads * depth, path);
        rows.push((spec, (drive, questions)));
    }
    for ((_, block, depth, path), rows) in group(rows) {
        let Some((drive, _)) = rows.first() else {
            continue;
        };
        let smaller = tasks.smaller(*drive)?.through(path);
        let counted = tasks.scale.choose(20_000, 200_000);
        let questions = rows.into_iter().flat_map(|(_, questions)| questions);
        let answer = move |questions: &[_]| {
            let bytes = smaller.bytes(smaller.drive.capacity_bytes, 1 << 20);
            let (mut device, nsid) = device(&smaller, bytes, Past::Filled)?;
            let pages = (bytes / PAGE, block.div_ceil(PAGE));
            let reads = Source::random(depth, Arrivals::Closed, pages, 0.0, 1);
            let extent = Extent {
                warm_up: counted / 8 + 2 * depth,
                counted,
                mark_every: 0,
            };
            let measured = run(&mut device, nsid, vec![reads], extent)?;
            let value = |question: &super::judge::Question| match question.column.as_str() {
                "iops" => Some(measured.read_iops()),
                column => latency_us(&measured.latencies[0][0], column),
            };
            Ok(questions.iter().map(value).collect())
        };
        tasks.add(questions.collect(), counted / 4, Box::new(answer));
    }
    Ok(())
}
