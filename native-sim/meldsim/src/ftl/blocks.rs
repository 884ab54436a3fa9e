//! Block groups: one block of every unit of a lane, filled by one stream, erased together.

use std::collections::VecDeque;

use super::numbering::Numbering;
use super::order::OpenWordlines;
use super::stream::{Layout, Stream};

/// Groups that only garbage collection may open: it must be able to make room.
const GC_RESERVE: u32 = 2;
/// Collection starts when this few are left, before the host has to wait.
const LOW: u32 = GC_RESERVE + 2;
/// Groups the host cannot fill, at least: the reserve, one open for each stream that is always
/// there, and one more, so that a full lane always has a group with an invalid page to collect.
pub(crate) const OVER_PROVISIONED_GROUPS: u32 = GC_RESERVE + Stream::FIXED.len() as u32 + 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Free,
    Open,
    Closed,
    /// Being emptied and erased.
    Collected,
}

/// A group that has been used at least once.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) state: State,
    pub(crate) layout: Layout,
    /// Pages whose data is current.
    pub(crate) valid: u32,
    /// Pages given out and not yet programmed.
    pub(crate) unprogrammed: u32,
}

/// A group a stream fills.
#[derive(Debug)]
pub(super) struct OpenGroup {
    pub(super) group: u32,
    /// The next position to fill, a multiple of what is filled at a time.
    pub(super) next: u32,
    /// In shadow order, where whole wordlines are filled and their pages programmed one by one.
    pub(super) wordlines: Option<Box<OpenWordlines>>,
}

/// Consecutive positions of a group, to be filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) group: u32,
    pub(super) position: u32,
    pub(super) pages: u32,
}

/// The block groups of a lane.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// Groups of the lane.
    count: u32,
    pages_per_group: u32,
    /// Groups below this number have been used; metadata exists only for these.
    groups: Vec<Group>,
    erased: VecDeque<u32>,
    /// By stream; as long as the highest stream used.
    open: Vec<Option<OpenGroup>>,
    melded_valid: u64,
}

impl Blocks {
    pub(crate) fn new(numbering: &Numbering) -> Blocks {
        Blocks {
            count: numbering.groups,
            pages_per_group: numbering.pages_per_group,
            groups: Vec::new(),
            erased: VecDeque::new(),
            open: Vec::new(),
            melded_valid: 0,
        }
    }

    /// Free groups.
    pub(crate) fn free(&self) -> u32 {
        self.count - self.groups.len() as u32 + self.erased.len() as u32
    }

    pub(crate) fn is_low(&self) -> bool {
        self.free() <= LOW
    }

    /// Whether the host can open no group any more.
    pub(crate) fn is_at_reserve(&self) -> bool {
        self.free() <= GC_RESERVE
    }

    pub(crate) fn melded_valid(&self) -> u64 {
        self.melded_valid
    }

    #[inline]
    pub(crate) fn get(&self, group: u32) -> &Group {
        &self.groups[group as usize]
    }

    pub(crate) fn get_mut(&mut self, group: u32) -> &mut Group {
        &mut self.groups[group as usize]
    }

