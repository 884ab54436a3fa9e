//! Garbage collection: one group of each lane at a time.
//!
//! The valid pages of a victim are read into slots of the collector's own, a row of wordlines at a
//! time, and written by its own streams in the order they had, so that what was sequential stays
//! so; or in the layout that suits how they have been read since, where the profile asks for that.
//! Rows that are valid throughout may be copied inside their planes instead (copyback.rs). Once all pages are in DRAM, which is protected against power loss, the victim is erased.
//! A read the host had queued on it before may find the erase before it; the model lets it
//! through, with the time it takes.

use std::collections::VecDeque;

use super::blocks::State;
use super::buffer::User;
use super::layer::Ftl;
use super::mapping::{Entry, Place};
use super::numbering::{Numbering, Spot};
use super::scheduler::EMPTY;
use super::stream::{Layout, Stream};
use crate::engine::{Event, EventQueue, NIL};
use crate::nand::{Flash, Owner, WordlineAddr};

/// Rows that are read at a time: the next one's senses overlap the last one's transfers.
const ROWS_AT_ONCE: usize = 2;

/// A group that is being emptied.
#[derive(Debug)]
pub(super) struct Victim {
    pub(super) group: u32,
    pub(super) layout: Layout,
    /// For each position the place whose data it holds; kept up to date where it is confirmed.
    pub(super) places: Box<[Place]>,
    /// Positions whose places are confirmed. That is done row by row, for the mapping's entries are
    /// then still in the processor's cache when the pages move.
    confirmed: u32,
    /// Valid pages of the row that was confirmed last.
    valid_in_row: u32,
    /// The first position of the next row to read.
    pub(super) next: u32,
    /// Rows that are being read, the first one first.
    rows: VecDeque<Row>,
    /// Pages that are being read.
    reading: u32,
    /// Pages that are being copied inside their planes.
    pub(super) copying: u32,
    /// Blocks still to be erased; none before all pages are out.
    erasing: u32,
}

/// A wordline of each unit.
#[derive(Debug)]
struct Row {
    /// Its first position.
    first: u32,
    /// Pages that have not arrived.
    waiting: u32,
    /// The slots of those that have, by position.
    slots: Vec<u32>,
}

/// The garbage collection of a lane.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(super) victim: Option<Victim>,
    /// Slots of the buffer it may take.
    pub(super) free_slots: u32,
    /// The last group was collected because it was cold: the next one is not.
    pub(super) has_levelled: bool,
    spare_rows: Vec<Vec<u32>>,
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
            has_levelled: false,
            spare_rows: Vec::new(),
        }
    }

    /// Pages of a group are no longer current.
    #[inline]
    pub(super) fn invalidated(&mut self, group: u32, position: u32, pages: u32) {
        if let Some(victim) = &mut self.victim {
            if victim.group == group {
                for position in position..position + pages {
                    let place = &mut victim.places[position as usize];
                    let place = std::mem::replace(place, Place::NONE);
                    let is_next = position >= victim.next && position < victim.confirmed;
                    victim.valid_in_row -= u32::from(place != Place::NONE && is_next);
                }
            }
        }
    }

    pub(crate) fn memory(&self) -> u64 {
        let places = self.victim.as_ref().map_or(0, |victim| victim.places.len());
        (places * size_of::<Place>()) as u64
    }
}

/// Slots the collector of a lane needs: rows being read, an open stripe, one being programmed, and a
/// packed wordline; in shadow order also the pages that open wordlines hold.
pub(crate) fn slots(units: u32, pages_per_wordline: u32, is_shadow: bool) -> u32 {
    let held = match is_shadow {
        true => pages_per_wordline * (pages_per_wordline - 1) / 2,
        false => 0,
    };
    let rows = ROWS_AT_ONCE as u32 + 2;
    units * (rows * pages_per_wordline + held) + pages_per_wordline
}

