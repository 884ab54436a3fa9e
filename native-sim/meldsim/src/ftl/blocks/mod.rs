//! The block manager of a lane: its block groups (superblocks), each one block of every unit of the
//! lane, filled by one stream and erased together.
//!
//! In come streams that want pages, and what becomes of the data on these; out go positions to fill,
//! and candidates for garbage collection. Free groups are taken by wear.

mod open;
mod saved;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use self::open::{OpenGroup, PRELOADED};
pub(crate) use self::saved::SavedBlocks;
use super::address::Addressing;
use super::stream::{Layout, Stream};
use crate::profile::WearLevelling;
use crate::profile::limits::GC_RESERVE;

/// Collection starts when this few are left, before the host has to wait.
const LOW: u32 = GC_RESERVE + 2;
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
    pub(crate) erases: u32,
    /// Pages the lane had given out when it was closed.
    closed_at: u64,
}

impl Group {
    /// One that holds nothing.
    fn new(state: State, layout: Layout, erases: u32, closed_at: u64) -> Group {
        Group {
            state,
            layout,
            valid: 0,
            unprogrammed: 0,
            erases,
            closed_at,
        }
    }

    /// Whether nothing of it is on its way, so that it can be collected.
    pub(crate) fn is_collectable(&self) -> bool {
        self.state == State::Closed && self.unprogrammed == 0
    }
}

/// A closed group that could be collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) group: u32,
    /// Pages whose data is current.
    pub(crate) valid: u32,
    /// When it was closed: pages given out in its lane until then.
    pub(crate) closed_at: u64,
}

/// Consecutive positions of a group, to be filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) group: u32,
    pub(crate) position: u32,
    pub(crate) pages: u32,
}

/// The block groups of a lane.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// Groups of the lane.
    count: u32,
    pub(crate) pages_per_group: u32,
    /// Groups below this number have been used; metadata exists only for these.
    groups: Vec<Group>,
    erased: FreeBlocks,
    wear: Wear,
    levelling: WearLevelling,
    /// What is moved now is cold: it goes to the most worn group.
    pub(crate) is_levelling: bool,
    /// The last group was collected because it was cold: the next one is not.
    has_levelled: bool,
    /// Pages given out.
    clock: u64,
    /// Groups that may hold nothing and be closed.
    empty: Vec<u32>,
    /// By stream; as long as the highest stream used.
    open: Vec<Option<OpenGroup>>,
    melded_valid: u64,
}

impl Blocks {
    pub(crate) fn new(addressing: &Addressing, levelling: WearLevelling) -> Blocks {
        Blocks {
            count: addressing.groups,
            pages_per_group: addressing.pages_per_group,
            groups: Vec::new(),
            erased: FreeBlocks::default(),
            wear: Wear::new(addressing.groups),
            levelling,
            is_levelling: false,
            has_levelled: false,
            clock: 0,
            empty: Vec::new(),
            open: Vec::new(),
            melded_valid: 0,
        }
    }

    /// Free groups.
    pub(crate) fn free(&self) -> u32 {
        self.count - self.groups.len() as u32 + self.erased.len()
    }

    pub(crate) fn is_low(&self) -> bool {
        self.free() <= LOW
    }

    /// Whether the host can open no group any more.
    pub(crate) fn is_at_reserve(&self) -> bool {
        self.free() <= GC_RESERVE
    }

    pub(crate) fn wear(&self) -> &Wear {
        &self.wear
    }

    /// Pages given out so far.
    pub(crate) fn clock(&self) -> u64 {
        self.clock
    }

