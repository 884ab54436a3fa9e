//! Dispatch: grants a free bus to a command or to data, and starts what the command says.
//!
//! In: the ready list and the data that waits. Out: a held bus, senses and P/E operations with the
//! time of their end.

use super::channel::{Grant, Transfer};
use super::context::{ChannelContext, Shared};
use super::die::{Next, Wait};
use super::operation::{Command, Kind, Op, Owner, planes_of, take_pe, take_read, work_of};
use crate::engine::{Duration, Instant, NIL, Slab, prefetch};
use crate::timeline::{BusUse, Purpose, Work};

impl<const SINGLE: bool, const PLAIN: bool> ChannelContext<'_, SINGLE, PLAIN> {
    /// Gives the free servers of the channel their next transactions.
    pub(super) fn start_transactions(&mut self, now: Instant) {
        let Shared {
            timing,
            ops,
            transactions: Some(transactions),
            counts,
            ..
        } = &mut *self.shared
        else {
            return;
        };
        let mut given = transactions.compose(self.channel, timing, counts, |way, op| {
            self.dies[usize::from(way)].enqueue(ops, op);
        });
        while given != 0 {
            self.update_wait(given.trailing_zeros(), now);
            given &= given - 1;
        }
    }

    /// Makes the data of ended senses wait for the bus.
    #[inline(always)]
    pub(super) fn end_senses(&mut self, now: Instant) {
        while let Some(way) = self.bus.pop_sensed(now) {
            let die = &mut self.dies[way as usize];
            if !PLAIN && die.output != NIL {
                self.bus.sensed |= 1 << way;
                continue;
            }
            self.bus.data_out |= 1 << way;
            die.output = std::mem::replace(&mut die.sensing, NIL);
            // Else it waits for nothing while its registers hold what was sensed.
            if self.overlaps() && self.shared.commands.cache_read {
                self.update_wait(way, now);
            }
        }
    }

    /// Grants the free bus to the command or the data that is next.
    #[inline]
    pub(super) fn grant(&mut self, now: Instant) {
        loop {
            match self.bus.arbitrate(self.shared.arbitration) {
                Grant::Nothing => self.grant_early(),
                Grant::Command(way) => {
                    self.dies[way as usize].wait = Wait::Nothing;
                    // What it waited for may have become impossible, or needless, since.
                    if self.overlaps() && self.wait_of_busy(way, now) != Wait::Command {
                        self.update_wait(way, now);
                        continue;
                    }
                    self.grant_command(way, now);
                    self.grant_early();
                }
                Grant::DataOut(way) => self.grant_data_out(way, now),
                Grant::DataIn(way) => self.grant_data_in(way, now),
            }
            return;
        }
    }

    /// Grants the free bus to the data of a die.
    #[inline(always)]
    pub(super) fn grant_data_out(&mut self, way: u32, now: Instant) {
        let length = self.data_out_length(self.dies[way as usize].output);
        self.bus.transfer = Transfer::Out(way);
        self.bus.hold(now, length);
    }

    /// How long the data of some reads of one plane crosses the bus.
    #[inline(always)]
    pub(super) fn data_out_length(&self, read: u32) -> Duration {
        let (op, timing) = (&self.shared.ops[read], &self.shared.timing);
        match op.is_melded() {
            true => timing.wordline_transfer,
            false if PLAIN => timing.transfer(1, op.skipped()),
            false => timing.transfer(timing.count(op.pages), op.skipped()),
        }
    }

    /// Grants the bus to the data that goes next, when the present command or the first sense has
    /// ended, if nothing that is known now can come between. That saves an event at that time. What
    /// enters the arbitration before it takes the grant back.
    #[inline(always)]
    pub(super) fn grant_early(&mut self) {
        if !PLAIN && !self.shared.early_grants {
            return;
        }
        let bus = &*self.bus;
        let free_at = bus.bus_free_at;
        if let Some((end, way)) = bus.next_sensed() {
            if bus.next_pe_end > end {
                let length = self.data_out_length(self.dies[way as usize].sensing);
                self.bus.grant_at_sense_end(length);
            }
            return;
        }
        if bus.next_pe_end <= free_at {
            return;
        }
        // What ends while the command is still on the bus waits for it in any case.
        self.end_senses(free_at);
        if let Some(way) = self.bus.next_data_out() {
            let length = self.data_out_length(self.dies[way as usize].output);
            self.bus.grant_early(way, length);
        }
    }

    #[inline]
    fn grant_command(&mut self, way: u32, now: Instant) {
        self.begin(way, now);
        match self.next(way) {
            Next::Read => self.grant_read(way, now),
            Next::Resume => self.grant_resume(way, now),
            Next::Start(_) => self.grant_pe(way, now),
            Next::Nothing => debug_assert!(false, "a command for nothing"),
        }
    }

    #[inline]
    fn grant_read(&mut self, way: u32, now: Instant) {
        let mut before_sense = Duration::ZERO;
        if self.overlaps() {
            before_sense = self.suspend_for_read(way, now);
            self.shared.counts.cached_reads += u64::from(self.dies[way as usize].output != NIL);
        }
        let multi_plane = self.is_multi_plane();
        let (die, shared) = (&mut self.dies[way as usize], &mut *self.shared);
        die.count_passed();
        let mut command = take_read::<PLAIN>(
            die.next_reads(),
            &mut shared.ops,
            &shared.timing,
            multi_plane,
        );
        die.sensing = command.first;
        die.planes_used |= command.planes;
        let commands = match SINGLE {
            true => self.shared.timing.command,
            false => self.shared.timing.command * u64::from(command.planes.count_ones()),
        };
        self.bus.hold(now, commands);
        self.count_transaction(&command);
        let sense_start = self.bus.bus_free_at + before_sense;
        command.sense = self.sense_time(way, &command, sense_start);
        self.bus.sense(way, sense_start + command.sense);
        self.record_read(way, now, &command, sense_start);
    }

    /// Tells of a command to read.
    #[inline]
    fn record_read(&mut self, way: u32, now: Instant, command: &Command, sense_start: Instant) {
        if SINGLE || self.shared.recorder.is_none() {
            return;
        }
        let die = self.index(way) as u32;
        let granted = (now, self.bus.bus_free_at);
        let Shared {
            recorder: Some(recorder),
            ops,
            timing,
            ..
        } = &mut *self.shared
        else {
            return;
        };
        let first = &ops[command.first];
        let work = match first.is_melded() {
            true => Work::MeldedSense,
            false => Work::Sense(timing.flash_page(first.pages.trailing_zeros()) as u8),
        };
        let owner = Owner(first.tag);
        let purpose = match (owner.as_map(), owner.as_gc()) {
            (Some(_), _) => Purpose::Mapping,
            (_, Some(_)) => Purpose::Collection,
            // Of a command, or read ahead for one.
            (None, None) => Purpose::Host,
        };
        let reads = Reads {
            ops,
            next: command.first,
        };
        let requests = reads.clone().filter_map(|(_, request)| request);
        recorder.bus(die, BusUse::Command, granted, requests);
        let sensed = (sense_start, sense_start + command.sense);
        recorder.senses(die, command.planes, work, sensed, reads, purpose);
    }

    /// Tells of a bus that is held from now on for nobody in particular.
    #[inline]
    fn record_bus(&mut self, way: u32, what: BusUse, now: Instant) {
        let (die, held) = (self.index(way) as u32, (now, self.bus.bus_free_at));
        if let Some(recorder) = self.recorder() {
            recorder.bus(die, what, held, std::iter::empty());
        }
    }

    /// Tells that a program or an erase has stopped, or has ended.
    #[inline]
    pub(super) fn record_executed(&mut self, way: u32, until: Instant) {
        if SINGLE || self.shared.recorder.is_none() {
            return;
        }
        let die = self.index(way) as u32;
        let first = self.dies[way as usize].executing;
        let planes = planes_of(&self.shared.ops, first);
        let work = work_of(self.shared.ops[first].kind);
        if let Some(recorder) = self.recorder() {
            recorder.executed(die, planes, work, until);
        }
    }

    #[inline]
    fn count_transaction(&mut self, command: &Command) {
        // A transaction of a package has been counted as a whole.
        if !self.has_transactions() {
            let several_planes = !SINGLE && !command.planes.is_power_of_two();
            let counts = &mut self.shared.counts;
            counts.transaction(several_planes, false, command.pages);
        }
    }

    /// Suspends what the die executes, if it does. Returns how long that delays the read.
    fn suspend_for_read(&mut self, way: u32, now: Instant) -> Duration {
        let index = self.index(way);
        let (die, shared) = (&mut self.dies[way as usize], &mut *self.shared);
        let Some(suspensions) = &mut shared.suspensions else {
            return Duration::ZERO;
        };
        if die.executing == NIL || die.suspended {
            return Duration::ZERO;
        }
        die.suspended = true;
        die.reads_passed = 0;
        // The array goes on until the command is there, and then to the end of the phase.
        let told_at = now + shared.timing.command;
        let end = shared.ends_at[index];
        let stops_at = suspensions.phase_end(index, told_at).min(end).max(told_at);
        suspensions.suspend(index, end.saturating_since(stops_at));
        let delay = (stops_at - told_at) + shared.commands.suspend_time;
        let is_erase = shared.ops[die.executing].kind == Kind::Erase;
        match is_erase {
            true => shared.counts.erase_suspends += 1,
            false => shared.counts.program_suspends += 1,
        }
        self.record_executed(way, stops_at);
        self.bus.executing &= !(1 << way);
        self.find_next_pe_end();
        delay
    }

    fn grant_resume(&mut self, way: u32, now: Instant) {
        let index = self.index(way);
        self.bus.hold(now, self.shared.timing.command);
        let die = &mut self.dies[way as usize];
        die.suspended = false;
        die.reads_passed = 0;
        if let Some(suspensions) = &mut self.shared.suspensions {
            let end = suspensions.resume(index, self.bus.bus_free_at);
            let since = suspensions.since(index);
            self.shared.ends_at[index] = end;
            self.bus.execute(way, end);
            let first = self.dies[way as usize].executing;
            let planes = planes_of(&self.shared.ops, first);
            if let Some(recorder) = self.recorder() {
                recorder.resumed(index as u32, planes, since);
            }
        }
        self.record_bus(way, BusUse::Command, now);
        // Reads that are left may suspend it again.
        self.update_wait(way, now);
    }

    /// One erase command for each plane; a copyback has one to sense and one to program.
    fn grant_pe(&mut self, way: u32, now: Instant) {
        let command = self.take_pe(way);
        let op = self.shared.ops[command.first];
        let (commands, length) = match op.kind {
            Kind::Copyback => (2, self.shared.timing.copyback(op.pages)),
            _ => (command.planes.count_ones(), self.shared.timing.erase),
        };
        let bus_time = self.shared.timing.command * u64::from(commands);
        self.bus.hold(now, bus_time);
        self.record_bus(way, BusUse::Command, now);
        self.dies[way as usize].executing = command.first;
        self.execute(way, self.bus.bus_free_at, length);
        if self.overlaps() {
            self.update_wait(way, now);
        }
    }

    /// Takes the next P/E operation of a die off its queue.
    fn take_pe(&mut self, way: u32) -> Command {
        let (die, shared) = (&mut self.dies[way as usize], &mut *self.shared);
        die.reads_passed = 0;
        let reads = die.all_reads();
        let command = take_pe(
            &mut die.pes,
            reads,
            &mut shared.ops,
            &shared.timing,
            shared.commands.multi_plane,
            shared.wordlines_per_block,
        );
        die.planes_used |= command.planes;
        command
    }

    /// The array executes a P/E operation from `start` on.
    pub(super) fn execute(&mut self, way: u32, start: Instant, length: Duration) {
        let index = self.index(way);
        self.shared.ends_at[index] = start + length;
        self.bus.execute(way, start + length);
        if let Some(suspensions) = &mut self.shared.suspensions {
            suspensions.start(index, start);
        }
        if let Some(recorder) = self.recorder() {
            recorder.executes(index as u32, start);
        }
    }

    /// Finds when the first P/E operation of the channel ends.
    pub(super) fn find_next_pe_end(&mut self) {
        let ends_at = &self.shared.ends_at[self.first_die as usize..];
        let (mut ways, mut first, mut end) = (self.bus.executing, 0, Instant::MAX);
        while ways != 0 {
            let way = ways.trailing_zeros() as usize;
            if ends_at[way] < end {
                (first, end) = (way, ends_at[way]);
            }
            ways &= ways - 1;
        }
        self.bus.next_pe_end = end;
        if end < Instant::MAX {
            prefetch(&self.shared.ops[self.dies[first].executing]);
        }
    }

    /// Grants the bus to the data of one plane of a program.
    fn grant_data_in(&mut self, way: u32, now: Instant) {
        if self.dies[way as usize].loading == NIL {
            self.begin(way, now);
            let command = self.take_pe(way);
            let die = &mut self.dies[way as usize];
            die.wait = Wait::Nothing;
            die.loading = command.first;
            die.load_next = command.first;
            self.shared.counts.cached_programs += u64::from(die.executing != NIL);
            self.count_transaction(&command);
        }
        let pages = self.shared.ops[self.dies[way as usize].load_next].pages;
        let timing = &self.shared.timing;
        let data = timing.page_transfer * u64::from(timing.count(pages));
        self.bus.transfer = Transfer::In(way);
        self.bus.hold(now, timing.command + data);
        self.record_bus(way, BusUse::DataIn, now);
    }
}

/// A list of reads: their places among the operations, and the requests that they are for.
#[derive(Clone)]
pub(super) struct Reads<'a> {
    pub(super) ops: &'a Slab<Op>,
    pub(super) next: u32,
}

impl Iterator for Reads<'_> {
    type Item = (u32, Option<u32>);

    fn next(&mut self) -> Option<(u32, Option<u32>)> {
        if self.next == NIL {
            return None;
        }
        let (index, op) = (self.next, &self.ops[self.next]);
        self.next = op.next;
        Some((index, Owner(op.tag).as_request()))
    }
}
