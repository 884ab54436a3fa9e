//! The host's side: submission queues in front of the controller, and the link to the host.
//!
//! ```text
//!  queues --arbitration--> controller (command_cost each) --> writes: data over the link --> begin
//!                          at most commands_in_flight         reads: each page over the link --> end
//! ```

use std::collections::{BTreeMap, VecDeque};

use super::front::{Front, PageRange};
use super::request::Work;
use super::{Device, DeviceError};
use crate::engine::{Event, Time};
use crate::nvme::{Arbiter, Command, NamespaceId, Opcode, Priority, Scheme};
use crate::profile::{DataRate, Profile, QueueArbitration};

/// A submission queue. Queue 0 is always there: without a limit, of medium priority; commands
/// [submitted](Device::submit) without naming a queue go through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u16);

/// A request that has not begun, and what it is about.
type Waiting = (u32, Work);

#[derive(Debug)]
struct Queue {
    /// Commands it holds at most.
    depth: usize,
    waiting: VecDeque<Waiting>,
}

/// One direction of the link: data cross it one after the other.
#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    free_at: Time,
    /// What all data so far take.
    total: Time,
}

impl Direction {
    /// When data that are ready now have crossed.
    fn transfer(&mut self, now: Time, time: Time) -> Time {
        self.free_at = self.free_at.max(now) + time;
        self.total += time;
        self.free_at
    }

    /// Time it was in use: what is still to cross follows without a gap.
    fn busy(&self, now: Time) -> Time {
        self.total - self.free_at.saturating_sub(now)
    }
}

/// What the pages of a read take on the link, by request.
#[derive(Clone, Copy, Debug, Default)]
struct Outbound {
    page: Time,
    /// What the command takes besides, with the first of them.
    command: Time,
    /// Pages that come from the controller in one part.
    from_controller: u32,
}

/// Queues and link.
#[derive(Debug)]
pub(super) struct Host {
    /// No limit anywhere: a command begins when it is submitted.
    direct: bool,
    cost: Time,
    limit: u32,
    in_flight: u32,
    arbiter: Arbiter,
    queues: Vec<Queue>,
    /// What the controller is fetching.
    fetching: Option<Waiting>,
    /// Time from submission to fetch, summed over commands.
    queue_wait: Time,
    rate: DataRate,
    /// What a command takes on the link besides its data.
    command_time: Time,
    to_device: Direction,
    to_host: Direction,
    /// Commands that wait for their data, or for the data of one before them; in order.
    arriving: VecDeque<Waiting>,
    outbound: Vec<Outbound>,
    /// Ranges of a deallocation beyond the first, by request.
    more_ranges: BTreeMap<u32, Vec<PageRange>>,
}

impl Host {
    pub(super) fn new(profile: &Profile) -> Host {
        let host = &profile.host;
        let no_limit = |value| if value == 0 { u32::MAX } else { value };
        let scheme = Scheme {
            weighted: host.arbitration == QueueArbitration::WeightedRoundRobin,
            burst: no_limit(host.arbitration_burst),
            weights: [host.high_weight, host.medium_weight, host.low_weight],
        };
        let mut arbiter = Arbiter::new(scheme);
        arbiter.add_queue(Priority::Medium);
        Host {
            direct: host.commands_in_flight == 0
                && host.command_cost == Time::ZERO
                && host.link_rate == DataRate(0),
            cost: host.command_cost,
            limit: no_limit(host.commands_in_flight),
            in_flight: 0,
            arbiter,
            queues: vec![Queue {
                depth: usize::MAX,
                waiting: VecDeque::new(),
            }],
            fetching: None,
            queue_wait: Time::ZERO,
            rate: host.link_rate,
            command_time: host.link_command_time,
            to_device: Direction::default(),
            to_host: Direction::default(),
            arriving: VecDeque::new(),
            outbound: Vec::new(),
            more_ranges: BTreeMap::new(),
        }
    }

    /// Whether a command begins when it is submitted.
    #[inline]
    pub(super) fn is_direct(&self) -> bool {
        self.direct
    }

    fn has_link(&self) -> bool {
        self.rate != DataRate(0)
    }

