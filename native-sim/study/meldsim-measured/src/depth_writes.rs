//! `write_latency_by_depth`: sequential writes alone; on a drive of zones also appends, each thread in its own zones.

use super::prelude::*;
use super::zone_load::{Layout, Thread, Work, run};
use meldsim::Duration;
use meldsim::device::Device;
use meldsim::profile::{HostPath, Profile};

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
/// Seconds of writes to zones before anything is counted, and those that are.
const ON_ZONES_S: (f64, f64) = (0.3, 0.5);
/// Bytes written before anything is counted: the write buffer is full where it will be.
pub(super) const WARM_UP_BYTES: u64 = 128 << 20;

/// What a row is a run of: work, bytes of a request, threads, depth of each, and by what software.
type Spec = (Work, u64, u64, u64, HostPath);

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    let asked = tasks.ask(table, |tasks, row, drive| {
        let work = match row.text("op")? {
            "write" => Work::Write,
            "append" if drive.has_zones(tasks.profile) => Work::Append,
            "append" => {
                tasks.leave_out(row, "the profile has no zones")?;
                return Ok(None);
            }
            other => {
                let remedy = "write write or append";
                return Err(row.wrong("op", &format!("is \"{other}\""), remedy));
            }
        };
        let (block, writers) = (row.count("block_bytes")?, row.count("zones_or_threads")?);
        let depth = row.count("depth_per_thread")?;
        let curve = match work {
            Work::Append => "zones, appends",
            _ => "zones",
        };
        let is_alone = writers * depth == 1 && block <= 8192;
        let is_ceiling = block == 4096 && writers * depth >= 8;
        let cells = Cells {
            row,
            drive,
            curve: format!("{writers} {curve}"),
            at: format!("{block} B, depth {depth}"),
            x: block as f64,
            // The latency of the controller and the times of zones, and the program time.
            is_fitted: tasks.are_own && (is_alone || is_ceiling || block == 131_072),
        };
        let questions = cells.questions(COLUMNS)?;
        Ok(Some((
            (work, block, writers, depth, reached_by(row)?),
            questions,
        )))
    })?;
    let (on_zones, plain): (Vec<_>, Vec<_>) = asked
        .into_iter()
        .partition(|((drive, _), _)| drive.has_zones(tasks.profile));
    tasks.each(on_zones, write_zones)?;
    write_plain(tasks, plain)
}

/// A drive of zones is as large as the runs need.
fn write_zones(
    tasks: &Tasks<'_>,
    drive: Drive,
    (work, block, writers, depth, path): Spec,
) -> Result<(u64, Answer), MeasureError> {
    let (warm_up, counted) = tasks.scale.choose((0.02, 0.02), ON_ZONES_S);
    let layout = Layout::written_to(1, writers, warm_up + counted);
    let mut profile: Profile = drive.with_zones(tasks.profile, layout.zones() as u32)?;
    profile.host.path = path;
    let thread = Thread {
        work,
        pages: block.div_ceil(PAGE).max(1),
        depth,
        arrivals: Arrivals::Closed,
    };
    let answer = move |questions: &[Question]| {
        let time = |seconds: f64| Duration::from_ps((seconds * 1e12) as u64);
        let times = (time(warm_up), time(counted));
        let mut device = Device::new(&profile)?;
        let latencies = run(&mut device, layout, (thread, writers), None, times)?;
        let iops = latencies.count() as f64 / times.1.as_secs_f64();
        let value = |question: &Question| match question.column.as_str() {
            "iops" => Some(iops),
            "MBps" => Some(iops * block as f64 / 1e6),
            column => latency_us(&latencies, column),
        };
        Ok(questions.iter().map(value).collect())
    };
    let cost = Layout::written_pages(warm_up + counted);
    Ok((cost, Box::new(answer)))
}

fn write_plain(tasks: &mut Tasks<'_>, asked: Asked<Spec>) -> Result<(), MeasureError> {
    tasks.simulate(asked, |tasks, drive, (_, block, writers, depth, path)| {
        let smaller = tasks.smaller(drive)?.through(path);
        let warm_up_bytes = tasks.scale.choose(WARM_UP_BYTES / 2, WARM_UP_BYTES);
        let requests = warm_up_bytes / block;
        // Room for a wrap without collection of what is valid.
        let bytes = smaller.bytes(drive.capacity_bytes / 2, writers * (1 << 20));
        let (region, per) = (bytes / PAGE / writers, block.div_ceil(PAGE));
        let writer =
            move |nsid, n| sequential(nsid, depth, Arrivals::Closed, n * region, (region, per));
        Ok(Simulation {
            smaller,
            bytes,
            past: Past::Filled,
            sources: Box::new(move |nsid| (0..writers).map(|n| writer(nsid, n)).collect()),
            warm_up: requests,
            counted: 2 * requests,
            cost: 3 * warm_up_bytes / PAGE,
            value: Box::new(move |measured, column| match column {
                "iops" => measured.writes_from(0).iops(),
                "MBps" => Some(measured.writes_from(0).iops()? * block as f64 / 1e6),
                column => latency_us(measured.writes_from(0).latencies(), column),
            }),
        })
    })
}
