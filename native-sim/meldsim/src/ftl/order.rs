//! Shadow program order: a wordline's pages are programmed at separate times, so that the last and
//! most precise pass over a wordline comes after its neighbour's coarse ones.
//!
//! ```text
//!   step      0    1        2            3           ...   last
//!   program   L0   L1 C0    L2 C1 M0     L3 C2 M1    ...   the passes that remain
//! ```

use super::scheduler::Fill;
use crate::engine::NIL;

/// In which order the pages of a block are programmed, and the inverse.
#[derive(Clone, Debug)]
pub(crate) struct ShadowSequence {
    pages_per_wordline: u32,
    /// Pages, numbered wordline by wordline, in the order of programming.
    order: Box<[u32]>,
    position: Box<[u32]>,
}

impl ShadowSequence {
    pub(crate) fn new(wordlines: u32, pages_per_wordline: u32) -> ShadowSequence {
        let mut order = Vec::with_capacity((wordlines * pages_per_wordline) as usize);
        for step in 0..wordlines + pages_per_wordline - 1 {
            let pages = passes(step, wordlines, pages_per_wordline);
            order.extend(pages.map(|(wordline, page)| wordline * pages_per_wordline + page));
        }
        let mut position = vec![0; order.len()];
        for (n, &page) in (0..).zip(&order) {
            position[page as usize] = n;
        }
        ShadowSequence {
            pages_per_wordline,
            order: order.into_boxed_slice(),
            position: position.into_boxed_slice(),
        }
    }

    /// The wordline and the page of it that is programmed `n`-th.
    #[inline]
    pub(crate) fn page_at(&self, n: u32) -> (u32, u32) {
        let page = self.order[n as usize];
        (
            page / self.pages_per_wordline,
            page % self.pages_per_wordline,
        )
    }

    #[inline]
    pub(crate) fn position_of(&self, wordline: u32, page: u32) -> u32 {
        self.position[(wordline * self.pages_per_wordline + page) as usize]
    }
}

/// What a step programs: a page of each wordline that is open.
fn passes(step: u32, wordlines: u32, pages: u32) -> impl Iterator<Item = (u32, u32)> {
    let first = (step + 1).saturating_sub(wordlines);
    (first..pages.min(step + 1)).map(move |page| (step - page, page))
}

/// The open wordlines of a block group whose wordlines are filled as a whole: the pages that wait
/// until it is their turn.
#[derive(Debug)]
pub(crate) struct OpenWordlines {
    pages_per_wordline: u32,
    wordlines: u32,
    units: Box<[OpenBlock]>,
}

/// The block of one unit: which wordline comes next, and the last ones before it.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    next: u32,
    held: [Fill; 4],
}

/// A page of preloaded data among held ones: it needs no program.
pub(crate) const PLACED: u32 = NIL - 1;

impl OpenWordlines {
    pub(crate) fn new(units: u32, wordlines: u32, pages_per_wordline: u32) -> OpenWordlines {
        let block = OpenBlock {
            next: 0,
            held: [[NIL; 4]; 4],
        };
        OpenWordlines {
            pages_per_wordline,
            wordlines,
            units: vec![block; units as usize].into_boxed_slice(),
        }
    }

    /// Wordlines of the unit's block that have been filled.
    pub(crate) fn filled(&self, unit: u32) -> u32 {
        self.units[unit as usize].next
    }

    /// Fills the next wordline of a unit; hands over the pages whose turn it is: wordline, page,
    /// content.
    pub(crate) fn fill(&mut self, unit: u32, fill: Fill, mut program: impl FnMut(u32, u32, u32)) {
        let block = &mut self.units[unit as usize];
        let wordline = block.next;
        debug_assert!(wordline < self.wordlines);
        block.next += 1;
        block.held[wordline as usize % 4] = fill;
        // The last wordline is followed by the steps that remain.
        let last = if block.next == self.wordlines {
            self.wordlines + self.pages_per_wordline - 2
        } else {
            wordline
        };
        for step in wordline..=last {
            for (wordline, page) in passes(step, self.wordlines, self.pages_per_wordline) {
                let content = block.held[wordline as usize % 4][page as usize];
                program(wordline, page, content);
            }
        }
    }

    /// Pages of filled wordlines whose turn has not come.
    pub(crate) fn waiting(&self) -> u32 {
        let of_unit = |block: &OpenBlock| match block.next {
            next if next == self.wordlines => 0,
            next => (1..self.pages_per_wordline).rev().take(next as usize).sum(),
        };
        self.units.iter().map(of_unit).sum::<u32>()
    }

    /// Whether pages of the unit wait for wordlines to come.
    pub(crate) fn holds_pages(&self, unit: u32) -> bool {
        let block = &self.units[unit as usize];
        if block.next == self.wordlines {
            return false;
        }
        let open = block.next.saturating_sub(self.pages_per_wordline - 1)..block.next;
        open.into_iter().any(|wordline| {
            let programmed = block.next - wordline;
            let fill = block.held[wordline as usize % 4];
            (programmed..self.pages_per_wordline)
                .any(|page| !matches!(fill[page as usize], NIL | PLACED))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tlc_is_programmed_in_the_published_order() {
        let sequence = ShadowSequence::new(4, 3);
        let names: Vec<String> = (0..12)
            .map(|n| {
                let (wordline, page) = sequence.page_at(n);
                format!("{}{wordline}", ["L", "C", "M"][page as usize])
            })
            .collect();
        assert_eq!(names.join(" "), "L0 L1 C0 L2 C1 M0 L3 C2 M1 C3 M2 M3");
    }

    #[test]
    fn each_page_is_programmed_once_even_in_blocks_shorter_than_the_steps() {
        for wordlines in 1..7 {
            for pages in 1..=4 {
                let sequence = ShadowSequence::new(wordlines, pages);
                assert_eq!(sequence.order.len() as u32, wordlines * pages);
                for n in 0..wordlines * pages {
                    let (wordline, page) = sequence.page_at(n);
                    assert_eq!(sequence.position_of(wordline, page), n);
                }
            }
        }
    }

    /// Filling wordline by wordline programs in the very same order.
    #[test]
    fn open_wordlines_program_in_sequence() {
        for wordlines in 1..7 {
            for pages in 1..=4 {
                let sequence = ShadowSequence::new(wordlines, pages);
                let mut open = OpenWordlines::new(1, wordlines, pages);
                let mut n = 0;
                for wordline in 0..wordlines {
                    let fill = [0, 1, 2, 3].map(|page| wordline * 4 + page);
                    open.fill(0, fill, |wordline, page, content| {
                        assert_eq!((wordline, page), sequence.page_at(n));
                        assert_eq!(content, wordline * 4 + page);
                        n += 1;
                    });
                    assert_eq!(open.holds_pages(0), n < (wordline + 1) * pages);
                }
                assert_eq!(n, wordlines * pages);
            }
        }
    }
}
