//! What happens on a channel: something ends, the bus is granted, and the next look is scheduled.

use super::channel::{Grant, Transfer, earliest};
use super::command::{Taken, take_read, take_work};
use super::counts::Parallelism;
use super::die::{Next, Wait};
use super::flash::{Finished, Owner};
use super::geometry::WordlineAddr;
use super::look::Look;
use super::op::Work;
use super::suspend::Verdict;
use crate::engine::{NIL, Time, prefetch};

impl Look<'_> {
    /// Finishes what has ended, and grants the bus.
    #[inline]
    pub(super) fn step(&mut self, now: Time, finished: &mut Vec<Finished>) {
        let free = self.bus.bus_free_at <= now;
        if free {
            self.end_transfer(now, finished);
        }
        if self.bus.work_next <= now {
            self.end_work(now, finished);
        }
        if self.bus.to_suspend != 0 {
            self.look_for_suspension(now);
        }
        if self.shared.transactions.is_some() {
            self.start_transactions(now);
        }
        if free {
            self.end_senses(now);
            self.grant(now);
        }
    }

    #[inline]
    fn end_transfer(&mut self, now: Time, finished: &mut Vec<Finished>) {
        let bus = &mut *self.bus;
        match std::mem::replace(&mut bus.transfer, Transfer::None) {
            Transfer::None => {}
            Transfer::Out(way) => self.end_data_out(way, now, finished),
            Transfer::In(way) => {
                let die = &mut self.dies[way as usize];
                die.load_next = self.shared.works[die.load_next].next;
                if die.load_next != NIL {
                    let bus = &mut *self.bus;
                    bus.data_in |= 1 << way;
                    bus.serve_again(way);
                } else if die.working == NIL {
                    self.start_loaded(way, now);
                }
            }
        }
    }

    /// The pages of one plane have left the registers of a die.
    #[inline]
    fn end_data_out(&mut self, way: u32, now: Time, finished: &mut Vec<Finished>) {
        let die = &mut self.dies[way as usize];
        if die.out == NIL {
            // It was granted the bus before the end of its sense.
            die.out = std::mem::replace(&mut die.sensing, NIL);
        }
        let mut next = die.out;
        let (plane, melded) = (
            self.shared.reads[next].plane,
            self.shared.reads[next].melded,
        );
        let unit = self.unit(way, plane);
        let counts = &mut self.dies[way as usize].counts;
        counts.melded_reads += u64::from(melded);
        loop {
            let op = self.shared.reads[next];
            finished.push(Finished::Read {
                at: WordlineAddr { unit, row: op.row },
                pages: op.pages,
                owner: Owner(op.owner),
            });
            if melded {
                counts.melded_pages_read += u64::from(op.pages.count_ones());
            } else {
                counts.page_reads += 1;
            }
            self.shared.reads.remove(next);
            next = op.next;
            if next == NIL || self.shared.reads[next].plane != plane {
                break;
            }
        }
        let die = &mut self.dies[way as usize];
        die.out = next;
        let (bit, bus) = (1 << way, &mut self.bus);
        if next != NIL {
            bus.data_out |= bit;
            bus.serve_again(way);
            return;
        }
        if bus.sensed & bit != 0 {
            bus.sensed &= !bit;
            bus.data_out |= bit;
            die.out = std::mem::replace(&mut die.sensing, NIL);
        }
        if die.is_idle() {
            self.end(way, now);
        } else {
            self.enter_arbitration(way, now);
        }
    }

    /// The array programs what is in the registers.
    fn start_loaded(&mut self, way: u32, now: Time) {
        let index = self.index(way);
        let die = &mut self.dies[way as usize];
        die.working = std::mem::replace(&mut die.loading, NIL);
        let end = now
            + self
                .shared
                .timing
                .program(self.shared.works[die.working].pages);
        self.shared.ends_at[index] = end;
        self.bus.work(way, end);
        if let Some(suspensions) = &mut self.shared.suspensions {
            suspensions.start(index, now);
        }
        if self.shared.rules.overlap {
            self.enter_arbitration(way, now);
        }
    }

    fn end_work(&mut self, now: Time, finished: &mut Vec<Finished>) {
        let mut working = self.bus.working;
        while working != 0 {
            let way = working.trailing_zeros();
            working &= working - 1;
            if self.shared.ends_at[self.index(way)] > now {
                continue;
            }
            let bus = &mut *self.bus;
            bus.working &= !(1 << way);
            bus.to_suspend &= !(1 << way);
            self.finish_work(way, finished);
            let die = &self.dies[way as usize];
            if die.loading != NIL && die.load_next == NIL {
                self.start_loaded(way, now);
            } else if die.is_idle() {
                self.end(way, now);
            }
        }
        self.find_work_next();
    }

    fn find_work_next(&mut self) {
        let ends_at = &self.shared.ends_at[self.first_die as usize..];
        let (end, way) = earliest(self.bus.working, ends_at);
        self.bus.work_next = end;
        if end < Time::MAX {
            prefetch(&self.shared.works[self.dies[way as usize].working]);
        }
    }

    fn finish_work(&mut self, way: u32, finished: &mut Vec<Finished>) {
        let mut next = std::mem::replace(&mut self.dies[way as usize].working, NIL);
        while next != NIL {
            let op = self.shared.works[next];
            let (unit, token) = (self.unit(way, op.plane), op.token);
            let whole = op.pages == self.shared.timing.whole;
            let counts = &mut self.dies[way as usize].counts;
            finished.push(match op.kind {
                Work::Program => {
                    counts.programs += u64::from(whole);
                    counts.partial_programs += u64::from(!whole);
                    counts.pages_programmed += u64::from(op.pages.count_ones());
                    Finished::Program { unit, token }
                }
                Work::Erase => {
                    counts.erases += 1;
                    Finished::Erase { unit, token }
                }
                Work::Copyback => {
                    counts.copybacks += 1;
                    Finished::Copyback { unit, token }
                }
            });
            self.shared.works.remove(next);
            next = op.next;
        }
    }

    #[inline(always)]
    fn end_senses(&mut self, now: Time) {
        while let Some(way) = self.bus.pop_sensed(now) {
            let bus = &mut *self.bus;
            let die = &mut self.dies[way as usize];
            if die.out != NIL {
                bus.sensed |= 1 << way;
                continue;
            }
            bus.data_out |= 1 << way;
            die.out = std::mem::replace(&mut die.sensing, NIL);
            if self.shared.rules.overlap {
                self.enter_arbitration(way, now);
            }
        }
    }

    /// Puts a die where its next operation has to wait.
    #[inline]
    pub(super) fn enter_arbitration(&mut self, way: u32, now: Time) {
        let wait = if self.shared.rules.overlap {
            self.wants_overlapping(way, now)
        } else {
            match self.dies[way as usize]
                .next(&self.shared.works, self.shared.rules.reads_before_program)
            {
                Next::Nothing => Wait::Nothing,
                Next::Work(Work::Program) => Wait::DataIn,
                Next::Read | Next::Work(_) | Next::Resume => Wait::Command,
            }
        };
        let die = &mut self.dies[way as usize];
        if wait == die.wait {
            return;
        }
        let bus = &mut *self.bus;
        if die.wait == Wait::DataIn {
            bus.data_in &= !(1 << die.way);
        }
        die.wait = wait;
        match wait {
            Wait::Command => bus.want_command(die.way),
            Wait::DataIn => bus.data_in |= 1 << die.way,
            Wait::Nothing => {}
        }
    }

    /// What a die could take now, when it need not be idle for that.
    fn wants_overlapping(&mut self, way: u32, now: Time) -> Wait {
        let die = &self.dies[way as usize];
        if die.loading != NIL {
            return Wait::Nothing; // the registers are taken
        }
        let next = die.next(&self.shared.works, self.shared.rules.reads_before_program);
        if !die.array_is_free() {
            if die.sensing != NIL {
                return Wait::Nothing;
            }
            if !die.reads.is_empty() {
                match self.may_suspend(way, now) {
                    Verdict::Now => return Wait::Command,
                    Verdict::At(_) => {
                        self.bus.to_suspend |= 1 << way;
                        return Wait::Nothing;
                    }
                    Verdict::Never => {}
                }
            }
            let programs = self.shared.works[die.working].kind == Work::Program;
            return match next {
                Next::Work(Work::Program) if self.shared.rules.cache_program && programs => {
                    Wait::DataIn
                }
                _ => Wait::Nothing,
            };
        }
        match next {
            Next::Nothing => Wait::Nothing,
            Next::Read if die.out == NIL || self.shared.rules.cache_read => Wait::Command,
            _ if die.out != NIL => Wait::Nothing,
            Next::Work(Work::Program) => Wait::DataIn,
            Next::Read | Next::Work(_) | Next::Resume => Wait::Command,
        }
    }

    fn may_suspend(&self, way: u32, now: Time) -> Verdict {
        let work = self.shared.works[self.dies[way as usize].working].kind;
        match &self.shared.suspensions {
            None => Verdict::Never,
            Some(suspensions) => suspensions.verdict(
                self.index(way),
                work,
                self.shared.ends_at[self.index(way)],
                now,
            ),
        }
    }

    /// Dies whose work may have progressed enough to be suspended.
    fn look_for_suspension(&mut self, now: Time) {
        let mut ways = std::mem::take(&mut self.bus.to_suspend);
        while ways != 0 {
            let way = ways.trailing_zeros();
            ways &= ways - 1;
            self.enter_arbitration(way, now);
        }
    }

    /// Gives a free bus to whoever is next.
    #[inline]
    fn grant(&mut self, now: Time) {
        loop {
            let arbitration = self.shared.rules.arbitration;
            match self.bus.arbitrate(arbitration) {
                Grant::Nothing => self.look_ahead(),
                Grant::Command(way) => {
                    self.dies[way as usize].wait = Wait::Nothing;
                    // What it waited for may have become impossible, or needless, since.
                    if self.shared.rules.overlap
                        && self.wants_overlapping(way, now) != Wait::Command
                    {
                        self.enter_arbitration(way, now);
                        continue;
                    }
                    self.grant_command(way, now);
                    self.look_ahead();
                }
                Grant::DataOut(way) => {
                    let length = self.data_out_length(self.dies[way as usize].out);
                    let bus = &mut *self.bus;
                    bus.transfer = Transfer::Out(way);
                    bus.hold(now, length);
                }
                Grant::DataIn(way) => self.grant_data_in(way, now),
            }
            return;
        }
    }

    /// How long the data of some reads of one plane crosses the bus.
    #[inline]
    fn data_out_length(&self, read: u32) -> Time {
        match self.shared.reads[read].melded {
            true => self.shared.timing.wordline_transfer,
            false => self.shared.timing.page_transfer,
        }
    }

    /// Grants the bus to the data that goes next, when the present command or the first sense has
    /// ended, if nothing that is known now can come between. That saves a look at the channel at
    /// that time. Whoever enters the arbitration before it takes the grant back.
    #[inline(always)]
    fn look_ahead(&mut self) {
        if !self.shared.rules.look_ahead {
            return;
        }
        let bus = &*self.bus;
        let free_at = bus.bus_free_at;
        if let Some((end, way)) = bus.next_sensed() {
            if bus.work_next > end {
                let length = self.data_out_length(self.dies[way as usize].sensing);
                self.bus.grant_at_sense_end(length);
            }
            return;
        }
        if bus.work_next <= free_at {
            return;
        }
        // What ends while the command is still on the bus waits for it in any case.
        self.end_senses(free_at);
        if let Some(way) = self.bus.next_data_out() {
            let length = self.data_out_length(self.dies[way as usize].out);
            self.bus.grant_ahead(way, length);
        }
    }

    #[inline]
    fn grant_command(&mut self, way: u32, now: Time) {
        self.begin(way, now);
        match self.dies[way as usize]
            .next(&self.shared.works, self.shared.rules.reads_before_program)
        {
            Next::Read => self.grant_read(way, now),
            Next::Resume => self.grant_resume(way, now),
            Next::Work(_) => self.grant_work(way, now),
            Next::Nothing => debug_assert!(false, "a command for nothing"),
        }
    }

    #[inline]
    fn grant_read(&mut self, way: u32, now: Time) {
        let mut before_sense = Time::ZERO;
        if self.shared.rules.overlap {
            before_sense = self.suspend_for_read(way, now);
            self.shared.counts.cached_reads += u64::from(self.dies[way as usize].out != NIL);
        }
        let die = &mut self.dies[way as usize];
        let taken = take_read(
            die,
            &mut self.shared.reads,
            &self.shared.timing,
            self.shared.rules.multi_plane,
        );
        die.sensing = taken.first;
        die.planes_used |= taken.planes;
        self.hold_for_commands(taken.planes, false, now);
        self.count_transaction(&taken);
        let bus = &mut *self.bus;
        bus.sense(way, bus.bus_free_at + before_sense + taken.sense);
    }

    /// One command for each plane; a copyback has one to sense and one to program.
    #[inline]
    fn hold_for_commands(&mut self, planes: u16, copies: bool, now: Time) {
        let commands = if copies { 2 } else { planes.count_ones() };
        let length = match commands {
            1 => self.shared.timing.command,
            _ => self.shared.timing.command * u64::from(commands),
        };
        self.bus.hold(now, length);
    }

    #[inline]
    fn count_transaction(&mut self, taken: &Taken) {
        // A transaction of a package has been counted as a whole.
        if self.shared.transactions.is_none() {
            let several_planes = !taken.planes.is_power_of_two();
            let parallelism = Parallelism::of(several_planes, false);
            self.shared.counts.transaction(parallelism, taken.pages);
        }
    }

    /// Suspends what the die works on, if it does. Returns how long that delays the read.
    fn suspend_for_read(&mut self, way: u32, now: Time) -> Time {
        let index = self.index(way);
        let die = &mut self.dies[way as usize];
        let Some(suspensions) = &mut self.shared.suspensions else {
            return Time::ZERO;
        };
        if die.working == NIL || die.suspended {
            return Time::ZERO;
        }
        die.suspended = true;
        die.reads_passed = 0;
        // The array goes on until the command is there.
        let stops_at = now + self.shared.timing.command;
        suspensions.suspend(index, self.shared.ends_at[index].saturating_sub(stops_at));
        let delay = suspensions.suspend_time;
        match self.shared.works[die.working].kind {
            Work::Erase => self.shared.counts.erase_suspends += 1,
            Work::Program | Work::Copyback => self.shared.counts.program_suspends += 1,
        }
        self.bus.working &= !(1 << way);
        self.find_work_next();
        delay
    }

    fn grant_resume(&mut self, way: u32, now: Time) {
        let index = self.index(way);
        let bus = &mut *self.bus;
        bus.hold(now, self.shared.timing.command);
        self.dies[way as usize].suspended = false;
        self.dies[way as usize].reads_passed = 0;
        if let Some(suspensions) = &mut self.shared.suspensions {
            let end = suspensions.resume(index, bus.bus_free_at);
            self.shared.ends_at[index] = end;
            bus.work(way, end);
        }
        // Reads that are left may suspend it again.
        self.enter_arbitration(way, now);
    }

    fn grant_work(&mut self, way: u32, now: Time) {
        let index = self.index(way);
        let die = &mut self.dies[way as usize];
        let taken = take_work(die, &mut self.shared.works, self.shared.rules.multi_plane);
        die.working = taken.first;
        die.planes_used |= taken.planes;
        let op = self.shared.works[taken.first];
        let copies = op.kind == Work::Copyback;
        let length = match copies {
            true => self.shared.timing.copyback(op.pages),
            false => self.shared.timing.erase,
        };
        self.hold_for_commands(taken.planes, copies, now);
        let bus = &mut *self.bus;
        let start = bus.bus_free_at;
        bus.work(way, start + length);
        self.shared.ends_at[index] = start + length;
        if let Some(suspensions) = &mut self.shared.suspensions {
            suspensions.start(index, start);
        }
        if self.shared.rules.overlap {
            self.enter_arbitration(way, now);
        }
    }

    /// The data of one plane of a program.
    fn grant_data_in(&mut self, way: u32, now: Time) {
        if self.dies[way as usize].loading == NIL {
            self.begin(way, now);
            let die = &mut self.dies[way as usize];
            die.wait = Wait::Nothing;
            let taken = take_work(die, &mut self.shared.works, self.shared.rules.multi_plane);
            die.loading = taken.first;
            die.load_next = taken.first;
            die.planes_used |= taken.planes;
            self.shared.counts.cached_programs += u64::from(die.working != NIL);
            self.count_transaction(&taken);
        }
        let pages = self.shared.works[self.dies[way as usize].load_next].pages;
        let data = self.shared.timing.page_transfer * u64::from(pages.count_ones());
        let bus = &mut *self.bus;
        bus.transfer = Transfer::In(way);
        bus.hold(now, self.shared.timing.command + data);
    }

    /// When a channel has to be looked at again. The end of a sense matters only to a free bus, and
    /// the end of a command only when a die waits; the end of a program or an erase always does.
    #[inline]
    pub(super) fn next_look(&self) -> Time {
        let bus = &*self.bus;
        let bus_next = if bus.transfer != Transfer::None || bus.is_wanted() {
            bus.bus_free_at
        } else {
            bus.sense_next().max(bus.bus_free_at)
        };
        let next = bus_next.min(bus.work_next);
        if bus.to_suspend == 0 {
            return next;
        }
        next.min(self.next_suspension())
    }

    fn next_suspension(&self) -> Time {
        let mut ways = self.bus.to_suspend;
        let mut time = Time::MAX;
        while ways != 0 {
            let way = ways.trailing_zeros();
            // The bus may only now have let go of what would be suspended.
            if let Verdict::At(at) = self.may_suspend(way, Time::ZERO) {
                time = time.min(at);
            }
            ways &= ways - 1;
        }
        time
    }
}
