//! Where each logical page is: a sparse table that costs what is written.
//!
//! In come a namespace's pages, out go entries, and back (L2P). A namespace is a two-level directory of
//! leaves of 1024 entries each. Directory nodes and leaves exist only where something is mapped, and a
//! leaf that was written sequentially some time ago is compacted: it holds runs instead of entries. An
//! entry is found once, by namespace and page, and then known by its [`MapIndex`] (leaf and offset),
//! which is what buffer slots remember.
//!
//! There is no table of the other direction (P2L): garbage collection makes it for many blocks at a
//! time (`reverse_map.rs`).

mod leaf;
mod runs;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;

pub(crate) use self::leaf::LEAF;
use self::leaf::{LEAF_BITS, Leaf};
use self::runs::LeafId;
pub(crate) use self::runs::{Entry, EntryRun};
use super::address::Ppn;
use super::stream::Token;
use crate::engine::{Block, NIL, prefetch};
use crate::profile::limits::{SHORT_PPN_LIMIT, mapping_bytes_per_page};

const NODE_BITS: u32 = 10;
const NODE: usize = 1 << NODE_BITS;
/// Leaves that keep the dense form for a while after they were written sequentially: more than are
/// being written at one time, and little memory.
const RECENT_LEAVES: usize = 1024;
/// Leaves that are tried when one more becomes recent: some have pages in the buffer and must stay dense.
const COMPACT_ATTEMPTS: usize = 4;

/// Bounds the first directory level to a few MiB.
pub(crate) const MAX_NAMESPACE_PAGES: u64 = 1 << 40;

/// The index of an entry of the mapping: which one of which leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MapIndex(pub(crate) u64);

impl Default for MapIndex {
    fn default() -> MapIndex {
        MapIndex::NONE
    }
}

impl Token for MapIndex {
    const NONE: MapIndex = MapIndex::NONE;
}

impl MapIndex {
    /// Of no entry.
    pub(crate) const NONE: MapIndex = MapIndex(u64::MAX);

    pub(crate) fn new(leaf: u32, offset: usize) -> MapIndex {
        MapIndex((u64::from(leaf) << LEAF_BITS) | offset as u64)
    }

    /// How many of these are entries of its leaf, one after the other from this one on.
    #[inline]
    pub(crate) fn consecutive(self, indices: &[MapIndex]) -> usize {
        let follows = |&(expected, index): &(u64, &MapIndex)| index.0 == expected;
        let indices = indices.iter().take(LEAF - self.offset());
        (self.0..).zip(indices).take_while(follows).count()
    }

    pub(crate) fn leaf(self) -> usize {
        (self.0 >> LEAF_BITS) as usize
    }

    pub(crate) fn offset(self) -> usize {
        self.0 as usize & (LEAF - 1)
    }
}

#[derive(Debug)]
pub(crate) struct Mapping {
    /// The first directory level of each namespace: its nodes, up to that of the highest page written.
    directories: Vec<Vec<u32>>,
    nodes: Vec<Block<[u32; NODE]>>,
    leaves: Vec<Leaf>,
    free_leaves: Vec<u32>,
    /// Dense leaves that are sequential, oldest first: they are compacted when they leave it.
    recent: VecDeque<u32>,
    max_leaves: u32,
    /// Leaves in the dense form are long.
    is_long: bool,
    /// Pages of each namespace that are mapped.
    mapped: Vec<u64>,
    /// Reused by what changes several entries.
    scratch: Vec<EntryRun>,
}

