//! The way of a host write: admit, buffer, schedule, program.
//!
//! ```text
//!   write             a page gets a slot of the write buffer, and the mapping leads there; written again
//!                     before it goes to a die, it keeps its slot
//!   gather            its stream collects it: a wordline of pages is complete, and closed (stream.rs)
//!   program_queued    closed wordlines get positions as far as there is room (log.rs, blocks),
//!                     and what is due is handed to the dies
//!   programmed        the die is done: the mapping leads to the flash, and the slots are free
//! ```
//!
//! Garbage collection joins at `gather` and `close`, with slots and streams of its own.

use std::slice;

use super::buffer::{Before, Place, Rest, User};
use super::journal::Journal;
use super::layer::Ftl;
use super::ledger::Spot;
use super::log::{Log, Queued};
use super::mapping::{Entry, EntryRun, MapIndex};
use super::stream::{Layout, RunPages, Stream, WordlinePages};
use crate::engine::{EventQueue, NIL};
use crate::event::Event;
use crate::nand::{Flash, PageSet};
use crate::nvme::fdp::{FdpEvent, FdpEventType};
use crate::policy::placement::{FRONTIERS, Page as PageId};

/// How many wordlines before its own turn the slots of one are fetched from memory: since the first of
/// them was filled, a whole stripe has been.
const PREFETCHED: usize = 4;

/// Why a page is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// Not now: a program has to free a slot, or memory of the journal, first.
    BufferFull,
    /// Not before something is deallocated.
    CapacityExceeded,
}

impl Ftl {
    /// Takes one page into the write buffer, for the host's stream of that number (0: none). A request that is
    /// not [`NIL`] waits for its program; see [`Ftl::pop_written`].
    #[inline(always)]
    pub(crate) fn write(
        &mut self,
        space: u32,
        page: u64,
        layout: Layout,
        stream: u8,
        request: u32,
    ) -> Result<(), WriteError> {
        self.write_for(User::Host(stream, layout), (space, page), request)
    }

    /// Takes a translation page into the write buffer.
    pub(crate) fn write_map(&mut self, page: u64) -> Result<(), WriteError> {
        let space = self.map_space.ok_or(WriteError::CapacityExceeded)?;
        self.write_for(User::Map, (space, page), NIL)
    }

    #[inline(always)]
    fn write_for(
        &mut self,
        user: User,
        (space, page): (u32, u64),
        request: u32,
    ) -> Result<(), WriteError> {
        let (layout, free) = match user {
            User::Host(_, layout) => (layout, self.buffer.free()),
            _ => (Layout::Normal, self.buffer.map_free()),
        };
        let found = self.mapping.find(space, page);
        let entry = found.map_or(Entry::Unmapped, |index| self.mapping.get(index));
        let log_id = self.addressing.log_of(page, layout);
        if let Entry::Buffered(slot) = entry {
            let held = self.buffer.get(slot);
            let stays = match (held.user, user) {
                // Else it belongs with other data now.
                (User::Host(before, _), User::Host(stream, _)) => before == stream,
                (other, _) => other == User::Map,
            };
            let is_open = stays && !held.started && held.log_id == log_id;
            if is_open && held.request == NIL {
                self.oracle.buffered(slot);
                self.buffer.rewrite(slot);
                return Ok(()); // overwritten where it is
            }
        }
        // For translation pages there is room besides.
        if user != User::Map && !self.log_has_room(log_id, entry) {
            return Err(WriteError::CapacityExceeded);
        }
        if free == 0 || self.journal_room() == 0 {
            return Err(WriteError::BufferFull);
        }
        let Some(index) = found.or_else(|| self.mapping.find_or_make(space, page)) else {
            return Err(WriteError::CapacityExceeded);
        };
        if let Some(history) = &mut self.history {
            history.written(index.leaf());
        }
        self.invalidate(space, EntryRun { entry, pages: 1 });
        self.logs[log_id as usize]
            .blocks
            .place(&mut self.melded, space, 1, Spot::Buffer);
        let slot = self.buffer.take(user, index, log_id, request);
        self.oracle.buffered(slot);
        if let Some(journal) = &mut self.journal {
            journal.record(1);
        }
        self.mapping.change(index, entry, Entry::Buffered(slot));
        match user {
            User::Host(stream, layout) => {
                self.gather_host(log_id, (stream, layout), (space, page), &[slot]);
            }
            _ => self.gather(log_id, Stream::MAP[0], slot),
        }
        Ok(())
    }

