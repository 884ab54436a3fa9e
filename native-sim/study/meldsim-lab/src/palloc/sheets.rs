//! The cells as sheets: by group, by scheme, by variant of the device, and all of them.

use super::GROUPS;
use super::cell::{Cell, average, beside_default, by_request, direction, mean, of_scheme};
use super::claims::{against_channel_first, fewest};
use crate::prelude::*;
use meldsim::profile::{Dimension, PageAllocation};

/// A share of a cell as a column in percent: its key, its heading, and the share.
type Share = (&'static str, &'static str, fn(&Cell) -> f64);

const CHANNELS_SHARE: Share = ("channel_busy_percent", "channels busy %", |cell| {
    cell.channel_busy
});
const IDLE_SHARE: Share = ("idle_percent", "dies idle %", |cell| cell.idle);
/// What was busy, and what moved the pages.
const SHARES: [Share; 6] = [
    CHANNELS_SHARE,
    IDLE_SHARE,
    ("none_percent", "none %", |cell| cell.pages[0]),
    ("plane_sharing_percent", "plane sharing %", |cell| {
        cell.pages[1]
    }),
    ("die_interleaving_percent", "die interleaving %", |cell| {
        cell.pages[2]
    }),
    (
        "multi_plane_interleaved_percent",
        "multi-plane interleaved %",
        |cell| cell.pages[3],
    ),
];

/// Adds shares, each as the mean of a row's cells.
fn shares<'b, R>(
    columns: Columns<'b, R>,
    shares: &[Share],
    mean: impl Fn(&R, fn(&Cell) -> f64) -> f64,
) -> Columns<'b, R> {
    shares
        .iter()
        .fold(columns, |columns, (key, heading, share)| {
            columns.number(key, heading, 1, |row| 100.0 * mean(row, *share))
        })
}

/// The means of the six schemes of each group.
pub(super) fn groups(cells: &[Cell]) -> Sheet {
    let rows: Vec<(&[Cell], Dimension, &str)> = by_request(cells)
        .flat_map(|request| GROUPS.map(|(group, name)| (request, group, name)))
        .collect();
    type Row<'a> = (&'a [Cell], Dimension, &'a str);
    fn of(value: fn(&Cell) -> f64) -> impl Fn(&Row<'_>) -> f64 {
        move |(request, group, _)| mean(request, *group, value)
    }
    let columns = Sheet::of("groups", &rows)
        .cell("op", "op", |(request, ..)| request[0].direction())
        .bytes("request_bytes", "request", |(request, ..)| {
            request[0].request_bytes
        })
        .cell("first", "schemes", |(_, _, name)| *name)
        .number("iops", "IOPS", 0, of(|cell| cell.iops))
        .number("mean_us", "mean us", 0, of(|cell| cell.mean_us))
        .number("p99_us", "p99 us", 0, of(|cell| cell.p99_us))
        .number("unloaded_us", "alone us", 0, of(|cell| cell.unloaded_us));
    let advanced: Share = ("advanced_percent", "advanced %", Cell::advanced);
    let of_groups = [CHANNELS_SHARE, IDLE_SHARE, advanced];
    shares(columns, &of_groups, |(request, group, _), share| {
        mean(request, *group, share)
    })
    .into()
}

/// Each scheme over all sizes, of each direction and of both: the mean over what was run.
pub(super) fn schemes(cells: &[Cell]) -> Sheet {
    type Row = (Option<bool>, PageAllocation);
    let rows: Vec<Row> = [Some(false), Some(true), None]
        .into_iter()
        .flat_map(|writes| PageAllocation::ALL.map(|scheme| (writes, scheme)))
        .collect();
    let directions = |writes: Option<bool>| match writes {
        Some(writes) => vec![writes],
        None => vec![false, true],
    };
    let ratio = |value: fn(&Cell) -> f64| {
        move |&(writes, scheme): &Row| {
            let pairs = directions(writes)
                .into_iter()
                .flat_map(|writes| beside_default(cells, scheme, writes));
            let logs: Vec<f64> = pairs
                .map(|(cell, default)| libm::log(value(cell) / value(default)))
                .collect();
            libm::exp(logs.iter().sum::<f64>() / logs.len() as f64)
        }
    };
    let columns = Sheet::of("schemes", &rows)
        .cell("op", "op", |(writes, _)| writes.map_or("mean", direction))
        .cell("scheme", "scheme", |(_, scheme)| scheme.to_string())
        .number("iops_ratio", "IOPS / CWDP", 3, ratio(|cell| cell.iops))
        .number(
            "unloaded_ratio",
            "alone / CWDP",
            3,
            ratio(|cell| cell.unloaded_us),
        );
    shares(columns, &SHARES, |(writes, scheme), share| {
        let directions = directions(*writes).into_iter();
        average(
            directions.flat_map(|writes| of_scheme(cells, *scheme, writes)),
            share,
        )
    })
    .into()
}

/// Which findings hold on which variant of the device.
pub(super) fn variants(variants: &[(&str, Vec<Cell>)]) -> Sheet {
    let higher = |cells: &[Cell]| against_channel_first(cells, |cell| cell.iops, |r| r > 1.0);
    let longer =
        |cells: &[Cell]| against_channel_first(cells, |cell| cell.unloaded_us, |r| r > 1.0);
    let columns = Sheet::of("variants", variants)
        .cell("variant", "variant", |(name, _)| *name)
        .count("higher", "higher IOPS", |(_, cells)| {
            higher(cells).good as u64
        })
        .count("longer", "longer alone", |(_, cells)| {
            longer(cells).good as u64
        })
        .count("orderings", "of", |(_, cells)| higher(cells).all as u64)
        .cell("fewest", "fewest advanced", |(_, cells)| {
            if fewest(cells) { "yes" } else { "no" }
        });
    shares(columns, &SHARES[..2], |(_, cells), share| {
        average(cells, share)
    })
    .into()
}

/// Everything that was measured.
pub(super) fn all(cells: &[Cell]) -> Sheet {
    let rows: Vec<&Cell> = cells.iter().collect();
    let columns = Sheet::of("cells", &rows)
        .cell("op", "op", |cell| cell.direction())
        .bytes("request_bytes", "request", |cell| cell.request_bytes)
        .cell("scheme", "scheme", |cell| cell.scheme.to_string())
        .number("iops", "IOPS", 0, |cell| cell.iops)
        .number("mean_us", "mean us", 1, |cell| cell.mean_us)
        .number("p99_us", "p99 us", 1, |cell| cell.p99_us)
        .number("p99_9_us", "p99.9 us", 1, |cell| cell.p99_9_us)
        .number("unloaded_us", "alone us", 1, |cell| cell.unloaded_us)
        .detail();
    shares(columns, &SHARES, |cell, share| share(cell)).into()
}
