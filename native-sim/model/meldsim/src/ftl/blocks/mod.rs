//! The block manager of a log: its superblocks, each one block of every unit of the
//! log, filled by one stream and erased together.
//!
//! In come streams that want pages, and what becomes of the data on these; out go positions to fill,
//! and candidates for garbage collection. Free superblocks are taken by wear.

mod open;

use std::collections::BTreeSet;
use std::ops::Range;

pub(crate) use self::open::{OpenSuperblock, PRELOADED};
use super::address::Addressing;
use super::stream::{Layout, Stream};
use crate::policy::placement::Placement;
use crate::policy::victim::{Candidate, Log, Victims};
use crate::policy::wear::WearLevelling;
use crate::profile::limits::GC_RESERVE;
use crate::profile::map::MAP_STREAMS;

/// Without pacing collection starts when this few are left, before the host has to wait.
pub(crate) const LOW: u32 = GC_RESERVE + 2;

/// For so many translation pages that are current there is room for one more, so that to collect them gains something.
const MAP_SPARE_SHARE: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Free,
    Open,
    Closed,
    /// Being emptied and erased.
    Collected,
}

/// A superblock that has been used at least once.
#[derive(Debug)]
pub(crate) struct Superblock {
    pub(crate) state: State,
    pub(crate) layout: Layout,
    /// The stream that filled it, by index; after a power cut the host's first in place of collection's first.
    pub(super) stream: u8,
    /// Pages whose data is current.
    pub(crate) valid: u32,
    /// Pages given out and not yet programmed.
    pub(crate) unprogrammed: u32,
    pub(crate) erases: u32,
    /// Pages the log had given out when it was closed.
    pub(super) closed_at: u64,
}

impl Superblock {
    /// One that holds nothing.
    pub(super) fn new(state: State, layout: Layout, erases: u32, closed_at: u64) -> Superblock {
        Superblock {
            state,
            layout,
            stream: Stream::Host(0, layout).index() as u8,
            valid: 0,
            unprogrammed: 0,
            erases,
            closed_at,
        }
    }

    /// How many of so many of its pages are in the melded layout: all or none.
    #[inline]
    pub(crate) fn melded(&self, pages: u32) -> u64 {
        u64::from(pages) * u64::from(self.layout == Layout::Melded)
    }

    /// The stream that filled it.
    pub(crate) fn stream(&self) -> Stream {
        Stream::from_index(usize::from(self.stream))
    }

    /// What policies see of it.
    fn as_candidate(&self, number: u32) -> Candidate {
        Candidate {
            number,
            valid: self.valid,
            closed_at: self.closed_at,
            erases: self.erases,
            written_at: self.stream().frontier(),
        }
    }

    /// Whether nothing of it is on its way, so that it can be collected.
    pub(crate) fn is_collectable(&self) -> bool {
        self.state == State::Closed && self.unprogrammed == 0
    }
}

/// The superblocks of a log.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// Superblocks of the log.
    pub(super) count: u32,
    pub(crate) pages_per_superblock: u32,
    /// Superblocks below this number have been used; metadata exists only for these.
    pub(super) superblocks: Vec<Superblock>,
    /// Erased superblocks, by wear: after their erases.
    erased: BTreeSet<(u32, u32)>,
    wear: Box<dyn WearLevelling>,
    /// What is moved now is cold: it goes to the most worn superblock.
    pub(crate) is_levelling: bool,
    /// The last superblock was collected because it was cold: the next one is not.
    has_levelled: bool,
    /// Pages given out so far.
    pub(crate) clock: u64,
    /// Logical pages whose current data is here or on its way here.
    pub(crate) live: u64,
    /// Of these, translation pages.
    pub(crate) of_map: u64,
    /// Superblocks that are kept for translation pages at least, and those that these fill or filled.
    pub(crate) map_pool: u32,
    map_superblocks: u32,
    /// Superblocks that may hold nothing and be closed.
    empty: Vec<u32>,
    /// By stream; as long as the highest stream used.
    pub(super) open: Vec<Option<OpenSuperblock>>,
    /// The streams of the host and of garbage collection that took positions last, by index.
    filled_last: [usize; 2],
    /// Superblocks that the host has to leave.
    pub(crate) host_reserve: u32,
    /// Which superblock is collected next.
    victims: Box<dyn Victims>,
    /// It wants to be told of what is invalidated.
    tells_invalidated: bool,
    /// Which stream pages go to.
    pub(super) placement: Box<dyn Placement>,
    /// What collection moves stays in its stream as long as anything will be erased: its streams need no room in the first.
    pub(super) isolates: bool,
}

