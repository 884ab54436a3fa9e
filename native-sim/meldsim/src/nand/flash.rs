//! All dies and channels: the interface to the layers above.

use super::channel::Channel;
use super::counts::{Counts, DieCounts, FlashStats};
use super::die::{Die, Wait};
use super::geometry::{Geometry, Unit, WordlineAddr};
use super::look::{Look, Shared};
use super::op::{ReadOp, Work, WorkOp};
use super::packages::Packages;
use super::suspend::Suspensions;
use super::timing::Timing;
use super::transactions::{Transactions, Waiting};
use crate::engine::{Event, EventQueue, NIL, Slab, Time};
use crate::profile::{Arbitration, Energy, Profile};

/// For whom pages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner(pub(super) u32);

impl Owner {
    /// Owners from here on are garbage collectors, the first set's at the top.
    const FIRST_GC: u32 = u32::MAX - u16::MAX as u32;

    /// The garbage collection of an NVM set.
    #[inline]
    pub(crate) fn gc(set: u32) -> Owner {
        debug_assert!(set <= u32::from(u16::MAX));
        Owner(u32::MAX - set)
    }

    #[inline]
    pub(crate) fn request(index: u32) -> Owner {
        Owner(index)
    }

    /// The host's request, if it is for one.
    #[inline]
    pub(crate) fn as_request(self) -> Option<u32> {
        (self.0 < Owner::FIRST_GC).then_some(self.0)
    }

    /// The NVM set, if it is for one's garbage collection.
    #[inline]
    pub(crate) fn as_gc(self) -> Option<u32> {
        (self.0 >= Owner::FIRST_GC).then(|| u32::MAX - self.0)
    }
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finished {
    /// Pages of a wordline have arrived in the controller.
    Read {
        at: WordlineAddr,
        pages: u8,
        owner: Owner,
    },
    /// Pages of a wordline are programmed.
    Program { unit: Unit, token: u32 },
    /// A block is erased.
    Erase { unit: Unit, token: u32 },
    /// Pages are copied to another wordline of their plane.
    Copyback { unit: Unit, token: u32 },
}

/// Which commands the dies understand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) arbitration: Arbitration,
    pub(super) reads_before_program: u32,
    pub(super) multi_plane: bool,
    pub(super) cache_read: bool,
    pub(super) cache_program: bool,
    /// A die may take a command although it is not idle.
    pub(super) overlap: bool,
    /// Data may be granted the bus at the command before it. A die that overlaps operations may
    /// enter the arbitration at the end of a sense, so this is for the others.
    pub(super) look_ahead: bool,
}

/// The dies, their channels, and everything queued on them.
#[derive(Debug)]
pub(crate) struct Flash {
    pub(super) shared: Shared,
    energy: Energy,
    pub(super) dies_per_channel: u32,
    /// 2^32 / planes, rounded up.
    planes_inverse: u64,
    rows_per_plane: u32,
    wordlines_per_block: u32,
    pub(super) channels: Vec<Channel>,
    pub(super) dies: Vec<Die>,
    /// For whom programs and erases are queued.
    acting_for: Owner,
}

impl Flash {
    pub(crate) fn new(profile: &Profile, geometry: &Geometry) -> Flash {
        let commands = &profile.commands;
        let per_channel = geometry.dies_per_channel;
        let dies = geometry.dies as usize;
        let suspensions = Suspensions::new(commands, dies);
        let overlap = commands.cache_read || commands.cache_program || suspensions.is_some();
        let rules = Rules {
            arbitration: profile.bus.arbitration,
            reads_before_program: profile.controller.reads_before_program,
            multi_plane: commands.multi_plane,
            cache_read: commands.cache_read,
            cache_program: commands.cache_program,
            overlap,
            look_ahead: !overlap,
        };
        Flash {
            shared: Shared {
                timing: Timing::new(profile),
                rules,
                planes: geometry.planes,
                reads: Slab::new(),
                works: Slab::new(),
                ends_at: vec![Time::MAX; dies],
                transactions: Transactions::new(profile, geometry).map(Box::new),
                suspensions,
                packages: Packages::new(geometry),
                counts: Counts::default(),
            },
            energy: profile.energy.clone(),
            dies_per_channel: per_channel,
            planes_inverse: (1u64 << 32).div_ceil(u64::from(geometry.planes)),
            rows_per_plane: profile.geometry.blocks_per_plane * geometry.wordlines_per_block,
            wordlines_per_block: geometry.wordlines_per_block,
            channels: (0..geometry.channels).map(|_| Channel::new()).collect(),
            dies: (0..geometry.dies)
                .map(|die| Die::new(die / per_channel, die % per_channel))
                .collect(),
            acting_for: Owner::gc(0),
        }
    }

