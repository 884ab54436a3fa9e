//! The first requests of a workload, of jobs or of a trace, and how a device serves them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::BufRead;
use std::ops::ControlFlow;

use super::super::error::RunError;
use super::super::job::Job;
use super::super::requests::Requests;
use super::super::trace::{Extent, Op, TraceReader};
use crate::load::{Failure, Load, Next, Stream, Turn, drain, drive};
use meldsim::device::{Device, QueueId};
use meldsim::nvme::{Command, Completion, Directive, NamespaceId};
use meldsim::profile::Profile;
use meldsim::{Duration, Instant};

/// Requests of a sample at most.
const MOST_REQUESTS: usize = 100_000;
/// What is refused names this as its job.
const JOB: &str = "advise";
/// Room for each block of a trace of HDFS.
const BLOCK_BYTES: u64 = 256 << 20;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Io {
    pub(super) arrival: Instant,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) is_write: bool,
}

impl Io {
    pub(super) fn end(&self) -> u64 {
        self.offset + self.bytes
    }

    /// The chunks it touches.
    pub(super) fn chunks(&self, chunk_bytes: u64) -> std::ops::Range<u64> {
        self.offset / chunk_bytes..self.end().div_ceil(chunk_bytes)
    }

    /// The first of the logical blocks it touches, and how many there are.
    fn lbas(&self, lba_bytes: u64) -> (u64, u64) {
        let touched = self.chunks(lba_bytes);
        (touched.start, touched.end - touched.start)
    }
}

/// The first requests of a workload, in order.
#[derive(Clone, Debug)]
pub struct Sample {
    pub(super) requests: Vec<Io>,
    /// How many are outstanding at a time; `None` where they arrive when they did.
    pub(super) depth: Option<u32>,
}

impl Sample {
    /// The jobs' requests, in turn, as many outstanding as all jobs have.
    pub fn of_jobs(jobs: &[Job]) -> Sample {
        let mut sources: Vec<(Requests, u64)> = Vec::new();
        let (mut base, mut depth) = (0, 0);
        for job in jobs {
            sources.push((Requests::new(job), base));
            base += job.end_bytes();
            depth += job.iodepth;
        }
        let mut requests = Vec::new();
        while requests.len() < MOST_REQUESTS && !sources.is_empty() {
            sources.retain_mut(|(source, base)| {
                let next = source.next();
                requests.extend(next.map(|next| Io {
                    arrival: Instant::START,
                    offset: *base + next.start,
                    bytes: next.bytes,
                    is_write: next.write,
                }));
                next.is_some()
            });
        }
        requests.truncate(MOST_REQUESTS);
        Sample {
            requests,
            depth: Some(depth),
        }
    }

    /// The trace's reads and writes, when they arrived. Volumes and blocks lie one after the other.
    ///
    /// # Errors
    ///
    /// A line that cannot be read.
    pub fn of_trace<R: BufRead>(mut reader: TraceReader<R>) -> Result<Sample, RunError> {
        let mut requests = Vec::new();
        // Only looked up, so that its order is never seen.
        let mut places: HashMap<(usize, u64), u64> = HashMap::new();
        while let Some(record) = reader.next_record()? {
            if requests.len() == MOST_REQUESTS {
                break;
            }
            if !matches!(record.op, Op::Read | Op::Write) || record.length == 0 {
                continue;
            }
            let base = match record.extent {
                Extent::Volume => record.volume as u64 * Sample::VOLUME_BYTES,
                Extent::Block(block) => {
                    let next = places.len() as u64;
                    BLOCK_BYTES * *places.entry((record.volume, block)).or_insert(next)
                }
            };
            requests.push(Io {
                arrival: Instant::START + record.arrival,
                offset: base + record.offset,
                bytes: record.length,
                is_write: record.op == Op::Write,
            });
        }
        Ok(Sample {
            requests,
            depth: None,
        })
    }

    /// Room for each volume of a trace.
    const VOLUME_BYTES: u64 = 1 << 40;
}

/// How a device serves a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Outcome {
    /// Mean latency of a request, in microseconds.
    pub mean_us: f64,
    /// Bytes a second, in MB/s.
    pub mb_s: f64,
}

/// What was outstanding when each request was submitted.
#[derive(Clone, Debug, Default)]
pub(super) struct Contention {
    /// Requests outstanding before it.
    pub(super) outstanding: Vec<u32>,
    /// Whether one of them touches a chunk of its.
    pub(super) is_crowded: Vec<bool>,
}