impl Blocks {
    pub(crate) fn new(
        addressing: &Addressing,
        wear: Box<dyn WearLevelling>,
        victims: Box<dyn Victims>,
        placement: Box<dyn Placement>,
        host_reserve: u32,
    ) -> Blocks {
        Blocks {
            count: addressing.superblocks,
            pages_per_superblock: addressing.pages_per_superblock,
            superblocks: Vec::new(),
            erased: BTreeSet::new(),
            wear,
            is_levelling: false,
            has_levelled: false,
            clock: 0,
            live: 0,
            of_map: 0,
            map_pool: 0,
            map_superblocks: 0,
            empty: Vec::new(),
            open: Vec::new(),
            filled_last: [0; 2],
            host_reserve,
            tells_invalidated: victims.follows_invalidations(),
            victims,
            placement,
            isolates: false,
        }
    }

    /// Leaves the `most` of these superblocks that the policy would collect first, in order.
    pub(crate) fn rank(&self, candidates: &mut Vec<Candidate>, most: usize) {
        let log = Log {
            pages_per_superblock: self.pages_per_superblock,
            now: self.clock,
        };
        self.victims.rank(candidates, most, &log);
    }

    /// Free superblocks.
    pub(crate) fn free(&self) -> u32 {
        self.count - self.superblocks.len() as u32 + self.erased.len() as u32
    }

    pub(crate) fn is_low(&self) -> bool {
        self.free() <= LOW
    }

    /// Whether the host can open no superblock any more.
    pub(crate) fn is_at_reserve(&self) -> bool {
        self.free() <= self.host_reserve
    }

    /// Erases of the block that was erased least, and of that erased most.
    pub(crate) fn erases(&self) -> (u32, u32) {
        let erases = || self.superblocks.iter().map(|superblock| superblock.erases);
        let least = match self.superblocks.len() as u32 == self.count {
            true => erases().min(),
            false => None, // one was never used
        };
        (least.unwrap_or(0), erases().max().unwrap_or(0))
    }

