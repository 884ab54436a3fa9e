//! Stripes: the normal layout.

use super::pages::{Token, WordlinePages};

/// Gathers pages in the normal layout.
#[derive(Debug, Default)]
pub(crate) struct Stripe<P: Token = u32> {
    wordlines: usize,
    /// Log2 of the pages of a flash page, which follow each other.
    subpage_shift: u32,
    /// Pages before the last pass over the stripe.
    before_last_pass: usize,
    pages: Vec<P>,
}

impl<P: Token> Stripe<P> {
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
    pub(crate) fn push(&mut self, page: P) -> Option<WordlinePages<P>> {
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
    pub(crate) fn for_each_gathered(&self, after: usize, page: impl FnMut(P)) {
        let flash_pages = self.pages.len() >> self.subpage_shift;
        self.for_each_page_of((flash_pages + after) % self.wordlines, page);
    }

    /// Closes every wordline that holds a page.
    pub(crate) fn close(&mut self) -> Vec<WordlinePages<P>> {
        let of_last_pass = self.pages.len().saturating_sub(self.before_last_pass);
        let complete = of_last_pass >> self.subpage_shift;
        let begun = self.pages.len().div_ceil(1 << self.subpage_shift);
        let open = complete..begun.min(self.wordlines);
        let closed = open.map(|wordline| self.wordline(wordline)).collect();
        self.pages.clear();
        closed
    }

    /// Pages whose wordline is not handed over yet.
    fn gathered(&self) -> usize {
        let of_last_pass = self.pages.len().saturating_sub(self.before_last_pass);
        let complete = of_last_pass >> self.subpage_shift;
        let before = self.before_last_pass.checked_div(self.wordlines);
        self.pages.len() - complete * (before.unwrap_or(0) + (1 << self.subpage_shift))
    }

    #[inline]
    fn wordline(&self, wordline: usize) -> WordlinePages<P> {
        let mut pages = WordlinePages::NONE;
        self.for_each_page_of(wordline, |page| pages.push(page));
        pages
    }

    /// Hands over what is gathered of a wordline.
    #[inline]
    fn for_each_page_of(&self, wordline: usize, mut page: impl FnMut(P)) {
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
        (self.pages.capacity() * size_of::<P>()) as u64
    }
}

/// What a stream gathers in a log.
#[derive(Debug, Default)]
pub(crate) struct Gatherer<P: Token = u32> {
    pub(crate) stripe: Stripe<P>,
    /// Pages whose wordline lacks others; in shadow order and the normal layout, those whose flash page does.
    pub(crate) leftovers: WordlinePages<P>,
}

impl<P: Token> Gatherer<P> {
    /// Pages that wait for others of their wordline.
    pub(crate) fn gathered(&self) -> u32 {
        (self.stripe.gathered() + self.leftovers.as_slice().len()) as u32
    }

    /// Closes every wordline that holds a page.
    pub(crate) fn close(&mut self) -> Vec<WordlinePages<P>> {
        let mut closed = self.stripe.close();
        closed.extend(self.leftovers.take());
        closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
