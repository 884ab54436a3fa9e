//! Loads that are measured: sources of commands, each with a depth and its arrivals; what they do is tallied after a warm-up.

use std::ops::ControlFlow;

use thiserror::Error;

use super::{Direction, Ended, Failure, Load, Next, Stream, Tally, Turn, drain, drive};
use meldsim::device::{Device, DeviceError, QueueId, Stats};
use meldsim::engine::Random;
use meldsim::nvme::{Command, Completion, Directive, NamespaceId, Opcode, Priority, Status};
use meldsim::{Duration, Instant};

/// Order and direction of requests of one size, each aligned to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads anywhere.
    RandomRead,
    /// Writes anywhere.
    RandomWrite,
    /// Writes, one after the other.
    /// Round and round.
    SequentialWrite,
}

impl Access {
    /// Whether they write.
    pub fn writes(self) -> bool {
        self != Access::RandomRead
    }

    /// Such requests of the whole namespace, on and on.
    pub fn requests(
        self,
        device: &Device,
        nsid: NamespaceId,
        request_bytes: u64,
        seed: u64,
    ) -> impl Iterator<Item = Command> + use<> {
        let size_lbas = device.namespace(nsid).map_or(0, |space| space.size_lbas);
        let nlb = request_bytes / device.profile().controller.lba_size.0;
        let mut random = Random::new(seed);
        (0..).map(move |n: u64| {
            let block = match self {
                Access::SequentialWrite => n % (size_lbas / nlb),
                Access::RandomRead | Access::RandomWrite => random.below(size_lbas / nlb),
            };
            transfer(self.writes(), nsid, block * nlb, nlb)
        })
    }
}

/// A write or a read of so many logical blocks.
pub fn transfer(is_write: bool, nsid: NamespaceId, slba: u64, nlb: u64) -> Command {
    match is_write {
        true => Command::write(nsid, slba, nlb as u32, Directive::NONE, 0),
        false => Command::read(nsid, slba, nlb as u32, 0),
    }
}

/// When the commands of a source arrive.
#[derive(Clone, Copy, Debug)]
pub enum Arrivals {
    /// When one of the source's has completed: a closed loop.
    Closed,
    /// So many a second, at equal distances.
    Even(f64),
    /// So many a second, at exponential distances.
    Poisson(f64),
}

/// A source of commands: a thread of the host, with so many outstanding at most.
pub struct Source<'a> {
    queue: QueueId,
    depth: u64,
    arrivals: Arrivals,
    commands: Commands<'a>,
}

/// What a source does next. It is asked when its next command has arrived.
type Commands<'a> = Box<dyn FnMut(&mut Device) -> Result<Next<()>, LoadError> + 'a>;

/// What is not tallied at the start.
#[derive(Clone, Copy, Debug)]
pub enum WarmUp {
    /// The first completions.
    Requests(u64),
    /// What is submitted before this much time has passed.
    Time(Duration),
}

impl WarmUp {
    /// Everything is tallied.
    pub const NONE: WarmUp = WarmUp::Requests(0);
}

/// How long sources go on.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// So many requests are tallied. What is outstanding then remains so.
    Requests(u64),
    /// The same, and the device has drained: programs and collections under way have ended, too.
    Drained(u64),
    /// This much time has passed since the warm-up. What is outstanding then remains so.
    Time(Duration),
    /// There are no more commands, and all have completed.
    End,
}

/// What sources did after the warm-up.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Of each source its reads, and all else. Each is over the time to its last completion.
    pub sources: Vec<[Tally; 2]>,
    /// From the end of the warm-up to the first completion tallied.
    pub first: Duration,
    /// The device's counters when the warm-up had ended.
    pub before: Stats,
    /// The device's counters at the end.
    pub after: Stats,
}

impl Measured {
    /// What all sources did.
    pub fn all(&self) -> Tally {
        sum(self.sources.iter().flatten())
    }

    /// The reads of all sources, over the time of all that they did.
    pub fn reads(&self) -> Tally {
        self.of(0, Direction::Read)
    }

