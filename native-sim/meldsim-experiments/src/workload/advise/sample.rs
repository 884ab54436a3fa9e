//! The first requests of a workload, of jobs or of a trace, and how a device serves them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::BufRead;
use std::ops::{ControlFlow, Range};

use super::super::error::{Fault, RunError};
use super::super::job::{Job, JobError};
use super::super::requests::{Pace, Requests};
use super::super::runner::waits_for;
use super::super::trace::{Extent, Op, TraceReader};
use meldsim::device::{Device, QueueId};
use meldsim::nvme::{Command, Completion, Directive, NamespaceId};
use meldsim::profile::Profile;
use meldsim::{Duration, Instant};
use meldsim_drive::{Failure, Load, Next, Stream, Turn, drain, drive};

/// Requests of a sample at most.
const MOST_REQUESTS: usize = 100_000;
/// What is refused names this as its job.
const JOB: &str = "advise";
/// Volumes, blocks and files begin at multiples of this, so that requests are aligned as within these.
const ALIGNMENT: u64 = 1 << 30;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Io {
    /// When it arrives, from its source's start; `None` is as soon as the source may submit it.
    pub(super) arrival: Option<Duration>,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) is_write: bool,
}

impl Io {
    pub(super) fn end(&self) -> u64 {
        self.offset + self.bytes
    }

    /// The chunks it touches.
    pub(super) fn chunks(&self, chunk_bytes: u64) -> Range<u64> {
        self.offset / chunk_bytes..self.end().div_ceil(chunk_bytes)
    }

    /// The first of the logical blocks it touches, and how many there are.
    fn lbas(&self, lba_bytes: u64) -> (u64, u64) {
        let touched = self.chunks(lba_bytes);
        (touched.start, touched.end - touched.start)
    }
}

/// What submits requests in its order: a job, or a trace.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) requests: Vec<Io>,
    /// Most of them outstanding.
    pub(super) depth: u64,
    /// The sources that must have ended before it begins.
    after: Range<usize>,
    /// It starts so much later.
    delay: Duration,
    /// Pause after every so many requests, when those are complete.
    pause: (Duration, u32),
}

impl Source {
    /// Submits as its depth and the arrivals allow.
    fn new(requests: Vec<Io>, depth: u64) -> Source {
        Source {
            requests,
            depth,
            after: 0..0,
            delay: Duration::ZERO,
            pause: (Duration::ZERO, 1),
        }
    }
}

/// The first requests of a workload.
#[derive(Clone, Debug)]
pub struct Sample {
    pub(super) sources: Vec<Source>,
}