    /// Queues a read of `pages` of one wordline. Nothing starts before the channel's event, so
    /// that everything submitted at one instant is queued before the first choice is made.
    #[inline]
    pub(crate) fn read(
        &mut self,
        queue: &mut EventQueue<Event>,
        at: WordlineAddr,
        pages: u8,
        melded: bool,
        owner: Owner,
    ) {
        debug_assert!(at.row < self.rows_per_plane);
        let (die, plane) = self.die_and_plane(at.unit);
        let op = ReadOp {
            row: at.row,
            owner: owner.0,
            next: NIL,
            plane,
            pages,
            melded,
        };
        if self.shared.transactions.is_some() {
            self.wait_for_transaction(queue, die, Waiting::Read(op), owner);
            return;
        }
        self.dies[die as usize]
            .reads
            .push(&mut self.shared.reads, op);
        self.wait_for_bus(queue, die);
    }

    /// The programs and erases that are queued from here on are for `owner`.
    #[inline]
    pub(crate) fn act_for(&mut self, owner: Owner) {
        self.acting_for = owner;
    }

    /// Queues the program of pages of a wordline: all of them in one shot, or one in shadow order.
    pub(crate) fn program(
        &mut self,
        queue: &mut EventQueue<Event>,
        at: WordlineAddr,
        pages: u8,
        token: u32,
    ) {
        debug_assert!(pages != 0 && pages & !self.shared.timing.whole == 0);
        self.work(queue, Work::Program, at, pages, token);
    }

    /// Queues the erasure of a block of a unit.
    pub(crate) fn erase(
        &mut self,
        queue: &mut EventQueue<Event>,
        unit: Unit,
        block: u32,
        token: u32,
    ) {
        let row = block * self.wordlines_per_block;
        self.work(queue, Work::Erase, WordlineAddr { unit, row }, 0, token);
    }

    /// Queues the copy of pages to another wordline of the same plane: its registers reach no other.
    pub(crate) fn copyback(
        &mut self,
        queue: &mut EventQueue<Event>,
        from: WordlineAddr,
        to: WordlineAddr,
        pages: u8,
        token: u32,
    ) {
        assert_eq!(from.unit, to.unit, "a copyback stays in its plane");
        debug_assert!(from.row < self.rows_per_plane && pages != 0);
        self.work(queue, Work::Copyback, to, pages, token);
    }

    fn work(
        &mut self,
        queue: &mut EventQueue<Event>,
        kind: Work,
        at: WordlineAddr,
        pages: u8,
        token: u32,
    ) {
        debug_assert!(at.row < self.rows_per_plane);
        let (die, plane) = self.die_and_plane(at.unit);
        let op = WorkOp {
            kind,
            plane,
            pages,
            row: at.row,
            token,
            next: NIL,
        };
        if self.shared.transactions.is_some() {
            self.wait_for_transaction(queue, die, Waiting::Work(op), self.acting_for);
            return;
        }
        self.dies[die as usize]
            .works
            .push(&mut self.shared.works, op);
        self.wait_for_bus(queue, die);
    }

    /// Looks at a channel: finishes what has ended, grants the bus, and schedules the next look.
    #[inline]
    pub(crate) fn step(
        &mut self,
        queue: &mut EventQueue<Event>,
        channel: u32,
        finished: &mut Vec<Finished>,
    ) {
        let mut look = self.look(channel);
        look.step(queue.now(), finished);
        queue.set_timer(channel, look.next_look());
    }

