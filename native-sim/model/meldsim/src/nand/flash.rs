//! All dies and channels: the interface to the layers above.
//!
//! In: reads, programs, erases and copybacks, and the events of the channels. Out: what has finished,
//! and the counters.

use std::ops::Range;

use super::channel::Channel;
use super::context::{ChannelContext, Shared};
use super::counts::{DieCounts, FlashStats};
use super::die::{Die, Wait};
use super::geometry::{Geometry, PageSet, Unit, WordlineAddr};
use super::operation::{Finished, Kind, Op, Owner, planes_of, work_of};
use super::page_read::PageRead;
use crate::engine::{Divisor, Duration, EventQueue, Instant, NIL, TotalTime};
use crate::event::Event;
use crate::profile::{ChannelKind, Energy, Profile, ProfileError};
use crate::timeline::Recorder;

/// The queue that the channels have their timers in.
type Events = EventQueue<Event>;

/// The dies, their channels, and everything queued on them.
#[derive(Debug)]
pub(crate) struct Flash {
    pub(super) shared: Shared,
    energy: Energy,
    dies_per_channel: u32,
    /// Planes of a die, by which units are divided.
    by_planes: Divisor,
    rows_per_plane: u32,
    channels: Vec<Channel>,
    pub(super) dies: Vec<Die>,
    /// For whom programs and erases are queued.
    acting_for: Owner,
}

impl Flash {
    pub(crate) fn new(profile: &Profile, geometry: &Geometry) -> Result<Flash, ProfileError> {
        let per_channel = geometry.dies_per_channel;
        let dies = (0..geometry.dies).map(|die| Die::new(die / per_channel, die % per_channel));
        let channels = (0..geometry.channels).map(|_| Channel::new(per_channel));
        Ok(Flash {
            shared: Shared::new(profile, geometry)?,
            energy: profile.energy.clone(),
            dies_per_channel: per_channel,
            by_planes: Divisor::new(geometry.planes),
            rows_per_plane: geometry.blocks_per_plane * geometry.wordlines_per_block,
            channels: channels.collect(),
            dies: dies.collect(),
            acting_for: Owner::gc(0),
        })
    }

    /// Queues a read of `pages` of one wordline. Nothing starts before the channel's event, so
    /// that everything submitted at one instant is queued before the first choice is made.
    #[inline]
    pub(crate) fn read(
        &mut self,
        queue: &mut Events,
        at: WordlineAddr,
        pages: PageSet,
        melded: bool,
        owner: Owner,
    ) {
        self.read_part(queue, (at, pages), melded, 0, owner);
    }

    /// As [`Flash::read`], of which so many codewords stay on the die, unless the whole wordline is sensed.
    #[inline(always)]
    pub(crate) fn read_part(
        &mut self,
        queue: &mut Events,
        (at, pages): (WordlineAddr, PageSet),
        melded: bool,
        skipped: u8,
        owner: Owner,
    ) {
        let op = Op::new(Kind::Read(melded), at.row, pages, owner.0).skips(skipped);
        self.submit(queue, at.unit, op, owner);
    }

    /// The programs and erases that are queued from here on are for `owner`.
    #[inline]
    pub(crate) fn act_for(&mut self, owner: Owner) {
        self.acting_for = owner;
    }

    /// Queues the program of pages of a wordline: all of them in one shot, or one in shadow order.
    pub(crate) fn program(
        &mut self,
        queue: &mut Events,
        at: WordlineAddr,
        pages: PageSet,
        token: u32,
    ) {
        debug_assert!(pages != 0 && pages & !self.shared.timing.whole == 0);
        let op = Op::new(Kind::Program, at.row, pages, token);
        self.submit_pe(queue, at.unit, op);
    }

    /// Queues the erasure of a block of a unit.
    pub(crate) fn erase(&mut self, queue: &mut Events, unit: Unit, block: u32, token: u32) {
        let row = block * self.shared.wordlines_per_block;
        self.submit_pe(queue, unit, Op::new(Kind::Erase, row, 0, token));
    }

    /// Writes begin to wait for these units, or do so no longer.
    pub(crate) fn set_pressure(&mut self, units: impl Iterator<Item = Unit>, writes_wait: bool) {
        if self.shared.commands.suspend_under_pressure {
            return;
        }
        if let Some(suspensions) = &mut self.shared.suspensions {
            for unit in units {
                let (die, _) = self.by_planes.divide(unit.0);
                suspensions.hold(die as usize, writes_wait);
            }
        }
    }

