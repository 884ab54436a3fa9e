//! The way of a host write: admit, buffer, schedule, program.
//!
//! ```text
//!   write             a page gets a slot of the write buffer, and the mapping leads there
//!   gather            its stream collects it: a wordline of pages is complete, and closed (stream.rs)
//!   program_queued    closed wordlines get positions as far as there is room (lane.rs, blocks),
//!                     and what is due is handed to the dies
//!   programmed        the die is done: the mapping leads to the flash, and the slots are free
//! ```
//!
//! Garbage collection joins at `gather` and `close`, with slots and streams of its own.

use super::address::Ppn;
use super::buffer::{Program, User};
use super::lane::{Lane, Queued};
use super::layer::Ftl;
use super::mapping::{Entry, MapIndex, Run};
use super::stream::{Layout, PADDING, RunPages, Stream, WordlinePages, single};
use crate::engine::{EventQueue, NIL};
use crate::event::Event;
use crate::nand::Flash;

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
        let entry = found.map_or(Entry::Unmapped, |index| self.mapping.get(index));
        let lane = self.addressing.lane_of(page, layout);
        if let Entry::Buffered(slot) = entry {
            let held = self.buffer.get(slot);
            let is_open = held.user != User::Gc && !held.sealed && held.lane == lane;
            if is_open && held.request == NIL {
                self.oracle.buffered(slot);
                return Ok(()); // overwritten where it is
            }
        }
        if !self.lane_has_room(lane, entry) {
            return Err(WriteError::CapacityExceeded);
        }
        if self.buffer.free() == 0 {
            return Err(WriteError::BufferFull);
        }
        let Some(index) = found.or_else(|| self.mapping.find_or_make(space, page)) else {
            return Err(WriteError::CapacityExceeded);
        };
        if let Some(history) = &mut self.history {
            history.written(index.leaf());
        }
        self.invalidate(space, Run { entry, pages: 1 });
        self.lanes[lane as usize].live += 1;
        let slot = self.buffer.take(User::Host(stream), index, lane, request);
        self.oracle.buffered(slot);
        self.mapping.change(index, entry, Entry::Buffered(slot));
        self.gather_host(lane, (stream, layout), (space, page), &[slot]);
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
        if self.addressing.lanes > 1 || self.history.is_some() {
            return 0;
        }
        let room = self.lane_capacity.saturating_sub(self.lanes[0].live);
        let most = room.min(end - first).min(u64::from(self.buffer.free()));
        if most == 0 {
            return 0;
        }
        let Some(index) = self.mapping.find(space, first) else {
            return 0;
        };
        let pages = self.mapping.unmapped_at(index, most as usize) as u32;
        if pages == 0 {
            return 0;
        }
        let mut slots = std::mem::take(&mut self.taken);
        for index in (index.0..index.0 + pages).map(MapIndex) {
            let slot = self.buffer.take(User::Host(stream), index, 0, request);
            self.oracle.buffered(slot);
            slots.push(slot);
        }
        self.mapping.buffer(index, &slots);
        self.lanes[0].live += u64::from(pages);
        self.gather_host(0, (stream, layout), (space, first), &slots);
        slots.clear();
        self.taken = slots;
        u64::from(pages)
    }

    /// Adds consecutive pages to what a stream of the host's gathers.
    #[inline]
    fn gather_host(
        &mut self,
        lane: u32,
        (stream, layout): (u8, Layout),
        (space, first): (u32, u64),
        slots: &[u32],
    ) {
        let stream = self.lanes[lane as usize].host_stream(stream, layout);
        let Stream::Host(number, Layout::Melded) = stream else {
            return slots
                .iter()
                .for_each(|&slot| self.gather(lane, stream, slot));
        };
        let index = usize::from(number);
        while self.runs.len() <= index {
            self.runs.push(self.new_runs());
        }
        for (page, &slot) in (first..).zip(slots) {
            self.runs[index].push(space, page, slot, &mut self.gathered);
        }
        self.close_gathered(stream);
    }

    /// Adds a page to what a stream gathers in the normal layout.
    pub(super) fn gather(&mut self, lane: u32, stream: Stream, slot: u32) {
        if self.addressing.is_shadow() {
            return self.close(lane, stream, single(slot));
        }
        let log = &mut self.lanes[lane as usize];
        if let Some(pages) = log.gather(stream, slot, &self.addressing) {
            for slot in log.stream(stream).gatherer.stripe.gathered(PREFETCHED) {
                self.buffer.prefetch(slot);
            }
            self.close(lane, stream, pages);
        }
    }

    /// Takes what runs have handed over.
    fn close_gathered(&mut self, stream: Stream) {
        let mut gathered = std::mem::take(&mut self.gathered);
        for RunPages { lane, pages, whole } in gathered.drain(..) {
            if whole {
                self.close(lane, stream, pages);
            } else {
                for page in pages.into_iter().filter(|&page| page != NIL) {
                    self.gather_leftover(lane, stream, page);
                }
            }
        }
        self.gathered = gathered;
    }

    /// Packs a page whose wordline has lost others.
    pub(super) fn gather_leftover(&mut self, lane: u32, stream: Stream, page: u32) {
        let leftovers = &mut self.lanes[lane as usize].stream(stream).gatherer.leftovers;
        if let Some(pages) = leftovers.push(page, self.addressing.pages_per_wordline) {
            self.close(lane, stream, pages);
        }
    }

    /// Pages that are programmed together are complete or must not wait any longer.
    pub(super) fn close(&mut self, lane: u32, stream: Stream, pages: WordlinePages) {
        let slots = pages.into_iter().filter(|&slot| slot != NIL);
        let is_abandoned = |slot| self.buffer.get(slot).index == MapIndex::NONE;
        if slots.clone().all(is_abandoned) {
            // Everything in it was overwritten or deallocated: nothing to program.
            for slot in slots {
                self.buffer.release(slot);
            }
            return;
        }
        for slot in slots {
            self.buffer.seal(slot);
            self.oracle.sealed(slot);
        }
        self.enqueue(lane, stream, Queued::Pages(pages));
    }

    fn enqueue(&mut self, lane: u32, stream: Stream, queued: Queued) {
        self.lanes[lane as usize].enqueue(stream, queued);
        self.ready.push(lane);
    }

    /// Closes every wordline of the host's that holds a page.
    pub(crate) fn close_all(&mut self) {
        for number in 0..self.runs.len() {
            self.close_runs(number as u8);
        }
        for lane in 0..self.addressing.lanes {
            for stream in self.lanes[lane as usize].streams() {
                if matches!(stream, Stream::Host(..)) {
                    self.close_stream(lane, stream);
                }
            }
        }
    }

    /// The host's stream of that number ends: what it has gathered is programmed, with padding, and
    /// the groups it fills are closed, so that another stream may have groups of its own.
    pub(crate) fn release_stream(&mut self, number: u8) {
        self.close_runs(number);
        for lane in 0..self.addressing.lanes {
            if self.lanes[lane as usize].release_stream(number) {
                for layout in Layout::ALL {
                    let stream = Stream::Host(number, layout);
                    self.close_stream(lane, stream);
                    self.enqueue(lane, stream, Queued::EndOfGroup);
                }
            }
        }
    }

    /// Closes every wordline that runs of the host's stream have begun.
    fn close_runs(&mut self, number: u8) {
        if let Some(runs) = self.runs.get_mut(usize::from(number)) {
            runs.close(&mut self.gathered);
            self.close_gathered(Stream::Host(number, Layout::Melded));
        }
    }

    fn close_stream(&mut self, lane: u32, stream: Stream) {
        let gatherer = &mut self.lanes[lane as usize].stream(stream).gatherer;
        for pages in gatherer.close(self.addressing.pages_per_wordline) {
            self.close(lane, stream, pages);
        }
        if self.addressing.fills_wordlines(stream.layout()) {
            self.enqueue(lane, stream, Queued::Padding);
        }
    }

    /// Closes every wordline of the host's that holds a page; `request` waits for their programs
    /// and all those before.
    pub(crate) fn flush(&mut self, request: u32) {
        self.close_all();
        self.buffer.flush(request);
    }

    /// When the buffer is full of pages that wait for others, nothing would ever free a slot: closes
    /// their wordlines, with padding.
    pub(crate) fn make_progress(&mut self) {
        let is_stuck = !self.buffer.will_be_freed() || self.addressing.is_shadow();
        let is_idle = self.programs.is_empty() && !self.lanes.iter().any(Lane::has_queued);
        if self.buffer.free() == 0 && is_stuck && is_idle {
            self.close_all();
        }
    }

    /// The next request of which a page that it waits for is programmed, or needs no program any more.
    pub(crate) fn pop_written(&mut self) -> Option<u32> {
        self.buffer.pop_written()
    }

    /// The next flush that is done.
    pub(crate) fn pop_flushed(&mut self) -> Option<u32> {
        self.buffer.pop_flushed()
    }

    /// Gives what waits in a lane positions as far as there is room, and starts the programs that are
    /// due.
    pub(super) fn program_queued(
        &mut self,
        lane: u32,
        flash: &mut Flash,
        queue: &mut EventQueue<Event>,
    ) {
        let mut due = std::mem::take(&mut self.due);
        let mut streams = u64::MAX;
        while let Some((stream, queued)) = self.lanes[lane as usize].next_queued(streams) {
            let (log, addressing) = (&mut self.lanes[lane as usize], &self.addressing);
            match queued {
                Queued::Pages(slots) => match log.allocate(stream, slots, addressing) {
                    Some(program) if addressing.fills_wordlines(stream.layout()) => {
                        let unit = addressing.page_addr(Layout::Melded, program.position).unit;
                        log.fill_wordline(stream, unit, slots, addressing, &mut due);
                    }
                    Some(program) => due.push(program),
                    None => {
                        streams &= !(1 << stream.index());
                        continue;
                    }
                },
                Queued::Padding => log.pad(stream, addressing, &mut due),
                Queued::EndOfGroup => log.end_group(stream),
            }
            log.pop_queued(stream);
        }
        for program in due.drain(..) {
            self.start(program, flash, queue);
        }
        self.due = due;
    }

    /// Hands a program to its die.
    fn start(&mut self, program: Program, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let blocks = &self.lanes[program.lane as usize].blocks;
        let layout = blocks.get(program.group).layout;
        let first = self.addressing.page_addr(layout, program.position);
        let wordline = self.addressing.wordline(program.lane, program.group, first);
        // Its end will change their entries.
        for slot in program.slots.into_iter().filter(|&slot| slot != NIL) {
            let index = self.buffer.get(slot).index;
            if index != MapIndex::NONE {
                self.mapping.prefetch(index);
            }
        }
        let pages = match program.pages {
            1 => 1 << first.page,
            all => (1 << all) - 1,
        };
        let token = self.programs.start(program);
        flash.program(queue, wordline, pages, token);
    }

    /// A program has ended: its pages are on flash, unless they are no longer current.
    pub(crate) fn programmed(&mut self, token: u32) {
        let program = self.programs.end(token, &self.buffer);
        self.complete(program);
    }

    /// What the end of a program means.
    pub(super) fn complete(&mut self, program: Program) {
        let Program {
            lane,
            group,
            position,
            step,
            pages,
            slots,
        } = program;
        let all = self.addressing.pages_per_wordline;
        let blocks = &mut self.lanes[lane as usize].blocks;
        blocks.programmed(group, u32::from(pages));
        let melded = blocks.get(group).layout == Layout::Melded;
        let ends_wordline = pages > 1 || position % all == all - 1;
        self.stats.programs += 1;
        self.stats.melded_wordlines_programmed += u64::from(melded && ends_wordline);
        let mut indices = [MapIndex::NONE; PADDING.len()];
        let mut numbers = [Ppn(NIL); PADDING.len()];
        let mut current = 0;
        for (n, &slot) in (0..u32::from(pages)).zip(&slots) {
            if slot == NIL {
                self.stats.padded_pages += 1;
                continue;
            }
            let released = self.buffer.release(slot);
            match released.user {
                User::Gc => self.stats.gc_pages_programmed += 1,
                _ => self.stats.host_pages_programmed += 1,
            }
            if released.index != MapIndex::NONE {
                let ppn = self.addressing.ppn(lane, group, position + n * step);
                self.oracle.programmed(slot, ppn);
                (indices[current], numbers[current]) = (released.index, ppn);
                current += 1;
            }
        }
        self.lanes[lane as usize]
            .blocks
            .validate(group, current as u32);
        let (indices, numbers) = (&indices[..current], numbers[..current].iter().copied());
        if melded {
            for &index in indices {
                self.melded[self.mapping.space_of(index) as usize] += 1;
            }
        }
        match indices.first() {
            Some(first) if first.consecutive(indices) == current => {
                self.mapping.program(*first, numbers);
            }
            _ => {
                let entries = numbers.map(Entry::Flash);
                self.mapping.set_all(indices.iter().copied().zip(entries));
            }
        }
        self.ready.push(lane);
    }
}
