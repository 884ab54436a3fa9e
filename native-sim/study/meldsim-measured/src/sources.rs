//! The load: sources of requests on one device; what is measured of them after a warm-up.
//!
//! Latencies run from submission to completion, host's path included, as the measured ones do: what waits for a place in its
//! queue is not in them.

use super::error::MeasureError;
use super::pattern::Pattern;
use meldsim::Duration;
use meldsim::device::{Device, Stats};
use meldsim::engine::Random;
use meldsim::nvme::NamespaceId;
use meldsim_host::{Arrivals, Measured, Source, Until, WarmUp, measure, transfer};
use meldsim_stats::LatencyHistogram;

/// Seed of patterns.
pub(super) const SEED: u64 = 1;
/// Bytes of a page, and of a logical block of these profiles.
pub(super) const PAGE: u64 = 4096;

/// Random writes of one page each in the first `pages`.
pub(super) fn writes(
    nsid: NamespaceId,
    depth: u64,
    pattern: Pattern,
    pages: u64,
) -> Source<'static> {
    let mut draws = pattern.draws(pages, SEED);
    let writes = std::iter::repeat_with(move || transfer(true, nsid, draws.next(), 1));
    Source::new(depth, writes)
}

/// Random reads and writes of `per` pages each in the first `pages`, such a share of them writes.
pub(super) fn random(
    nsid: NamespaceId,
    depth: u64,
    arrivals: Arrivals,
    (pages, per): (u64, u64),
    write_share: f64,
    seed: u64,
) -> Source<'static> {
    let mut random = Random::new(seed);
    let requests = std::iter::repeat_with(move || {
        let page = random.below(pages / per) * per;
        transfer(random.unit() < write_share, nsid, page, per)
    });
    Source::new(depth, requests).arriving(arrivals)
}

/// Writes of `per` pages, one after the other, round and round from `first` for `pages`.
pub(super) fn sequential(
    nsid: NamespaceId,
    depth: u64,
    arrivals: Arrivals,
    first: u64,
    (pages, per): (u64, u64),
) -> Source<'static> {
    let places = (0..(pages / per).max(1)).cycle();
    let writes = places.map(move |place| transfer(true, nsid, first + place * per, per));
    Source::new(depth, writes).arriving(arrivals)
}

/// How far a run was at some time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    pub(super) at_s: f64,
    pub(super) written_bytes: f64,
    pub(super) programmed_bytes: f64,
}

impl Mark {
    fn of(device: &Device) -> Mark {
        let stats = device.stats();
        Mark {
            at_s: device.now().as_ps() as f64 / 1e12,
            written_bytes: stats.host_written_bytes as f64,
            programmed_bytes: (programmed(&stats) * PAGE) as f64,
        }
    }
}

/// Pages programmed for each that the host wrote.
pub(super) fn write_amplification(measured: &Measured) -> f64 {
    let stats = measured.after.since(&measured.before);
    programmed(&stats) as f64 / (stats.host_written_bytes as f64 / PAGE as f64)
}

/// Pages read for collection for each page programmed.
pub(super) fn collection_reads(measured: &Measured) -> f64 {
    let stats = measured.after.since(&measured.before);
    stats.gc_pages_read as f64 / programmed(&stats) as f64
}

fn programmed(stats: &Stats) -> u64 {
    stats.host_pages_programmed + stats.gc_pages_programmed + stats.padded_pages
}

/// The value in microseconds of a latency column: `mean_us`, `p50_us`, `p99_9_us`, with or without a prefix.
pub(super) fn latency_us(latencies: &LatencyHistogram, column: &str) -> Option<f64> {
    let us = |time: Duration| time.as_ps() as f64 / 1e6;
    if latencies.count() == 0 {
        return None;
    }
    let name = column.strip_suffix("_us")?;
    let name = ["read_", "pwrite_", "write_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    match name {
        "mean" => Some(latencies.mean_ps() / 1e6),
        "min" => Some(us(latencies.min())),
        _ => {
            let digits = name.strip_prefix('p')?.replacen('_', ".", 1);
            let percent: f64 = digits.parse().ok()?;
            Some(us(latencies.quantile(percent / 100.0)))
        }
    }
}

/// Runs the sources, each on a queue of its own, and counts so many requests after a warm-up.
pub(super) fn run(
    device: &mut Device,
    sources: Vec<Source<'_>>,
    (warm_up, counted): (u64, u64),
) -> Result<Measured, MeasureError> {
    let (warm_up, until) = (WarmUp::Requests(warm_up), Until::Requests(counted));
    let sources = sources
        .into_iter()
        .map(|source| source.on_own_queue(device));
    let sources: Vec<Source<'_>> = sources.collect::<Result<_, _>>()?;
    Ok(measure(device, sources, warm_up, until, |_, _, _| {})?)
}

/// Runs a source until so many requests are done. How far it was after each `mark_every` of them, and at the start.
pub(super) fn marks(
    device: &mut Device,
    source: Source<'_>,
    requests: u64,
    mark_every: u64,
) -> Result<Vec<Mark>, MeasureError> {
    let source = source.on_own_queue(device)?;
    let (mut marks, mut done) = (vec![Mark::of(device)], 0);
    measure(
        device,
        [source],
        WarmUp::NONE,
        Until::Requests(requests),
        |device, _, _| {
            done += 1;
            if done % mark_every == 0 {
                marks.push(Mark::of(device));
            }
        },
    )?;
    Ok(marks)
}
