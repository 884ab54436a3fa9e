//! Measured closed loops: iterators of commands, each with a depth; what they do is tallied after a warm-up.

use std::ops::ControlFlow;

use thiserror::Error;

use super::{Failure, Load, Next, Stream, Turn, drain, drive};
use meldsim::device::{Device, DeviceError, QueueId};
use meldsim::engine::Random;
use meldsim::nvme::{Command, Completion, Directive, NamespaceId, Status};
use meldsim::{Duration, Instant};
use meldsim_stats::{LatencyHistogram, LatencySummary};

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
            let (slba, nlb) = (block * nlb, nlb as u32);
            match self.writes() {
                true => Command::write(nsid, slba, nlb, Directive::NONE, 0),
                false => Command::read(nsid, slba, nlb, 0),
            }
        })
    }
}

/// A closed loop: `depth` commands are outstanding until there are no more.
#[derive(Clone, Debug)]
pub struct Loop<I> {
    depth: u64,
    commands: I,
}

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

/// How long loops go on.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// So many requests of the first loop are tallied. What is outstanding then remains so.
    Requests(u64),
    /// The same, and the device has drained: programs and collections under way have ended, too.
    Drained(u64),
    /// This much time has passed since the warm-up. What is outstanding then remains so.
    Time(Duration),
    /// There are no more commands, and all have completed.
    End,
}

/// What a loop did after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Of each request, from its submission to its completion.
    pub latency: LatencyHistogram,
    /// Requests completed.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// From the end of the warm-up to the first completion tallied.
    pub first: Duration,
    /// From the end of the warm-up to the last completion tallied.
    pub elapsed: Duration,
}

impl Tally {
    /// Bytes a second, in MiB.
    pub fn mib_s(&self) -> f64 {
        self.bytes as f64 / f64::from(1 << 20) / self.elapsed.as_secs_f64()
    }

    /// Bytes a second, in MB.
    pub fn mb_s(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.elapsed.as_secs_f64()
    }

    /// Requests a second.
    pub fn iops(&self) -> f64 {
        self.requests as f64 / self.elapsed.as_secs_f64()
    }

    /// The latencies summed up.
    ///
    /// # Errors
    ///
    /// Nothing was tallied.
    pub fn summary(&self) -> Result<LatencySummary, LoadError> {
        self.latency.summary().ok_or(LoadError::Incomplete(None))
    }

    /// The mean latency; not a number of nothing.
    pub fn mean_us(&self) -> f64 {
        self.latency
            .summary()
            .map_or(f64::NAN, |summary| summary.mean_us)
    }
}

impl Loop<std::iter::Once<Command>> {
    /// One command alone.
    pub fn once(command: Command) -> Self {
        Loop::new(1u64, std::iter::once(command))
    }

    /// Lets it complete, and returns its latency.
    pub fn complete(self, device: &mut Device) -> Result<Duration, LoadError> {
        Ok(self.measure(device, WarmUp::NONE, Until::End)?.elapsed)
    }
}

/// Why a loop has no tally.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The device refuses a command.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A command did not succeed: a defect of the model.
    #[error("a command did not complete: {0:?}")]
    Incomplete(Option<Completion>),
}

impl<I: Iterator<Item = Command>> Loop<I> {
    /// Commands at this depth.
    pub fn new(depth: impl Into<u64>, commands: I) -> Loop<I> {
        Loop {
            depth: depth.into(),
            commands,
        }
    }

    /// Measures this loop alone.
    pub fn measure(
        self,
        device: &mut Device,
        warm_up: WarmUp,
        until: Until,
    ) -> Result<Tally, LoadError> {
        let tallies = measure(device, [self], warm_up, until, |_, _| {})?;
        Ok(tallies.into_iter().next().unwrap_or_default())
    }

    /// Measures so many requests once each slot of the queue was used twice, and drains the device.
    pub fn measure_warm(self, device: &mut Device, requests: u64) -> Result<Tally, LoadError> {
        let warm_up = WarmUp::Requests(2 * self.depth);
        self.measure(device, warm_up, Until::Drained(requests))
    }
}

/// Runs the loops at once. `watch` sees each completion that is tallied, with the number of its loop.
pub fn measure<I: Iterator<Item = Command>>(
    device: &mut Device,
    loops: impl IntoIterator<Item = Loop<I>>,
    warm_up: WarmUp,
    until: Until,
    watch: impl FnMut(usize, &Completion),
) -> Result<Vec<Tally>, LoadError> {
    let counted_from = match warm_up {
        WarmUp::Requests(_) => device.now(),
        WarmUp::Time(time) => device.now() + time,
    };
    let stream = |depth| Stream::new(QueueId::default(), depth);
    let (streams, commands): (Vec<Stream>, Vec<I>) = loops
        .into_iter()
        .map(|each| (stream(each.depth), each.commands))
        .unzip();
    let mut measured = Measured {
        lba_bytes: device.profile().controller.lba_size.0,
        warm_up,
        until,
        counted_from,
        has_enough: false,
        is_over: false,
        tallies: vec![Tally::default(); commands.len()],
        commands,
        watch,
    };
    drive(device, streams, &mut measured)?;
    if let Until::Drained(_) = until {
        drain(device);
    }
    Ok(measured.tallies)
}

