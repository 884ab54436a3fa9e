//! `latency-windows`: what a deterministic window of an NVM set does for a reader.
//!
//! ```text
//!   at rest      |................ reads .................|
//!   no window    |== random writes ==|... reads beside garbage collection ...|
//!   window       |== random writes ==|D ........ reads, nothing is collected |
//! ```

use super::burst::ExperimentError;
use super::claim::{Basis, Claim};
use super::outcome::{Grounds, Outcome};
use super::sheet::{Cell, Sheet};
use crate::load::{Access, Loop, Until, WarmUp, finish};
use crate::report::LatencySummary;
use meldsim::Duration;
use meldsim::device::{Device, Precondition};
use meldsim::nvme::wire::sets::PredictableLatencyConfig;
use meldsim::nvme::{Command, NamespaceId};
use meldsim::profile::{Profile, SetLayout};

const SECTION: u32 = 3;
const SOURCE: &str = "Seagate and Facebook on I/O determinism (Flash Memory Summit 2017)";
/// The sets, vertical; reader and writer are on the first.
const SETS: u32 = 4;
const SET: u32 = 0;
/// Blocks of a plane at most: a window's worth of writes is a good part of the spare ones.
const BLOCKS: u32 = 64;
/// Pages collected before the reads begin: garbage collection is under way.
const COLLECTED: u64 = 1000;
/// From the last write to the first read that counts: programs that were under way have ended.
const SETTLE: Duration = Duration::from_ms(10);
const COUNTED: Duration = Duration::from_ms(900);
/// How far reads in the window may be from reads at rest.
const UNDISTURBED: f64 = 0.02;

/// What goes before the reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Rest,
    Writes,
    WritesAndWindow,
}

struct Row {
    before: Before,
    latency: LatencySummary,
    reads: u64,
    /// Pages that garbage collection moved while the reads were counted.
    moved: u64,
}

/// Reads from a set at rest, after random writes, and after random writes in a deterministic window.
pub(super) fn latency_windows(
    base: &Profile,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let mut profile = base.clone();
    profile.sets.layout = SetLayout::Vertical;
    profile.sets.count = SETS;
    profile.geometry.blocks_per_plane = profile.geometry.blocks_per_plane.min(BLOCKS);
    let mut rows = Vec::new();
    for before in [Before::Rest, Before::Writes, Before::WritesAndWindow] {
        rows.push(reads(&profile, before)?);
        progress(rows.len() as f64 / 3.0);
    }
    Ok(Outcome {
        experiment: "latency-windows",
        profile: base.name.clone(),
        about: format!(
            "4 KiB random reads at queue depth 8 on one of four vertical sets, full and in steady state, for {} ms: at rest, after random \
             writes that made it collect garbage, and after the same writes in a deterministic window.",
            COUNTED.as_us() / 1000
        ),
        grounds: Grounds {
            published: vec![format!(
                "{SOURCE}: windows of predictable latency mode move garbage collection out of the deterministic window"
            )],
            fitted: Vec::new(),
            assumed: vec![
                format!(
                    "{BLOCKS} blocks a plane; page size, planes and the times of eMLC (see the profile)"
                ),
                format!(
                    "the reads begin {} ms after the last write",
                    SETTLE.as_us() / 1000
                ),
            ],
        },
        sheets: vec![sheet(&rows)],
        figures: Vec::new(),
        claims: claims(&rows),
    })
}

