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

pub(crate) use closed::{Access, Blocks, LoadError, Loop, Tally, Until, WarmUp, complete, measure};

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use meldsim::Instant;
use meldsim::device::{Device, DeviceError, QueueId};
use meldsim::nvme::{Command, Completion, Directive, Pattern};

/// Completions or records between two reports of progress.
pub(crate) const PROGRESS_EVERY: u64 = 16_384;

/// A submission queue, and how many commands of it are outstanding at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    pub(crate) queue: QueueId,
    pub(crate) depth: u64,
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
    let with_state = |stream| StreamState {
        stream,
        outstanding: 0,
        wake: None,
    };
    let mut driver = Driver {
        streams: streams.into_iter().map(with_state).collect(),
        slots: Vec::new(),
        free: Vec::new(),
        wakes: BinaryHeap::new(),
    };
    for stream in 0..driver.streams.len() {
        driver.fill(device, load, stream)?;
    }
    loop {
        let wake = driver.wakes.peek().copied();
        if let Some(Reverse((time, stream))) = wake {
            if time <= device.now() {
                driver.wakes.pop();
                driver.fill(device, load, stream)?;
                continue;
            }
        }
        let outstanding = driver.outstanding();
        if outstanding == 0 && wake.is_none() {
            return Ok(driver.slots.len());
        }
        let mut limit = wake.map_or(Instant::MAX, |Reverse((time, _))| time);
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
            let (stream, request) = driver.take(completion.tag);
            if load.completed(stream, request, &completion)?.is_break() {
                return Ok(driver.slots.len());
            }
            driver.fill(device, load, stream)?;
        }
    }
}

#[derive(Debug)]
struct StreamState {
    stream: Stream,
    outstanding: u64,
    /// The wake-up that was scheduled last.
    wake: Option<Instant>,
}

#[derive(Debug)]
struct Driver<R> {
    streams: Vec<StreamState>,
    /// What is outstanding: the stream and the request. Commands are tagged with their index.
    slots: Vec<(usize, R)>,
    free: Vec<usize>,
    /// When which stream goes on by itself.
    wakes: BinaryHeap<Reverse<(Instant, usize)>>,
}

impl<R: Copy> Driver<R> {
    fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Submits all that the stream can submit now.
    fn fill<L: Load<Request = R>>(
        &mut self,
        device: &mut Device,
        load: &mut L,
        stream: usize,
    ) -> Result<(), L::Error> {
        loop {
            let outstanding = self.outstanding();
            let state = &mut self.streams[stream];
            if state.outstanding == state.stream.depth {
                return Ok(());
            }
            let turn = Turn {
                stream,
                outstanding: state.outstanding,
                unseen: outstanding - device.outstanding(),
            };
            match load.next(device, turn)? {
                Next::Submit(mut command, request) => {
                    state.outstanding += 1;
                    let slot = match self.free.pop() {
                        Some(slot) => {
                            self.slots[slot] = (stream, request);
                            slot
                        }
                        None => {
                            self.slots.push((stream, request));
                            self.slots.len() - 1
                        }
                    };
                    command.tag = slot as u64;
                    device
                        .submit_to(state.stream.queue, &command)
                        .map_err(|error| load.failed(Failure::Refused(stream, request, error)))?;
                }
                Next::At(time) => {
                    if state.wake != Some(time) {
                        state.wake = Some(time);
                        self.wakes.push(Reverse((time, stream)));
                    }
                    return Ok(());
                }
                Next::Wait => return Ok(()),
            }
        }
    }

    /// A command is no longer outstanding.
    fn take(&mut self, tag: u64) -> (usize, R) {
        let slot = tag as usize;
        let (stream, request) = self.slots[slot];
        self.free.push(slot);
        self.streams[stream].outstanding -= 1;
        (stream, request)
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