    #[inline]
    fn look(&mut self, channel: u32) -> Look<'_> {
        let first = (channel * self.dies_per_channel) as usize;
        let end = first + self.dies_per_channel as usize;
        Look {
            shared: &mut self.shared,
            channel,
            first_die: first as u32,
            bus: &mut self.channels[channel as usize],
            dies: &mut self.dies[first..end],
        }
    }

    /// Divides by the planes of a die. The inverse is exact enough for any unit there can be.
    #[inline]
    fn die_and_plane(&self, unit: Unit) -> (u32, u8) {
        let die = ((u64::from(unit.0) * self.planes_inverse) >> 32) as u32;
        (die, (unit.0 - die * self.shared.planes) as u8)
    }

    /// Enters a die that has got something to do into its channel's arbitration.
    #[inline(always)]
    fn wait_for_bus(&mut self, queue: &mut EventQueue<Event>, die: u32) {
        let index = die as usize;
        let Die {
            wait, channel, way, ..
        } = self.dies[index];
        if wait == Wait::Command || !(self.shared.rules.overlap || self.dies[index].is_idle()) {
            return;
        }
        let (channel, way) = (u32::from(channel), u32::from(way));
        let mut look = self.look(channel);
        look.bus.take_back(queue.now());
        look.enter_arbitration(way, queue.now());
        let wake_at = match look.shared.rules.overlap {
            // It may wait for something else than the bus.
            true => look.next_look(),
            false => look.bus.bus_free_at,
        };
        let wake_at = wake_at.max(queue.now());
        look_at(queue, channel, wake_at);
    }

    fn wait_for_transaction(
        &mut self,
        queue: &mut EventQueue<Event>,
        die: u32,
        op: Waiting,
        owner: Owner,
    ) {
        let Die { channel, way, .. } = self.dies[die as usize];
        if let Some(transactions) = &mut self.shared.transactions {
            transactions.push(u32::from(channel), way, op, owner.0);
        }
        let bus = &mut self.channels[usize::from(channel)];
        bus.take_back(queue.now());
        let (channel, wake_at) = (u32::from(channel), bus.bus_free_at.max(queue.now()));
        look_at(queue, channel, wake_at);
    }

    /// What the event queue needs timers for: a look at each channel.
    pub(crate) fn alarms(geometry: &Geometry) -> Vec<Event> {
        (0..geometry.channels).map(Event::Channel).collect()
    }

    /// The counters up to `now`.
    pub(crate) fn stats(&self, now: Time) -> FlashStats {
        let dies = (0..self.dies.len()).map(|die| DieCounts {
            plane_busy: self.plane_busy(die, now),
            ..self.dies[die].counts
        });
        let mut stats =
            FlashStats::new(&self.shared.counts, dies, &self.shared.timing, &self.energy);
        stats.channel_busy = self.channels_busy(now).sum();
        stats.die_busy = self.dies_busy(now).sum();
        stats.package_busy = self.packages_busy(now).into_iter().sum();
        stats
    }

    /// How long each channel's bus was held.
    pub(crate) fn channels_busy(&self, now: Time) -> impl Iterator<Item = Time> + '_ {
        self.channels.iter().map(move |bus| bus.busy_until(now))
    }

    /// How long each package had a busy die.
    pub(crate) fn packages_busy(&self, now: Time) -> Vec<Time> {
        self.shared.packages.busy(&self.dies, now)
    }

    /// How long each die was busy.
    pub(crate) fn dies_busy(&self, now: Time) -> impl Iterator<Item = Time> + '_ {
        self.dies.iter().map(move |die| die.busy_until(now))
    }

    /// How long each die's planes were in use, summed over them.
    pub(crate) fn planes_busy(&self, now: Time) -> impl Iterator<Item = Time> + '_ {
        (0..self.dies.len()).map(move |die| self.plane_busy(die, now))
    }

    /// What each die has done.
    pub(crate) fn die_counts(&self) -> impl ExactSizeIterator<Item = &DieCounts> {
        self.dies.iter().map(|die| &die.counts)
    }

    /// A die's planes are in use as long as it is busy; with one plane that is the same.
    fn plane_busy(&self, die: usize, now: Time) -> Time {
        if self.shared.planes == 1 {
            return self.dies[die].busy_until(now);
        }
        self.dies[die].counts.plane_busy + self.dies[die].busy_planes_until(now)
    }
}

/// A channel is looked at at a time, at the latest.
#[inline]
fn look_at(queue: &mut EventQueue<Event>, channel: u32, time: Time) {
    if time < queue.timer(channel) {
        queue.set_timer(channel, time);
    }
}
