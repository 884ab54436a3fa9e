//! A victim: what it holds, and how far its collection has come. Which one is next: `selection.rs`.

mod selection;

use std::collections::VecDeque;

pub(crate) use self::selection::{Choice, VictimSelection};
use super::address::Addressing;
use super::mapping::{MapIndex, Mapping};
use super::reverse_map;
use super::stream::Layout;
use crate::engine::NIL;
use crate::nand::{PageSet, WordlineAddr};
use crate::profile::limits::GC_STRIPES_AT_ONCE;

/// A superblock that is being emptied.
#[derive(Debug)]
pub(crate) struct Victim {
    pub(crate) superblock: u32,
    pub(crate) layout: Layout,
    /// For each position the entry whose data it holds (P2L); kept up to date where it is confirmed.
    pub(crate) p2l: Box<[MapIndex]>,
    /// For each page of the stripes that are being read, each in its turn here, the slot it was read into,
    /// or [`NIL`]. No larger than it must be, to stay in the processor's cache.
    pub(crate) slots: Box<[u32]>,
    /// Positions that are confirmed. That is done stripe by stripe, for the mapping's entries are then still
    /// in the processor's cache when the pages move.
    confirmed: u32,
    /// Valid pages of the stripe that was confirmed last.
    pub(crate) valid_in_stripe: u32,
    /// The first position of the next stripe to read: a wordline of each unit.
    pub(crate) next: u32,
    /// Stripes that are being read, the first one first.
    stripes: VecDeque<StripeRead>,
    /// Where the slots of the stripe begin that is read next.
    next_slots: u32,
    /// Pages that are being read.
    pub(crate) reading: u32,
    /// Pages that are being copied inside their planes.
    pub(crate) copying: u32,
}

/// A superblock that is being erased.
#[derive(Debug)]
pub(crate) struct Erasing {
    pub(crate) superblock: u32,
    /// The unit whose block is erased next.
    pub(crate) next: u32,
    /// Blocks whose erases have been given out.
    pub(crate) waiting: u32,
}

/// A stripe that is being read.
#[derive(Debug)]
struct StripeRead {
    /// Its first position.
    first: u32,
    /// Pages that have not arrived.
    waiting: u32,
    /// Where its slots begin.
    slots: u32,
}

impl Victim {
    /// The victim `superblock`, of which so many pages are read as a stripe.
    pub(crate) fn new(
        superblock: u32,
        layout: Layout,
        p2l: Box<[MapIndex]>,
        pages_per_stripe: u32,
    ) -> Victim {
        Victim {
            superblock,
            layout,
            slots: vec![NIL; (GC_STRIPES_AT_ONCE * pages_per_stripe) as usize].into_boxed_slice(),
            next_slots: 0,
            p2l,
            confirmed: 0,
            valid_in_stripe: 0,
            next: 0,
            stripes: VecDeque::new(),
            reading: 0,
            copying: 0,
        }
    }

    /// Fetches from memory the entries that the stripe at a position is to be confirmed with.
    pub(crate) fn prefetch_stripe(&self, first: u32, pages_per_stripe: u32, mapping: &Mapping) {
        let stripe = self.p2l[first as usize..].iter();
        mapping.prefetch_all(stripe.take(pages_per_stripe as usize).copied());
    }

    /// Confirms what the next stripe holds, once. False when there is no next stripe.
    pub(crate) fn confirm_stripe(
        &mut self,
        log_id: u32,
        mapping: &Mapping,
        addressing: &Addressing,
    ) -> bool {
        if self.next as usize == self.p2l.len() {
            return false;
        }
        if self.next >= self.confirmed {
            self.confirmed = self.next + addressing.pages_per_stripe;
            self.prefetch_stripe(self.confirmed, addressing.pages_per_stripe, mapping);
            let stripe = &mut self.p2l[self.next as usize..self.confirmed as usize];
            let first = addressing.ppn(log_id, self.superblock, self.next);
            reverse_map::confirm(stripe, first, addressing.logs, mapping);
            // Those of none have the topmost bit: that is told for several at a time.
            let none = stripe.iter().map(|index| index.0 >> 63).sum::<u64>();
            self.valid_in_stripe = stripe.len() as u32 - none as u32;
        }
        true
    }

