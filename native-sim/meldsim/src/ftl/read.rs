//! Reads: from logical pages to operations of the flash.
//!
//! In come consecutive logical pages, out go operations: one for the pages of each flash page, or one for
//! pages that follow each other on a melded wordline.

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
    /// Reads consecutive pages in logical order: queues what is on flash for `owner`.
    pub(crate) fn read(
        &self,
        flash: &mut Flash,
        queue: &mut EventQueue<Event>,
        space: u32,
        first: u64,
        end: u64,
        owner: Owner,
    ) -> PagesRead {
        let reader = Reader {
            addressing: &self.addressing,
            logs: &self.logs,
            flash,
            queue,
            owner,
            pending: None,
        };
        reader.read(&self.mapping, space, first, end)
    }

    /// Reads one page, as most requests do: shorter than the way of several. Returns where it was found.
    #[inline]
    pub(crate) fn read_page(
        &self,
        flash: &mut Flash,
        queue: &mut EventQueue<Event>,
        space: u32,
        page: u64,
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
            flash.read(queue, wordline, 1 << at.page, is_melded, owner);
        }
        entry
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
}

impl Reader<'_> {
    /// Reads consecutive pages in logical order.
    #[inline]
    fn read(mut self, mapping: &Mapping, space: u32, first: u64, end: u64) -> PagesRead {
        let mut read = PagesRead::default();
        mapping.for_each_run_in(space, first, end, |entry, pages| match entry {
            Entry::Unmapped => read.unmapped += pages,
            Entry::Buffered(_) => read.buffered += pages,
            Entry::Flash(first) => {
                read.flash += pages;
                self.run(first, pages as u32);
            }
        });
        self.queue_pending();
        read
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
            self.flash
                .read(self.queue, wordline, pages as PageSet, false, self.owner);
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
