//! One cell: a scheme, a direction, a request size.

use super::super::burst::ExperimentError;
use super::{DEPTH, Scale};
use crate::load::{Access, Loop, Tally, Until, WarmUp};
use meldsim::device::{Device, Stats};
use meldsim::nvme::Directive;
use meldsim::profile::{PageAllocation, Profile};

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
    /// Pages by the transaction that moved them: of one plane, of several planes, of several dies, of both.
    pub(super) pages: [f64; 4],
}

impl Cell {
    pub(super) fn measure(
        base: &Profile,
        scheme: PageAllocation,
        writes: bool,
        request_bytes: u64,
        scale: Scale,
    ) -> Result<Cell, ExperimentError> {
        let mut profile = base.clone();
        profile.ftl.page_allocation = scheme;
        let request_pages = request_bytes.div_ceil(profile.geometry.page_size.0);
        let requests = (scale.pages / request_pages).max(scale.requests);
        let (_, unloaded) = loop_of(&profile, writes, request_bytes, 1, UNLOADED_REQUESTS)?;
        let (stats, loaded) = loop_of(&profile, writes, request_bytes, DEPTH, requests)?;
        let quantile_us = |quantile| loaded.latency.quantile(quantile).as_ps() as f64 / 1e6;
        let share = |busy: u64, parts: u64| busy as f64 / (stats.now_ps as f64 * parts as f64);
        let pages = [
            stats.plain_pages,
            stats.plane_sharing_pages,
            stats.die_interleaving_pages,
            stats.both_sharing_pages,
        ];
        let all: u64 = pages.iter().sum();
        Ok(Cell {
            scheme,
            writes,
            request_bytes,
            iops: loaded.iops(),
            mean_us: loaded.mean_us(),
            p99_us: quantile_us(0.99),
            p99_9_us: quantile_us(0.999),
            unloaded_us: unloaded.mean_us(),
            channel_busy: share(stats.channel_busy_ps, stats.channels),
            idle: 1.0 - share(stats.die_busy_ps, stats.dies),
            pages: pages.map(|pages| pages as f64 / all.max(1) as f64),
        })
    }

    /// Share of the pages that an advanced command moved.
    pub(super) fn advanced(&self) -> f64 {
        1.0 - self.pages[0]
    }
}

fn loop_of(
    profile: &Profile,
    writes: bool,
    request_bytes: u64,
    depth: u32,
    requests: u64,
) -> Result<(Stats, Tally), ExperimentError> {
    let mut device = Device::new(profile)?;
    let nsid = device.create_namespace(SPAN_BYTES)?;
    if !writes {
        let lbas = SPAN_BYTES / profile.controller.lba_size.0;
        device.preload(nsid, 0, lbas, Directive::NONE)?;
    }
    let access = match writes {
        true => Access::RandomWrite,
        false => Access::RandomRead,
    };
    let commands = access.requests(&device, nsid, request_bytes, SEED);
    let until = Until::Requests(requests);
    let tally = Loop::new(depth, commands).measure(&mut device, WarmUp::NONE, until)?;
    Ok((device.stats(), tally))
}
