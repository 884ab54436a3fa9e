//! All dies and channels: operations in, finished operations out.

use super::channel::{Channel, Grant, Transfer};
use super::die::{Active, Die, Next, Phase, ReadOp, Work, WorkOp};
use super::geometry::{Geometry, Unit, WordlineAddr};
use super::timing::Timing;
use crate::engine::{Event, EventQueue, NIL, Slab, Time};
use crate::profile::{Arbitration, Profile};

/// For whom pages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner(u32);

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
#[derive(Clone, Copy, Debug)]
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
}

/// What the flash counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlashStats {
    pub(crate) page_reads: u64,
    pub(crate) melded_reads: u64,
    pub(crate) melded_pages_read: u64,
    pub(crate) channel_busy: Time,
    pub(crate) die_busy: Time,
}

/// The dies, their channels, and everything queued on them.
#[derive(Debug)]
pub(crate) struct Flash {
    timing: Timing,
    arbitration: Arbitration,
    reads_before_program: u32,
    dies_per_channel: u32,
    planes: u32,
    pages_per_wordline: u32,
    blocks_per_plane: u32,
    channels: Vec<Channel>,
    dies: Vec<Die>,
    /// When each die's sense, program or erase ends; apart from the dies, to be scanned quickly.
    ends_at: Vec<Time>,
    reads: Slab<ReadOp>,
    works: Slab<WorkOp>,
    stats: FlashStats,
}