    /// Groups that have been used, with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Group)> {
        (0..).zip(&self.groups)
    }

    pub(super) fn open(&self, stream: Stream) -> Option<&OpenGroup> {
        self.open.get(stream.index())?.as_ref()
    }

    pub(super) fn open_mut(&mut self, stream: Stream) -> Option<&mut OpenGroup> {
        self.open.get_mut(stream.index())?.as_mut()
    }

    /// The position a stream fills next.
    pub(super) fn next_position(&self, stream: Stream) -> u32 {
        self.open(stream).map_or(0, |open| open.next)
    }

    /// Pages a stream could be given without anything being collected.
    pub(super) fn available(&self, stream: Stream) -> u64 {
        let open = self.open(stream);
        let open = open.map_or(0, |open| self.pages_per_group - open.next);
        let free = self.free().saturating_sub(reserve(stream));
        u64::from(open) + u64::from(free) * u64::from(self.pages_per_group)
    }

    /// The next positions of a stream, at most `pages`, in one group; nothing when it needs a group
    /// it may not have.
    pub(super) fn take(
        &mut self,
        stream: Stream,
        pages: u32,
        numbering: &Numbering,
    ) -> Option<Taken> {
        let index = stream.index();
        if self.open.len() <= index {
            self.open.resize_with(index + 1, || None);
        }
        loop {
            let mut open = match self.open[index].take() {
                Some(open) => open,
                None => self.open_group(stream, numbering)?,
            };
            skip_filled(&mut open, numbering);
            if open.next == self.pages_per_group {
                self.groups[open.group as usize].state = State::Closed;
                continue;
            }
            let pages = pages.min(self.pages_per_group - open.next);
            let taken = Taken {
                group: open.group,
                position: open.next,
                pages,
            };
            self.groups[open.group as usize].unprogrammed += pages;
            open.next += pages;
            // Open wordlines still hold pages of the group's last rows.
            if open.next == self.pages_per_group && open.wordlines.is_none() {
                self.groups[open.group as usize].state = State::Closed;
            } else {
                self.open[index] = Some(open);
            }
            return Some(taken);
        }
    }

    fn open_group(&mut self, stream: Stream, numbering: &Numbering) -> Option<OpenGroup> {
        if self.free() <= reserve(stream) {
            return None;
        }
        let layout = stream.layout();
        let opened = Group {
            state: State::Open,
            layout,
            valid: 0,
            unprogrammed: 0,
        };
        // Never used ones first: erased ones rest longest and wear evens out.
        let group = if (self.groups.len() as u32) < self.count {
            self.groups.push(opened);
            self.groups.len() as u32 - 1
        } else {
            let group = self.erased.pop_front()?;
            self.groups[group as usize] = opened;
            group
        };
        let wordlines = (layout == Layout::Melded && numbering.is_shadow()).then(|| {
            Box::new(OpenWordlines::new(
                numbering.units,
                numbering.wordlines_per_block,
                numbering.pages_per_wordline,
            ))
        });
        Some(OpenGroup {
            group,
            next: 0,
            wordlines,
        })
    }

    /// Pages of the group are programmed; when all of them are it may be collected.
    #[inline]
    pub(crate) fn programmed(&mut self, group: u32, pages: u32) {
        self.groups[group as usize].unprogrammed -= pages;
    }

    /// Pages of the group now hold current data.
    #[inline]
    pub(crate) fn validate(&mut self, group: u32, pages: u32) {
        let group = &mut self.groups[group as usize];
        group.valid += pages;
        self.melded_valid += u64::from(pages) * u64::from(group.layout == Layout::Melded);
    }

    /// The data of pages of the group is no longer current.
    #[inline]
    pub(crate) fn invalidate(&mut self, group: u32, pages: u32) {
        let group = &mut self.groups[group as usize];
        debug_assert!(group.valid >= pages, "invalidated twice");
        group.valid -= pages;
        self.melded_valid -= u64::from(pages) * u64::from(group.layout == Layout::Melded);
    }

    /// The group is erased and free.
    pub(crate) fn erased(&mut self, group: u32) {
        let erased = &mut self.groups[group as usize];
        debug_assert!(erased.valid == 0 && erased.unprogrammed == 0, "erased data");
        erased.state = State::Free;
        self.erased.push_back(group);
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        let open = self.open.capacity() * size_of::<Option<OpenGroup>>();
        let groups = self.groups.capacity() * size_of::<Group>() + self.erased.capacity() * 4;
        (open + groups) as u64
    }
}

/// Passes over wordlines that a flush has padded ahead of their turn.
fn skip_filled(open: &mut OpenGroup, numbering: &Numbering) {
    let Some(wordlines) = &open.wordlines else {
        return;
    };
    while open.next < numbering.pages_per_group {
        let spot = numbering.spot(Layout::Melded, open.next);
        if spot.wordline >= wordlines.filled(spot.unit) {
            break;
        }
        open.next += numbering.pages_per_wordline;
    }
}

/// Groups a stream has to leave.
fn reserve(stream: Stream) -> u32 {
    match stream {
        Stream::Host(..) => GC_RESERVE,
        Stream::Gc(_) => 0,
    }
}
