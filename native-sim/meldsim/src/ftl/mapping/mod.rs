//! Where each logical page is: a sparse table that costs what is written.
//!
//! A namespace is a two-level directory of leaves of 1024 entries each. Directory nodes and leaves
//! exist only where something is mapped, and a leaf that is at rest and was written sequentially
//! holds runs instead of entries. An entry is found once, by namespace and page, and then known by
//! its *place* (leaf and offset), which is what buffer slots remember.
//!
//! There is no table of the other direction: garbage collection inverts this one for many blocks at
//! a time (`invert.rs`).

mod leaf;
mod runs;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use self::leaf::{Home, LEAF_BITS, Leaf};
pub(crate) use self::leaf::{LEAF, Run};
use super::numbering::Ppn;
use crate::engine::{NIL, prefetch};
use crate::profile::limits::{MAPPING_BYTES_PER_PAGE, PPN_LIMIT};

const NODE_BITS: u32 = 10;
const NODE: usize = 1 << NODE_BITS;
/// Leaves that keep the dense form for a while after they were written sequentially: more than are
/// being written at one time, and little memory.
const RECENT_LEAVES: usize = 1024;
/// Leaves looked at when one more becomes recent: some have pages in the buffer and cannot rest yet.
const SETTLE_ATTEMPTS: usize = 4;

/// Bounds the first directory level to a few MiB.
pub(crate) const MAX_NAMESPACE_PAGES: u64 = 1 << 40;

/// Where a logical page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Unmapped,
    /// In this slot of the write buffer.
    Buffered(u32),
    Flash(Ppn),
}

impl Entry {
    /// The entry `pages` further in a run.
    #[inline]
    pub(crate) fn plus(self, pages: u32) -> Entry {
        match self {
            Entry::Flash(first) => Entry::Flash(Ppn(first.0 + pages)),
            other => other,
        }
    }
}

/// An entry as it is stored: page numbers from below, then slots, and nothing at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Raw(u32);

impl Raw {
    const UNMAPPED: Raw = Raw(u32::MAX);
    const FIRST_SLOT: u32 = PPN_LIMIT as u32;

    #[inline]
    fn new(entry: Entry) -> Raw {
        match entry {
            Entry::Unmapped => Raw::UNMAPPED,
            Entry::Buffered(slot) => Raw(Raw::FIRST_SLOT + slot),
            Entry::Flash(ppn) => Raw(ppn.0),
        }
    }

    #[inline]
    fn entry(self) -> Entry {
        if self.0 < Raw::FIRST_SLOT {
            Entry::Flash(Ppn(self.0))
        } else if self == Raw::UNMAPPED {
            Entry::Unmapped
        } else {
            Entry::Buffered(self.0 - Raw::FIRST_SLOT)
        }
    }

    #[inline]
    fn is_slot(self) -> bool {
        self.0 >= Raw::FIRST_SLOT && self != Raw::UNMAPPED
    }

    /// Whether it goes on where `before` ends, in one run.
    #[inline]
    fn follows(self, before: Raw) -> bool {
        // Without branches: the host's writes decide them.
        let (number, after) = (self.0, before.0.wrapping_add(1));
        (number == after) & (number < Raw::FIRST_SLOT) & (after != 0)
            | (number & before.0 == Raw::UNMAPPED.0)
    }
}

/// A place in the mapping: which entry of which leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place(pub(crate) u32);

impl Place {
    /// No place.
    pub(crate) const NONE: Place = Place(NIL);

    #[inline]
    fn new(leaf: u32, offset: usize) -> Place {
        Place((leaf << LEAF_BITS) | offset as u32)
    }

    /// Whether these are places of its leaf, one after the other from this one on.
    #[inline]
    pub(crate) fn goes_on(self, places: &[Place]) -> bool {
        let follows = |(expected, place): (u32, &Place)| place.0 == expected;
        self.offset() + places.len() <= LEAF && (self.0..).zip(places).all(follows)
    }