impl Flash {
    pub(crate) fn new(profile: &Profile, geometry: &Geometry) -> Flash {
        debug_assert_eq!(geometry.dies_per_channel % geometry.dies_per_package, 0);
        Flash {
            timing: Timing::new(profile),
            arbitration: profile.bus.arbitration,
            reads_before_program: profile.controller.reads_before_program,
            dies_per_channel: geometry.dies_per_channel,
            planes: geometry.planes,
            pages_per_wordline: geometry.pages_per_wordline,
            blocks_per_plane: profile.geometry.blocks_per_plane,
            channels: (0..geometry.channels)
                .map(|_| Channel::new(geometry.dies_per_channel))
                .collect(),
            dies: (0..geometry.dies)
                .map(|die| {
                    Die::new(
                        die / geometry.dies_per_channel,
                        die % geometry.dies_per_channel,
                    )
                })
                .collect(),
            ends_at: vec![Time::MAX; geometry.dies as usize],
            reads: Slab::new(),
            works: Slab::new(),
            stats: FlashStats::default(),
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
        let op = ReadOp {
            at,
            owner: owner.0,
            next: NIL,
            pages,
            melded,
        };
        let die = self.die_of(at.unit);
        self.dies[die as usize].push_read(&mut self.reads, op);
        self.wait_for_bus(queue, die);
    }

    /// Queues the program of the pages of a wordline: all of them, in one shot.
    pub(crate) fn program(
        &mut self,
        queue: &mut EventQueue<Event>,
        at: WordlineAddr,
        pages: u8,
        token: u32,
    ) {
        debug_assert!(u32::from(pages) == (1 << self.pages_per_wordline) - 1);
        self.work(
            queue,
            at.unit,
            Work::Program {
                unit: at.unit,
                token,
            },
        );
    }

    /// Queues the erasure of a block of a unit.
    pub(crate) fn erase(
        &mut self,
        queue: &mut EventQueue<Event>,
        unit: Unit,
        block: u32,
        token: u32,
    ) {
        debug_assert!(block < self.blocks_per_plane);
        self.work(queue, unit, Work::Erase { unit, token });
    }

    fn work(&mut self, queue: &mut EventQueue<Event>, unit: Unit, work: Work) {
        let die = self.die_of(unit);
        self.dies[die as usize].push_work(&mut self.works, work);
        self.wait_for_bus(queue, die);
    }

    #[inline]
    fn die_of(&self, unit: Unit) -> u32 {
        if self.planes == 1 {
            unit.0
        } else {
            unit.0 / self.planes
        }
    }

    /// Enters a die that has something to do into its channel's arbitration.
    #[inline]
    fn wait_for_bus(&mut self, queue: &mut EventQueue<Event>, die: u32) {
        let Die {
            phase,
            channel,
            way,
            ..
        } = self.dies[die as usize];
        if phase == Phase::Busy || phase == Phase::WaitCommand {
            return;
        }
        self.enter_arbitration(channel, way);
        let wake_at = self.channels[channel as usize].bus_free_at.max(queue.now());
        self.wake(queue, channel, wake_at);
    }

    #[inline]
    fn wake(&mut self, queue: &mut EventQueue<Event>, channel: u32, at: Time) {
        let bus = &mut self.channels[channel as usize];
        if at < bus.wake_at {
            bus.wake_at = at;
            queue.schedule(at, Event::Channel(channel));
        }
    }

    /// Puts a die that is not busy where its next operation has to wait.
    #[inline]
    fn enter_arbitration(&mut self, channel: u32, way: u32) {
        let die = &mut self.dies[(channel * self.dies_per_channel + way) as usize];
        let bus = &mut self.channels[channel as usize];
        let next = die.next(&self.works, self.reads_before_program);
        let phase = match next {
            Next::Nothing => Phase::Idle,
            Next::Read | Next::Erase => Phase::WaitCommand,
            Next::Program => Phase::WaitDataIn,
        };
        if phase == die.phase {
            return;
        }
        bus.data_in &= !(1 << way);
        die.phase = phase;
        match phase {
            Phase::WaitCommand => bus.commands.push_back(way as u8),
            Phase::WaitDataIn => bus.data_in |= 1 << way,
            Phase::Idle | Phase::Busy => {}
        }
    }

    /// Looks at a channel: finishes what has ended, grants the bus, and schedules the next look.
    pub(crate) fn step(
        &mut self,
        queue: &mut EventQueue<Event>,
        channel: u32,
        finished: &mut Vec<Finished>,
    ) {
        let now = queue.now();
        if self.channels[channel as usize].wake_at != now {
            return; // stale: the channel was looked at since, or will be
        }
        let free = self.channels[channel as usize].bus_free_at <= now;
        if free {
            self.end_transfer(channel, now, finished);
        }
        if self.channels[channel as usize].working != 0 {
            self.end_work(channel, now, finished);
        }
        if free {
            self.end_senses(channel, now);
            self.grant(channel, now);
        }
        let wake_at = self.next_look(channel);
        let bus = &mut self.channels[channel as usize];
        bus.wake_at = wake_at;
        if wake_at != Time::MAX {
            queue.schedule(wake_at, Event::Channel(channel));
        }
    }

    #[inline]
    fn end_transfer(&mut self, channel: u32, now: Time, finished: &mut Vec<Finished>) {
        let transfer = std::mem::replace(
            &mut self.channels[channel as usize].transfer,
            Transfer::None,
        );
        match transfer {
            Transfer::None => {}
            // From here the die programs; its end was set when the transfer was granted.
            Transfer::In(way) => self.channels[channel as usize].working |= 1 << way,
            Transfer::Out(way) => {
                let die = channel * self.dies_per_channel + way;
                match self.dies[die as usize].active {
                    Active::Page { at, owner, pages } => {
                        self.stats.page_reads += 1;
                        finished.push(Finished::Read {
                            at,
                            pages,
                            owner: Owner(owner),
                        });
                    }
                    Active::Melded { first } => {
                        self.stats.melded_reads += 1;
                        let mut index = first;
                        while index != NIL {
                            let ReadOp {
                                at,
                                pages,
                                owner,
                                next,
                                ..
                            } = self.reads[index];
                            self.stats.melded_pages_read += u64::from(pages.count_ones());
                            finished.push(Finished::Read {
                                at,
                                pages,
                                owner: Owner(owner),
                            });
                            self.reads.remove(index);
                            index = next;
                        }
                    }
                    Active::Nothing | Active::Work(_) => {
                        debug_assert!(false, "a transfer out without a read");
                    }
                }
                self.become_idle(channel, way, now);
            }
        }
    }

    fn end_work(&mut self, channel: u32, now: Time, finished: &mut Vec<Finished>) {
        let mut working = self.channels[channel as usize].working;
        while working != 0 {
            let way = working.trailing_zeros();
            working &= working - 1;
            let die = (channel * self.dies_per_channel + way) as usize;
            if self.ends_at[die] > now {
                continue;
            }
            self.channels[channel as usize].working &= !(1 << way);
            match self.dies[die].active {
                Active::Work(Work::Program { unit, token }) => {
                    finished.push(Finished::Program { unit, token });
                }
                Active::Work(Work::Erase { unit, token }) => {
                    finished.push(Finished::Erase { unit, token });
                }
                _ => debug_assert!(false, "a die works on nothing"),
            }
            self.become_idle(channel, way, now);
        }
    }

    #[inline]
    fn end_senses(&mut self, channel: u32, now: Time) {
        let base = (channel * self.dies_per_channel) as usize;
        let bus = &mut self.channels[channel as usize];
        let mut sensing = bus.sensing;
        while sensing != 0 {
            let way = sensing.trailing_zeros();
            sensing &= sensing - 1;
            if self.ends_at[base + way as usize] <= now {
                bus.sensing &= !(1 << way);
                bus.data_out |= 1 << way;
            }
        }
    }

    #[inline]
    fn become_idle(&mut self, channel: u32, way: u32, now: Time) {
        let die = &mut self.dies[(channel * self.dies_per_channel + way) as usize];
        die.phase = Phase::Idle;
        die.active = Active::Nothing;
        die.busy += now - die.busy_since;
        self.enter_arbitration(channel, way);
    }

    #[inline]
    fn grant(&mut self, channel: u32, now: Time) {
        let bus = &mut self.channels[channel as usize];
        let base = channel * self.dies_per_channel;
        match bus.arbitrate(self.arbitration) {
            Grant::Nothing => {}
            Grant::Command(way) => {
                let index = (base + way) as usize;
                let die = &mut self.dies[index];
                die.phase = Phase::Busy;
                die.busy_since = now;
                bus.hold(now, self.timing.command);
                let length = match die.next(&self.works, self.reads_before_program) {
                    Next::Read => {
                        bus.sensing |= 1 << way;
                        die.start_read(&mut self.reads, &self.timing)
                    }
                    _ => {
                        bus.working |= 1 << way;
                        die.start_work(&mut self.works);
                        self.timing.erase
                    }
                };
                self.ends_at[index] = bus.bus_free_at + length;
            }
            Grant::DataOut(way) => {
                let length = match self.dies[(base + way) as usize].active {
                    Active::Melded { .. } => self.timing.wordline_transfer,
                    _ => self.timing.page_transfer,
                };
                bus.transfer = Transfer::Out(way);
                bus.hold(now, length);
            }
            Grant::DataIn(way) => {
                let index = (base + way) as usize;
                let die = &mut self.dies[index];
                die.phase = Phase::Busy;
                die.busy_since = now;
                die.start_work(&mut self.works);
                bus.transfer = Transfer::In(way);
                bus.hold(now, self.timing.command + self.timing.wordline_transfer);
                self.ends_at[index] = bus.bus_free_at + self.timing.program;
            }
        }
    }

    /// When a channel has to be looked at again. The end of a sense matters only to a free bus, and
    /// the end of a command only when a die waits; the end of a program or an erase always does.
    #[inline]
    fn next_look(&self, channel: u32) -> Time {
        let bus = &self.channels[channel as usize];
        let base = (channel * self.dies_per_channel) as usize;
        let earliest = |mut ways: u64| {
            let mut time = Time::MAX;
            while ways != 0 {
                time = time.min(self.ends_at[base + ways.trailing_zeros() as usize]);
                ways &= ways - 1;
            }
            time
        };
        let bus_next = if bus.transfer != Transfer::None || bus.is_wanted() {
            bus.bus_free_at
        } else {
            earliest(bus.sensing).max(bus.bus_free_at)
        };
        if bus.working == 0 {
            bus_next
        } else {
            bus_next.min(earliest(bus.working))
        }
    }

    /// The counters up to `now`.
    pub(crate) fn stats(&self, now: Time) -> FlashStats {
        let mut stats = self.stats;
        stats.channel_busy = self.channels_busy(now).sum();
        stats.die_busy = self.dies_busy(now).sum();
        stats
    }

    /// How long each channel's bus was held.
    pub(crate) fn channels_busy(&self, now: Time) -> impl Iterator<Item = Time> + '_ {
        let channels = self.channels.iter();
        channels.map(move |bus| bus.busy - bus.bus_free_at.saturating_sub(now))
    }

    /// How long each die was busy.
    pub(crate) fn dies_busy(&self, now: Time) -> impl Iterator<Item = Time> + '_ {
        self.dies.iter().map(move |die| match die.phase {
            Phase::Busy => die.busy + (now - die.busy_since),
            _ => die.busy,
        })
    }
}
