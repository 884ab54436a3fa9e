//! `programming`: how pages get onto a die: program times, the order of pages, what a flush pads.

use super::burst::ExperimentError;
use super::claim::{Basis, Claim};
use super::outcome::{Grounds, Outcome};
use super::sheet::{Cell, Sheet};
use crate::load::{Loop, directive, drain};
use meldsim::Duration;
use meldsim::device::Device;
use meldsim::nvme::{Command, NamespaceId, Pattern};
use meldsim::profile::{Profile, ProgramOrder};

const SECTION: u32 = 1;
/// Program times of LSB, CSB and MSB, of a public simulator, microseconds.
const PAGES_US: [u64; 3] = [558, 2201, 5001];
/// Wordlines of the long writes: so many that what is open at the end does not count.
const WORDLINES: u64 = 240;
/// How far a long write may be from the arithmetic.
const TOLERANCE: f64 = 0.01;
/// Hinted writes of one page up to so many are flushed.
const MOST_PAGES: u64 = 24;

/// One way of writing the same pages.
struct Row {
    order: &'static str,
    hint: &'static str,
    expected_ms: f64,
    measured_ms: f64,
}

/// Writes to one die in both program orders.
pub(super) fn programming(
    base: &Profile,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let mut rows = Vec::new();
    for (order, name) in [
        (ProgramOrder::OneShot, "one-shot"),
        (ProgramOrder::Shadow, "shadow"),
    ] {
        for hint in [Pattern::None, Pattern::Sequential] {
            rows.push(long_write(base, order, name, hint)?);
            progress(rows.len() as f64 / 6.0);
        }
    }
    let held = held_pages(base)?;
    progress(5.0 / 6.0);
    let padded = padded_as_expected(base)?;
    progress(1.0);
    Ok(Outcome {
        experiment: "programming",
        profile: base.name.clone(),
        about: format!(
            "{WORDLINES} wordlines written to one die, with and without the hint of sequential reads, one-shot and in shadow order; \
             hinted writes of 1 to {MOST_PAGES} pages, flushed."
        ),
        grounds: Grounds {
            published: Vec::new(),
            fitted: vec![
                "program times of 558, 2201 and 5001 us for LSB, CSB and MSB, of a public simulator".to_owned(),
            ],
            assumed: vec!["a wordline programmed in one shot takes as long as its MSB".to_owned()],
        },
        claims: claims(&rows, held, padded),
        sheets: vec![sheet(&rows)],
        figures: Vec::new(),
    })
}

/// The profile with one die, in that program order.
fn one_die(base: &Profile, order: ProgramOrder) -> Profile {
    let mut profile = base.clone();
    profile.geometry.channels = 1;
    profile.geometry.dies_per_channel = 1;
    profile.ftl.program_order = order;
    profile.timing.program_pages = match order {
        ProgramOrder::OneShot => None,
        ProgramOrder::Shadow => Some(PAGES_US.map(Duration::from_us).to_vec()),
    };
    profile
}

fn device(profile: &Profile) -> Result<(Device, NamespaceId), ExperimentError> {
    let mut device = Device::new(profile)?;
    let pages = device.stats().capacity_pages;
    let nsid = device.create_namespace(pages * profile.geometry.page_size.0)?;
    Ok((device, nsid))
}

/// Writes the first pages of the namespace.
fn write(
    device: &mut Device,
    nsid: NamespaceId,
    pages: u64,
    hint: Pattern,
) -> Result<(), ExperimentError> {
    let profile = device.profile();
    let blocks = pages * profile.geometry.page_size.0 / profile.controller.lba_size.0;
    let write = Command::write(nsid, 0, blocks as u32, directive(hint), 0);
    Loop::once(write).complete(device)?;
    drain(device);
    Ok(())
}

fn flush(device: &mut Device, nsid: NamespaceId) -> Result<(), ExperimentError> {
    Loop::once(Command::flush(nsid, 0)).complete(device)?;
    drain(device);
    Ok(())
}

