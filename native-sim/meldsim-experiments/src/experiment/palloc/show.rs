//! The cells as sheets and pictures.

use super::super::melded::size_axis;
use super::super::outcome::{Chart, Figure};
use super::super::sheet::{Cell as Value, Column, Sheet};
use super::cell::Cell;
use super::claims::{GROUPS, by_request, mean};
use crate::report::bytes;
use crate::report::chart::{Axis, HeatMap, HeatScale, Line, LineChart};
use meldsim::profile::PageAllocation;

fn direction(writes: bool) -> &'static str {
    if writes { "write" } else { "read" }
}

fn percent(share: f64) -> Value {
    Value::Number(100.0 * share, 1)
}

pub(super) fn sheets(cells: &[Cell]) -> Vec<Sheet> {
    vec![groups(cells), schemes(cells), all(cells)]
}

/// The columns that say what was busy, and what moved the pages.
const SHARES: &[Column] = &[
    ("channel_busy_percent", "channels busy %"),
    ("idle_percent", "dies idle %"),
    ("none_percent", "none %"),
    ("plane_sharing_percent", "plane sharing %"),
    ("die_interleaving_percent", "die interleaving %"),
    ("both_percent", "both %"),
];

/// Their cells, for the mean of what `cells` says.
fn shares<'a>(cells: impl Iterator<Item = &'a Cell> + Clone) -> impl Iterator<Item = Value> {
    let count = cells.clone().count() as f64;
    let mean = |share: &dyn Fn(&Cell) -> f64| cells.clone().map(share).sum::<f64>() / count;
    let [busy, idle] = [mean(&|cell| cell.channel_busy), mean(&|cell| cell.idle)];
    let pages: [f64; 4] = std::array::from_fn(|kind| mean(&|cell| cell.pages[kind]));
    [busy, idle].into_iter().chain(pages).map(percent)
}

/// The means of the six schemes of each group.
fn groups(cells: &[Cell]) -> Sheet {
    let mut sheet = Sheet::new(
        "groups",
        &[
            ("op", "op"),
            ("request_bytes", "request"),
            ("first", "schemes"),
            ("iops", "IOPS"),
            ("mean_us", "mean us"),
            ("p99_us", "p99 us"),
            ("unloaded_us", "alone us"),
            ("channel_busy_percent", "channels busy %"),
            ("idle_percent", "dies idle %"),
            ("advanced_percent", "advanced %"),
        ],
    );
    for request in by_request(cells) {
        for (group, name) in GROUPS {
            let of = |value: fn(&Cell) -> f64| mean(request, group, value);
            sheet.row([
                Value::text(direction(request[0].writes)),
                Value::Bytes(request[0].request_bytes),
                Value::text(name),
                Value::Number(of(|cell| cell.iops), 0),
                Value::Number(of(|cell| cell.mean_us), 0),
                Value::Number(of(|cell| cell.p99_us), 0),
                Value::Number(of(|cell| cell.unloaded_us), 0),
                percent(of(|cell| cell.channel_busy)),
                percent(of(|cell| cell.idle)),
                percent(of(Cell::advanced)),
            ]);
        }
    }
    sheet
}

/// Each scheme over all sizes.
fn schemes(cells: &[Cell]) -> Sheet {
    let mut sheet = Sheet::new(
        "schemes",
        &[
            ("op", "op"),
            ("scheme", "scheme"),
            ("iops_ratio", "IOPS / CWDP"),
            ("unloaded_ratio", "alone / CWDP"),
        ],
    )
    .with(SHARES);
    for writes in [false, true] {
        for scheme in PageAllocation::ALL {
            let of_scheme = |scheme| {
                cells
                    .iter()
                    .filter(move |cell| cell.writes == writes && cell.scheme == scheme)
            };
            let count = of_scheme(scheme).count() as f64;
            let ratio = |value: fn(&Cell) -> f64| {
                let pairs = of_scheme(scheme).zip(of_scheme(PageAllocation::default()));
                let logs = pairs.map(|(cell, base)| (value(cell) / value(base)).ln());
                (logs.sum::<f64>() / count).exp()
            };
            let row = [
                Value::text(direction(writes)),
                Value::text(scheme.to_string()),
                Value::Number(ratio(|cell| cell.iops), 3),
                Value::Number(ratio(|cell| cell.unloaded_us), 3),
            ];
            sheet.row(row.into_iter().chain(shares(of_scheme(scheme))));
        }
    }
    sheet
}

