//! Reads: from logical pages to operations of dies.

use super::layer::Ftl;
use super::mapping::Entry;
use crate::engine::{Event, EventQueue, NIL};
use crate::nand::{Flash, Owner, Wordline};

/// Where the pages of a read were found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PagesRead {
    pub(crate) flash: u64,
    pub(crate) buffered: u64,
    pub(crate) unmapped: u64,
}

impl Ftl {
    /// Reads consecutive pages in logical order: queues what is on flash for `owner`. Pages that
    /// follow each other on one melded wordline become one operation.
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
        // NIL is no wordline.
        let mut pending = (Wordline(NIL), 0u8);
        let mut page = first;
        while page < end {
            let (entries, count) = self.mapping.entries(space, page, end - page);
            let Some(entries) = entries else {
                // A hole may be far larger than a leaf.
                let present = self.mapping.next_present(space, page, end).unwrap_or(end);
                read.unmapped += present - page;
                page = present;
                continue;
            };
            page += count;
            for entry in entries {
                let ppa = match entry {
                    Entry::Flash(ppa) => ppa,
                    Entry::Buffered(_) => {
                        read.buffered += 1;
                        continue;
                    }
                    Entry::Unmapped => {
                        read.unmapped += 1;
                        continue;
                    }
                };
                read.flash += 1;
                let (wordline, index) = self.geometry.wordline_of(ppa);
                let set = 1 << index;
                if wordline == pending.0 {
                    pending.1 |= set;
                    continue;
                }
                let melded = self.blocks.is_melded(wordline);
                if !melded {
                    let at = self.geometry.locate(wordline);
                    flash.read(queue, at, set, false, owner);
                    continue;
                }
                if pending.1 != 0 {
                    let at = self.geometry.locate(pending.0);
                    flash.read(queue, at, pending.1, true, owner);
                }
                pending = (wordline, set);
            }
        }
        if pending.1 != 0 {
            let at = self.geometry.locate(pending.0);
            flash.read(queue, at, pending.1, true, owner);
        }
        read
    }
}
