//! A workload as a list of requests, and what a device does with it.

use std::collections::HashMap;
use std::io::BufRead;

use super::super::job::Job;
use super::super::requests::Requests;
use super::super::runner::RunError;
use super::super::trace::{Extent, Op, TraceReader};
use meldsim::device::{Device, DeviceError};
use meldsim::engine::Time;
use meldsim::nvme::{Command, Directive};
use meldsim::profile::Profile;

/// Requests that are looked at: the first of a workload.
const MOST_REQUESTS: usize = 100_000;
/// Room for each block of a trace of HDFS.
const BLOCK_BYTES: u64 = 256 << 20;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Io {
    pub(super) arrival: Time,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) is_write: bool,
}

impl Io {
    /// The chunks it touches.
    pub(super) fn chunks(&self, chunk_bytes: u64) -> std::ops::Range<u64> {
        self.offset / chunk_bytes..(self.offset + self.bytes).div_ceil(chunk_bytes)
    }
}

/// The requests of a workload, in order.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(super) requests: Vec<Io>,
    /// How many are outstanding at a time; `None` where they arrive when they did.
    pub(super) depth: Option<u32>,
}

impl Flow {
    /// The jobs' requests, in turn, as many outstanding as all jobs have.
    pub fn of_jobs(jobs: &[Job]) -> Flow {
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
                    arrival: Time::ZERO,
                    offset: *base + next.start,
                    bytes: next.bytes,
                    is_write: next.write,
                }));
                next.is_some()
            });
        }
        requests.truncate(MOST_REQUESTS);
        Flow {
            requests,
            depth: Some(depth),
        }
    }

    /// The trace's reads and writes, when they arrived. Volumes and blocks lie one after the other.
    pub fn of_trace<R: BufRead>(mut reader: TraceReader<R>) -> Result<Flow, RunError> {
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
                Extent::Volume => record.volume as u64 * Flow::VOLUME_BYTES,
                Extent::Block(block) => {
                    let next = places.len() as u64;
                    BLOCK_BYTES * *places.entry((record.volume, block)).or_insert(next)
                }
            };
            requests.push(Io {
                arrival: record.arrival,
                offset: base + record.offset,
                bytes: record.length,
                is_write: record.op == Op::Write,
            });
        }
        Ok(Flow {
            requests,
            depth: None,
        })
    }

    /// Room for each volume of a trace.
    const VOLUME_BYTES: u64 = 1 << 40;
}

/// What a device does with a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Outcome {
    /// Mean latency of a request, in microseconds.
    pub mean_us: f64,
    /// Bytes a second, in MB/s.
    pub mb_s: f64,
}

/// What was outstanding when each request was submitted.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Requests outstanding before it.
    pub(super) outstanding: Vec<u32>,
    /// Whether one of them touches a chunk of its.
    pub(super) is_crowded: Vec<bool>,
}

/// Simulates the flow.
pub(super) fn simulate(
    profile: &Profile,
    flow: &Flow,
    chunk_bytes: u64,
) -> Result<(Outcome, Seen), RunError> {
    let mut device = Device::new(profile)?;
    let lba_bytes = profile.controller.lba_size.0;
    let end = flow.requests.iter().map(|io| io.offset + io.bytes).max();
    let size_bytes = end
        .unwrap_or(1)
        .next_multiple_of(chunk_bytes.max(lba_bytes));
    let refused = |error: DeviceError| RunError::Device {
        job: "advise".to_owned(),
        error,
    };
    let nsid = device.create_namespace(size_bytes).map_err(refused)?;
    for io in &flow.requests {
        let (first, end) = (
            io.offset / lba_bytes,
            (io.offset + io.bytes).div_ceil(lba_bytes),
        );
        let placed = device.preload_unmapped(nsid, first, end - first, Directive::NONE);
        placed.map_err(refused)?;
    }
    let mut seen = Seen::default();
    // How many outstanding requests touch each chunk; only looked up.
    let mut touched: HashMap<u64, u32> = HashMap::new();
    let (mut latency, mut bytes, mut next) = (Time::ZERO, 0, 0);
    loop {
        while let Some(io) = flow.requests.get(next) {
            let waits = match flow.depth {
                Some(depth) => device.outstanding() >= depth as usize,
                None => io.arrival > device.now(),
            };
            if waits {
                break;
            }
            let (first, end) = (
                io.offset / lba_bytes,
                (io.offset + io.bytes).div_ceil(lba_bytes),
            );
            let nlb = (end - first) as u32;
            let command = match io.is_write {
                true => Command::write(nsid, first, nlb, Directive::NONE, next as u64),
                false => Command::read(nsid, first, nlb, next as u64),
            };
            seen.outstanding.push(device.outstanding() as u32);
            let mut is_crowded = false;
            for chunk in io.chunks(chunk_bytes) {
                let users = touched.entry(chunk).or_default();
                is_crowded |= *users > 0;
                *users += 1;
            }
            seen.is_crowded.push(is_crowded);
            device.submit(&command).map_err(refused)?;
            next += 1;
        }
        let arrival = flow.requests.get(next).map(|io| io.arrival);
        let completed = match (flow.depth, arrival) {
            (None, Some(arrival)) => device.run_until_completion_or(arrival),
            _ => device.run_until_completion(),
        };
        if !completed && (arrival.is_none() || flow.depth.is_some()) {
            break;
        }
        while let Some(done) = device.pop_completion() {
            let io = &flow.requests[done.tag as usize];
            latency += done.latency();
            bytes += io.bytes;
            for chunk in io.chunks(chunk_bytes) {
                if let Some(users) = touched.get_mut(&chunk) {
                    *users -= 1;
                    if *users == 0 {
                        touched.remove(&chunk);
                    }
                }
            }
        }
    }
    let elapsed = device.now().as_secs_f64();
    let requests = flow.requests.len().max(1) as f64;
    let outcome = Outcome {
        mean_us: latency.as_secs_f64() * 1e6 / requests,
        mb_s: if elapsed > 0.0 {
            bytes as f64 / 1e6 / elapsed
        } else {
            0.0
        },
    };
    Ok((outcome, seen))
}
