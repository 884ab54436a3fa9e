//! Superblocks: one block of every die, filled by one stream, erased together.

use std::collections::VecDeque;

use super::layer::Layout;
use super::mapping::Place;
use crate::nand::{Geometry, Ppa, Wordline};

/// Superblocks that only garbage collection may open: it must be able to make room.
const GC_RESERVE: u32 = 2;
/// Collection starts when this few are left, before the host has to wait.
const LOW: u32 = GC_RESERVE + 2;
/// Superblocks the host cannot fill, at least: the reserve, one open for each stream, and one
/// more, so that a full device always has a block with an invalid page to collect.
pub(crate) const OVER_PROVISIONED_SUPERBLOCKS: u32 = GC_RESERVE + STREAMS as u32 + 1;

pub(crate) const STREAMS: usize = 4;

/// Who fills a superblock. Each stream has its own, so that data that is likely to be read or to
/// die differently does not mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Host(Layout),
    Gc(Layout),
}

impl Stream {
    pub(crate) fn index(self) -> usize {
        match self {
            Stream::Host(layout) => layout as usize,
            Stream::Gc(layout) => 2 + layout as usize,
        }
    }

    pub(crate) fn layout(self) -> Layout {
        match self {
            Stream::Host(layout) | Stream::Gc(layout) => layout,
        }
    }
}

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
    /// Pages whose data is current.
    pub(crate) valid: u32,
    /// Wordlines given out and not yet programmed.
    pub(crate) unprogrammed: u32,
    /// For each page the place in the mapping of what it holds. Empty while the block is erased.
    places: Box<[Place]>,
}

#[derive(Debug)]
struct OpenBlock {
    superblock: u32,
    next_wordline: u32,
}

#[derive(Debug)]
pub(crate) struct Blocks {
    geometry: Geometry,
    /// Superblocks below this number have been used; metadata exists only for these.
    superblocks: Vec<Superblock>,
    erased: VecDeque<u32>,
    open: [Option<OpenBlock>; STREAMS],
    melded_valid: u64,
}

impl Blocks {
    pub(crate) fn new(geometry: &Geometry) -> Blocks {
        Blocks {
            geometry: geometry.clone(),
            superblocks: Vec::new(),
            erased: VecDeque::new(),
            open: [const { None }; STREAMS],
            melded_valid: 0,
        }
    }

    /// Free superblocks.
    pub(crate) fn free(&self) -> u32 {
        self.geometry.superblocks - self.superblocks.len() as u32 + self.erased.len() as u32
    }

    pub(crate) fn is_low(&self) -> bool {
        self.free() <= LOW
    }

    pub(crate) fn melded_valid(&self) -> u64 {
        self.melded_valid
    }

    pub(crate) fn get(&self, superblock: u32) -> &Superblock {
        &self.superblocks[superblock as usize]
    }

    pub(crate) fn get_mut(&mut self, superblock: u32) -> &mut Superblock {
        &mut self.superblocks[superblock as usize]
    }

