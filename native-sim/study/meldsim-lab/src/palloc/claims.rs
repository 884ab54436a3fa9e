//! The findings that the cells bear out or not.

use super::cell::{Cell, Plane, average, by_request, mean};
use super::{DEPTH, GROUPS};
use crate::prelude::*;
use meldsim::profile::{Dimension, PageAllocation};

/// Channels busy and time idle, published, and how far off "about" reaches.
const CHANNELS_BUSY: f64 = 0.43;
const IDLE: f64 = 0.80;
const ABOUT: f64 = 0.10;

/// What four findings rest on.
const BY_RULE: &str = "commands.issue, chosen of three rules so that the findings on throughput, commands and use hold";
const OUT_OF_ORDER: Change = Change::set("palloc-mlc-8x8x2", &["commands.issue=out-of-order"]);
/// The other rules of issue.
pub(crate) const RULES: [Change; 2] = [
    OUT_OF_ORDER,
    Change::set("palloc-mlc-8x8x2", &["commands.issue=in-order"]),
];
/// One channel, so that no order has more of them at work.
const ONE_CHANNEL: Change = Change::set("palloc-mlc-8x8x2", &["geometry.channels=1"]);

/// Whether channel-first composes no more advanced commands than any other group, for each size and direction.
pub(super) fn fewest(cells: &[Cell]) -> bool {
    by_request(cells).all(|request| {
        let of = |group| mean(request, group, Cell::advanced);
        let others = &GROUPS[1..];
        others
            .iter()
            .all(|(group, _)| of(Dimension::Channel) <= of(*group))
    })
}

/// The least and the greatest ratio of each other group to channel-first, and how many ratios satisfy `good`.
pub(super) struct Against {
    texts: Vec<String>,
    pub(super) good: usize,
    pub(super) all: usize,
}

pub(super) fn against_channel_first(
    cells: &[Cell],
    value: impl Fn(&Cell) -> f64 + Copy,
    good: impl Fn(f64) -> bool,
) -> Against {
    let mut against = Against {
        texts: Vec::new(),
        good: 0,
        all: 0,
    };
    for (group, name) in &GROUPS[1..] {
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        for request in by_request(cells) {
            let ratio = mean(request, *group, value) / mean(request, Dimension::Channel, value);
            range = (range.0.min(ratio), range.1.max(ratio));
            against.all += 1;
            against.good += usize::from(good(ratio));
        }
        against
            .texts
            .push(format!("{name} x{:.3} to x{:.2}", range.0, range.1));
    }
    against
}

/// `orders`: the planes of consecutive pages under each scheme.
pub(super) fn claims(cells: &[Cell], orders: &[Vec<Plane>], planes: u64) -> [Claim; 6] {
    let sizes = || cells.iter().map(|cell| cell.request_bytes);
    let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
    let range = format!("{} to {} reads and writes", bytes(least), bytes(most));
    let bijections = bijections(orders, planes);
    let iops = against_channel_first(cells, |cell| cell.iops, |ratio| ratio > 1.0);
    let latency = against_channel_first(cells, |cell| cell.unloaded_us, |ratio| ratio > 1.0);
    let shares = GROUPS.map(|(group, name)| {
        let share = mean(cells, group, Cell::advanced);
        format!("{name} {:.0} %", 100.0 * share)
    });
    let busy = average(cells, |cell| cell.channel_busy);
    let idle = average(cells, |cell| cell.idle);
    let about = |published: f64| {
        format!(
            "it is within {:.0} points of {:.0} %",
            100.0 * ABOUT,
            100.0 * published
        )
    };
    [
        Claim::construction("palloc.bijections", "an order of four dimensions is a mixed radix")
            .statement("each of the 24 orders places consecutive pages on all planes, no two in the same way")
            .expected("24 bijections")
            .measured(format!("{bijections} different orders, each of {planes} planes"))
            .when(Bound::Published, "24 orders hit every plane once and differ").holds(bijections == PageAllocation::ALL.len()),
        Claim::fitted("palloc.throughput", BY_RULE)
            .statement(format!(
                "way-, die- and plane-first have higher IOPS than channel-first at queue depth {DEPTH}, {range}"
            ))
            .expected("higher")
            .measured(format!("{}; {} of {} higher", iops.texts.join(", "), iops.good, iops.all))
            .when(Bound::Published, "the mean of the six schemes is higher for every size and direction").holds(iops.good == iops.all)
            .fails_with(OUT_OF_ORDER),
        Claim::predicted("palloc.latency", "it holds under each rule of issue, and nothing was chosen for it")
            .statement(format!("channel-first has the shortest latency (of a request alone), {range}"))
            .expected("shortest")
            .measured(format!(
                "{}; {} of {} longer",
                latency.texts.join(", "),
                latency.good,
                latency.all
            ))
            .when(Bound::Published, "the mean of the six schemes is shortest for every size and direction").holds(latency.good == latency.all)
            .fails_with(ONE_CHANNEL),
        Claim::fitted("palloc.advanced-commands", BY_RULE)
            .statement("channel-first composes the fewest advanced commands")
            .expected("fewest")
            .measured(format!("{} of the pages", shares.join(", ")))
            .when(Bound::Published, "no group composes fewer for any size and direction").holds(fewest(cells))
            .fails_with(OUT_OF_ORDER),
        Claim::fitted("palloc.channels-busy", BY_RULE)
            .statement("channels are busy on average")
            .expected("about 43 %")
            .measured(format!("{:.1} %", 100.0 * busy))
            .when(Bound::Own, about(CHANNELS_BUSY)).holds((busy - CHANNELS_BUSY).abs() <= ABOUT)
            .fails_with(OUT_OF_ORDER),
        Claim::fitted("palloc.idle", BY_RULE)
            .statement("the flash is idle most of the time")
            .expected("about 80 %")
            .measured(format!("{:.1} % (dies)", 100.0 * idle))
            .when(Bound::Own, about(IDLE)).holds((idle - IDLE).abs() <= ABOUT)
            .fails_with(OUT_OF_ORDER),
    ]
}

/// How many of the orders hit every plane once and differ from those before.
fn bijections(orders: &[Vec<Plane>], planes: u64) -> usize {
    let mut seen: Vec<&Vec<Plane>> = Vec::new();
    for order in orders {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() as u64 == planes && !seen.contains(&order) {
            seen.push(order);
        }
    }
    seen.len()
}
