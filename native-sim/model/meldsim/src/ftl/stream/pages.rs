//! Pages that share a wordline.

use crate::engine::NIL;
use crate::nand::MAX_PAGES_PER_WORDLINE;

/// What stands for a page: a slot of the write buffer, or its entry of the mapping.
pub(crate) trait Token: Copy + Default {
    const NONE: Self;
}

impl Token for u32 {
    const NONE: u32 = NIL;
}

/// The first pages of a wordline or, in shadow order, of a flash page. The rest is padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordlinePages<P = u32> {
    len: u32,
    slots: [P; MAX_PAGES_PER_WORDLINE],
}

impl<P: Token> WordlinePages<P> {
    /// Padding only.
    pub(crate) const NONE: WordlinePages<P> = WordlinePages {
        len: 0,
        slots: [P::NONE; MAX_PAGES_PER_WORDLINE],
    };

    /// Adds the next page.
    #[inline]
    pub(crate) fn push(&mut self, page: P) {
        self.slots[self.len as usize] = page;
        self.len += 1;
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[P] {
        &self.slots[..self.len as usize]
    }

    /// What is not padding of so many pages from one on.
    #[inline]
    pub(crate) fn part(&self, first: u32, pages: u32) -> &[P] {
        let first = first.min(self.len);
        &self.slots[first as usize..self.len.min(first.saturating_add(pages)) as usize]
    }

    /// Adds the next page; hands over all of them when they are `all`.
    #[inline]
    pub(crate) fn complete(&mut self, page: P, all: u32) -> Option<WordlinePages<P>> {
        self.push(page);
        if self.len == all { self.take() } else { None }
    }

    /// Hands over what there is.
    pub(crate) fn take(&mut self) -> Option<WordlinePages<P>> {
        let taken = std::mem::take(self);
        (taken.len > 0).then_some(taken)
    }
}

impl<P: Token> Default for WordlinePages<P> {
    fn default() -> WordlinePages<P> {
        WordlinePages::NONE
    }
}

impl<P: Token> FromIterator<P> for WordlinePages<P> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = P>>(pages: I) -> WordlinePages<P> {
        let mut filled = WordlinePages::NONE;
        pages.into_iter().for_each(|page| filled.push(page));
        filled
    }
}
