//! What the host changes: pages written, pages deallocated.

use super::buffer::User;
use super::layer::Ftl;
use super::mapping::{Entry, Place, Run};
use super::numbering::Slice;
use super::scheduler::{EMPTY, Gathered};
use super::stream::{Layout, Stream};
use crate::engine::NIL;

/// How many wordlines before its own turn the slots of one are fetched from memory: since the first of
/// them was filled, a whole stripe has been.
const PREFETCHED: usize = 4;

/// Why a page is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// Not now: a program has to free a slot first.
    BufferFull,
    /// Not before something is deallocated.
    CapacityExceeded,
}

impl Ftl {
    /// Takes one page into the write buffer, for the host's stream of that number (0: none). A request that is
    /// not [`NIL`] waits for its program; see [`Ftl::pop_written`].
    pub(crate) fn write(
        &mut self,
        space: u32,
        page: u64,
        layout: Layout,
        stream: u8,
        request: u32,
    ) -> Result<(), WriteError> {
        let found = self.mapping.find(space, page);
        let entry = found.map_or(Entry::Unmapped, |place| self.mapping.get(place));
        let lane = self.numbering.lane_of(page, layout);
        if let Entry::Buffered(index) = entry {
            let slot = self.buffer.get(index);
            let is_open = slot.user != User::Gc && !slot.sealed && slot.lane == lane;
            if is_open && slot.request == NIL {
                #[cfg(test)]
                self.witness.written(index);
                return Ok(()); // overwritten where it is
            }
        }
        if !self.lane_has_room(lane, entry) {
            return Err(WriteError::CapacityExceeded);
        }
        if self.buffer.free() == 0 {
            return Err(WriteError::BufferFull);
        }
        let Some(place) = found.or_else(|| self.mapping.find_or_make(space, page)) else {
            return Err(WriteError::CapacityExceeded);
        };
        if let Some(history) = &mut self.history {
            history.written(place.leaf() as u32);
        }
        if entry != Entry::Unmapped {
            self.forget(Run { entry, pages: 1 });
        }
        self.lanes[lane as usize].live += 1;
        let slot = self.buffer.take(User::Host(stream), place, lane, request);
        #[cfg(test)]
        self.witness.written(slot);
        self.mapping.change(place, entry, Entry::Buffered(slot));
        let stream = self.lanes[lane as usize].host_stream(stream, layout);
        match layout {
            Layout::Normal => self.gather(lane, stream, slot),
            Layout::Melded => self.gather_run(stream, space, page, &[slot]),
        }
        Ok(())
    }

    /// Takes pages that are not mapped, as many as [`Ftl::write`] would take one by one and as are
    /// quicker to take together. Returns how many; the next is for that.
    #[inline]
    pub(crate) fn write_unmapped(
        &mut self,
        space: u32,
        first: u64,
        end: u64,
        layout: Layout,
        stream: u8,
        request: u32,
    ) -> u64 {
        if self.numbering.lanes > 1 || self.history.is_some() {
            return 0;
        }
        let room = self.lane_capacity().saturating_sub(self.lanes[0].live);
        let most = room.min(end - first).min(u64::from(self.buffer.free()));
        if most == 0 {
            return 0;
        }
        let Some(place) = self.mapping.find(space, first) else {
            return 0;
        };
        let pages = self.mapping.unmapped_at(place, most as usize) as u32;
        if pages == 0 {
            return 0;
        }
        let mut slots = std::mem::take(&mut self.taken);
        for page in 0..pages {
            let place = Place(place.0 + page);
            let slot = self.buffer.take(User::Host(stream), place, 0, request);
            #[cfg(test)]
            self.witness.written(slot);
            slots.push(slot);
        }
        self.mapping.buffer(place, &slots);
        self.lanes[0].live += u64::from(pages);
        let stream = self.lanes[0].host_stream(stream, layout);
        match layout {
            Layout::Normal => slots.iter().for_each(|&slot| self.gather(0, stream, slot)),
            Layout::Melded => self.gather_run(stream, space, first, &slots),
        }
        slots.clear();
        self.taken = slots;
        u64::from(pages)
    }

    fn lane_has_room(&self, lane: u32, entry: Entry) -> bool {
        self.lanes[lane as usize].live < self.lane_capacity()
            || self.lane_of_entry(entry) == Some(lane)
    }

    /// Adds a page to the stripe of a stream in the normal layout.
    pub(super) fn gather(&mut self, lane: u32, stream: Stream, slot: u32) {
        if self.numbering.is_shadow() {
            let mut page = EMPTY;
            page[0] = slot;
            return self.close(lane, stream, page);
        }
        let pages_per_wordline = self.numbering.pages_per_wordline;
        let log = &mut self.lanes[lane as usize];
        if log.gatherer(stream).stripe.is_empty() {
            let wordlines = log.rest_of_row(stream, &self.numbering);
            log.gatherer(stream).stripe.begin(wordlines);
        }
        let stripe = &mut log.gatherer(stream).stripe;
        let complete = stripe.push(slot, pages_per_wordline);
        if let Some(fill) = complete {
            for slot in stripe.gathered(PREFETCHED) {
                self.buffer.prefetch(slot);
            }
            self.close(lane, stream, fill);
        }
    }