    #[inline]
    pub(crate) fn leaf(self) -> usize {
        (self.0 >> LEAF_BITS) as usize
    }

    #[inline]
    fn offset(self) -> usize {
        self.0 as usize & (LEAF - 1)
    }
}

/// The first directory level of a namespace; grows to the highest page written.
#[derive(Debug, Default)]
struct Directory {
    nodes: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct Mapping {
    directories: Vec<Directory>,
    nodes: Vec<Box<[u32; NODE]>>,
    leaves: Vec<Leaf>,
    free_leaves: Vec<u32>,
    /// Dense leaves that are sequential, oldest first: they become runs when they leave it.
    recent: VecDeque<u32>,
    max_leaves: u32,
    mapped: u64,
    /// Reused by what changes several entries.
    scratch: Vec<Run>,
}

impl Mapping {
    /// A mapping that may take `bytes` of memory, and two leaves at least: a tiny device's data may
    /// lie across a boundary. Sparse writes cost a leaf each, so a pathological host meets the
    /// limit before the flash is full.
    pub(crate) fn new(bytes: u64) -> Mapping {
        let leaves = bytes / (LEAF as u64 * MAPPING_BYTES_PER_PAGE);
        Mapping {
            directories: Vec::new(),
            nodes: Vec::new(),
            leaves: Vec::new(),
            free_leaves: Vec::new(),
            recent: VecDeque::new(),
            max_leaves: leaves.clamp(2, (1 << (32 - LEAF_BITS)) - 1) as u32,
            mapped: 0,
            scratch: Vec::new(),
        }
    }

    /// Adds an empty address space and returns its number.
    pub(crate) fn add_space(&mut self) -> u32 {
        self.directories.push(Directory::default());
        (self.directories.len() - 1) as u32
    }

    /// Pages that are mapped.
    pub(crate) fn mapped(&self) -> u64 {
        self.mapped
    }

    #[inline]
    fn split(page: u64) -> (usize, usize, usize) {
        let leaf = page >> LEAF_BITS;
        (
            (leaf >> NODE_BITS) as usize,
            leaf as usize & (NODE - 1),
            page as usize & (LEAF - 1),
        )
    }

    #[inline]
    fn leaf(&self, space: u32, page: u64) -> Option<u32> {
        let (node, index, _) = Mapping::split(page);
        let node = *self.directories[space as usize].nodes.get(node)?;
        if node == NIL {
            return None;
        }
        let leaf = self.nodes[node as usize][index];
        (leaf != NIL).then_some(leaf)
    }

    /// The place of a page, if its leaf exists.
    #[inline]
    pub(crate) fn find(&self, space: u32, page: u64) -> Option<Place> {
        let leaf = self.leaf(space, page)?;
        Some(Place::new(leaf, page as usize & (LEAF - 1)))
    }

    /// The place of a page; its leaf is made if need be, within the memory limit.
    pub(crate) fn find_or_make(&mut self, space: u32, page: u64) -> Option<Place> {
        let leaf = match self.leaf(space, page) {
            Some(leaf) => leaf,
            None => self.insert_leaf(space, page, Leaf::empty)?,
        };
        Some(Place::new(leaf, page as usize & (LEAF - 1)))
    }

    /// Makes the leaf of a page that has none.
    fn insert_leaf(
        &mut self,
        space: u32,
        page: u64,
        make: impl FnOnce(Home) -> Leaf,
    ) -> Option<u32> {
        if self.free_leaves.is_empty() && self.leaves.len() >= self.max_leaves as usize {
            return None;
        }
        let made = make(Home {
            space,
            number: (page >> LEAF_BITS) as u32,
        });
        let (node, index, _) = Mapping::split(page);
        let directory = &mut self.directories[space as usize].nodes;
        if directory.len() <= node {
            directory.resize(node + 1, NIL);
        }
        if directory[node] == NIL {
            directory[node] = self.nodes.len() as u32;
            self.nodes.push(Box::new([NIL; NODE]));
        }
        let leaf = match self.free_leaves.pop() {
            Some(leaf) => {
                self.leaves[leaf as usize] = made;
                leaf
            }
            None => {
                self.leaves.push(made);
                (self.leaves.len() - 1) as u32
            }
        };
        self.nodes[directory[node] as usize][index] = leaf;
        Some(leaf)
    }