    /// What the sources from that one on did besides, over the same time.
    pub fn writes_from(&self, source: usize) -> Tally {
        self.of(source, Direction::Write)
    }

    fn of(&self, first: usize, direction: Direction) -> Tally {
        let each = self.sources.iter();
        let mut all = sum(each.skip(first).map(|source| &source[direction as usize]));
        all.duration = self.all().duration;
        all
    }
}

fn sum<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Tally {
    let mut all = Tally::default();
    tallies.for_each(|tally| all.merge(tally));
    all
}

/// Why a load was not measured.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The device refuses a command.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A command did not succeed: a defect of the model.
    #[error("a command did not complete: {0:?}")]
    Incomplete(Option<Completion>),
}

impl<R> From<Failure<R>> for LoadError {
    fn from(failure: Failure<R>) -> LoadError {
        match failure {
            Failure::Refused(_, _, error) => LoadError::Device(error),
            Failure::Stuck { .. } => LoadError::Incomplete(None),
        }
    }
}

impl<'a> Source<'a> {
    /// A closed loop of commands: `depth` are outstanding until there are no more.
    pub fn new(
        depth: impl Into<u64>,
        commands: impl IntoIterator<Item = Command, IntoIter: 'a>,
    ) -> Source<'a> {
        let mut commands = commands.into_iter();
        Source::asking(depth, move |_| {
            let next = commands.next();
            Ok(next.map_or(Next::Wait, |command| Next::Submit(command, ())))
        })
    }

    /// The same of commands that depend on the device, prepare it, or have times of their own.
    pub fn asking(
        depth: impl Into<u64>,
        next: impl FnMut(&mut Device) -> Result<Next<()>, LoadError> + 'a,
    ) -> Source<'a> {
        Source {
            queue: QueueId::default(),
            depth: depth.into(),
            arrivals: Arrivals::Closed,
            commands: Box::new(next),
        }
    }

    /// One command alone: what it takes to complete.
    pub fn once(device: &mut Device, command: Command) -> Result<Duration, LoadError> {
        let measured = Source::new(1u64, [command]).measure(device, WarmUp::NONE, Until::End)?;
        Ok(measured.duration)
    }

    /// Its commands arrive so.
    pub fn arriving(self, arrivals: Arrivals) -> Source<'a> {
        Source { arrivals, ..self }
    }

    /// On a submission queue of its own.
    pub fn on_own_queue(mut self, device: &mut Device) -> Result<Source<'a>, DeviceError> {
        let entries = u32::try_from(self.depth).unwrap_or(u32::MAX);
        self.queue = device.create_queue(entries, Priority::default())?;
        Ok(self)
    }

    /// Measures this source alone.
    pub fn measure(
        self,
        device: &mut Device,
        warm_up: WarmUp,
        until: Until,
    ) -> Result<Tally, LoadError> {
        Ok(measure(device, [self], warm_up, until, |_, _, _| {})?.all())
    }

    /// Measures so many requests once each slot of the queue was used twice, and drains the device.
    pub fn measure_warm(self, device: &mut Device, requests: u64) -> Result<Tally, LoadError> {
        let warm_up = WarmUp::Requests(2 * self.depth);
        self.measure(device, warm_up, Until::Drained(requests))
    }
}