    /// Where a page is of which a part is about to be written.
    pub(crate) fn before(&self, entry: Entry) -> Before {
        match entry {
            Entry::Unmapped => Before::Nothing,
            Entry::Flash(_) => Before::Flash,
            Entry::Buffered(slot) => Before::Slot(slot, self.buffer.get(slot).rest),
        }
    }

    /// Of a page that [`Ftl::write`] has just taken, only so many bytes were written.
    pub(crate) fn wrote_part(
        &mut self,
        space: u32,
        page: u64,
        before: Before,
        (bytes, page_bytes): (u32, u32),
    ) {
        if let Entry::Buffered(slot) = self.mapping.entry(space, page) {
            self.buffer.write_part(slot, bytes, page_bytes, before);
        }
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
        if self.addressing.logs > 1 || self.history.is_some() {
            return 0;
        }
        let room = self
            .log_capacity
            .saturating_sub(self.logs[0].blocks.host_pages());
        let most = room.min(end - first).min(u64::from(self.buffer.free()));
        let most = most.min(self.journal_room());
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
        for index in (index.0..index.0 + u64::from(pages)).map(MapIndex) {
            let slot = self
                .buffer
                .take(User::Host(stream, layout), index, 0, request);
            self.oracle.buffered(slot);
            slots.push(slot);
        }
        if let Some(journal) = &mut self.journal {
            journal.record(pages);
        }
        self.mapping.buffer(index, &slots);
        self.logs[0]
            .blocks
            .place(&mut self.melded, space, pages, Spot::Buffer);
        self.gather_host(0, (stream, layout), (space, first), &slots);
        slots.clear();
        self.taken = slots;
        u64::from(pages)
    }

    /// Adds consecutive pages to what streams of the host's gather.
    #[inline]
    fn gather_host(
        &mut self,
        log_id: u32,
        (stream, layout): (u8, Layout),
        (space, first): (u32, u64),
        slots: &[u32],
    ) {
        if self.follows_streams {
            return self.gather_in(log_id, (stream, layout), (space, first), slots);
        }
        for (number, slot) in (first..).zip(slots) {
            let placement = &mut self.logs[log_id as usize].blocks.placement;
            let frontier = placement.of_write(PageId { space, number }, stream);
            let log = &mut self.logs[log_id as usize];
            log.unplaced[1] += u64::from(frontier >= FRONTIERS[0]);
            let stream = frontier.min(FRONTIERS[0] - 1);
            self.gather_in(
                log_id,
                (stream, layout),
                (space, number),
                slice::from_ref(slot),
            );
        }
    }