    /// Frees a leaf that maps nothing.
    fn remove_leaf(&mut self, leaf: u32) {
        let Home { space, number } = self.leaves[leaf as usize].home();
        let (node, index, _) = Mapping::split(u64::from(number) << LEAF_BITS);
        let node = self.directories[space as usize].nodes[node];
        self.nodes[node as usize][index] = NIL;
        self.leaves[leaf as usize] = Leaf::free();
        self.free_leaves.push(leaf);
    }

    #[inline]
    pub(crate) fn get(&self, place: Place) -> Entry {
        self.leaves[place.leaf()].get(place.offset())
    }

    /// The entry of a place will be looked at in a while.
    #[inline]
    pub(crate) fn prefetch_leaf(&self, place: Place) {
        prefetch(&self.leaves[place.leaf()]);
    }

    /// The entry of a place will be looked at soon.
    #[inline]
    pub(crate) fn prefetch(&self, place: Place) {
        self.leaves[place.leaf()].prefetch(place.offset());
    }

    /// The logical page at a place whose leaf exists: its space and its number.
    pub(crate) fn logical(&self, place: Place) -> (u32, u64) {
        let Home { space, number } = self.leaves[place.leaf()].home();
        let first = u64::from(number) << LEAF_BITS;
        (space, first + place.offset() as u64)
    }

    #[inline]
    pub(crate) fn set(&mut self, place: Place, entry: Entry) {
        self.set_all([(place, entry)].into_iter());
    }

    /// Sets the entries of different places. What they are is found out for several at a time, for
    /// one need not wait for the other's memory.
    #[inline]
    pub(crate) fn set_all(&mut self, mut entries: impl Iterator<Item = (Place, Entry)>) {
        const AT_ONCE: usize = 4;
        let mut found = [(Place::NONE, Raw::UNMAPPED, Raw::UNMAPPED); AT_ONCE];
        loop {
            let mut count = 0;
            for (found, (place, entry)) in found.iter_mut().zip(entries.by_ref()) {
                debug_assert!(entry != Entry::Unmapped, "unmapping goes through replace");
                let before = self.leaves[place.leaf()].raw(place.offset());
                *found = (place, before, Raw::new(entry));
                count += 1;
            }
            for &(place, before, raw) in &found[..count] {
                self.change_raw(place, before, raw);
            }
            if count < AT_ONCE {
                return;
            }
        }
    }

    /// Sets an entry that is known to be `before`.
    #[inline]
    pub(crate) fn change(&mut self, place: Place, before: Entry, entry: Entry) {
        debug_assert!(entry != Entry::Unmapped, "unmapping goes through replace");
        self.change_raw(place, Raw::new(before), Raw::new(entry));
    }

    #[inline]
    fn change_raw(&mut self, place: Place, before: Raw, raw: Raw) {
        let leaf = &mut self.leaves[place.leaf()];
        leaf.change(place.offset(), before, raw);
        self.mapped += u64::from(before == Raw::UNMAPPED);
        if leaf.is_sequential() && !leaf.queued {
            self.queue(place.leaf() as u32);
        }
    }

    /// Puts pages that are in the buffer, from a place on and all of one leaf, on flash.
    #[inline]
    pub(crate) fn program(&mut self, first: Place, numbers: impl ExactSizeIterator<Item = Ppn>) {
        let leaf = &mut self.leaves[first.leaf()];
        leaf.program(first.offset(), numbers);
        if leaf.is_sequential() && !leaf.queued {
            self.queue(first.leaf() as u32);
        }
    }