    /// Queues the copy of pages to another wordline of the same plane: its registers reach no other.
    pub(crate) fn copyback(
        &mut self,
        queue: &mut Events,
        from: WordlineAddr,
        to: WordlineAddr,
        pages: PageSet,
        token: u32,
    ) {
        assert_eq!(from.unit, to.unit, "a copyback stays in its plane");
        debug_assert!(from.row < self.rows_per_plane && pages != 0);
        let op = Op::new(Kind::Copyback, to.row, pages, token);
        self.submit_pe(queue, to.unit, op);
    }

    fn submit_pe(&mut self, queue: &mut Events, unit: Unit, op: Op) {
        self.submit(queue, unit, op, self.acting_for);
    }

    /// Queues an operation on the die of a unit, or where it waits for its transaction.
    #[inline(always)]
    fn submit(&mut self, queue: &mut Events, unit: Unit, op: Op, owner: Owner) {
        debug_assert!(op.row < self.rows_per_plane);
        match self.shared.kind {
            ChannelKind::Plain => return self.enqueue::<true, true>(queue, unit.0, op),
            ChannelKind::Single => return self.enqueue::<true, false>(queue, unit.0, op),
            ChannelKind::Any => {}
        }
        let (die, plane) = self.die_and_plane(unit);
        let op = Op {
            place: op.place | plane,
            ..op
        };
        let Some(transactions) = &mut self.shared.transactions else {
            return self.enqueue::<false, false>(queue, die, op);
        };
        let Die { channel, way, .. } = self.dies[die as usize];
        let channel = u32::from(channel);
        transactions.push(channel, way, op, owner);
        let bus = &mut self.channels[channel as usize];
        bus.take_back(queue.now());
        let event_at = bus.bus_free_at;
        bring_forward(queue, channel, event_at);
    }

    /// Queues an operation on its die.
    #[inline(always)]
    fn enqueue<const SINGLE: bool, const PLAIN: bool>(
        &mut self,
        queue: &mut Events,
        die: u32,
        op: Op,
    ) {
        let die = &mut self.dies[die as usize];
        let yields = !PLAIN && self.shared.gc_yields && op.is_read();
        match yields && Owner(op.tag).as_gc().is_some() {
            true => die.yielding.push(&mut self.shared.ops, op),
            false => die.enqueue(&mut self.shared.ops, op),
        }
        let (channel, way) = (u32::from(die.channel), u32::from(die.way));
        let overlaps = !PLAIN && self.shared.overlap;
        let waits_on = match overlaps {
            // It goes on waiting for nothing, and nobody for when something may be suspended.
            true => {
                let bus = &self.channels[channel as usize];
                die.wait == Wait::Nothing && die.sensing != NIL && bus.to_suspend == 0
            }
            false => !die.is_idle(),
        };
        if die.wait == Wait::Command || waits_on {
            return;
        }
        let mut context = self.context::<SINGLE, PLAIN>(channel);
        context.bus.take_back(queue.now());
        context.update_wait(way, queue.now());
        let event_at = match overlaps {
            // It may wait for something else than the bus.
            true => context.next_event(),
            false => context.bus.bus_free_at,
        };
        bring_forward(queue, channel, event_at);
    }

    /// What is left out of the code of channels.
    #[inline(always)]
    pub(crate) fn kind(&self) -> ChannelKind {
        self.shared.kind
    }

    /// Handles the event of a channel, of its [kind](Flash::kind): finishes what has ended, grants the bus, and sets the next
    /// event. What has ended is a page, or is in `finished`.
    #[inline(always)]
    pub(crate) fn step<const SINGLE: bool, const PLAIN: bool>(
        &mut self,
        queue: &mut Events,
        channel: u32,
        finished: &mut Vec<Finished>,
    ) -> Option<PageRead> {
        let now = queue.now();
        if SINGLE {
            if let Some((page, next)) = self.context::<true, PLAIN>(channel).step_page(now) {
                queue.set_timer(channel, next);
                return page;
            }
        }
        let next = self.context::<SINGLE, PLAIN>(channel).step(now, finished);
        queue.set_timer(channel, next);
        None
    }

