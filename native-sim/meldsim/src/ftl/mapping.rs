//! Where each logical page is: a sparse table that costs what is written.
//!
//! A namespace is a two-level directory of leaves of 1024 entries each. Directory nodes and leaves
//! exist only where something is mapped. An entry is found once, by namespace and page, and then
//! known by its *place* (leaf and offset), which is what flash pages and buffer slots remember.

use super::buffer::MAX_SLOTS;
use crate::engine::NIL;
use crate::nand::Ppa;

const LEAF_BITS: u32 = 10;
const LEAF: usize = 1 << LEAF_BITS;
const NODE_BITS: u32 = 10;
const NODE: usize = 1 << NODE_BITS;
const UNMAPPED: u32 = u32::MAX;
/// Entries from here on are buffer slots.
const FIRST_SLOT: u32 = u32::MAX - MAX_SLOTS;

/// Physical pages must be numbered below this.
pub(crate) const PPA_LIMIT: u64 = FIRST_SLOT as u64;
/// A full mapping: an entry here and the entry's place in the block's table.
pub(crate) const MAPPING_BYTES_PER_PAGE: u64 = 8;
/// Bounds the first directory level to a few MiB.
pub(crate) const MAX_NAMESPACE_PAGES: u64 = 1 << 40;

/// Where a logical page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Unmapped,
    /// In this slot of the write buffer.
    Buffered(u32),
    Flash(Ppa),
}

impl Entry {
    #[inline]
    fn from_raw(raw: u32) -> Entry {
        if raw < FIRST_SLOT {
            Entry::Flash(Ppa(raw))
        } else if raw == UNMAPPED {
            Entry::Unmapped
        } else {
            Entry::Buffered(raw - FIRST_SLOT)
        }
    }

    #[inline]
    fn to_raw(self) -> u32 {
        match self {
            Entry::Unmapped => UNMAPPED,
            Entry::Buffered(slot) => FIRST_SLOT + slot,
            Entry::Flash(ppa) => ppa.0,
        }
    }
}

/// A place in the mapping: which entry of which leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place(pub(crate) u32);

impl Place {
    /// No place.
    pub(crate) const NONE: Place = Place(NIL);
}

#[derive(Debug)]
struct Leaf {
    entries: [u32; LEAF],
    mapped: u32,
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
    leaves: Vec<Box<Leaf>>,
    free_leaves: Vec<u32>,
    max_leaves: u32,
    mapped: u64,
}

impl Mapping {
    /// A mapping that may take `bytes` of memory, and two leaves at least: a tiny device's data may
    /// lie across a boundary. Sparse writes cost a leaf each, so a pathological host meets the
    /// limit before the flash is full.
    pub(crate) fn new(bytes: u64) -> Mapping {
        let leaves = bytes / (LEAF as u64 * MAPPING_BYTES_PER_PAGE / 2);
        Mapping {
            directories: Vec::new(),
            nodes: Vec::new(),
            leaves: Vec::new(),
            free_leaves: Vec::new(),
            max_leaves: leaves.clamp(2, (1 << (32 - LEAF_BITS)) - 1) as u32,
            mapped: 0,
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
        Some(Place(
            (leaf << LEAF_BITS) | (page as u32 & (LEAF as u32 - 1)),
        ))
    }

    /// The place of a page; its leaf is made if need be, within the memory limit.
    pub(crate) fn find_or_make(&mut self, space: u32, page: u64) -> Option<Place> {
        if let Some(place) = self.find(space, page) {
            return Some(place);
        }
        if self.free_leaves.is_empty() && self.leaves.len() >= self.max_leaves as usize {
            return None;
        }
        let (node, index, offset) = Mapping::split(page);
        let directory = &mut self.directories[space as usize].nodes;
        if directory.len() <= node {
            directory.resize(node + 1, NIL);
        }
        if directory[node] == NIL {
            directory[node] = self.nodes.len() as u32;
            self.nodes.push(Box::new([NIL; NODE]));
        }
        let leaf = match self.free_leaves.pop() {
            Some(leaf) => leaf,
            None => {
                self.leaves.push(Box::new(Leaf {
                    entries: [UNMAPPED; LEAF],
                    mapped: 0,
                }));
                (self.leaves.len() - 1) as u32
            }
        };
        self.nodes[directory[node] as usize][index] = leaf;
        Some(Place((leaf << LEAF_BITS) | offset as u32))
    }

    #[inline]
    pub(crate) fn get(&self, place: Place) -> Entry {
        let leaf = &self.leaves[(place.0 >> LEAF_BITS) as usize];
        Entry::from_raw(leaf.entries[place.0 as usize & (LEAF - 1)])
    }

    #[inline]
    pub(crate) fn set(&mut self, place: Place, entry: Entry) {
        debug_assert!(entry != Entry::Unmapped, "unmapping goes through unmap");
        let leaf = &mut self.leaves[(place.0 >> LEAF_BITS) as usize];
        let raw = &mut leaf.entries[place.0 as usize & (LEAF - 1)];
        if *raw == UNMAPPED {
            leaf.mapped += 1;
            self.mapped += 1;
        }
        *raw = entry.to_raw();
    }

    /// Unmaps a page and frees its leaf with the last one.
    pub(crate) fn unmap(&mut self, space: u32, page: u64) -> Entry {
        let Some(place) = self.find(space, page) else {
            return Entry::Unmapped;
        };
        let leaf_index = place.0 >> LEAF_BITS;
        let leaf = &mut self.leaves[leaf_index as usize];
        let raw = &mut leaf.entries[place.0 as usize & (LEAF - 1)];
        let entry = Entry::from_raw(*raw);
        if entry != Entry::Unmapped {
            *raw = UNMAPPED;
            leaf.mapped -= 1;
            self.mapped -= 1;
            if leaf.mapped == 0 {
                let (node, index, _) = Mapping::split(page);
                let node = self.directories[space as usize].nodes[node];
                self.nodes[node as usize][index] = NIL;
                self.free_leaves.push(leaf_index);
            }
        }
        entry
    }

    /// The entries of consecutive pages from `page`, as far as one leaf reaches; `None` where
    /// there is no leaf. With it the number of pages covered, at most `limit`.
    #[inline]
    pub(crate) fn entries(
        &self,
        space: u32,
        page: u64,
        limit: u64,
    ) -> (Option<impl Iterator<Item = Entry>>, u64) {
        let offset = page as usize & (LEAF - 1);
        let count = limit.min((LEAF - offset) as u64);
        let entries = self.leaf(space, page).map(|leaf| {
            let entries = &self.leaves[leaf as usize].entries;
            entries[offset..offset + count as usize]
                .iter()
                .map(|&raw| Entry::from_raw(raw))
        });
        (entries, count)
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
}