    /// Pages from a place on that are not mapped, all of one leaf.
    #[inline]
    pub(crate) fn unmapped_at(&self, place: Place, most: usize) -> usize {
        self.leaves[place.leaf()].unmapped(place.offset(), most)
    }

    /// Puts pages that are not mapped, from a place on and all of one leaf, into slots of the buffer.
    #[inline]
    pub(crate) fn buffer(&mut self, first: Place, slots: &[u32]) {
        let leaf = &mut self.leaves[first.leaf()];
        let was_sequential = leaf.buffer(first.offset(), slots);
        self.mapped += slots.len() as u64;
        // As if the pages came one by one.
        if was_sequential && !leaf.queued {
            self.queue(first.leaf() as u32);
        }
    }

    /// The dense leaf is sequential: it may come to rest when many others have been written.
    fn queue(&mut self, leaf: u32) {
        self.leaves[leaf as usize].queued = true;
        self.recent.push_back(leaf);
        self.settle();
    }

    /// Maps pages of one leaf, one after the other, to these numbers; nothing was mapped there.
    /// False when the memory limit is met.
    pub(crate) fn fill(&mut self, space: u32, page: u64, numbers: &[Ppn]) -> bool {
        if let Ok(numbers) = <&[Ppn; LEAF]>::try_from(numbers) {
            if self.leaf(space, page).is_none() {
                let make = |home| Leaf::of_numbers(home, numbers);
                let made = self.insert_leaf(space, page, make).is_some();
                self.mapped += if made { LEAF as u64 } else { 0 };
                return made;
            }
        }
        (page..).zip(numbers).all(|(page, &number)| {
            let place = self.find_or_make(space, page);
            if let Some(place) = place {
                self.set(place, Entry::Flash(number));
            }
            place.is_some()
        })
    }

    /// Lets leaves come to rest when there are too many recent ones.
    fn settle(&mut self) {
        for _ in 0..SETTLE_ATTEMPTS {
            if self.recent.len() <= RECENT_LEAVES {
                return;
            }
            if let Some(index) = self.recent.pop_front() {
                self.settle_leaf(index);
            }
        }
    }

