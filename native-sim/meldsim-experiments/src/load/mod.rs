//! The load driver: experiments, jobs, replays and advice all run their commands through it.
//!
//! ```text
//!   Load::next -----Command-----> a stream's queue, at most `depth` outstanding --> Device
//!   Load::completed <--Request, Completion---------------------------------------------'
//! ```
//!
//! Comes in: a device, its streams and a [`Load`], which says what each stream submits and when. Goes out: each completion,
//! with what the load had given along. A closed loop submits whenever its depth allows, an open one at the arrivals that it
//! names (B. Schroeder, A. Wierman, M. Harchol-Balter: "Open Versus Closed: A Cautionary Tale", NSDI'06). The driver knows the
//! load by its type, so that an observer that does nothing costs nothing.

mod closed;
mod reader;

pub(crate) use closed::{Access, LoadError, Loop, Tally, Until, WarmUp, measure};
pub(crate) use reader::Reader;

use std::ops::ControlFlow;

use meldsim::Instant;
use meldsim::device::{Device, DeviceError, QueueId};
use meldsim::nvme::{Command, Completion, Directive, Pattern};

/// Completions or records between two reports of progress.
pub(crate) const PROGRESS_EVERY: u64 = 16_384;

/// A submission queue, and how many commands of it are outstanding at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    queue: QueueId,
    depth: u64,
    outstanding: u64,
    /// When it goes on by itself.
    wake: Option<Instant>,
}

impl Stream {
    pub(crate) fn new(queue: QueueId, depth: impl Into<u64>) -> Stream {
        Stream {
            queue,
            depth: depth.into(),
            outstanding: 0,
            wake: None,
        }
    }
}

/// What a stream does next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next<R> {
    /// Submits this now. The driver sets the tag; the rest comes back with the completion.
    Submit(Command, R),
    /// Nothing before this time.
    At(Instant),
    /// Nothing before one of its commands completes. A stream that has none outstanding has ended.
    Wait,
}

/// The stream that may submit a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) stream: usize,
    /// Commands of the stream whose completions the load has not seen.
    pub(crate) outstanding: u64,
    /// Commands of all streams that have completed by now, but whose completions the load has not seen.
    pub(crate) unseen: usize,
}

/// Why the driver cannot go on.
#[derive(Clone, Debug)]
pub(crate) enum Failure<R> {
    /// The device refuses this stream's command of this request.
    Refused(usize, R, DeviceError),
    /// Commands are outstanding and no event is scheduled: a defect of the model.
    Stuck { outstanding: usize },
}

/// Where commands come from and their completions go.
pub(crate) trait Load {
    /// What is known of a command besides its completion.
    type Request: Copy;
    type Error;

    /// What the stream does next. Asked at the start, after each of its completions, at each time it named, and after each
    /// command it submitted, as long as its depth allows another.
    fn next(&mut self, device: &mut Device, turn: Turn)
    -> Result<Next<Self::Request>, Self::Error>;

    /// A command has completed. A break ends the run at once; what is outstanding remains so.
    fn completed(
        &mut self,
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
pub(crate) fn drive<L: Load>(
    device: &mut Device,
    streams: impl IntoIterator<Item = Stream>,
    load: &mut L,
) -> Result<usize, L::Error> {
    let mut driver = Driver {
        streams: streams.into_iter().collect(),
        slots: Vec::new(),
        free: Vec::new(),
    };
    for stream in 0..driver.streams.len() {
        driver.fill(device, load, stream)?;
    }
    loop {
        while let Some(stream) = load.resumed() {
            driver.streams[stream].wake = None;
            driver.fill(device, load, stream)?;
        }
        let wake = driver.next_wake();
        if let Some((time, stream)) = wake {
            if time <= device.now() {
                driver.streams[stream].wake = None;
                driver.fill(device, load, stream)?;
                continue;
            }
        }
        let outstanding = driver.outstanding();
        if outstanding == 0 && wake.is_none() {
            return Ok(driver.slots.len());
        }
        let mut limit = wake.map_or(Instant::MAX, |(time, _)| time);
        let sample = load.sample(device);
        if outstanding > 0 {
            limit = limit.min(sample);
        }
        if !device.run_until_completion_or(limit) {
            if limit == Instant::MAX {
                return Err(load.failed(Failure::Stuck { outstanding }));
            }
            continue;
        }
        while let Some(completion) = device.pop_completion() {
            let slot = completion.tag as usize;
            let (stream, request) = driver.slots[slot];
            driver.free.push(slot);
            driver.streams[stream].outstanding -= 1;
            if load.completed(stream, request, &completion)?.is_break() {
                return Ok(driver.slots.len());
            }
            driver.fill(device, load, stream)?;
        }
    }
}

#[derive(Debug)]
struct Driver<R> {
    streams: Vec<Stream>,
    /// The stream and the request of each outstanding command, which is tagged with the index.
    slots: Vec<(usize, R)>,
    free: Vec<usize>,
}

impl<R: Copy> Driver<R> {
    fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// When a stream goes on by itself next, and which.
    fn next_wake(&self) -> Option<(Instant, usize)> {
        let streams = self.streams.iter().enumerate();
        let wakes = streams.filter_map(|(index, stream)| Some((stream.wake?, index)));
        wakes.min()
    }

    /// Submits all that the stream can submit now.
    fn fill<L: Load<Request = R>>(
        &mut self,
        device: &mut Device,
        load: &mut L,
        index: usize,
    ) -> Result<(), L::Error> {
        while self.streams[index].outstanding < self.streams[index].depth {
            let outstanding = self.outstanding();
            let stream = &mut self.streams[index];
            let turn = Turn {
                stream: index,
                outstanding: stream.outstanding,
                unseen: outstanding - device.outstanding(),
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
                    device
                        .submit_to(stream.queue, &command)
                        .map_err(|error| load.failed(Failure::Refused(index, request, error)))?;
                }
                Next::At(time) => {
                    stream.wake = Some(time);
                    break;
                }
                Next::Wait => break,
            }
        }
        Ok(())
    }
}

/// What a write says of data that is read in this pattern; nothing where the pattern is not known.
pub(crate) const fn directive(pattern: Pattern) -> Directive {
    match pattern {
        Pattern::None => Directive::NONE,
        pattern => Directive::read_pattern(pattern),
    }
}

/// Lets the device run until no event is left: programs and collections under way end, too.
pub(crate) fn drain(device: &mut Device) {
    while device.run_until_completion() {
        while device.pop_completion().is_some() {}
    }
}

/// Lets what is outstanding complete.
pub(crate) fn finish(device: &mut Device) {
    while device.outstanding() > 0 && device.run_until_completion() {
        while device.pop_completion().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::Duration;
    use meldsim::nvme::NamespaceId;
    use meldsim::profile::Profile;

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
        let mut device = Device::new(&Profile::builtin("melded-tlc-8x8").unwrap()).unwrap();
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

    #[test]
    fn a_refusal_is_handed_on() {
        let mut load = Scripted {
            arrivals: vec![vec![at(0)]],
            slba: 256,
            ..Scripted::default()
        };
        let refused = drive(&mut device(), streams(&[1]), &mut load);
        assert!(matches!(refused, Err(Some(_))), "{refused:?}");
    }
}
