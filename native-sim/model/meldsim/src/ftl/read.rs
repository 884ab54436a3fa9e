//! Reads: from logical pages to operations of the flash.
//!
//! In come consecutive logical pages, out go operations: one for the pages of each flash page, or one for
//! pages that follow each other on a melded wordline.

use std::ops::Range;

use super::address::{Addressing, LogAddr, PageAddr, Ppn};
use super::layer::Ftl;
use super::log::Log;
use super::mapping::{Entry, Mapping};
use super::stream::Layout;
use crate::engine::EventQueue;
use crate::event::Event;
use crate::nand::{Flash, Owner, PageSet, WordlineAddr};

/// Where the pages of a read were found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PagesRead {
    pub(crate) flash: u64,
    pub(crate) buffered: u64,
    pub(crate) unmapped: u64,
}

impl Ftl {
    /// Reads consecutive pages in logical order: queues what is on flash for `owner`. `skipped` are codewords of the first
    /// and of the last one that are not needed.
    pub(crate) fn read(
        &self,
        flash: &mut Flash,
        queue: &mut EventQueue<Event>,
        space: u32,
        pages: Range<u64>,
        skipped: [u8; 2],
        owner: Owner,
    ) -> PagesRead {
        let reader = Reader {
            addressing: &self.addressing,
            logs: &self.logs,
            flash,
            queue,
            owner,
            pending: None,
            before: 0,
            after: pages.end - pages.start,
            skipped,
        };
        reader.read(&self.mapping, space, pages)
    }

    /// Reads one page but for so many codewords, as most requests do: shorter than the way of several. Returns where it was
    /// found.
    #[inline(always)]
    pub(crate) fn read_page(
        &self,
        flash: &mut Flash,
        queue: &mut EventQueue<Event>,
        space: u32,
        page: u64,
        skipped: u8,
        owner: Owner,
    ) -> Entry {
        let entry = self.mapping.entry(space, page);
        if let Entry::Flash(number) = entry {
            let addressing = &self.addressing;
            let from = addressing.log_addr(number);
            let layout = self.layout_of(from);
            let at = addressing.page_addr(layout, from.position);
            let wordline = addressing.wordline(from.log_id, from.superblock, at);
            let is_melded = layout == Layout::Melded;
            flash.read_part(queue, (wordline, 1 << at.page), is_melded, skipped, owner);
        }
        entry
    }

    /// How many of consecutive pages, from the first on, are on flash.
    pub(crate) fn pages_on_flash(&self, space: u32, first: u64, end: u64) -> u64 {
        let (mut on_flash, mut ends) = (0, false);
        self.mapping
            .for_each_run_in(space, first, end, |entry, pages| {
                ends |= !matches!(entry, Entry::Flash(_));
                on_flash += if ends { 0 } else { pages };
            });
        on_flash
    }

    /// The host reads consecutive pages.
    #[inline]
    pub(crate) fn note_read(&mut self, space: u32, first: u64, end: u64) {
        if let Some(history) = &mut self.history {
            history.note(&self.mapping, space, first, end);
        }
    }
}

/// A read on its way to the flash.
struct Reader<'a> {
    addressing: &'a Addressing,
    logs: &'a [Log],
    flash: &'a mut Flash,
    queue: &'a mut EventQueue<Event>,
    owner: Owner,
    /// Pages of a melded wordline that are not queued yet.
    pending: Option<(WordlineAddr, PageSet)>,
    /// Pages before the next one and from it on.
    before: u64,
    after: u64,
    /// Codewords of the first and of the last page that are not needed.
    skipped: [u8; 2],
}

impl Reader<'_> {
    /// Reads consecutive pages in logical order.
    #[inline]
    fn read(mut self, mapping: &Mapping, space: u32, pages: Range<u64>) -> PagesRead {
        let mut read = PagesRead::default();
        mapping.for_each_run_in(space, pages.start, pages.end, |entry, pages| {
            match entry {
                Entry::Unmapped => read.unmapped += pages,
                Entry::Buffered(_) => read.buffered += pages,
                Entry::Flash(first) => {
                    read.flash += pages;
                    return self.run(first, pages as u32);
                }
            }
            self.pass(pages);
        });
        self.queue_pending();
        read
    }

    /// Goes on behind so many pages. Returns the codewords of them that are not needed.
    #[inline]
    fn pass(&mut self, pages: u64) -> u8 {
        let [first, last] = self.skipped;
        let mut skipped = 0;
        if self.before == 0 {
            skipped = first;
        }
        (self.before, self.after) = (self.before + pages, self.after - pages);
        match self.after {
            0 => skipped + last,
            _ => skipped,
        }
    }

    /// Reads pages with consecutive numbers.
    #[inline]
    fn run(&mut self, first: Ppn, pages: u32) {
        let addressing = self.addressing;
        for (from, pages) in addressing.pieces(first, pages) {
            let layout = self.logs[from.log_id as usize]
                .blocks
                .get(from.superblock)
                .layout;
            let at = addressing.page_addr(layout, from.position);
            if layout == Layout::Melded {
                self.wordlines((from.log_id, from.superblock), at, pages);
            } else if addressing.subpages() == 1 {
                self.flash_pages::<true>(from, at, pages);
            } else {
                self.flash_pages::<false>(from, at, pages);
            }
        }
    }

    /// Reads consecutive pages in the normal layout. That flash pages are `WHOLE`, of one page each, is
    /// known to the compiler, for speed.
    #[inline]
    fn flash_pages<const WHOLE: bool>(&mut self, from: LogAddr, mut at: PageAddr, pages: u32) {
        let addressing = self.addressing;
        let (mut position, end) = (from.position, from.position + pages);
        loop {
            let wordline = addressing.wordline(from.log_id, from.superblock, at);
            let here = match WHOLE {
                true => 1,
                false => addressing.on_flash_page(at.page, end - position),
            };
            let pages = ((1u32 << here) - 1) << at.page;
            let skipped = self.pass(here.into());
            let pages = (wordline, pages as PageSet);
            self.flash
                .read_part(self.queue, pages, false, skipped, self.owner);
            position += here;
            if position == end {
                break;
            }
            if addressing.is_shadow() {
                at = addressing.page_addr(Layout::Normal, position);
            } else {
                addressing.next_striped::<WHOLE>(&mut at);
            }
        }
    }

    /// Reads consecutive pages of melded wordlines.
    #[inline]
    fn wordlines(&mut self, (log_id, superblock): (u32, u32), mut at: PageAddr, mut pages: u32) {
        let addressing = self.addressing;
        while pages > 0 {
            let here = pages.min(addressing.pages_per_wordline - at.page);
            let wordline = addressing.wordline(log_id, superblock, at);
            self.melded(wordline, (((1u32 << here) - 1) << at.page) as PageSet);
            self.pass(here.into());
            pages -= here;
            at.page = 0;
            at.unit += 1;
            if at.unit == addressing.units {
                at.unit = 0;
                at.wordline += 1;
            }
        }
    }

    /// Pages that follow each other on one melded wordline become one operation.
    #[inline]
    fn melded(&mut self, wordline: WordlineAddr, pages: PageSet) {
        match &mut self.pending {
            Some((pending, all)) if *pending == wordline => *all |= pages,
            _ => {
                self.queue_pending();
                self.pending = Some((wordline, pages));
            }
        }
    }

    #[inline]
    fn queue_pending(&mut self) {
        if let Some((wordline, pages)) = self.pending {
            self.flash
                .read(self.queue, wordline, pages, true, self.owner);
        }
    }
}
