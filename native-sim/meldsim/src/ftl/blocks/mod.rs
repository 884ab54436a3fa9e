//! Block groups: one block of every unit of a lane, filled by one stream, erased together.

mod saved;

pub(super) use self::saved::SavedBlocks;
use super::numbering::Numbering;
use super::order::OpenWordlines;
use super::policy::Candidate;
use super::stream::{Layout, Stream};
use super::wear::{FreeBlocks, Wear};
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
    /// The batch of groups to be collected next holds what leads to it.
    pub(crate) is_inverted: bool,
}

impl Group {
    /// Whether it is at rest, so that it can be collected.
    pub(crate) fn is_collectable(&self) -> bool {
        self.state == State::Closed && self.unprogrammed == 0
    }
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
    erased: FreeBlocks,
    wear: Wear,
    levelling: WearLevelling,
    /// What is moved now is cold: it goes to the most worn group.
    pub(super) is_levelling: bool,
    /// Pages given out.
    clock: u64,
    /// Groups that may hold nothing and be closed.
    empty: Vec<u32>,
    /// By stream; as long as the highest stream used.
    open: Vec<Option<OpenGroup>>,
    melded_valid: u64,
}

impl Blocks {
    pub(crate) fn new(numbering: &Numbering, levelling: WearLevelling) -> Blocks {
        Blocks {
            count: numbering.groups,
            pages_per_group: numbering.pages_per_group,
            groups: Vec::new(),
            erased: FreeBlocks::default(),
            wear: Wear::new(numbering.groups),
            levelling,
            is_levelling: false,
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
        let gains = |group: &Group| group.is_collectable() && group.valid < self.pages_per_group;
        self.iter()
            .filter(move |(_, group)| gains(group))
            .map(|(number, group)| Candidate {
                group: number,
                valid: group.valid,
                closed_at: group.closed_at,
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
    /// `threshold` erases.
    pub(crate) fn coldest(&self, threshold: u32) -> Option<u32> {
        let lagging = self.lagging(threshold);
        lagging.min_by_key(|&group| self.get(group).erases)
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

    pub(super) fn open(&self, stream: Stream) -> Option<&OpenGroup> {
        self.open.get(stream.index())?.as_ref()
    }

    /// Closes the group a stream fills, full or not.
    pub(super) fn end(&mut self, stream: Stream) {
        let open = self.open.get_mut(stream.index()).and_then(Option::take);
        if let Some(open) = open {
            // Of open wordlines only padding is left to program, which can be left out.
            let waiting = open.wordlines.map_or(0, |wordlines| wordlines.waiting());
            self.groups[open.group as usize].unprogrammed -= waiting;
            self.close(open.group);
        }
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
                self.close(open.group);
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
            self.clock += u64::from(pages);
            // Open wordlines still hold pages of the group's last rows.
            if open.next == self.pages_per_group && open.wordlines.is_none() {
                self.close(open.group);
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
        let group = self.next_free(stream)?;
        let opened = &mut self.groups[group as usize];
        *opened = Group {
            state: State::Open,
            layout,
            valid: 0,
            unprogrammed: 0,
            erases: opened.erases,
            closed_at: 0,
            is_inverted: false,
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

    /// Takes groups that were never used and closes them one after the other as if they had been
    /// filled, with so many valid pages each. Returns the number of the first.
    pub(super) fn close_filled(&mut self, valid: impl Iterator<Item = u32>) -> u32 {
        let first = self.groups.len() as u32;
        for valid in valid {
            self.clock += u64::from(self.pages_per_group);
            self.groups.push(Group {
                state: State::Closed,
                layout: Layout::Normal,
                valid,
                unprogrammed: 0,
                erases: 0,
                closed_at: self.clock,
                is_inverted: false,
            });
        }
        debug_assert!(self.groups.len() as u32 <= self.count);
        first
    }

    /// Groups that may be filled before collection begins, with a group left for the host to open.
    pub(super) fn unused_in_steady_state(&self) -> u32 {
        (self.count - self.groups.len() as u32).saturating_sub(LOW + 1)
    }

    /// What leads to groups is no longer known.
    pub(super) fn end_batch(&mut self) {
        for group in &mut self.groups {
            group.is_inverted = false;
        }
    }

    /// Takes a free group: one that was never used, or else by wear.
    fn next_free(&mut self, stream: Stream) -> Option<u32> {
        if matches!(stream, Stream::Gc(_)) && self.is_levelling {
            if let Some(group) = self.erased.take_most_worn() {
                return Some(group);
            }
        }
        if (self.groups.len() as u32) < self.count {
            self.groups.push(Group {
                state: State::Free,
                layout: Layout::Normal,
                valid: 0,
                unprogrammed: 0,
                erases: 0,
                closed_at: 0,
                is_inverted: false,
            });
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