    /// What `bytes` take on the link.
    fn link_time(&self, bytes: u64) -> Time {
        let ps = u128::from(bytes) * 1_000_000_000_000 / u128::from(self.rate.0.max(1));
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    pub(super) fn queue_wait(&self) -> Time {
        self.queue_wait
    }

    pub(super) fn to_device_busy(&self, now: Time) -> Time {
        self.to_device.busy(now)
    }

    pub(super) fn to_host_busy(&self, now: Time) -> Time {
        self.to_host.busy(now)
    }

    /// The ranges of a deallocation beyond the first.
    pub(super) fn more_ranges(&mut self, request: u32) -> Vec<PageRange> {
        self.more_ranges.remove(&request).unwrap_or_default()
    }

    /// The same, which stay.
    pub(super) fn further_ranges(&self, request: u32) -> &[PageRange] {
        self.more_ranges.get(&request).map_or(&[], Vec::as_slice)
    }

    /// A request has ended.
    #[inline]
    pub(super) fn ended(&mut self) {
        if !self.direct {
            self.in_flight -= 1;
        }
    }

    /// What the controller fetches next, if it may.
    fn grant(&mut self) -> Option<Waiting> {
        if self.fetching.is_some() || self.in_flight >= self.limit {
            return None;
        }
        let queue = self.arbiter.grant()?;
        self.in_flight += 1;
        self.queues[queue as usize].waiting.pop_front()
    }
}

impl Device {
    /// Adds a submission queue that holds `depth` commands at most; those the controller has
    /// fetched are no longer in it.
    pub fn create_queue(&mut self, depth: u32, priority: Priority) -> Result<QueueId, DeviceError> {
        let id =
            u16::try_from(self.front.host.queues.len()).map_err(|_| DeviceError::TooManyQueues)?;
        if depth == 0 {
            return Err(DeviceError::QueueDepth);
        }
        self.front.host.arbiter.add_queue(priority);
        self.front.host.queues.push(Queue {
            depth: depth as usize,
            waiting: VecDeque::new(),
        });
        Ok(QueueId(id))
    }

    /// Commands that wait in `queue` to be fetched; none in a queue that does not exist.
    pub fn queued(&self, queue: QueueId) -> usize {
        let queue = self.front.host.queues.get(usize::from(queue.0));
        queue.map_or(0, |queue| queue.waiting.len())
    }

    /// Changes the arbitration burst and the weights of high, medium and low priority, as Set
    /// Features does. A burst of zero is no limit; weights of zero are taken for one.
    pub fn set_arbitration(&mut self, burst: u32, weights: [u32; 3]) {
        let burst = if burst == 0 { Scheme::NO_LIMIT } else { burst };
        let weights = weights.map(|weight| weight.max(1));
        self.front.host.arbiter.set_shares(burst, weights);
    }

    /// The arbitration burst, zero for no limit, and the weights of high, medium and low priority.
    pub fn arbitration(&self) -> (u32, [u32; 3]) {
        let scheme = self.front.host.arbiter.scheme();
        let burst = match scheme.burst {
            Scheme::NO_LIMIT => 0,
            burst => burst,
        };
        (burst, scheme.weights)
    }

    /// [Submits](Device::submit) a command to a queue. When the profile's `[host]` sets no limit,
    /// the controller fetches it at once; else when it is its turn.
    pub fn submit_to(&mut self, queue: QueueId, command: &Command) -> Result<(), DeviceError> {
        self.check_queue(queue)?;
        let work = self.check(command)?;
        let request = self.front.requests.start(command, self.front.queue.now());
        self.enqueue(queue, request, work);
        Ok(())
    }

    /// Submits the deallocation of up to 256 ranges (first logical block, count), as Dataset
    /// Management does with the deallocate attribute. There is at least one range, and each is
    /// within the namespace.
    pub fn deallocate(
        &mut self,
        queue: QueueId,
        nsid: NamespaceId,
        ranges: &[(u64, u32)],
        tag: u64,
    ) -> Result<(), DeviceError> {
        self.check_queue(queue)?;
        let Some((&(slba, nlb), rest)) = ranges.split_first() else {
            return Err(DeviceError::NoRanges);
        };
        let mut more = Vec::with_capacity(rest.len());
        for &(slba, nlb) in rest {
            more.push(self.front.pages(nsid, slba, u64::from(nlb))?.0);
        }
        let first = Command::deallocate(nsid, slba, nlb, tag);
        let work = self.check(&first)?;
        for &(slba, nlb) in rest {
            self.forget_hints(&Command::deallocate(nsid, slba, nlb, tag));
        }
        let request = self.front.requests.start(&first, self.front.queue.now());
        if !more.is_empty() {
            self.front.host.more_ranges.insert(request, more);
        }
        self.enqueue(queue, request, work);
        Ok(())
    }

