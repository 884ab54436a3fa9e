//! Streams, and which pages of a stream share a wordline: the write scheduler.
//!
//! In come pages, one by one; out go wordlines to program. Data that is likely to be read or to die
//! differently goes to different streams, and streams do not share blocks.
//!
//! Unhinted pages fill *stripes* of one wordline on every unit of the lane, in the normal layout: the
//! n-th page of a stripe goes to wordline n mod K as its page n div K, so consecutive pages are on
//! different units, and a wordline is complete only when the last pass over the stripe reaches it.
//! (In shadow order each page is programmed by itself, and there are no stripes.)
//!
//! ```text
//!   stripe of K wordlines     w0   w1   w2  ...          melded: pages 0 1 2 | 3 4 5 | ...
//!   LSB                        0    1    2                       on     w0   |  w1   |
//!   CSB                        K   K+1  K+2
//!   MSB                       2K  2K+1 2K+2
//! ```
//!
//! A flash page of several pages (subpages) is filled before the next: read "page" above as flash page.
//!
//! Pages hinted as sequential are gathered in *runs* of consecutive pages, and those that are
//! consecutive share a wordline. Several writers interleave, so a run is known by the page it
//! expects next. The number of runs is bounded: the one that grew least recently is closed, and its
//! unfinished wordline is packed together with those of other closed runs. Where the logical page
//! decides the lane, wordlines begin at multiples of their pages.

use crate::engine::NIL;
use crate::nand::MAX_PAGES_PER_WORDLINE;
use crate::nvme::MAX_STREAMS;
use crate::policy::placement::{FRONTIERS, Frontier};
use crate::profile::limits::FIXED_STREAMS;

/// How pages lie on wordlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Consecutive pages on different units.
    Normal = 0,
    /// Consecutive pages on one wordline.
    Melded = 1,
}

impl Layout {
    pub(crate) const ALL: [Layout; 2] = [Layout::Normal, Layout::Melded];

    pub(crate) fn new(is_melded: bool) -> Layout {
        Layout::ALL[usize::from(is_melded)]
    }
}

/// Who fills a block group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// The host, in the stream with this number; 0 for none.
    Host(u8, Layout),
    /// Garbage collection, at the frontier with this number.
    Gc(u8, Layout),
}

impl Stream {
    /// Streams that are always there: the first ones.
    pub(crate) const FIXED: usize = FIXED_STREAMS as usize;

    /// Streams there can be.
    pub(crate) const COUNT: usize = Stream::OF_GC_BEGIN + 2 * (FRONTIERS[1] as usize - 1);

    /// The index of the first stream of garbage collection's that is not always there.
    const OF_GC_BEGIN: usize = 2 * (MAX_STREAMS as usize + 2);

    /// Bit n: the stream of index n is garbage collection's.
    pub(crate) const OF_GC: u64 = 0b101 | (u64::MAX << Stream::OF_GC_BEGIN);

    /// Its number; streams have their turn in this order.
    pub(crate) fn index(self) -> usize {
        match self {
            Stream::Gc(0, layout) => 2 * layout as usize,
            Stream::Host(0, layout) => 2 * layout as usize + 1,
            Stream::Host(stream, layout) => 2 + 2 * usize::from(stream) + layout as usize,
            Stream::Gc(frontier, layout) => {
                Stream::OF_GC_BEGIN + 2 * (usize::from(frontier) - 1) + layout as usize
            }
        }
    }

    pub(crate) fn from_index(index: usize) -> Stream {
        match index {
            0 | 2 => Stream::Gc(0, Layout::new(index == 2)),
            1 | 3 => Stream::Host(0, Layout::new(index == 3)),
            _ => {
                let layout = Layout::new(index % 2 == 1);
                match index.checked_sub(Stream::OF_GC_BEGIN) {
                    None => Stream::Host((index / 2 - 1) as u8, layout),
                    Some(index) => Stream::Gc((index / 2 + 1) as u8, layout),
                }
            }
        }
    }

    /// The frontier, as policies number them.
    pub(crate) fn frontier(self) -> Frontier {
        match self {
            Stream::Host(number, _) => Frontier::Host(number),
            Stream::Gc(number, _) => Frontier::Collection(number),
        }
    }

    pub(crate) fn layout(self) -> Layout {
        match self {
            Stream::Host(_, layout) | Stream::Gc(_, layout) => layout,
        }
    }
}

/// The first pages of a wordline or, in shadow order, of a flash page, each a slot of the write buffer. The
/// rest is padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordlinePages {
    len: u32,
    slots: [u32; MAX_PAGES_PER_WORDLINE],
}

