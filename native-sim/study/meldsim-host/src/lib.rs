//! The host that drives a device: experiments, jobs, replays and advice all run their commands through it.
//!
//! ```text
//!   Load::next -----Command-----> a stream's queue, at most `depth` outstanding --> Path --> Device
//!   Load::completed <--Request, Completion---------------------------------------- Path <-----'
//! ```
//!
//! Comes in: a device, its streams and a [`Load`], which says what each stream submits and when. Goes out: each completion,
//! with what the load had given along. A stream is a thread of the host: `host.path` of the device's profile says what it
//! takes for a command. A load is asked when the thread is free, and sees a completion when the host does. A closed loop submits whenever its depth allows, an open one at the arrivals that it
//! names (B. Schroeder, A. Wierman, M. Harchol-Balter: "Open Versus Closed: A Cautionary Tale", NSDI'06). The driver knows the
//! load by its type, so that an observer that does nothing costs nothing.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod parallel;
mod path;
mod reader;
mod source;
mod tally;
mod wakes;

pub use parallel::{all_cores, try_map};
pub use reader::Reader;
pub use source::{Access, Arrivals, LoadError, Measured, Source, Until, WarmUp, measure, transfer};
pub use tally::{Direction, Ended, Tally};

use std::ops::ControlFlow;

use meldsim::Instant;
use meldsim::device::{Device, DeviceError, QueueId};
use meldsim::nvme::{Command, Completion, Directive, Pattern};
use path::Path;
use wakes::Wakes;

/// Completions or records between two reports of progress.
pub const PROGRESS_EVERY: u64 = 16_384;

/// A submission queue, and how many commands of it are outstanding at most.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    queue: QueueId,
    depth: u64,
    outstanding: u64,
    /// Its thread works on a command.
    is_submitting: bool,
}

impl Stream {
    /// A thread that submits to this queue.
    pub fn new(queue: QueueId, depth: impl Into<u64>) -> Stream {
        Stream {
            queue,
            depth: depth.into(),
            outstanding: 0,
            is_submitting: false,
        }
    }
}

/// What a stream does next.
#[derive(Clone, Copy, Debug)]
pub enum Next<R> {
    /// Begins to submit this now. The driver sets the tag; the rest comes back with the completion.
    Submit(Command, R),
    /// Nothing before this time.
    At(Instant),
    /// Nothing before one of its commands completes. A stream that has none outstanding has ended.
    Wait,
}

/// The stream that may submit a command.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Its number.
    pub stream: usize,
    /// Commands of the stream whose completions the load has not seen.
    pub outstanding: u64,
    /// Commands of all streams whose completions the host can see by now, but whose completions the load has not seen.
    pub unseen: usize,
    /// Besides these, completions of the stream that came while its thread submitted a command. The load sees them as soon as it
    /// has nothing to submit.
    pub deferred: usize,
}

/// Why the driver cannot go on.
#[derive(Clone, Debug)]
pub enum Failure<R> {
    /// The device refuses this stream's command of this request.
    Refused(usize, R, DeviceError),
    /// Commands are outstanding and no event is scheduled: a defect of the model.
    Stuck {
        /// How many.
        outstanding: usize,
    },
}

/// Where commands come from and their completions go.
pub trait Load {
    /// What is known of a command besides its completion.
    type Request: Copy;
    /// Why the load ends early.
    type Error;

    /// What the stream does next. Asked at the start, after each of its completions, at each time it named, and after each
    /// command it submitted, as long as its depth allows another and its thread is free.
    fn next(&mut self, device: &mut Device, turn: Turn)
    -> Result<Next<Self::Request>, Self::Error>;

    /// A command has completed, at the time at which the host sees it, and the device is as it is then. A break ends the run at
    /// once; what is outstanding remains so.
    fn completed(
        &mut self,
        device: &Device,
        stream: usize,
        request: Self::Request,
        completion: &Completion,
    ) -> Result<ControlFlow<()>, Self::Error>;