    /// The groups that collecting gains something of.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = Candidate> {
        (0..self.groups.len() as u32).filter_map(|group| self.candidate(group))
    }

    /// The group, if collecting it gains something.
    pub(crate) fn candidate(&self, group: u32) -> Option<Candidate> {
        let found = self.get(group);
        let gains = found.is_collectable() && found.valid < self.pages_per_group;
        gains.then_some(Candidate {
            group,
            valid: found.valid,
            closed_at: found.closed_at,
        })
    }

    /// A closed group whose pages are all out of date, if one is known.
    pub(crate) fn pop_empty(&mut self) -> Option<u32> {
        while let Some(group) = self.empty.pop() {
            let found = self.get(group);
            if found.is_collectable() && found.valid == 0 {
                return Some(group);
            }
        }
        None
    }

    /// The closed group that was erased least, if it lags behind the most worn by more than
    /// `threshold` erases: it is collected next, and its data is cold. Every other time at most, so
    /// that free groups grow in number all the same.
    pub(crate) fn take_coldest(&mut self, threshold: u32) -> Option<u32> {
        if std::mem::replace(&mut self.has_levelled, false) {
            return None;
        }
        let lagging = self.lagging(threshold);
        let coldest = lagging.min_by_key(|&group| self.get(group).erases)?;
        self.has_levelled = true;
        self.is_levelling = true;
        Some(coldest)
    }

    /// The closed groups that lag behind the most worn by more than `threshold` erases.
    pub(crate) fn lagging(&self, threshold: u32) -> impl Iterator<Item = u32> {
        let most = self.wear.most();
        let count = match most - self.wear.least() > threshold {
            true => self.groups.len(),
            false => 0,
        };
        (0..)
            .zip(&self.groups[..count])
            .filter(move |(_, group)| group.is_collectable() && most - group.erases > threshold)
            .map(|(number, _)| number)
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

    pub(crate) fn open(&self, stream: Stream) -> Option<&OpenGroup> {
        self.open.get(stream.index())?.as_ref()
    }

    /// Closes the group a stream fills, full or not.
    pub(crate) fn end(&mut self, stream: Stream) {
        let open = self.open.get_mut(stream.index()).and_then(Option::take);
        if let Some(open) = open {
            // Of open wordlines only padding is left to program, which can be left out.
            let waiting = open.wordlines.map_or(0, |wordlines| wordlines.waiting());
            self.groups[open.group as usize].unprogrammed -= waiting;
            self.close(open.group);
        }
    }

    pub(crate) fn open_mut(&mut self, stream: Stream) -> Option<&mut OpenGroup> {
        self.open.get_mut(stream.index())?.as_mut()
    }

    /// The group a stream fills, if pages of a unit of it wait for wordlines to come.
    pub(crate) fn held(&self, stream: Stream, unit: u32) -> Option<u32> {
        let open = self.open(stream)?;
        let is_held = open.wordlines.as_ref()?.holds_pages(unit);
        is_held.then_some(open.group)
    }

    /// The position a stream fills next.
    pub(crate) fn next_position(&self, stream: Stream) -> u32 {
        self.open(stream).map_or(0, |open| open.next)
    }

    /// Pages a stream could be given without anything being collected.
    pub(crate) fn available(&self, stream: Stream) -> u64 {
        let open = self.open(stream);
        let open = open.map_or(0, |open| self.pages_per_group - open.next);
        let free = self.free().saturating_sub(reserve(stream));
        u64::from(open) + u64::from(free) * u64::from(self.pages_per_group)
    }

    /// The next positions of a stream, at most `pages`, in one group; nothing when it needs a group
    /// it may not have.
    pub(crate) fn take(
        &mut self,
        stream: Stream,
        pages: u32,
        addressing: &Addressing,
    ) -> Option<Extent> {
        let index = stream.index();
        if self.open.len() <= index {
            self.open.resize_with(index + 1, || None);
        }
        loop {
            let mut open = match self.open[index].take() {
                Some(open) => open,
                None => self.open_group(stream, addressing)?,
            };
            open.skip_filled(addressing);
            if open.next == self.pages_per_group {
                self.close(open.group);
                continue;
            }
            let pages = pages.min(self.pages_per_group - open.next);
            let extent = Extent {
                group: open.group,
                position: open.next,
                pages,
            };
            self.groups[open.group as usize].unprogrammed += pages;
            open.next += pages;
            self.clock += u64::from(pages);
            // Open wordlines still hold pages of the group's last rows.
            if open.next == self.pages_per_group && open.wordlines.is_none() {
                self.close(open.group);
            } else {
                self.open[index] = Some(open);
            }
            return Some(extent);
        }
    }

    fn open_group(&mut self, stream: Stream, addressing: &Addressing) -> Option<OpenGroup> {
        if self.free() <= reserve(stream) {
            return None;
        }
        let group = self.next_free(stream)?;
        let opened = &mut self.groups[group as usize];
        *opened = Group::new(State::Open, stream.layout(), opened.erases, 0);
        Some(OpenGroup::new(group, stream, addressing))
    }

    /// Takes groups that were never used and closes them one after the other as if they had been
    /// filled, with so many valid pages each. Returns the number of the first.
    pub(crate) fn close_filled(&mut self, valid: impl Iterator<Item = u32>) -> u32 {
        let first = self.groups.len() as u32;
        for valid in valid {
            self.clock += u64::from(self.pages_per_group);
            let group = Group::new(State::Closed, Layout::Normal, 0, self.clock);
            self.groups.push(Group { valid, ..group });
        }
        debug_assert!(self.groups.len() as u32 <= self.count);
        first
    }

    /// Groups that may be filled before collection begins, with a group left for the host to open.
    pub(crate) fn unused_in_steady_state(&self) -> u32 {
        (self.count - self.groups.len() as u32).saturating_sub(LOW + 1)
    }

    /// Takes a free group: one that was never used, or else by wear.
    fn next_free(&mut self, stream: Stream) -> Option<u32> {
        if matches!(stream, Stream::Gc(_)) && self.is_levelling {
            if let Some(group) = self.erased.take_most_worn() {
                return Some(group);
            }
        }
        if (self.groups.len() as u32) < self.count {
            let group = Group::new(State::Free, Layout::Normal, 0, 0);
            self.groups.push(group);
            return Some(self.groups.len() as u32 - 1);
        }
        self.erased.take_least_worn()
    }

    fn close(&mut self, group: u32) {
        let closed = &mut self.groups[group as usize];
        closed.state = State::Closed;
        closed.closed_at = self.clock;
        if closed.valid == 0 {
            self.empty.push(group);
        }
    }

    /// Pages of the group are programmed; when all of them are it may be collected.
    #[inline]
    pub(crate) fn programmed(&mut self, group: u32, pages: u32) {
        let programmed = &mut self.groups[group as usize];
        programmed.unprogrammed -= pages;
        if programmed.valid == 0 && programmed.is_collectable() {
            self.empty.push(group);
        }
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
    pub(crate) fn invalidate(&mut self, number: u32, pages: u32) {
        let group = &mut self.groups[number as usize];
        debug_assert!(group.valid >= pages, "invalidated twice");
        group.valid -= pages;
        self.melded_valid -= u64::from(pages) * u64::from(group.layout == Layout::Melded);
        if group.valid == 0 && group.is_collectable() {
            self.empty.push(number);
        }
    }

    /// The group is erased and free.
    pub(crate) fn erased(&mut self, group: u32) {
        let erased = &mut self.groups[group as usize];
        debug_assert!(erased.valid == 0 && erased.unprogrammed == 0, "erased data");
        erased.state = State::Free;
        self.wear.erased(erased.erases);
        erased.erases += 1;
        self.free_again(group);
    }

    fn free_again(&mut self, group: u32) {
        // Without levelling the number alone decides.
        let wear = match self.levelling {
            WearLevelling::None => 0,
            WearLevelling::Dynamic | WearLevelling::Static => self.get(group).erases,
        };
        self.erased.insert(group, wear);
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        let open = self.open.capacity() * size_of::<Option<OpenGroup>>();
        let groups = self.groups.capacity() * size_of::<Group>();
        (open + groups) as u64
    }
}

/// Groups a stream has to leave.
fn reserve(stream: Stream) -> u32 {
    match stream {
        Stream::Host(..) => GC_RESERVE,
        Stream::Gc(_) => 0,
    }
}

/// Erase counts of the groups of a lane: the least and the most at any time.
#[derive(Clone, Debug)]
pub(crate) struct Wear {
    /// Blocks by the number of their erases.
    blocks: BTreeMap<u32, u32>,
}

impl Wear {
    /// Of `blocks` blocks that were never erased.
    pub(crate) fn new(blocks: u32) -> Wear {
        Wear {
            blocks: BTreeMap::from([(0, blocks)]),
        }
    }

    /// One of the blocks that were never erased was, so often.
    pub(crate) fn add(&mut self, erases: u32) {
        if erases > 0 {
            self.take(0);
            *self.blocks.entry(erases).or_insert(0) += 1;
        }
    }

    /// A block is erased that had been `before` times.
    pub(crate) fn erased(&mut self, before: u32) {
        self.take(before);
        *self.blocks.entry(before + 1).or_insert(0) += 1;
    }

    fn take(&mut self, erases: u32) {
        if let Some(blocks) = self.blocks.get_mut(&erases) {
            *blocks -= 1;
            if *blocks == 0 {
                self.blocks.remove(&erases);
            }
        }
    }

    /// Erases of the block that was erased least.
    pub(crate) fn least(&self) -> u32 {
        self.blocks.keys().next().copied().unwrap_or(0)
    }

    /// Erases of the block that was erased most.
    pub(crate) fn most(&self) -> u32 {
        self.blocks.keys().next_back().copied().unwrap_or(0)
    }
}

/// Erased blocks, by wear.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeBlocks {
    by_wear: BTreeSet<(u32, u32)>,
}

