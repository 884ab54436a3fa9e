//! `mixed_read_write`: random reads beside writers that are held to a rate, or not.

use super::prelude::*;
use meldsim::profile::HostPath;

pub(super) const FILE: &str = "mixed_read_write.csv";
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
    let asked = tasks.ask(table, |tasks, row, drive| {
        let (read_block, depth) = (row.count("read_block_bytes")?, row.count("read_depth")?);
        let (block, write_depth) = (row.count("write_block_bytes")?, row.count("write_depth")?);
        let writers = row.count("write_jobs")?;
        let asked = row.measured("write_rate_asked_MBps")?;
        // What is written at random collects; zones do not.
        let is_random = drive.name != "ZN540" && row.text("dataset")?.starts_with("long");
        let cells = Cells {
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
        let judged = [
            ("read_mean_us", mean, 0.0),
            ("read_p99_us", p99, 1.0),
            ("read_iops", OTHER, 0.0),
            ("write_MBps", OTHER, 0.0),
        ];
        let others = COLUMNS.map(|column| (column, OTHER, 1.0));
        let questions = cells.questions(judged.into_iter().chain(others))?;
        let rate = asked.map(|mb_s| mb_s * 1e6 / block.max(1) as f64 / writers.max(1) as f64);
        let reads = (read_block, depth, reached_by_or(row, HostPath::Spdk)?);
        Ok(Some((
            (reads, (block, write_depth, writers, is_random), rate),
            questions,
        )))
    })?;
    tasks.simulate(asked, |tasks, drive, (reads, writes, rate)| {
        let ((read_block, depth, path), (block, write_depth, writers, is_random)) = (reads, writes);
        let smaller = tasks.smaller(drive)?.through(path);
        let counted = tasks.scale.choose(20_000, 150_000);
        let bytes = smaller.bytes(drive.capacity_bytes, (writers + 1) * (1 << 20));
        let per = block.div_ceil(PAGE).max(1);
        let arrivals = rate.map_or(Arrivals::Closed, Arrivals::Even);
        let half = bytes / PAGE / 2;
        let region = half / writers.max(1) / per * per;
        let reads = (half, read_block.div_ceil(PAGE).max(1));
        let writer = move |nsid, writer| match is_random {
            true => {
                let pages = (bytes / PAGE, per);
                random(nsid, write_depth, arrivals, pages, 1.0, 9 + writer)
            }
            false => {
                let first = half + writer * region;
                sequential(nsid, write_depth, arrivals, first, (region, per))
            }
        };
        Ok(Simulation {
            smaller,
            bytes,
            past: Past::Filled,
            sources: Box::new(move |nsid| {
                let reader = random(nsid, depth, Arrivals::Closed, reads, 0.0, 1);
                let writers = (0..writers).map(|number| writer(nsid, number));
                std::iter::once(reader).chain(writers).collect()
            }),
            warm_up: counted / 3,
            counted,
            cost: counted,
            value: Box::new(move |measured, column| match column {
                "read_iops" => measured.reads().iops(),
                "write_MBps" => Some(measured.writes_from(0).iops()? * block as f64 / 1e6),
                _ if column.starts_with("write_") => {
                    latency_us(measured.writes_from(1).latencies(), column)
                }
                _ => latency_us(measured.reads().latencies(), column),
            }),
        })
    })
}