/// Runs the sources at once. `watch` sees each completion that is tallied with the number of its source, and the device as it is
/// then.
pub fn measure<'a>(
    device: &mut Device,
    sources: impl IntoIterator<Item = Source<'a>>,
    warm_up: WarmUp,
    until: Until,
    watch: impl FnMut(&Device, usize, &Completion),
) -> Result<Measured, LoadError> {
    let now = device.now();
    let counted_from = match warm_up {
        WarmUp::Requests(_) => now,
        WarmUp::Time(time) => now + time,
    };
    let sources: Vec<Source<'a>> = sources.into_iter().collect();
    let streams: Vec<Stream> = sources
        .iter()
        .map(|source| Stream::new(source.queue, source.depth))
        .collect();
    let stats = device.stats();
    let mut running = Running {
        lba_bytes: device.profile().controller.lba_size.0,
        warm_up,
        until,
        counted_from,
        tallied: 0,
        is_over: false,
        due: (7..)
            .take(sources.len())
            .map(|seed| (now, Random::new(seed)))
            .collect(),
        measured: Measured {
            sources: vec![Default::default(); sources.len()],
            first: Duration::ZERO,
            before: stats,
            after: stats,
        },
        sources,
        watch,
    };
    drive(device, streams, &mut running)?;
    if let Until::Drained(_) = until {
        drain(device);
    }
    running.measured.after = device.stats();
    Ok(running.measured)
}

struct Running<'a, W> {
    sources: Vec<Source<'a>>,
    /// When the next command of an open source arrives.
    due: Vec<(Instant, Random)>,
    measured: Measured,
    lba_bytes: u64,
    warm_up: WarmUp,
    until: Until,
    counted_from: Instant,
    /// Requests of all sources.
    tallied: u64,
    /// No more is submitted.
    is_over: bool,
    watch: W,
}

impl<W> Running<'_, W> {
    /// Everything that was to be tallied is.
    fn has_enough(&self) -> bool {
        matches!(self.until, Until::Requests(most) | Until::Drained(most) if self.tallied >= most)
    }
}

