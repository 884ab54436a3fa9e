//! The data oracle of the tests: follows each page's data from the write that brought it, so that a
//! test can ask what a read would return. The device itself carries no data.
//!
//! The layer tells it of everything that moves data. Outside tests it is nothing, and so are the calls.

#[cfg(not(test))]
pub(crate) use self::none::Oracle;
#[cfg(test)]
pub(crate) use self::recorder::Oracle;

#[cfg(not(test))]
mod none {
    use crate::ftl::address::{Addressing, Ppn};

    #[derive(Debug, Default)]
    pub(crate) struct Oracle(());

    impl Oracle {
        /// The writes from here on bring the data of this tag.
        pub(crate) fn begin(&mut self, _tag: u64) {}

        /// The page that is restored next was buffered when the power was cut.
        pub(crate) fn begin_restored(&mut self, _space: u32, _page: u64) {}

        /// A slot holds a page that was written.
        pub(crate) fn buffered(&mut self, _slot: u32) {}

        /// A slot is on its way to a die: writing to it comes too late.
        pub(crate) fn started(&mut self, _slot: u32) {}

        /// Pages were placed on flash, from one on.
        pub(crate) fn preloaded(&mut self, _first: Ppn, _pages: u32) {}

        /// A slot was programmed.
        pub(crate) fn programmed(&mut self, _slot: u32, _ppn: Ppn) {}

        /// Garbage collection has read a page into a slot.
        pub(crate) fn collected(&mut self, _ppn: Ppn, _slot: u32) {}

        /// A page was copied on flash.
        pub(crate) fn moved(&mut self, _from: Ppn, _to: Ppn) {}

        /// A superblock was erased.
        pub(crate) fn erased(&mut self, _: &Addressing, _log: u32, _superblock: u32) {}
    }
}

#[cfg(test)]
mod recorder {
    use std::collections::HashMap;

    use crate::ftl::address::{Addressing, Ppn};
    use crate::ftl::mapping::Entry;

    /// Data by slot and by flash page; a piece of data is the tag of the write that brought it.
    #[derive(Debug, Default)]
    pub(crate) struct Oracle {
        /// The tag of the write at work.
        writing: u64,
        slots: HashMap<u32, u64>,
        /// Data of slots on their way to a die.
        started: HashMap<u32, u64>,
        pages: HashMap<Ppn, u64>,
    }

    impl Oracle {
        pub(crate) fn begin(&mut self, tag: u64) {
            self.writing = tag;
        }

        pub(crate) fn begin_restored(&mut self, space: u32, page: u64) {
            self.writing = restored(space, page);
        }

        pub(crate) fn buffered(&mut self, slot: u32) {
            self.slots.insert(slot, self.writing);
        }

        pub(crate) fn started(&mut self, slot: u32) {
            self.started.insert(slot, self.slots[&slot]);
        }

        pub(crate) fn preloaded(&mut self, first: Ppn, pages: u32) {
            for number in first.0..first.0 + u64::from(pages) {
                self.program(Ppn(number), self.writing);
            }
        }

        pub(crate) fn programmed(&mut self, slot: u32, ppn: Ppn) {
            self.slots.remove(&slot);
            self.program(ppn, self.started[&slot]);
        }

        pub(crate) fn collected(&mut self, ppn: Ppn, slot: u32) {
            self.slots.insert(slot, self.pages[&ppn]);
        }

        pub(crate) fn moved(&mut self, from: Ppn, to: Ppn) {
            self.program(to, self.pages[&from]);
        }

        pub(crate) fn erased(&mut self, addressing: &Addressing, log_id: u32, superblock: u32) {
            self.pages.retain(|&ppn, _| {
                let at = addressing.log_addr(ppn);
                (at.log_id, at.superblock) != (log_id, superblock)
            });
        }

        fn program(&mut self, ppn: Ppn, data: u64) {
            let before = self.pages.insert(ppn, data);
            assert_eq!(before, None, "{ppn:?} is programmed twice");
        }

        /// The data that an entry of the mapping leads to.
        pub(crate) fn data(&self, entry: Entry) -> Option<u64> {
            match entry {
                Entry::Unmapped => None,
                Entry::Buffered(slot) => Some(self.slots[&slot]),
                Entry::Flash(ppn) => Some(self.pages[&ppn]),
            }
        }

        /// After a power cut: `flash` is what was there before, `data` tells what a page held.
        pub(crate) fn restore(&mut self, flash: &Oracle, data: impl Fn(u32, u64) -> u64) {
            self.pages.clone_from(&flash.pages);
            for tag in self.slots.values_mut().chain(self.started.values_mut()) {
                let (space, page) = ((*tag << 1 >> 49) as u32, *tag & ((1 << 48) - 1));
                assert_eq!(*tag, restored(space, page));
                *tag = data(space, page);
            }
        }
    }

    /// Stands for the data that a buffered page held when the power was cut.
    fn restored(space: u32, page: u64) -> u64 {
        1 << 63 | u64::from(space) << 48 | page
    }
}