impl FreeBlocks {
    pub(crate) fn len(&self) -> u32 {
        self.by_wear.len() as u32
    }

    pub(crate) fn insert(&mut self, block: u32, erases: u32) {
        self.by_wear.insert((erases, block));
    }

    /// The least worn: for data that is likely to be overwritten soon.
    pub(crate) fn take_least_worn(&mut self) -> Option<u32> {
        self.by_wear.pop_first().map(|(_, block)| block)
    }

    /// The most worn: for data that will stay.
    pub(crate) fn take_most_worn(&mut self) -> Option<u32> {
        self.by_wear.pop_last().map(|(_, block)| block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wear_is_known_at_any_time() {
        let mut wear = Wear::new(3);
        assert_eq!((wear.least(), wear.most()), (0, 0));
        for before in [0, 1, 2, 0] {
            wear.erased(before);
        }
        assert_eq!((wear.least(), wear.most()), (0, 3));
        wear.erased(0);
        assert_eq!((wear.least(), wear.most()), (1, 3));
    }

    #[test]
    fn free_blocks_come_by_wear() {
        let mut free = FreeBlocks::default();
        for (block, erases) in [(0, 5), (1, 2), (2, 9), (3, 2)] {
            free.insert(block, erases);
        }
        assert_eq!(free.len(), 4);
        assert_eq!(free.take_least_worn(), Some(1));
        assert_eq!(free.take_most_worn(), Some(2));
        assert_eq!(free.take_least_worn(), Some(3));
        assert_eq!(free.take_least_worn(), Some(0));
        assert_eq!(free.take_least_worn(), None);
    }
}