    fn settle_leaf(&mut self, index: u32) {
        let leaf = &mut self.leaves[index as usize];
        if !leaf.queued {
            return; // freed since, and perhaps used again
        }
        leaf.queued = false;
        // set() queues those again that become sequential later.
        if leaf.is_sequential() && leaf.is_buffered() {
            leaf.queued = true;
            self.recent.push_back(index);
        } else if leaf.is_sequential() {
            self.scratch.clear();
            self.scratch.extend(leaf.runs(0, LEAF));
            *leaf = Leaf::of_runs(leaf.home(), &self.scratch);
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
        replaced: &mut Vec<Run>,
    ) -> u64 {
        let offset = page as usize & (LEAF - 1);
        let pages = pages.min((LEAF - offset) as u64);
        let entry = first.map_or(Entry::Unmapped, Entry::Flash);
        let new = Run {
            entry,
            pages: pages as u32,
        };
        let Some(index) = self.leaf(space, page) else {
            replaced.push(Run {
                entry: Entry::Unmapped,
                ..new
            });
            if first.is_none() {
                return pages;
            }
            let runs = [(offset, Entry::Unmapped), (pages as usize, entry), {
                (LEAF - offset - pages as usize, Entry::Unmapped)
            }];
            let runs = runs.map(|(pages, entry)| Run {
                entry,
                pages: pages as u32,
            });
            let runs: Vec<Run> = runs.into_iter().filter(|run| run.pages > 0).collect();
            let made = self.insert_leaf(space, page, |home| Leaf::of_runs(home, &runs));
            self.mapped += if made.is_some() { pages } else { 0 };
            return made.map_or(0, |_| pages);
        };
        let leaf = &mut self.leaves[index as usize];
        let before = replaced.len();
        replaced.extend(leaf.runs(offset, pages as usize));
        let mapped = |runs: &[Run]| -> u64 {
            let mapped = runs.iter().filter(|run| run.entry != Entry::Unmapped);
            mapped.map(|run| u64::from(run.pages)).sum()
        };
        self.mapped -= mapped(&replaced[before..]);
        self.mapped += if first.is_some() { pages } else { 0 };
        if leaf.is_dense() && (pages as usize) < LEAF {
            for page in 0..pages as u32 {
                leaf.set(offset + page as usize, Raw::new(entry.plus(page)));
            }
            if leaf.is_empty() {
                self.remove_leaf(index);
            } else if leaf.is_sequential() && !leaf.queued {
                self.queue(index);
            }
        } else {
            let end = offset + pages as usize;
            self.scratch.clear();
            self.scratch.extend(leaf.runs(0, offset));
            self.scratch.push(new);
            self.scratch.extend(leaf.runs(end, LEAF - end));
            if mapped(&self.scratch) == 0 {
                self.remove_leaf(index);
            } else {
                *leaf = Leaf::of_runs(leaf.home(), &self.scratch);
            }
        }
        pages
    }

    /// The runs of consecutive pages from `page`, as far as one leaf reaches; `None` where there is
    /// no leaf. With it the number of pages covered, at most `limit`.
    #[inline]
    pub(crate) fn runs(
        &self,
        space: u32,
        page: u64,
        limit: u64,
    ) -> (Option<impl Iterator<Item = Run>>, u64) {
        let offset = page as usize & (LEAF - 1);
        let count = limit.min((LEAF - offset) as u64);
        let leaf = self.leaf(space, page);
        let runs = leaf.map(|leaf| self.leaves[leaf as usize].runs(offset, count as usize));
        (runs, count)
    }

    /// The runs of consecutive pages from that of a place on, all of one leaf.
    #[inline]
    pub(crate) fn runs_at(&self, place: Place, pages: u32) -> impl Iterator<Item = Run> {
        self.leaves[place.leaf()].runs(place.offset(), pages as usize)
    }

    /// The next page from `page` on whose leaf exists, below `end`: skips holes quickly.
    pub(crate) fn next_present(&self, space: u32, page: u64, end: u64) -> Option<u64> {
        let directory = &self.directories[space as usize].nodes;
        let mut page = page;
        while page < end {
            let (node, _, _) = Mapping::split(page);
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

    /// Runs of pages on flash, with the place of the first page; the others' follow it. Of what was
    /// written at random, only the runs whose first number is `wanted`, which nothing is that is no
    /// page's number; what else is mapped is passed over quickly.
    #[inline]
    pub(crate) fn for_each_flash_run(
        &self,
        wanted: impl Fn(Ppn) -> bool,
        mut visit: impl FnMut(Place, Ppn, u32),
    ) {
        for (index, leaf) in (0..).zip(&self.leaves) {
            leaf.for_each_flash_run(&wanted, |offset, first, pages| {
                visit(Place::new(index, offset), first, pages);
            });
        }
    }

    /// Every run, with the place of its first page.
    #[inline]
    pub(crate) fn for_each_run(&self, mut visit: impl FnMut(Place, Run)) {
        for (index, leaf) in (0..).zip(&self.leaves) {
            let mut offset = 0;
            for run in leaf.runs(0, LEAF) {
                visit(Place::new(index, offset), run);
                offset += run.pages as usize;
            }
        }
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        let directories = self.directories.iter().map(|d| d.nodes.capacity() * 4);
        let nodes = self.nodes.len() * size_of::<[u32; NODE]>()
            + self.nodes.capacity() * size_of::<Box<[u32; NODE]>>();
        let leaves: usize = self.leaves.iter().map(Leaf::bytes).sum();
        let tables = self.leaves.capacity() * size_of::<Leaf>()
            + (self.free_leaves.capacity() + self.recent.capacity()) * 4;
        (directories.sum::<usize>() + nodes + leaves + tables) as u64
    }
}
