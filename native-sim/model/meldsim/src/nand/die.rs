//! A die: what is queued on it, what it does, what it waits for, and what may be suspended.
//!
//! ```text
//!   array  |program ........|suspend|sense|      |resume|........ program|
//!   bus                     |c|           |####| |c|
//! ```
//!
//! Where programs and erases have phases, the array goes on to the end of one before it stops.
//!
//! Suspension (ONFI: program suspend, erase suspend) lets a read go first, which then need not wait
//! for milliseconds.

use super::counts::DieCounts;
use super::operation::{Fifo, Kind, Op};
use crate::engine::{Duration, Instant, NIL, Slab, TotalTime};
use crate::profile::Commands;

/// What a die waits to be given on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    Nothing,
    /// The command of a read, an erase or a copyback, or to resume.
    Command,
    /// The data of a program.
    DataIn,
}

/// What a die does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Nothing,
    Read,
    /// A program, an erase or a copyback.
    Start(Kind),
    /// Goes on with what was suspended.
    Resume,
}

/// One die. What it does is in four places, each a list of operations on different planes, all of
/// them empty when it is idle:
///
/// ```text
///   reads:     queue -> sensing (array) -> output (registers) -> bus
///              (of collections that yield: a queue of their own)
///   programs:  queue -> bus -> loading (registers) -> executing (array)
///   erases:    queue -> executing
/// ```
///
/// Without cache commands only one of the four is in use at a time.
///
/// What every event of a die needs is in the first line of the processor's cache, what it counts after that.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Die {
    pub(super) reads: Fifo,
    /// Programs, erases and copybacks (P/E operations).
    pub(super) pes: Fifo,
    pub(super) sensing: u32,
    pub(super) output: u32,
    pub(super) loading: u32,
    pub(super) executing: u32,
    /// Of what is loading, what crosses the bus next.
    pub(super) load_next: u32,
    /// Reads served while a program or an erase waited, or was suspended.
    pub(super) reads_passed: u32,
    pub(super) busy_since: Instant,
    pub(super) busy: Duration,
    pub(super) channel: u16,
    /// Planes in use since the die was last idle.
    pub(super) planes_used: u16,
    pub(super) way: u8,
    pub(super) wait: Wait,
    /// What is executing is suspended.
    pub(super) suspended: bool,
    pub(super) counts: DieCounts,
    /// Reads of collections that yield to those of the host.
    pub(super) yielding: Fifo,
}

impl Die {
    pub(super) fn new(channel: u32, way: u32) -> Die {
        Die {
            reads: Fifo::EMPTY,
            yielding: Fifo::EMPTY,
            pes: Fifo::EMPTY,
            sensing: NIL,
            output: NIL,
            loading: NIL,
            executing: NIL,
            load_next: NIL,
            reads_passed: 0,
            channel: channel as u16,
            way: way as u8,
            wait: Wait::Nothing,
            suspended: false,
            planes_used: 0,
            busy_since: Instant::START,
            busy: Duration::ZERO,
            counts: DieCounts::default(),
        }
    }

    /// Nothing is sensed, waits in the registers, is loaded, programmed or erased.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.sensing & self.output & self.loading & self.executing == NIL
    }

    /// Whether it does one read at most, and only reads of the host's wait.
    #[inline(always)]
    pub(super) fn has_only_reads<const PLAIN: bool>(&self) -> bool {
        let one_thing = self.executing & self.loading == NIL
            && (self.sensing == NIL || self.output == NIL)
            && self.yielding.is_empty();
        self.pes.is_empty() && (PLAIN || one_thing)
    }

    /// Appends an operation to its queue.
    #[inline]
    pub(super) fn enqueue(&mut self, ops: &mut Slab<Op>, op: Op) {
        match op.kind {
            Kind::Read(_) => self.reads.push(ops, op),
            Kind::Program | Kind::Erase | Kind::Copyback => self.pes.push(ops, op),
        }
    }

    #[inline]
    pub(super) fn has_queued(&self) -> bool {
        !self.reads.is_empty() || !self.yielding.is_empty() || !self.pes.is_empty()
    }

    /// Reads go before programs and erases, each in the order of arrival, but only so many pass a
    /// waiting or suspended one: a program must not starve. All reads of a block go before its erase.
    #[inline(always)]
    pub(super) fn next(
        &self,
        ops: &Slab<Op>,
        reads_before_program: u32,
        wordlines_per_block: u32,
    ) -> Next {
        let reads_wait = !self.reads.is_empty();
        let no_pe_waits = self.pes.is_empty() && !self.suspended;
        match reads_wait && (no_pe_waits || self.reads_passed < reads_before_program) {
            true => Next::Read,
            false if self.yielding_goes(reads_before_program) => Next::Read,
            false if no_pe_waits => Next::Nothing,
            false => self.next_pe(ops, wordlines_per_block),
        }
    }

    /// The same of a die whose reads never yield, and on which nothing is suspended.
    #[inline(always)]
    pub(super) fn next_plain(
        &self,
        ops: &Slab<Op>,
        reads_before_program: u32,
        wordlines_per_block: u32,
    ) -> Next {
        debug_assert!(self.yielding.is_empty() && !self.suspended);
        let (reads_wait, pes_wait) = (!self.reads.is_empty(), !self.pes.is_empty());
        match (reads_wait, pes_wait) {
            (true, false) => Next::Read,
            (true, true) if self.reads_passed < reads_before_program => Next::Read,
            (_, true) => self.next_pe(ops, wordlines_per_block),
            (false, false) => Next::Nothing,
        }
    }

    /// Whether a read that yields goes next when none of the host's does. It waits for what is suspended.
    #[inline]
    fn yielding_goes(&self, reads_before_program: u32) -> bool {
        let passes = self.pes.is_empty() || self.reads_passed < reads_before_program;
        !self.yielding.is_empty() && !self.suspended && passes
    }

    /// Both queues of reads.
    #[inline]
    pub(super) fn all_reads(&self) -> impl Iterator<Item = Fifo> + Clone + use<> {
        [self.reads, self.yielding].into_iter()
    }

    /// The queue that the next read is in.
    #[inline]
    pub(super) fn next_reads(&mut self) -> &mut Fifo {
        match self.reads.is_empty() {
            true => &mut self.yielding,
            false => &mut self.reads,
        }
    }

    /// What goes on when no read goes first.
    fn next_pe(&self, ops: &Slab<Op>, wordlines_per_block: u32) -> Next {
        if self.suspended {
            return Next::Resume;
        }
        let op = &ops[self.pes.head];
        let erases = |read: &Op| op.erases(read, wordlines_per_block);
        match op.kind {
            Kind::Erase if self.all_reads().any(|reads| reads.any(ops, erases)) => Next::Read,
            kind => Next::Start(kind),
        }
    }

    /// A read is taken off the queue.
    #[inline]
    pub(super) fn count_passed(&mut self) {
        self.reads_passed = if self.pes.is_empty() && !self.suspended {
            0
        } else {
            self.reads_passed + 1
        };
    }

    /// Whether the array could sense, were the registers free as well.
    #[inline]
    pub(super) fn array_is_free(&self) -> bool {
        self.sensing == NIL && (self.executing == NIL || self.suspended)
    }

    /// The time it has been busy.
    pub(super) fn busy_until(&self, now: Instant) -> Duration {
        self.busy + self.busy_stretch(now)
    }

    /// Since it was last idle, the time its planes have been in use, summed over them.
    pub(super) fn busy_planes_until(&self, now: Instant) -> TotalTime {
        TotalTime::from(self.busy_stretch(now) * u64::from(self.planes_used.count_ones()))
    }

    fn busy_stretch(&self, now: Instant) -> Duration {
        match self.is_idle() {
            true => Duration::ZERO,
            false => now - self.busy_since,
        }
    }
}

