//! The history of reads: how data has been read since it was written, which garbage collection re-decides
//! the layout by.
//!
//! In come reads and writes of pages, out goes the layout that suits them. It is kept for each leaf of the
//! mapping, 1024 pages, in eight bytes: 2 MiB for a TiB of 4 KiB pages.

use super::mapping::{LEAF, Mapping};
use super::stream::Layout;

/// Pages of a leaf. As many pages written anew make its history stale.
const LEAF_PAGES: u16 = LEAF as u16;
/// A read of this many pages is sequential by itself, whatever was read before.
const LONG_READ_PAGES: u16 = 32;
/// Below this many pages read, nothing is said.
const MIN_PAGES: u32 = 64;
/// How far one kind of read must outweigh the other.
const MAJORITY: u32 = 4;

#[derive(Clone, Copy, Debug, Default)]
struct LeafReads {
    /// The page that would continue the last read.
    next: u16,
    /// Pages written since the history began.
    written: u16,
    /// Pages read by long reads and by those that continued another.
    sequential: u16,
    /// Pages read otherwise.
    random: u16,
}

/// The history of every leaf, by its number.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadHistory {
    leaves: Vec<LeafReads>,
}

impl ReadHistory {
    /// `pages` pages of a leaf were read, from `first`.
    fn read(&mut self, leaf: usize, first: u16, pages: u16) {
        let reads = self.leaf(leaf);
        let sequential = pages >= LONG_READ_PAGES || (first != 0 && first == reads.next);
        let (kind, other) = if sequential {
            (&mut reads.sequential, &mut reads.random)
        } else {
            (&mut reads.random, &mut reads.sequential)
        };
        if kind.checked_add(pages).is_none() {
            // Both, to keep their proportion.
            *kind /= 2;
            *other /= 2;
        }
        *kind += pages;
        reads.next = first + pages;
    }

    /// The host reads consecutive pages.
    pub(crate) fn note(&mut self, mapping: &Mapping, space: u32, first: u64, end: u64) {
        let leaf_pages = u64::from(LEAF_PAGES);
        let mut page = first;
        while let Some(present) = mapping.next_present(space, page, end) {
            page = end.min((present / leaf_pages + 1) * leaf_pages);
            if let Some(index) = mapping.find(space, present) {
                let offset = (present % leaf_pages) as u16;
                self.read(index.leaf(), offset, (page - present) as u16);
            }
        }
    }

    /// A page of a leaf was written.
    pub(crate) fn written(&mut self, leaf: usize) {
        let reads = self.leaf(leaf);
        reads.written += 1;
        if reads.written == LEAF_PAGES {
            *reads = LeafReads::default();
        }
    }

    /// The leaf holds nothing any more.
    pub(crate) fn forget(&mut self, leaf: usize) {
        if let Some(reads) = self.leaves.get_mut(leaf) {
            *reads = LeafReads::default();
        }
    }

    /// The layout that suits how the leaf's pages are read, if that is clear.
    pub(crate) fn suits(&self, leaf: usize) -> Option<Layout> {
        let reads = self.leaves.get(leaf)?;
        let (sequential, random) = (u32::from(reads.sequential), u32::from(reads.random));
        if sequential + random < MIN_PAGES {
            None
        } else if sequential >= MAJORITY * random {
            Some(Layout::Melded)
        } else if random >= MAJORITY * sequential {
            Some(Layout::Normal)
        } else {
            None
        }
    }

    fn leaf(&mut self, leaf: usize) -> &mut LeafReads {
        if leaf >= self.leaves.len() {
            self.leaves.resize(leaf + 1, LeafReads::default());
        }
        &mut self.leaves[leaf]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_reads_in_a_row_are_sequential_and_scattered_ones_are_not() {
        let mut history = ReadHistory::default();
        assert_eq!(history.suits(3), None);
        for first in (0..512).step_by(16) {
            history.read(3, first, 16);
        }
        assert_eq!(history.suits(3), Some(Layout::Melded));
        for n in 0..100u16 {
            history.read(5, n * 37 % 1024, 1);
        }
        assert_eq!(history.suits(5), Some(Layout::Normal));
        assert_eq!(history.suits(4), None);
    }

    #[test]
    fn mixed_reads_decide_nothing_and_few_do_not_either() {
        let mut history = ReadHistory::default();
        history.read(0, 0, 32);
        assert_eq!(history.suits(0), None);
        history.read(0, 0, 1024);
        assert_eq!(history.suits(0), Some(Layout::Melded));
        for n in 0..500u16 {
            history.read(0, n * 2, 1);
        }
        assert_eq!(history.suits(0), None);
    }

    #[test]
    fn counts_keep_their_proportion_when_they_overflow() {
        let mut history = ReadHistory::default();
        for n in 0..20_000u16 {
            history.read(0, n * 2 % 1024, 1);
        }
        for _ in 0..200 {
            history.read(0, 0, 1024);
        }
        assert_eq!(history.suits(0), Some(Layout::Melded));
    }

    #[test]
    fn rewriting_a_leaf_ends_its_history() {
        let mut history = ReadHistory::default();
        history.read(1, 0, 1024);
        for _ in 0..1023 {
            history.written(1);
        }
        assert_eq!(history.suits(1), Some(Layout::Melded));
        history.written(1);
        assert_eq!(history.suits(1), None);
        history.read(1, 0, 1024);
        history.forget(1);
        assert_eq!(history.suits(1), None);
    }
}