fn long_write(
    base: &Profile,
    order: ProgramOrder,
    name: &'static str,
    hint: Pattern,
) -> Result<Row, ExperimentError> {
    let profile = one_die(base, order);
    let pages = profile.timing.read.len() as u64;
    let (mut device, nsid) = device(&profile)?;
    write(&mut device, nsid, WORDLINES * pages, hint)?;
    flush(&mut device, nsid)?;
    let bytes_us = 8.0 / (profile.bus.rate.0 as f64 * f64::from(profile.bus.width_bits));
    let page_bytes =
        f64::from(profile.bus.bytes_per_4kib) * profile.geometry.page_size.0 as f64 / 4096.0;
    let wordline_us = match order {
        ProgramOrder::OneShot => profile.timing.program.as_ps() as f64 / 1e6,
        ProgramOrder::Shadow => PAGES_US.iter().sum::<u64>() as f64,
    };
    let transfers_us = pages as f64 * page_bytes * bytes_us;
    Ok(Row {
        order: name,
        hint: match hint {
            Pattern::Sequential => "sequential",
            _ => "none",
        },
        expected_ms: WORDLINES as f64 * (wordline_us + transfers_us) / 1e3,
        measured_ms: device.now().as_ps() as f64 / 1e9,
    })
}

/// A hinted wordline written in shadow order: pages programmed, and pages held until the turn of theirs comes.
fn held_pages(base: &Profile) -> Result<(u64, u64), ExperimentError> {
    let profile = one_die(base, ProgramOrder::Shadow);
    let pages = profile.timing.read.len() as u64;
    let (mut device, nsid) = device(&profile)?;
    write(&mut device, nsid, pages, Pattern::Sequential)?;
    let programmed = device.stats().programs;
    Ok((programmed, pages - programmed))
}

/// Of the hinted writes that were flushed, those that were padded to whole wordlines and not more, and all.
fn padded_as_expected(base: &Profile) -> Result<(u64, u64), ExperimentError> {
    let profile = one_die(base, ProgramOrder::OneShot);
    let wordline = profile.timing.read.len() as u64;
    let mut right = 0;
    for pages in 1..=MOST_PAGES {
        let (mut device, nsid) = device(&profile)?;
        write(&mut device, nsid, pages, Pattern::Sequential)?;
        flush(&mut device, nsid)?;
        let padding = pages.next_multiple_of(wordline) - pages;
        right += u64::from(device.stats().padded_pages == padding);
    }
    Ok((right, MOST_PAGES))
}

fn sheet(rows: &[Row]) -> Sheet {
    let mut sheet = Sheet::new(
        "writes",
        &[
            ("order", "program order"),
            ("hint", "read pattern"),
            ("expected_ms", "arithmetic ms"),
            ("measured_ms", "simulated ms"),
        ],
    );
    for row in rows {
        sheet.row([
            Cell::text(row.order),
            Cell::text(row.hint),
            Cell::Number(row.expected_ms, 3),
            Cell::Number(row.measured_ms, 3),
        ]);
    }
    sheet
}

fn claims(rows: &[Row], held: (u64, u64), padded: (u64, u64)) -> Vec<Claim> {
    let off = rows
        .iter()
        .map(|row| (row.measured_ms / row.expected_ms - 1.0).abs())
        .fold(0.0, f64::max);
    vec![
        Claim::new(
            SECTION,
            Basis::Fitted,
            "programming.times",
            (
                "a die programs at 558 / 2201 / 5001 us a page in shadow order and 5001 us a wordline in one shot, hinted or not",
                "the sum of transfers and programs",
            ),
            format!("at most {:.2} % off", 100.0 * off),
            format!("within {:.0} %", 100.0 * TOLERANCE),
            off <= TOLERANCE,
        ),
        Claim::new(
            SECTION,
            Basis::Assumption,
            "programming.held",
            (
                "in shadow order a wordline's pages are programmed at separate times: those of a melded one are held meanwhile",
                "the first is programmed, the others are held",
            ),
            format!("{} programmed, {} held", held.0, held.1),
            "exactly".to_owned(),
            held.0 == 1 && held.1 > 0,
        ),
        Claim::new(
            SECTION,
            Basis::Assumption,
            "programming.padding",
            (
                "a flush closes an open wordline with padding, and the padding is counted",
                "up to whole wordlines",
            ),
            format!("{} of {} writes", padded.0, padded.1),
            "all of them".to_owned(),
            padded.0 == padded.1,
        ),
    ]
}