impl Sample {
    /// The jobs' requests, in turn. Each job begins, waits and keeps its depth and its rate as when it runs; equal jobs are
    /// jobs of their own. Jobs with the same file access the same bytes.
    ///
    /// # Errors
    ///
    /// A job that waits for one that is not there, or files that end beyond 2^64 B.
    pub fn of_jobs(jobs: &[Job]) -> Result<Sample, RunError> {
        let mut room = Room::default();
        let mut files: Vec<(String, usize)> = Vec::new();
        let mut sources: Vec<Source> = Vec::new();
        let mut draws = Vec::new();
        let mut sections: Vec<Range<usize>> = Vec::new();
        // The first source of those that start together.
        let mut group = 0;
        for (section, job) in jobs.iter().enumerate() {
            let first = sources.len();
            if job.stonewall {
                group = first;
            }
            // A job of its own group has waited for the groups before.
            let after = waits_for(&jobs[..section], job)?
                .map(|section| sections[section].clone())
                .filter(|others| others.start >= group)
                .unwrap_or(0..group);
            for clone in job.clones() {
                let known = files
                    .iter()
                    .find(|(file, _)| Some(file) == clone.file.as_ref());
                let extent = known.map_or(room.ends.len(), |(_, extent)| *extent);
                room.grow(extent, clone.end_bytes())
                    .ok_or_else(|| too_far(&clone))?;
                let source = Source {
                    after: after.clone(),
                    delay: clone.start_delay,
                    pause: (clone.think_time, clone.think_blocks),
                    ..Source::new(Vec::new(), u64::from(clone.iodepth))
                };
                sources.push(source);
                let pace = Pace::new(&clone, Instant::START);
                draws.push((Requests::new(&clone), pace, extent));
                files.extend(clone.file.map(|file| (file, extent)));
            }
            sections.push(first..sources.len());
        }
        let bases = room.bases();
        let mut left = MOST_REQUESTS;
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for (source, (draw, pace, extent)) in sources.iter_mut().zip(&mut draws) {
                let Some(next) = draw.next().filter(|_| left > 0) else {
                    continue;
                };
                let arrival = pace.next(next.write).map(Instant::since_start);
                pace.take(next.write, next.bytes);
                source.requests.push(Io {
                    arrival,
                    offset: bases[*extent] + next.start,
                    bytes: next.bytes,
                    is_write: next.write,
                });
                left -= 1;
                goes_on = true;
            }
        }
        Ok(Sample { sources })
    }

    /// The trace's reads and writes, when they arrived. Volumes and blocks lie one after the other.
    ///
    /// # Errors
    ///
    /// A line that cannot be read, or volumes and blocks that end beyond 2^64 B.
    pub fn of_trace<R: BufRead>(mut reader: TraceReader<R>) -> Result<Sample, RunError> {
        let mut requests = Vec::new();
        let mut room = Room::default();
        let mut extents = Vec::new();
        // Only looked up, so that its order is never seen.
        let mut places: HashMap<(usize, Option<u64>), usize> = HashMap::new();
        while let Some(record) = reader.next_record()? {
            if requests.len() == MOST_REQUESTS {
                break;
            }
            if !matches!(record.op, Op::Read | Op::Write) || record.length == 0 {
                continue;
            }
            let block = match record.extent {
                Extent::Volume => None,
                Extent::Block(block) => Some(block),
            };
            let next = places.len();
            let extent = *places.entry((record.volume, block)).or_insert(next);
            room.grow(extent, record.offset + record.length)
                .ok_or_else(|| {
                    let message = format!(
                        "is {}: with it all volumes and blocks together end beyond 2^64 B",
                        record.offset
                    );
                    reader.fault(Fault::new("offset", message, "mend or remove the line"))
                })?;
            extents.push(extent);
            requests.push(Io {
                arrival: Some(record.arrival),
                offset: record.offset,
                bytes: record.length,
                is_write: record.op == Op::Write,
            });
        }
        let bases = room.bases();
        for (io, extent) in requests.iter_mut().zip(extents) {
            io.offset += bases[extent];
        }
        Ok(Sample {
            sources: vec![Source::new(requests, u64::MAX)],
        })
    }

    /// How many requests there are.
    pub(super) fn len(&self) -> usize {
        self.sources
            .iter()
            .map(|source| source.requests.len())
            .sum()
    }

    /// All requests.
    pub(super) fn requests(&self) -> impl Iterator<Item = &Io> {
        self.sources.iter().flat_map(|source| &source.requests)
    }

    /// The requests of all sources in their order, from one with that depth.
    pub(super) fn with_depth(&self, depth: u32) -> Sample {
        let mut requests = Vec::new();
        for source in &self.sources {
            let numbered = source.requests.iter().enumerate();
            requests
                .extend(numbered.map(|(index, io)| ((source.after.end, io.arrival, index), io)));
        }
        // Stable: of equal ones, that of the first source is first.
        requests.sort_by_key(|(order, _)| *order);
        let together = requests.into_iter().map(|(_, io)| Io {
            arrival: None,
            ..*io
        });
        Sample {
            sources: vec![Source::new(together.collect(), u64::from(depth))],
        }
    }
}

/// The job whose file ends where no device has an address.
fn too_far(job: &Job) -> RunError {
    RunError::Job {
        job: job.name.clone(),
        error: JobError {
            key: "size",
            message: "with the jobs before it ends beyond 2^64 B".to_owned(),
            remedy: "use a smaller one".to_owned(),
        },
    }
}

/// Room for volumes, blocks or files, one after the other.
#[derive(Debug, Default)]
struct Room {
    /// Bytes of each.
    ends: Vec<u64>,
    bytes: u64,
}

impl Room {
    /// Makes one at least so long; `None` where all together would end beyond 2^64 B.
    fn grow(&mut self, extent: usize, end: u64) -> Option<()> {
        if extent == self.ends.len() {
            self.ends.push(0);
        }
        let end = end.checked_next_multiple_of(ALIGNMENT)?;
        let more = end.saturating_sub(self.ends[extent]);
        self.bytes = self.bytes.checked_add(more)?;
        self.ends[extent] += more;
        Some(())
    }

    /// Where each begins.
    fn bases(&self) -> Vec<u64> {
        let mut next = 0;
        let mut base = |bytes: &u64| {
            next += bytes;
            next - bytes
        };
        self.ends.iter().map(&mut base).collect()
    }
}

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
    let requests = sample.len().max(1) as f64;
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
        match io.is_write {
            true => Command::write(self.nsid, slba, nlb as u32, Directive::NONE, 0),
            false => Command::read(self.nsid, slba, nlb as u32, 0),
        }
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
    use super::super::super::job::{Rate, ReadWrite};
    use super::super::super::runner::Runner;
    use super::*;

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

    #[test]
    fn jobs_with_a_file_access_the_same_bytes() {
        let first = |file: Option<&str>| {
            let job = |name: &str| {
                read(|job| {
                    job.name = name.to_owned();
                    job.file = file.map(str::to_owned);
                    job.rw = ReadWrite::Read;
                })
            };
            let sample = Sample::of_jobs(&[job("a"), job("b")]).unwrap();
            let sources = sample.sources.iter();
            let first = sources.map(|source| source.requests[0].offset);
            first.collect::<Vec<u64>>()
        };
        assert_eq!(first(Some("one")), [0, 0]);
        assert_eq!(first(None), [0, ALIGNMENT]);
    }
}
