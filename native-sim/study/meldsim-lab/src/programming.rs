//! `programming`: how pages get onto a die: program times, the order of pages, what a flush pads.

use super::melded::PAPER;
use super::setup::{bus_bytes, bus_us, us};
use crate::prelude::*;
use meldsim::Duration;
use meldsim::device::Device;
use meldsim::nvme::{Command, NamespaceId, Pattern};
use meldsim::profile::{ByteSize, Profile, ProgramOrder};
use meldsim_host::{Source, directive, drain};

pub(super) const PROGRAMMING: Experiment = Experiment {
    name: "programming",
    about: "Program times and orders on one die, and what a flush pads",
    paper: PAPER,
    profile: "melded-tlc-8x8",
    request_unit: Some(64 << 10),
    plan,
    ..Experiment::DEFAULT
};

/// Program times of LSB, CSB and MSB, of a public simulator, microseconds.
const PAGES_US: [u64; 3] = [558, 2201, 5001];
/// Wordlines of the long writes: so many that what is open at the end does not count.
const WORDLINES: u64 = 240;
/// How far a long write may be from the arithmetic.
const TOLERANCE: f64 = 0.01;
/// Hinted writes of one page up to so many are flushed.
const MOST_PAGES: u64 = 24;

const ORDERS: [(ProgramOrder, &str); 2] = [
    (ProgramOrder::OneShot, "one-shot"),
    (ProgramOrder::Shadow, "shadow"),
];
const HINTS: [(Pattern, &str); 2] = [(Pattern::None, "none"), (Pattern::Sequential, "sequential")];

/// One way of writing the same pages.
struct ProgramRow {
    order: &'static str,
    hint: &'static str,
    expected_ms: f64,
    measured_ms: f64,
}

/// Writes to one die in both program orders.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let base = &run.profile;
    let ways = ORDERS
        .into_iter()
        .flat_map(|order| HINTS.map(|hint| (order, hint)));
    let rows = cells.each(ways, |&((order, order_name), (hint, hint_name))| {
        let (expected_ms, measured_ms) = long_write(base, order, hint)?;
        Ok(ProgramRow {
            order: order_name,
            hint: hint_name,
            expected_ms,
            measured_ms,
        })
    });
    let held = cells.one(|| held_pages(base));
    let padded = cells.each(1..=MOST_PAGES, |&pages| is_padded_as_expected(base, pages));
    Ok(Box::new(move || {
        let rows = rows.take()?;
        let sheet = Sheet::of("writes", &rows)
            .cell("order", "program order", |row| row.order)
            .cell("hint", "read pattern", |row| row.hint)
            .number("expected_ms", "arithmetic ms", 3, |row| row.expected_ms)
            .number("measured_ms", "simulated ms", 3, |row| row.measured_ms);
        let about = format!(
            "{WORDLINES} wordlines written to one die, with and without the hint of sequential reads, one-shot and in shadow order; \
             hinted writes of 1 to {MOST_PAGES} pages, flushed."
        );
        let outcome = run
            .report(about)
            .assumed("program times of 558, 2201 and 5001 us for LSB, CSB and MSB, of a public simulator")
            .assumed("a wordline programmed in one shot takes as long as its MSB")
            .sheet(sheet)
            .figure(chart(&rows), "One program for a whole wordline is done sooner than three in shadow order.")
            .claims(claims(&rows, held.single()?, &padded.take()?));
        Some(outcome)
    }))
}

fn chart(rows: &[ProgramRow]) -> DotPlot {
    let group = |row: &ProgramRow| {
        let label = format!("{}, {}", row.order, row.hint);
        (label, [row.expected_ms, row.measured_ms])
    };
    let title = format!("{WORDLINES} wordlines written to one die");
    DotPlot::of(title, "time, ms", ["arithmetic", "simulated"], rows, group)
}

/// The profile with one die, in that program order.
fn one_die(base: &Profile, order: ProgramOrder) -> Profile {
    let mut profile = base.clone();
    profile.geometry.channels = 1;
    profile.geometry.dies_per_channel = 1;
    profile.controller.capacity = ByteSize(0);
    profile.ftl.program_order = order;
    profile.timing.program_pages = match order {
        ProgramOrder::OneShot => None,
        ProgramOrder::Shadow => Some(PAGES_US.map(Duration::from_us).to_vec()),
    };
    profile
}

