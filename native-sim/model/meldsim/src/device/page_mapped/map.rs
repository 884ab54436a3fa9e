//! Which entries of the mapping the controller has at hand, and what reading and writing the others takes.
//!
//! ```text
//!   command --translate--> look: so many pages of it go on
//!                          or it waits for a translation page --read of flash--> fetched, and it goes on
//!   programs, deallocations --changed, deallocated--> translation pages that are due
//!   keep_map: what is due is read, where the rest of it is not at hand, and written
//! ```
//!
//! The mapping itself (`ftl/mapping`) is always whole; a [`Map`] says what of it would be in DRAM. Translation pages are pages
//! of a space of their own: they lie on flash, and are moved, as all others do, in superblocks of their own.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Debug;
use std::ops::Range;

use super::NandMedium;
use crate::device::request::{PageRange, Requests};
use crate::engine::EventQueue;
use crate::event::Event;
use crate::ftl::{Entry, WriteError};
use crate::nand::{Owner, PageSet, WordlineAddr};
use crate::nvme::Opcode;
use crate::profile::Profile;
use crate::timeline::Part;

/// Translation pages that are read and merged at a time, for each set: each takes a page of DRAM.
pub(super) const MERGES: usize = 64;
/// The host's writes wait while more of them are due.
const DUE: usize = 2 * MERGES;

/// The number of a translation page in its NVM set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::device) struct TranslationPage(pub(in crate::device) u64);

impl From<Infallible> for TranslationPage {
    fn from(never: Infallible) -> TranslationPage {
        match never {}
    }
}

/// What a map counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::device) struct MapCounts {
    /// Pages whose entries were needed, and those of them for which a line was not at hand.
    pub(in crate::device) lookups: u64,
    pub(in crate::device) misses: u64,
    /// Lines that made room for others, and those of them that had changed.
    pub(in crate::device) evictions: u64,
    pub(in crate::device) write_backs: u64,
}

/// What of the mapping of an NVM set is in DRAM. Each set has its own.
pub(in crate::device) trait Map: Debug {
    /// What has to be read first. Where nothing ever has to be, [`Infallible`]: then the compiler drops all that waits.
    type Miss: Copy + Debug + Into<TranslationPage>;

    /// Whether it has translation pages on flash: then it is told of what changes, and asked for what to write.
    const HAS_PAGES: bool;

    fn new(profile: &Profile) -> Self;

    /// There is another space, of so many pages.
    fn add_space(&mut self, _pages: u64) {}

    /// All translation pages.
    fn pages(&self) -> u64 {
        0
    }

    /// The translation pages of these pages of a space.
    fn pages_of(&self, _space: u32, _pages: Range<u64>) -> Range<u64> {
        0..0
    }

    /// How many of these pages of a space, from the first on, have their entries at hand; or what is missing for the first.
    fn look(&mut self, space: u32, pages: Range<u64>) -> Result<u64, Self::Miss>;

    /// What was missing for the first of these pages has come. Returns how many of them have their entries now.
    fn fetched(&mut self, _space: u32, pages: Range<u64>) -> u64 {
        pages.end - pages.start
    }

    /// The entry of a page has changed, as it was programmed somewhere.
    fn changed(&mut self, _space: u32, _page: u64) {}

    /// Entries of a range are gone; `exists` says of a translation page whether it is on flash. Returns those of which
    /// nothing is left.
    fn deallocated(
        &mut self,
        _space: u32,
        _pages: Range<u64>,
        _exists: impl Fn(u64) -> bool,
    ) -> Range<u64> {
        0..0
    }

    /// The nth translation page that is to be written.
    fn due(&self, _nth: usize) -> Option<TranslationPage> {
        None
    }

    /// Pages that are to be written.
    fn pages_due(&self) -> usize {
        0
    }

    /// Whether anything of a translation page has changed and is not on flash.
    fn is_changed(&self, _: TranslationPage) -> bool {
        false
    }

    /// Whether all of a translation page that is to be written is at hand.
    fn holds(&self, _: TranslationPage) -> bool {
        false
    }

    /// A translation page is at hand, to be merged with what has changed of it, if it is to be written.
    fn merges(&mut self, _: TranslationPage) {}

    /// The first that is to be written is in the write buffer, or need not be.
    fn written(&mut self) {}

    fn counts(&self) -> MapCounts {
        MapCounts::default()
    }

    /// The share of entries of so many pages that are not at hand, when the cache is full.
    fn missed(&self, _pages: u64) -> f64 {
        0.0
    }

    /// Bytes of memory it takes.
    fn memory(&self) -> u64 {
        0
    }
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

/// A translation page that is being read, and the commands that wait for it.
#[derive(Debug)]
struct Fetch {
    page: TranslationPage,
    waiting: Vec<u32>,
}

/// Those of a set that are being read, by where they are.
#[derive(Debug, Default)]
pub(super) struct Fetches {
    reading: HashMap<(WordlineAddr, PageSet), Fetch>,
    /// Of the translation pages that are due, the first so many have been seen to.
    merging: usize,
    /// Translation pages that were read.
    pub(super) pages_read: u64,
}

impl<M: Map> NandMedium<M> {
    /// Looks up the entries of a command, until one is not at hand: then it waits for a translation page.
    #[inline(always)]
    pub(super) fn translate(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        id: u32,
    ) {
        if !M::HAS_PAGES {
            return;
        }
        let request = &mut requests[id];
        let PageRange {
            set, space, end, ..
        } = request.range;
        while request.mapped < end {
            let pages = request.mapped..end;
            let map = &mut self.sets[set as usize].map;
            request.mapped += match map.look(space, pages.clone()) {
                Ok(pages) => pages,
                Err(miss) => {
                    let page = miss.into();
                    if !map.holds(page) && self.fetch(queue, set, page, Some(id)) {
                        request.parts += 1;
                        return;
                    }
                    self.sets[set as usize].map.fetched(space, pages)
                }
            };
        }
    }

