//! The host interface layer: submission queues, their arbitration, and the link to the host.
//!
//! ```text
//!  queues --arbitration--> fetch (command_cost each) --> write: data over the link --> DRAM --> pipeline
//!                          at most commands_in_flight    read: each page --> DRAM, over the link --> host
//! ```
//!
//! Arbitration is that of the NVM Express Base Specification: round robin, or weighted round robin
//! with an urgent class. What comes in and goes out are numbers of [requests](super::request).

use std::collections::VecDeque;

use super::request::{Outbound, Request};
use super::{Device, DeviceError};
use crate::engine::{Duration, Instant, TotalTime};
use crate::policy::arbitration::{Arbitration, Priority, Shares};
use crate::profile::{DataRate, Profile, ProfileError, Shortcuts};

/// A submission queue. Queue 0 is always there: without a limit, of medium priority; commands
/// [submitted](Device::submit) without naming a queue go through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u16);

#[derive(Debug)]
struct SubmissionQueue {
    priority: Priority,
    /// Commands it holds at most.
    depth: usize,
    waiting: VecDeque<u32>,
}

impl SubmissionQueue {
    fn new(depth: usize, priority: Priority) -> SubmissionQueue {
        SubmissionQueue {
            priority,
            depth,
            waiting: VecDeque::new(),
        }
    }
}

/// What serves one thing after the other, as a direction of the link does data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Serial {
    free_at: Instant,
    /// What all things so far take.
    total: Duration,
}

impl Serial {
    /// When what is ready now, and takes so long, is done.
    pub(super) fn serve(&mut self, now: Instant, time: Duration) -> Instant {
        self.free_at = self.free_at.max(now) + time;
        self.total += time;
        self.free_at
    }

    /// Time it was in use: what is still to be served follows without a gap.
    pub(super) fn busy(&self, now: Instant) -> Duration {
        self.total - self.free_at.saturating_since(now)
    }
}

/// What bytes take at a rate; nothing where it does not limit. Requests are alike: the last answer is kept, for a division takes as
/// long as much else of a request.
#[derive(Clone, Debug)]
struct Rated {
    rate: DataRate,
    last: (u64, Duration),
}

impl Rated {
    fn new(rate: DataRate) -> Rated {
        Rated {
            rate,
            last: (0, Duration::ZERO),
        }
    }

    #[inline]
    fn time_of(&mut self, bytes: u64) -> Duration {
        if bytes != self.last.0 && self.rate != DataRate(0) {
            const PS_PER_S: u128 = 1_000_000_000_000;
            let ps = u128::from(bytes) * PS_PER_S / u128::from(self.rate.0);
            let time = Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX));
            self.last = (bytes, time);
        }
        self.last.1
    }
}

/// The DRAM of the controller, which all NVM sets share: data are written to it and read from it one after the other.
/// Data of a write are written while they cross the link, and read when they are programmed. Data of a read are written
/// and read while they cross the link, when they have come from the medium. What collection moves is written and read
/// as well. Programs and collection take the DRAM's time, and do not wait for it: buses of flash are slower.
#[derive(Clone, Debug)]
struct Dram {
    rate: Rated,
    port: Serial,
    /// Bytes of programs and collection that have been accounted.
    moved: u64,
}

/// The link to the host, and the DRAM behind it.
#[derive(Clone, Debug)]
pub(super) struct Link {
    rate: Rated,
    /// What a command takes besides its data.
    command_time: Duration,
    to_device: Serial,
    to_host: Serial,
    /// Unless it limits nothing.
    dram: Option<Dram>,
}

impl Link {
    fn new(profile: &Profile) -> Link {
        let rate = profile.controller.dram_rate;
        Link {
            rate: Rated::new(profile.host.link_rate),
            command_time: profile.host.link_command_time,
            to_device: Serial::default(),
            to_host: Serial::default(),
            dram: (rate != DataRate(0)).then(|| Dram {
                rate: Rated::new(rate),
                port: Serial::default(),
                moved: 0,
            }),
        }
    }

    /// When a write and its data have crossed to the device and are in its DRAM.
    pub(super) fn receive(&mut self, now: Instant, bytes: u64) -> Instant {
        let time = self.rate.time_of(bytes) + self.command_time;
        let crossed = self.to_device.serve(now, time);
        crossed.max(self.through_dram(now, bytes))
    }