    /// Sees the device before time goes on. Returns when it wants to see it next, if anything is outstanding then.
    fn sample(&mut self, _device: &Device) -> Instant {
        Instant::MAX
    }

    /// A stream that may go on although none of its own commands completed and no time that it named has come: it is asked
    /// now for what it does next.
    fn resumed(&mut self) -> Option<usize> {
        None
    }

    /// The failure in the load's terms.
    fn failed(&self, failure: Failure<Self::Request>) -> Self::Error;
}

/// Runs a load until all its streams have ended, or it breaks off. Nothing else may be outstanding on the device. Returns how
/// many commands were outstanding at most.
pub fn drive<L: Load>(
    device: &mut Device,
    streams: impl IntoIterator<Item = Stream>,
    load: &mut L,
) -> Result<usize, L::Error> {
    let streams: Vec<Stream> = streams.into_iter().collect();
    let path = Path::new(device.profile().host.path_times(), streams.len());
    match path.takes_no_time() {
        true => Driver::<L::Request, false>::new(streams, path).run(device, load),
        false => Driver::<L::Request, true>::new(streams, path).run(device, load),
    }
}

/// What of the host's path has gone its way by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Nothing,
    Some,
    /// The same, and the load breaks off.
    Break,
}

/// Without a host path nothing of it is looked at.
#[derive(Debug)]
struct Driver<R, const HAS_PATH: bool> {
    streams: Vec<Stream>,
    /// Of these, those that have been asked for a first time.
    begun: usize,
    /// When streams go on by themselves.
    wakes: Wakes,
    /// The device may have completions that were not taken.
    has_completions: bool,
    path: Path,
    /// The stream and the request of each outstanding command, which is tagged with the index.
    slots: Vec<(usize, R)>,
    free: Vec<usize>,
}

