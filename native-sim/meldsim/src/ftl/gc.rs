//! Garbage collection: in the foreground, one group of each lane at a time.
//!
//! The valid pages of a victim are read into slots of the collector's own and written by its own
//! streams, in the layout they had, so that melded data stays melded. Once all of them are in
//! DRAM, which is protected against power loss, the victim is erased. A read the host had queued
//! on it before may find the erase before it; the model lets it through, with the time it takes.

use super::blocks::State;
use super::buffer::User;
use super::layer::Ftl;
use super::mapping::{Entry, Place};
use super::numbering::{Numbering, Ppn};
use super::stream::{Layout, Stream};
use super::victim;
use crate::engine::{Event, EventQueue, NIL};
use crate::nand::{Flash, MAX_PAGES_PER_WORDLINE, Owner, WordlineAddr};

#[derive(Debug)]
struct Victim {
    group: u32,
    layout: Layout,
    /// For each position the place that led to it.
    places: Box<[Place]>,
    /// The next position to look at.
    cursor: u32,
    /// Pages that are being read.
    reading: u32,
    /// Blocks still to be erased; none before all pages are out.
    erasing: u32,
}

/// The garbage collection of a lane.
#[derive(Debug)]
pub(crate) struct Collector {
    victim: Option<Victim>,
    /// Slots of the buffer it may take.
    pub(super) free_slots: u32,
}

impl Collector {
    pub(crate) fn new(numbering: &Numbering) -> Collector {
        Collector {
            victim: None,
            free_slots: slots(
                numbering.units,
                numbering.pages_per_wordline,
                numbering.is_shadow(),
            ),
        }
    }

    pub(crate) fn memory(&self) -> u64 {
        let places = self.victim.as_ref().map_or(0, |victim| victim.places.len());
        (places * size_of::<Place>()) as u64
    }
}

/// Slots the collector of a lane needs: an open stripe, one being programmed, one being read, and a
/// packed wordline; in shadow order also the pages that open wordlines hold.
pub(crate) fn slots(units: u32, pages_per_wordline: u32, is_shadow: bool) -> u32 {
    let held = match is_shadow {
        true => pages_per_wordline * (pages_per_wordline - 1) / 2,
        false => 0,
    };
    units * (3 * pages_per_wordline + held) + pages_per_wordline
}

impl Ftl {
    /// Starts a collection when erased groups run low, and moves the present one on.
    pub(super) fn collect(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let log = &mut self.lanes[lane as usize];
        if self.is_deterministic {
            if !log.blocks.is_at_reserve() {
                return;
            }
            self.is_deterministic = false;
            self.had_excursion = true;
        }
        if log.collector.victim.is_none() {
            if !log.blocks.is_low() {
                return;
            }
            let pages = self.numbering.pages_per_group;
            let Some(group) = victim::choose(self.victim_policy, &log.blocks, pages) else {
                return;
            };
            let places = self.places_of(lane, group);
            let log = &mut self.lanes[lane as usize];
            let victim = log.blocks.get_mut(group);
            victim.state = State::Collected;
            log.collector.victim = Some(Victim {
                group,
                layout: victim.layout,
                places,
                cursor: 0,
                reading: 0,
                erasing: 0,
            });
        }
        self.read_victim(lane, flash, queue);
        self.erase_victim(lane, flash, queue);
    }

    /// In a deterministic window nothing is collected as long as the host can go on without.
    pub(crate) fn set_deterministic(&mut self, is_deterministic: bool) {
        self.is_deterministic = is_deterministic;
        for lane in 0..self.numbering.lanes {
            self.stir(lane);
        }
    }

    /// Whether something had to be collected in a deterministic window, since this was last asked.
    pub(crate) fn take_excursion(&mut self) -> bool {
        std::mem::take(&mut self.had_excursion)
    }