    /// Adds consecutive pages to what a stream of the host's gathers.
    #[inline]
    fn gather_in(
        &mut self,
        log_id: u32,
        (stream, layout): (u8, Layout),
        (space, first): (u32, u64),
        slots: &[u32],
    ) {
        let log = &mut self.logs[log_id as usize];
        let asked = Stream::Host(stream, layout);
        let stream = log.host_stream(stream, layout);
        if stream != asked {
            log.unplaced[0] += slots.len() as u64;
        }
        let Stream::Host(number, Layout::Melded) = stream else {
            return slots
                .iter()
                .for_each(|&slot| self.gather(log_id, stream, slot));
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
    pub(super) fn gather(&mut self, log_id: u32, stream: Stream, slot: u32) {
        if self.addressing.is_shadow() {
            return self.gather_leftover(log_id, stream, slot);
        }
        let log = &mut self.logs[log_id as usize];
        if let Some(pages) = log.gather(stream, slot, &self.addressing) {
            let stripe = &log.stream(stream).gatherer.stripe;
            stripe.for_each_gathered(PREFETCHED, |slot| self.buffer.prefetch(slot));
            self.close(log_id, stream, pages);
        }
    }

    /// Takes what runs have handed over.
    fn close_gathered(&mut self, stream: Stream) {
        let mut gathered = std::mem::take(&mut self.gathered);
        for RunPages {
            log_id,
            pages,
            whole,
        } in gathered.drain(..)
        {
            if whole {
                self.close(log_id, stream, pages);
            } else {
                for &page in pages.as_slice() {
                    self.gather_leftover(log_id, stream, page);
                }
            }
        }
        self.gathered = gathered;
    }

    /// Packs a page whose wordline has lost others, or that goes with whatever comes next.
    pub(super) fn gather_leftover(&mut self, log_id: u32, stream: Stream, page: u32) {
        let leftovers = &mut self.logs[log_id as usize].stream(stream).gatherer.leftovers;
        let all = self.addressing.pages_at_once(stream.layout());
        if let Some(pages) = leftovers.complete(page, all) {
            self.close(log_id, stream, pages);
        }
    }

    /// Pages that are programmed together are complete or must not wait any longer.
    pub(super) fn close(&mut self, log_id: u32, stream: Stream, pages: WordlinePages) {
        let slots = pages.as_slice().iter().copied();
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
        }
        let token = self.programs.add(pages);
        self.enqueue(log_id, stream, Queued::Pages(token));
    }

    /// Changes of the mapping that the journal has room for.
    #[inline]
    fn journal_room(&self) -> u64 {
        self.journal.as_ref().map_or(u64::MAX, Journal::room)
    }

    /// The journal is written when there is no room for another change, or the host is idle.
    #[inline]
    pub(super) fn write_due_journal(&mut self) {
        if let Some(journal) = &self.journal {
            if journal.is_due(self.addressing.pages_at_once(Layout::Normal)) {
                self.write_journal(false);
            }
        }
    }

    /// Hands what the journal has to dies: its full pages, and `with_open` the one that is not.
    pub(super) fn write_journal(&mut self, with_open: bool) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        let mut left = journal.take(with_open);
        let stream = Stream::Host(0, Layout::Normal);
        let at_once = self.addressing.pages_at_once(stream.layout());
        while left > 0 {
            let pages = left.min(at_once);
            left -= pages;
            let journal = self.journal.as_mut();
            let log_id = journal.map_or(0, |journal| journal.next_log(self.addressing.logs));
            let mut wordline = WordlinePages::NONE;
            for _ in 0..pages {
                let slot = self.buffer.take(User::Journal, MapIndex::NONE, log_id, NIL);
                self.oracle.buffered(slot);
                self.buffer.seal(slot);
                wordline.push(slot);
            }
            let token = self.programs.add(wordline);
            self.enqueue(log_id, stream, Queued::Pages(token));
        }
    }

    pub(super) fn enqueue(&mut self, log_id: u32, stream: Stream, queued: Queued) {
        self.logs[log_id as usize].enqueue(stream, queued);
        self.ready.push(log_id);
    }

    /// Closes every wordline of the host's that holds a page. Translation pages go on to gather.
    pub(crate) fn close_all(&mut self) {
        for number in 0..self.runs.len() {
            self.close_runs(number as u8);
        }
        for log_id in 0..self.addressing.logs {
            for stream in self.logs[log_id as usize].streams() {
                if matches!(stream, Stream::Host(..)) && !stream.is_of_map() {
                    self.close_stream(log_id, stream);
                }
            }
        }
    }