impl<R: Copy, const HAS_PATH: bool> Driver<R, HAS_PATH> {
    fn new(streams: Vec<Stream>, path: Path) -> Self {
        Driver {
            wakes: Wakes::new(streams.len()),
            streams,
            begun: 0,
            has_completions: false,
            path,
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    fn run<L: Load<Request = R>>(
        mut self,
        device: &mut Device,
        load: &mut L,
    ) -> Result<usize, L::Error> {
        while let Some(stream) = self.next_stream(device, load)? {
            self.fill(device, load, stream)?;
        }
        Ok(self.slots.len())
    }

    /// The stream that may go on next, at the time when it may. Nothing when all have ended or the load breaks off.
    #[inline]
    fn next_stream<L: Load<Request = R>>(
        &mut self,
        device: &mut Device,
        load: &mut L,
    ) -> Result<Option<usize>, L::Error> {
        if self.begun < self.streams.len() {
            self.begun += 1;
            return Ok(Some(self.begun - 1));
        }
        loop {
            while self.has_completions {
                match device.pop_completion() {
                    None => self.has_completions = false,
                    Some(completion) if HAS_PATH => self.path.complete(completion),
                    Some(completion) => return self.completed(device, load, &completion),
                }
            }
            if let Some(stream) = load.resumed() {
                self.wakes.set(stream, None);
                return Ok(Some(stream));
            }
            let wake = self.wakes.first();
            if let Some((time, stream)) = wake {
                if time <= device.now() {
                    self.wakes.set(stream, None);
                    return Ok(Some(stream));
                }
            }
            if HAS_PATH {
                match self.go_their_way(device, load)? {
                    Way::Nothing => {}
                    Way::Some => continue,
                    Way::Break => return Ok(None),
                }
            }
            let outstanding = self.outstanding();
            if outstanding == 0 && wake.is_none() {
                return Ok(None);
            }
            let mut limit = wake.map_or(Instant::MAX, |(time, _)| time);
            if HAS_PATH {
                limit = limit.min(self.path.next_event());
            }
            let sample = load.sample(device);
            if outstanding > 0 {
                limit = limit.min(sample);
            }
            self.has_completions = device.run_until_completion_or(limit);
            if !self.has_completions && limit == Instant::MAX {
                return Err(load.failed(Failure::Stuck { outstanding }));
            }
        }
    }

    fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Hands over the commands that the device gets by now, then the completions that the host sees by now.
    fn go_their_way<L: Load<Request = R>>(
        &mut self,
        device: &mut Device,
        load: &mut L,
    ) -> Result<Way, L::Error> {
        let now = device.now();
        if self.path.next_event() > now {
            return Ok(Way::Nothing);
        }
        while let Some((stream, command)) = self.path.leave(now) {
            self.streams[stream].is_submitting = false;
            self.submit(device, load, stream, &command)?;
            self.fill(device, load, stream)?;
            // As fio does: a thread looks for completions when its queue is full, or nothing is to be submitted.
            while !self.streams[stream].is_submitting {
                let Some(completion) = self.path.see_deferred(stream, now) else {
                    break;
                };
                match self.completed(device, load, &completion)? {
                    Some(stream) => self.fill(device, load, stream)?,
                    None => return Ok(Way::Break),
                }
            }
        }
        while let Some(completion) = self.path.arrive(now) {
            let (stream, _) = self.slots[completion.tag as usize];
            if self.streams[stream].is_submitting {
                self.path.defer(stream, completion);
                continue;
            }
            match self.completed(device, load, &completion)? {
                Some(stream) => self.fill(device, load, stream)?,
                None => return Ok(Way::Break),
            }
        }
        Ok(Way::Some)
    }

    /// The load sees a completion. Its stream goes on, unless the load breaks off.
    #[inline(always)]
    fn completed<L: Load<Request = R>>(
        &mut self,
        device: &Device,
        load: &mut L,
        completion: &Completion,
    ) -> Result<Option<usize>, L::Error> {
        let slot = completion.tag as usize;
        let (stream, request) = self.slots[slot];
        self.free.push(slot);
        self.streams[stream].outstanding -= 1;
        let flow = load.completed(device, stream, request, completion)?;
        Ok(flow.is_continue().then_some(stream))
    }

    /// The device gets a command of the stream.
    #[inline]
    fn submit<L: Load<Request = R>>(
        &self,
        device: &mut Device,
        load: &L,
        stream: usize,
        command: &Command,
    ) -> Result<(), L::Error> {
        let submitted = device.submit_to(self.streams[stream].queue, command);
        submitted.map_err(|error| {
            let (_, request) = self.slots[command.tag as usize];
            load.failed(Failure::Refused(stream, request, error))
        })?;
        Ok(())
    }

    /// Submits all that the stream can submit now.
    fn fill<L: Load<Request = R>>(
        &mut self,
        device: &mut Device,
        load: &mut L,
        index: usize,
    ) -> Result<(), L::Error> {
        loop {
            let stream = &self.streams[index];
            if stream.outstanding >= stream.depth || (HAS_PATH && stream.is_submitting) {
                break;
            }
            let (on_their_way, deferred) = match HAS_PATH {
                true => (
                    self.path.on_their_way(device.now()),
                    self.path.deferred(index),
                ),
                false => (0, 0),
            };
            let outstanding = self.outstanding() - on_their_way;
            let stream = &mut self.streams[index];
            let turn = Turn {
                stream: index,
                outstanding: stream.outstanding,
                unseen: outstanding - device.outstanding(),
                deferred,
            };
            match load.next(device, turn)? {
                Next::Submit(mut command, request) => {
                    stream.outstanding += 1;
                    let slot = self.free.pop().unwrap_or(self.slots.len());
                    match self.slots.get_mut(slot) {
                        Some(free) => *free = (index, request),
                        None => self.slots.push((index, request)),
                    }
                    command.tag = slot as u64;
                    if HAS_PATH && self.path.holds_commands() {
                        stream.is_submitting = true;
                        self.path.begin(index, command, device.now());
                    } else {
                        self.submit(device, load, index, &command)?;
                    }
                }
                Next::At(time) => {
                    self.wakes.set(index, Some(time));
                    break;
                }
                Next::Wait => break,
            }
        }
        Ok(())
    }
}

/// What a write says of data that is read in this pattern; nothing where the pattern is not known.
pub const fn directive(pattern: Pattern) -> Directive {
    match pattern {
        Pattern::None => Directive::NONE,
        pattern => Directive::read_pattern(pattern),
    }
}

/// Lets the device run until no event is left: programs and collections under way end, too.
pub fn drain(device: &mut Device) {
    while device.run_until_completion() {
        while device.pop_completion().is_some() {}
    }
}

/// Lets what is outstanding complete.
pub fn finish(device: &mut Device) {
    while device.outstanding() > 0 && device.run_until_completion() {
        while device.pop_completion().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::Duration;
    use meldsim::nvme::NamespaceId;
    use meldsim::profile::{HostPath, Profile};

    /// Reads of one page at given times, stream by stream; notes what the driver does with them.
    #[derive(Default)]
    struct Scripted {
        /// Of each stream, the arrivals to come, the last first.
        arrivals: Vec<Vec<Instant>>,
        breaks_after: Option<usize>,
        slba: u64,
        submitted: Vec<(usize, Instant)>,
        completed: Vec<usize>,
        most_outstanding: u64,
    }

    impl Load for Scripted {
        type Request = Instant;
        type Error = Option<DeviceError>;

        fn next(
            &mut self,
            device: &mut Device,
            turn: Turn,
        ) -> Result<Next<Instant>, Option<DeviceError>> {
            let arrivals = &mut self.arrivals[turn.stream];
            match arrivals.last() {
                None => Ok(Next::Wait),
                Some(&time) if time > device.now() => Ok(Next::At(time)),
                Some(&time) => {
                    arrivals.pop();
                    self.submitted.push((turn.stream, device.now()));
                    self.most_outstanding = self.most_outstanding.max(turn.outstanding + 1);
                    let read = Command::read(NamespaceId(1), self.slba, 1, 99);
                    Ok(Next::Submit(read, time))
                }
            }
        }

        fn completed(
            &mut self,
            _: &Device,
            stream: usize,
            request: Instant,
            completion: &Completion,
        ) -> Result<ControlFlow<()>, Option<DeviceError>> {
            assert!(completion.submitted >= request);
            self.completed.push(stream);
            match self.breaks_after == Some(self.completed.len()) {
                true => Ok(ControlFlow::Break(())),
                false => Ok(ControlFlow::Continue(())),
            }
        }

        fn failed(&self, failure: Failure<Instant>) -> Option<DeviceError> {
            match failure {
                Failure::Refused(_, _, error) => Some(error),
                Failure::Stuck { .. } => None,
            }
        }
    }

    fn device() -> Device {
        device_of(&Profile::builtin("melded-tlc-8x8").unwrap())
    }

    fn device_of(profile: &Profile) -> Device {
        let mut device = Device::new(profile).unwrap();
        let nsid = device.create_namespace(1 << 20).unwrap();
        device.preload(nsid, 0, 256, Directive::NONE).unwrap();
        device
    }

    fn streams(depths: &[u64]) -> impl Iterator<Item = Stream> {
        depths
            .iter()
            .map(|&depth| Stream::new(QueueId::default(), depth))
    }

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_ms(ms)
    }

    #[test]
    fn streams_go_on_at_their_times_in_their_order() {
        let mut load = Scripted {
            arrivals: vec![vec![at(9), at(5)], vec![at(5), at(1)], vec![]],
            ..Scripted::default()
        };
        let mut device = device();
        let most = drive(&mut device, streams(&[4, 4, 4]), &mut load);
        assert_eq!(most, Ok(2));
        let expected = [(1, at(1)), (0, at(5)), (1, at(5)), (0, at(9))];
        assert_eq!(load.submitted, expected);
        assert_eq!(load.completed.len(), 4);
    }

    #[test]
    fn a_depth_is_used_up_and_not_exceeded() {
        let mut load = Scripted {
            arrivals: vec![vec![at(0); 50]],
            ..Scripted::default()
        };
        assert_eq!(drive(&mut device(), streams(&[7]), &mut load), Ok(7));
        assert_eq!((load.most_outstanding, load.completed.len()), (7, 50));
    }

    #[test]
    fn a_break_leaves_the_rest_outstanding() {
        let mut load = Scripted {
            arrivals: vec![vec![at(0); 50]],
            breaks_after: Some(3),
            ..Scripted::default()
        };
        let mut device = device();
        drive(&mut device, streams(&[7]), &mut load).unwrap();
        assert_eq!((load.completed.len(), load.submitted.len()), (3, 9));
        finish(&mut device);
        assert_eq!(device.outstanding(), 0);
    }

    /// A device behind a path of these times, in microseconds.
    fn behind(submit_us: u64, completion_us: u64) -> Device {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        profile.host.path = HostPath::IoUring;
        profile.host.path_submit_time = Some(Duration::from_us(submit_us));
        profile.host.path_completion_time = Some(Duration::from_us(completion_us));
        device_of(&profile)
    }

    #[test]
    fn a_thread_has_one_command_at_a_time() {
        let us = |us| Instant::START + Duration::from_us(us);
        let mut load = Scripted {
            arrivals: vec![vec![at(0); 3], vec![us(5); 2]],
            ..Scripted::default()
        };
        let mut device = behind(10, 0);
        assert_eq!(drive(&mut device, streams(&[8, 8]), &mut load), Ok(5));
        let expected = [
            (0, us(0)),
            (1, us(5)),
            (0, us(10)),
            (1, us(15)),
            (0, us(20)),
        ];
        assert_eq!(load.submitted, expected);
    }

    #[test]
    fn the_host_sees_completions_late() {
        let run = |completion_us| {
            let mut load = Scripted {
                arrivals: vec![vec![at(0); 2]],
                ..Scripted::default()
            };
            let mut device = behind(0, completion_us);
            drive(&mut device, streams(&[1]), &mut load).unwrap();
            (load.submitted[1].1, device.now())
        };
        let (second, end) = run(0);
        let late = Duration::from_us(7);
        assert_eq!(run(7), (second + late, end + late + late));
    }

    /// What completed is seen, or not, at one time: nothing on its way counts as completed.
    #[test]
    fn what_is_on_its_way_is_not_unseen() {
        struct Watching {
            left: usize,
            unseen: Vec<usize>,
        }
        impl Load for Watching {
            type Request = ();
            type Error = DeviceError;
            fn next(&mut self, _: &mut Device, turn: Turn) -> Result<Next<()>, DeviceError> {
                self.unseen.push(turn.unseen);
                if self.left == 0 {
                    return Ok(Next::Wait);
                }
                self.left -= 1;
                Ok(Next::Submit(Command::read(NamespaceId(1), 0, 1, 0), ()))
            }
            fn completed(
                &mut self,
                _: &Device,
                _: usize,
                (): (),
                _: &Completion,
            ) -> Result<ControlFlow<()>, DeviceError> {
                Ok(ControlFlow::Continue(()))
            }
            fn failed(&self, failure: Failure<()>) -> DeviceError {
                panic!("{failure:?}")
            }
        }
        for (submit_us, completion_us) in [(0, 0), (3, 0), (0, 5), (3, 5), (60, 60)] {
            let (left, unseen) = (40, Vec::new());
            let mut load = Watching { left, unseen };
            let mut device = behind(submit_us, completion_us);
            drive(&mut device, streams(&[4]), &mut load).unwrap();
            assert!(load.unseen.iter().all(|unseen| *unseen < 4));
            // Submitted one after another, they complete one after another.
            assert!(submit_us == 0 || load.unseen.iter().all(|unseen| *unseen == 0));
        }
    }

    #[test]
    fn a_refusal_is_handed_on() {
        let mut load = Scripted {
            arrivals: vec![vec![at(0)]],
            slba: 256,
            ..Scripted::default()
        };
        for mut device in [device(), behind(5, 5)] {
            load.arrivals = vec![vec![at(0)]];
            let refused = drive(&mut device, streams(&[1]), &mut load);
            assert!(matches!(refused, Err(Some(_))), "{refused:?}");
        }
    }
}
