//! The load: sources of requests, closed loops or open ones, on one device; what is measured of them after a warm-up.
//!
//! Latencies run from submission to completion, host's path included, as the measured ones do: what waits for a place in its
//! queue is not in them.

use std::ops::ControlFlow;

use super::error::MeasureError;
use super::pattern::Pattern;
use meldsim::device::{Device, DeviceError, QueueId, Stats};
use meldsim::engine::Random;
use meldsim::nvme::{Command, Completion, Directive, NamespaceId, Priority, Status};
use meldsim::{Duration, Instant};
use meldsim_host::{Failure, Load, Next, Stream, Turn, drive};
use meldsim_stats::LatencyHistogram;

/// Seed of patterns.
pub(super) const SEED: u64 = 1;
/// Bytes of a page, and of a logical block of these profiles.
pub(super) const PAGE: u64 = 4096;

/// When requests arrive.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrivals {
    /// When one of the source's has completed.
    Closed,
    /// So many a second, at equal distances.
    Even(f64),
    /// So many a second, at exponential distances.
    Poisson(f64),
}

/// A request, in pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) page: u64,
    pub(super) pages: u32,
    pub(super) is_write: bool,
}

/// A source of requests.
pub(super) struct Source {
    /// Requests outstanding at most.
    depth: u64,
    arrivals: Arrivals,
    next: Box<dyn FnMut() -> Access>,
}

impl Source {
    pub(super) fn new(
        depth: u64,
        arrivals: Arrivals,
        next: impl FnMut() -> Access + 'static,
    ) -> Source {
        let next = Box::new(next);
        Source {
            depth,
            arrivals,
            next,
        }
    }

    /// Random writes of one page each in the first `pages`.
    pub(super) fn writes(depth: u64, pattern: Pattern, pages: u64) -> Source {
        let mut draws = pattern.draws(pages, SEED);
        Source::new(depth, Arrivals::Closed, move || Access {
            page: draws.next(),
            pages: 1,
            is_write: true,
        })
    }

    /// Random reads and writes of `per` pages each in the first `pages`, such a share of them writes.
    pub(super) fn random(
        depth: u64,
        arrivals: Arrivals,
        (pages, per): (u64, u64),
        write_share: f64,
        seed: u64,
    ) -> Source {
        let mut random = Random::new(seed);
        Source::new(depth, arrivals, move || Access {
            page: random.below(pages / per) * per,
            pages: per as u32,
            is_write: random.unit() < write_share,
        })
    }

    /// Writes of `per` pages, one after the other, round and round from `first` for `pages`.
    pub(super) fn sequential(
        depth: u64,
        arrivals: Arrivals,
        first: u64,
        (pages, per): (u64, u64),
    ) -> Source {
        let mut next = 0;
        Source::new(depth, arrivals, move || {
            let page = first + next * per;
            next = (next + 1) % (pages / per).max(1);
            Access {
                page,
                pages: per as u32,
                is_write: true,
            }
        })
    }
}

/// How much is done, in requests completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) warm_up: u64,
    pub(super) counted: u64,
    /// A [`Mark`] each so many requests; 0 for none.
    pub(super) mark_every: u64,
}

impl Extent {
    /// Without marks.
    pub(super) fn of(warm_up: u64, counted: u64) -> Extent {
        Extent {
            warm_up,
            counted,
            mark_every: 0,
        }
    }
}

/// How far a run was at some time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    pub(super) at_s: f64,
    pub(super) written_bytes: f64,
    pub(super) programmed_bytes: f64,
}

/// What was measured.
pub(super) struct Measured {
    /// Reads and writes of each source.
    pub(super) latencies: Vec<[LatencyHistogram; 2]>,
    /// Simulated time that was counted.
    pub(super) seconds: f64,
    before: Stats,
    after: Stats,
    pub(super) marks: Vec<Mark>,
}

impl Measured {
    /// Pages programmed for each that the host wrote.
    pub(super) fn write_amplification(&self) -> f64 {
        let stats = self.after.since(&self.before);
        programmed(&stats) as f64 / (stats.host_written_bytes as f64 / PAGE as f64)
    }

    /// Pages read for collection for each page programmed.
    pub(super) fn collection_reads(&self) -> f64 {
        let stats = self.after.since(&self.before);
        stats.gc_pages_read as f64 / programmed(&stats) as f64
    }

    /// Writes a second of all sources.
    pub(super) fn write_iops(&self) -> f64 {
        let writes = self.latencies.iter().map(|[_, writes]| writes.count());
        writes.sum::<u64>() as f64 / self.seconds
    }