    /// When what has crossed to the device so far is there.
    pub(super) fn received(&mut self, now: Instant) -> Instant {
        let crossed = self.to_device.serve(now, Duration::ZERO);
        crossed.max(self.through_dram(now, 0))
    }

    /// When so many bytes more, which begin now, have gone into the DRAM or out of it.
    #[inline]
    fn through_dram(&mut self, now: Instant, bytes: u64) -> Instant {
        match &mut self.dram {
            None => now,
            Some(dram) => dram.port.serve(now, dram.rate.time_of(bytes)),
        }
    }

    /// So many bytes have been programmed or moved by collection since the device was built.
    #[inline]
    pub(super) fn moved(&mut self, now: Instant, bytes: impl FnOnce() -> u64) {
        if let Some(dram) = &mut self.dram {
            let bytes = bytes();
            if bytes > dram.moved {
                let time = dram.rate.time_of(bytes - dram.moved);
                dram.moved = bytes;
                dram.port.serve(now, time);
            }
        }
    }

    /// What the pages of a read will take to the host.
    pub(super) fn outbound(&mut self, request: &Request) -> Outbound {
        let bytes = match request.range.pages() {
            0 | 1 => request.bytes,
            pages => request.bytes / pages,
        };
        Outbound {
            page: self.rate.time_of(bytes),
            command: self.command_time,
            from_controller: 0,
        }
    }

    /// When so many pages of a read, of so many bytes on the medium, have crossed to the host.
    pub(super) fn send(
        &mut self,
        now: Instant,
        outbound: &mut Outbound,
        pages: u64,
        page_bytes: u64,
    ) -> Instant {
        let command = std::mem::take(&mut outbound.command);
        let crossed = self.to_host.serve(now, outbound.page * pages + command);
        crossed.max(self.through_dram(now, 2 * pages * page_bytes))
    }
}

/// Queues and link.
#[derive(Debug)]
pub(super) struct HostInterface {
    /// The [shortcut](Shortcuts): the controller has a command as soon as it is submitted.
    pub(super) is_direct: bool,
    /// What the controller takes to fetch a command.
    pub(super) cost: Duration,
    limit: u32,
    in_flight: u32,
    arbiter: Box<dyn Arbitration>,
    /// The arbiter is told and asked although nothing waits.
    remembers: bool,
    /// Commands that wait in all queues.
    waiting: u32,
    shares: Shares,
    queues: Vec<SubmissionQueue>,
    /// What the controller is fetching.
    pub(super) fetching: Option<u32>,
    /// Time from submission to fetch, summed over commands.
    pub(super) queue_wait: TotalTime,
    /// Unless it limits nothing.
    pub(super) link: Option<Link>,
    /// Commands that wait for their data, or for the data of one before them; in order.
    pub(super) arriving: VecDeque<u32>,
}

impl HostInterface {
    pub(super) fn new(profile: &Profile) -> Result<HostInterface, ProfileError> {
        let host = &profile.host;
        let no_limit = |value| if value == 0 { u32::MAX } else { value };
        let weights = [host.high_weight, host.medium_weight, host.low_weight];
        let shares = Shares::new(host.arbitration_burst, weights);
        let has_link = host.link_rate != DataRate(0) || profile.controller.dram_rate != DataRate(0);
        let is_direct = Shortcuts::of(profile, true).direct;
        let arbiter = profile.make(host.arbitration, &shares)?;
        let mut interface = HostInterface {
            is_direct,
            cost: host.command_cost,
            limit: no_limit(host.commands_in_flight),
            in_flight: 0,
            remembers: !is_direct && arbiter.remembers(),
            arbiter,
            waiting: 0,
            shares,
            queues: Vec::new(),
            fetching: None,
            queue_wait: TotalTime::default(),
            link: has_link.then(|| Link::new(profile)),
            arriving: VecDeque::new(),
        };
        interface.add_queue(usize::MAX, Priority::Medium);
        Ok(interface)
    }

    fn add_queue(&mut self, depth: usize, priority: Priority) {
        self.arbiter.add_queue(priority);
        self.queues.push(SubmissionQueue::new(depth, priority));
    }

