//! Operations on dies, and the queues they wait in.

use crate::engine::{NIL, Slab};

/// Pages of one wordline to read, for one owner.
///
/// While it waits, `melded` is the layout the data was programmed in; once it is sensed, how.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadOp {
    /// Block and wordline, within the plane.
    pub(super) row: u32,
    pub(super) owner: u32,
    pub(super) next: u32,
    pub(super) plane: u8,
    pub(super) pages: u8,
    pub(super) melded: bool,
}

/// A program, an erase or a copyback.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkOp {
    pub(super) kind: Work,
    pub(super) plane: u8,
    /// What is programmed or copied; nothing when a block is erased.
    pub(super) pages: u8,
    /// Where it is done: the wordline to program, the first one of the block to erase.
    pub(super) row: u32,
    /// The FTL's.
    pub(super) token: u32,
    pub(super) next: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Program,
    Erase,
    Copyback,
}

/// Something that waits in a [`Fifo`].
pub(super) trait Queued: Copy {
    fn next(&self) -> u32;
    fn set_next(&mut self, next: u32);
}

impl Queued for ReadOp {
    #[inline]
    fn next(&self) -> u32 {
        self.next
    }

    #[inline]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

impl Queued for WorkOp {
    #[inline]
    fn next(&self) -> u32 {
        self.next
    }

    #[inline]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// A FIFO of slab indices, from which any element can be taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fifo {
    pub(super) head: u32,
    tail: u32,
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

    /// Appends an element whose `next` is [`NIL`].
    #[inline]
    pub(super) fn push<T: Queued>(&mut self, slab: &mut Slab<T>, element: T) {
        let index = slab.insert(element);
        self.append(slab, index);
    }

    /// Appends an element of the slab; its `next` becomes [`NIL`].
    #[inline]
    pub(super) fn append<T: Queued>(&mut self, slab: &mut Slab<T>, index: u32) {
        slab[index].set_next(NIL);
        if self.is_empty() {
            self.head = index;
        } else {
            slab[self.tail].set_next(index);
        }
        self.tail = index;
    }

    /// Unlinks `index`, which follows `previous` (nothing: it is the head).
    #[inline]
    pub(super) fn unlink<T: Queued>(&mut self, slab: &mut Slab<T>, previous: u32, index: u32) {
        let next = slab[index].next();
        if previous == NIL {
            self.head = next;
        } else {
            slab[previous].set_next(next);
        }
        if next == NIL {
            self.tail = previous;
        }
    }
}
