//! The layer itself: writes, deallocations, and finished programs.

use std::collections::VecDeque;

use super::blocks::{Blocks, OVER_PROVISIONED_SUPERBLOCKS, STREAMS, Stream};
use super::buffer::{Buffer, User};
use super::flush::FlushBarrier;
use super::gc::Collector;
use super::mapping::{Entry, Mapping, Place};
use super::scheduler::{Fill, Runs, Stripe};
use crate::engine::{Event, EventQueue, NIL, Slab};
use crate::nand::{Flash, Geometry, Wordline};
use crate::profile::Profile;

/// How pages lie on wordlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Consecutive pages on different dies.
    Normal = 0,
    /// Consecutive pages on one wordline.
    Melded = 1,
}

/// Why a page is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// Not now: a program has to free a slot first.
    BufferFull,
    /// Not before something is deallocated.
    CapacityExceeded,
}

/// What the layer counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FtlStats {
    pub(crate) programs: u64,
    pub(crate) host_pages_programmed: u64,
    pub(crate) padded_pages: u64,
    pub(crate) melded_wordlines_programmed: u64,
    pub(crate) erases: u64,
    pub(crate) gc_pages_moved: u64,
}

/// A closed wordline: it waits for a place on the flash, then for its program.
#[derive(Clone, Copy, Debug)]
struct Closed {
    fill: Fill,
    /// The flush it belongs to; garbage collection's belong to none.
    epoch: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Program {
    closed: Closed,
    wordline: Wordline,
}

/// The flash translation layer of a device.
#[derive(Debug)]
pub(crate) struct Ftl {
    pub(super) geometry: Geometry,
    pub(super) mapping: Mapping,
    pub(super) blocks: Blocks,
    pub(super) buffer: Buffer,
    pub(super) collector: Collector,
    pub(super) stats: FtlStats,
    #[cfg(test)]
    pub(crate) witness: super::witness::Witness,
    can_meld: bool,
    open_runs: u32,
    capacity_pages: u64,
    stripe: Stripe,
    runs: Runs,
    /// Closed wordlines without a place, by stream.
    closed: [VecDeque<Closed>; STREAMS],
    programs: Slab<Program>,
    barrier: FlushBarrier,
}

impl Ftl {
    pub(crate) fn new(profile: &Profile, geometry: &Geometry) -> Ftl {
        let pages_per_wordline = geometry.pages_per_wordline;
        let host_slots = (profile.controller.write_buffer.0 / geometry.page_bytes) as u32;
        Ftl {
            mapping: Mapping::new(profile.ftl.mapping_memory.0),
            blocks: Blocks::new(geometry),
            buffer: Buffer::new(host_slots, Collector::slots(geometry)),
            collector: Collector::new(profile.ftl.gc_victim, geometry),
            stats: FtlStats::default(),
            #[cfg(test)]
            witness: Default::default(),
            can_meld: profile.timing.melded_read.is_some(),
            open_runs: profile.ftl.open_runs,
            capacity_pages: Ftl::capacity_pages(profile, geometry),
            stripe: Stripe::new(geometry.dies, pages_per_wordline),
            runs: Runs::new(profile.ftl.open_runs, pages_per_wordline),
            closed: Default::default(),
            programs: Slab::new(),
            barrier: FlushBarrier::new(),
            geometry: geometry.clone(),
        }
    }

    /// Logical pages the device can hold: whole superblocks, so that over-provisioning is never
    /// less than what garbage collection needs.
    pub(crate) fn capacity_pages(profile: &Profile, geometry: &Geometry) -> u64 {
        let superblocks = u64::from(geometry.superblocks);
        let spare = (superblocks * u64::from(profile.ftl.over_provisioning_percent)).div_ceil(100);
        let spare = spare.max(u64::from(OVER_PROVISIONED_SUPERBLOCKS));
        superblocks.saturating_sub(spare) * u64::from(geometry.pages_per_superblock())
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity_pages
    }

    pub(crate) fn stats(&self) -> FtlStats {
        self.stats
    }

