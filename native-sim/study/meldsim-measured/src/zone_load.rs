//! Loads of zones: threads that read, write, append, reset and finish, each at its pace, for a time.

use std::cell::RefCell;

use super::error::MeasureError;
use super::sources::PAGE;
use meldsim::device::Device;
use meldsim::engine::Random;
use meldsim::nvme::zone::{ZoneAction, ZoneShape};
use meldsim::nvme::{Command, Directive, NamespaceId};
use meldsim::{Duration, Instant};
use meldsim_host::{Arrivals, LoadError, Next, Source, Until, WarmUp, measure, transfer};
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

/// Runs so many equal threads, and maybe another beside them, on an empty device. The latencies of the equal ones that completed
/// in the time that is counted after a warm-up.
pub(super) fn run(
    device: &mut Device,
    layout: Layout,
    (thread, count): (Thread, u64),
    beside: Option<Thread>,
    (warm_up, counted): (Duration, Duration),
) -> Result<LatencyHistogram, MeasureError> {
    let zone_bytes = device.profile().zones.size.0;
    let nsid = device.create_namespace(layout.zones() * zone_bytes)?;
    let shape = device.zone_shape().ok_or(LoadError::Incomplete(None))?;
    device.preload(nsid, 0, layout.read * shape.size_lbas, Directive::NONE)?;
    let zones = RefCell::new(Zones {
        nsid,
        shape,
        layout,
        random: Random::new(1),
        next: layout.read + 1,
    });
    let now = device.now();
    let source = |thread: Thread| {
        let (zones, mut place) = (
            &zones,
            Place {
                due: now,
                zone: None,
            },
        );
        Source::asking(thread.depth, move |device| {
            zones.borrow_mut().next(device, thread, &mut place)
        })
    };
    let sources = (0..count).map(|_| thread).chain(beside).map(source);
    let (begin, until) = (now + warm_up, Until::Time(warm_up + counted));
    let submit = device.profile().host.path_times().submit;
    let mut latencies = LatencyHistogram::new();
    measure(device, sources, WarmUp::NONE, until, |_, source, done| {
        if (source as u64) < count && done.completed >= begin {
            latencies.record(done.latency() + submit);
        }
    })?;
    Ok(latencies)
}

/// Where a thread is.
struct Place {
    /// When its next command arrives. One that comes late makes those after it late, too.
    due: Instant,
    /// The first logical block of the zone that it writes to, and how much of that it has asked to be written.
    zone: Option<(u64, u64)>,
}

/// The zones, of which threads take some.
struct Zones {
    nsid: NamespaceId,
    shape: ZoneShape,
    layout: Layout,
    random: Random,
    /// The next to be written to, which has no data.
    next: u64,
}

impl Zones {
    /// The first logical block of an empty zone, unless all are used up.
    fn take(&mut self) -> Result<u64, LoadError> {
        let zone = self.next;
        self.next += 1;
        match zone < self.layout.zones() {
            true => Ok(zone * self.shape.size_lbas),
            false => Err(LoadError::Incomplete(None)),
        }
    }

    /// What a thread does next.
    fn next(
        &mut self,
        device: &mut Device,
        thread: Thread,
        place: &mut Place,
    ) -> Result<Next<()>, LoadError> {
        let Thread { work, pages, .. } = thread;
        let (nsid, capacity) = (self.nsid, self.shape.capacity_lbas);
        // A zone is finished as soon as its page is written.
        if let (Work::Finish, Some((zslba, _))) = (work, place.zone) {
            place.zone = None;
            let finish = Command::manage_zone(nsid, zslba, ZoneAction::Finish, 0);
            return Ok(Next::Submit(finish, ()));
        }
        let now = device.now();
        if place.due > now {
            return Ok(Next::At(place.due));
        }
        if let Arrivals::Even(rate) = thread.arrivals {
            place.due = place.due.max(now) + Duration::from_ps((1e12 / rate) as u64);
        }
        let command = match work {
            Work::Read => {
                let zone = self.random.below(self.layout.read) * self.shape.size_lbas;
                let page = self.random.below(capacity / pages) * pages;
                transfer(false, nsid, zone + page, pages)
            }
            Work::Reset => {
                let zslba = self.layout.read * self.shape.size_lbas;
                device.preload(nsid, zslba, capacity, Directive::NONE)?;
                Command::manage_zone(nsid, zslba, ZoneAction::Reset, 0)
            }
            Work::Write | Work::Append | Work::Finish => {
                let has_room = |(_, written): &(u64, u64)| written + pages <= capacity;
                let (zslba, at) = match place.zone.filter(has_room) {
                    Some(zone) => zone,
                    None => (self.take()?, 0),
                };
                place.zone = Some((zslba, at + pages));
                match work {
                    Work::Append => Command::append(nsid, zslba, pages as u32, 0),
                    _ => transfer(true, nsid, zslba + at, pages),
                }
            }
        };
        Ok(Next::Submit(command, ()))
    }
}
