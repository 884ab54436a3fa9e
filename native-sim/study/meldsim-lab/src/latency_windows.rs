//! `latency-windows`: what a deterministic window of an NVM set does for a reader.
//!
//! ```text
//!   idle before  |................ reads .................|
//!   no window    |== random writes ==|... reads beside garbage collection ...|
//!   window       |== random writes ==|D ........ reads, nothing is collected |
//! ```

use crate::prelude::*;
use meldsim::Duration;
use meldsim::device::{Device, Precondition};
use meldsim::nvme::wire::sets::PredictableLatencyConfig;
use meldsim::nvme::{Command, NamespaceId};
use meldsim::policy::pacing::PacingPolicy;
use meldsim::profile::{BufferScope, ByteSize, Profile, SetLayout};
use meldsim_host::{Access, Source, Until, WarmUp, finish};
use meldsim_stats::LatencySummary;

const PAPER: &str = "NVM Express Base Specification 1.4, predictable latency mode";

pub(super) const LATENCY_WINDOWS: Experiment = Experiment {
    name: "latency-windows",
    about: "Reads of an NVM set after random writes, with and without a deterministic window",
    paper: PAPER,
    profile: "nvmset-2tb",
    plan,
    ..Experiment::DEFAULT
};

/// The sets, vertical; reader and writer are on the first.
const SETS: u32 = 4;
const SET: u32 = 0;
/// Blocks of a plane at most: a window's worth of writes is a good part of the spare ones.
const BLOCKS: u32 = 64;
/// Pages collected before the reads begin: garbage collection is under way.
const COLLECTED: u64 = 1000;
/// From the last write to the first read that counts: programs that were under way have ended.
const DRAIN: Duration = Duration::from_ms(10);
const COUNTED: Duration = Duration::from_ms(900);
/// How far reads in the window may be from reads of an idle set.
const UNDISTURBED: f64 = 0.02;

/// What goes before the reads: whether there are writes, and whether a window begins.
const BEFORE: [(&str, bool, bool); 3] = [
    ("nothing", false, false),
    ("writes", true, false),
    ("writes, then a window", true, true),
];

struct WindowRow {
    before: &'static str,
    latency: LatencySummary,
    reads: u64,
    /// Pages that garbage collection moved while the reads were counted.
    moved: u64,
}

/// Reads from an idle set, after random writes, and after random writes in a deterministic window.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let mut profile = run.profile.clone();
    profile.sets.layout = SetLayout::Vertical;
    profile.sets.count = SETS;
    // A set that fills all of a shared buffer has four times as much to write when the host has stopped.
    profile.sets.write_buffer = BufferScope::Local;
    profile.geometry.blocks_per_plane = profile.geometry.blocks_per_plane.min(BLOCKS);
    profile.controller.capacity = ByteSize(0);
    // With pacing hardly anything would be left to collect once the host no longer writes.
    profile.gc.pacing = PacingPolicy::named("off");
    let rows = cells.each(BEFORE, move |before| reads(&profile, *before));
    rows.then(|rows| {
        let sheet = Sheet::of("reads", &rows)
            .cell("before", "before the reads", |row| row.before)
            .count("reads", "reads", |row| row.reads)
            .number("mean_us", "mean us", 1, |row| row.latency.mean_us)
            .number("p99_us", "p99 us", 1, |row| row.latency.p99_us)
            .number("p99_9_us", "p99.9 us", 1, |row| row.latency.p99_9_us)
            .number("max_us", "max us", 1, |row| row.latency.max_us)
            .count("gc_pages", "pages collected meanwhile", |row| row.moved);
        let about = format!(
            "4 KiB random reads at queue depth 8 on one of four vertical sets, full and in steady state, for {} ms: at rest, after random \
             writes that made it collect garbage, and after the same writes in a deterministic window.",
            COUNTED.as_us() / 1000
        );
        let outcome = run
            .report(about)
            .published(format!("{PAPER}: background work such as garbage collection is done in the non-deterministic window"))
            .assumed(format!("{BLOCKS} blocks a plane; page size, planes and the times of eMLC (see the profile)"))
            .assumed(format!("reads begin {} ms after the last write; each set has its share of the write buffer; collection runs unpaced", DRAIN.as_us() / 1000))
            .sheet(sheet)
            .figure(chart(&rows), "In the deterministic window reads are as fast as at rest.")
            .claims(claims(&rows)?);
        Some(outcome)
    })
}