    pub(crate) fn mapped_pages(&self) -> u64 {
        self.mapping.mapped()
    }

    pub(crate) fn melded_mapped_pages(&self) -> u64 {
        self.blocks.melded_valid()
    }

    pub(crate) fn free_blocks(&self) -> u64 {
        u64::from(self.blocks.free()) * u64::from(self.geometry.dies)
    }

    pub(crate) fn add_space(&mut self) -> u32 {
        self.mapping.add_space()
    }

    /// The layout for data hinted as sequential, or not.
    pub(crate) fn layout(&self, sequential: bool) -> Layout {
        if sequential && self.can_meld {
            Layout::Melded
        } else {
            Layout::Normal
        }
    }

    /// Gathers pages like the host's streams do, but apart from them.
    pub(super) fn new_gatherers(&self) -> (Stripe, Runs) {
        let pages_per_wordline = self.geometry.pages_per_wordline;
        (
            Stripe::new(self.geometry.dies, pages_per_wordline),
            Runs::new(self.open_runs, pages_per_wordline),
        )
    }

    /// Where a page is.
    pub(crate) fn entry(&self, space: u32, page: u64) -> Entry {
        self.mapping
            .find(space, page)
            .map_or(Entry::Unmapped, |place| self.mapping.get(place))
    }

    /// Whether all of the pages could be mapped.
    pub(crate) fn has_room(&self, space: u32, first: u64, end: u64) -> bool {
        let room = self.capacity_pages.saturating_sub(self.mapping.mapped());
        end - first <= room || self.unmapped_pages(space, first, end) <= room
    }

    pub(crate) fn unmapped_pages(&self, space: u32, first: u64, end: u64) -> u64 {
        let mut unmapped = end - first;
        let mut page = first;
        while let Some(present) = self.mapping.next_present(space, page, end) {
            let (entries, count) = self.mapping.entries(space, present, end - present);
            let mapped = entries.map_or(0, |e| e.filter(|e| *e != Entry::Unmapped).count());
            unmapped -= mapped as u64;
            page = present + count;
        }
        unmapped
    }

    /// Takes one page into the write buffer.
    pub(crate) fn write(
        &mut self,
        space: u32,
        page: u64,
        layout: Layout,
    ) -> Result<(), WriteError> {
        let entry = self.entry(space, page);
        match entry {
            Entry::Unmapped if self.mapping.mapped() >= self.capacity_pages => {
                return Err(WriteError::CapacityExceeded);
            }
            Entry::Buffered(index) => {
                let slot = self.buffer.get(index);
                if slot.user == User::Host && !slot.sealed {
                    #[cfg(test)]
                    self.witness.written(index);
                    return Ok(()); // overwritten where it is
                }
            }
            _ => {}
        }
        if self.buffer.free(User::Host) == 0 {
            return Err(WriteError::BufferFull);
        }
        let Some(place) = self.mapping.find_or_make(space, page) else {
            return Err(WriteError::CapacityExceeded);
        };
        self.forget(entry);
        let slot = self.buffer.take(User::Host, place);
        #[cfg(test)]
        self.witness.written(slot);
        self.mapping.set(place, Entry::Buffered(slot));
        match layout {
            Layout::Normal => {
                if let Some(fill) = self.stripe.push(slot) {
                    self.close(Stream::Host(layout), fill);
                }
            }
            Layout::Melded => {
                let mut fills = FillList::default();
                self.runs.push(space, page, slot, |fill| fills.push(fill));
                for fill in fills.iter() {
                    self.close(Stream::Host(layout), fill);
                }
            }
        }
        Ok(())
    }

    /// Unmaps pages.
    pub(crate) fn deallocate(&mut self, space: u32, first: u64, end: u64) {
        let mut page = first;
        while let Some(present) = self.mapping.next_present(space, page, end) {
            // To the end of this leaf; holes beyond it are skipped.
            let (_, count) = self.mapping.entries(space, present, end - present);
            for page in present..present + count {
                let entry = self.mapping.unmap(space, page);
                self.forget(entry);
            }
            page = present + count;
        }
    }