    fn read_victim(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let numbering = &self.numbering;
        let log = &mut self.lanes[lane as usize];
        let Collector { victim, free_slots } = &mut log.collector;
        let Some(victim) = victim else {
            return;
        };
        let all = numbering.pages_per_wordline;
        let at_once = match victim.layout {
            Layout::Melded => all,
            Layout::Normal => 1,
        };
        while victim.cursor < numbering.pages_per_group
            && victim.reading + all <= numbering.pages_per_row
            && victim.reading + all <= *free_slots
        {
            let first = victim.cursor;
            victim.cursor += at_once;
            let spot = numbering.spot(victim.layout, first);
            let mut pages = 0u8;
            for index in 0..at_once {
                let position = first + index;
                let place = victim.places[position as usize];
                let ppn = numbering.number(lane, victim.group, position);
                if place != Place::NONE && self.mapping.get(place) == Entry::Flash(ppn) {
                    pages |= 1 << (spot.page + index);
                }
            }
            if pages != 0 {
                victim.reading += pages.count_ones();
                let at = numbering.address(lane, victim.group, spot.unit, spot.wordline);
                let melded = victim.layout == Layout::Melded;
                flash.read(queue, at, pages, melded, Owner::gc(self.set));
            }
        }
    }

    fn erase_victim(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let log = &mut self.lanes[lane as usize];
        let Some(victim) = &mut log.collector.victim else {
            return;
        };
        let emptied = log.blocks.get(victim.group).valid == 0 && victim.reading == 0;
        if emptied && victim.erasing == 0 {
            victim.erasing = self.numbering.units;
            for unit in 0..self.numbering.units {
                let unit = self.numbering.unit(lane, unit);
                flash.erase(queue, unit, victim.group, lane);
            }
        }
    }

    /// Pages of a victim have arrived in the controller.
    pub(crate) fn gc_read(&mut self, at: WordlineAddr, pages: u8) {
        let (lane, group, first) = self.numbering.find(at);
        let Some(victim) = &mut self.lanes[lane as usize].collector.victim else {
            debug_assert!(false, "read for no victim");
            return;
        };
        debug_assert_eq!(victim.group, group);
        victim.reading -= pages.count_ones();
        let layout = victim.layout;
        let stream = Stream::Gc(layout);
        let all = self.numbering.pages_per_wordline;
        let mut moved = [NIL; MAX_PAGES_PER_WORDLINE];
        let mut count = 0;
        for page in 0..all {
            if pages & (1 << page) == 0 {
                continue;
            }
            let spot = super::numbering::Spot { page, ..first };
            let position = self.numbering.position(layout, spot);
            if let Some(slot) = self.move_to_buffer(lane, group, position) {
                moved[page as usize] = slot;
                count += 1;
            }
        }
        if layout == Layout::Melded && count == all {
            self.close(lane, stream, moved); // whole wordlines move as they are
        } else {
            for slot in moved.into_iter().filter(|&slot| slot != NIL) {
                match layout {
                    Layout::Normal => self.gather(lane, stream, slot),
                    Layout::Melded => self.gather_leftover(lane, stream, slot),
                }
            }
        }
        self.stir(lane);
    }

    /// Moves a page into a slot; nothing when it was overwritten or deallocated while being read.
    fn move_to_buffer(&mut self, lane: u32, group: u32, position: u32) -> Option<u32> {
        let log = &mut self.lanes[lane as usize];
        let place = log.collector.victim.as_ref()?.places[position as usize];
        let ppn = self.numbering.number(lane, group, position);
        if place == Place::NONE || self.mapping.get(place) != Entry::Flash(ppn) {
            return None;
        }
        log.blocks.invalidate(group, 1);
        log.collector.free_slots -= 1;
        let slot = self.buffer.take(User::Gc, place, lane);
        #[cfg(test)]
        self.witness.collected(ppn, slot);
        self.mapping.set(place, Entry::Buffered(slot));
        self.stats.gc_pages_moved += 1;
        Some(slot)
    }

    /// One block of a lane's victim is erased; with the last one it is free.
    pub(crate) fn erased(&mut self, lane: u32) {
        self.stats.erases += 1;
        let log = &mut self.lanes[lane as usize];
        let Some(victim) = &mut log.collector.victim else {
            debug_assert!(false, "erased no victim");
            return;
        };
        victim.erasing -= 1;
        if victim.erasing == 0 {
            let group = victim.group;
            log.collector.victim = None;
            log.blocks.erased(group);
            #[cfg(test)]
            self.witness_erased(lane, group);
        }
        self.stir(lane);
    }
}

impl Ftl {
    /// Which pages of a group lead to the mapping still, in the order of filling.
    pub(super) fn current_places(&mut self, lane: u32, group: u32) -> Vec<Place> {
        let places = self.places_of(lane, group);
        let number = |position| -> Ppn { self.numbering.number(lane, group, position) };
        (0..)
            .zip(&places)
            .filter(|&(position, &place)| self.is_current(place, number(position)))
            .map(|(_, &place)| place)
            .collect()
    }
}
