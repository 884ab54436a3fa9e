//! `zns_interference`: reads, writes or appends beside what manages zones or does I/O at a rate.

use super::prelude::*;
use super::zone_load::{Layout, Thread, Work, run};
use meldsim::Duration;
use meldsim::device::Device;
use meldsim::profile::HostPath;

const KIND: &str = "zns_interference";
const MEAN: Class = Class::new(KIND, "mean", Bar::Within(0.2));
const OTHER: Class = Class::new(KIND, "rates and percentiles", Bar::Reported);
const PERCENTILES: [&str; 5] = [
    "fg_p50_us",
    "fg_p95_us",
    "fg_p99_us",
    "fg_p99_9_us",
    "fg_p99_99_us",
];
/// Zones that are read.
const READ: u64 = 12;

/// What a row is a run of.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    /// Work, pages of a request, threads, depth of each.
    foreground: (Work, u64, u64, u64),
    background: Option<(Work, f64)>,
}

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    tasks.leave_out_columns(
        table,
        &["bg_mean_us"],
        "of a finish it is not the command's",
    );
    let asked = tasks.ask(table, |tasks, row, drive| {
        let work = |column| match row.text(column)? {
            "read" => Ok(Work::Read),
            "write" => Ok(Work::Write),
            "append" => Ok(Work::Append),
            "reset" => Ok(Work::Reset),
            "finish" => Ok(Work::Finish),
            other => {
                let remedy = "write read, write, append, reset or finish";
                Err(row.wrong(column, &format!("is \"{other}\""), remedy))
            }
        };
        let foreground = work("fg_op")?;
        let (threads, depth) = (row.count("fg_jobs")?, row.count("fg_depth")?);
        let pages = row.count("fg_block_bytes")?.div_ceil(PAGE).max(1);
        let background = match row.text("bg_op")? {
            "none" => None,
            _ => Some((work("bg_op")?, row.number("bg_ops_per_s")?)),
        };
        if background.is_some_and(|(_, rate)| rate <= 0.0) {
            let remedy = "write operations a second, more than none";
            return Err(row.wrong("bg_ops_per_s", "is no rate", remedy));
        }
        if !drive.has_zones(tasks.profile) {
            tasks.leave_out(row, "the profile has no zones")?;
            return Ok(None);
        }
        if background.is_some_and(|(_, rate)| rate < tasks.scale.choose(1.0, 0.0)) {
            tasks.leave_out(row, "takes too long for a quick look")?;
            return Ok(None);
        }
        let fg = row.text("fg_op")?;
        let bg = row.text("bg_op")?;
        let percent = row.text("bg_rate_percent_of_max")?;
        let cells = Cells {
            row,
            drive,
            curve: format!("{fg} beside {bg}, {percent} %, {threads} x {depth}"),
            at: format!("{threads} threads, depth {depth}"),
            x: (threads * depth) as f64,
            is_fitted: false,
        };
        let columns = [("fg_mean_us", MEAN, 0.0), ("fg_iops", OTHER, 0.0)];
        let percentiles = PERCENTILES.map(|column| (column, OTHER, 1.0));
        let questions = cells.questions(columns.into_iter().chain(percentiles))?;
        // As many appends were outstanding as the next power of two: IOPS times mean are 3.9 at depth 3, and 7.5 at depth 6.
        let depth = match foreground {
            Work::Append => depth.next_power_of_two(),
            _ => depth,
        };
        let run = Run {
            foreground: (foreground, pages, threads, depth),
            background,
        };
        Ok(Some((run, questions)))
    })?;
    tasks.each(asked, |tasks, drive, run| {
        let seconds = seconds(run, tasks.scale.choose(0.05, 2.0));
        // The background may write as well, to two zones at a time.
        let layout = Layout::written_to(READ, run.foreground.2 + 2, seconds);
        let mut profile = drive.with_zones(tasks.profile, layout.zones() as u32)?;
        profile.host.path = HostPath::IoUring;
        let answer =
            move |questions: &[Question]| answer(&profile, layout, run, seconds, questions);
        Ok((Layout::written_pages(seconds), Box::new(answer)))
    })
}

/// How long a run is counted: that long, in whole distances between two operations of the background.
fn seconds(run: Run, least: f64) -> f64 {
    match run.background {
        None => least,
        Some((_, rate)) => (least * rate).ceil() / rate,
    }
}

fn answer(
    profile: &meldsim::Profile,
    layout: Layout,
    run_of: Run,
    seconds: f64,
    questions: &[Question],
) -> Result<Vec<Option<f64>>, MeasureError> {
    let (work, pages, count, depth) = run_of.foreground;
    let foreground = Thread {
        work,
        pages,
        depth,
        arrivals: Arrivals::Closed,
    };
    let beside = run_of.background.map(|(work, rate)| Thread {
        work,
        pages: match work {
            Work::Read => 2,
            Work::Write => 16,
            _ => 1,
        },
        depth: match work {
            Work::Read => 64,
            _ => 1,
        },
        arrivals: Arrivals::Even(rate),
    });
    let mut device = Device::new(profile)?;
    let time = |seconds: f64| Duration::from_ps((seconds * 1e12) as u64);
    let times = (time(0.05), time(seconds));
    let latencies = run(&mut device, layout, (foreground, count), beside, times)?;
    let value = |question: &Question| match question.column.strip_prefix("fg_") {
        Some("iops") => Some(latencies.count() as f64 / times.1.as_secs_f64()),
        Some(column) => latency_us(&latencies, column),
        None => None,
    };
    Ok(questions.iter().map(value).collect())
}
