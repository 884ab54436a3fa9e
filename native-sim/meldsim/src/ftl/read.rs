//! Reads: from logical pages to operations of the flash.

use super::layer::Ftl;
use super::mapping::Entry;
use super::numbering::{Ppn, Slice, Spot};
use super::stream::Layout;
use crate::engine::{Event, EventQueue, NIL};
use crate::nand::{Flash, Owner, Unit, WordlineAddr};

/// Where the pages of a read were found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PagesRead {
    pub(crate) flash: u64,
    pub(crate) buffered: u64,
    pub(crate) unmapped: u64,
}

/// Where the operations of a read go, and the pages of a melded wordline that are not queued yet.
struct Reader<'a> {
    flash: &'a mut Flash,
    queue: &'a mut EventQueue<Event>,
    owner: Owner,
    pending: (WordlineAddr, u8),
}

impl Reader<'_> {
    #[inline]
    fn page(&mut self, at: WordlineAddr, page: u32) {
        self.flash
            .read(self.queue, at, 1 << page, false, self.owner);
    }

    /// Pages that follow each other on one melded wordline become one operation.
    #[inline]
    fn melded(&mut self, at: WordlineAddr, pages: u8) {
        if at == self.pending.0 {
            self.pending.1 |= pages;
            return;
        }
        self.finish();
        self.pending = (at, pages);
    }

    #[inline]
    fn finish(&mut self) {
        let (at, pages) = self.pending;
        if pages != 0 {
            self.flash.read(self.queue, at, pages, true, self.owner);
        }
    }
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
        let mut read = PagesRead::default();
        let nowhere = WordlineAddr {
            unit: Unit(NIL),
            row: NIL,
        };
        let mut reader = Reader {
            flash,
            queue,
            owner,
            pending: (nowhere, 0),
        };
        let mut page = first;
        while page < end {
            let (runs, count) = self.mapping.runs(space, page, end - page);
            let Some(runs) = runs else {
                // A hole may be far larger than a leaf.
                let present = self.mapping.next_present(space, page, end).unwrap_or(end);
                read.unmapped += present - page;
                page = present;
                continue;
            };
            page += count;
            for run in runs {
                let pages = u64::from(run.pages);
                match run.entry {
                    Entry::Unmapped => read.unmapped += pages,
                    Entry::Buffered(_) => read.buffered += pages,
                    Entry::Flash(first) => {
                        read.flash += pages;
                        self.read_run(&mut reader, first, run.pages);
                    }
                }
            }
        }
        reader.finish();
        read
    }

    /// Reads pages with consecutive numbers.
    #[inline]
    fn read_run(&self, reader: &mut Reader<'_>, first: Ppn, pages: u32) {
        let numbering = &self.numbering;
        let mut done = 0;
        while done < pages {
            let Slice {
                lane,
                group,
                position,
            } = numbering.slice(Ppn(first.0 + done));
            // A run goes on in its group, or from lane to lane.
            let here = match numbering.lanes {
                1 => (pages - done).min(numbering.pages_per_group - position),
                _ => 1,
            };
            done += here;
            let layout = self.lanes[lane as usize].blocks.get(group).layout;
            let mut spot = numbering.spot(layout, position);
            if layout == Layout::Melded {
                self.read_wordlines(reader, (lane, group), spot, here);
                continue;
            }
            for next in position + 1..=position + here {
                let at = numbering.address(lane, group, spot.unit, spot.wordline);
                reader.page(at, spot.page);
                if next == position + here {
                    break;
                }
                if numbering.is_shadow() {
                    spot = numbering.spot(layout, next);
                } else {
                    numbering.next_striped(&mut spot);
                }
            }
        }
    }

    /// Reads consecutive pages of melded wordlines.
    #[inline]
    fn read_wordlines(
        &self,
        reader: &mut Reader<'_>,
        (lane, group): (u32, u32),
        mut spot: Spot,
        mut pages: u32,
    ) {
        let numbering = &self.numbering;
        while pages > 0 {
            let here = pages.min(numbering.pages_per_wordline - spot.page);
            let at = numbering.address(lane, group, spot.unit, spot.wordline);
            reader.melded(at, (((1u32 << here) - 1) << spot.page) as u8);
            pages -= here;
            spot.page = 0;
            spot.unit += 1;
            if spot.unit == numbering.units {
                spot.unit = 0;
                spot.wordline += 1;
            }
        }
    }
}