    /// What `entry` led to is no longer current.
    pub(super) fn forget(&mut self, entry: Entry) {
        match entry {
            Entry::Unmapped => {}
            Entry::Buffered(slot) => self.buffer.abandon(slot),
            Entry::Flash(ppa) => self.blocks.invalidate(ppa),
        }
    }

    /// Closes every wordline of the host's that holds a page; `request` waits for their programs
    /// and all those before.
    pub(crate) fn flush(&mut self, request: u32) {
        let mut fills = Vec::new();
        self.stripe.close(|fill| fills.push((Layout::Normal, fill)));
        self.runs.close(|fill| fills.push((Layout::Melded, fill)));
        for (layout, fill) in fills {
            self.close(Stream::Host(layout), fill);
        }
        self.barrier.wait(request);
    }

    /// The next flush that is done.
    pub(crate) fn pop_flushed(&mut self) -> Option<u32> {
        self.barrier.pop_done()
    }

    /// A wordline is complete or must not wait any longer.
    pub(super) fn close(&mut self, stream: Stream, fill: Fill) {
        let slots = fill.into_iter().filter(|&slot| slot != NIL);
        if slots
            .clone()
            .all(|slot| self.buffer.get(slot).place == Place::NONE)
        {
            // Everything in it was overwritten or deallocated: nothing to program.
            slots.for_each(|slot| {
                self.buffer.release(slot);
            });
            return;
        }
        slots.for_each(|slot| {
            self.buffer.seal(slot);
            #[cfg(test)]
            self.witness.sealed(slot);
        });
        let epoch = match stream {
            Stream::Host(_) => Some(self.barrier.closed()),
            Stream::Gc(_) => None,
        };
        self.closed[stream.index()].push_back(Closed { fill, epoch });
    }

    /// Moves everything on that can move: closed wordlines to dies, and garbage collection.
    pub(crate) fn pump(&mut self, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        self.place_closed(flash, queue);
        self.collect(flash, queue);
    }

    pub(super) fn place_closed(&mut self, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        for layout in [Layout::Normal, Layout::Melded] {
            for stream in [Stream::Gc(layout), Stream::Host(layout)] {
                while !self.closed[stream.index()].is_empty() {
                    let Some(wordline) = self.blocks.next_wordline(stream) else {
                        break;
                    };
                    if let Some(closed) = self.closed[stream.index()].pop_front() {
                        let program = self.programs.insert(Program { closed, wordline });
                        let all = (1 << self.geometry.pages_per_wordline) - 1;
                        flash.program(queue, self.geometry.locate(wordline), all, program);
                    }
                }
            }
        }
    }

    /// A program has ended: its pages are on flash, unless they are no longer current.
    pub(crate) fn programmed(&mut self, program: u32) {
        let Program { closed, wordline } = self.programs[program];
        self.programs.remove(program);
        self.blocks.programmed(wordline);
        self.stats.programs += 1;
        self.stats.melded_wordlines_programmed += u64::from(self.blocks.is_melded(wordline));
        for index in 0..self.geometry.pages_per_wordline {
            let slot = closed.fill[index as usize];
            if slot == NIL {
                self.stats.padded_pages += 1;
                continue;
            }
            let released = self.buffer.release(slot);
            self.stats.host_pages_programmed += u64::from(released.user == User::Host);
            if released.place != Place::NONE {
                let ppa = self.geometry.page(wordline, index);
                #[cfg(test)]
                self.witness.programmed(slot, ppa);
                self.blocks.validate(ppa, released.place);
                self.mapping.set(released.place, Entry::Flash(ppa));
            }
        }
        if let Some(epoch) = closed.epoch {
            self.barrier.programmed(epoch);
        }
    }
}

/// The few wordlines one page can complete (its own, and packed ones of a run it displaces),
/// without the allocator.
#[derive(Default)]
pub(super) struct FillList {
    fills: [Fill; 2],
    len: usize,
}

impl FillList {
    pub(super) fn push(&mut self, fill: Fill) {
        self.fills[self.len] = fill;
        self.len += 1;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Fill> {
        self.fills.into_iter().take(self.len)
    }
}