impl WordlinePages {
    /// Padding only.
    pub(crate) const NONE: WordlinePages = WordlinePages {
        len: 0,
        slots: [NIL; MAX_PAGES_PER_WORDLINE],
    };

    /// Adds the next page.
    #[inline]
    pub(crate) fn push(&mut self, page: u32) {
        self.slots[self.len as usize] = page;
        self.len += 1;
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.slots[..self.len as usize]
    }

    /// What is not padding of so many pages from one on.
    #[inline]
    pub(crate) fn part(&self, first: u32, pages: u32) -> &[u32] {
        let first = first.min(self.len);
        &self.slots[first as usize..self.len.min(first.saturating_add(pages)) as usize]
    }

    /// Adds the next page; hands over all of them when they are `all`.
    #[inline]
    pub(crate) fn complete(&mut self, page: u32, all: u32) -> Option<WordlinePages> {
        self.push(page);
        if self.len == all { self.take() } else { None }
    }

    /// Hands over what there is.
    pub(crate) fn take(&mut self) -> Option<WordlinePages> {
        let taken = std::mem::take(self);
        (taken.len > 0).then_some(taken)
    }
}

impl Default for WordlinePages {
    fn default() -> WordlinePages {
        WordlinePages::NONE
    }
}

impl FromIterator<u32> for WordlinePages {
    #[inline]
    fn from_iter<I: IntoIterator<Item = u32>>(pages: I) -> WordlinePages {
        let mut filled = WordlinePages::NONE;
        pages.into_iter().for_each(|page| filled.push(page));
        filled
    }
}

/// Gathers pages in the normal layout.
#[derive(Debug, Default)]
pub(crate) struct Stripe {
    wordlines: usize,
    /// Log2 of the pages of a flash page, which follow each other.
    subpage_shift: u32,
    /// Pages before the last pass over the stripe.
    before_last_pass: usize,
    pages: Vec<u32>,
}

impl Stripe {
    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Begins a stripe of that many wordlines, of so many pages each, and flash pages of so many.
    pub(crate) fn begin(&mut self, wordlines: u32, pages_per_wordline: u32, subpages: u32) {
        debug_assert!(self.is_empty() && wordlines > 0);
        self.wordlines = wordlines as usize;
        self.subpage_shift = subpages.ilog2();
        self.before_last_pass = ((pages_per_wordline - subpages) * wordlines) as usize;
    }

    /// Adds a page to a stripe that has begun; hands over the wordline it completes.
    pub(crate) fn push(&mut self, page: u32) -> Option<WordlinePages> {
        self.pages.push(page);
        let of_last_pass = self.pages.len().checked_sub(self.before_last_pass + 1)? + 1;
        if of_last_pass & ((1 << self.subpage_shift) - 1) != 0 {
            return None;
        }
        let wordlines = of_last_pass >> self.subpage_shift;
        let complete = self.wordline(wordlines - 1);
        if wordlines == self.wordlines {
            self.pages.clear();
        }
        Some(complete)
    }

    /// Hands over what is gathered of the wordline that has its turn `after` the next one.
    #[inline]
    pub(crate) fn for_each_gathered(&self, after: usize, page: impl FnMut(u32)) {
        let flash_pages = self.pages.len() >> self.subpage_shift;
        self.for_each_page_of((flash_pages + after) % self.wordlines, page);
    }

    /// Closes every wordline that holds a page.
    pub(crate) fn close(&mut self) -> Vec<WordlinePages> {
        let of_last_pass = self.pages.len().saturating_sub(self.before_last_pass);
        let complete = of_last_pass >> self.subpage_shift;
        let begun = self.pages.len().div_ceil(1 << self.subpage_shift);
        let open = complete..begun.min(self.wordlines);
        let closed = open.map(|wordline| self.wordline(wordline)).collect();
        self.pages.clear();
        closed
    }

    #[inline]
    fn wordline(&self, wordline: usize) -> WordlinePages {
        let mut pages = WordlinePages::NONE;
        self.for_each_page_of(wordline, |page| pages.push(page));
        pages
    }

    /// Hands over what is gathered of a wordline.
    #[inline]
    fn for_each_page_of(&self, wordline: usize, mut page: impl FnMut(u32)) {
        if self.subpage_shift == 0 {
            let pages = self.pages.iter().skip(wordline).step_by(self.wordlines);
            return pages.for_each(|&of_wordline| page(of_wordline));
        }
        let flash_pages = self.pages.chunks(1 << self.subpage_shift);
        for flash_page in flash_pages.skip(wordline).step_by(self.wordlines) {
            flash_page.iter().for_each(|&of_wordline| page(of_wordline));
        }
    }

