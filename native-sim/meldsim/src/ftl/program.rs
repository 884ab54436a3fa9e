//! From complete wordlines to programs of dies, and what a program's end means.

use super::blocks::{OpenGroup, Taken};
use super::buffer::{Slot, User};
use super::lane::{Closed, Lane};
use super::layer::Ftl;
use super::mapping::{Entry, Place};
use super::numbering::{Ppn, Spot};
use super::order::PLACED;
use super::scheduler::{EMPTY, Fill};
use super::stream::{Layout, Stream};
use crate::engine::{Event, EventQueue, NIL, prefetch};
use crate::nand::{Flash, WordlineAddr};

/// A program: a whole wordline or, in shadow order, one page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    lane: u32,
    group: u32,
    /// The position of its first page, and from each page to the next.
    position: u32,
    step: u32,
    pages: u8,
    /// The slots it programs; [`NIL`] is padding.
    slots: Fill,
    /// The program that was handed over next, and will most likely end next; or [`NIL`].
    follower: u32,
}

impl Ftl {
    /// Pages that are programmed together are complete or must not wait any longer.
    pub(super) fn close(&mut self, lane: u32, stream: Stream, fill: Fill) {
        let slots = fill.into_iter().filter(|&slot| slot != NIL);
        if slots
            .clone()
            .all(|slot| self.buffer.get(slot).place == Place::NONE)
        {
            // Everything in it was overwritten or deallocated: nothing to program.
            slots.for_each(|slot| {
                self.release(slot);
            });
            return;
        }
        slots.for_each(|slot| {
            let epoch = match stream {
                Stream::Host(..) => self.barrier.sealed(),
                Stream::Gc(_) => 0,
            };
            self.buffer.seal(slot, epoch);
            #[cfg(test)]
            self.witness.sealed(slot);
        });
        self.enqueue(lane, stream, Closed::Pages(fill));
    }

    pub(super) fn release(&mut self, slot: u32) -> Slot {
        let released = self.buffer.release(slot);
        if released.request != NIL {
            self.written.push(released.request);
        }
        if released.user == User::Gc {
            self.lanes[released.lane as usize].collector.free_slots += 1;
        }
        released
    }

    fn enqueue(&mut self, lane: u32, stream: Stream, closed: Closed) {
        self.lanes[lane as usize].push_closed(stream, closed);
        self.stir(lane);
    }

