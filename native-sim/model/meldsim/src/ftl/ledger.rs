//! What is current where. Three functions change it, and beside them only `Blocks::close_filled`, which fills whole superblocks
//! of a device that begins:
//!
//! ```text
//!   place      pages get data: in the write buffer, on their way to a log, or on its flash
//!   leave      their data there is no longer current
//!   relocate   the data of a log goes from the buffer to flash, from there to the buffer, or to another superblock
//! ```
//!
//! Counted are the log's live pages, the valid pages of its superblocks, and each space's pages in the melded layout.
//! The mapping counts what it maps itself.

use super::blocks::Blocks;
use crate::engine::NIL;

/// Where the data of a page of a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// In the write buffer, on its way to the log.
    Buffer,
    /// In this superblock.
    Flash(u32),
}

/// Pages on flash in the melded layout, by space.
#[derive(Debug)]
pub(super) struct MeldedPages(Vec<u64>, MapSpace);

/// The space of translation pages, or [`NIL`].
type MapSpace = u32;

impl Default for MeldedPages {
    fn default() -> MeldedPages {
        MeldedPages(Vec::new(), NIL)
    }
}

impl MeldedPages {
    pub(super) fn add_space(&mut self) {
        self.0.push(0);
    }

    pub(super) fn set_map_space(&mut self, space: u32) {
        self.1 = space;
    }

    pub(super) fn of(&self, space: u32) -> u64 {
        self.0[space as usize]
    }

    pub(super) fn all(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Blocks {
    /// Pages of a space have data here that is current.
    #[inline]
    pub(super) fn place(&mut self, melded: &mut MeldedPages, space: u32, pages: u32, at: Spot) {
        self.live += u64::from(pages);
        self.of_map += u64::from(pages) * u64::from(space == melded.1);
        if let Spot::Flash(superblock) = at {
            self.validate(superblock, pages);
            melded.0[space as usize] += self.get(superblock).melded(pages);
        }
    }

    /// The data of pages of a space is no longer current.
    #[inline]
    pub(super) fn leave(&mut self, melded: &mut MeldedPages, space: u32, pages: u32, at: Spot) {
        self.live -= u64::from(pages);
        self.of_map -= u64::from(pages) * u64::from(space == melded.1);
        if let Spot::Flash(superblock) = at {
            self.invalidate(superblock, pages);
            melded.0[space as usize] -= self.get(superblock).melded(pages);
        }
    }

    /// Current data goes from one place of the log to another. `space` tells of each of the pages whose it is; that
    /// is asked where the layout changes.
    #[inline]
    pub(super) fn relocate(
        &mut self,
        melded: &mut MeldedPages,
        space: impl Fn(u32) -> u32,
        pages: u32,
        (from, to): (Spot, Spot),
    ) {
        let is_melded = |blocks: &Blocks, at| match at {
            Spot::Buffer => false,
            Spot::Flash(superblock) => blocks.get(superblock).melded(1) == 1,
        };
        let (was, is) = (is_melded(self, from), is_melded(self, to));
        if let Spot::Flash(superblock) = from {
            self.invalidate(superblock, pages);
        }
        if let Spot::Flash(superblock) = to {
            self.validate(superblock, pages);
        }
        if was != is {
            for page in 0..pages {
                let melded = &mut melded.0[space(page) as usize];
                match is {
                    true => *melded += 1,
                    false => *melded -= 1,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layer::Ftl;
    use super::super::log::Log;
    use super::super::mapping::Entry;

    impl Ftl {
        /// What is current where, counted anew from what the mapping says; panics where the ledger says something else.
        pub(crate) fn audit(&self) {
            let mut live = vec![0; self.logs.len()];
            let mut of_map = live.clone();
            let superblocks = |log: &Log| vec![0; log.blocks.superblocks.len()];
            let mut valid: Vec<Vec<u32>> = self.logs.iter().map(superblocks).collect();
            let spaces = self.melded.0.len();
            let (mut melded, mut mapped) = (vec![0; spaces], vec![0; spaces]);
            self.mapping.for_each_run(|index, run| {
                let space = self.mapping.space_of(index) as usize;
                for page in 0..run.pages {
                    match run.entry.plus(page) {
                        Entry::Unmapped => continue,
                        Entry::Buffered(slot) => {
                            let log_id = self.buffer.get(slot).log_id as usize;
                            live[log_id] += 1;
                            of_map[log_id] += u64::from(Some(space as u32) == self.map_space);
                        }
                        Entry::Flash(ppn) => {
                            let at = self.addressing.log_addr(ppn);
                            live[at.log_id as usize] += 1;
                            of_map[at.log_id as usize] +=
                                u64::from(Some(space as u32) == self.map_space);
                            valid[at.log_id as usize][at.superblock as usize] += 1;
                            melded[space] += u64::from(self.is_melded(ppn));
                        }
                    }
                    mapped[space] += 1;
                }
            });
            for ((log, (live, of_map)), valid) in self
                .logs
                .iter()
                .zip(live.into_iter().zip(of_map))
                .zip(valid)
            {
                assert_eq!(log.blocks.of_map, of_map, "translation pages of a log");
                assert_eq!(log.blocks.live, live, "live pages of a log");
                let counted: Vec<u32> = log.blocks.superblocks.iter().map(|g| g.valid).collect();
                assert_eq!(counted, valid, "valid pages of its superblocks");
            }
            assert_eq!(self.melded.0, melded, "melded pages");
            for (space, mapped) in (0..).zip(mapped) {
                assert_eq!(self.mapping.mapped_in(space), mapped, "mapped pages");
            }
        }
    }
}
