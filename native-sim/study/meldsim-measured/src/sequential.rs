//! `sequential_write`: the drive is filled from end to end. A program time is found by it.

use super::depth_writes::WARM_UP_BYTES;
use super::prelude::*;
use meldsim::profile::HostPath;

pub(super) const FILE: &str = "sequential_write.csv";
const FILL: Class = Class::new("sequential_write", "rate", Bar::Within(0.1));
/// Of a drive that is calibrated: its program time is found by little else.
const SOUGHT: Class = Class::new("sequential_write", "rate", Bar::Within(0.05));

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    let asked = tasks.ask(table, |tasks, row, drive| {
        let class = match tasks.only {
            Some(_) => SOUGHT,
            None => FILL,
        };
        let block = row.count("block_bytes")?;
        let threads = row.count("threads")?.max(1);
        let depth = row.measured("depth_per_thread")?.unwrap_or(1.0).max(1.0) as u64;
        let cells = Cells {
            row,
            drive,
            curve: "fill".to_owned(),
            at: format!("{block} B"),
            x: block as f64,
            is_fitted: tasks.are_own,
        };
        let questions = cells.questions([("MBps_median", class, 0.0)])?;
        let path = reached_by_or(row, HostPath::IoUring)?;
        Ok(Some(((block, threads * depth, path), questions)))
    })?;
    tasks.simulate(asked, |tasks, drive, (block, depth, path)| {
        let smaller = tasks.smaller(drive)?.through(path);
        let requests = (tasks.scale.choose(WARM_UP_BYTES / 2, WARM_UP_BYTES) / block).max(1);
        let bytes = smaller.bytes(drive.capacity_bytes, 1 << 20);
        let pages = (bytes / PAGE, block.div_ceil(PAGE));
        Ok(Simulation {
            smaller,
            bytes,
            past: Past::Empty,
            sources: Box::new(move |nsid| {
                vec![sequential(nsid, depth, Arrivals::Closed, 0, pages)]
            }),
            warm_up: requests,
            counted: requests,
            cost: requests,
            value: Box::new(move |measured, _| {
                Some(measured.writes_from(0).iops()? * block as f64 / 1e6)
            }),
        })
    })
}
