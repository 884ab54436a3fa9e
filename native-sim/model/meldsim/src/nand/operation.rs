//! Operations on dies, the queues they wait in, and the commands that are composed of them.
//!
//! In: the queue of one die. Out: what its next command does: a single page, a melded read, or
//! operations on several planes. A multi-plane command (ONFI) takes operations of one kind whose
//! address is the same within each plane: the same block and wordline, and the same pages of it.

use super::geometry::{PageSet, Unit, WordlineAddr};
use super::timing::Timing;
use crate::engine::{Duration, NIL, Slab};
use crate::timeline::Work;

/// How far a partial read of a melded wordline searches the die's queue for other pages of the
/// same wordline. Pages of one request are next to each other; only readers of one wordline that
/// are interleaved with others are further apart.
const COALESCE_WINDOW: usize = 16;
/// How far a multi-plane command searches the die's queue for its other planes.
const PLANE_WINDOW: usize = 64;

/// For whom pages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner(pub(super) u32);

impl Owner {
    /// Owners from here on are the device's own: garbage collectors and mappings in turn, the first set's at the top.
    const FIRST_OWN: u32 = u32::MAX - 2 * u16::MAX as u32 - 1;
    /// Chunks that a set reads ahead at a time, at most. Their owners are before those, the first set's first.
    pub(crate) const CHUNKS: u8 = 32;
    const FIRST_AHEAD: u32 = Owner::FIRST_OWN - Owner::CHUNKS as u32 * (u16::MAX as u32 + 1);

    /// The garbage collection of an NVM set.
    #[inline]
    pub(crate) fn gc(set: u32) -> Owner {
        debug_assert!(set <= u32::from(u16::MAX));
        Owner(u32::MAX - 2 * set)
    }

    /// The mapping of an NVM set.
    #[inline]
    pub(crate) fn map(set: u32) -> Owner {
        Owner(Owner::gc(set).0 - 1)
    }

    /// A chunk that an NVM set reads ahead.
    #[inline]
    pub(crate) fn ahead(set: u32, chunk: u8) -> Owner {
        debug_assert!(set <= u32::from(u16::MAX) && chunk < Owner::CHUNKS);
        Owner(Owner::FIRST_AHEAD + set * u32::from(Owner::CHUNKS) + u32::from(chunk))
    }

    #[inline]
    pub(crate) fn request(index: u32) -> Owner {
        Owner(index)
    }

    /// The host's request, if it is for one.
    #[inline]
    pub(crate) fn as_request(self) -> Option<u32> {
        (self.0 < Owner::FIRST_AHEAD).then_some(self.0)
    }

    /// The NVM set and the chunk, if it is for one that is read ahead.
    #[inline]
    pub(crate) fn as_ahead(self) -> Option<(u32, u8)> {
        let chunks = u32::from(Owner::CHUNKS);
        let number = self.0.wrapping_sub(Owner::FIRST_AHEAD);
        let is_ahead = (Owner::FIRST_AHEAD..Owner::FIRST_OWN).contains(&self.0);
        is_ahead.then_some((number / chunks, (number % chunks) as u8))
    }

    /// The NVM set, if it is for one's garbage collection.
    #[inline]
    pub(crate) fn as_gc(self) -> Option<u32> {
        let is_gc = self.0 >= Owner::FIRST_OWN && self.0 % 2 == 1;
        is_gc.then(|| (u32::MAX - self.0) / 2)
    }

    /// The NVM set, if it is for one's mapping.
    #[inline]
    pub(crate) fn as_map(self) -> Option<u32> {
        let is_map = self.0 >= Owner::FIRST_OWN && self.0 % 2 == 0;
        is_map.then(|| (u32::MAX - self.0) / 2)
    }
}

/// The planes of a list of operations, as a set.
pub(super) fn planes_of(ops: &Slab<Op>, first: u32) -> u16 {
    let (mut planes, mut next) = (0, first);
    while next != NIL {
        planes |= 1 << ops[next].plane();
        next = ops[next].next;
    }
    planes
}

