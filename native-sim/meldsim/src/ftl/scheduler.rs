//! The write scheduler: which pages share a wordline.
//!
//! Unhinted pages fill *stripes* of one wordline on every die, in the normal layout: the n-th page
//! of a stripe goes to wordline n mod K as its page n div K, so consecutive pages are on different
//! dies, and a wordline is complete only when the last pass over the stripe reaches it.
//!
//! ```text
//!   stripe of K wordlines     w0   w1   w2  ...          melded: pages 0 1 2 | 3 4 5 | ...
//!   LSB                        0    1    2                       on     w0   |  w1   |
//!   CSB                        K   K+1  K+2
//!   MSB                       2K  2K+1 2K+2
//! ```
//!
//! Pages hinted as sequential are gathered in *runs* of consecutive pages, and those that are
//! consecutive share a wordline. Several writers interleave, so a run is known by the page it
//! expects next. The number of runs is bounded: the one that has waited longest is closed, and its
//! unfinished wordline is packed together with those of other closed runs.

use crate::engine::NIL;
use crate::nand::MAX_PAGES_PER_WORDLINE;

/// The pages of a wordline; [`NIL`] is padding.
pub(crate) type Fill = [u32; MAX_PAGES_PER_WORDLINE];

const EMPTY: Fill = [NIL; MAX_PAGES_PER_WORDLINE];

/// Gathers pages in the normal layout.
#[derive(Debug)]
pub(crate) struct Stripe {
    wordlines: usize,
    pages_per_wordline: usize,
    pages: Vec<u32>,
}

impl Stripe {
    pub(crate) fn new(wordlines: u32, pages_per_wordline: u32) -> Stripe {
        let capacity = (wordlines * pages_per_wordline) as usize;
        Stripe {
            wordlines: wordlines as usize,
            pages_per_wordline: pages_per_wordline as usize,
            pages: Vec::with_capacity(capacity),
        }
    }

    /// Adds a page; hands over the wordline it completes.
    pub(crate) fn push(&mut self, page: u32) -> Option<Fill> {
        self.pages.push(page);
        let last_pass = (self.pages_per_wordline - 1) * self.wordlines;
        let wordline = self.pages.len().checked_sub(last_pass + 1)?;
        let fill = self.wordline(wordline);
        if wordline + 1 == self.wordlines {
            self.pages.clear();
        }
        Some(fill)
    }

    /// Closes every wordline that holds a page.
    pub(crate) fn close(&mut self, mut emit: impl FnMut(Fill)) {
        let last_pass = (self.pages_per_wordline - 1) * self.wordlines;
        let complete = self.pages.len().saturating_sub(last_pass);
        for wordline in complete..self.pages.len().min(self.wordlines) {
            emit(self.wordline(wordline));
        }
        self.pages.clear();
    }

    fn wordline(&self, wordline: usize) -> Fill {
        let mut fill = EMPTY;
        for (pass, page) in fill.iter_mut().take(self.pages_per_wordline).enumerate() {
            *page = self
                .pages
                .get(pass * self.wordlines + wordline)
                .copied()
                .unwrap_or(NIL);
        }
        fill
    }
}

/// Pages on their way to one wordline.
#[derive(Clone, Copy, Debug)]
struct Partial {
    pages: Fill,
    len: usize,
}

impl Partial {
    const EMPTY: Partial = Partial {
        pages: EMPTY,
        len: 0,
    };

    fn push(&mut self, page: u32, pages_per_wordline: usize) -> Option<Fill> {
        self.pages[self.len] = page;
        self.len += 1;
        if self.len == pages_per_wordline {
            self.take()
        } else {
            None
        }
    }

    fn take(&mut self) -> Option<Fill> {
        let taken = std::mem::replace(self, Partial::EMPTY);
        (taken.len > 0).then_some(taken.pages)
    }
}

#[derive(Debug)]
struct Run {
    space: u32,
    next: u64,
    /// When it last grew, in pages gathered.
    grown: u64,
    partial: Partial,
}

/// Gathers pages in the melded layout.
#[derive(Debug)]
pub(crate) struct Runs {
    bound: usize,
    pages_per_wordline: usize,
    runs: Vec<Run>,
    /// The run that grew last: most pages continue it.
    current: usize,
    gathered: u64,
    leftovers: Partial,
}

impl Runs {
    pub(crate) fn new(bound: u32, pages_per_wordline: u32) -> Runs {
        Runs {
            bound: bound as usize,
            pages_per_wordline: pages_per_wordline as usize,
            runs: Vec::new(),
            current: 0,
            gathered: 0,
            leftovers: Partial::EMPTY,
        }
    }