    pub(crate) fn memory(&self) -> u64 {
        (self.pages.capacity() * size_of::<u32>()) as u64
    }
}

/// What a stream gathers in a lane.
#[derive(Debug, Default)]
pub(crate) struct Gatherer {
    pub(crate) stripe: Stripe,
    /// Pages whose wordline lacks others; in shadow order and the normal layout, those whose flash page does.
    pub(crate) leftovers: WordlinePages,
}

impl Gatherer {
    /// Closes every wordline that holds a page.
    pub(crate) fn close(&mut self) -> Vec<WordlinePages> {
        let mut closed = self.stripe.close();
        closed.extend(self.leftovers.take());
        closed
    }
}

/// What runs hand over: pages of a wordline of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunPages {
    pub(crate) lane: u32,
    pub(crate) pages: WordlinePages,
    /// Or else they are to be packed together with others.
    pub(crate) whole: bool,
}

#[derive(Debug)]
struct Run {
    space: u32,
    next: u64,
    /// When it last grew, in pages gathered.
    grown: u64,
    partial: WordlinePages,
}

/// Gathers pages in the melded layout. What it hands over is appended to a list of the caller's.
#[derive(Debug)]
pub(crate) struct SequentialRuns {
    bound: usize,
    pages_per_wordline: u32,
    lanes: u32,
    runs: Vec<Run>,
    /// The run that grew last: most pages continue it.
    current: usize,
    gathered: u64,
}

impl SequentialRuns {
    pub(crate) fn new(bound: u32, pages_per_wordline: u32, lanes: u32) -> SequentialRuns {
        SequentialRuns {
            bound: bound as usize,
            pages_per_wordline,
            lanes,
            runs: Vec::new(),
            current: 0,
            gathered: 0,
        }
    }

    /// Adds the page that is logical page `logical` of `space`; hands over completed wordlines and
    /// what will not be completed.
    pub(crate) fn push(&mut self, space: u32, logical: u64, page: u32, out: &mut Vec<RunPages>) {
        let expects = |run: &Run| run.next == logical && run.space == space;
        if !self.runs.get(self.current).is_some_and(expects) {
            self.current = match self.runs.iter().position(expects) {
                Some(run) => run,
                None => self.open(space, logical, out),
            };
        }
        self.gathered += 1;
        let lane = self.lane(logical);
        let run = &mut self.runs[self.current];
        run.next = logical + 1;
        run.grown = self.gathered;
        if let Some(pages) = run.partial.complete(page, self.pages_per_wordline) {
            let whole = true;
            out.push(RunPages { lane, pages, whole });
        } else if self.lanes > 1 && run.next % u64::from(self.pages_per_wordline) == 0 {
            self.give_up(self.current, out);
        }
    }

    fn lane(&self, logical: u64) -> u32 {
        match self.lanes {
            1 => 0,
            lanes => (logical / u64::from(self.pages_per_wordline) % u64::from(lanes)) as u32,
        }
    }

    /// A run for a new writer; at the bound, in place of the one that grew least recently.
    fn open(&mut self, space: u32, logical: u64, out: &mut Vec<RunPages>) -> usize {
        let run = Run {
            space,
            next: logical,
            grown: self.gathered,
            partial: WordlinePages::NONE,
        };
        if self.runs.len() < self.bound {
            self.runs.push(run);
            return self.runs.len() - 1;
        }
        let by_age = |&run: &usize| self.runs[run].grown;
        let oldest = (0..self.runs.len()).min_by_key(by_age).unwrap_or(0);
        self.give_up(oldest, out);
        self.runs[oldest] = run;
        oldest
    }

    /// Hands over a run's unfinished wordline.
    fn give_up(&mut self, run: usize, out: &mut Vec<RunPages>) {
        let run = &mut self.runs[run];
        if let Some(pages) = run.partial.take() {
            let last = run.next - 1;
            let lane = self.lane(last);
            let whole = false;
            out.push(RunPages { lane, pages, whole });
        }
    }

    /// Hands over every unfinished wordline. The runs go on.
    pub(crate) fn close(&mut self, out: &mut Vec<RunPages>) {
        for run in 0..self.runs.len() {
            self.give_up(run, out);
        }
    }