fn reads(profile: &Profile, before: Before) -> Result<Row, ExperimentError> {
    let mut device = Device::new(profile)?;
    let page_bytes = profile.geometry.page_size.0;
    let span_bytes = device.stats().capacity_pages / u64::from(SETS) * page_bytes;
    let nsid = device.create_namespace_in(SET, span_bytes)?;
    device.precondition(&Precondition::default())?;
    device.configure_windows(SET, true, PredictableLatencyConfig::default())?;
    // What earns a whole window.
    device.advance_to(device.now() + profile.predictable_latency.ndwin_time_high);
    if before != Before::Rest {
        write_until_collecting(&mut device, nsid, page_bytes)?;
    }
    if before == Before::WritesAndWindow {
        device.enter_window(SET, true)?;
    }
    Loop::once(Command::flush(nsid, 0)).complete(&mut device)?;
    device.advance_to(device.now() + SETTLE);
    let moved = device.stats().gc_pages_moved;
    let reads = Loop::new(8u64, Access::RandomRead.requests(&device, nsid, 4096, 2));
    let tally = reads.measure(&mut device, WarmUp::NONE, Until::Time(COUNTED))?;
    Ok(Row {
        before,
        latency: tally
            .latency
            .summary()
            .ok_or(ExperimentError::Incomplete(None))?,
        reads: tally.requests,
        moved: device.stats().gc_pages_moved - moved,
    })
}

/// Overwrites at random until garbage collection is under way.
fn write_until_collecting(
    device: &mut Device,
    nsid: NamespaceId,
    request_bytes: u64,
) -> Result<(), ExperimentError> {
    let before = device.stats().gc_pages_moved;
    for seed in 0.. {
        let writes = Access::RandomWrite.requests(device, nsid, request_bytes, seed);
        Loop::new(32u64, writes).measure(device, WarmUp::NONE, Until::Requests(1000))?;
        finish(device);
        if device.stats().gc_pages_moved >= before + COLLECTED {
            break;
        }
    }
    Ok(())
}

fn sheet(rows: &[Row]) -> Sheet {
    let mut sheet = Sheet::new(
        "reads",
        &[
            ("before", "before the reads"),
            ("reads", "reads"),
            ("mean_us", "mean us"),
            ("p99_us", "p99 us"),
            ("p99_9_us", "p99.9 us"),
            ("max_us", "max us"),
            ("gc_pages", "pages collected meanwhile"),
        ],
    );
    for row in rows {
        sheet.row([
            Cell::text(match row.before {
                Before::Rest => "nothing",
                Before::Writes => "writes",
                Before::WritesAndWindow => "writes, then a window",
            }),
            Cell::Count(row.reads),
            Cell::Number(row.latency.mean_us, 1),
            Cell::Number(row.latency.p99_us, 1),
            Cell::Number(row.latency.p99_9_us, 1),
            Cell::Number(row.latency.max_us, 1),
            Cell::Count(row.moved),
        ]);
    }
    sheet
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let of = |before| rows.iter().find(|row| row.before == before);
    let (Some(rest), Some(writes), Some(window)) = (
        of(Before::Rest),
        of(Before::Writes),
        of(Before::WritesAndWindow),
    ) else {
        return Vec::new();
    };
    let off = [
        window.latency.mean_us / rest.latency.mean_us,
        window.latency.p99_us / rest.latency.p99_us,
    ]
    .map(|ratio| (ratio - 1.0).abs())
    .into_iter()
    .fold(0.0, f64::max);
    vec![
        Claim::new(
            SECTION,
            Basis::Published,
            "latency-windows.collection",
            (
                "windows move garbage collection out of the deterministic window",
                "none in the window",
            ),
            format!(
                "{} pages in the window, {} without",
                window.moved, writes.moved
            ),
            "none in the window, some without".to_owned(),
            window.moved == 0 && writes.moved > 0,
        ),
        Claim::new(
            SECTION,
            Basis::Assumption,
            "latency-windows.undisturbed",
            (
                "reads in the deterministic window are as on a set at rest",
                "as at rest",
            ),
            format!(
                "at most {:.1} % off; p99 {:.0} us, without a window {:.0} us",
                100.0 * off,
                window.latency.p99_us,
                writes.latency.p99_us
            ),
            format!("average and p99 within {:.0} %", 100.0 * UNDISTURBED),
            off <= UNDISTURBED,
        ),
    ]
}