    /// Closes every wordline of the host's that holds a page.
    pub(crate) fn close_all(&mut self) {
        for number in 0..self.runs.len() {
            self.close_runs(number as u8);
        }
        for lane in 0..self.numbering.lanes {
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
        for lane in 0..self.numbering.lanes {
            if self.lanes[lane as usize].release_stream(number) {
                for layout in [Layout::Normal, Layout::Melded] {
                    let stream = Stream::Host(number, layout);
                    self.close_stream(lane, stream);
                    self.enqueue(lane, stream, Closed::Group);
                }
            }
        }
    }

    /// Closes every wordline that runs of the host's stream have begun.
    fn close_runs(&mut self, number: u8) {
        let Some(runs) = self.runs.get_mut(usize::from(number)) else {
            return;
        };
        let mut gathered = Vec::new();
        runs.close(|pages| gathered.push(pages));
        for pages in gathered {
            self.close_gathered(Stream::Host(number, Layout::Melded), pages);
        }
    }

    fn close_stream(&mut self, lane: u32, stream: Stream) {
        let gatherer = self.lanes[lane as usize].gatherer(stream);
        let mut fills: Vec<Fill> = Vec::new();
        let pages_per_wordline = self.numbering.pages_per_wordline;
        gatherer
            .stripe
            .close(pages_per_wordline, |fill| fills.push(fill));
        fills.extend(gatherer.leftovers.take());
        for fill in fills {
            self.close(lane, stream, fill);
        }
        if self.numbering.is_shadow() && stream.layout() == Layout::Melded {
            self.enqueue(lane, stream, Closed::Padding);
        }
    }

    /// Closes every wordline of the host's that holds a page; `request` waits for their programs
    /// and all those before.
    pub(crate) fn flush(&mut self, request: u32) {
        self.close_all();
        self.barrier.wait(request);
    }

    /// When the buffer is full of pages that wait for others, nothing would ever free a slot: closes
    /// their wordlines, with padding.
    pub(crate) fn make_progress(&mut self) {
        let is_shadow = self.numbering.is_shadow();
        if self.buffer.free() == 0 && (!self.buffer.will_be_freed() || is_shadow) && self.is_idle()
        {
            self.close_all();
        }
    }

    /// Whether no program is under way or waits for a place.
    fn is_idle(&self) -> bool {
        self.programs.len() == 0 && !self.lanes.iter().any(Lane::has_closed)
    }

    /// The next request of which a page that it waits for is programmed, or needs no program any more.
    pub(crate) fn pop_written(&mut self) -> Option<u32> {
        self.written.pop()
    }

    /// The next flush that is done.
    pub(crate) fn pop_flushed(&mut self) -> Option<u32> {
        self.barrier.pop_done()
    }

    /// Moves everything on that can move: closed wordlines to dies, and garbage collection.
    pub(crate) fn pump(&mut self, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        while let Some(lane) = self.stirred.pop() {
            self.lanes[lane as usize].is_stirred = false;
            self.place_closed(lane, flash, queue);
            self.collect(lane, flash, queue);
        }
    }

    fn place_closed(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let mut streams = u64::MAX;
        while let Some((stream, closed)) = self.lanes[lane as usize].next_closed(streams) {
            let placed = self.place(lane, stream, closed, &mut |ftl, program, at| {
                let pages = match program.pages {
                    1 => 1 << ftl.page_of(&program),
                    all => (1 << all) - 1,
                };
                let token = ftl.hand_over(program);
                flash.program(queue, at, pages, token);
            });
            if placed {
                self.lanes[lane as usize].pop_closed(stream);
            } else {
                streams &= !(1 << stream.index());
            }
        }
    }

    /// Takes note of a program that a die is given; returns its token.
    fn hand_over(&mut self, program: Program) -> u32 {
        let token = self.programs.insert(program);
        if self.last_program != NIL {
            self.programs[self.last_program].follower = token;
        }
        self.last_program = token;
        token
    }

    /// Gives what is closed its place, and hands over the programs that are due. False when there
    /// is no room.
    pub(super) fn place(
        &mut self,
        lane: u32,
        stream: Stream,
        closed: Closed,
        program: &mut dyn FnMut(&mut Ftl, Program, WordlineAddr),
    ) -> bool {
        let fill = match closed {
            Closed::Pages(fill) => fill,
            Closed::Padding => {
                self.pad_open_wordlines(lane, stream, program);
                return true;
            }
            Closed::Group => {
                self.lanes[lane as usize].end_group(stream);
                return true;
            }
        };
        let numbering = &self.numbering;
        let all = numbering.pages_per_wordline;
        let log = &mut self.lanes[lane as usize];
        let by_page = numbering.is_shadow() && stream.layout() == Layout::Normal;
        let pages = if by_page { 1 } else { all };
        let Some(Taken {
            group, position, ..
        }) = log.blocks.take(stream, pages, numbering)
        else {
            return false;
        };
        if stream.layout() == Layout::Melded && numbering.is_shadow() {
            let unit = numbering.spot(Layout::Melded, position).unit;
            self.fill_open_wordline(lane, stream, unit, fill, program);
            return true;
        }
        let wordline = position / all;
        let (position, step) = match stream.layout() {
            _ if by_page => (position, 0),
            Layout::Melded => (position, 1),
            // The wordline's pages are a pass over the row apart.
            Layout::Normal => (
                wordline / numbering.units * numbering.pages_per_row + wordline % numbering.units,
                numbering.units,
            ),
        };
        let spot = numbering.spot(stream.layout(), position);
        let at = numbering.address(lane, group, spot.unit, spot.wordline);
        let placed = Program {
            lane,
            group,
            position,
            step,
            pages: pages as u8,
            slots: fill,
            follower: NIL,
        };
        // Its end will change their entries.
        for slot in fill.into_iter().filter(|&slot| slot != NIL) {
            let place = self.buffer.get(slot).place;
            if place != Place::NONE {
                self.mapping.prefetch(place);
            }
        }
        program(self, placed, at);
        true
    }

    /// Fills the next wordline of a unit in shadow order: pages of wordlines before it are due.
    pub(super) fn fill_open_wordline(
        &mut self,
        lane: u32,
        stream: Stream,
        unit: u32,
        fill: Fill,
        program: &mut dyn FnMut(&mut Ftl, Program, WordlineAddr),
    ) {
        let Some(OpenGroup {
            group,
            wordlines: Some(wordlines),
            ..
        }) = self.lanes[lane as usize].blocks.open_mut(stream)
        else {
            debug_assert!(false, "a wordline of no open group");
            return;
        };
        let group = *group;
        let mut due = Vec::with_capacity(fill.len());
        wordlines.fill(unit, fill, |wordline, page, slot| {
            due.push((wordline, page, slot));
        });
        for (wordline, page, slot) in due {
            if slot == PLACED {
                self.lanes[lane as usize].blocks.programmed(group, 1);
                continue;
            }
            let spot = Spot {
                unit,
                wordline,
                page,
            };
            let mut slots = EMPTY;
            slots[0] = slot;
            let due = Program {
                lane,
                group,
                position: self.numbering.position(Layout::Melded, spot),
                step: 0,
                pages: 1,
                slots,
                follower: NIL,
            };
            let at = self.numbering.address(lane, group, unit, wordline);
            program(self, due, at);
        }
    }

    /// Fills wordlines with padding until no page waits for one.
    fn pad_open_wordlines(
        &mut self,
        lane: u32,
        stream: Stream,
        program: &mut dyn FnMut(&mut Ftl, Program, WordlineAddr),
    ) {
        for unit in 0..self.numbering.units {
            loop {
                let blocks = &mut self.lanes[lane as usize].blocks;
                let Some(OpenGroup {
                    group,
                    wordlines: Some(wordlines),
                    ..
                }) = blocks.open_mut(stream)
                else {
                    return;
                };
                if !wordlines.holds_pages(unit) {
                    break;
                }
                let group = *group;
                blocks.get_mut(group).unprogrammed += self.numbering.pages_per_wordline;
                self.fill_open_wordline(lane, stream, unit, EMPTY, program);
            }
        }
    }

    /// The page of the wordline that a program of one page programs.
    fn page_of(&self, program: &Program) -> u32 {
        let blocks = &self.lanes[program.lane as usize].blocks;
        let layout = blocks.get(program.group).layout;
        self.numbering.spot(layout, program.position).page
    }

    /// A program has ended: its pages are on flash, unless they are no longer current.
    pub(crate) fn programmed(&mut self, token: u32) {
        let program = self.programs[token];
        self.programs.remove(token);
        self.prefetch_program(program.follower);
        self.complete(program);
    }

    /// Fetches what the end of a program will look at, and the program after it: between two programs
    /// of a die the write buffer goes round once, so both have long left the processor's caches. What
    /// ended out of turn leads nowhere in particular, which costs no more than the fetch.
    fn prefetch_program(&self, token: u32) {
        if token == NIL {
            return;
        }
        let program = &self.programs[token];
        for slot in program.slots.into_iter().filter(|&slot| slot != NIL) {
            self.buffer.prefetch(slot);
        }
        if program.follower != NIL {
            prefetch(&self.programs[program.follower]);
        }
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
            follower: _,
        } = program;
        let all = self.numbering.pages_per_wordline;
        let blocks = &mut self.lanes[lane as usize].blocks;
        blocks.programmed(group, u32::from(pages));
        let melded = blocks.get(group).layout == Layout::Melded;
        let ends_wordline = pages > 1 || position % all == all - 1;
        self.stats.programs += 1;
        self.stats.melded_wordlines_programmed += u64::from(melded && ends_wordline);
        let mut places = [Place::NONE; EMPTY.len()];
        let mut numbers = [Ppn(NIL); EMPTY.len()];
        let mut current = 0;
        for (index, &slot) in (0..u32::from(pages)).zip(&slots) {
            if slot == NIL {
                self.stats.padded_pages += 1;
                continue;
            }
            let released = self.release(slot);
            if released.user == User::Gc {
                self.stats.gc_pages_programmed += 1;
            } else {
                self.stats.host_pages_programmed += 1;
                self.barrier.programmed(released.epoch);
            }
            if released.place != Place::NONE {
                let ppn = self.numbering.number(lane, group, position + index * step);
                #[cfg(test)]
                self.witness.programmed(slot, ppn);
                (places[current], numbers[current]) = (released.place, ppn);
                current += 1;
            }
        }
        let blocks = &mut self.lanes[lane as usize].blocks;
        blocks.validate(group, current as u32);
        let (places, numbers) = (&places[..current], numbers[..current].iter().copied());
        match places.first() {
            Some(first) if first.goes_on(places) => self.mapping.program(*first, numbers),
            _ => {
                let entries = numbers.map(Entry::Flash);
                self.mapping.set_all(places.iter().copied().zip(entries));
            }
        }
        self.stir(lane);
    }
}
