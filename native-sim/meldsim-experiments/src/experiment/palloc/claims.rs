//! The published findings, held against the cells.

use super::super::burst::ExperimentError;
use super::super::claim::{Basis, Claim};
use super::cell::Cell;
use super::{DEPTH, SECTION};
use crate::report::bytes;
use meldsim::device::{Device, Location};
use meldsim::nvme::Directive;
use meldsim::profile::{Dimension, PageAllocation, Profile};

/// Channels busy and time idle, published, and how far off "about" reaches.
const CHANNELS_BUSY: f64 = 0.43;
const IDLE: f64 = 0.80;
const ABOUT: f64 = 0.10;

/// The schemes by the dimension that varies fastest.
pub(super) const GROUPS: [(Dimension, &str); 4] = [
    (Dimension::Channel, "channel-first"),
    (Dimension::Way, "way-first"),
    (Dimension::Die, "die-first"),
    (Dimension::Plane, "plane-first"),
];

/// The mean of `value` over the schemes of a group.
pub(super) fn mean(cells: &[Cell], group: Dimension, value: impl Fn(&Cell) -> f64) -> f64 {
    let of_group = cells.iter().filter(|cell| cell.scheme.order()[0] == group);
    let (sum, count) = of_group.fold((0.0, 0u32), |(sum, count), cell| {
        (sum + value(cell), count + 1)
    });
    sum / f64::from(count)
}

/// The cells of each direction and size.
pub(super) fn by_request(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunk_by(|a, b| (a.writes, a.request_bytes) == (b.writes, b.request_bytes))
}

/// The least and the greatest ratio of each other group to channel-first, and how many ratios satisfy `good`.
struct Against {
    texts: Vec<String>,
    good: usize,
    all: usize,
}

fn against_channel_first(
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

pub(super) fn claims(profile: &Profile, cells: &[Cell]) -> Result<Vec<Claim>, ExperimentError> {
    let claim =
        |id, statement: String, published: &str, measured, criterion: String, holds| Claim {
            id,
            section: SECTION,
            basis: Basis::Published,
            statement,
            published: published.to_owned(),
            measured,
            criterion,
            holds,
            command: "meldsim experiment palloc".to_owned(),
        };
    let sizes = || cells.iter().map(|cell| cell.request_bytes);
    let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
    let range = format!("{} to {} reads and writes", bytes(least), bytes(most));

    let (units, orders) = bijections(profile)?;
    let iops = against_channel_first(cells, |cell| cell.iops, |ratio| ratio > 1.0);
    let latency = against_channel_first(cells, |cell| cell.unloaded_us, |ratio| ratio > 1.0);
    let groups = GROUPS.map(|(group, name)| (name, mean(cells, group, Cell::advanced)));
    let fewest = by_request(cells).all(|request| {
        let of = |group| mean(request, group, Cell::advanced);
        GROUPS[1..]
            .iter()
            .all(|(group, _)| of(Dimension::Channel) <= of(*group))
    });
    let shares = groups.map(|(name, share)| format!("{name} {:.0} %", 100.0 * share));
    let average =
        |value: fn(&Cell) -> f64| cells.iter().map(value).sum::<f64>() / cells.len() as f64;
    let busy = average(|cell| cell.channel_busy);
    let idle = average(|cell| cell.idle);
    let about = |published: f64| {
        format!(
            "it is within {:.0} points of {:.0} %",
            100.0 * ABOUT,
            100.0 * published
        )
    };
    Ok(vec![
        claim(
            "palloc.bijections",
            "each of the 24 orders places consecutive pages on all planes, no two in the same way"
                .to_owned(),
            "24 bijections",
            format!("{orders} different orders, each of {units} planes"),
            "24 orders hit every plane once and differ".to_owned(),
            orders == PageAllocation::ALL.len(),
        ),
        claim(
            "palloc.throughput",
            format!(
                "way-, die- and plane-first have higher IOPS than channel-first at queue depth {DEPTH}, {range}"
            ),
            "higher",
            format!(
                "{}; {} of {} higher",
                iops.texts.join(", "),
                iops.good,
                iops.all
            ),
            "the mean of the six schemes is higher for every size and direction".to_owned(),
            iops.good == iops.all,
        ),
        claim(
            "palloc.latency",
            format!("channel-first has the shortest latency (of a request alone), {range}"),
            "shortest",
            format!(
                "{}; {} of {} longer",
                latency.texts.join(", "),
                latency.good,
                latency.all
            ),
            "the mean of the six schemes is shortest for every size and direction".to_owned(),
            latency.good == latency.all,
        ),
        claim(
            "palloc.advanced-commands",
            "channel-first composes the fewest advanced commands".to_owned(),
            "fewest",
            format!("{} of the pages", shares.join(", ")),
            "no group composes fewer for any size and direction".to_owned(),
            fewest,
        ),
        claim(
            "palloc.channels-busy",
            "channels are busy on average".to_owned(),
            "about 43 %",
            format!("{:.1} %", 100.0 * busy),
            about(CHANNELS_BUSY),
            (busy - CHANNELS_BUSY).abs() <= ABOUT,
        ),
        claim(
            "palloc.idle",
            "the flash is idle most of the time".to_owned(),
            "about 80 %",
            format!("{:.1} % (dies)", 100.0 * idle),
            about(IDLE),
            (idle - IDLE).abs() <= ABOUT,
        ),
    ])
}

/// How many of the orders hit every plane once and differ from those before, and how many planes that are.
fn bijections(base: &Profile) -> Result<(usize, usize), ExperimentError> {
    let geometry = &base.geometry;
    let units = u64::from(geometry.channels * geometry.dies_per_channel * geometry.planes_per_die);
    let lbas_per_page = (geometry.page_size.0 / base.controller.lba_size.0).max(1);
    let mut seen: Vec<Vec<(u32, u32, u32)>> = Vec::new();
    for scheme in PageAllocation::ALL {
        let mut profile = base.clone();
        profile.ftl.page_allocation = scheme;
        let mut device = Device::new(&profile)?;
        let nsid = device.create_namespace(units * geometry.page_size.0)?;
        device.preload(nsid, 0, units * lbas_per_page, Directive::NONE)?;
        let mut order = Vec::new();
        for page in 0..units {
            if let Location::Flash {
                channel,
                die,
                plane,
                ..
            } = device.locate(nsid, page * lbas_per_page)?
            {
                order.push((channel, die, plane));
            }
        }
        let mut sorted = order.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() as u64 == units && !seen.contains(&order) {
            seen.push(order);
        }
    }
    Ok((units as usize, seen.len()))
}
