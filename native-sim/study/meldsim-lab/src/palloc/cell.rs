//! What is measured of one scheme, size and direction, and the means of such cells.

use super::{DEPTH, Extent};
use crate::prelude::*;
use meldsim::device::{Device, Location, Precondition, Stats};
use meldsim::nvme::Directive;
use meldsim::profile::{Dimension, PageAllocation, Profile};
use meldsim_host::{Access, Source, Tally, Until, WarmUp};

/// Bytes that the requests touch: all planes many times over.
const SPAN_BYTES: u64 = 128 << 20;
/// Requests of the unloaded device.
const UNLOADED_REQUESTS: u64 = 64;
const SEED: u64 = 1;

/// What was measured of a cell. Shares are of 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) scheme: PageAllocation,
    pub(super) writes: bool,
    pub(super) request_bytes: u64,
    pub(super) iops: f64,
    pub(super) mean_us: f64,
    pub(super) p99_us: f64,
    pub(super) p99_9_us: f64,
    /// Mean latency of a request that is alone on the device.
    pub(super) unloaded_us: f64,
    pub(super) channel_busy: f64,
    pub(super) idle: f64,
    /// Pages by the transaction that moved them: of one plane, of several planes (plane sharing), of several
    /// dies (die interleaving), or multi-plane and interleaved.
    pub(super) pages: [f64; 4],
}

impl Cell {
    pub(super) fn measure(
        base: &Profile,
        scheme: PageAllocation,
        writes: bool,
        request_bytes: u64,
        extent: Extent,
        is_full: bool,
    ) -> Result<Cell> {
        let mut profile = base.clone();
        profile.ftl.page_allocation = scheme;
        let request_pages = request_bytes.div_ceil(profile.geometry.page_size.0);
        let requests = (extent.pages / request_pages).max(extent.requests);
        let load =
            |depth, requests| measure(&profile, is_full, (writes, request_bytes), depth, requests);
        let (_, unloaded) = load(1, UNLOADED_REQUESTS)?;
        let (stats, loaded) = load(DEPTH, requests)?;
        let quantile_us = |quantile| loaded.latencies().quantile(quantile).as_ps() as f64 / 1e6;
        let share = |busy: u64, parts: u64| busy as f64 / (stats.now_ps as f64 * parts as f64);
        let pages = [
            stats.plain_pages,
            stats.plane_sharing_pages,
            stats.die_interleaving_pages,
            stats.multi_plane_interleaved_pages,
        ];
        let all: u64 = pages.iter().sum();
        Ok(Cell {
            scheme,
            writes,
            request_bytes,
            iops: loaded.iops().unwrap_or(f64::NAN),
            mean_us: loaded.mean_us(),
            p99_us: quantile_us(0.99),
            p99_9_us: quantile_us(0.999),
            unloaded_us: unloaded.mean_us(),
            channel_busy: share(stats.channel_busy_ps, stats.channels),
            idle: 1.0 - share(stats.die_busy_ps, stats.dies),
            pages: pages.map(|pages| pages as f64 / all.max(1) as f64),
        })
    }

    pub(super) fn direction(&self) -> &'static str {
        direction(self.writes)
    }

    /// Share of the pages that an advanced command moved.
    pub(super) fn advanced(&self) -> f64 {
        1.0 - self.pages[0]
    }
}

/// Random requests in a closed loop, on a device that is full and has been overwritten at random, so that it collects; else all of
/// it but the span is empty.
fn measure(
    profile: &Profile,
    is_full: bool,
    (writes, request_bytes): (bool, u64),
    depth: u32,
    requests: u64,
) -> Result<(Stats, Tally)> {
    let mut device = Device::new(profile)?;
    let bytes = match is_full {
        // Whole requests of every size.
        true => device.set_capacity_bytes(0) / SPAN_BYTES * SPAN_BYTES,
        false => SPAN_BYTES,
    };
    let nsid = device.create_namespace(bytes)?;
    if is_full {
        device.precondition(&Precondition::default())?;
    } else if !writes {
        let lbas = SPAN_BYTES / profile.controller.lba_size.0;
        device.preload(nsid, 0, lbas, Directive::NONE)?;
    }
    let access = match writes {
        true => Access::RandomWrite,
        false => Access::RandomRead,
    };
    let commands = access.requests(&device, nsid, request_bytes, SEED);
    let (source, until) = (Source::new(depth, commands), Until::Requests(requests));
    let tally = source.measure(&mut device, WarmUp::NONE, until)?;
    Ok((device.stats(), tally))
}

/// Channel, die and plane.
pub(super) type Plane = (u32, u32, u32);

pub(super) fn planes(profile: &Profile) -> u64 {
    let geometry = &profile.geometry;
    u64::from(geometry.channels * geometry.dies_per_channel * geometry.planes_per_die)
}

/// The plane of each page when there is one for each plane.
pub(super) fn order(base: &Profile, scheme: PageAllocation) -> Result<Vec<Plane>> {
    let mut profile = base.clone();
    profile.ftl.page_allocation = scheme;
    let pages = planes(&profile);
    let lbas_per_page = (profile.geometry.page_size.0 / profile.controller.lba_size.0).max(1);
    let mut device = Device::new(&profile)?;
    let nsid = device.create_namespace(pages * profile.geometry.page_size.0)?;
    device.preload(nsid, 0, pages * lbas_per_page, Directive::NONE)?;
    let mut order = Vec::new();
    for page in 0..pages {
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
    Ok(order)
}

pub(super) fn direction(writes: bool) -> &'static str {
    if writes { "write" } else { "read" }
}

/// The cells of a scheme in one direction, by size.
pub(super) fn of_scheme(cells: &[Cell], scheme: PageAllocation, writes: bool) -> Vec<&Cell> {
    let of = cells
        .iter()
        .filter(|cell| cell.writes == writes && cell.scheme == scheme);
    of.collect()
}

/// The cells of a scheme beside those of CWDP.
pub(super) fn beside_default(
    cells: &[Cell],
    scheme: PageAllocation,
    writes: bool,
) -> impl Iterator<Item = (&Cell, &Cell)> {
    let default = of_scheme(cells, PageAllocation::default(), writes);
    of_scheme(cells, scheme, writes).into_iter().zip(default)
}

pub(super) fn average<'a>(
    cells: impl IntoIterator<Item = &'a Cell>,
    value: impl Fn(&Cell) -> f64,
) -> f64 {
    let (sum, count) = cells.into_iter().fold((0.0, 0u64), |(sum, count), cell| {
        (sum + value(cell), count + 1)
    });
    sum / count as f64
}

/// The mean of `value` over the schemes of a group.
pub(super) fn mean(cells: &[Cell], group: Dimension, value: impl Fn(&Cell) -> f64) -> f64 {
    let of_group = cells.iter().filter(|cell| cell.scheme.order()[0] == group);
    average(of_group, value)
}

/// The cells of each direction and size.
pub(super) fn by_request(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunk_by(|a, b| (a.writes, a.request_bytes) == (b.writes, b.request_bytes))
}
