//! A superblock that a stream fills, and the wordlines of it whose pages wait for their turn.
//!
//! In come wordlines in the melded layout, out go single pages in shadow order.

use crate::engine::NIL;
use crate::ftl::address::{Addressing, PageAddr, passes};
use crate::ftl::stream::{Layout, Stream, WordlinePages};
use crate::nand::MAX_FLASH_PAGES_PER_WORDLINE;

/// Wordlines of a block that can be open at the same time.
const OPEN: usize = MAX_FLASH_PAGES_PER_WORDLINE;

/// A superblock a stream fills.
#[derive(Debug)]
pub(crate) struct OpenSuperblock {
    pub(crate) superblock: u32,
    /// The next position to fill, a multiple of what is filled at a time.
    pub(crate) next: u32,
    /// In shadow order, where whole wordlines are filled and their flash pages programmed one by one.
    pub(crate) wordlines: Option<Box<OpenWordlines>>,
}

impl OpenSuperblock {
    /// An empty one.
    pub(crate) fn new(superblock: u32, stream: Stream, addressing: &Addressing) -> OpenSuperblock {
        let fills_wordlines = addressing.fills_wordlines(stream.layout());
        OpenSuperblock {
            superblock,
            next: 0,
            wordlines: fills_wordlines.then(|| {
                Box::new(OpenWordlines::new(
                    addressing.units,
                    addressing.wordlines_per_block,
                    addressing.flash_pages_per_wordline,
                    addressing.subpages(),
                ))
            }),
        }
    }

    /// Skips wordlines that a flush has padded ahead of their turn.
    pub(crate) fn skip_filled(&mut self, addressing: &Addressing) {
        let Some(wordlines) = &self.wordlines else {
            return;
        };
        while self.next < addressing.pages_per_superblock {
            let at = addressing.page_addr(Layout::Melded, self.next);
            if at.wordline >= wordlines.units[at.unit as usize].next {
                break;
            }
            self.next += addressing.pages_per_wordline;
        }
    }
}

/// The open wordlines of a superblock: the pages that wait until it is their turn.
#[derive(Debug)]
pub(crate) struct OpenWordlines {
    flash_pages_per_wordline: u32,
    subpages: u32,
    wordlines: u32,
    units: Box<[OpenBlock]>,
}

/// The block of one unit: which wordline comes next, and the last ones before it.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    next: u32,
    held: [WordlinePages; OPEN],
}

/// A page of preloaded data among those that wait: it needs no program.
pub(crate) const PRELOADED: u32 = NIL - 1;

impl OpenWordlines {
    fn new(
        units: u32,
        wordlines: u32,
        flash_pages_per_wordline: u32,
        subpages: u32,
    ) -> OpenWordlines {
        let block = OpenBlock {
            next: 0,
            held: [WordlinePages::NONE; OPEN],
        };
        OpenWordlines {
            flash_pages_per_wordline,
            subpages,
            wordlines,
            units: vec![block; units as usize].into_boxed_slice(),
        }
    }

    /// Fills the next wordline of a unit; hands over the flash pages whose turn it is: where the first page
    /// of each is, and the slots of those that are not padding.
    pub(crate) fn fill(
        &mut self,
        unit: u32,
        pages: WordlinePages,
        mut program: impl FnMut(PageAddr, &[u32]),
    ) {
        let block = &mut self.units[unit as usize];
        let wordline = block.next;
        debug_assert!(wordline < self.wordlines);
        block.next += 1;
        block.held[wordline as usize % OPEN] = pages;
        // The last wordline is followed by the steps that remain.
        let last = if block.next == self.wordlines {
            self.wordlines + self.flash_pages_per_wordline - 2
        } else {
            wordline
        };
        for step in wordline..=last {
            for (wordline, page) in passes(step, self.wordlines, self.flash_pages_per_wordline) {
                let page = page * self.subpages;
                let slots = block.held[wordline as usize % OPEN].part(page, self.subpages);
                let at = PageAddr {
                    unit,
                    wordline,
                    page,
                };
                program(at, slots);
            }
        }
    }

    /// Pages of filled wordlines whose turn has not come.
    pub(crate) fn waiting(&self) -> u32 {
        let of_unit = |block: &OpenBlock| match block.next {
            next if next == self.wordlines => 0,
            next => {
                let waiting = (1..self.flash_pages_per_wordline).rev();
                waiting.take(next as usize).sum()
            }
        };
        self.units.iter().map(of_unit).sum::<u32>() * self.subpages
    }

    /// Whether pages of the unit wait for wordlines to come.
    pub(crate) fn holds_pages(&self, unit: u32) -> bool {
        let block = &self.units[unit as usize];
        if block.next == self.wordlines {
            return false;
        }
        let open = block.next.saturating_sub(self.flash_pages_per_wordline - 1)..block.next;
        open.into_iter().any(|wordline| {
            let programmed = block.next - wordline;
            let pages = &block.held[wordline as usize % OPEN];
            let waiting = pages.part(programmed * self.subpages, u32::MAX);
            waiting.iter().any(|&slot| slot != PRELOADED)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::address::ShadowSequence;

    /// Filling wordline by wordline programs in the very same order.
    #[test]
    fn open_wordlines_program_in_sequence() {
        for wordlines in 1..7 {
            for pages in 1..=4 {
                let sequence = ShadowSequence::new(wordlines, pages);
                let mut open = OpenWordlines::new(1, wordlines, pages, 2);
                let mut n = 0;
                for wordline in 0..wordlines {
                    let filled = (0..2 * pages).map(|page| wordline * 8 + page).collect();
                    open.fill(0, filled, |at, slots| {
                        assert_eq!((at.wordline, at.page / 2), sequence.page_at(n));
                        let first = at.wordline * 8 + at.page;
                        assert_eq!(slots, [first, first + 1]);
                        n += 1;
                    });
                    assert_eq!(open.holds_pages(0), n < (wordline + 1) * pages);
                }
                assert_eq!(n, wordlines * pages);
            }
        }
    }
}