    /// Latencies of the writes of all sources from that one on.
    pub(super) fn writes_from(&self, source: usize) -> LatencyHistogram {
        let mut all = LatencyHistogram::new();
        for [_, writes] in &self.latencies[source..] {
            all.merge(writes);
        }
        all
    }

    /// Reads a second of all sources.
    pub(super) fn read_iops(&self) -> f64 {
        let reads = self.latencies.iter().map(|[reads, _]| reads.count());
        reads.sum::<u64>() as f64 / self.seconds
    }
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

/// Runs the sources on the namespace.
pub(super) fn run(
    device: &mut Device,
    nsid: NamespaceId,
    sources: Vec<Source>,
    extent: Extent,
) -> Result<Measured, MeasureError> {
    let now = device.now();
    let streams: Vec<Stream> = sources
        .iter()
        .map(|source| {
            let depth = u32::try_from(source.depth).unwrap_or(u32::MAX);
            let queue: QueueId = device.create_queue(depth, Priority::default())?;
            Ok(Stream::new(queue, source.depth))
        })
        .collect::<Result<_, DeviceError>>()?;
    let mut running = Running {
        nsid,
        submit: device.profile().host.path_times().submit,
        due: (7..)
            .take(sources.len())
            .map(|seed| (now, Random::new(seed)))
            .collect(),
        latencies: sources.iter().map(|_| Default::default()).collect(),
        sources,
        extent,
        done: 0,
        start: None,
        end: None,
        marks: Vec::new(),
        mark_at: 0,
    };
    drive(device, streams, &mut running)?;
    let (start, end) = running
        .start
        .zip(running.end)
        .ok_or(MeasureError::Incomplete(None))?;
    Ok(Measured {
        latencies: running.latencies,
        seconds: (end.0 - start.0).as_secs_f64(),
        before: start.1,
        after: end.1,
        marks: running.marks,
    })
}

struct Running {
    nsid: NamespaceId,
    /// What a thread takes to submit a command, which a completion does not know of.
    submit: Duration,
    sources: Vec<Source>,
    /// When the next request of an open source arrives.
    due: Vec<(Instant, Random)>,
    latencies: Vec<[LatencyHistogram; 2]>,
    extent: Extent,
    /// Requests completed.
    done: u64,
    /// The counters when the warm-up ended, and when all was counted.
    start: Option<(Instant, Stats)>,
    end: Option<(Instant, Stats)>,
    marks: Vec<Mark>,
    mark_at: u64,
}

impl Load for Running {
    type Request = bool;
    type Error = MeasureError;

    fn next(&mut self, device: &mut Device, turn: Turn) -> Result<Next<bool>, MeasureError> {
        if self.start.is_none() && self.done >= self.extent.warm_up {
            self.start = Some((device.now(), device.stats()));
        }
        if self.extent.mark_every > 0 && self.done >= self.mark_at {
            self.mark_at += self.extent.mark_every;
            let stats = device.stats();
            self.marks.push(Mark {
                at_s: device.now().as_ps() as f64 / 1e12,
                written_bytes: stats.host_written_bytes as f64,
                programmed_bytes: (programmed(&stats) * PAGE) as f64,
            });
        }
        if self.end.is_none() && self.done >= self.extent.warm_up + self.extent.counted {
            self.end = Some((device.now(), device.stats()));
        }
        if self.end.is_some() {
            return Ok(Next::Wait);
        }
        let source = &mut self.sources[turn.stream];
        let (due, random) = &mut self.due[turn.stream];
        let gap_ps = match source.arrivals {
            Arrivals::Closed => 0.0,
            Arrivals::Even(rate) => 1e12 / rate,
            Arrivals::Poisson(rate) => 1e12 / rate * random.exponential(),
        };
        if *due > device.now() {
            return Ok(Next::At(*due));
        }
        *due += Duration::from_ps(gap_ps as u64);
        let access = (source.next)();
        let (page, pages) = (access.page, access.pages);
        let command = match access.is_write {
            true => Command::write(self.nsid, page, pages, Directive::NONE, 0),
            false => Command::read(self.nsid, page, pages, 0),
        };
        Ok(Next::Submit(command, access.is_write))
    }

    fn completed(
        &mut self,
        stream: usize,
        is_write: bool,
        done: &Completion,
    ) -> Result<ControlFlow<()>, MeasureError> {
        if done.status != Status::SUCCESS {
            return Err(MeasureError::Incomplete(Some(*done)));
        }
        if self.end.is_some() {
            return Ok(ControlFlow::Break(()));
        }
        if self.start.is_some() {
            self.latencies[stream][usize::from(is_write)].record(done.latency() + self.submit);
        }
        self.done += 1;
        Ok(ControlFlow::Continue(()))
    }

    fn failed(&self, failure: Failure<bool>) -> MeasureError {
        failure.into()
    }
}
