//! The cells as pictures.

use super::GROUPS;
use super::cell::{Cell, beside_default, by_request, direction, mean, of_scheme};
use crate::prelude::*;
use meldsim::profile::PageAllocation;

pub(super) fn figures(mut outcome: Outcome, cells: &[Cell]) -> Outcome {
    for writes in [false, true] {
        outcome = outcome
            .figure(
                throughput_map(cells, writes),
                "Channel-first spreads each request over all channels, which then serve few requests at a time.",
            )
            .figure(
                transactions_map(cells, writes),
                "Dies or planes first: small requests already use a package's dies and planes at once.",
            );
    }
    outcome.figure(
        latency_chart(cells),
        "Alone, a request is fastest when every channel carries a part of it.",
    )
}

/// IOPS of each scheme and size over those of CWDP.
fn throughput_map(cells: &[Cell], writes: bool) -> HeatMap {
    let base = PageAllocation::default();
    let rows = PageAllocation::ALL.map(|scheme| {
        let gains = beside_default(cells, scheme, writes);
        let gains = gains.map(|(cell, base)| Some(cell.iops / base.iops));
        (scheme.to_string(), gains.collect::<Vec<_>>())
    });
    let gains = rows.iter().flat_map(|(_, gains)| gains).flatten();
    let most = gains.copied().fold(0.0, f64::max);
    let sizes = of_scheme(cells, base, writes).into_iter();
    HeatMap {
        title: format!("IOPS over those of {base}, {}s", direction(writes)),
        x: "request".to_owned(),
        y: "scheme".to_owned(),
        columns: sizes.map(|cell| bytes(cell.request_bytes)).collect(),
        rows: rows.into(),
        scale: HeatScale::Sequential(most),
    }
}

/// By which transactions the pages of each scheme were moved.
fn transactions_map(cells: &[Cell], writes: bool) -> HeatMap {
    let rows = PageAllocation::ALL.map(|scheme| {
        let of = of_scheme(cells, scheme, writes);
        let share = |kind: usize| {
            let sum: f64 = of.iter().map(|cell| cell.pages[kind]).sum();
            Some(100.0 * sum / of.len() as f64)
        };
        (scheme.to_string(), (0..4).map(share).collect())
    });
    let columns = ["none", "plane sharing", "die interl.", "plane and die"];
    HeatMap {
        title: format!("Pages by transaction, {}s, %", direction(writes)),
        x: "parallelism within a package".to_owned(),
        y: "scheme".to_owned(),
        columns: columns.map(str::to_owned).into(),
        rows: rows.into(),
        scale: HeatScale::Sequential(100.0),
    }
}

fn latency_chart(cells: &[Cell]) -> LineChart {
    let reads = by_request(cells).filter(|request| !request[0].writes);
    let reads: Vec<(u64, &[Cell])> = reads
        .map(|request| (request[0].request_bytes, request))
        .collect();
    let lines = GROUPS.map(|(group, name)| {
        let unloaded_us = |request| mean(request, group, |cell| cell.unloaded_us);
        Line::over(name, &reads, |(size, request)| {
            (*size as f64, unloaded_us(request))
        })
    });
    LineChart {
        title: "Latency of a read alone on the device".to_owned(),
        x: size_axis("request", reads.iter().map(|(size, _)| *size)),
        y: Axis::log("us"),
        lines: lines.into(),
    }
}