    pub(crate) fn memory(&self) -> u64 {
        (self.runs.capacity() * size_of::<Run>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_one_number() {
        for index in 0..Stream::COUNT {
            assert_eq!(Stream::from_index(index).index(), index);
        }
        let last = Stream::Gc(FRONTIERS[1] - 1, Layout::Melded);
        assert_eq!(last.index(), Stream::COUNT - 1);
        assert_eq!(FRONTIERS[0], MAX_STREAMS as u8 + 1);
    }

    fn stripe(wordlines: u32, subpages: u32) -> Stripe {
        let mut stripe = Stripe::default();
        stripe.begin(wordlines, 3 * subpages, subpages);
        stripe
    }

    fn pages<const N: usize>(pages: [u32; N]) -> WordlinePages {
        pages.into_iter().collect()
    }

    #[test]
    fn a_stripe_fills_pass_by_pass() {
        let mut stripe = stripe(4, 1);
        let fills: Vec<Option<WordlinePages>> = (0..12).map(|page| stripe.push(page)).collect();
        assert!(fills[..8].iter().all(Option::is_none));
        assert_eq!(fills[8], Some(pages([0, 4, 8])));
        assert_eq!(fills[11], Some(pages([3, 7, 11])));
    }

    #[test]
    fn a_stripe_fills_a_flash_page_before_the_next() {
        let mut stripe = stripe(2, 2);
        let fills: Vec<Option<WordlinePages>> = (0..12).map(|page| stripe.push(page)).collect();
        assert_eq!(fills[9], Some(pages([0, 1, 4, 5, 8, 9])));
        assert_eq!(fills[11], Some(pages([2, 3, 6, 7, 10, 11])));
        assert_eq!(fills.iter().flatten().count(), 2);
        assert!(stripe.is_empty());
        for closed_at in 1..12 {
            (0..closed_at).for_each(|page| {
                stripe.push(page);
            });
            let closed = stripe.close();
            let held: Vec<u32> = closed
                .iter()
                .flat_map(|wordline| wordline.as_slice())
                .copied()
                .collect();
            let complete = closed_at >= 10;
            let mut expected: Vec<u32> = (0..closed_at)
                .filter(|page| !complete || page / 2 % 2 == 1)
                .collect();
            expected.sort_by_key(|page| (page / 2 % 2, *page));
            assert_eq!(held, expected, "closed at {closed_at}");
        }
    }

    #[test]
    fn closing_a_stripe_pads_only_wordlines_with_pages() {
        let mut stripe = stripe(4, 1);
        for page in 0..9 {
            stripe.push(page);
        }
        // Wordline 0 was complete; 1 to 3 lack their last page.
        assert_eq!(stripe.close(), [[1, 5], [2, 6], [3, 7]].map(pages));
        stripe.begin(4, 3, 1);
        stripe.push(20);
        assert_eq!(stripe.close(), [pages([20])]);
    }

    /// Writers take turns with pieces of so many pages; what is gathered, in order.
    fn writers(
        runs: &mut SequentialRuns,
        starts: &[u64],
        piece: u64,
        pieces: u64,
    ) -> Vec<RunPages> {
        let mut gathered = Vec::new();
        for chunk in 0..pieces {
            for writer in starts {
                for page in 0..piece {
                    let logical = writer + chunk * piece + page;
                    runs.push(0, logical, logical as u32, &mut gathered);
                }
            }
        }
        gathered
    }

    #[test]
    fn interleaved_writers_each_get_their_wordlines() {
        let mut runs = SequentialRuns::new(4, 3, 1);
        // In commands of four pages, which is no multiple of three.
        let gathered = writers(&mut runs, &[100, 200], 4, 3);
        assert_eq!(gathered.len(), 8);
        for RunPages { pages, whole, .. } in gathered {
            assert!(whole);
            let pages = pages.as_slice();
            assert_eq!(pages, [pages[0], pages[0] + 1, pages[0] + 2]);
        }
    }

    #[test]
    fn runs_are_bounded_and_the_rest_is_handed_over() {
        let mut runs = SequentialRuns::new(2, 3, 1);
        let mut gathered = writers(&mut runs, &[0, 100, 200, 300, 400], 1, 1);
        runs.close(&mut gathered);
        let pages: Vec<u32> = gathered
            .iter()
            .map(|gathered| gathered.pages.as_slice()[0])
            .collect();
        // Three runs were closed, oldest first; two were open.
        assert_eq!(pages, [0, 100, 200, 400, 300]);
        assert!(gathered.iter().all(|gathered| !gathered.whole));
    }

    #[test]
    fn the_logical_page_decides_the_lane_of_a_wordline() {
        let mut runs = SequentialRuns::new(2, 3, 4);
        // From the second page of wordline 1 to the first of wordline 3.
        let mut gathered = writers(&mut runs, &[4], 6, 1);
        runs.close(&mut gathered);
        let expected = [
            (1, pages([4, 5]), false),
            (2, pages([6, 7, 8]), true),
            (3, pages([9]), false),
        ];
        let expected = expected.map(|(lane, pages, whole)| RunPages { lane, pages, whole });
        assert_eq!(gathered, expected);
    }
}
