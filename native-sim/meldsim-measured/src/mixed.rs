//! `mixed_read_write`: random reads beside writers that are held to a rate, or not.

use super::csv::Table;
use super::drive::reached_by_or;
use super::error::MeasureError;
use super::judge::{Bar, Class, Question};
use super::sources::{Arrivals, Extent, PAGE, Source, latency_us, run};
use super::task::{Cells, Past, Tasks, device, group};
use meldsim::profile::HostPath;

const KIND: &str = "mixed_read_write";
const MEAN: Class = Class::new(KIND, "read mean", Bar::Within(0.1));
const P99: Class = Class::new(KIND, "read p99", Bar::Within(0.3));
const DEEP: Class = Class::new(KIND, "deep queues, read mean and p99", Bar::Factor(1.5));
const OTHER: Class = Class::new(KIND, "rates, percentiles, writes", Bar::Reported);
/// A queue is deep when its reads fill the dies.
const DEEP_FROM: u64 = 64;
const COLUMNS: [&str; 11] = [
    "read_p1_us",
    "read_p10_us",
    "read_p50_us",
    "read_p90_us",
    "read_p95_us",
    "read_p99_9_us",
    "read_p99_99_us",
    "write_mean_us",
    "write_p50_us",
    "write_p95_us",
    "write_p99_us",
];

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    let mut rows = Vec::new();
    for row in &table.rows {
        let Some(drive) = tasks.drive(table, row)? else {
            continue;
        };
        let (read_block, depth) = (row.count("read_block_bytes")?, row.count("read_depth")?);
        let (block, write_depth) = (row.count("write_block_bytes")?, row.count("write_depth")?);
        let writers = row.count("write_jobs")?;
        let asked = row.measured("write_rate_asked_MBps")?;
        // What is written at random collects; zones do not.
        let is_random = drive.name != "ZN540" && row.text("dataset")?.starts_with("long");
        let cells = Cells {
            table,
            row,
            drive,
            curve: format!("{}, {}", row.text("dataset")?, row.text("write_op")?),
            at: format!(
                "{} MB/s, depth {depth}",
                asked.map_or("all".to_owned(), |mb| mb.to_string())
            ),
            x: asked.unwrap_or(f64::NAN),
            // They gave what a read waits for a program, and how many reads stop one.
            is_fitted: tasks.are_own,
        };
        let (mean, p99) = match depth >= DEEP_FROM {
            true => (DEEP, DEEP),
            false => (MEAN, P99),
        };
        let mut questions = Vec::new();
        cells.ask(&mut questions, "read_mean_us", mean, 0.0)?;
        cells.ask(&mut questions, "read_p99_us", p99, 1.0)?;
        cells.ask(&mut questions, "read_iops", OTHER, 0.0)?;
        cells.ask(&mut questions, "write_MBps", OTHER, 0.0)?;
        for column in COLUMNS {
            cells.ask(&mut questions, column, OTHER, 1.0)?;
        }
        let rate = asked.map(|mb_s| mb_s * 1e6 / block.max(1) as f64 / writers.max(1) as f64);
        let path = reached_by_or(row, HostPath::Spdk)?;
        let spec = (
            (drive.name, path),
            (read_block, depth),
            (block, write_depth, writers, is_random),
            rate,
        );
        rows.push((spec, (drive, questions)));
    }
    for (((_, path), (read_block, depth), (block, write_depth, writers, is_random), rate), rows) in
        group(rows)
    {
        let Some((drive, _)) = rows.first() else {
            continue;
        };
        let smaller = tasks.smaller(*drive)?.through(path);
        let counted = tasks.scale.choose(20_000, 150_000);
        let questions = rows.into_iter().flat_map(|(_, questions)| questions);
        let answer = move |questions: &[Question]| {
            let unit = (writers + 1) * (1 << 20);
            let bytes = smaller.bytes(smaller.drive.capacity_bytes, unit);
            let (mut device, nsid) = device(&smaller, bytes, Past::Filled)?;
            let per = block.div_ceil(PAGE).max(1);
            let arrivals = rate.map_or(Arrivals::Closed, Arrivals::Even);
            let half = bytes / PAGE / 2;
            let region = half / writers.max(1) / per * per;
            let mut sources = vec![Source::random(
                depth,
                Arrivals::Closed,
                (half, read_block.div_ceil(PAGE).max(1)),
                0.0,
                1,
            )];
            for writer in 0..writers {
                let first = half + writer * region;
                sources.push(match is_random {
                    true => {
                        Source::random(write_depth, arrivals, (bytes / PAGE, per), 1.0, 9 + writer)
                    }
                    false => Source::sequential(write_depth, arrivals, first, (region, per)),
                });
            }
            let extent = Extent {
                warm_up: counted / 3,
                counted,
                mark_every: 0,
            };
            let measured = run(&mut device, nsid, sources, extent)?;
            let mut writes = meldsim_stats::LatencyHistogram::new();
            for [_, of_writer] in &measured.latencies[1..] {
                writes.merge(of_writer);
            }
            let value = |question: &Question| match question.column.as_str() {
                "read_iops" => Some(measured.read_iops()),
                "write_MBps" => Some(measured.write_iops() * block as f64 / 1e6),
                column if column.starts_with("write_") => latency_us(&writes, column),
                column => latency_us(&measured.latencies[0][0], column),
            };
            Ok(questions.iter().map(value).collect())
        };
        tasks.add(questions.collect(), counted, Box::new(answer));
    }
    Ok(())
}