    /// The host's stream of that number ends: what it has gathered is programmed, with padding, and
    /// the superblocks it fills are closed, so that another stream may have superblocks of its own.
    pub(crate) fn release_stream(&mut self, number: u8) {
        self.close_runs(number);
        for log_id in 0..self.addressing.logs {
            if self.logs[log_id as usize].release_stream(number) {
                for layout in Layout::ALL {
                    let stream = Stream::Host(number, layout);
                    self.close_stream(log_id, stream);
                    self.enqueue(log_id, stream, Queued::EndOfSuperblock);
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

    fn close_stream(&mut self, log_id: u32, stream: Stream) {
        let gatherer = &mut self.logs[log_id as usize].stream(stream).gatherer;
        for pages in gatherer.close() {
            self.close(log_id, stream, pages);
        }
        if self.addressing.fills_wordlines(stream.layout()) {
            self.enqueue(log_id, stream, Queued::Padding);
        }
    }

    /// Closes every wordline of the host's that holds a page; `request` waits for their programs
    /// and all those before.
    pub(crate) fn flush(&mut self, request: u32) {
        self.close_all();
        self.write_journal(true);
        self.buffer.flush(request);
    }

    /// Whether a page that was not taken because of that would still not be: there is no room for it, and
    /// [`Ftl::make_progress`] would do nothing.
    #[inline]
    pub(crate) fn waits_for_room(&self) -> bool {
        let is_full = self.buffer.free() == 0;
        (is_full || self.journal_room() == 0) && !(is_full && self.is_stuck())
    }

    /// When the buffer is full of pages that wait for others, nothing would ever free a slot: closes
    /// their wordlines, with padding.
    pub(crate) fn make_progress(&mut self) {
        if self.buffer.free() == 0 && self.is_stuck() {
            self.close_all();
        }
    }

    /// Whether nothing that has begun will free a slot.
    pub(crate) fn is_stuck(&self) -> bool {
        let is_open = !self.buffer.will_be_freed() || self.addressing.is_shadow();
        let is_idle = self.programs.is_empty() && !self.logs.iter().any(Log::has_queued);
        is_open && is_idle
    }

    /// The next request of which a page that it waits for is programmed, or needs no program any more.
    #[inline]
    pub(crate) fn pop_written(&mut self) -> Option<u32> {
        self.buffer.pop_written()
    }

    /// The next flush that is done.
    pub(crate) fn pop_flushed(&mut self) -> Option<u32> {
        self.buffer.pop_flushed()
    }

    /// Gives what waits in a log positions as far as there is room, and starts the programs that are
    /// due.
    pub(super) fn program_queued(
        &mut self,
        log_id: u32,
        flash: &mut Flash,
        queue: &mut EventQueue<Event>,
    ) {
        let mut due = std::mem::take(&mut self.due);
        let mut streams = u64::MAX;
        let mut is_short = false;
        while let Some((stream, queued)) = self.logs[log_id as usize].next_queued(streams) {
            let (log, addressing) = (&mut self.logs[log_id as usize], &self.addressing);
            let is_host = matches!(stream, Stream::Host(..));
            // Translation pages have superblocks of their own, and both host and collector wait for them.
            let is_paced = is_host && !stream.is_of_map();
            if is_paced && !log.pace.admits(&self.pacing) {
                streams &= Stream::UNPACED;
                continue;
            }
            match queued {
                Queued::Pages(token) => {
                    let Some((filled, place)) = log.allocate(stream, addressing) else {
                        streams &= !(1 << stream.index());
                        is_short |= is_host;
                        continue;
                    };
                    if is_paced {
                        log.pace.spend(u32::from(place.pages));
                    }
                    if addressing.fills_wordlines(stream.layout()) {
                        let unit = addressing.page_addr(Layout::Melded, place.position).unit;
                        let (slots, programs) = (self.programs.take(token), &mut self.programs);
                        log.fill_wordline(filled, unit, slots, addressing, programs, &mut due);
                    } else {
                        due.push((token, place));
                    }
                }
                Queued::Padding => {
                    log.pad(stream, addressing, &mut self.programs, &mut due);
                }
                Queued::EndOfSuperblock => {
                    let left = log.blocks.left(stream);
                    if let (Some(events), Stream::Host(number, _), 1..) =
                        (&mut self.fdp, stream, left)
                    {
                        events.note(FdpEvent {
                            kind: FdpEventType::NotFullyWritten,
                            time: queue.now(),
                            pid: Some(u16::from(number)),
                            nsid: None,
                            pages: u64::from(left),
                        });
                    }
                    log.end_superblock(stream);
                }
            }
            log.pop_queued(stream);
        }
        self.logs[log_id as usize].pace.set_short(is_short);
        for (token, place) in due.drain(..) {
            self.start(token, place, flash, queue);
        }
        self.due = due;
    }

    /// Hands a program to its die.
    fn start(
        &mut self,
        token: u32,
        place: Place,
        flash: &mut Flash,
        queue: &mut EventQueue<Event>,
    ) {
        let blocks = &self.logs[place.log_id as usize].blocks;
        let layout = blocks.get(place.superblock).layout;
        let first = self.addressing.page_addr(layout, place.position);
        let wordline = self
            .addressing
            .wordline(place.log_id, place.superblock, first);
        for &slot in self.programs.slots(token) {
            self.buffer.start(slot);
            self.oracle.started(slot);
        }
        let pages = ((1u32 << place.pages) - 1) << first.page;
        self.programs.start(token, place);
        flash.program(queue, wordline, pages as PageSet, token);
    }

    /// A program that takes no time.
    pub(super) fn program_at_once(&mut self, token: u32, place: Place) {
        for &slot in self.programs.slots(token) {
            self.buffer.start(slot);
            self.oracle.started(slot);
        }
        self.programs.start(token, place);
        self.programmed(token);
    }

    /// A program has ended: its pages are on flash, unless they are no longer current.
    pub(crate) fn programmed(&mut self, token: u32) {
        let Place {
            log_id,
            superblock,
            position,
            step,
            pages,
        } = self.programs.end(token, &self.buffer, &self.mapping);
        let slots = self.programs.slots(token);
        let (all, pages) = (self.addressing.pages_per_wordline, u32::from(pages));
        let blocks = &mut self.logs[log_id as usize].blocks;
        blocks.programmed(superblock, pages);
        let melded = blocks.get(superblock).layout == Layout::Melded;
        let ends_wordline = pages == all || position % all + pages == all;
        self.stats.programs += 1;
        self.stats.melded_wordlines_programmed += u64::from(melded && ends_wordline);
        self.stats.padded_pages += u64::from(pages) - slots.len() as u64;
        self.indices.clear();
        self.numbers.clear();
        for (n, &slot) in (0..).zip(slots) {
            let released = self.buffer.release(slot);
            match released.user {
                User::Host(..) => {
                    self.stats.host_pages_programmed += 1;
                    match released.rest {
                        Rest::Nothing(bytes) => self.stats.filling_bytes += u64::from(bytes),
                        Rest::Older(bytes) => self.stats.merge_bytes += u64::from(bytes),
                        Rest::Levelling => {}
                    }
                }
                User::Gc(_) => {
                    self.stats.gc_pages_programmed += 1;
                    let levels = released.rest == Rest::Levelling;
                    self.stats.levelling_pages_programmed += u64::from(levels);
                    let is_current = released.index != MapIndex::NONE;
                    if let Some(journal) = &mut self.journal {
                        journal.record(u32::from(is_current));
                    }
                }
                User::Map => self.stats.map_pages_programmed += 1,
                User::Padding => self.stats.padded_pages += 1,
                User::Journal => {
                    self.stats.journal_pages_programmed += 1;
                    if let Some(journal) = &mut self.journal {
                        journal.programmed();
                    }
                }
            }
            if released.index != MapIndex::NONE {
                let position = position + self.addressing.offset(step, n);
                let ppn = self.addressing.ppn(log_id, superblock, position);
                self.oracle.programmed(slot, ppn);
                self.indices.push(released.index);
                self.numbers.push(ppn);
            }
        }
        let indices = &self.indices[..];
        let space = |page: u32| self.mapping.space_of(indices[page as usize]);
        let way = (Spot::Buffer, Spot::Flash(superblock));
        self.logs[log_id as usize].blocks.relocate(
            &mut self.melded,
            space,
            indices.len() as u32,
            way,
        );
        self.mapping.program(indices, &self.numbers);
        if self.map_space.is_some() {
            self.changed.extend_from_slice(&self.indices);
        }
        self.ready.push(log_id);
    }
}