    /// Adds consecutive pages to their run.
    fn gather_run(&mut self, stream: Stream, space: u32, first: u64, slots: &[u32]) {
        let index = match stream {
            Stream::Host(number, _) => usize::from(number),
            Stream::Gc(_) => 0,
        };
        while self.runs.len() <= index {
            self.runs.push(self.new_runs());
        }
        for (page, &slot) in (first..).zip(slots) {
            let gathered = &mut self.gathered;
            self.runs[index].push(space, page, slot, |pages| gathered.push(pages));
            if gathered.is_empty() {
                continue;
            }
            let mut gathered = std::mem::take(gathered);
            for pages in gathered.drain(..) {
                self.close_gathered(stream, pages);
            }
            self.gathered = gathered;
        }
    }

    /// Takes what runs hand over.
    pub(super) fn close_gathered(&mut self, stream: Stream, gathered: Gathered) {
        let Gathered { lane, pages, whole } = gathered;
        if whole {
            return self.close(lane, stream, pages);
        }
        for page in pages {
            if page != NIL {
                self.gather_leftover(lane, stream, page);
            }
        }
    }

    /// Packs a page whose wordline has lost others.
    pub(super) fn gather_leftover(&mut self, lane: u32, stream: Stream, page: u32) {
        let pages_per_wordline = self.numbering.pages_per_wordline;
        let leftovers = &mut self.lanes[lane as usize].gatherer(stream).leftovers;
        if let Some(fill) = leftovers.push(page, pages_per_wordline) {
            self.close(lane, stream, fill);
        }
    }

    /// Whether all of the pages could be mapped.
    pub(crate) fn has_room(&self, space: u32, first: u64, end: u64, layout: Layout) -> bool {
        if self.numbering.lanes == 1 {
            let room = self.lane_capacity().saturating_sub(self.mapping.mapped());
            return end - first <= room || self.unmapped_pages(space, first, end) <= room;
        }
        let lanes = u64::from(self.numbering.lanes);
        // No lane takes more than its turn of each round, and melded pages come in wordlines.
        let most = (end - first).div_ceil(lanes) + u64::from(self.numbering.pages_per_wordline);
        let fullest = self.lanes.iter().map(|lane| lane.live).max().unwrap_or(0);
        if fullest + most <= self.lane_capacity() {
            return true;
        }
        if end - first > self.capacity() {
            return false;
        }
        let mut live: Vec<u64> = self.lanes.iter().map(|lane| lane.live).collect();
        for page in first..end {
            let lane = self.numbering.lane_of(page, layout);
            let before = self.lane_of_entry(self.entry(space, page));
            if before == Some(lane) {
                continue;
            }
            // At no time in between either.
            if live[lane as usize] >= self.lane_capacity() {
                return false;
            }
            live[lane as usize] += 1;
            if let Some(before) = before {
                live[before as usize] -= 1;
            }
        }
        true
    }

    pub(crate) fn unmapped_pages(&self, space: u32, first: u64, end: u64) -> u64 {
        let mut unmapped = end - first;
        let mut page = first;
        while let Some(present) = self.mapping.next_present(space, page, end) {
            let (runs, count) = self.mapping.runs(space, present, end - present);
            let mapped = runs.map_or(0, |runs| {
                let mapped = runs.filter(|run| run.entry != Entry::Unmapped);
                mapped.map(|run| u64::from(run.pages)).sum()
            });
            unmapped -= mapped;
            page = present + count;
        }
        unmapped
    }

    /// Unmaps pages.
    pub(crate) fn deallocate(&mut self, space: u32, first: u64, end: u64) {
        let mut page = first;
        while let Some(present) = self.mapping.next_present(space, page, end) {
            let leaf = self.mapping.find(space, present).map(Place::leaf);
            page = present + self.remap(space, present, end - present, None);
            if let (Some(history), Some(leaf)) = (&mut self.history, leaf) {
                if self.mapping.find(space, present).is_none() {
                    history.forget(leaf as u32);
                }
            }
        }
    }

    /// Maps consecutive pages to consecutive numbers or to nothing, as far as one leaf of the
    /// mapping reaches. Returns how many pages were done; none when the mapping's memory is used up.
    pub(super) fn remap(
        &mut self,
        space: u32,
        page: u64,
        pages: u64,
        first: Option<super::numbering::Ppn>,
    ) -> u64 {
        let mut replaced = std::mem::take(&mut self.replaced);
        let done = self
            .mapping
            .replace(space, page, pages, first, &mut replaced);
        if done > 0 {
            for &run in &replaced {
                self.forget(run);
            }
        }
        replaced.clear();
        self.replaced = replaced;
        done
    }

    /// What these entries led to is no longer current.
    pub(super) fn forget(&mut self, run: Run) {
        match run.entry {
            Entry::Unmapped => {}
            Entry::Buffered(slot) => {
                self.lanes[self.buffer.get(slot).lane as usize].live -= 1;
                self.buffer.abandon(slot);
            }
            Entry::Flash(first) => {
                let mut done = 0;
                while done < run.pages {
                    let ppn = super::numbering::Ppn(first.0 + done);
                    let Slice {
                        lane,
                        group,
                        position,
                    } = self.numbering.slice(ppn);
                    // A run goes on in its group, or from lane to lane.
                    let pages = match self.numbering.lanes {
                        1 => (run.pages - done).min(self.numbering.pages_per_group - position),
                        _ => 1,
                    };
                    let log = &mut self.lanes[lane as usize];
                    log.blocks.invalidate(group, pages);
                    log.collector.invalidated(group, position, pages);
                    log.live -= u64::from(pages);
                    if log.blocks.is_low() {
                        self.stir(lane);
                    }
                    done += pages;
                }
            }
        }
    }
}