    fn check_queue(&self, queue: QueueId) -> Result<(), DeviceError> {
        match self.front.host.queues.get(usize::from(queue.0)) {
            None => Err(DeviceError::UnknownQueue { queue: queue.0 }),
            Some(to) if to.waiting.len() >= to.depth => {
                Err(DeviceError::QueueFull { queue: queue.0 })
            }
            Some(_) => Ok(()),
        }
    }

    fn enqueue(&mut self, queue: QueueId, request: u32, mut work: Work) {
        work.queue = queue.0;
        if self.front.host.direct {
            return self.begin(request, work);
        }
        let to = &mut self.front.host.queues[usize::from(queue.0)];
        to.waiting.push_back((request, work));
        self.front.host.arbiter.arrived(u32::from(queue.0));
        self.fetch();
    }

    /// Fetches what may be fetched.
    #[inline]
    pub(super) fn fetch(&mut self) {
        if self.front.host.direct {
            return;
        }
        while let Some((request, work)) = self.front.host.grant() {
            self.front.host.queue_wait +=
                self.front.queue.now() - self.front.requests.submitted(request);
            if self.front.host.cost > Time::ZERO {
                self.front.host.fetching = Some((request, work));
                let time = self.front.queue.now() + self.front.host.cost;
                self.front.queue.schedule(time, Event::Fetched);
            } else {
                self.receive(request, work);
            }
        }
    }

    /// A command has been fetched.
    pub(super) fn fetched(&mut self) {
        if let Some((request, work)) = self.front.host.fetching.take() {
            self.receive(request, work);
        }
    }

    /// Data of a write cross the link before it begins. Deallocations and flushes do not overtake
    /// them; reads do.
    fn receive(&mut self, request: u32, work: Work) {
        if !self.front.host.has_link() || work.opcode == Opcode::Read {
            self.front.prepare_outbound(request, &work);
            self.begin(request, work);
            return;
        }
        let now = self.front.queue.now();
        let time = match work.opcode {
            Opcode::Write => self.front.host.link_time(work.bytes) + self.front.host.command_time,
            _ => Time::ZERO,
        };
        let arrival = self.front.host.to_device.transfer(now, time);
        if arrival == now && self.front.host.arriving.is_empty() {
            self.begin(request, work);
        } else {
            self.front.host.arriving.push_back((request, work));
            self.front.queue.schedule(arrival, Event::Arrived);
        }
    }

    /// Data of a write have crossed the link.
    pub(super) fn arrived(&mut self) {
        if let Some((request, work)) = self.front.host.arriving.pop_front() {
            self.begin(request, work);
        }
    }
}

impl Front {
    fn prepare_outbound(&mut self, request: u32, work: &Work) {
        if !self.host.has_link() {
            return;
        }
        let pages = work.range.pages().max(1);
        let page = self.host.link_time(work.bytes / pages);
        let outbound = &mut self.host.outbound;
        outbound.resize(
            outbound.len().max(request as usize + 1),
            Outbound::default(),
        );
        outbound[request as usize] = Outbound {
            page,
            command: self.host.command_time,
            from_controller: 0,
        };
    }

    /// Pages of a read will come from the controller.
    pub(super) fn expect_from_controller(&mut self, request: u32, pages: u64) {
        if self.host.has_link() {
            self.host.outbound[request as usize].from_controller += pages as u32;
        }
    }

    /// Pages have come from flash: of a read, for the host; of a write, to be merged.
    #[inline]
    pub(super) fn deliver(&mut self, request: u32, pages: u32) {
        if !self.host.has_link() || self.requests.opcode(request) != Opcode::Read {
            self.finish_part(request, u64::from(pages));
        } else {
            self.send(request, pages, pages as u16);
        }
    }

    /// The controller's latency has passed: for a read, data are ready.
    #[inline]
    pub(super) fn finish_in_controller(&mut self, request: u32) {
        if !self.host.has_link() || self.requests.opcode(request) != Opcode::Read {
            self.finish_part(request, 1);
        } else {
            let outbound = &mut self.host.outbound[request as usize];
            let pages = std::mem::take(&mut outbound.from_controller);
            self.send(request, pages, 1);
        }
    }

    fn send(&mut self, request: u32, pages: u32, parts: u16) {
        let now = self.queue.now();
        let outbound = &mut self.host.outbound[request as usize];
        let command = std::mem::take(&mut outbound.command);
        let time = outbound.page * u64::from(pages) + command;
        let arrival = self.host.to_host.transfer(now, time);
        self.queue.schedule(arrival, Event::Sent { request, parts });
    }
}