    /// The superblocks that collecting gains something of.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = Candidate> {
        (0..self.superblocks.len() as u32).filter_map(|superblock| self.candidate(superblock))
    }

    /// The superblock, if collecting it gains something.
    pub(crate) fn candidate(&self, superblock: u32) -> Option<Candidate> {
        let found = self.get(superblock);
        let gains = found.is_collectable() && found.valid < self.pages_per_superblock;
        gains.then_some(found.as_candidate(superblock))
    }

    /// A closed superblock whose pages are all out of date, if one is known and the policy takes such first.
    pub(crate) fn pop_empty(&mut self) -> Option<u32> {
        if !self.victims.takes_empty_first() {
            self.empty.clear();
        }
        while let Some(superblock) = self.empty.pop() {
            let found = self.get(superblock);
            if found.is_collectable() && found.valid == 0 {
                return Some(superblock);
            }
        }
        None
    }

    /// The closed superblock that was erased least of those that lag behind in wear: it is collected next, and its data is
    /// cold. Every other time at most, so
    /// that free superblocks grow in number all the same; and not when none is free, as after a power cut:
    /// there may be no room for what it holds.
    pub(crate) fn take_coldest(&mut self) -> Option<u32> {
        if std::mem::replace(&mut self.has_levelled, false) || self.free() == 0 {
            return None;
        }
        let lagging = self.lagging();
        let coldest = lagging.min_by_key(|&superblock| self.get(superblock).erases)?;
        self.has_levelled = true;
        self.is_levelling = true;
        Some(coldest)
    }

    /// The closed superblocks that lag behind in wear.
    pub(crate) fn lagging(&self) -> impl Iterator<Item = u32> {
        let (_, most) = self.erases();
        let lags = move |superblock: &Superblock| self.wear.lags(superblock.erases, most);
        let superblocks = (0..).zip(&self.superblocks);
        superblocks
            .filter(move |(_, superblock)| superblock.is_collectable() && lags(superblock))
            .map(|(number, _)| number)
    }

    pub(crate) fn get(&self, superblock: u32) -> &Superblock {
        &self.superblocks[superblock as usize]
    }

    pub(crate) fn get_mut(&mut self, superblock: u32) -> &mut Superblock {
        &mut self.superblocks[superblock as usize]
    }

    pub(crate) fn open(&self, stream: Stream) -> Option<&OpenSuperblock> {
        self.open.get(stream.index())?.as_ref()
    }

    /// Closes the superblock a stream fills, full or not.
    pub(crate) fn end(&mut self, stream: Stream) {
        let open = self.open.get_mut(stream.index()).and_then(Option::take);
        if let Some(open) = open {
            // Of open wordlines only padding is left to program, which can be left out.
            let waiting = open.wordlines.map_or(0, |wordlines| wordlines.waiting());
            self.superblocks[open.superblock as usize].unprogrammed -= waiting;
            self.close(open.superblock);
        }
    }

    pub(crate) fn open_mut(&mut self, stream: Stream) -> Option<&mut OpenSuperblock> {
        self.open.get_mut(stream.index())?.as_mut()
    }

    /// The superblock a stream fills, if pages of a unit of it wait for wordlines to come.
    pub(crate) fn held(&self, stream: Stream, unit: u32) -> Option<u32> {
        let open = self.open(stream)?;
        let is_held = open.wordlines.as_ref()?.holds_pages(unit);
        is_held.then_some(open.superblock)
    }

    /// Pages to the end of the superblock a stream fills.
    pub(crate) fn left(&self, stream: Stream) -> u32 {
        let open = self.open(stream);
        open.map_or(0, |open| self.pages_per_superblock - open.next)
    }

    /// The position a stream fills next.
    pub(crate) fn next_position(&self, stream: Stream) -> u32 {
        self.open(stream).map_or(0, |open| open.next)
    }

    /// Pages a stream could be given without anything being collected.
    pub(crate) fn available(&self, stream: Stream) -> u64 {
        let free = self.free().saturating_sub(self.reserve(stream));
        u64::from(self.left(stream)) + u64::from(free) * u64::from(self.pages_per_superblock)
    }

    /// Logical pages of the host's whose current data is here.
    #[inline]
    pub(crate) fn host_pages(&self) -> u64 {
        self.live - self.of_map
    }

    /// Gives a stream its next positions: the superblock and the first of them. It may not take more than are
    /// left in the superblock it fills. Nothing when it needs a superblock it may not have.
    pub(crate) fn take(
        &mut self,
        stream: Stream,
        pages: u32,
        addressing: &Addressing,
    ) -> Option<(u32, u32)> {
        loop {
            let mut open = match self.filled_by(stream.index()).take() {
                Some(open) => open,
                None => self.open_superblock(stream, addressing)?,
            };
            open.skip_filled(addressing);
            if open.next == self.pages_per_superblock {
                self.close(open.superblock);
                continue;
            }
            debug_assert!(pages <= self.pages_per_superblock - open.next);
            if !stream.is_of_map() && stream != Stream::PAST {
                self.filled_last[usize::from(matches!(stream, Stream::Gc(..)))] = stream.index();
            }
            let taken = (open.superblock, open.next);
            self.superblocks[open.superblock as usize].unprogrammed += pages;
            open.next += pages;
            self.clock += u64::from(pages);
            // Open wordlines still hold pages of the superblock's last stripes.
            if open.next == self.pages_per_superblock && open.wordlines.is_none() {
                self.close(open.superblock);
            } else {
                *self.filled_by(stream.index()) = Some(open);
            }
            return Some(taken);
        }
    }

    /// The superblock that the stream of an index fills.
    #[inline]
    pub(super) fn filled_by(&mut self, index: usize) -> &mut Option<OpenSuperblock> {
        if self.open.len() <= index {
            self.open.resize_with(index + 1, || None);
        }
        &mut self.open[index]
    }

    fn open_superblock(
        &mut self,
        stream: Stream,
        addressing: &Addressing,
    ) -> Option<OpenSuperblock> {
        if self.free() <= self.reserve(stream) {
            return None;
        }
        let superblock = self.next_free(stream)?;
        let opened = &mut self.superblocks[superblock as usize];
        *opened = Superblock::new(State::Open, stream.layout(), opened.erases, 0);
        opened.stream = stream.index() as u8;
        self.map_superblocks += u32::from(stream.is_of_map());
        self.placement.opened(superblock, stream.frontier());
        Some(OpenSuperblock::new(superblock, stream, addressing))
    }

    /// Takes superblocks that were never used and closes them one after the other as if a stream had
    /// filled them, with so many valid pages each. Returns the number of the first.
    pub(crate) fn close_filled(&mut self, stream: Stream, valid: impl Iterator<Item = u32>) -> u32 {
        let first = self.superblocks.len() as u32;
        let is_of_map = stream.is_of_map();
        for valid in valid {
            self.clock += u64::from(self.pages_per_superblock);
            self.live += u64::from(valid);
            self.of_map += u64::from(valid) * u64::from(is_of_map);
            self.map_superblocks += u32::from(is_of_map);
            let superblock = Superblock::new(State::Closed, Layout::Normal, 0, self.clock);
            let superblock = Superblock {
                valid,
                stream: stream.index() as u8,
                ..superblock
            };
            let number = self.superblocks.len() as u32;
            self.victims.closed(&superblock.as_candidate(number));
            self.superblocks.push(superblock);
        }
        debug_assert!(self.superblocks.len() as u32 <= self.count);
        first
    }

    /// Superblocks that translation pages fill before any of theirs is collected, besides those that they fill now: one less
    /// than are kept for them.
    pub(crate) fn left_of_map_pool(&self) -> u32 {
        self.map_pool().saturating_sub(1 + self.map_superblocks)
    }

    /// Superblocks that are kept for translation pages: a part more than those that are current fill, and those that are
    /// being filled.
    pub(crate) fn map_pool(&self) -> u32 {
        match self.map_pool {
            0 => 0,
            least => {
                let kept = self.of_map + self.of_map / MAP_SPARE_SHARE;
                let kept = kept.div_ceil(u64::from(self.pages_per_superblock)) as u32;
                least.max(kept + MAP_STREAMS)
            }
        }
    }

    /// Whether superblocks of translation pages are collected next, and not others: these have less than one left to fill.
    pub(crate) fn is_map_full(&self) -> bool {
        let filled = u64::from(self.map_superblocks + 1) * u64::from(self.pages_per_superblock);
        let left = Stream::MAP.map(|stream| u64::from(self.left(stream)));
        let kept = u64::from(self.map_pool()) * u64::from(self.pages_per_superblock);
        self.map_pool > 0 && kept + left.iter().sum::<u64>() < filled
    }

    /// Free superblocks that are not kept for translation pages. These have one more while they are collected.
    pub(crate) fn free_beside_map(&self) -> u32 {
        let pool = self.map_pool();
        (self.free() + self.map_superblocks.min(pool + 1)).saturating_sub(pool)
    }

    /// Superblocks that were never used.
    pub(crate) fn unused(&self) -> u32 {
        self.count - self.superblocks.len() as u32
    }

    /// Pages that the host and garbage collection can be given before anything is erased: those of free
    /// superblocks that are not kept for translation pages, and of the two that are being filled.
    pub(crate) fn unwritten(&self) -> u64 {
        let open = self.filled_last.iter();
        self.with_free(open.filter_map(|&index| self.open.get(index)?.as_ref()))
    }

    /// The same, with all that are being filled.
    pub(crate) fn unfilled(&self) -> u64 {
        self.with_free(self.open.iter().flatten())
    }

    fn with_free<'a>(&self, open: impl Iterator<Item = &'a OpenSuperblock>) -> u64 {
        let left = open.map(|open| u64::from(self.pages_per_superblock - open.next));
        u64::from(self.free_beside_map()) * u64::from(self.pages_per_superblock) + left.sum::<u64>()
    }

    /// Superblocks a stream has to leave.
    fn reserve(&self, stream: Stream) -> u32 {
        match stream {
            Stream::Host(..) => self.host_reserve,
            // The first can take what belongs to the others.
            Stream::Gc(0, _) => 0,
            Stream::Gc(..) if self.isolates => 0,
            Stream::Gc(..) => GC_RESERVE / 2,
        }
    }

    /// Takes a free superblock: one that was never used, or else the least worn; for data that will stay,
    /// the most worn.
    fn next_free(&mut self, stream: Stream) -> Option<u32> {
        let is_cold = matches!(stream, Stream::Gc(..)) && self.is_levelling;
        if is_cold && !self.erased.is_empty() {
            return self.erased.pop_last().map(|(_, superblock)| superblock);
        }
        if (self.superblocks.len() as u32) < self.count {
            let superblock = Superblock::new(State::Free, Layout::Normal, 0, 0);
            self.superblocks.push(superblock);
            return Some(self.superblocks.len() as u32 - 1);
        }
        self.erased.pop_first().map(|(_, superblock)| superblock)
    }

    fn close(&mut self, superblock: u32) {
        let closed = &mut self.superblocks[superblock as usize];
        closed.state = State::Closed;
        closed.closed_at = self.clock;
        self.victims.closed(&closed.as_candidate(superblock));
        if closed.valid == 0 {
            self.empty.push(superblock);
        }
    }

    /// Pages of the superblock are programmed; when all of them are it may be collected.
    #[inline]
    pub(crate) fn programmed(&mut self, superblock: u32, pages: u32) {
        let programmed = &mut self.superblocks[superblock as usize];
        programmed.unprogrammed -= pages;
        if programmed.valid == 0 && programmed.is_collectable() {
            self.empty.push(superblock);
        }
    }

    /// Pages of the superblock now hold current data.
    #[inline]
    pub(crate) fn validate(&mut self, superblock: u32, pages: u32) {
        self.superblocks[superblock as usize].valid += pages;
    }

    /// The data of pages of the superblock is no longer current.
    #[inline]
    pub(crate) fn invalidate(&mut self, number: u32, pages: u32) {
        let superblock = &mut self.superblocks[number as usize];
        debug_assert!(superblock.valid >= pages, "invalidated twice");
        superblock.valid -= pages;
        if superblock.valid == 0 && superblock.is_collectable() {
            self.empty.push(number);
        }
        if self.tells_invalidated {
            let superblock = superblock.as_candidate(number);
            self.victims.invalidated(&superblock, pages);
        }
    }

    /// The superblock is collected from now on.
    pub(crate) fn collected(&mut self, number: u32) {
        let frontier = self.get(number).stream().frontier();
        self.placement.collected(number, frontier);
        self.get_mut(number).state = State::Collected;
    }

    /// The superblock is erased and free.
    pub(crate) fn erased(&mut self, superblock: u32) {
        let erased = &mut self.superblocks[superblock as usize];
        debug_assert!(erased.valid == 0 && erased.unprogrammed == 0, "erased data");
        erased.state = State::Free;
        erased.erases += 1;
        self.map_superblocks -= u32::from(erased.stream().is_of_map());
        self.victims.erased(superblock);
        self.free_again(superblock);
    }

    pub(super) fn free_again(&mut self, superblock: u32) {
        let order = self.wear.order(self.get(superblock).erases);
        self.erased.insert((order, superblock));
    }

    /// Whether positions of a superblock may hold data: of an open one, those that its stream has filled.
    pub(crate) fn holds_data(
        &self,
        number: u32,
        positions: Range<u32>,
        addressing: &Addressing,
    ) -> bool {
        let Some(superblock) = self.superblocks.get(number as usize) else {
            return false;
        };
        let mut open = self.open.iter().flatten();
        let next = match superblock.state {
            State::Open => open.find(|open| open.superblock == number),
            state => return state == State::Closed,
        };
        next.is_some_and(|OpenSuperblock { next, .. }| {
            let is_filled = |at| addressing.is_filled(superblock.layout, at, *next);
            positions.into_iter().all(is_filled)
        })
    }

    /// Whether garbage collection has room to go on, if it has to.
    pub(crate) fn can_collect(&self) -> bool {
        let fits = |candidate: Candidate| {
            let stream = Stream::Gc(0, self.get(candidate.number).layout);
            u64::from(candidate.valid) <= self.available(stream)
        };
        self.free() > 0 || self.candidates().any(fits)
    }

    /// All superblocks are as they were saved: tells the policy, in the order in which they were closed, and looks for
    /// closed ones that hold nothing.
    pub(crate) fn restored(&mut self) {
        let used = self.superblocks.iter();
        let used = used.filter(|superblock| superblock.state != State::Free);
        let of_map = used.filter(|superblock| superblock.stream().is_of_map());
        self.map_superblocks = of_map.count() as u32;
        let closed = (0..).zip(&self.superblocks);
        let closed = closed.filter(|(_, superblock)| superblock.state == State::Closed);
        let mut closed: Vec<Candidate> = closed
            .map(|(number, superblock)| superblock.as_candidate(number))
            .collect();
        closed.sort_unstable_by_key(|superblock| (superblock.closed_at, superblock.number));
        for superblock in &closed {
            self.victims.closed(superblock);
        }
        let empty = (0..).zip(&self.superblocks);
        let empty =
            empty.filter(|(_, superblock)| superblock.is_collectable() && superblock.valid == 0);
        self.empty = empty.map(|(number, _)| number).collect();
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        let open = self.open.capacity() * size_of::<Option<OpenSuperblock>>();
        let superblocks = self.superblocks.capacity() * size_of::<Superblock>();
        (open + superblocks) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::region::Region;
    use crate::nand::Geometry;
    use crate::policy::victim::Shape;
    use crate::policy::wear::{Wear, WearPolicy};
    use crate::profile::Profile;

    const HOST: Stream = Stream::Host(0, Layout::Normal);

    /// Four superblocks of one wordline each.
    fn blocks(wear: &str) -> (Blocks, Addressing) {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        profile.geometry.channels = 1;
        profile.geometry.dies_per_channel = 1;
        profile.geometry.wordlines_per_block = 1;
        profile.geometry.blocks_per_plane = 4;
        let geometry = Geometry::new(&profile);
        let region = Region::all(&profile, &geometry).remove(0);
        let addressing = Addressing::new(&profile, &geometry, region);
        let victims = profile.make(profile.gc.victim, &Shape::default()).unwrap();
        let wear = profile
            .make(WearPolicy::named(wear), &Wear::new(2))
            .unwrap();
        let placement = profile.make(profile.ftl.placement, &Default::default());
        let blocks = Blocks::new(&addressing, wear, victims, placement.unwrap(), GC_RESERVE);
        (blocks, addressing)
    }

    /// Fills a superblock of a stream and erases it so many times.
    fn wear_out(blocks: &mut Blocks, addressing: &Addressing, times: u32) -> u32 {
        let pages = addressing.pages_per_superblock;
        let (superblock, _) = blocks
            .take(Stream::Gc(0, Layout::Normal), pages, addressing)
            .unwrap();
        blocks.programmed(superblock, pages);
        for _ in 0..times {
            blocks.erased(superblock);
        }
        superblock
    }

    #[test]
    fn wear_is_known_at_any_time() {
        let (mut blocks, addressing) = blocks("none");
        assert_eq!(blocks.erases(), (0, 0));
        for times in [3, 1, 2] {
            wear_out(&mut blocks, &addressing, times);
        }
        // One of the four was never used.
        assert_eq!(blocks.erases(), (0, 3));
    }

    #[test]
    fn free_blocks_come_by_wear() {
        let (mut blocks, addressing) = blocks("dynamic");
        blocks.superblocks = [5, 2, 9, 2]
            .map(|erases| Superblock::new(State::Free, Layout::Normal, erases, 0))
            .into();
        (0..4).for_each(|superblock| blocks.free_again(superblock));
        let pages = addressing.pages_per_superblock;
        assert_eq!((blocks.free(), blocks.erases()), (4, (2, 9)));
        // What is cold goes to the most worn.
        blocks.is_levelling = true;
        let cold = Stream::Gc(0, Layout::Normal);
        assert_eq!(blocks.take(cold, pages, &addressing), Some((2, 0)));
        blocks.is_levelling = false;
        assert_eq!(blocks.take(cold, pages, &addressing), Some((1, 0)));
        assert_eq!(blocks.take(cold, pages, &addressing), Some((3, 0)));
        assert_eq!(blocks.take(cold, pages, &addressing), Some((0, 0)));
        assert_eq!(blocks.take(cold, pages, &addressing), None);
    }

    #[test]
    fn what_is_cold_stays_while_no_superblock_is_free() {
        let (mut blocks, _) = blocks("static");
        blocks.superblocks = [9, 0, 9, 9]
            .map(|erases| Superblock::new(State::Closed, Layout::Normal, erases, 0))
            .into();
        assert_eq!((blocks.free(), blocks.take_coldest()), (0, None));
        blocks.erased(3);
        assert_eq!(blocks.take_coldest(), Some(1));
    }

    /// Two superblocks are kept for garbage collection.
    #[test]
    fn the_host_leaves_a_reserve() {
        let (mut blocks, addressing) = blocks("none");
        let pages = addressing.pages_per_superblock;
        assert_eq!(blocks.available(HOST), 2 * u64::from(pages));
        assert!(blocks.take(HOST, pages, &addressing).is_some());
        assert!(blocks.take(HOST, pages, &addressing).is_some());
        assert!(blocks.take(HOST, pages, &addressing).is_none());
        assert!(blocks.is_at_reserve());
        assert_eq!(
            blocks.available(Stream::Gc(0, Layout::Normal)),
            2 * u64::from(pages)
        );
    }

    #[test]
    fn a_superblock_that_empties_is_collected_first() {
        let (mut blocks, addressing) = blocks("none");
        let pages = addressing.pages_per_superblock;
        let (superblock, _) = blocks.take(HOST, pages, &addressing).unwrap();
        blocks.validate(superblock, pages);
        assert_eq!(
            (blocks.pop_empty(), blocks.candidate(superblock)),
            (None, None)
        );
        blocks.programmed(superblock, pages);
        assert_eq!(
            blocks.candidate(superblock),
            None,
            "nothing would be gained"
        );
        blocks.invalidate(superblock, 1);
        assert_eq!(
            blocks.candidate(superblock).map(|found| found.valid),
            Some(pages - 1)
        );
        blocks.invalidate(superblock, pages - 1);
        assert_eq!(blocks.pop_empty(), Some(superblock));
    }
}
