//! A die: what is queued on it, what it does, and what it does next.

use super::geometry::{Unit, WordlineAddr};
use super::timing::Timing;
use crate::engine::{NIL, Slab, Time};

/// How far a partial read of a melded wordline looks down the die's queue for other pages of the
/// same wordline. Pages of one request are next to each other; only readers of one wordline that
/// are interleaved with others are further apart.
const COALESCE_WINDOW: usize = 16;

/// Pages of one wordline to read, for one owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadOp {
    pub(super) at: WordlineAddr,
    pub(super) owner: u32,
    pub(super) next: u32,
    pub(super) pages: u8,
    pub(super) melded: bool,
}

/// A program or an erase.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkOp {
    pub(super) work: Work,
    pub(super) next: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Programs a wordline.
    Program { unit: Unit, token: u32 },
    /// Erases a block.
    Erase { unit: Unit, token: u32 },
}

/// A FIFO of slab indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fifo {
    pub(super) head: u32,
    pub(super) tail: u32,
}

impl Fifo {
    pub(super) const EMPTY: Fifo = Fifo {
        head: NIL,
        tail: NIL,
    };

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.head == NIL
    }
}

/// Where a die is in serving one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    /// Waits for the bus to carry the command of a read or an erase.
    WaitCommand,
    /// Waits for the bus to carry the data of a program.
    WaitDataIn,
    /// From the command on: sensing, waiting for the bus, transferring; programming; erasing.
    Busy,
}

/// What a busy die works on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Active {
    Nothing,
    /// One page, sensed alone.
    Page {
        at: WordlineAddr,
        owner: u32,
        pages: u8,
    },
    /// A melded read: the list of reads it serves.
    Melded {
        first: u32,
    },
    Work(Work),
}

/// What a die does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Nothing,
    Read,
    Program,
    Erase,
}

#[derive(Debug)]
pub(super) struct Die {
    pub(super) channel: u32,
    pub(super) way: u32,
    pub(super) phase: Phase,
    pub(super) active: Active,
    pub(super) busy_since: Time,
    pub(super) busy: Time,
    pub(super) reads: Fifo,
    pub(super) works: Fifo,
    /// Reads served while a program or an erase waited.
    reads_passed: u32,
}

impl Die {
    pub(super) fn new(channel: u32, way: u32) -> Die {
        Die {
            channel,
            way,
            phase: Phase::Idle,
            active: Active::Nothing,
            busy_since: Time::ZERO,
            busy: Time::ZERO,
            reads: Fifo::EMPTY,
            works: Fifo::EMPTY,
            reads_passed: 0,
        }
    }

    #[inline]
    pub(super) fn push_read(&mut self, ops: &mut Slab<ReadOp>, op: ReadOp) {
        let index = ops.insert(op);
        if self.reads.is_empty() {
            self.reads.head = index;
        } else {
            ops[self.reads.tail].next = index;
        }
        self.reads.tail = index;
    }

    pub(super) fn push_work(&mut self, ops: &mut Slab<WorkOp>, work: Work) {
        let index = ops.insert(WorkOp { work, next: NIL });
        if self.works.is_empty() {
            self.works.head = index;
        } else {
            ops[self.works.tail].next = index;
        }
        self.works.tail = index;
    }

    /// Reads go before programs and erases, each in the order of arrival, but only so many pass a
    /// waiting one: a program must not starve. Nothing is suspended once it has begun.
    #[inline]
    pub(super) fn next(&self, works: &Slab<WorkOp>, reads_before_program: u32) -> Next {
        let may_read = self.works.is_empty() || self.reads_passed < reads_before_program;
        if !self.reads.is_empty() && may_read {
            return Next::Read;
        }
        if self.works.is_empty() {
            return Next::Nothing;
        }
        match works[self.works.head].work {
            Work::Program { .. } => Next::Program,
            Work::Erase { .. } => Next::Erase,
        }
    }

    /// Takes the next program or erase off the queue.
    pub(super) fn start_work(&mut self, works: &mut Slab<WorkOp>) {
        let index = self.works.head;
        let WorkOp { work, next } = works[index];
        works.remove(index);
        self.works.head = next;
        if next == NIL {
            self.works.tail = NIL;
        }
        self.reads_passed = 0;
        self.active = Active::Work(work);
    }

    /// Takes the next read off the queue, together with what a melded read serves along, and
    /// returns how long the die senses.
    #[inline]
    pub(super) fn start_read(&mut self, ops: &mut Slab<ReadOp>, timing: &Timing) -> Time {
        self.reads_passed = if self.works.is_empty() {
            0
        } else {
            self.reads_passed + 1
        };
        let index = self.reads.head;
        let op = ops[index];
        if op.melded {
            let pages = self.pages_with_neighbours(ops, op);
            if timing.melds(pages) {
                self.take_neighbours(ops, op, pages);
                self.active = Active::Melded { first: index };
                return timing.melded_sense;
            }
        }
        let page = op.pages.trailing_zeros();
        let rest = op.pages & (op.pages - 1);
        self.active = Active::Page {
            at: op.at,
            owner: op.owner,
            pages: 1 << page,
        };
        if rest == 0 {
            self.unlink(ops, NIL, index);
            ops.remove(index);
        } else {
            ops[index].pages = rest;
        }
        timing.sense[page as usize]
    }

    /// The pages of the wordline of the first read that near ones in the queue ask for as well.
    fn pages_with_neighbours(&self, ops: &Slab<ReadOp>, first: ReadOp) -> u8 {
        let mut pages = first.pages;
        let mut index = first.next;
        for _ in 0..COALESCE_WINDOW {
            if index == NIL {
                break;
            }
            let op = &ops[index];
            if op.at == first.at && op.pages & pages == 0 {
                pages |= op.pages;
            }
            index = op.next;
        }
        pages
    }

    /// Moves the first read and those that [`Die::pages_with_neighbours`] saw to a list of their own.
    fn take_neighbours(&mut self, ops: &mut Slab<ReadOp>, first: ReadOp, pages: u8) {
        let mut last = self.reads.head;
        self.unlink(ops, NIL, last);
        let mut missing = pages & !first.pages;
        let (mut previous, mut index) = (NIL, first.next);
        while missing != 0 && index != NIL {
            let op = ops[index];
            if op.at == first.at && op.pages & !missing == 0 {
                missing &= !op.pages;
                self.unlink(ops, previous, index);
                ops[last].next = index;
                last = index;
            } else {
                previous = index;
            }
            index = op.next;
        }
        ops[last].next = NIL;
    }

    /// Unlinks `index`, which follows `previous` (nothing: it is the head).
    #[inline]
    fn unlink(&mut self, ops: &mut Slab<ReadOp>, previous: u32, index: u32) {
        let next = ops[index].next;
        if previous == NIL {
            self.reads.head = next;
        } else {
            ops[previous].next = next;
        }
        if next == NIL {
            self.reads.tail = previous;
        }
    }
}
