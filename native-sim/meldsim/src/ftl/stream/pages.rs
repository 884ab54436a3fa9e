//! Pages that share a wordline.

use crate::engine::NIL;
use crate::nand::MAX_PAGES_PER_WORDLINE;

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
