//! Closed loops on a device: each keeps its requests outstanding, and latencies are counted after a warm-up.

use super::burst::ExperimentError;
use crate::report::LatencyHistogram;
use meldsim::device::Device;
use meldsim::engine::Random;
use meldsim::engine::Time;
use meldsim::nvme::{Command, Completion, NamespaceId, Status};

/// What a loop does with its namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Reads at random, each aligned to its size.
    RandomRead,
    /// Writes at random, each aligned to its size.
    RandomWrite,
    /// Writes one after the other, round and round.
    SequentialWrite,
}

impl Access {
    fn is_random(self) -> bool {
        matches!(self, Access::RandomRead | Access::RandomWrite)
    }

    pub(super) fn writes(self) -> bool {
        matches!(self, Access::RandomWrite | Access::SequentialWrite)
    }
}

/// A closed loop.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) nsid: NamespaceId,
    pub(super) access: Access,
    pub(super) request_bytes: u64,
    pub(super) depth: u32,
    /// Bytes of the namespace that it touches.
    pub(super) span_bytes: u64,
    pub(super) seed: u64,
}

/// How long loops go on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    /// Until the first loop has completed so many requests.
    Requests(u64),
    /// Until that much time has passed, of which the first part is not counted.
    Time { warm_up: Time, end: Time },
}

/// What a loop has done since the warm-up.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) latency: LatencyHistogram,
    pub(super) requests: u64,
    pub(super) bytes: u64,
    /// From the end of the warm-up to the last completion counted.
    pub(super) elapsed: Time,
}

impl Tally {
    pub(super) fn mib_s(&self) -> f64 {
        self.bytes as f64 / f64::from(1 << 20) / self.elapsed.as_secs_f64()
    }

    pub(super) fn mean_us(&self) -> f64 {
        self.latency
            .summary()
            .map_or(f64::NAN, |summary| summary.mean_us)
    }

    pub(super) fn iops(&self) -> f64 {
        self.requests as f64 / self.elapsed.as_secs_f64()
    }
}

struct Loop {
    load: Load,
    nlb: u32,
    blocks: u64,
    next: u64,
    random: Random,
}

impl Loop {
    fn new(load: &Load, lba_bytes: u64) -> Loop {
        Loop {
            nlb: (load.request_bytes / lba_bytes) as u32,
            blocks: load.span_bytes / load.request_bytes,
            next: 0,
            random: Random::new(load.seed),
            load: load.clone(),
        }
    }

    fn submit(&mut self, device: &mut Device, tag: u64) -> Result<(), ExperimentError> {
        let block = if self.load.access.is_random() {
            self.random.below(self.blocks)
        } else {
            let block = self.next;
            self.next = (self.next + 1) % self.blocks;
            block
        };
        let (nsid, slba) = (self.load.nsid, block * u64::from(self.nlb));
        let command = match self.load.access.writes() {
            true => Command::write(nsid, slba, self.nlb, meldsim::Directive::NONE, tag),
            false => Command::read(nsid, slba, self.nlb, tag),
        };
        Ok(device.submit(&command)?)
    }
}

/// Runs the loops. `watch` sees the loop's number with each completion that counts.
pub(super) fn run(
    device: &mut Device,
    loads: &[Load],
    until: Until,
    mut watch: impl FnMut(usize, &Completion),
) -> Result<Vec<Tally>, ExperimentError> {
    let lba_bytes = device.profile().controller.lba_size.0;
    let mut loops: Vec<Loop> = loads
        .iter()
        .map(|load| Loop::new(load, lba_bytes))
        .collect();
    let mut tallies: Vec<Tally> = loads.iter().map(|_| Tally::default()).collect();
    let start = device.now();
    let (counted_from, end) = match until {
        Until::Requests(_) => (start, Time::MAX),
        Until::Time { warm_up, end } => (start + warm_up, start + end),
    };
    for (index, running) in loops.iter_mut().enumerate() {
        for _ in 0..running.load.depth {
            running.submit(device, index as u64)?;
        }
    }
    loop {
        if !device.run_until_completion() {
            return Err(ExperimentError::Incomplete(None));
        }
        while let Some(done) = device.pop_completion() {
            if done.status != Status::Success {
                return Err(ExperimentError::Incomplete(Some(done)));
            }
            let index = done.tag as usize;
            if done.completed > end {
                return Ok(tallies);
            }
            if done.submitted >= counted_from {
                let tally = &mut tallies[index];
                tally.latency.record(done.latency());
                tally.requests += 1;
                tally.bytes += loops[index].load.request_bytes;
                tally.elapsed = done.completed - counted_from;
                watch(index, &done);
                if matches!(until, Until::Requests(most) if index == 0 && tally.requests == most) {
                    return Ok(tallies);
                }
            }
            loops[index].submit(device, done.tag)?;
        }
    }
}
