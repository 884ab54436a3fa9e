//! A die: what is queued on it, what it does, and what it wants next.

use super::counts::DieCounts;
use super::op::{Fifo, Work, WorkOp};
use crate::engine::{NIL, Slab, Time};

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
    Work(Work),
    /// Goes on with what was suspended.
    Resume,
}

/// One die. What it does is in four places, each a list of operations on different planes, all of
/// them empty when it is idle:
///
/// ```text
///   reads:     queue -> sensing (array) -> out (registers) -> bus
///   programs:  queue -> bus -> loading (registers) -> working (array)
///   erases:    queue -> working
/// ```
///
/// Without cache commands only one of the four is in use at a time.
#[derive(Debug)]
pub(super) struct Die {
    pub(super) reads: Fifo,
    pub(super) works: Fifo,
    pub(super) sensing: u32,
    pub(super) out: u32,
    pub(super) loading: u32,
    pub(super) working: u32,
    /// Of what is loading, what crosses the bus next.
    pub(super) load_next: u32,
    /// Reads served while a program or an erase waited, or was suspended.
    pub(super) reads_passed: u32,
    pub(super) channel: u16,
    pub(super) way: u8,
    pub(super) wait: Wait,
    /// What is working is suspended.
    pub(super) suspended: bool,
    /// Planes in use since the die was last idle.
    pub(super) planes_used: u16,
    pub(super) busy_since: Time,
    pub(super) busy: Time,
    pub(super) counts: DieCounts,
}

impl Die {
    pub(super) fn new(channel: u32, way: u32) -> Die {
        Die {
            reads: Fifo::EMPTY,
            works: Fifo::EMPTY,
            sensing: NIL,
            out: NIL,
            loading: NIL,
            working: NIL,
            load_next: NIL,
            reads_passed: 0,
            channel: channel as u16,
            way: way as u8,
            wait: Wait::Nothing,
            suspended: false,
            planes_used: 0,
            busy_since: Time::ZERO,
            busy: Time::ZERO,
            counts: DieCounts::default(),
        }
    }

    /// Nothing is sensed, waits in the registers, is loaded, programmed or erased.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.sensing & self.out & self.loading & self.working == NIL
    }

    #[inline]
    pub(super) fn has_queued(&self) -> bool {
        !self.reads.is_empty() || !self.works.is_empty()
    }

    /// Reads go before programs and erases, each in the order of arrival, but only so many pass a
    /// waiting or suspended one: a program must not starve.
    #[inline]
    pub(super) fn next(&self, works: &Slab<WorkOp>, reads_before_program: u32) -> Next {
        let nothing_waits = self.works.is_empty() && !self.suspended;
        if !self.reads.is_empty() && (nothing_waits || self.reads_passed < reads_before_program) {
            return Next::Read;
        }
        if self.suspended {
            return Next::Resume;
        }
        if self.works.is_empty() {
            return Next::Nothing;
        }
        Next::Work(works[self.works.head].kind)
    }

    /// A read has been taken off the queue.
    #[inline]
    pub(super) fn count_passed(&mut self) {
        self.reads_passed = if self.works.is_empty() && !self.suspended {
            0
        } else {
            self.reads_passed + 1
        };
    }

    /// Whether the array could sense, were the registers free as well.
    #[inline]
    pub(super) fn array_is_free(&self) -> bool {
        self.sensing == NIL && (self.working == NIL || self.suspended)
    }

    /// The time it has been busy.
    pub(super) fn busy_until(&self, now: Time) -> Time {
        self.busy + self.busy_stretch(now)
    }

    /// Since it was last idle, the time its planes have been in use, summed over them.
    pub(super) fn busy_planes_until(&self, now: Time) -> Time {
        self.busy_stretch(now) * u64::from(self.planes_used.count_ones())
    }

    fn busy_stretch(&self, now: Time) -> Time {
        if self.is_idle() {
            Time::ZERO
        } else {
            now - self.busy_since
        }
    }
}
