//! How a device serves the first requests of a workload.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;

use meldsim::device::{Device, QueueId};
use meldsim::nvme::{Command, Completion, Directive, NamespaceId};
use meldsim::profile::Profile;
use meldsim::{Duration, Instant};
use meldsim_host::{Failure, Load, Next, Stream, Turn, drain, drive, transfer};
use meldsim_workload::RunError;
use meldsim_workload::sample::{Io, Sample, Source};

/// What is refused names this as its job.
const JOB: &str = "advise";

/// How a device serves a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Outcome {
    /// Mean latency of a request, in microseconds.
    pub mean_us: f64,
    /// Bytes a second, in MB/s.
    pub mb_s: f64,
}

/// What was outstanding when a request was submitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Requests outstanding before it.
    pub(super) outstanding: u32,
    /// Whether one of them touches a chunk of its.
    pub(super) is_crowded: bool,
}

/// Simulates the sample; says besides what the requests of each source saw.
pub(super) fn simulate(
    profile: &Profile,
    sample: &Sample,
    chunk_bytes: u64,
) -> Result<(Outcome, Vec<Vec<Seen>>), RunError> {
    let mut device = Device::new(profile)?;
    let lba_bytes = profile.controller.lba_size.0;
    let end = sample.requests().map(Io::end).max();
    let size_bytes = end
        .unwrap_or(1)
        .next_multiple_of(chunk_bytes.max(lba_bytes));
    let nsid = device
        .create_namespace(size_bytes)
        .map_err(RunError::of(JOB))?;
    for io in sample.requests() {
        let (slba, nlb) = io.lbas(lba_bytes);
        let placed = device.preload_unmapped(nsid, slba, nlb, Directive::NONE);
        placed.map_err(RunError::of(JOB))?;
    }
    let sources = &sample.sources;
    let mut load = Simulated {
        sources,
        states: vec![State::default(); sources.len()],
        nsid,
        lba_bytes,
        chunk_bytes,
        outstanding: 0,
        touched: HashMap::new(),
        seen: vec![Vec::new(); sources.len()],
        resumed: Vec::new(),
        latency: Duration::ZERO,
        bytes: 0,
    };
    let stream = |source: &Source| Stream::new(QueueId::default(), source.depth);
    drive(&mut device, sources.iter().map(stream), &mut load)?;
    drain(&mut device);
    let elapsed = device.now().since_start().as_secs_f64();
    let requests = sample.count().max(1) as f64;
    let outcome = Outcome {
        mean_us: load.latency.as_secs_f64() * 1e6 / requests,
        mb_s: if elapsed > 0.0 {
            load.bytes as f64 / 1e6 / elapsed
        } else {
            0.0
        },
    };
    Ok((outcome, load.seen))
}

/// How far a source is.
#[derive(Clone, Debug, Default)]
struct State {
    /// When it started or will start, once those before it have ended.
    start: Option<Instant>,
    submitted: usize,
    since_pause: u32,
    paused_until: Instant,
    has_ended: bool,
}

/// A sample as a load.
struct Simulated<'a> {
    sources: &'a [Source],
    states: Vec<State>,
    nsid: NamespaceId,
    lba_bytes: u64,
    chunk_bytes: u64,
    /// Of all sources.
    outstanding: u32,
    /// How many outstanding requests touch each chunk; only looked up.
    touched: HashMap<u64, u32>,
    seen: Vec<Vec<Seen>>,
    /// Sources that may begin.
    resumed: Vec<usize>,
    latency: Duration,
    bytes: u64,
}

impl<'a> Simulated<'a> {
    fn may_begin(&self, source: usize) -> bool {
        let after = &self.states[self.sources[source].after.clone()];
        // The last of them most likely runs.
        after.iter().rev().all(|state| state.has_ended)
    }

    fn end(&mut self, source: usize) {
        self.states[source].has_ended = true;
        for other in (source + 1..self.sources.len()).rev() {
            if self.states[other].start.is_none() && self.may_begin(other) {
                self.resumed.push(other);
            }
        }
    }

    /// The command of a request, and notes what it sees.
    fn submit(&mut self, source: usize, io: &Io) -> Command {
        let mut is_crowded = false;
        for chunk in io.chunks(self.chunk_bytes) {
            let users = self.touched.entry(chunk).or_default();
            is_crowded |= *users > 0;
            *users += 1;
        }
        self.seen[source].push(Seen {
            outstanding: self.outstanding,
            is_crowded,
        });
        self.outstanding += 1;
        let (slba, nlb) = io.lbas(self.lba_bytes);
        transfer(io.is_write, self.nsid, slba, nlb)
    }
}