impl Mapping {
    /// A mapping to so many pages of flash that may take `bytes` of memory and so many leaves, but two at least: a tiny
    /// device's data may lie across a boundary. Sparse writes cost a leaf each, so a pathological host meets the
    /// limit before the flash is full.
    pub(crate) fn new(bytes: u64, most_leaves: u64, flash_pages: u64) -> Mapping {
        let leaves = (bytes / (LEAF as u64 * mapping_bytes_per_page(flash_pages))).min(most_leaves);
        Mapping {
            directories: Vec::new(),
            nodes: Vec::new(),
            leaves: Vec::new(),
            free_leaves: Vec::new(),
            recent: VecDeque::new(),
            max_leaves: leaves.clamp(2, u64::from(NIL)) as u32,
            is_long: flash_pages > SHORT_PPN_LIMIT,
            mapped: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Adds an empty address space and returns its number.
    pub(crate) fn add_space(&mut self) -> u32 {
        self.directories.push(Vec::new());
        self.mapped.push(0);
        (self.directories.len() - 1) as u32
    }

    /// Pages that are mapped.
    pub(crate) fn mapped(&self) -> u64 {
        self.mapped.iter().sum()
    }

    /// Pages of a space that are mapped.
    pub(crate) fn mapped_in(&self, space: u32) -> u64 {
        self.mapped[space as usize]
    }

    /// Which node of the directory, and which leaf of it.
    fn split(page: u64) -> (usize, usize) {
        let leaf = page >> LEAF_BITS;
        ((leaf >> NODE_BITS) as usize, leaf as usize & (NODE - 1))
    }

    #[inline(always)]
    fn leaf(&self, space: u32, page: u64) -> Option<u32> {
        let (node, index) = Mapping::split(page);
        let node = *self.directories[space as usize].get(node)?;
        if node == NIL {
            return None;
        }
        let leaf = self.nodes[node as usize][index];
        (leaf != NIL).then_some(leaf)
    }

    /// The index of a page, if its leaf exists.
    #[inline(always)]
    pub(crate) fn find(&self, space: u32, page: u64) -> Option<MapIndex> {
        let leaf = self.leaf(space, page)?;
        Some(MapIndex::new(leaf, page as usize & (LEAF - 1)))
    }

    /// The index of a page; its leaf is made if need be, within the memory limit.
    pub(crate) fn find_or_make(&mut self, space: u32, page: u64) -> Option<MapIndex> {
        let leaf = match self.leaf(space, page) {
            Some(leaf) => leaf,
            None => self.insert_leaf(space, page, Leaf::empty)?,
        };
        Some(MapIndex::new(leaf, page as usize & (LEAF - 1)))
    }

    /// Makes the leaf of a page that has none.
    fn insert_leaf(
        &mut self,
        space: u32,
        page: u64,
        make: impl FnOnce(LeafId, bool) -> Leaf,
    ) -> Option<u32> {
        if self.free_leaves.is_empty() && self.leaves.len() >= self.max_leaves as usize {
            return None;
        }
        let number = (page >> LEAF_BITS) as u32;
        let made = make(LeafId { space, number }, self.is_long);
        let (node, index) = Mapping::split(page);
        let directory = &mut self.directories[space as usize];
        if directory.len() <= node {
            directory.resize(node + 1, NIL);
        }
        if directory[node] == NIL {
            directory[node] = self.nodes.len() as u32;
            self.nodes.push(Block::new([NIL; NODE]));
        }
        let leaf = self.free_leaves.pop().unwrap_or_else(|| {
            self.leaves.push(Leaf::free());
            self.leaves.len() as u32 - 1
        });
        self.leaves[leaf as usize] = made;
        self.nodes[directory[node] as usize][index] = leaf;
        Some(leaf)
    }

    /// Frees a leaf that maps nothing.
    fn remove_leaf(&mut self, leaf: u32) {
        let LeafId { space, number } = self.leaves[leaf as usize].id();
        let (node, index) = Mapping::split(u64::from(number) << LEAF_BITS);
        let node = self.directories[space as usize][node];
        self.nodes[node as usize][index] = NIL;
        self.leaves[leaf as usize] = Leaf::free();
        self.free_leaves.push(leaf);
    }

    #[inline(always)]
    pub(crate) fn get(&self, index: MapIndex) -> Entry {
        self.leaves[index.leaf()].get(index.offset())
    }

    /// The entry of a page.
    #[inline(always)]
    pub(crate) fn entry(&self, space: u32, page: u64) -> Entry {
        match self.find(space, page) {
            Some(index) => self.get(index),
            None => Entry::Unmapped,
        }
    }

    /// The leaf of an entry will be used soon, if it is one.
    #[inline]
    pub(crate) fn prefetch_leaf(&self, index: MapIndex) {
        if let Some(leaf) = self.leaves.get(index.leaf()) {
            prefetch(leaf);
        }
    }

    /// An entry will be used soon, if it is one.
    #[inline]
    pub(crate) fn prefetch(&self, index: MapIndex) {
        if let Some(leaf) = self.leaves.get(index.leaf()) {
            leaf.prefetch(index.offset());
        }
    }

    /// The logical page of an entry whose leaf exists: its space and its number.
    pub(crate) fn logical(&self, index: MapIndex) -> (u32, u64) {
        let LeafId { space, number } = self.leaves[index.leaf()].id();
        let first = u64::from(number) << LEAF_BITS;
        (space, first + index.offset() as u64)
    }

    /// The space of an entry whose leaf exists.
    #[inline]
    pub(crate) fn space_of(&self, index: MapIndex) -> u32 {
        self.leaves[index.leaf()].id().space
    }

    pub(crate) fn set(&mut self, index: MapIndex, entry: Entry) {
        self.change(index, self.get(index), entry);
    }

    /// Sets an entry that is known to be `before`.
    pub(crate) fn change(&mut self, index: MapIndex, before: Entry, entry: Entry) {
        debug_assert!(entry != Entry::Unmapped, "unmapping goes through replace");
        let leaf = &mut self.leaves[index.leaf()];
        leaf.change(index.offset(), before, entry);
        if before == Entry::Unmapped {
            self.mapped[leaf.id().space as usize] += 1;
        }
        self.queue_sequential(index.leaf());
    }

    /// Puts different pages that are in the buffer on flash, those of a leaf that follow each other at once.
    #[inline]
    pub(crate) fn program(&mut self, indices: &[MapIndex], numbers: &[Ppn]) {
        self.prefetch_all(indices.iter().copied());
        let mut done = 0;
        while let Some(&first) = indices.get(done) {
            let end = done + first.consecutive(&indices[done..]);
            let leaf = &mut self.leaves[first.leaf()];
            leaf.program(first.offset(), &numbers[done..end]);
            self.queue_sequential(first.leaf());
            done = end;
        }
    }

    /// Entries will be used now: one need not wait for the other's memory.
    #[inline]
    pub(crate) fn prefetch_all(&self, indices: impl Iterator<Item = MapIndex>) {
        indices.for_each(|index| self.prefetch(index));
    }

    /// Pages from one on that are not mapped, all of one leaf.
    pub(crate) fn unmapped_at(&self, index: MapIndex, most: usize) -> usize {
        self.leaves[index.leaf()].unmapped(index.offset(), most)
    }

    /// Puts pages that are not mapped, from one on and all of one leaf, into slots of the buffer.
    #[inline]
    pub(crate) fn buffer(&mut self, first: MapIndex, slots: &[u32]) {
        let leaf = &mut self.leaves[first.leaf()];
        let was_sequential = leaf.buffer(first.offset(), slots);
        self.mapped[leaf.id().space as usize] += slots.len() as u64;
        // As if the pages came one by one.
        if was_sequential && !leaf.queued {
            self.queue(first.leaf());
        }
    }

    /// Maps pages of one leaf, one after the other, to these numbers; nothing was mapped there.
    /// False when the memory limit is met.
    pub(crate) fn fill(&mut self, space: u32, page: u64, numbers: &[Ppn]) -> bool {
        if let Ok(numbers) = <&[Ppn; LEAF]>::try_from(numbers) {
            if self.leaf(space, page).is_none() {
                let make = |id, is_long| Leaf::of_numbers(id, is_long, numbers);
                let made = self.insert_leaf(space, page, make).is_some();
                self.mapped[space as usize] += if made { LEAF as u64 } else { 0 };
                return made;
            }
        }
        (page..).zip(numbers).all(|(page, &number)| {
            let index = self.find_or_make(space, page);
            if let Some(index) = index {
                self.set(index, Entry::Flash(number));
            }
            index.is_some()
        })
    }

    /// Queues a leaf to be compacted if that makes it smaller.
    #[inline]
    fn queue_sequential(&mut self, index: usize) {
        let leaf = &self.leaves[index];
        if leaf.is_sequential() && !leaf.queued {
            self.queue(index);
        }
    }

    /// Queues a leaf to be compacted when many others have been written.
    fn queue(&mut self, index: usize) {
        self.leaves[index].queued = true;
        self.recent.push_back(index as u32);
        for _ in 0..COMPACT_ATTEMPTS {
            if self.recent.len() <= RECENT_LEAVES {
                return;
            }
            if let Some(index) = self.recent.pop_front() {
                self.compact(index);
            }
        }
    }

    /// Makes a leaf one of runs, unless it is not sequential any more, and later if it is buffered.
    fn compact(&mut self, index: u32) {
        let leaf = &mut self.leaves[index as usize];
        if !leaf.queued {
            return; // freed since, and perhaps used again
        }
        leaf.queued = leaf.is_sequential() && leaf.counts.buffered > 0;
        if leaf.queued {
            self.recent.push_back(index);
        } else if leaf.is_sequential() {
            self.scratch.clear();
            self.scratch.extend(leaf.runs(0, LEAF));
            *leaf = Leaf::of_runs(leaf.id(), self.is_long, &self.scratch);
        }
    }

    /// Maps `pages` pages to consecutive numbers from `first` on, or to nothing, and tells what
    /// they were mapped to. Stops at the end of a leaf; returns how many pages were done, none
    /// when the memory limit is met.
    pub(crate) fn replace(
        &mut self,
        space: u32,
        page: u64,
        pages: u64,
        first: Option<Ppn>,
        replaced: &mut Vec<EntryRun>,
    ) -> u64 {
        let offset = page as usize & (LEAF - 1);
        let pages = pages.min((LEAF - offset) as u64);
        let end = offset + pages as usize;
        let entry = first.map_or(Entry::Unmapped, Entry::Flash);
        let run = |entry, pages: usize| EntryRun {
            entry,
            pages: pages as u32,
        };
        let new = run(entry, pages as usize);
        let Some(index) = self.leaf(space, page) else {
            replaced.push(run(Entry::Unmapped, pages as usize));
            if first.is_none() {
                return pages;
            }
            let before = run(Entry::Unmapped, offset);
            let after = run(Entry::Unmapped, LEAF - end);
            let make = |id, is_long| Leaf::of_runs(id, is_long, &[before, new, after]);
            let done = self.insert_leaf(space, page, make).map_or(0, |_| pages);
            self.mapped[space as usize] += done;
            return done;
        };
        let leaf = &mut self.leaves[index as usize];
        let before = replaced.len();
        replaced.extend(leaf.runs(offset, pages as usize));
        let mapped = |runs: &[EntryRun]| -> u64 {
            let mapped = runs.iter().filter(|run| run.entry != Entry::Unmapped);
            mapped.map(|run| u64::from(run.pages)).sum()
        };
        let of_space = &mut self.mapped[space as usize];
        *of_space = *of_space + mapped(&[new]) - mapped(&replaced[before..]);
        if leaf.is_dense() && (pages as usize) < LEAF {
            for page in 0..pages as u32 {
                leaf.set(offset + page as usize, entry.plus(page));
            }
            if leaf.counts.mapped == 0 {
                self.remove_leaf(index);
            } else {
                self.queue_sequential(index as usize);
            }
        } else {
            self.scratch.clear();
            self.scratch.extend(leaf.runs(0, offset));
            self.scratch.push(new);
            self.scratch.extend(leaf.runs(end, LEAF - end));
            if mapped(&self.scratch) == 0 {
                self.remove_leaf(index);
            } else {
                *leaf = Leaf::of_runs(leaf.id(), self.is_long, &self.scratch);
            }
        }
        pages
    }

    /// The runs of consecutive pages; those that no leaf maps are one, which may be far larger.
    #[inline]
    pub(crate) fn for_each_run_in(
        &self,
        space: u32,
        first: u64,
        end: u64,
        mut visit: impl FnMut(Entry, u64),
    ) {
        let mut page = first;
        while page < end {
            if let Some(index) = self.find(space, page) {
                let pages = (end - page).min((LEAF - index.offset()) as u64);
                for run in self.runs_at(index, pages as u32) {
                    visit(run.entry, u64::from(run.pages));
                }
                page += pages;
            } else {
                let present = self.next_present(space, page, end).unwrap_or(end);
                visit(Entry::Unmapped, present - page);
                page = present;
            }
        }
    }

    /// The first pages from `first` on, one after the other, that are not mapped, below `end`.
    pub(crate) fn next_unmapped(&self, space: u32, first: u64, end: u64) -> Option<Range<u64>> {
        let (mut from, mut page) = (None, first);
        while page < end {
            let pages = match self.find(space, page) {
                Some(index) => {
                    let pages = (end - page).min((LEAF - index.offset()) as u64);
                    let mut at = page;
                    for run in self.runs_at(index, pages as u32) {
                        match (run.entry, from) {
                            (Entry::Unmapped, None) => from = Some(at),
                            (Entry::Unmapped, Some(_)) | (_, None) => {}
                            (_, Some(from)) => return Some(from..at),
                        }
                        at += u64::from(run.pages);
                    }
                    pages
                }
                None => {
                    from.get_or_insert(page);
                    self.next_present(space, page, end).unwrap_or(end) - page
                }
            };
            page += pages;
        }
        from.map(|from| from..end)
    }

    /// The runs of consecutive pages from one on, all of one leaf.
    #[inline]
    pub(crate) fn runs_at(&self, index: MapIndex, pages: u32) -> impl Iterator<Item = EntryRun> {
        self.leaves[index.leaf()].runs(index.offset(), pages as usize)
    }

    /// The next page from `page` on whose leaf exists, below `end`: skips holes quickly.
    pub(crate) fn next_present(&self, space: u32, page: u64, end: u64) -> Option<u64> {
        let directory = &self.directories[space as usize];
        let mut page = page;
        while page < end {
            let (node, _) = Mapping::split(page);
            let skip_bits = match directory.get(node) {
                None => return None,
                Some(&NIL) => LEAF_BITS + NODE_BITS,
                Some(_) if self.leaf(space, page).is_none() => LEAF_BITS,
                Some(_) => return Some(page),
            };
            page = ((page >> skip_bits) + 1) << skip_bits;
        }
        None
    }

    /// Runs of pages on flash, with the index of the first page; the others' follow it. Of what was
    /// written at random, only the runs whose first number is `wanted`, which nothing is that is no
    /// page's number; what else is mapped is passed over quickly.
    #[inline]
    pub(crate) fn for_each_flash_run(
        &self,
        wanted: impl Fn(Ppn) -> bool + Copy,
        mut visit: impl FnMut(MapIndex, Ppn, u32),
    ) {
        for (index, leaf) in (0..).zip(&self.leaves) {
            leaf.for_each_flash_run(wanted, |offset, first, pages| {
                visit(MapIndex::new(index, offset), first, pages);
            });
        }
    }

    /// Every run, with the index of its first page.
    #[inline]
    pub(crate) fn for_each_run(&self, mut visit: impl FnMut(MapIndex, EntryRun)) {
        for (index, leaf) in (0..).zip(&self.leaves) {
            let mut offset = 0;
            for run in leaf.runs(0, LEAF) {
                visit(MapIndex::new(index, offset), run);
                offset += run.pages as usize;
            }
        }
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        let directories = self.directories.iter().map(|nodes| nodes.capacity() * 4);
        let nodes = self.nodes.len() * size_of::<[u32; NODE]>()
            + self.nodes.capacity() * size_of::<Block<[u32; NODE]>>();
        let leaves: usize = self.leaves.iter().map(Leaf::bytes).sum();
        let tables = self.leaves.capacity() * size_of::<Leaf>()
            + (self.free_leaves.capacity() + self.recent.capacity()) * 4;
        (directories.sum::<usize>() + nodes + leaves + tables) as u64
    }
}