/// What a die executes, for a timeline.
pub(super) fn work_of(kind: Kind) -> Work {
    match kind {
        Kind::Erase => Work::Erase,
        Kind::Copyback => Work::Copyback,
        _ => Work::Program,
    }
}

/// How pages were sensed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    /// Alone.
    Page,
    /// With their whole wordline, which several reads may share.
    Melded {
        /// It is the first of these reads.
        is_first: bool,
    },
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finished {
    /// Pages of a wordline have arrived in the controller.
    Read {
        at: WordlineAddr,
        pages: PageSet,
        owner: Owner,
        sense: Sense,
        /// Their data could not be read.
        is_failed: bool,
    },
    /// Pages of a wordline are programmed.
    Program { unit: Unit, token: u32 },
    /// A block is erased.
    Erase { unit: Unit, token: u32 },
    /// Pages are copied to another wordline of their plane.
    Copyback { unit: Unit, token: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of one that waits: whether its data was programmed in the melded layout. Of one that is sensed:
    /// whether its whole wordline is.
    Read(bool),
    Program,
    Erase,
    Copyback,
}

/// An operation on one plane. Small, for there are many: all that is read of a large request waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) kind: Kind,
    /// The plane, and from [`Op::SKIPPED`] on the codewords of the pages that the bus is spared.
    pub(super) place: u8,
    /// The pages of the wordline; none when a block is erased.
    pub(super) pages: PageSet,
    /// Block and wordline, within the plane: of a copyback the target, of an erase the first one.
    pub(super) row: u32,
    /// The [`Owner`] of a read; the FTL's token of anything else.
    pub(super) tag: u32,
    pub(super) next: u32,
}

impl Op {
    /// The first bit of the codewords: a die has at most 16 planes, a page at most 16 codewords.
    const SKIPPED: u32 = 4;

    #[inline]
    pub(super) fn plane(&self) -> u8 {
        self.place & ((1 << Op::SKIPPED) - 1)
    }

    /// Codewords of 4 KiB of its pages that nobody asked for.
    #[inline]
    pub(super) fn skipped(&self) -> u32 {
        u32::from(self.place >> Op::SKIPPED)
    }

    /// The same without so many codewords of its pages.
    #[inline]
    pub(super) fn skips(mut self, codewords: u8) -> Op {
        debug_assert!(codewords >> (u8::BITS - Op::SKIPPED) == 0);
        self.place |= codewords << Op::SKIPPED;
        self
    }

    #[inline]
    pub(super) fn new(kind: Kind, row: u32, pages: PageSet, tag: u32) -> Op {
        let (place, next) = (0, NIL);
        Op {
            kind,
            place,
            pages,
            row,
            tag,
            next,
        }
    }

    #[inline]
    pub(super) fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read(_))
    }

    /// Whether it is a melded read.
    #[inline]
    pub(super) fn is_melded(&self) -> bool {
        self.kind == Kind::Read(true)
    }

    /// Whether it erases the block of a read.
    #[inline]
    pub(super) fn erases(&self, read: &Op, wordlines_per_block: u32) -> bool {
        self.kind == Kind::Erase
            && self.plane() == read.plane()
            && self.row / wordlines_per_block == read.row / wordlines_per_block
    }

    /// Whether two operations on different planes of a die can be one command.
    pub(super) fn shares_command(&self, other: &Op, timing: &Timing) -> bool {
        let flash_page = timing.flash_page(self.pages.trailing_zeros());
        let same_pages = match self.kind {
            Kind::Read(false) => other.pages & !timing.pages_of(flash_page) == 0,
            _ => self.pages == other.pages,
        };
        self.kind == other.kind && self.row == other.row && same_pages
    }
}

/// Something that waits in a [`Fifo`].
pub(super) trait Linked: Copy {
    fn next(&mut self) -> &mut u32;
}