    /// Superblocks that have been used, with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Superblock)> {
        (0..).zip(&self.superblocks)
    }

    /// The next wordline for a stream, or nothing when it needs a superblock it may not have.
    pub(crate) fn next_wordline(&mut self, stream: Stream) -> Option<Wordline> {
        let index = stream.index();
        let open = match self.open[index].take() {
            Some(open) => open,
            None => OpenBlock {
                superblock: self.open_superblock(stream)?,
                next_wordline: 0,
            },
        };
        let OpenBlock {
            superblock,
            next_wordline,
        } = open;
        let wordline = self.geometry.wordline_at(superblock, next_wordline);
        let block = &mut self.superblocks[superblock as usize];
        block.unprogrammed += 1;
        if next_wordline + 1 == self.geometry.wordlines_per_superblock() {
            block.state = State::Closed;
        } else {
            self.open[index] = Some(OpenBlock {
                superblock,
                next_wordline: next_wordline + 1,
            });
        }
        Some(wordline)
    }

    /// Wordlines a stream could be given without anything being collected.
    pub(crate) fn available(&self, stream: Stream) -> u64 {
        let per_superblock = u64::from(self.geometry.wordlines_per_superblock());
        let opened = self.open[stream.index()].as_ref();
        let open = opened.map_or(0, |open| per_superblock - u64::from(open.next_wordline));
        open + u64::from(self.free().saturating_sub(reserve(stream))) * per_superblock
    }

    fn open_superblock(&mut self, stream: Stream) -> Option<u32> {
        if self.free() <= reserve(stream) {
            return None;
        }
        let places = vec![Place::NONE; self.geometry.pages_per_superblock() as usize];
        let opened = Superblock {
            state: State::Open,
            layout: stream.layout(),
            valid: 0,
            unprogrammed: 0,
            places: places.into_boxed_slice(),
        };
        // Never used ones first: erased ones rest longest and wear evens out.
        if (self.superblocks.len() as u32) < self.geometry.superblocks {
            self.superblocks.push(opened);
            return Some(self.superblocks.len() as u32 - 1);
        }
        let superblock = self.erased.pop_front()?;
        self.superblocks[superblock as usize] = opened;
        Some(superblock)
    }

    /// The wordline is programmed: its pages may be read and its block collected.
    pub(crate) fn programmed(&mut self, wordline: Wordline) {
        let superblock = self.geometry.superblock(wordline);
        self.superblocks[superblock as usize].unprogrammed -= 1;
    }

    #[inline]
    pub(crate) fn is_melded(&self, wordline: Wordline) -> bool {
        self.superblocks[self.geometry.superblock(wordline) as usize].layout == Layout::Melded
    }

    /// Whose data the page holds; [`Place::NONE`] when nobody's.
    pub(crate) fn place(&self, ppa: Ppa) -> Place {
        let (wordline, _) = self.geometry.wordline_of(ppa);
        let block = &self.superblocks[self.geometry.superblock(wordline) as usize];
        block.places[self.geometry.index_in_superblock(ppa)]
    }

    /// The page now holds the current data of `place`.
    pub(crate) fn validate(&mut self, ppa: Ppa, place: Place) {
        let (wordline, _) = self.geometry.wordline_of(ppa);
        let block = &mut self.superblocks[self.geometry.superblock(wordline) as usize];
        block.places[self.geometry.index_in_superblock(ppa)] = place;
        block.valid += 1;
        self.melded_valid += u64::from(block.layout == Layout::Melded);
    }

    /// The page's data is no longer current.
    pub(crate) fn invalidate(&mut self, ppa: Ppa) {
        let (wordline, _) = self.geometry.wordline_of(ppa);
        let block = &mut self.superblocks[self.geometry.superblock(wordline) as usize];
        let place = &mut block.places[self.geometry.index_in_superblock(ppa)];
        debug_assert!(*place != Place::NONE, "invalidated twice");
        *place = Place::NONE;
        block.valid -= 1;
        self.melded_valid -= u64::from(block.layout == Layout::Melded);
    }

    /// The pages of a wordline that hold current data, as a set.
    pub(crate) fn valid_pages(&self, wordline: Wordline) -> u8 {
        let first = self.geometry.page(wordline, 0);
        let block = &self.superblocks[self.geometry.superblock(wordline) as usize];
        let base = self.geometry.index_in_superblock(first);
        let pages = &block.places[base..base + self.geometry.pages_per_wordline as usize];
        pages
            .iter()
            .rev()
            .fold(0, |set, &place| (set << 1) | u8::from(place != Place::NONE))
    }

    /// The superblock is erased and free.
    pub(crate) fn erased(&mut self, superblock: u32) {
        let block = &mut self.superblocks[superblock as usize];
        debug_assert!(block.valid == 0 && block.unprogrammed == 0, "erased data");
        block.state = State::Free;
        block.places = Box::default();
        self.erased.push_back(superblock);
    }
}

/// Superblocks a stream has to leave.
fn reserve(stream: Stream) -> u32 {
    match stream {
        Stream::Host(_) => GC_RESERVE,
        Stream::Gc(_) => 0,
    }
}
