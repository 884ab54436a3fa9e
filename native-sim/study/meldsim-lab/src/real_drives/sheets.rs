//! The sheets and claims: cells by drive and kind, kinds with their bars, every cell, what was fitted, what is left out.

use super::Judged;
use crate::prelude::*;
use meldsim_measured::LeftOut;
use meldsim_measured::{Bar, Cell, Line, lines};

// Kinds of measurements, by their files.
const READS: &str = "read_latency_by_depth";
const WRITES: &str = "write_latency_by_depth";
const RATES: &str = "latency_by_offered_rate";
const STEADY: &str = "steady_random_writes";
const PASSES: &str = "waf_permutation_profile";
const MIXED: &str = "mixed_read_write";
const ZONES: &str = "zns_mgmt_latency";
/// Drives of one source.
const SEVEN: &str = "7450PRO 7450MAX P5520 PE8110 PM9A3 CM7R WD960";

/// Which cells the profiles were fitted to: drives, kind, which.
const FITTED: [(&str, &str, &str); 14] = [
    (
        "980PRO",
        READS,
        "IOPS and percentiles, depths 1 to 64: dies, read times, transfer",
    ),
    (
        "ZN540",
        READS,
        "IOPS and percentiles of 4 KiB over 400 zones: dies, read times, transfer; the ceilings of 4, 8 and 16 KiB: the link and the fetch of commands",
    ),
    (
        "ZN540",
        WRITES,
        "4 KiB and 128 KiB with one zone: latency of the controller, link, program time",
    ),
    (
        "ZN540",
        MIXED,
        "read depth 1: the phases of a program; depths 16 and 128: one read at the end of each",
    ),
    (
        "ZN540",
        WRITES,
        "appends and writes of 8 KiB, depth 1: what an append takes longer",
    ),
    (
        "ZN540",
        ZONES,
        "close, a write to a closed zone, resets after a finish of nothing and of all but a block: what the controller takes",
    ),
    (
        SEVEN,
        RATES,
        "read p10, p50, p90, p99 and write p50 up to 30,000 a second: read times, suspension, latency of the controller, pacing; the saturated rate: what a read costs the writes",
    ),
    (
        SEVEN,
        STEADY,
        "uniform: raw capacity; the plateau of init_series is the same measurement",
    ),
    ("7450PRO 7450MAX", "waf_by_fill", "all: raw capacity"),
    (
        "7450PRO 7450MAX",
        "zone_overwrite",
        "zones of 1 GiB: the superblock",
    ),
    (
        "CM7R",
        RATES,
        "write p99 when saturated: the size of a burst of collection",
    ),
    (
        "PM9A3 WD960",
        "init_series, zone_overwrite",
        "the rate before collection begins: program time",
    ),
    (
        "7450PRO 7450MAX P5520 PE8110 CM7R",
        "sequential_write",
        "all: program time",
    ),
    ("PM9D3A FADU", PASSES, "the mean of a pass: raw capacity"),
];

/// Beyond this many rows people see no more of what is left out.
const ROWS_FOR_PEOPLE: usize = 40;