impl Linked for Op {
    #[inline]
    fn next(&mut self) -> &mut u32 {
        &mut self.next
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

    /// Appends an element; its link becomes [`NIL`].
    #[inline(always)]
    pub(super) fn push<T: Linked>(&mut self, slab: &mut Slab<T>, element: T) {
        let index = slab.insert(element);
        *slab[index].next() = NIL;
        if self.is_empty() {
            self.head = index;
        } else {
            *slab[self.tail].next() = index;
        }
        self.tail = index;
    }

    /// Whether there is an element of a kind.
    pub(super) fn any<T: Linked>(&self, slab: &Slab<T>, is: impl Fn(&T) -> bool) -> bool {
        let mut index = self.head;
        while index != NIL {
            let mut element = slab[index];
            if is(&element) {
                return true;
            }
            index = *element.next();
        }
        false
    }

    /// Takes the head off.
    #[inline]
    pub(super) fn pop<T: Linked>(&mut self, slab: &mut Slab<T>) -> u32 {
        let index = self.head;
        self.unlink(slab, NIL, index);
        *slab[index].next() = NIL;
        index
    }

    /// Unlinks `index`, which follows `previous` ([`NIL`]: it is the head).
    #[inline]
    pub(super) fn unlink<T: Linked>(&mut self, slab: &mut Slab<T>, previous: u32, index: u32) {
        let next = *slab[index].next();
        if previous == NIL {
            self.head = next;
        } else {
            *slab[previous].next() = next;
        }
        if next == NIL {
            self.tail = previous;
        }
    }
}

/// Operations taken off a die's queue, to be done by one command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    /// The list of them, those of one plane next to each other.
    pub(super) first: u32,
    /// The set of planes.
    pub(super) planes: u16,
    /// Pages that were asked for.
    pub(super) pages: u32,
    /// How long the array senses; zero for anything but a read.
    pub(super) sense: Duration,
}

impl Command {
    #[inline]
    fn new(first: u32, plane: u8, pages: u32, sense: Duration) -> Command {
        Command {
            first,
            planes: 1 << plane,
            pages,
            sense,
        }
    }

    /// Lets an operation on another plane join.
    fn join(&mut self, op: &Op) {
        self.planes |= 1 << op.plane();
        self.pages += op.pages.count_ones();
    }
}

/// Takes the next read off the queue, with everything that is read along. `PLAIN` is as in
/// [`ChannelContext`](super::context::ChannelContext).
#[inline]
pub(super) fn take_read<const PLAIN: bool>(
    queue: &mut Fifo,
    ops: &mut Slab<Op>,
    timing: &Timing,
    multi_plane: bool,
) -> Command {
    let index = queue.head;
    let op = ops[index];
    if op.is_melded() {
        let pages = pages_with_neighbours(ops, op, timing.whole);
        if timing.melds(pages) {
            return take_melded(queue, ops, timing, multi_plane, pages);
        }
    }
    let page = op.pages.trailing_zeros();
    let pages = match PLAIN {
        true => op.pages & op.pages.wrapping_neg(),
        false => timing.on_first_flash_page(op.pages),
    };
    let rest = op.pages & !pages;
    let first = if rest == 0 {
        queue.unlink(ops, NIL, index);
        let taken = &mut ops[index];
        taken.next = NIL;
        taken.kind = Kind::Read(false);
        index
    } else {
        ops[index].pages = rest;
        ops.insert(Op {
            kind: Kind::Read(false),
            pages,
            next: NIL,
            ..op
        })
    };
    let (page, asked) = match PLAIN {
        true => (page, 1),
        false => (timing.flash_page(page), timing.count(pages)),
    };
    let sense = timing.sense[page as usize];
    let mut command = Command::new(first, op.plane(), asked, sense);
    if multi_plane {
        let flash_page = timing.pages_of(page);
        let fits = |other: &Op| {
            other.pages & !flash_page == 0 && !(other.is_melded() && timing.melds(other.pages))
        };
        take_planes(queue, ops, &mut command, first, fits);
    }
    command
}