impl Ftl {
    /// Starts a collection when that is due, and moves the present one on.
    pub(super) fn collect(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        if self.is_held_back(lane) {
            return;
        }
        if self.lanes[lane as usize].collector.victim.is_none() {
            let Some(group) = self.next_victim(lane) else {
                return;
            };
            let places = self.noted_places(lane, group);
            let log = &mut self.lanes[lane as usize];
            let victim = log.blocks.get_mut(group);
            victim.state = State::Collected;
            log.collector.victim = Some(Victim {
                group,
                layout: victim.layout,
                places,
                confirmed: 0,
                valid_in_row: 0,
                next: 0,
                rows: VecDeque::new(),
                reading: 0,
                copying: 0,
                erasing: 0,
            });
        }
        loop {
            self.confirm_row(lane);
            if !self.copy_row(lane, flash, queue) && !self.read_row(lane, flash, queue) {
                break;
            }
        }
        self.erase_victim(lane, flash, queue);
    }

    /// Confirms what the victim's next row holds, once.
    fn confirm_row(&mut self, lane: u32) {
        let Some(victim) = &mut self.lanes[lane as usize].collector.victim else {
            return;
        };
        let (group, first) = (victim.group, victim.next);
        if first < victim.confirmed || first == self.numbering.pages_per_group {
            return;
        }
        let mut places = std::mem::take(&mut victim.places);
        let end = first + self.numbering.pages_per_row;
        let row = &mut places[first as usize..end as usize];
        self.confirm(lane, group, first, row);
        let valid_in_row = row.iter().filter(|&&place| place != Place::NONE).count() as u32;
        if let Some(victim) = &mut self.lanes[lane as usize].collector.victim {
            victim.places = places;
            victim.confirmed = end;
            victim.valid_in_row = valid_in_row;
        }
    }

    /// Reads the victim's next row; false when there is none, or no room for it.
    fn read_row(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) -> bool {
        let numbering = &self.numbering;
        let Collector {
            victim: Some(victim),
            free_slots,
            spare_rows,
            ..
        } = &mut self.lanes[lane as usize].collector
        else {
            return false;
        };
        if victim.next == numbering.pages_per_group || victim.rows.len() == ROWS_AT_ONCE {
            return false;
        }
        let first = victim.next;
        let valid = victim.valid_in_row;
        if valid + victim.reading > *free_slots {
            return false;
        }
        victim.next += numbering.pages_per_row;
        if valid > 0 {
            let mut slots = spare_rows.pop().unwrap_or_default();
            slots.resize(numbering.pages_per_row as usize, NIL);
            victim.reading += valid;
            self.stats.gc_pages_read += u64::from(valid);
            victim.rows.push_back(Row {
                first,
                waiting: valid,
                slots,
            });
            for_each_wordline(numbering, victim, lane, first, |at, pages| {
                // Sensing the pages of a wordline at once does not need them to be laid out so.
                flash.read(queue, at, pages, true, Owner::gc(self.set));
            });
        }
        true
    }

    fn erase_victim(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let log = &mut self.lanes[lane as usize];
        let Some(victim) = &mut log.collector.victim else {
            return;
        };
        let moving = victim.reading + victim.copying;
        let emptied = log.blocks.get(victim.group).valid == 0 && moving == 0;
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
        let mut moved = [(Place::NONE, Entry::Unmapped); EMPTY.len()];
        let mut current = 0;
        for page in 0..self.numbering.pages_per_wordline {
            if pages & (1 << page) == 0 {
                continue;
            }
            let position = self.numbering.position(layout, Spot { page, ..first });
            let found = self.move_to_buffer(lane, group, position);
            if let Some((place, slot)) = found {
                moved[current] = (place, Entry::Buffered(slot));
                current += 1;
            }
            let Some(victim) = &mut self.lanes[lane as usize].collector.victim else {
                return;
            };
            let row = position - position % self.numbering.pages_per_row;
            if let Some(row) = victim.rows.iter_mut().find(|found| found.first == row) {
                row.waiting -= 1;
                row.slots[(position - row.first) as usize] = found.map_or(NIL, |(_, slot)| slot);
            }
        }
        self.mapping.set_all(moved[..current].iter().copied());
        while let Some(victim) = &mut self.lanes[lane as usize].collector.victim {
            match victim.rows.front() {
                Some(row) if row.waiting == 0 => {}
                _ => break,
            }
            let Some(Row { mut slots, .. }) = victim.rows.pop_front() else {
                break;
            };
            self.gather_row(lane, layout, &slots);
            slots.clear();
            self.lanes[lane as usize].collector.spare_rows.push(slots);
        }
        self.stir(lane);
    }