pub(super) fn sheets(
    outcome: Outcome,
    judged: &Judged,
    left_out: &[LeftOut],
    are_own: bool,
) -> Outcome {
    let cells = judged.own.as_slice();
    let by_drive = lines(cells, true);
    let by_kind = lines(cells, false);
    let mut left_out_lines = lines(&judged.left_out, true);
    left_out_lines.extend(lines(&judged.left_out, false));
    let left_out_lines = left_out_lines.as_slice();
    let (given, judged): (Vec<Line>, Vec<Line>) =
        by_kind.into_iter().partition(|line| line.class.is_given);
    let fitted: &[_] = if are_own { &FITTED } else { &[] };
    let left_out_sheet = Sheet::of("left_out", left_out)
        .cell("file", "left out: file", |row| row.file.clone())
        .count("row", "row", |row| row.row)
        .cell("drive", "drive", |row| row.drive.clone())
        .cell("column", "column", |row| row.column.clone())
        .cell("reason", "reason", |row| row.reason);
    let left_out_sheet = match left_out.len() > ROWS_FOR_PEOPLE {
        true => left_out_sheet.detail(),
        false => left_out_sheet,
    };
    let claims = judged.iter().filter_map(|line| claim(line, left_out_lines));
    let claims: Vec<Claim> = claims.collect();
    outcome
        .sheet(line_sheet("by_drive", "drive", (&by_drive, left_out_lines)))
        .sheet(line_sheet(
            "by_kind",
            "all drives",
            (&judged, left_out_lines),
        ))
        .sheet(line_sheet(
            "met_by_any_model",
            "any model meets",
            (&given, left_out_lines),
        ))
        .sheet(cells_sheet(cells))
        .sheet(
            Sheet::of("fitted", fitted)
                .cell("drives", "fitted: drives", |row| row.0)
                .cell("kind", "kind", |row| row.1)
                .cell("cells", "cells", |row| row.2),
        )
        .sheet(left_out_sheet)
        .claims(claims)
}

/// The line with the drives left out, where that changes what is simulated.
fn left_out_of<'a>(line: &Line, left_out: &'a [Line]) -> Option<&'a Line> {
    left_out
        .iter()
        .find(|other| (other.class, other.drive) == (line.class, line.drive))
}

fn line_sheet(
    name: &'static str,
    heading: &'static str,
    (lines, left_out): (&[Line], &[Line]),
) -> Sheet {
    let unit = |line: &Line| match line.class.bar {
        Bar::Absolute(_) => 1.0,
        _ => 100.0,
    };
    Sheet::of(name, lines)
        .cell("drive", heading, |line| line.drive.unwrap_or(""))
        .cell("kind", "kind", |line| line.class.kind)
        .cell("cells_of", "of", |line| line.class.what)
        .count("cells", "cells", |line| line.cells as u64)
        .count("fitted", "fitted", |line| line.fitted as u64)
        .count("curves", "curves", |line| line.curves as u64)
        .number("median_error", "median error, %", 1, |line| {
            line.median * unit(line)
        })
        .number("p90_error", "90th percentile, %", 1, |line| {
            line.most * unit(line)
        })
        .number("left_out_p90_error", "left out, %", 1, |line| {
            left_out_of(line, left_out).map(|other| other.most * unit(other))
        })
        .cell("bar", "bar", |line| bar(line.class.bar))
        .cell("holds", "", |line| match line.holds() {
            Some(true) => "holds",
            Some(false) => "MISSED",
            None => "",
        })
        .into()
}

fn bar(bar: Bar) -> String {
    match bar {
        Bar::Within(share) => format!("{:.0} %", 100.0 * share),
        Bar::MedianAndMost(median, most) => {
            format!("median {:.0} %, {:.0} %", 100.0 * median, 100.0 * most)
        }
        Bar::Factor(factor) => format!("factor {factor}"),
        Bar::Absolute(value) => format!("+-{value}"),
        Bar::Reported => String::new(),
    }
}

fn cells_sheet(cells: &[Cell]) -> Sheet {
    Sheet::of("cells", cells)
        .cell("file", "file", |cell| cell.question.file.clone())
        .count("row", "row", |cell| cell.question.row)
        .cell("drive", "drive", |cell| cell.question.drive)
        .cell("cells_of", "of", |cell| cell.question.class.what)
        .cell("curve", "curve", |cell| cell.question.curve.clone())
        .cell("at", "at", |cell| cell.question.at.clone())
        .cell("column", "column", |cell| cell.question.column.clone())
        .number("measured", "measured", 2, |cell| cell.question.measured)
        .number("simulated", "simulated", 1, |cell| cell.simulated)
        .number("error", "error", 4, |cell| cell.error)
        .cell("bar", "bar", |cell| bar(cell.question.class.bar))
        .cell("basis", "basis", |cell| match cell.question.is_fitted {
            true => "fitted",
            false => "predicted",
        })
        .cell("any_model", "any model", |cell| {
            if cell.question.class.is_given {
                "yes"
            } else {
                "no"
            }
        })
        .detail()
        .into()
}

