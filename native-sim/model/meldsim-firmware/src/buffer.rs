//! The burst buffer: DRAM between host and medium, direct-mapped by the logical page.
//!
//! A written page is in transit from when it is put in here until the medium has it. A read must find
//! it here meanwhile, for the medium may still give what was there before. A page that another one
//! displaces while it is in transit stays readable through the slot's *evicted-page field*:
//!
//! ```text
//!   write A   slot { current: A in transit }
//!   write B   slot { current: B in transit, evicted: A in transit }   both map to this slot
//!   read A    from the evicted-page field; without it, from the medium: too early
//!   A ends    slot { current: B in transit }
//! ```

use meldsim::policy::firmware::Pages;

use super::command::NIL;

/// A page with its data.
#[derive(Clone, Copy, Debug)]
struct BufferedPage {
    volume: u32,
    page: u64,
    /// The write that the data are of, or the read that has brought them.
    writer: u32,
    /// The medium does not have the data yet.
    is_in_transit: bool,
}

impl BufferedPage {
    const EMPTY: BufferedPage = BufferedPage {
        volume: NIL,
        page: 0,
        writer: NIL,
        is_in_transit: false,
    };

    #[inline]
    fn is(&self, volume: u32, page: u64) -> bool {
        self.page == page && self.volume == volume
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    current: BufferedPage,
    /// The evicted-page field: in transit, or empty.
    evicted: BufferedPage,
}

/// The table that all threads share. CACHE threads and the end of a write change it, all others only
/// read it.
#[derive(Debug)]
pub(super) struct BurstBuffer {
    slots: Vec<Slot>,
    pages: u32,
}

impl BurstBuffer {
    /// One of so many pages, without memory.
    pub(super) fn new(pages: u32) -> BurstBuffer {
        BurstBuffer {
            slots: Vec::new(),
            pages,
        }
    }

    /// Gets the memory. Many profiles are only looked at, so this is for the first command.
    #[inline]
    pub(super) fn allocate(&mut self) {
        if self.slots.is_empty() {
            self.slots = vec![Slot::EMPTY; self.pages as usize];
        }
    }

    #[inline]
    fn index(&self, volume: u32, page: u64) -> usize {
        // Volumes begin in different places.
        let number = page.wrapping_add(u64::from(volume) * 0x9E37_79B9);
        (number % u64::from(self.pages)) as usize
    }

    /// The write that the data of a page are of, if they are here.
    #[inline]
    pub(super) fn read(&self, volume: u32, page: u64) -> Option<u32> {
        let Slot { current, evicted } = &self.slots[self.index(volume, page)];
        let entry = [current, evicted]
            .into_iter()
            .find(|entry| entry.is(volume, page));
        entry.map(|entry| entry.writer)
    }

    /// Whether all pages are here.
    #[inline]
    pub(super) fn holds(&self, pages: &Pages) -> bool {
        (pages.first..pages.end).all(|page| self.read(pages.volume, page).is_some())
    }

    /// Puts a page here that `writer` takes to the medium. False when there is no room for it: two
    /// other pages in transit have the slot. Then the page is not here at all, and must not be read
    /// before the medium has it.
    #[inline]
    pub(super) fn write(&mut self, volume: u32, page: u64, writer: u32) -> bool {
        let index = self.index(volume, page);
        let Slot { current, evicted } = &mut self.slots[index];
        if evicted.is(volume, page) {
            *evicted = BufferedPage::EMPTY;
        }
        if current.is_in_transit && !current.is(volume, page) {
            if evicted.is_in_transit {
                return false;
            }
            *evicted = *current;
        }
        *current = BufferedPage {
            volume,
            page,
            writer,
            is_in_transit: true,
        };
        true
    }

    /// Puts a page here that `reader` has brought from the medium, unless it is here, or one in transit
    /// has the slot.
    pub(super) fn fill(&mut self, volume: u32, page: u64, reader: u32) {
        let index = self.index(volume, page);
        let slot = &mut self.slots[index];
        let is_here = slot.current.is(volume, page) || slot.evicted.is(volume, page);
        if !is_here && !slot.current.is_in_transit {
            slot.current = BufferedPage {
                volume,
                page,
                writer: reader,
                is_in_transit: false,
            };
        }
    }

    /// Forgets pages. They must not be read before the medium is through with every write of them.
    pub(super) fn forget(&mut self, pages: &Pages) {
        if pages.count() <= self.pages.into() {
            for page in pages.first..pages.end {
                let index = self.index(pages.volume, page);
                self.slots[index].forget(pages);
            }
        } else {
            self.slots.iter_mut().for_each(|slot| slot.forget(pages));
        }
    }

    /// The medium has the pages of `writer`.
    #[inline]
    pub(super) fn written(&mut self, pages: &Pages, writer: u32) {
        for page in pages.first..pages.end {
            let index = self.index(pages.volume, page);
            let Slot { current, evicted } = &mut self.slots[index];
            if current.writer == writer && current.is(pages.volume, page) {
                current.is_in_transit = false;
            }
            if evicted.writer == writer && evicted.is(pages.volume, page) {
                *evicted = BufferedPage::EMPTY;
            }
        }
    }
}

impl Slot {
    const EMPTY: Slot = Slot {
        current: BufferedPage::EMPTY,
        evicted: BufferedPage::EMPTY,
    };

    fn forget(&mut self, pages: &Pages) {
        for entry in [&mut self.current, &mut self.evicted] {
            if entry.volume == pages.volume && (pages.first..pages.end).contains(&entry.page) {
                *entry = BufferedPage::EMPTY;
            }
        }
    }
}

#[cfg(test)]
impl BurstBuffer {
    /// Empties the evicted-page fields: what a buffer without them would give.
    pub(super) fn forget_evicted(&mut self) {
        for slot in &mut self.slots {
            slot.evicted = BufferedPage::EMPTY;
        }
    }
}