    /// Takes a slot for a page that has arrived; nothing when it was overwritten or deallocated while
    /// it was read. The mapping is the caller's.
    fn move_to_buffer(&mut self, lane: u32, group: u32, position: u32) -> Option<(Place, u32)> {
        let log = &mut self.lanes[lane as usize];
        let victim = log.collector.victim.as_mut()?;
        let place = std::mem::replace(&mut victim.places[position as usize], Place::NONE);
        if place == Place::NONE {
            return None;
        }
        log.blocks.invalidate(group, 1);
        log.collector.free_slots -= 1;
        let slot = self.buffer.take(User::Gc, place, lane, NIL);
        #[cfg(test)]
        self.witness
            .collected(self.numbering.number(lane, group, position), slot);
        self.stats.gc_pages_moved += 1;
        Some((place, slot))
    }

    /// Writes the pages of a row, in their order.
    fn gather_row(&mut self, lane: u32, layout: Layout, slots: &[u32]) {
        let all = self.numbering.pages_per_wordline as usize;
        for wordline in slots.chunks(all) {
            let mut kept = EMPTY;
            let mut count = 0;
            for &slot in wordline.iter().filter(|&&slot| slot != NIL) {
                if self.buffer.get(slot).place == Place::NONE {
                    self.release(slot); // overwritten or deallocated since it was read
                } else {
                    kept[count] = slot;
                    count += 1;
                }
            }
            let stays = |slot| self.suits(slot).unwrap_or(layout) == layout;
            if layout == Layout::Melded && count == all && stays(kept[0]) {
                self.close(lane, Stream::Gc(layout), kept); // whole wordlines move as they are
                continue;
            }
            for &slot in &kept[..count] {
                let layout_now = self.suits(slot).unwrap_or(layout);
                self.stats.gc_pages_relaid += u64::from(layout_now != layout);
                let stream = Stream::Gc(layout_now);
                match layout_now {
                    Layout::Normal => self.gather(lane, stream, slot),
                    Layout::Melded => self.gather_leftover(lane, stream, slot),
                }
            }
        }
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
            log.blocks.is_levelling = false;
            log.blocks.erased(group);
            #[cfg(test)]
            self.witness_erased(lane, group);
        }
        self.stir(lane);
    }
}

/// Hands over what is to be read of a row: wordlines, and which of their pages.
fn for_each_wordline(
    numbering: &Numbering,
    victim: &Victim,
    lane: u32,
    first: u32,
    mut read: impl FnMut(WordlineAddr, u8),
) {
    let (from_unit, step) = numbering.strides(victim.layout);
    let in_shadow_order = numbering.is_shadow() && victim.layout == Layout::Normal;
    for unit in 0..numbering.units {
        let mut pages = 0u8;
        for index in 0..numbering.pages_per_wordline {
            let position = first + unit * from_unit + index * step;
            if victim.places[position as usize] == Place::NONE {
                continue;
            }
            if in_shadow_order {
                // The row's positions are of several wordlines.
                let spot = numbering.spot(victim.layout, position);
                let at = numbering.address(lane, victim.group, spot.unit, spot.wordline);
                read(at, 1 << spot.page);
            } else {
                pages |= 1 << index;
            }
        }
        if pages != 0 {
            let spot = numbering.spot(victim.layout, first + unit * from_unit);
            read(
                numbering.address(lane, victim.group, spot.unit, spot.wordline),
                pages,
            );
        }
    }
}
