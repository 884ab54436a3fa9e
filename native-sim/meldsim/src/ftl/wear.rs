//! Wear: how often block groups were erased, and which free one comes next.

use std::collections::{BTreeMap, BTreeSet};

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
