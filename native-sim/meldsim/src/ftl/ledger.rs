//! What is current where. Three functions change it, and nothing else does:
//!
//! ```text
//!   place      pages get data: in the write buffer, on their way to a lane, or on its flash
//!   leave      their data there is no longer current
//!   relocate   the data of a lane goes from the buffer to flash, from there to the buffer, or to another group
//! ```
//!
//! Counted are the lane's live pages, the valid pages of its groups, and each space's pages in the melded layout.
//! The mapping counts what it maps itself.

use super::blocks::Blocks;

/// Where the data of a page of a lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// In the write buffer, on its way to the lane.
    Buffer,
    /// In this group.
    Flash(u32),
}

/// Pages on flash in the melded layout, by space.
#[derive(Debug, Default)]
pub(super) struct MeldedPages(Vec<u64>);

impl MeldedPages {
    pub(super) fn add_space(&mut self) {
        self.0.push(0);
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
        if let Spot::Flash(group) = at {
            self.validate(group, pages);
            melded.0[space as usize] += self.get(group).melded(pages);
        }
    }

    /// The data of pages of a space is no longer current.
    #[inline]
    pub(super) fn leave(&mut self, melded: &mut MeldedPages, space: u32, pages: u32, at: Spot) {
        self.live -= u64::from(pages);
        if let Spot::Flash(group) = at {
            self.invalidate(group, pages);
            melded.0[space as usize] -= self.get(group).melded(pages);
        }
    }

    /// Current data goes from one place of the lane to another. `space` tells of each of the pages whose it is; that
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
            Spot::Flash(group) => blocks.get(group).melded(1) == 1,
        };
        let (was, is) = (is_melded(self, from), is_melded(self, to));
        if let Spot::Flash(group) = from {
            self.invalidate(group, pages);
        }
        if let Spot::Flash(group) = to {
            self.validate(group, pages);
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
    use super::super::lane::Lane;
    use super::super::layer::Ftl;
    use super::super::mapping::Entry;

    impl Ftl {
        /// What is current where, counted anew from what the mapping says; panics where the ledger says something else.
        pub(crate) fn audit(&self) {
            let mut live = vec![0; self.lanes.len()];
            let groups = |lane: &Lane| vec![0; lane.blocks.groups.len()];
            let mut valid: Vec<Vec<u32>> = self.lanes.iter().map(groups).collect();
            let spaces = self.melded.0.len();
            let (mut melded, mut mapped) = (vec![0; spaces], vec![0; spaces]);
            self.mapping.for_each_run(|index, run| {
                let space = self.mapping.space_of(index) as usize;
                for page in 0..run.pages {
                    match run.entry.plus(page) {
                        Entry::Unmapped => continue,
                        Entry::Buffered(slot) => live[self.buffer.get(slot).lane as usize] += 1,
                        Entry::Flash(ppn) => {
                            let at = self.addressing.log_addr(ppn);
                            live[at.lane as usize] += 1;
                            valid[at.lane as usize][at.group as usize] += 1;
                            melded[space] += u64::from(self.is_melded(ppn));
                        }
                    }
                    mapped[space] += 1;
                }
            });
            for ((lane, live), valid) in self.lanes.iter().zip(live).zip(valid) {
                assert_eq!(lane.blocks.live, live, "live pages of a lane");
                let counted: Vec<u32> = lane.blocks.groups.iter().map(|g| g.valid).collect();
                assert_eq!(counted, valid, "valid pages of its groups");
            }
            assert_eq!(self.melded.0, melded, "melded pages");
            for (space, mapped) in (0..).zip(mapped) {
                assert_eq!(self.mapping.mapped_in(space), mapped, "mapped pages");
            }
        }
    }
}
