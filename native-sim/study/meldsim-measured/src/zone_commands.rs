//! `zns_mgmt_latency`: commands that manage zones, one at a time on an idle drive.

use super::prelude::*;
use meldsim::Duration;
use meldsim::device::Device;
use meldsim::nvme::zone::ZoneAction;
use meldsim::nvme::{Command, Directive};
use meldsim::profile::{HostPath, Profile};

const KIND: &str = "zns_mgmt_latency";
const MEAN: Class = Class::new(KIND, "mean", Bar::Within(0.1));
/// Pages of a write that brings a zone to its occupancy.
const PER_WRITE: u64 = 32;
/// Before a command is timed, so that the drive is idle.
const PAUSE: Duration = Duration::from_ms(1000);

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    tasks.leave_out_columns(
        table,
        &["p5_us", "p50_us", "p95_us", "p99_us", "max_us"],
        "a spread: the same command takes the same time",
    );
    let asked = tasks.ask(table, |tasks, row, drive| {
        let op = row.text("op")?.to_owned();
        // Closing was measured after one write.
        let written = match row.measured("written_lbas")? {
            Some(_) => row.count("written_lbas")?,
            None => 1,
        };
        if !drive.has_zones(tasks.profile) {
            tasks.leave_out(row, "the profile has no zones")?;
            return Ok(None);
        }
        // They gave what no program is waited for.
        let is_fitted = match op.as_str() {
            "reset_after_finish" => written == 0 || written == 275_711,
            op => op.starts_with("close"),
        };
        let cells = Cells {
            row,
            drive,
            // Each occupancy has its own bar.
            curve: format!("{op}, {written} written"),
            at: format!("{written} of 4 KiB written"),
            x: written as f64,
            is_fitted: tasks.are_own && is_fitted,
        };
        let questions = cells.questions([("mean_us", MEAN, 0.0)])?;
        Ok(Some(((op, written), questions)))
    })?;
    tasks.each(asked, |tasks, drive, (op, written)| {
        let mut profile = drive.with_zones(tasks.profile, 16)?;
        profile.host.path = HostPath::Spdk;
        let answer = move |questions: &[Question]| {
            let latency = measure(&profile, &op, written)?;
            let us = latency.as_ps() as f64 / 1e6;
            Ok(questions.iter().map(|_| Some(us)).collect())
        };
        Ok((written / PER_WRITE, Box::new(answer)))
    })
}

/// What the command that a row names takes.
fn measure(profile: &Profile, op: &str, written: u64) -> Result<Duration, MeasureError> {
    let mut device = Device::new(profile)?;
    let nsid = device.create_namespace(profile.zones.size.0)?;
    let mut run = |command: Command| run(&mut device, command);
    let manage = |action| Command::manage_zone(nsid, 0, action, 0);
    let write = |page, pages| Command::write(nsid, page, pages, Directive::NONE, 0);
    if !op.starts_with("close_implicit") {
        run(manage(ZoneAction::Open))?;
    }
    let mut page = 0;
    while page < written {
        let pages = PER_WRITE.min(written - page);
        run(write(page, pages as u32))?;
        page += pages;
    }
    match op {
        "reset" => run(manage(ZoneAction::Reset)),
        "finish" => run(manage(ZoneAction::Finish)),
        "reset_after_finish" => {
            run(manage(ZoneAction::Finish))?;
            run(manage(ZoneAction::Reset))
        }
        _ => {
            let closed = run(manage(ZoneAction::Close))?;
            match op.ends_with("_write") {
                true => run(write(page, 1)),
                false => Ok(closed),
            }
        }
    }
}

/// What a command takes on the idle device, with the host's path.
fn run(device: &mut Device, command: Command) -> Result<Duration, MeasureError> {
    device.advance_to(device.now() + PAUSE);
    Ok(Source::once(device, command)?)
}
