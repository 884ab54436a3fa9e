//! Loads of zones: threads that read, write, append, reset and finish, each at its pace, for a time.

use std::ops::ControlFlow;

use super::error::MeasureError;
use super::sources::PAGE;
use meldsim::device::{Device, QueueId};
use meldsim::engine::Random;
use meldsim::nvme::zone::{ZoneAction, ZoneShape};
use meldsim::nvme::{Command, Completion, Directive, NamespaceId, Status};
use meldsim::{Duration, Instant};
use meldsim_host::{Arrivals, Failure, Load, LoadError, Next, Stream, Turn, drive};
use meldsim_stats::LatencyHistogram;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Reads at random in the zones that hold data.
    Read,
    /// Writes in order, to one zone after the other.
    Write,
    /// The same by appends.
    Append,
    /// Resets zones that are full.
    Reset,
    /// Finishes zones of which one page is written.
    Finish,
}

/// A thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    pub(super) work: Work,
    /// Of a request.
    pub(super) pages: u64,
    pub(super) depth: u64,
    pub(super) arrivals: Arrivals,
}

/// The zones of a run, from the first: those that are read, one that is filled and reset again and again, and those that are
/// written to, for ever.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) read: u64,
    pub(super) written: u64,
}

/// About what can be written of a zone.
const ZONE_BYTES: f64 = 1e9;
/// What is written at most.
const WRITTEN_BYTES_PER_S: f64 = 1.5e9;

impl Layout {
    /// So many zones that are read, and those that threads write to for so long. Each may have begun one more than it fills.
    pub(super) fn written_to(read: u64, threads: u64, seconds: f64) -> Layout {
        let filled = seconds * WRITTEN_BYTES_PER_S / ZONE_BYTES;
        Layout {
            read,
            written: 2 * threads + filled as u64,
        }
    }

    /// Pages that are written in so long, about.
    pub(super) fn written_pages(seconds: f64) -> u64 {
        (seconds * WRITTEN_BYTES_PER_S / PAGE as f64) as u64
    }

    pub(super) fn zones(self) -> u64 {
        self.read + 1 + self.written
    }
}

/// What the threads did in the time that was counted.
pub(super) struct Counted {
    pub(super) latencies: Vec<LatencyHistogram>,
    pub(super) seconds: f64,
}

/// Runs threads on an empty device, for a time after a warm-up.
pub(super) fn run(
    device: &mut Device,
    layout: Layout,
    threads: &[Thread],
    (warm_up, counted): (Duration, Duration),
) -> Result<Counted, MeasureError> {
    let zone_bytes = device.profile().zones.size.0;
    let nsid = device.create_namespace(layout.zones() * zone_bytes)?;
    let shape = device.zone_shape().ok_or(LoadError::Incomplete(None))?;
    device.preload(nsid, 0, layout.read * shape.size_lbas, Directive::NONE)?;
    let now = device.now();
    let mut running = Running {
        nsid,
        shape,
        layout,
        submit: device.profile().host.path_times().submit,
        random: Random::new(1),
        threads: threads
            .iter()
            .map(|thread| Place {
                thread: *thread,
                due: now,
                zone: None,
                written: 0,
                latencies: LatencyHistogram::new(),
            })
            .collect(),
        next_zone: layout.read + 1,
        start: now + warm_up,
        end: now + warm_up + counted,
    };
    let streams = threads
        .iter()
        .map(|thread| Stream::new(QueueId::default(), thread.depth));
    drive(device, streams, &mut running)?;
    let places = running.threads.into_iter();
    Ok(Counted {
        latencies: places.map(|place| place.latencies).collect(),
        seconds: counted.as_secs_f64(),
    })
}

/// A thread, and where it is.
struct Place {
    thread: Thread,
    due: Instant,
    /// The first logical block of the zone that it writes to, and how much of that it has asked to be written.
    zone: Option<u64>,
    written: u64,
    latencies: LatencyHistogram,
}

