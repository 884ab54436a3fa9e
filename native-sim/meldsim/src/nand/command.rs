//! Commands of one die, composed from its queue: single pages, melded reads, and multi-plane
//! commands.
//!
//! A multi-plane command takes operations of one kind on different planes whose address is the
//! same within the plane: the same block and wordline, and the same pages of it.

use super::die::Die;
use super::op::{Fifo, ReadOp, Work, WorkOp};
use super::timing::Timing;
use crate::engine::{NIL, Slab, Time};

/// How far a partial read of a melded wordline looks down the die's queue for other pages of the
/// same wordline. Pages of one request are next to each other; only readers of one wordline that
/// are interleaved with others are further apart.
const COALESCE_WINDOW: usize = 16;
/// How far a multi-plane command looks down the die's queue for its other planes.
const PLANE_WINDOW: usize = 64;

/// Operations taken off a die's queue, to be done by one command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// The list of them, those of one plane next to each other.
    pub(super) first: u32,
    /// The set of planes.
    pub(super) planes: u16,
    /// Pages that were asked for.
    pub(super) pages: u32,
    /// How long the array senses; zero for anything but a read.
    pub(super) sense: Time,
}

/// Takes the next read off the queue, with everything that is read along.
#[inline]
pub(super) fn take_read(
    die: &mut Die,
    ops: &mut Slab<ReadOp>,
    timing: &Timing,
    multi_plane: bool,
) -> Taken {
    die.count_passed();
    let index = die.reads.head;
    let op = ops[index];
    if op.melded {
        let pages = pages_with_neighbours(ops, op, timing.whole);
        if timing.melds(pages) {
            die.reads.unlink(ops, NIL, index);
            let last = take_neighbours(die, ops, op, index, pages);
            let mut taken = Taken {
                first: index,
                planes: 1 << op.plane,
                pages: pages.count_ones(),
                sense: timing.melded_sense,
            };
            if multi_plane {
                let fits = |other: &ReadOp| other.melded && timing.melds(other.pages);
                take_planes(die, ops, &mut taken, last, op.row, fits);
            }
            return taken;
        }
    }
    let page = op.pages.trailing_zeros();
    let rest = op.pages & (op.pages - 1);
    let first = if rest == 0 {
        die.reads.unlink(ops, NIL, index);
        let taken = &mut ops[index];
        taken.next = NIL;
        taken.melded = false;
        index
    } else {
        ops[index].pages = rest;
        ops.insert(ReadOp {
            pages: 1 << page,
            melded: false,
            next: NIL,
            ..op
        })
    };
    let mut taken = Taken {
        first,
        planes: 1 << op.plane,
        pages: 1,
        sense: timing.sense[page as usize],
    };
    if multi_plane {
        let fits = |other: &ReadOp| {
            other.pages == 1 << page && !(other.melded && timing.melds(other.pages))
        };
        take_planes(die, ops, &mut taken, first, op.row, fits);
    }
    taken
}

/// The pages of the wordline of the first read that near ones in the queue ask for as well. A read of
/// the whole wordline, as large ones are made of, has none.
fn pages_with_neighbours(ops: &Slab<ReadOp>, first: ReadOp, whole: u8) -> u8 {
    let mut pages = first.pages;
    let mut index = first.next;
    for _ in 0..COALESCE_WINDOW {
        if pages == whole || index == NIL {
            break;
        }
        let op = &ops[index];
        if same_wordline(op, &first) && op.pages & pages == 0 {
            pages |= op.pages;
        }
        index = op.next;
    }
    pages
}

/// Appends to the first read, which is off the queue, those that [`pages_with_neighbours`] saw.
/// Returns the last.
fn take_neighbours(
    die: &mut Die,
    ops: &mut Slab<ReadOp>,
    first: ReadOp,
    first_index: u32,
    pages: u8,
) -> u32 {
    let mut last = first_index;
    let mut missing = pages & !first.pages;
    let (mut previous, mut index) = (NIL, first.next);
    while missing != 0 && index != NIL {
        let op = ops[index];
        if same_wordline(&op, &first) && op.pages & !missing == 0 {
            missing &= !op.pages;
            die.reads.unlink(ops, previous, index);
            ops[last].next = index;
            ops[index].melded = true;
            last = index;
        } else {
            previous = index;
        }
        index = op.next;
    }
    ops[last].next = NIL;
    last
}

fn same_wordline(a: &ReadOp, b: &ReadOp) -> bool {
    a.row == b.row && a.plane == b.plane
}

/// Appends reads of the same row of other planes, one a plane.
fn take_planes(
    die: &mut Die,
    ops: &mut Slab<ReadOp>,
    taken: &mut Taken,
    mut last: u32,
    row: u32,
    fits: impl Fn(&ReadOp) -> bool,
) {
    let melded = ops[last].melded;
    let (mut previous, mut index) = (NIL, die.reads.head);
    for _ in 0..PLANE_WINDOW {
        if index == NIL {
            break;
        }
        let op = ops[index];
        if taken.planes & (1 << op.plane) == 0 && op.row == row && fits(&op) {
            die.reads.unlink(ops, previous, index);
            ops[last].next = index;
            ops[index].next = NIL;
            ops[index].melded = melded;
            last = index;
            taken.planes |= 1 << op.plane;
            taken.pages += op.pages.count_ones();
        } else {
            previous = index;
        }
        index = op.next;
    }
}

/// Takes the next program, erase or copyback off the queue, with what other planes do along.
pub(super) fn take_work(die: &mut Die, ops: &mut Slab<WorkOp>, multi_plane: bool) -> Taken {
    die.reads_passed = 0;
    let first = die.works.head;
    let op = ops[first];
    die.works.unlink(ops, NIL, first);
    ops[first].next = NIL;
    let mut taken = Taken {
        first,
        planes: 1 << op.plane,
        pages: op.pages.count_ones(),
        sense: Time::ZERO,
    };
    if multi_plane && op.kind != Work::Copyback {
        take_work_planes(&mut die.works, ops, &mut taken, op);
    }
    taken
}

/// Appends what shares planes with `first`. The order within a plane stays: only what is first of
/// its plane is taken.
fn take_work_planes(queue: &mut Fifo, ops: &mut Slab<WorkOp>, taken: &mut Taken, first: WorkOp) {
    let mut last = taken.first;
    let mut passed = taken.planes;
    let (mut previous, mut index) = (NIL, queue.head);
    for _ in 0..PLANE_WINDOW {
        if index == NIL {
            break;
        }
        let op = ops[index];
        let plane = 1 << op.plane;
        if passed & plane == 0 && shares_planes(&op, &first) {
            queue.unlink(ops, previous, index);
            ops[last].next = index;
            ops[index].next = NIL;
            last = index;
            taken.planes |= plane;
            taken.pages += op.pages.count_ones();
        } else {
            previous = index;
        }
        passed |= plane;
        index = op.next;
    }
}

/// Whether two operations on different planes of a die can be one command.
pub(super) fn shares_planes(a: &WorkOp, b: &WorkOp) -> bool {
    a.kind == b.kind && a.row == b.row && a.pages == b.pages
}