/// What each die's present program or erase has been through.
#[derive(Debug)]
pub(super) struct Suspensions {
    commands: Commands,
    dies: Vec<Suspension>,
    /// Of each die: nothing is suspended now.
    held: Vec<bool>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Suspension {
    /// Since when the array has executed it without a break.
    since: Instant,
    /// What it still needs once it is resumed.
    remaining: Duration,
    count: u32,
}

/// Whether reads may suspend what their die executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MaySuspend {
    Now,
    /// Not before it has made some progress.
    At(Instant),
    Never,
}

impl Suspensions {
    /// Nothing when the dies cannot suspend anything.
    pub(super) fn new(commands: &Commands, dies: usize) -> Option<Suspensions> {
        let any = commands.suspend_program || commands.suspend_erase;
        any.then(|| Suspensions {
            commands: commands.clone(),
            dies: vec![Suspension::default(); dies],
            held: vec![false; dies],
        })
    }

    /// Whether a die goes on with what it executes, however many reads wait.
    pub(super) fn hold(&mut self, die: usize, is_held: bool) {
        self.held[die] = is_held;
    }

    /// The array of a die starts on something new.
    pub(super) fn start(&mut self, die: usize, since: Instant) {
        self.dies[die] = Suspension {
            since,
            ..Suspension::default()
        };
    }

    /// Whether what the die executes until `end` may be suspended. It is not when it ends before a
    /// read could start, or soon enough to make suspending it a loss.
    pub(super) fn may_suspend(
        &self,
        die: usize,
        kind: Kind,
        end: Instant,
        now: Instant,
    ) -> MaySuspend {
        let able = match kind {
            Kind::Program => self.commands.suspend_program,
            Kind::Erase => self.commands.suspend_erase,
            Kind::Read(_) | Kind::Copyback => false,
        };
        let suspension = &self.dies[die];
        if !able || self.held[die] || suspension.count >= self.commands.max_suspends {
            return MaySuspend::Never;
        }
        let from = now.max(suspension.since + self.commands.suspend_progress);
        if end <= self.phase_end(die, from) + self.commands.suspend_time {
            MaySuspend::Never
        } else if from > now {
            MaySuspend::At(from)
        } else {
            MaySuspend::Now
        }
    }

    /// Since when the array has executed, or will, without a break.
    pub(super) fn since(&self, die: usize) -> Instant {
        self.dies[die].since
    }

    /// When the array, told at `now` to stop, does.
    pub(super) fn phase_end(&self, die: usize, now: Instant) -> Instant {
        let (since, phase) = (self.dies[die].since, self.commands.suspend_phase);
        if phase == Duration::ZERO {
            return now;
        }
        // Else reads that arrive while it resumes would stop it again before it has done anything, and for ever.
        let phases = now
            .saturating_since(since)
            .as_ps()
            .div_ceil(phase.as_ps())
            .max(1);
        since + phase * phases
    }

    /// What the die executes stops, `remaining` before its end.
    pub(super) fn suspend(&mut self, die: usize, remaining: Duration) {
        let suspension = &mut self.dies[die];
        suspension.remaining = remaining;
        suspension.count += 1;
    }

    /// What was suspended goes on after a command that ends at `command_end`. Returns its new end.
    pub(super) fn resume(&mut self, die: usize, command_end: Instant) -> Instant {
        let suspension = &mut self.dies[die];
        suspension.since = command_end + self.commands.resume_time;
        suspension.since + suspension.remaining
    }
}