impl<'a> Load for Simulated<'a> {
    /// The request, and since when it is there.
    type Request = (&'a Io, Instant);
    type Error = RunError;

    fn next(
        &mut self,
        device: &mut Device,
        turn: Turn,
    ) -> Result<Next<(&'a Io, Instant)>, RunError> {
        // What completes now is not outstanding for a request that is submitted now. One of several sources cannot wait
        // for that: what completes may be another's.
        if self.sources.len() == 1 && turn.unseen + turn.deferred > 0 {
            return Ok(Next::Wait);
        }
        let now = device.now();
        let index = turn.stream;
        let source = &self.sources[index];
        let start = match self.states[index].start {
            Some(start) => start,
            None if self.may_begin(index) => now + source.delay,
            None => return Ok(Next::Wait),
        };
        let state = &mut self.states[index];
        state.start = Some(start);
        let Some(io) = source.requests.get(state.submitted) else {
            if turn.outstanding == 0 && !state.has_ended {
                self.end(index);
            }
            return Ok(Next::Wait);
        };
        let (pause, pause_every) = source.pause;
        if pause > Duration::ZERO && state.since_pause >= pause_every {
            if turn.outstanding > 0 {
                return Ok(Next::Wait);
            }
            state.since_pause = 0;
            state.paused_until = now + pause;
        }
        let arrival = io.arrival.map_or(start, |arrival| start + arrival);
        let due = arrival.max(state.paused_until);
        if due > now {
            return Ok(Next::At(due));
        }
        state.submitted += 1;
        state.since_pause = state.since_pause.saturating_add(1);
        let since = io.arrival.map_or(now, |_| arrival);
        Ok(Next::Submit(self.submit(index, io), (io, since)))
    }

    fn resumed(&mut self) -> Option<usize> {
        self.resumed.pop()
    }

    fn completed(
        &mut self,
        _: &Device,
        _: usize,
        (io, since): (&'a Io, Instant),
        completion: &Completion,
    ) -> Result<ControlFlow<()>, RunError> {
        self.outstanding -= 1;
        self.latency += completion.completed - since;
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

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim_workload::{Job, Rate, ReadWrite, Runner};

    fn read(change: impl Fn(&mut Job)) -> Job {
        let mut job = Job {
            rw: ReadWrite::RandRead,
            size_bytes: 64 << 20,
            io_bytes: Some(4 << 20),
            iodepth: 2,
            ..Job::new("read")
        };
        change(&mut job);
        job
    }

    /// Mean latency in microseconds and MB/s of jobs that run, by all their requests.
    fn run(profile: &Profile, jobs: &[Job]) -> (f64, f64) {
        let result = Runner::new(profile, jobs).unwrap().run(|_| {}).unwrap();
        let reads = || result.jobs.iter().filter_map(|job| job.read.as_ref());
        let requests: u64 = reads().map(|read| read.requests).sum();
        let latency: f64 = reads()
            .map(|read| read.latencies().mean_ps() / 1e6 * read.requests as f64)
            .sum();
        let bytes: u64 = reads().map(|read| read.bytes).sum();
        let seconds = result.device.stats.now_ps as f64 / 1e12;
        (latency / requests as f64, bytes as f64 / 1e6 / seconds)
    }

    #[test]
    fn jobs_are_served_as_when_they_run() {
        let profile = Profile::builtin("optane-900p").unwrap();
        let second = |change: fn(&mut Job)| {
            let mut job = read(|job| job.name = "second".to_owned());
            change(&mut job);
            vec![read(|_| {}), job]
        };
        let workloads: [(&str, Vec<Job>); 9] = [
            ("alone", vec![read(|_| {})]),
            ("numjobs", vec![read(|job| job.numjobs = 16)]),
            ("together", second(|job| job.iodepth = 32)),
            (
                "stonewall",
                second(|job| (job.stonewall, job.iodepth) = (true, 32)),
            ),
            (
                "wait_for",
                second(|job| (job.wait_for, job.iodepth) = (Some("read".to_owned()), 32)),
            ),
            (
                "startdelay",
                second(|job| job.start_delay = Duration::from_ms(20)),
            ),
            (
                "rate",
                vec![read(|job| {
                    job.rate_read = Some(Rate::Requests(100_000));
                    job.iodepth = 64;
                })],
            ),
            (
                "poisson",
                vec![read(|job| {
                    (job.poisson, job.iodepth) = (true, 64);
                    job.rate_read = Some(Rate::Requests(400_000));
                })],
            ),
            (
                "thinktime",
                vec![read(|job| {
                    (job.think_time, job.think_blocks) = (Duration::from_us(50), 4)
                })],
            ),
        ];
        for (name, jobs) in workloads {
            let (outcome, _) = simulate(&profile, &Sample::of_jobs(&jobs).unwrap(), 4096).unwrap();
            let (mean_us, mb_s) = run(&profile, &jobs);
            for (is, runs) in [(outcome.mean_us, mean_us), (outcome.mb_s, mb_s)] {
                assert!((is / runs - 1.0).abs() < 0.02, "{name}: {is}, {runs}");
            }
        }
    }
}