impl<W: FnMut(&Device, usize, &Completion)> Load for Running<'_, W> {
    /// Bytes, and when its submission began.
    type Request = (u64, Instant);
    type Error = LoadError;

    fn next(&mut self, device: &mut Device, turn: Turn) -> Result<Next<(u64, Instant)>, LoadError> {
        let now = device.now();
        let source = &mut self.sources[turn.stream];
        let (due, random) = &mut self.due[turn.stream];
        let gap_ps = match source.arrivals {
            Arrivals::Closed => 0.0,
            Arrivals::Even(rate) => 1e12 / rate,
            Arrivals::Poisson(rate) => 1e12 / rate * random.exponential(),
        };
        if *due > now {
            return Ok(Next::At(*due));
        }
        *due += Duration::from_ps(gap_ps as u64);
        let next = match self.is_over {
            true => Next::Wait,
            false => (source.commands)(device)?,
        };
        // Each command that completes at the last moment is still followed by another.
        self.is_over = self.has_enough() && turn.unseen == 0;
        Ok(match next {
            Next::Submit(command, ()) => {
                let bytes = u64::from(command.nlb) * self.lba_bytes;
                Next::Submit(command, (bytes, now))
            }
            Next::At(time) => Next::At(time),
            Next::Wait => Next::Wait,
        })
    }

    fn completed(
        &mut self,
        device: &Device,
        stream: usize,
        (bytes, begun): (u64, Instant),
        done: &Completion,
    ) -> Result<ControlFlow<()>, LoadError> {
        if done.status != Status::SUCCESS {
            return Err(LoadError::Incomplete(Some(*done)));
        }
        if let Until::Time(time) = self.until {
            if done.completed > self.counted_from + time {
                return Ok(ControlFlow::Break(()));
            }
        }
        let is_warm = match &mut self.warm_up {
            WarmUp::Time(_) => begun >= self.counted_from,
            WarmUp::Requests(0) => true,
            WarmUp::Requests(left) => {
                *left -= 1;
                self.counted_from = done.completed;
                if *left == 0 {
                    self.measured.before = device.stats();
                }
                false
            }
        };
        if !is_warm || self.has_enough() {
            return Ok(ControlFlow::Continue(()));
        }
        let direction = match done.opcode {
            Opcode::Read => Direction::Read,
            _ => Direction::Write,
        };
        let tally = &mut self.measured.sources[stream][direction as usize];
        tally.record(&Ended {
            arrived: begun,
            begun,
            submitted: done.submitted,
            completed: done.completed,
            bytes,
            direction,
            failed: false,
        });
        tally.duration = done.completed - self.counted_from;
        if self.tallied == 0 {
            self.measured.first = tally.duration;
        }
        self.tallied += 1;
        (self.watch)(device, stream, done);
        let is_enough = matches!(self.until, Until::Requests(_)) && self.has_enough();
        Ok(match is_enough {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }

    fn failed(&self, failure: Failure<(u64, Instant)>) -> LoadError {
        failure.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::profile::{HostPath, Profile};

    fn device() -> (Device, NamespaceId) {
        let mut device = Device::new(&Profile::builtin("melded-tlc-8x8").unwrap()).unwrap();
        let nsid = device.create_namespace(4 << 20).unwrap();
        device.preload(nsid, 0, 1024, Directive::NONE).unwrap();
        (device, nsid)
    }

    #[test]
    fn a_loop_ends_with_its_commands() {
        let (mut device, nsid) = device();
        let reads = Access::RandomRead
            .requests(&device, nsid, 8192, 1)
            .take(100);
        let read = Source::new(8u64, reads).measure(&mut device, WarmUp::NONE, Until::End);
        let tally = read.unwrap();
        assert_eq!((tally.requests, tally.bytes), (100, 100 * 8192));
        assert_eq!(tally.latencies().count(), 100);
        assert_eq!(
            (device.outstanding(), device.now()),
            (0, Instant::START + tally.duration)
        );
    }

    #[test]
    fn what_is_not_warm_is_not_tallied() {
        for (warm_up, seen) in [
            (WarmUp::Requests(30), 70),
            (WarmUp::Time(Duration::from_ms(50)), 0),
        ] {
            let (mut device, nsid) = device();
            let reads = Access::RandomRead.requests(&device, nsid, 4096, 1);
            let reads = [Source::new(4u64, reads.take(100))];
            let mut watched = 0;
            let watch = |_: &Device, _, _: &Completion| watched += 1;
            let measured = measure(&mut device, reads, warm_up, Until::End, watch).unwrap();
            assert_eq!((measured.all().requests, watched), (seen, seen));
        }
    }

    #[test]
    fn enough_requests_end_a_loop_at_once_or_drained() {
        let reads = |until| {
            let (mut device, nsid) = device();
            let reads = Source::new(8u64, Access::RandomRead.requests(&device, nsid, 4096, 1));
            let tally = reads.measure(&mut device, WarmUp::NONE, until).unwrap();
            assert_eq!(tally.requests, 40);
            (device.stats().read_commands, device.outstanding())
        };
        let (submitted, outstanding) = reads(Until::Requests(40));
        // The last that is tallied is not followed by another.
        assert!(submitted == 47 && outstanding > 0, "{outstanding}");
        let (submitted, outstanding) = reads(Until::Drained(40));
        assert!(submitted >= 48 && outstanding == 0, "{submitted}");
    }

    #[test]
    fn time_ends_all_loops_together() {
        let (mut device, nsid) = device();
        let loops = [1u64, 16].map(|depth| {
            Source::new(
                depth,
                Access::RandomRead.requests(&device, nsid, 4096, depth),
            )
        });
        let until = Until::Time(Duration::from_ms(20));
        let warm_up = WarmUp::Time(Duration::from_ms(10));
        let measured = measure(&mut device, loops, warm_up, until, |_, _, _| {}).unwrap();
        let [[slow, _], [fast, _]] = &measured.sources[..] else {
            panic!("two sources");
        };
        assert!(fast.requests > 8 * slow.requests, "{fast:?} {slow:?}");
        assert!(measured.first > Duration::ZERO && fast.duration <= Duration::from_ms(20));
        assert!(device.now() > Instant::START + Duration::from_ms(30));
    }

    #[test]
    fn latencies_include_the_hosts_path() {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        let mut mean_us = || {
            let mut device = Device::new(&profile).unwrap();
            let nsid = device.create_namespace(4 << 20).unwrap();
            device.preload(nsid, 0, 1024, Directive::NONE).unwrap();
            let reads = Source::new(1u64, Access::RandomRead.requests(&device, nsid, 4096, 1));
            let tally = reads.measure_warm(&mut device, 50).unwrap();
            assert_eq!((tally.requests, device.outstanding()), (50, 0));
            profile.host.path = HostPath::Libaio;
            tally.mean_us()
        };
        let bare = mean_us();
        assert!((mean_us() - bare - 12.0).abs() < 1e-6);
    }

    #[test]
    fn a_loop_ends_though_its_thread_is_the_limit() {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        profile.host.path = HostPath::Libaio;
        profile.host.path_submit_time = Some(Duration::from_us(200));
        let mut device = Device::new(&profile).unwrap();
        let nsid = device.create_namespace(4 << 20).unwrap();
        device.preload(nsid, 0, 1024, Directive::NONE).unwrap();
        let reads = Source::new(8u64, Access::RandomRead.requests(&device, nsid, 4096, 1));
        let tally = reads.measure_warm(&mut device, 50).unwrap();
        assert_eq!((tally.requests, device.outstanding()), (50, 0));
        assert!((tally.mean_us() - 1600.0).abs() < 1e-6, "depth over rate");
        assert!((tally.iops().unwrap() - 5000.0).abs() < 1e-6);
    }

    #[test]
    fn open_sources_keep_their_rates_and_the_counters_are_those_of_what_is_tallied() {
        let (mut device, nsid) = device();
        let sources = [Arrivals::Even(10_000.0), Arrivals::Poisson(10_000.0)].map(|arrivals| {
            let access = match arrivals {
                Arrivals::Even(_) => Access::RandomRead,
                _ => Access::RandomWrite,
            };
            let requests = access.requests(&device, nsid, 4096, 1);
            let source = Source::new(64u64, requests).arriving(arrivals);
            source.on_own_queue(&mut device).unwrap()
        });
        let (warm_up, until) = (WarmUp::Requests(100), Until::Requests(1_000));
        let measured = measure(&mut device, sources, warm_up, until, |_, _, _| {}).unwrap();
        let (reads, writes) = (measured.reads(), measured.writes_from(1));
        assert_eq!(reads.requests + writes.requests, 1_000);
        assert!(
            (reads.iops().unwrap() / 10_000.0 - 1.0).abs() < 0.02,
            "{reads:?}"
        );
        assert!(
            (writes.iops().unwrap() / 10_000.0 - 1.0).abs() < 0.15,
            "{writes:?}"
        );
        let commands = measured.after.since(&measured.before).read_commands;
        assert!(
            commands.abs_diff(reads.requests) <= 5,
            "{commands} {reads:?}"
        );
        assert_eq!(measured.writes_from(2).requests, 0);
    }

    #[test]
    fn a_source_may_say_when_its_next_command_comes() {
        let (mut device, nsid) = device();
        let (mut left, mut due) = (3, device.now());
        let source = Source::asking(1u64, |device| {
            Ok(match (left, due > device.now()) {
                (0, _) => Next::Wait,
                (_, true) => Next::At(due),
                (_, false) => {
                    (left, due) = (left - 1, due + Duration::from_ms(1));
                    Next::Submit(Command::read(nsid, 0, 1, 0), ())
                }
            })
        });
        let tally = source
            .measure(&mut device, WarmUp::NONE, Until::End)
            .unwrap();
        assert_eq!(tally.requests, 3);
        assert!(tally.duration > Duration::from_ms(2));
    }

    #[test]
    fn a_command_alone_takes_its_latency() {
        let (mut device, nsid) = device();
        let read = Command::read(nsid, 0, 1, 0);
        let latency = Source::once(&mut device, read).unwrap();
        assert_eq!(device.now(), Instant::START + latency);
        // Beyond the namespace.
        let read = Command::read(nsid, 1 << 40, 1, 0);
        let refused = Source::once(&mut device, read);
        assert!(matches!(refused, Err(LoadError::Device(_))), "{refused:?}");
    }
}