    /// Adds queues like those of another that this one does not have.
    pub(super) fn add_queues_of(&mut self, other: &HostInterface) {
        for queue in &other.queues[self.queues.len()..] {
            self.add_queue(queue.depth, queue.priority);
        }
    }

    /// Whether a queue can take a command.
    #[inline]
    pub(super) fn check(&self, queue: QueueId) -> Result<(), DeviceError> {
        match self.queues.get(usize::from(queue.0)) {
            None => Err(DeviceError::UnknownQueue { queue: queue.0 }),
            Some(to) if to.waiting.len() >= to.depth => {
                Err(DeviceError::QueueFull { queue: queue.0 })
            }
            Some(_) => Ok(()),
        }
    }

    pub(super) fn enqueue(&mut self, queue: u16, id: u32) {
        self.queues[usize::from(queue)].waiting.push_back(id);
        self.arbiter.arrived(u32::from(queue));
        self.waiting += 1;
    }

    /// Whether the controller may have something to fetch.
    #[inline(always)]
    pub(super) fn may_fetch(&self) -> bool {
        (self.waiting > 0 || self.remembers) && self.has_place()
    }

    #[inline(always)]
    fn has_place(&self) -> bool {
        self.in_flight < self.limit && self.fetching.is_none()
    }

    /// Takes a command that has just arrived, if nothing comes before it.
    #[inline(always)]
    pub(super) fn passes(&mut self) -> bool {
        let passes = self.waiting == 0 && !self.remembers && self.has_place();
        self.in_flight += u32::from(passes);
        passes
    }

    /// What the controller fetches next, if it may.
    #[inline]
    pub(super) fn grant(&mut self) -> Option<u32> {
        if !self.may_fetch() {
            return None;
        }
        let queue = self.arbiter.grant()?;
        self.in_flight += 1;
        let id = self.queues[queue as usize].waiting.pop_front()?;
        self.waiting -= 1;
        Some(id)
    }

    /// A command has completed.
    #[inline]
    pub(super) fn completed(&mut self) {
        if !self.is_direct {
            self.in_flight -= 1;
        }
    }

    /// Time data of writes, and of reads, crossed the link.
    pub(super) fn link_busy(&self, now: Instant) -> [Duration; 2] {
        let link = self.link.as_ref();
        link.map_or([Duration::ZERO; 2], |link| {
            [link.to_device.busy(now), link.to_host.busy(now)]
        })
    }
}

/// Submission queues and their arbitration.
impl Device {
    /// Adds a submission queue that holds `depth` commands at most; those the controller has
    /// fetched are no longer in it.
    ///
    /// # Errors
    ///
    /// [`DeviceError::QueueDepth`] for a depth of zero, [`DeviceError::TooManyQueues`] after 65,536.
    pub fn create_queue(&mut self, depth: u32, priority: Priority) -> Result<QueueId, DeviceError> {
        let hil = &mut self.hil;
        let id = u16::try_from(hil.queues.len()).map_err(|_| DeviceError::TooManyQueues)?;
        if depth == 0 {
            return Err(DeviceError::QueueDepth);
        }
        hil.add_queue(depth as usize, priority);
        Ok(QueueId(id))
    }

    /// Commands that wait in `queue` to be fetched; none in a queue that does not exist.
    pub fn queued(&self, queue: QueueId) -> usize {
        let queue = self.hil.queues.get(usize::from(queue.0));
        queue.map_or(0, |queue| queue.waiting.len())
    }

    /// Changes the arbitration burst and the weights of high, medium and low priority, as Set
    /// Features does. A burst of zero is no limit; weights of zero are taken for one.
    pub fn set_arbitration(&mut self, burst: u32, weights: [u32; 3]) {
        self.hil.shares = Shares::new(burst, weights);
        self.hil.arbiter.set_shares(self.hil.shares);
    }

    /// The arbitration burst, zero for no limit, and the weights of high, medium and low priority.
    pub fn arbitration(&self) -> (u32, [u32; 3]) {
        let Shares { burst, weights } = self.hil.shares;
        let burst = if burst == Shares::NO_LIMIT { 0 } else { burst };
        (burst, weights)
    }
}