struct Running {
    nsid: NamespaceId,
    shape: ZoneShape,
    layout: Layout,
    /// What a thread takes to submit a command, which a completion does not know of.
    submit: Duration,
    random: Random,
    threads: Vec<Place>,
    /// The next zone to be written to, which has no data.
    next_zone: u64,
    start: Instant,
    end: Instant,
}

impl Running {
    /// An empty zone, unless all are used up.
    fn take_zone(&mut self) -> Result<u64, LoadError> {
        let zone = self.next_zone;
        self.next_zone += 1;
        match zone < self.layout.zones() {
            true => Ok(zone * self.shape.size_lbas),
            false => Err(LoadError::Incomplete(None)),
        }
    }

    fn command(&mut self, device: &mut Device, stream: usize) -> Result<Command, LoadError> {
        let (nsid, capacity) = (self.nsid, self.shape.capacity_lbas);
        let Thread { work, pages, .. } = self.threads[stream].thread;
        let read = |random: &mut Random| {
            let zone = random.below(self.layout.read) * self.shape.size_lbas;
            Command::read(
                nsid,
                zone + random.below(capacity / pages) * pages,
                pages as u32,
                0,
            )
        };
        if work == Work::Read {
            return Ok(read(&mut self.random));
        }
        if work == Work::Reset {
            let zslba = self.layout.read * self.shape.size_lbas;
            device.preload(nsid, zslba, capacity, Directive::NONE)?;
            return Ok(Command::manage_zone(nsid, zslba, ZoneAction::Reset, 0));
        }
        if work == Work::Finish && self.threads[stream].written > 0 {
            let place = &mut self.threads[stream];
            place.written = 0;
            let zslba = place.zone.take().unwrap_or_default();
            return Ok(Command::manage_zone(nsid, zslba, ZoneAction::Finish, 0));
        }
        let place = &self.threads[stream];
        let zslba = match place.zone.filter(|_| place.written + pages <= capacity) {
            Some(zslba) => zslba,
            None => {
                let zslba = self.take_zone()?;
                let place = &mut self.threads[stream];
                (place.zone, place.written) = (Some(zslba), 0);
                zslba
            }
        };
        let place = &mut self.threads[stream];
        let at = place.written;
        place.written += pages;
        Ok(match work {
            Work::Append => Command::append(nsid, zslba, pages as u32, 0),
            _ => Command::write(nsid, zslba + at, pages as u32, Directive::NONE, 0),
        })
    }
}

impl Load for Running {
    type Request = bool;
    type Error = LoadError;

    fn next(&mut self, device: &mut Device, turn: Turn) -> Result<Next<bool>, LoadError> {
        let now = device.now();
        if now >= self.end {
            return Ok(Next::Wait);
        }
        let place = &mut self.threads[turn.stream];
        // A zone is finished as soon as its page is written.
        let is_second = place.thread.work == Work::Finish && place.written > 0;
        if !is_second {
            if place.due > now {
                return Ok(Next::At(place.due));
            }
            if let Arrivals::Even(rate) = place.thread.arrivals {
                place.due = place.due.max(now) + Duration::from_ps((1e12 / rate) as u64);
            }
        }
        let is_counted = place.thread.work != Work::Finish || is_second;
        Ok(Next::Submit(self.command(device, turn.stream)?, is_counted))
    }

    fn completed(
        &mut self,
        _: &Device,
        stream: usize,
        is_counted: bool,
        done: &Completion,
    ) -> Result<ControlFlow<()>, LoadError> {
        if done.status != Status::SUCCESS {
            return Err(LoadError::Incomplete(Some(*done)));
        }
        if done.completed >= self.end {
            return Ok(ControlFlow::Break(()));
        }
        if done.completed >= self.start && is_counted {
            let latencies = &mut self.threads[stream].latencies;
            latencies.record(done.latency() + self.submit);
        }
        Ok(ControlFlow::Continue(()))
    }

    fn failed(&self, failure: Failure<bool>) -> LoadError {
        failure.into()
    }
}