fn chart(rows: &[WindowRow]) -> DotPlot {
    let group = |row: &WindowRow| {
        let values = [row.latency.mean_us, row.latency.p99_us];
        (row.before.to_owned(), values)
    };
    let title = "Reads, by what went before them";
    DotPlot::of(title, "latency, us", ["mean", "p99"], rows, group)
}

fn reads(
    profile: &Profile,
    (before, has_writes, has_window): (&'static str, bool, bool),
) -> Result<WindowRow> {
    let mut device = Device::new(profile)?;
    let page_bytes = profile.mapping_unit().0;
    let span_bytes = device.stats().capacity_pages / u64::from(SETS) * page_bytes;
    let nsid = device.create_namespace_in(SET, span_bytes)?;
    device.precondition(&Precondition::default())?;
    device.configure_windows(SET, true, PredictableLatencyConfig::default())?;
    // What earns a whole window.
    device.advance_to(device.now() + profile.predictable_latency.ndwin_time_high);
    if has_writes {
        write_until_collecting(&mut device, nsid, page_bytes)?;
    }
    if has_window {
        device.enter_window(SET, true)?;
    }
    Source::once(&mut device, Command::flush(nsid, 0))?;
    device.advance_to(device.now() + DRAIN);
    let moved = device.stats().gc_pages_moved;
    let reads = Access::RandomRead.requests(&device, nsid, 4096, 2);
    let reads = Source::new(8u64, reads);
    let tally = reads.measure(&mut device, WarmUp::NONE, Until::Time(COUNTED))?;
    Ok(WindowRow {
        before,
        latency: tally.summary()?,
        reads: tally.requests,
        moved: device.stats().gc_pages_moved - moved,
    })
}

/// Overwrites at random until garbage collection is under way.
fn write_until_collecting(
    device: &mut Device,
    nsid: NamespaceId,
    request_bytes: u64,
) -> Result<()> {
    let before = device.stats().gc_pages_moved;
    for seed in 0.. {
        let writes = Access::RandomWrite.requests(device, nsid, request_bytes, seed);
        Source::new(32u64, writes).measure(device, WarmUp::NONE, Until::Requests(1000))?;
        finish(device);
        if device.stats().gc_pages_moved >= before + COLLECTED {
            break;
        }
    }
    Ok(())
}

fn claims(rows: &[WindowRow]) -> Option<[Claim; 2]> {
    let [idle, writes, window] = rows else {
        return None;
    };
    let off = [
        window.latency.mean_us / idle.latency.mean_us,
        window.latency.p99_us / idle.latency.p99_us,
    ]
    .map(|ratio| (ratio - 1.0).abs())
    .into_iter()
    .fold(0.0, f64::max);
    Some([
        Claim::construction("latency-windows.collection", "the device does not begin to collect in a deterministic window")
            .statement("windows move garbage collection out of the deterministic window")
            .expected("none in the window")
            .measured(format!(
                "{} pages in the window, {} without",
                window.moved, writes.moved
            ))
            .when(Bound::Published, "none in the window, some without").holds(window.moved == 0 && writes.moved > 0),
        Claim::construction("latency-windows.undisturbed", "nothing else is done in the window once the drain before it is over; that reads are then as at rest is our expectation")
            .statement("reads in the deterministic window are as on a set at rest")
            .expected("as at rest")
            .measured(format!(
                "at most {:.1} % off; p99 {:.0} us, without a window {:.0} us",
                100.0 * off,
                window.latency.p99_us,
                writes.latency.p99_us
            ))
            .when(Bound::Own, format!("average and p99 within {:.0} %", 100.0 * UNDISTURBED)).holds(off <= UNDISTURBED),
    ])
}