    /// Reads a translation page, for a command that waits or to be merged. False when there is nothing to read: it is in the
    /// controller, or there never was one.
    fn fetch(
        &mut self,
        queue: &mut EventQueue<Event>,
        set: u32,
        page: TranslationPage,
        waits: Option<u32>,
    ) -> bool {
        let of = &mut self.sets[set as usize];
        let Entry::Flash(ppn) = of.ftl.map_entry(page.0) else {
            return false;
        };
        let (at, nth) = of.ftl.locate(ppn);
        let Fetches {
            reading,
            pages_read,
            ..
        } = &mut of.fetches;
        let fetch = reading.entry((at, 1 << nth)).or_insert_with(|| {
            *pages_read += 1;
            self.flash.read(queue, at, 1 << nth, false, Owner::map(set));
            let waiting = Vec::new();
            Fetch { page, waiting }
        });
        fetch.waiting.extend(waits);
        true
    }

    /// A translation page has come from flash: those that waited go on.
    pub(super) fn fetched(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        set: u32,
        at: (WordlineAddr, PageSet),
    ) {
        let of = &mut self.sets[set as usize];
        let Some(Fetch { page, waiting }) = of.fetches.reading.remove(&at) else {
            debug_assert!(false, "nothing of the mapping was read there");
            return;
        };
        of.map.merges(page);
        for id in waiting {
            if let Some(recorder) = self.flash.recorder() {
                recorder.spend(id, Part::Mapping, queue.now());
            }
            let request = &mut requests[id];
            let pages = request.mapped..request.range.end;
            let map = &mut self.sets[set as usize].map;
            request.mapped += map.fetched(request.range.space, pages);
            self.translate(queue, requests, id);
            if requests[id].opcode == Opcode::Read {
                self.read_on(queue, requests, id);
            }
            requests.part_done(id);
        }
    }

    /// Whether so many translation pages are to be written that the host has to wait.
    #[inline(always)]
    pub(super) fn is_map_behind(&self, set: u32) -> bool {
        M::HAS_PAGES && self.sets[set as usize].map.pages_due() > DUE
    }

    /// Tells the map of a deallocation.
    #[inline(always)]
    pub(super) fn deallocated(&mut self, range: &PageRange) {
        if !M::HAS_PAGES {
            return;
        }
        let of = &mut self.sets[range.set as usize];
        let (first, end) = range.whole();
        if first >= end {
            return;
        }
        let exists = |page| of.ftl.map_entry(page) != Entry::Unmapped;
        let gone = of.map.deallocated(range.space, first..end, exists);
        of.ftl.drop_map_pages(gone);
    }

    /// Sees to what has become due while nothing may be on its way that would lead there.
    #[inline(always)]
    pub(super) fn begin_map(&mut self, queue: &mut EventQueue<Event>, set: u32) {
        if M::HAS_PAGES && self.sets[set as usize].map.pages_due() > 0 {
            self.keep_map(queue, set);
            self.dispatch(queue, set, Owner::gc(set));
        }
    }

    /// Tells the map what has changed; reads what is to be merged, and writes what is whole, as far as there is room.
    #[inline(always)]
    pub(super) fn keep_map(&mut self, queue: &mut EventQueue<Event>, set: u32) {
        if !M::HAS_PAGES {
            return;
        }
        let of = &mut self.sets[set as usize];
        of.ftl
            .for_each_changed(|space, page| of.map.changed(space, page));
        loop {
            let was_due = self.sets[set as usize].map.pages_due();
            self.merge_due(queue, set);
            let of = &mut self.sets[set as usize];
            while let Some(page) = of.map.due(0).filter(|&page| of.map.holds(page)) {
                let is_changed = of.map.is_changed(page);
                if is_changed && of.ftl.write_map(page.0) == Err(WriteError::BufferFull) {
                    break;
                }
                of.map.written();
                // Whole pages are written without having been seen to.
                of.fetches.merging = of.fetches.merging.saturating_sub(1);
            }
            // Nothing may be on its way that would tell of those that come next.
            if of.map.pages_due() == was_due {
                return of.ftl.set_map_behind(was_due > DUE);
            }
        }
    }

    /// Sees to the first translation pages that are due: reads those of which the rest is not at hand.
    fn merge_due(&mut self, queue: &mut EventQueue<Event>, set: u32) {
        while self.sets[set as usize].fetches.merging < MERGES {
            let of = &mut self.sets[set as usize];
            let Some(page) = of.map.due(of.fetches.merging) else {
                break;
            };
            of.fetches.merging += 1;
            let is_at_hand = of.map.holds(page) || !of.map.is_changed(page);
            if is_at_hand || !self.fetch(queue, set, page, None) {
                self.sets[set as usize].map.merges(page);
            }
        }
    }
}