/// Simulates the sample.
pub(super) fn simulate(
    profile: &Profile,
    sample: &Sample,
    chunk_bytes: u64,
) -> Result<(Outcome, Contention), RunError> {
    let mut device = Device::new(profile)?;
    let lba_bytes = profile.controller.lba_size.0;
    let end = sample.requests.iter().map(Io::end).max();
    let size_bytes = end
        .unwrap_or(1)
        .next_multiple_of(chunk_bytes.max(lba_bytes));
    let nsid = device
        .create_namespace(size_bytes)
        .map_err(RunError::of(JOB))?;
    for io in &sample.requests {
        let (slba, nlb) = io.lbas(lba_bytes);
        let placed = device.preload_unmapped(nsid, slba, nlb, Directive::NONE);
        placed.map_err(RunError::of(JOB))?;
    }
    let depth = sample.depth.map_or(u64::MAX, u64::from);
    let stream = Stream::new(QueueId::default(), depth);
    let mut load = Simulated {
        sample,
        nsid,
        lba_bytes,
        chunk_bytes,
        next: 0,
        touched: HashMap::new(),
        contention: Contention::default(),
        latency: Duration::ZERO,
        bytes: 0,
    };
    drive(&mut device, [stream], &mut load)?;
    drain(&mut device);
    let elapsed = device.now().since_start().as_secs_f64();
    let requests = sample.requests.len().max(1) as f64;
    let outcome = Outcome {
        mean_us: load.latency.as_secs_f64() * 1e6 / requests,
        mb_s: if elapsed > 0.0 {
            load.bytes as f64 / 1e6 / elapsed
        } else {
            0.0
        },
    };
    Ok((outcome, load.contention))
}

/// A sample as a load.
struct Simulated<'a> {
    sample: &'a Sample,
    nsid: NamespaceId,
    lba_bytes: u64,
    chunk_bytes: u64,
    /// The next request's index.
    next: usize,
    /// How many outstanding requests touch each chunk; only looked up.
    touched: HashMap<u64, u32>,
    contention: Contention,
    latency: Duration,
    bytes: u64,
}

impl<'a> Load for Simulated<'a> {
    /// The request, and when its submission began.
    type Request = (&'a Io, Instant);
    type Error = RunError;

    fn next(
        &mut self,
        device: &mut Device,
        turn: Turn,
    ) -> Result<Next<(&'a Io, Instant)>, RunError> {
        // What completes now is not outstanding for a request that is submitted now.
        if turn.unseen + turn.deferred > 0 {
            return Ok(Next::Wait);
        }
        let Some(io) = self.sample.requests.get(self.next) else {
            return Ok(Next::Wait);
        };
        if self.sample.depth.is_none() && io.arrival > device.now() {
            return Ok(Next::At(io.arrival));
        }
        self.next += 1;
        self.contention.outstanding.push(turn.outstanding as u32);
        let mut is_crowded = false;
        for chunk in io.chunks(self.chunk_bytes) {
            let users = self.touched.entry(chunk).or_default();
            is_crowded |= *users > 0;
            *users += 1;
        }
        self.contention.is_crowded.push(is_crowded);
        let (slba, nlb) = io.lbas(self.lba_bytes);
        let command = match io.is_write {
            true => Command::write(self.nsid, slba, nlb as u32, Directive::NONE, 0),
            false => Command::read(self.nsid, slba, nlb as u32, 0),
        };
        Ok(Next::Submit(command, (io, device.now())))
    }

    fn completed(
        &mut self,
        _: usize,
        (io, begun): (&'a Io, Instant),
        completion: &Completion,
    ) -> Result<ControlFlow<()>, RunError> {
        self.latency += completion.completed - begun;
        self.bytes += io.bytes;
        for chunk in io.chunks(self.chunk_bytes) {
            if let Entry::Occupied(mut users) = self.touched.entry(chunk) {
                *users.get_mut() -= 1;
                if *users.get() == 0 {
                    users.remove();
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn failed(&self, failure: Failure<(&'a Io, Instant)>) -> RunError {
        match failure {
            Failure::Refused(_, _, error) => RunError::of(JOB)(error),
            Failure::Stuck { outstanding } => RunError::Stuck { outstanding },
        }
    }
}