fn device(profile: &Profile) -> Result<(Device, NamespaceId)> {
    let mut device = Device::new(profile)?;
    let pages = device.stats().capacity_pages;
    let nsid = device.create_namespace(pages * profile.geometry.page_size.0)?;
    Ok((device, nsid))
}

/// Writes the first pages of the namespace.
fn write(device: &mut Device, nsid: NamespaceId, pages: u64, hint: Pattern) -> Result<()> {
    let profile = device.profile();
    let blocks = pages * profile.geometry.page_size.0 / profile.controller.lba_size.0;
    let write = Command::write(nsid, 0, blocks as u32, directive(hint), 0);
    Source::once(device, write)?;
    drain(device);
    Ok(())
}

fn flush(device: &mut Device, nsid: NamespaceId) -> Result<()> {
    Source::once(device, Command::flush(nsid, 0))?;
    drain(device);
    Ok(())
}

/// What a long write takes in milliseconds: by arithmetic, and simulated.
fn long_write(base: &Profile, order: ProgramOrder, hint: Pattern) -> Result<(f64, f64)> {
    let profile = one_die(base, order);
    let pages = profile.timing.read.len() as u64;
    let (mut device, nsid) = device(&profile)?;
    write(&mut device, nsid, WORDLINES * pages, hint)?;
    flush(&mut device, nsid)?;
    let wordline_us = match order {
        ProgramOrder::OneShot => us(profile.timing.program),
        ProgramOrder::Shadow => PAGES_US.iter().sum::<u64>() as f64,
    };
    let transfers_us = pages as f64 * bus_bytes(&profile) * bus_us(&profile);
    let expected_ms = WORDLINES as f64 * (wordline_us + transfers_us) / 1e3;
    Ok((expected_ms, device.now().as_ps() as f64 / 1e9))
}

/// A hinted wordline written in shadow order: pages programmed, and pages held for their turn.
fn held_pages(base: &Profile) -> Result<(u64, u64)> {
    let profile = one_die(base, ProgramOrder::Shadow);
    let pages = profile.timing.read.len() as u64;
    let (mut device, nsid) = device(&profile)?;
    write(&mut device, nsid, pages, Pattern::Sequential)?;
    let programmed = device.stats().programs;
    Ok((programmed, pages - programmed))
}

/// Whether a hinted write that is flushed is padded to whole wordlines and not more.
fn is_padded_as_expected(base: &Profile, pages: u64) -> Result<bool> {
    let profile = one_die(base, ProgramOrder::OneShot);
    let (mut device, nsid) = device(&profile)?;
    write(&mut device, nsid, pages, Pattern::Sequential)?;
    flush(&mut device, nsid)?;
    let padding = pages.next_multiple_of(profile.timing.read.len() as u64) - pages;
    Ok(device.stats().padded_pages == padding)
}

fn claims(rows: &[ProgramRow], (programmed, held): (u64, u64), padded: &[bool]) -> [Claim; 3] {
    let off = rows
        .iter()
        .map(|row| (row.measured_ms / row.expected_ms - 1.0).abs());
    let off = off.fold(0.0, f64::max);
    let (all, right) = (
        padded.len(),
        padded.iter().filter(|padded| **padded).count(),
    );
    [
        Claim::construction("programming.times", "transfers and programs of one die add up; the times of a public simulator are put in")
            .statement("a die programs at 558 / 2201 / 5001 us a page in shadow order and 5001 us a wordline in one shot, hinted or not")
            .expected("the sum of transfers and programs")
            .measured(format!("at most {:.2} % off", 100.0 * off))
            .when(Bound::Own, format!("within {:.0} %", 100.0 * TOLERANCE)).holds(off <= TOLERANCE),
        Claim::construction("programming.held", "ftl.program_order = \"shadow\" asks for an order over wordlines")
            .statement("in shadow order a wordline's pages are programmed at separate times: those of a melded one are held meanwhile")
            .expected("the first is programmed, the others are held")
            .measured(format!("{programmed} programmed, {held} held"))
            .when(Bound::Own, "exactly").holds(programmed == 1 && held > 0),
        Claim::construction("programming.padding", "a melded wordline is programmed as one")
            .statement("a flush closes an open wordline with padding, and the padding is counted")
            .expected("up to whole wordlines")
            .measured(format!("{right} of {all} writes"))
            .when(Bound::Own, "all of them").holds(right == all),
    ]
}