    /// Adds the page that is logical page `logical` of `space`; hands over completed wordlines.
    pub(crate) fn push(&mut self, space: u32, logical: u64, page: u32, mut emit: impl FnMut(Fill)) {
        let expects = |run: &Run| run.next == logical && run.space == space;
        if !self.runs.get(self.current).is_some_and(expects) {
            self.current = match self.runs.iter().position(expects) {
                Some(run) => run,
                None => self.open(space, logical, &mut emit),
            };
        }
        self.gathered += 1;
        let run = &mut self.runs[self.current];
        run.next = logical + 1;
        run.grown = self.gathered;
        if let Some(fill) = run.partial.push(page, self.pages_per_wordline) {
            emit(fill);
        }
    }

    /// Adds a page that continues no run.
    pub(crate) fn push_leftover(&mut self, page: u32) -> Option<Fill> {
        self.leftovers.push(page, self.pages_per_wordline)
    }

    /// A run for a new writer; at the bound, the place of the one that has waited longest.
    fn open(&mut self, space: u32, logical: u64, emit: &mut impl FnMut(Fill)) -> usize {
        let run = Run {
            space,
            next: logical,
            grown: self.gathered,
            partial: Partial::EMPTY,
        };
        if self.runs.len() < self.bound {
            self.runs.push(run);
            return self.runs.len() - 1;
        }
        let oldest = (0..self.runs.len())
            .min_by_key(|&run| self.runs[run].grown)
            .unwrap_or(0);
        let closed = std::mem::replace(&mut self.runs[oldest], run);
        self.pack(closed.partial, emit);
        oldest
    }

    fn pack(&mut self, partial: Partial, emit: &mut impl FnMut(Fill)) {
        for &page in &partial.pages[..partial.len] {
            if let Some(fill) = self.push_leftover(page) {
                emit(fill);
            }
        }
    }

    /// Closes every wordline that holds a page. Unfinished wordlines of different runs are packed
    /// together, so at most one is padded. The runs go on.
    pub(crate) fn close(&mut self, mut emit: impl FnMut(Fill)) {
        for run in 0..self.runs.len() {
            let partial = std::mem::replace(&mut self.runs[run].partial, Partial::EMPTY);
            self.pack(partial, &mut emit);
        }
        if let Some(fill) = self.leftovers.take() {
            emit(fill);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stripe_fills_pass_by_pass() {
        let mut stripe = Stripe::new(4, 3);
        let fills: Vec<Option<Fill>> = (0..12).map(|page| stripe.push(page)).collect();
        assert!(fills[..8].iter().all(Option::is_none));
        assert_eq!(fills[8], Some([0, 4, 8, NIL]));
        assert_eq!(fills[11], Some([3, 7, 11, NIL]));
    }

    #[test]
    fn closing_a_stripe_pads_only_wordlines_with_pages() {
        let mut stripe = Stripe::new(4, 3);
        for page in 0..9 {
            stripe.push(page);
        }
        let mut fills = Vec::new();
        stripe.close(|fill| fills.push(fill));
        // Wordline 0 was complete; 1 to 3 lack their last page.
        assert_eq!(
            fills,
            [[1, 5, NIL, NIL], [2, 6, NIL, NIL], [3, 7, NIL, NIL]]
        );
        fills.clear();
        stripe.push(20);
        stripe.close(|fill| fills.push(fill));
        assert_eq!(fills, [[20, NIL, NIL, NIL]]);
    }

    #[test]
    fn interleaved_writers_each_get_their_wordlines() {
        let mut runs = Runs::new(4, 3);
        let mut fills = Vec::new();
        // Two writers in commands of four pages, which is no multiple of three.
        for chunk in 0..3 {
            for writer in [100, 200] {
                for page in 0..4 {
                    let logical = writer + chunk * 4 + page;
                    runs.push(0, logical, logical as u32, |fill| fills.push(fill));
                }
            }
        }
        assert_eq!(fills.len(), 8);
        for fill in &fills {
            assert_eq!((fill[1], fill[2]), (fill[0] + 1, fill[0] + 2));
        }
    }

    #[test]
    fn runs_are_bounded_and_leftovers_packed() {
        let mut runs = Runs::new(2, 3);
        let mut fills = Vec::new();
        for logical in [0, 100, 200, 300, 400] {
            runs.push(0, logical, logical as u32, |fill| fills.push(fill));
        }
        // Three runs were closed, oldest first; two are open.
        assert_eq!(fills, [[0, 100, 200, NIL]]);
        runs.close(|fill| fills.push(fill));
        assert_eq!(fills[1..], [[400, 300, NIL, NIL]]);
    }
}