struct Measured<I, W> {
    commands: Vec<I>,
    tallies: Vec<Tally>,
    lba_bytes: u64,
    warm_up: WarmUp,
    until: Until,
    counted_from: Instant,
    /// Everything that was to be tallied is.
    has_enough: bool,
    /// No more is submitted.
    is_over: bool,
    watch: W,
}

impl<I, W> Load for Measured<I, W>
where
    I: Iterator<Item = Command>,
    W: FnMut(usize, &Completion),
{
    /// Bytes, and when its submission began.
    type Request = (u64, Instant);
    type Error = LoadError;

    fn next(&mut self, device: &mut Device, turn: Turn) -> Result<Next<(u64, Instant)>, LoadError> {
        let next = match self.is_over {
            true => None,
            false => self.commands[turn.stream].next(),
        };
        // Each command that completes at the last moment is still followed by another.
        self.is_over = self.has_enough && turn.unseen == 0;
        Ok(next.map_or(Next::Wait, |command| {
            let bytes = u64::from(command.nlb) * self.lba_bytes;
            Next::Submit(command, (bytes, device.now()))
        }))
    }

    fn completed(
        &mut self,
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
                false
            }
        };
        if !is_warm || self.has_enough {
            return Ok(ControlFlow::Continue(()));
        }
        let tally = &mut self.tallies[stream];
        tally.latency.record(done.completed - begun);
        tally.requests += 1;
        tally.bytes += bytes;
        tally.elapsed = done.completed - self.counted_from;
        if tally.requests == 1 {
            tally.first = tally.elapsed;
        }
        (self.watch)(stream, done);
        match self.until {
            Until::Requests(most) if stream == 0 && tally.requests == most => {
                Ok(ControlFlow::Break(()))
            }
            Until::Drained(most) => {
                self.has_enough = stream == 0 && tally.requests == most;
                Ok(ControlFlow::Continue(()))
            }
            _ => Ok(ControlFlow::Continue(())),
        }
    }

    fn failed(&self, failure: Failure<(u64, Instant)>) -> LoadError {
        match failure {
            Failure::Refused(_, _, error) => LoadError::Device(error),
            Failure::Stuck { .. } => LoadError::Incomplete(None),
        }
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
        let read = Loop::new(8u64, reads).measure(&mut device, WarmUp::NONE, Until::End);
        let tally = read.unwrap();
        assert_eq!((tally.requests, tally.bytes), (100, 100 * 8192));
        assert_eq!(tally.latency.count(), 100);
        assert_eq!(
            (device.outstanding(), device.now()),
            (0, Instant::START + tally.elapsed)
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
            let reads = [Loop::new(4u64, reads.take(100))];
            let mut watched = 0;
            let tallies = measure(&mut device, reads, warm_up, Until::End, |_, _| watched += 1);
            assert_eq!((tallies.unwrap()[0].requests, watched), (seen, seen));
        }
    }

    #[test]
    fn enough_requests_end_a_loop_at_once_or_drained() {
        let reads = |until| {
            let (mut device, nsid) = device();
            let reads = Loop::new(8u64, Access::RandomRead.requests(&device, nsid, 4096, 1));
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
            Loop::new(
                depth,
                Access::RandomRead.requests(&device, nsid, 4096, depth),
            )
        });
        let until = Until::Time(Duration::from_ms(20));
        let warm_up = WarmUp::Time(Duration::from_ms(10));
        let tallies = measure(&mut device, loops, warm_up, until, |_, _| {}).unwrap();
        let (slow, fast) = (&tallies[0], &tallies[1]);
        assert!(fast.requests > 8 * slow.requests, "{fast:?} {slow:?}");
        assert!(slow.first > Duration::ZERO && fast.elapsed <= Duration::from_ms(20));
        assert!(device.now() > Instant::START + Duration::from_ms(30));
    }

    #[test]
    fn latencies_include_the_hosts_path() {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        let mut mean_us = || {
            let mut device = Device::new(&profile).unwrap();
            let nsid = device.create_namespace(4 << 20).unwrap();
            device.preload(nsid, 0, 1024, Directive::NONE).unwrap();
            let reads = Loop::new(1u64, Access::RandomRead.requests(&device, nsid, 4096, 1));
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
        let reads = Loop::new(8u64, Access::RandomRead.requests(&device, nsid, 4096, 1));
        let tally = reads.measure_warm(&mut device, 50).unwrap();
        assert_eq!((tally.requests, device.outstanding()), (50, 0));
        assert!((tally.mean_us() - 1600.0).abs() < 1e-6, "depth over rate");
        assert!((tally.iops() - 5000.0).abs() < 1e-6);
    }

    #[test]
    fn a_command_alone_takes_its_latency() {
        let (mut device, nsid) = device();
        let read = Command::read(nsid, 0, 1, 0);
        let latency = Loop::once(read).complete(&mut device).unwrap();
        assert_eq!(device.now(), Instant::START + latency);
        // Beyond the namespace.
        let read = Command::read(nsid, 1 << 40, 1, 0);
        let refused = Loop::once(read).complete(&mut device);
        assert!(matches!(refused, Err(LoadError::Device(_))), "{refused:?}");
    }
}