/// Everything that was measured.
fn all(cells: &[Cell]) -> Sheet {
    let mut sheet = Sheet::detail(
        "cells",
        &[
            ("op", "op"),
            ("request_bytes", "request"),
            ("scheme", "scheme"),
            ("iops", "IOPS"),
            ("mean_us", "mean us"),
            ("p99_us", "p99 us"),
            ("p99_9_us", "p99.9 us"),
            ("unloaded_us", "alone us"),
        ],
    )
    .with(SHARES);
    for cell in cells {
        let row = [
            Value::text(direction(cell.writes)),
            Value::Bytes(cell.request_bytes),
            Value::text(cell.scheme.to_string()),
            Value::Number(cell.iops, 0),
            Value::Number(cell.mean_us, 1),
            Value::Number(cell.p99_us, 1),
            Value::Number(cell.p99_9_us, 1),
            Value::Number(cell.unloaded_us, 1),
        ];
        sheet.row(row.into_iter().chain(shares(std::iter::once(cell))));
    }
    sheet
}

pub(super) fn figures(cells: &[Cell]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for writes in [false, true] {
        figures.push(throughput(cells, writes));
        figures.push(breakdown(cells, writes));
    }
    figures.push(latency(cells));
    figures
}

/// IOPS of each scheme and size over those of CWDP.
fn throughput(cells: &[Cell], writes: bool) -> Figure {
    let of = |scheme| {
        cells
            .iter()
            .filter(move |cell| cell.writes == writes && cell.scheme == scheme)
    };
    let base = PageAllocation::default();
    let rows = PageAllocation::ALL.map(|scheme| {
        let gains = of(scheme)
            .zip(of(base))
            .map(|(cell, base)| Some(cell.iops / base.iops));
        (scheme.to_string(), gains.collect())
    });
    let most = of_all(&rows);
    Figure {
        chart: Chart::Heat(HeatMap {
            title: format!("IOPS over those of {base}, {}s", direction(writes)),
            x: "request".to_owned(),
            y: "scheme".to_owned(),
            columns: of(base).map(|cell| bytes(cell.request_bytes)).collect(),
            rows: rows.into(),
            scale: HeatScale::Sequential(most),
        }),
        caption: "Channel-first spreads each request over all channels, which then serve few requests at a time.".to_owned(),
    }
}

fn of_all(rows: &[(String, Vec<Option<f64>>)]) -> f64 {
    let values = rows.iter().flat_map(|(_, values)| values).flatten();
    values.copied().fold(0.0, f64::max)
}

/// By which transactions the pages of each scheme were moved.
fn breakdown(cells: &[Cell], writes: bool) -> Figure {
    let rows = PageAllocation::ALL.map(|scheme| {
        let of = || {
            cells
                .iter()
                .filter(|cell| cell.writes == writes && cell.scheme == scheme)
        };
        let share = |kind: usize| {
            let sum: f64 = of().map(|cell| cell.pages[kind]).sum();
            Some(100.0 * sum / of().count() as f64)
        };
        (scheme.to_string(), (0..4).map(share).collect())
    });
    let columns = ["none", "plane sharing", "die interl.", "both"];
    Figure {
        chart: Chart::Heat(HeatMap {
            title: format!("Pages by transaction, {}s, %", direction(writes)),
            x: "parallelism within a package".to_owned(),
            y: "scheme".to_owned(),
            columns: columns.map(str::to_owned).into(),
            rows: rows.into(),
            scale: HeatScale::Sequential(100.0),
        }),
        caption:
            "Dies or planes first: small requests already use a package's dies and planes at once."
                .to_owned(),
    }
}

fn latency(cells: &[Cell]) -> Figure {
    let reads: Vec<&[Cell]> = by_request(cells)
        .filter(|request| !request[0].writes)
        .collect();
    let lines = GROUPS.map(|(group, name)| {
        let points = reads.iter().map(|request| {
            (
                request[0].request_bytes as f64,
                mean(request, group, |cell| cell.unloaded_us),
            )
        });
        Line::new(name, points.collect())
    });
    Figure {
        chart: Chart::Line(LineChart {
            title: "Latency of a read alone on the device".to_owned(),
            x: size_axis(
                "request",
                reads.iter().map(|request| request[0].request_bytes),
            ),
            y: Axis::log("us"),
            lines: lines.into(),
        }),
        caption: "Alone, a request is fastest when every channel carries a part of it.".to_owned(),
    }
}