/// The summary of a kind as a claim. Ids are fixed, so that one that is known to be missed can be named.
fn claim(line: &Line, left_out: &[Line]) -> Option<Claim> {
    let holds = line.holds()?;
    let class = &line.class;
    let id = ID
        .iter()
        .find(|(kind, what, _)| (*kind, *what) == (class.kind, class.what))?;
    let percent = !matches!(class.bar, Bar::Absolute(_));
    let show = |value: f64| match (value.is_finite(), percent) {
        (false, _) => "none".to_owned(),
        (_, true) => format!("{:.1} %", 100.0 * value),
        (_, false) => format!("{value:.2}"),
    };
    let with_others = match left_out_of(line, left_out) {
        Some(other) => format!("; {} with each drive left out", show(other.most)),
        None => String::new(),
    };
    let claim = match line.fitted {
        0 => Claim::predicted(id.2, "none of its cells was used"),
        _ => Claim::fitted(
            id.2,
            "the profiles' times and spare flash, to those of its cells that sheet fitted lists",
        ),
    };
    let claim = claim
        .statement(format!(
            "{}, {}: {} cells of {} curves, {} of them fitted",
            class.kind, class.what, line.cells, line.curves, line.fitted
        ))
        .expected("the measured values")
        .measured(format!(
            "off by {} in the median, {} in the 90th percentile{with_others}",
            show(line.median),
            show(line.most)
        ))
        .when(
            Bound::Own,
            format!("nine votes of ten are within the bar: {}", bar(class.bar)),
        )
        .holds(holds);
    Some(claim)
}

const ID: [(&str, &str, &str); 27] = [
    (READS, "IOPS and p50", "real-drives.reads"),
    (READS, "p99", "real-drives.reads-p99"),
    (READS, "beyond p99", "real-drives.reads-beyond"),
    (WRITES, "mean", "real-drives.writes"),
    (RATES, "knee, in steps", "real-drives.rate-knee"),
    (RATES, "saturated rate", "real-drives.rate-saturated"),
    (
        RATES,
        "writes when saturated",
        "real-drives.rate-saturated-latency",
    ),
    (RATES, "read p50", "real-drives.rate-read-p50"),
    (RATES, "read p99", "real-drives.rate-read-p99"),
    (
        RATES,
        "other means and percentiles",
        "real-drives.rate-other",
    ),
    (STEADY, "uniform", "real-drives.steady-uniform"),
    (STEADY, "skewed, 7450s", "real-drives.steady-skewed-7450"),
    (STEADY, "skewed, others", "real-drives.steady-skewed"),
    ("waf_by_fill", "write amplification", "real-drives.fill-waf"),
    ("waf_by_fill", "IOPS", "real-drives.fill-iops"),
    (
        "init_series",
        "onset of collection",
        "real-drives.init-onset",
    ),
    ("init_series", "plateau", "real-drives.init-plateau"),
    ("init_series", "between", "real-drives.init-between"),
    ("zone_overwrite", "7450s", "real-drives.zones-7450"),
    (
        PASSES,
        "onset, in drive writes",
        "real-drives.permutation-onset",
    ),
    (PASSES, "mean of a pass", "real-drives.permutation-mean"),
    (MIXED, "read mean", "real-drives.mixed-mean"),
    (MIXED, "read p99", "real-drives.mixed-p99"),
    (
        MIXED,
        "deep queues, read mean and p99",
        "real-drives.mixed-deep",
    ),
    ("sequential_write", "rate", "real-drives.sequential-writes"),
    (ZONES, "mean", "real-drives.zone-commands"),
    ("zns_interference", "mean", "real-drives.zone-interference"),
];
