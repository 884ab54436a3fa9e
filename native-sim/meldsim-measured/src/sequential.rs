//! `sequential_write`: the drive is filled from end to end. A program time is found by it.

use super::csv::Table;
use super::depth_writes::WARM_UP_BYTES;
use super::drive::reached_by_or;
use super::error::MeasureError;
use super::judge::{Bar, Class, Question};
use super::sources::{Arrivals, Extent, PAGE, Source, run};
use super::task::{Cells, Past, Tasks, device, group};
use meldsim::profile::HostPath;

pub(super) const FILE: &str = "sequential_write.csv";
const FILL: Class = Class::new("sequential_write", "rate", Bar::Within(0.1));
/// Of a drive that is calibrated: its program time is found by little else.
const SOUGHT: Class = Class::new("sequential_write", "rate", Bar::Within(0.05));

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    let mut rows = Vec::new();
    let class = match tasks.only {
        Some(_) => SOUGHT,
        None => FILL,
    };
    for row in &table.rows {
        let Some(drive) = tasks.drive(table, row)? else {
            continue;
        };
        let block = row.count("block_bytes")?;
        let threads = row.count("threads")?.max(1);
        let depth = row.measured("depth_per_thread")?.unwrap_or(1.0).max(1.0) as u64;
        let cells = Cells {
            table,
            row,
            drive,
            curve: "fill".to_owned(),
            at: format!("{block} B"),
            x: block as f64,
            is_fitted: tasks.are_own,
        };
        let mut questions = Vec::new();
        cells.ask(&mut questions, "MBps_median", class, 0.0)?;
        let path = reached_by_or(row, HostPath::IoUring)?;
        let spec = (drive.name, block, threads * depth, path);
        rows.push((spec, (drive, questions)));
    }
    for ((_, block, depth, path), rows) in group(rows) {
        let Some((drive, _)) = rows.first() else {
            continue;
        };
        let smaller = tasks.smaller(*drive)?.through(path);
        let questions = rows.into_iter().flat_map(|(_, questions)| questions);
        let requests = (tasks.scale.choose(WARM_UP_BYTES / 2, WARM_UP_BYTES) / block).max(1);
        let answer = move |questions: &[Question]| {
            let bytes = smaller.bytes(smaller.drive.capacity_bytes, 1 << 20);
            let (mut device, nsid) = device(&smaller, bytes, Past::Empty)?;
            let (pages, per) = (bytes / PAGE, block.div_ceil(PAGE));
            let writer = Source::sequential(depth, Arrivals::Closed, 0, (pages, per));
            let extent = Extent {
                warm_up: requests,
                counted: requests,
                mark_every: 0,
            };
            let measured = run(&mut device, nsid, vec![writer], extent)?;
            let mb_s = measured.write_iops() * block as f64 / 1e6;
            Ok(vec![Some(mb_s); questions.len()])
        };
        tasks.add(questions.collect(), requests, Box::new(answer));
    }
    Ok(())
}