/// Takes the first read of the queue and its neighbours, which `pages` are of together.
fn take_melded(
    queue: &mut Fifo,
    ops: &mut Slab<Op>,
    timing: &Timing,
    multi_plane: bool,
    pages: PageSet,
) -> Command {
    let first = queue.pop(ops);
    let op = ops[first];
    let mut command = Command::new(first, op.plane(), timing.count(pages), timing.melded_sense);
    let mut last = first;
    let mut missing = pages & !op.pages;
    if missing != 0 {
        take_fitting(queue, ops, COALESCE_WINDOW, &mut last, |_, other| {
            let fits = same_wordline(other, &op) && other.pages & !missing == 0;
            if fits {
                missing &= !other.pages;
            }
            fits
        });
    }
    if multi_plane {
        let fits = |other: &Op| other.is_melded() && timing.melds(other.pages);
        take_planes(queue, ops, &mut command, last, fits);
    }
    command
}

/// The pages of the wordline of the first read that near ones in the queue ask for as well. A read of
/// the whole wordline, as large ones are made of, has none.
fn pages_with_neighbours(ops: &Slab<Op>, first: Op, whole: PageSet) -> PageSet {
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

fn same_wordline(a: &Op, b: &Op) -> bool {
    a.row == b.row && a.plane() == b.plane()
}

/// Appends reads of the same row of other planes, one a plane.
fn take_planes(
    queue: &mut Fifo,
    ops: &mut Slab<Op>,
    command: &mut Command,
    mut last: u32,
    fits: impl Fn(&Op) -> bool,
) {
    let row = ops[last].row;
    take_fitting(queue, ops, PLANE_WINDOW, &mut last, |_, op| {
        let fits = command.planes & (1 << op.plane()) == 0 && op.row == row && fits(op);
        if fits {
            command.join(op);
        }
        fits
    });
}

/// Takes the next program, erase or copyback off the queue, with what other planes do along. The
/// order within a plane stays: only what is first of its plane is taken, and no erase before `reads` of
/// its block.
pub(super) fn take_pe(
    queue: &mut Fifo,
    reads: impl Iterator<Item = Fifo> + Clone,
    ops: &mut Slab<Op>,
    timing: &Timing,
    multi_plane: bool,
    wordlines_per_block: u32,
) -> Command {
    let first = queue.pop(ops);
    let op = ops[first];
    let mut command = Command::new(first, op.plane(), timing.count(op.pages), Duration::ZERO);
    if multi_plane && op.kind != Kind::Copyback {
        let mut seen = command.planes;
        take_fitting(queue, ops, PLANE_WINDOW, &mut { first }, |ops, other| {
            let plane = 1 << other.plane();
            let fits = seen & plane == 0
                && other.shares_command(&op, timing)
                && !reads
                    .clone()
                    .any(|reads| reads.any(ops, |read| other.erases(read, wordlines_per_block)));
            seen |= plane;
            if fits {
                command.join(other);
            }
            fits
        });
    }
    command
}

/// Moves the operations that fit from the first `window` of the queue to the end of a command's list.
/// A read that joins another is sensed as that one is.
#[inline]
fn take_fitting(
    queue: &mut Fifo,
    ops: &mut Slab<Op>,
    window: usize,
    last: &mut u32,
    mut fits: impl FnMut(&Slab<Op>, &Op) -> bool,
) {
    let kind = ops[*last].kind;
    let (mut previous, mut index) = (NIL, queue.head);
    for _ in 0..window {
        if index == NIL {
            break;
        }
        let op = ops[index];
        if fits(ops, &op) {
            queue.unlink(ops, previous, index);
            ops[*last].next = index;
            ops[index].next = NIL;
            ops[index].kind = kind;
            *last = index;
        } else {
            previous = index;
        }
        index = op.next;
    }
}