    /// The data of pages is no longer current.
    #[inline]
    pub(crate) fn invalidated(&mut self, position: u32, pages: u32) {
        for position in position..position + pages {
            let index = &mut self.p2l[position as usize];
            let index = std::mem::replace(index, MapIndex::NONE);
            let is_next = position >= self.next && position < self.confirmed;
            self.valid_in_stripe -= u32::from(index != MapIndex::NONE && is_next);
        }
    }

    /// Positions whose data is elsewhere.
    pub(crate) fn emptied(&self, pages_per_stripe: u32) -> u32 {
        self.next - self.stripes.len() as u32 * pages_per_stripe - self.copying
    }

    /// Whether so many stripes are being read that the next one has to wait.
    pub(crate) fn reads_enough(&self) -> bool {
        self.stripes.len() == GC_STRIPES_AT_ONCE as usize
    }

    /// The valid pages of the next stripe, which has so many in all, are being read.
    pub(crate) fn begin_stripe(&mut self, pages: u32) {
        self.reading += self.valid_in_stripe;
        let (slots, end) = (self.next_slots, self.next_slots + pages);
        self.slots[slots as usize..end as usize].fill(NIL);
        self.next_slots = end % self.slots.len() as u32;
        self.stripes.push_back(StripeRead {
            first: self.next,
            waiting: self.valid_in_stripe,
            slots,
        });
    }

    /// Hands over what is to be read of the next stripe: wordlines, and which of their pages.
    pub(crate) fn for_each_wordline(
        &self,
        log_id: u32,
        addressing: &Addressing,
        mut read: impl FnMut(WordlineAddr, PageSet),
    ) {
        let (from_unit, step) = addressing.strides(self.layout);
        let in_shadow_order = addressing.is_shadow() && self.layout == Layout::Normal;
        let at = |position| addressing.page_addr(self.layout, position);
        for unit in 0..addressing.units {
            let first = self.next + unit * from_unit;
            let mut pages: PageSet = 0;
            for index in 0..addressing.pages_per_wordline {
                let position = first + addressing.offset(step, index);
                if self.p2l[position as usize] != MapIndex::NONE {
                    pages |= 1 << index;
                }
            }
            if !in_shadow_order {
                if pages != 0 {
                    read(
                        addressing.wordline(log_id, self.superblock, at(first)),
                        pages,
                    );
                }
                continue;
            }
            // The stripe's flash pages are of several wordlines.
            let subpages = addressing.subpages();
            for index in (0..addressing.pages_per_wordline).step_by(subpages as usize) {
                let of_flash_page = (pages >> index) & ((1 << subpages) - 1);
                if of_flash_page != 0 {
                    let at = at(first + addressing.offset(step, index));
                    let wordline = addressing.wordline(log_id, self.superblock, at);
                    read(wordline, of_flash_page << at.page);
                }
            }
        }
    }

    /// A page has arrived in this slot, or in none because it is no longer current.
    #[inline]
    pub(crate) fn arrived(&mut self, position: u32, slot: u32) {
        self.reading -= 1;
        let mut stripes = self.stripes.iter_mut().rev();
        if let Some(stripe) = stripes.find(|stripe| stripe.first <= position) {
            stripe.waiting -= 1;
            self.slots[(stripe.slots + position - stripe.first) as usize] = slot;
        }
    }

    /// Where the slots of the stripe that was read first begin, if all of its pages have arrived.
    pub(crate) fn pop_stripe(&mut self) -> Option<u32> {
        let stripe = self.stripes.front()?;
        if stripe.waiting > 0 {
            return None;
        }
        let slots = stripe.slots;
        self.stripes.pop_front();
        Some(slots)
    }
}

/// A wordline on its way to another of its plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copyback {
    pub(crate) log_id: u32,
    /// The position of its first page in the victim.
    pub(crate) from: u32,
    pub(crate) superblock: u32,
    /// The position of its first page there.
    pub(crate) to: u32,
    /// From each flash page's position to the next one's.
    pub(crate) step: u32,
}
