//! Which entries of the mapping the controller has at hand, and what reading and writing the others takes.
//!
//! ```text
//!   command --look--> Ok: so many pages of it go on
//!                     Miss: it waits for a translation page --read of flash--> fetched, and it asks again
//!   programs, deallocations --changed, deallocated--> translation pages to be written: write_back
//! ```
//!
//! The mapping itself (`ftl/mapping`) is always whole; a [`Map`] says what of it would be in DRAM. Translation pages are pages
//! of a space of their own: they lie on flash, and are moved, as all others do.

use std::convert::Infallible;
use std::fmt::Debug;
use std::ops::Range;

use super::NandMedium;
use crate::device::request::Requests;
use crate::engine::EventQueue;
use crate::event::Event;
use crate::ftl::{Entry, WriteError};
use crate::nand::{Owner, PageSet, WordlineAddr};
use crate::profile::Profile;

/// The number of a translation page in its NVM set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::device) struct TranslationPage(pub(in crate::device) u64);

impl From<Infallible> for TranslationPage {
    fn from(never: Infallible) -> TranslationPage {
        match never {}
    }
}

/// What of the mapping of an NVM set is in DRAM. Each set has its own.
pub(in crate::device) trait Map: Debug {
    /// What has to be read first. Where nothing ever has to be, [`Infallible`]: then the compiler drops all that waits.
    type Miss: Copy + Debug + Into<TranslationPage>;

    /// Whether it has translation pages on flash: then it is told of what changes, and asked for what to write.
    const HAS_PAGES: bool;

    fn new(profile: &Profile) -> Self;

    /// The pages of a space whose entries will be looked up or changed: how many of them, from the first on, are at hand.
    /// They are used at once.
    fn look(&mut self, space: u32, pages: Range<u64>) -> Result<u64, Self::Miss>;

    /// The translation page that was missing has come.
    fn fetched(&mut self, _: Self::Miss) {}

    /// The entry of a page has changed, as it was programmed somewhere.
    fn changed(&mut self, _space: u32, _page: u64) {}

    /// Entries of a range are gone.
    fn deallocated(&mut self, _space: u32, _pages: Range<u64>) {}

    /// The translation page that is to be written next, if there is one, until it is.
    fn write_back(&self) -> Option<TranslationPage> {
        None
    }

    /// It is in the write buffer.
    fn written_back(&mut self) {}
}

/// The whole mapping is in DRAM.
#[derive(Debug)]
pub(in crate::device) struct Table;

impl Map for Table {
    type Miss = Infallible;
    const HAS_PAGES: bool = false;

    fn new(_: &Profile) -> Table {
        Table
    }

    #[inline(always)]
    fn look(&mut self, _: u32, pages: Range<u64>) -> Result<u64, Infallible> {
        Ok(pages.end - pages.start)
    }
}

/// The translation pages of a set that are being read, and who waits for them.
#[derive(Debug)]
pub(super) struct Fetches<M: Map> {
    reading: Vec<(WordlineAddr, PageSet, M::Miss)>,
    /// Reads of the host's. Other commands wait in their own queue.
    waiting: Vec<u32>,
}

impl<M: Map> Default for Fetches<M> {
    fn default() -> Fetches<M> {
        Fetches {
            reading: Vec::new(),
            waiting: Vec::new(),
        }
    }
}

impl<M: Map> NandMedium<M> {
    /// How many of these pages' entries are at hand, from the first on. Nothing when they have to be read before.
    #[inline(always)]
    pub(super) fn at_hand(
        &mut self,
        queue: &mut EventQueue<Event>,
        (set, space): (u32, u32),
        pages: Range<u64>,
    ) -> Option<u64> {
        if !M::HAS_PAGES {
            return Some(pages.end - pages.start);
        }
        loop {
            match self.sets[set as usize].map.look(space, pages.clone()) {
                Ok(pages) => return Some(pages),
                Err(miss) => {
                    if self.is_read(queue, set, miss) {
                        return None;
                    }
                }
            }
        }
    }

    /// Whether what is missing comes from flash; else it was at hand elsewhere, or there was never anything to read.
    fn is_read(&mut self, queue: &mut EventQueue<Event>, set: u32, miss: M::Miss) -> bool {
        let of = &mut self.sets[set as usize];
        let page: TranslationPage = miss.into();
        let Entry::Flash(ppn) = of.ftl.map_entry(page.0) else {
            of.map.fetched(miss);
            return false;
        };
        let (at, page) = of.ftl.locate(ppn);
        let pages = 1 << page;
        let mut reading = of.fetches.reading.iter();
        if !reading.any(|&(from, of_it, _)| (from, of_it) == (at, pages)) {
            of.fetches.reading.push((at, pages, miss));
            self.flash.read(queue, at, pages, false, Owner::map(set));
        }
        true
    }

    /// A read of the host's waits for entries.
    pub(super) fn wait_for_map(&mut self, requests: &mut Requests, set: u32, id: u32) {
        requests[id].parts += 1;
        self.sets[set as usize].fetches.waiting.push(id);
    }

    /// A translation page has come from flash: those that waited ask again.
    pub(super) fn fetched(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        set: u32,
        (at, pages): (WordlineAddr, PageSet),
    ) {
        let of = &mut self.sets[set as usize];
        let mut reading = of.fetches.reading.iter();
        let Some(read) = reading.position(|&(from, of_it, _)| (from, of_it) == (at, pages)) else {
            debug_assert!(false, "nothing of the mapping was read there");
            return;
        };
        let (_, _, miss) = of.fetches.reading.swap_remove(read);
        of.map.fetched(miss);
        for id in std::mem::take(&mut of.fetches.waiting) {
            self.read_on(queue, requests, id);
            requests.part_done(id);
        }
    }

    /// Tells the map what has changed, and writes what it wants written, as far as the write buffer has room.
    #[inline(always)]
    pub(super) fn keep_map(&mut self, set: u32) {
        if !M::HAS_PAGES {
            return;
        }
        let of = &mut self.sets[set as usize];
        of.ftl
            .for_each_changed(|space, page| of.map.changed(space, page));
        while let Some(page) = of.map.write_back() {
            match of.ftl.write_map(page.0) {
                Ok(()) => of.map.written_back(),
                Err(WriteError::BufferFull | WriteError::CapacityExceeded) => break,
            }
        }
    }
}