    #[inline(always)]
    fn context<const SINGLE: bool, const PLAIN: bool>(
        &mut self,
        channel: u32,
    ) -> ChannelContext<'_, SINGLE, PLAIN> {
        let first = (channel * self.dies_per_channel) as usize;
        let end = first + self.dies_per_channel as usize;
        ChannelContext {
            shared: &mut self.shared,
            channel,
            first_die: first as u32,
            bus: &mut self.channels[channel as usize],
            dies: &mut self.dies[first..end],
        }
    }

    /// The die of a unit, and the plane of it.
    #[inline]
    fn die_and_plane(&self, unit: Unit) -> (u32, u8) {
        let (die, plane) = self.by_planes.divide(unit.0);
        (die, plane as u8)
    }

    /// Tells what happens from now on to a recorder, or to nobody. Returns the one before, which is told what dies are at
    /// work on up to now.
    pub(crate) fn set_recorder(
        &mut self,
        recorder: Option<Box<Recorder>>,
        now: Instant,
    ) -> Option<Box<Recorder>> {
        let shared = &mut self.shared;
        shared.kind = match recorder {
            None => shared.best_kind,
            Some(_) => ChannelKind::Any,
        };
        let mut before = std::mem::replace(&mut shared.recorder, recorder);
        if let Some(before) = &mut before {
            for (number, die) in (0..).zip(&self.dies) {
                if !die.is_idle() {
                    before.was_busy(number, die.busy_since, now);
                }
                if die.executing == NIL {
                    continue;
                }
                let planes = planes_of(&shared.ops, die.executing);
                match die.suspended {
                    true => before.resumed(number, planes, now),
                    false => {
                        let work = work_of(shared.ops[die.executing].kind);
                        before.executed(number, planes, work, now);
                    }
                }
            }
        }
        before
    }

    /// Who is told what happens, if anybody is.
    #[inline]
    pub(crate) fn recorder(&mut self) -> Option<&mut Recorder> {
        self.shared.recorder.as_deref_mut()
    }

    /// Takes over channels from other flash, with their dies and what was counted on them. What is under way there stays
    /// behind: from here on it can only be told what was done.
    pub(crate) fn take_channels(&mut self, other: &mut Flash, channels: Range<usize>) {
        let per_channel = self.dies_per_channel as usize;
        let dies = channels.start * per_channel..channels.end * per_channel;
        self.shared.packages.take(&other.shared.packages, &dies);
        self.shared.counts.add(&other.shared.counts);
        self.dies[dies.clone()].swap_with_slice(&mut other.dies[dies]);
        self.channels[channels.clone()].swap_with_slice(&mut other.channels[channels]);
    }

    /// The counters up to `now`.
    pub(crate) fn stats(&self, now: Instant) -> FlashStats {
        let mut dies = DieCounts::default();
        self.dies.iter().for_each(|die| dies.add(&die.counts));
        dies.plane_busy = self.planes_busy(now).sum();
        let stats = FlashStats {
            dies,
            commands: self.shared.counts,
            channel_busy: self.channels_busy(now).sum(),
            package_busy: self.packages_busy(now).into_iter().sum(),
            die_busy: self.dies_busy(now).sum(),
            ..FlashStats::default()
        };
        stats.with_energy(&self.shared.timing, &self.energy)
    }

    /// How long each channel's bus was held.
    pub(crate) fn channels_busy(&self, now: Instant) -> impl Iterator<Item = Duration> + '_ {
        self.channels.iter().map(move |bus| bus.busy_until(now))
    }

    /// How long each package had a busy die.
    pub(crate) fn packages_busy(&self, now: Instant) -> Vec<Duration> {
        match self.shared.packages.are_shared() {
            true => self.shared.packages.busy(now).collect(),
            false => self.dies_busy(now).collect(),
        }
    }

    /// How long each die was busy.
    pub(crate) fn dies_busy(&self, now: Instant) -> impl Iterator<Item = Duration> + '_ {
        self.dies.iter().map(move |die| die.busy_until(now))
    }

    /// How long each die's planes were in use, summed over them: as long as it was busy, if it has
    /// one plane.
    pub(crate) fn planes_busy(&self, now: Instant) -> impl Iterator<Item = TotalTime> + '_ {
        self.dies.iter().map(move |die| match self.shared.planes {
            1 => die.busy_until(now).into(),
            _ => die.counts.plane_busy + die.busy_planes_until(now),
        })
    }

    /// What each die has done.
    pub(crate) fn die_counts(&self) -> impl ExactSizeIterator<Item = &DieCounts> {
        self.dies.iter().map(|die| &die.counts)
    }
}

/// Sets the timer of a channel that has something to do before it is due.
#[inline]
fn bring_forward(queue: &mut Events, channel: u32, event_at: Instant) {
    let event_at = event_at.max(queue.now());
    if event_at < queue.timer(channel) {
        queue.set_timer(channel, event_at);
    }
}
