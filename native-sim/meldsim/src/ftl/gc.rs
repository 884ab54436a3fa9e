//! Garbage collection: one group of each lane at a time.
//!
//! In come lanes that are low on free groups, or whose host is idle; out go reads, programs, copybacks
//! and erases. Which group is next is decided in `victim.rs`, what it holds in `reverse_map.rs`.
//!
//! ```text
//!   collect    read_row    valid pages of a row of wordlines are read ...
//!   gc_read    gather_row  ... into slots of the collector's own, and go to streams of its own
//!   copied     copy_row    or the row is copied inside its planes
//!   erased     once all pages are out, the victim is erased: all its blocks at once without pacing,
//!              else a few at a time, while the next victim is being emptied
//! ```
//!
//! Pages keep their order, so that what was sequential stays so; or they get the layout that suits how
//! they have been read since, where the profile asks for that. Once all pages are in DRAM, which is
//! protected against power loss, the victim is erased. Reads that were queued on it before go first: a
//! die holds the erase of a block until they are done (`nand/die.rs`).
//!
//! Copyback: a plane's register reaches only its own blocks, and a program takes a whole wordline. So a
//! row of the victim is copied when all of its pages are current and the row the collector fills next
//! begins: each wordline then stays on its plane. With static allocation a row is one wordline. The
//! data does not pass the controller, so pages that are overwritten meanwhile are copied in vain.

use std::collections::BTreeSet;

use super::address::PageAddr;
use super::buffer::User;
use super::layer::Ftl;
use super::ledger::Spot;
use super::mapping::{Entry, MapIndex};
use super::pacing::{Pace, Pacer};
use super::reverse_map::BATCH_SHARE;
use super::stream::{Layout, Stream, WordlinePages};
use super::victim::{Copyback, Erasing, Victim};
use crate::engine::{EventQueue, Instant, NIL};
use crate::event::Event;
use crate::nand::{Flash, Owner, PageSet, WordlineAddr};
use crate::policy::placement::{Frontier, Page as PageId};
use crate::timeline::Collection;

/// Rows that are copied back at a time: what waits for a die is bounded.
const COPIES_AT_ONCE: u32 = 2;
/// With pacing a group is erased in so many steps, each on other dies.
const ERASE_STEPS: u32 = 4;

impl Ftl {
    /// Starts a collection when that is due, and moves the present one on.
    pub(super) fn collect(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        if self
            .selection
            .is_held_back(&self.lanes[lane as usize].blocks)
        {
            return self.change_pace(lane, |pace, _| pace.suspend());
        }
        let is_paced = !self.pacing.is_off();
        if is_paced {
            self.erase_step(lane, flash, queue);
            self.keep_pace(lane);
        }
        if self.lanes[lane as usize].victim.is_none() {
            if !self.begin_victim(lane) {
                return;
            }
            self.note_victim(lane, flash, queue.now());
        }
        while self.goes_on(lane)
            && self.confirm_row(lane)
            && (self.copy_row(lane, flash, queue) || self.read_row(lane, flash, queue))
        {
            if is_paced {
                self.keep_pace(lane);
            }
        }
        self.erase_victim(lane, flash, queue);
    }

    /// Chooses a victim, if one is to be collected. False when there is none.
    #[inline]
    fn begin_victim(&mut self, lane: u32) -> bool {
        let log = &self.lanes[lane as usize];
        let is_urgent = match self.pacing.is_off() {
            true => log.blocks.is_low() && log.erasing.is_none(),
            false => log.pace.is_on(),
        };
        (is_urgent || self.selection.is_idle) && self.choose_victim(lane, is_urgent)
    }

    /// Tells of a victim that has been chosen.
    fn note_victim(&self, lane: u32, flash: &mut Flash, now: Instant) {
        let blocks = &self.lanes[lane as usize].blocks;
        let victim = self.lanes[lane as usize].victim.as_ref();
        if let (Some(recorder), Some(victim)) = (flash.recorder(), victim) {
            recorder.collection_begins(Collection {
                set: self.set,
                lane,
                group: victim.group,
                valid_pages: blocks.get(victim.group).valid,
                pages: blocks.pages_per_group,
                start: now,
                end: now,
            });
        }
    }

    #[inline(never)]
    fn choose_victim(&mut self, lane: u32, is_urgent: bool) -> bool {
        let log = &mut self.lanes[lane as usize];
        if self.pacing.is_off() && log.erasing.is_some() {
            return false;
        }
        let (blocks, reverse_map) = (&mut log.blocks, &self.reverse_map);
        let choice = self.selection.next(lane, blocks, reverse_map, is_urgent);
        let freed = choice.map(|choice| {
            let valid = blocks.get(choice.group).valid;
            u64::from(blocks.pages_per_group - valid)
        });
        self.change_pace(lane, |pace, pacing| pace.begin(pacing, freed));
        let Some(choice) = choice else {
            return false;
        };
        self.stats.collections += 1;
        self.stats.background_collections += u64::from(choice.in_background);
        self.stats.levelling_collections += u64::from(choice.for_wear);
        let p2l = self.p2l(lane, choice.group);
        let log = &mut self.lanes[lane as usize];
        log.blocks.is_levelling = choice.for_wear;
        log.blocks.collected(choice.group);
        let group = log.blocks.get(choice.group);
        let pages_per_row = self.addressing.pages_per_row;
        let victim = Victim::new(choice.group, group.layout, p2l, pages_per_row);
        victim.prefetch_row(0, pages_per_row, &self.mapping);
        log.victim = Some(victim);
        true
    }

    /// Tells the lane's pace how far it is.
    fn keep_pace(&mut self, lane: u32) {
        let log = &mut self.lanes[lane as usize];
        let room = log.room(&self.addressing);
        let mut emptied = None;
        log.blocks.host_reserve = match &log.victim {
            None => self.pacing.host_reserve(None, 0),
            Some(victim) => {
                emptied = Some(victim.emptied(self.addressing.pages_per_row));
                let valid = log.blocks.get(victim.group).valid;
                let left = log.blocks.left(Stream::Gc(0, victim.layout));
                self.pacing.host_reserve(Some(valid), left)
            }
        };
        self.change_pace(lane, |pace, pacing| {
            pace.look(pacing, room);
            if let Some(emptied) = emptied {
                pace.emptied(pacing, emptied);
            }
        });
    }

    /// Changes the lane's pace. A host that may then program again does so.
    fn change_pace(&mut self, lane: u32, change: impl FnOnce(&mut Pace, &mut Pacer)) {
        let pace = &mut self.lanes[lane as usize].pace;
        let was_held = !pace.admits(&self.pacing);
        change(pace, &mut self.pacing);
        if was_held && pace.admits(&self.pacing) {
            self.ready.push(lane);
        }
    }

    /// Whether the collector need not wait for the host.
    fn goes_on(&self, lane: u32) -> bool {
        let pace = &self.lanes[lane as usize].pace;
        self.pacing.is_off() || self.selection.is_idle || pace.collects(&self.pacing)
    }

    /// Which entries lead to a group. The reverse map is made anew when it does not hold the group.
    pub(super) fn p2l(&mut self, lane: u32, group: u32) -> Box<[MapIndex]> {
        let is_valid = self.lanes[lane as usize].blocks.get(group).valid > 0;
        if is_valid && !self.reverse_map.holds(lane, group) {
            let mut batch = BTreeSet::from([(lane, group)]);
            for (lane, log) in (0..).zip(&self.lanes) {
                let mut share = log.blocks.live / BATCH_SHARE;
                for group in self.selection.likely(&log.blocks) {
                    match share.checked_sub(u64::from(log.blocks.get(group).valid)) {
                        None => break,
                        Some(rest) => share = rest,
                    }
                    batch.insert((lane, group));
                }
            }
            self.reverse_map
                .make(batch, &self.mapping, &self.addressing);
        }
        let pages = self.addressing.pages_per_group;
        self.reverse_map.take(lane, group, pages)
    }

    /// Confirms what the victim's next row holds. False when there is none.
    fn confirm_row(&mut self, lane: u32) -> bool {
        let victim = &mut self.lanes[lane as usize].victim;
        let (mapping, addressing) = (&self.mapping, &self.addressing);
        victim
            .as_mut()
            .is_some_and(|victim| victim.confirm_row(lane, mapping, addressing))
    }

    /// Reads the victim's next row; false when there is no room for it.
    fn read_row(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) -> bool {
        let log = &mut self.lanes[lane as usize];
        let Some(victim) = &mut log.victim else {
            return false;
        };
        let room = self.buffer.gc_free(lane);
        if victim.reads_enough() || victim.valid_in_row + victim.reading > room {
            return false;
        }
        let pages_per_row = self.addressing.pages_per_row;
        if victim.valid_in_row > 0 {
            self.stats.gc_pages_read += u64::from(victim.valid_in_row);
            victim.begin_row(pages_per_row);
            victim.for_each_wordline(lane, &self.addressing, |at, pages| {
                // Sensing the pages of a wordline at once does not need them to be laid out so.
                flash.read(queue, at, pages, true, Owner::gc(self.set));
            });
        }
        victim.next += pages_per_row;
        true
    }

    /// Copies the victim's next row inside its planes; false when it cannot be.
    fn copy_row(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) -> bool {
        let log = &self.lanes[lane as usize];
        let (true, Some(victim)) = (self.copies_back, &log.victim) else {
            return false;
        };
        let row = self.addressing.pages_per_row;
        let (layout, first) = (victim.layout, victim.next);
        let stream = Stream::Gc(0, layout);
        let mut indices = victim.p2l[first as usize..(first + row) as usize].iter();
        if victim.copying >= COPIES_AT_ONCE * row
            || log.blocks.next_position(stream) % row != 0
            || !indices
                .all(|&index| index != MapIndex::NONE && self.suited(index, layout) == layout)
        {
            return false;
        }
        let (log, addressing) = (&mut self.lanes[lane as usize], &self.addressing);
        let (Some(victim), Some((group, position))) =
            (&mut log.victim, log.blocks.take(stream, row, addressing))
        else {
            return false;
        };
        victim.next += row;
        victim.copying += row;
        self.stats.gc_pages_read += u64::from(row);
        let (from_unit, step) = addressing.strides(layout);
        for unit in 0..addressing.units {
            let copy = Copyback {
                lane,
                from: first + unit * from_unit,
                group,
                to: position + unit * from_unit,
                step,
            };
            let from = addressing.page_addr(layout, copy.from);
            let to = addressing.page_addr(layout, copy.to);
            let from = addressing.wordline(lane, victim.group, from);
            let to = addressing.wordline(lane, group, to);
            let pages = (1u32 << addressing.pages_per_wordline) - 1;
            let token = self.copybacks.insert(copy);
            flash.copyback(queue, from, to, pages as PageSet, token);
        }
        true
    }

    /// The layout that suits how the neighbourhood of a page has been read, if that is clear; else the
    /// one it has.
    fn suited(&self, index: MapIndex, layout: Layout) -> Layout {
        let history = self.history.as_ref();
        let suited = history.and_then(|history| history.suits(index.leaf()));
        suited.unwrap_or(layout)
    }

    fn erase_victim(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let log = &mut self.lanes[lane as usize];
        let Some(victim) = &mut log.victim else {
            return;
        };
        let moving = victim.reading + victim.copying;
        let emptied = log.blocks.get(victim.group).valid == 0 && moving == 0;
        if emptied && log.erasing.is_none() {
            log.erasing = Some(Erasing {
                group: victim.group,
                next: 0,
                waiting: 0,
            });
            log.victim = None;
            if let Some(recorder) = flash.recorder() {
                recorder.collection_ends(self.set, lane, queue.now());
            }
            self.erase_step(lane, flash, queue);
            if !self.pacing.is_off() {
                self.ready.push(lane); // for the next victim
            }
        }
    }

    /// Erases the next blocks of the lane's last victim, if those before are done.
    #[inline]
    fn erase_step(&mut self, lane: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let erasing = self.lanes[lane as usize].erasing.as_mut();
        let Some(erasing) = erasing.filter(|erasing| erasing.waiting == 0) else {
            return;
        };
        let units = self.addressing.units;
        let step = match self.pacing.is_off() {
            true => units,
            false => units.div_ceil(ERASE_STEPS),
        };
        let end = units.min(erasing.next + step);
        for unit in erasing.next..end {
            let unit = self.addressing.unit(lane, unit);
            flash.erase(queue, unit, erasing.group, lane);
        }
        erasing.waiting += end - erasing.next;
        erasing.next = end;
    }

    /// Pages of a victim have arrived in the controller.
    #[inline(never)]
    pub(crate) fn gc_read(&mut self, at: WordlineAddr, pages: PageSet) {
        let (lane, group, first) = self.addressing.locate(at);
        let log = &mut self.lanes[lane as usize];
        let Some(victim) = &mut log.victim else {
            debug_assert!(false, "read for no victim");
            return;
        };
        debug_assert_eq!(victim.group, group);
        let layout = victim.layout;
        let addressing = &self.addressing;
        let read = (0..addressing.pages_per_wordline).filter(|page| pages & (1 << page) != 0);
        let positions = read.map(|page| addressing.position(layout, PageAddr { page, ..first }));
        let indices = positions.clone().map(|at| victim.p2l[at as usize]);
        self.mapping.prefetch_all(indices);
        for position in positions {
            let mut slot = NIL;
            let index = &mut victim.p2l[position as usize];
            let index = std::mem::replace(index, MapIndex::NONE);
            // Else it was overwritten or deallocated while it was read.
            if index != MapIndex::NONE {
                slot = self.buffer.take(User::Gc(layout), index, lane, NIL);
                let ppn = addressing.ppn(lane, group, position);
                if log.blocks.is_levelling {
                    self.buffer.levels(slot);
                }
                self.oracle.collected(ppn, slot);
                self.stats.gc_pages_moved += 1;
                let way = (Spot::Flash(group), Spot::Buffer);
                let space = |_| self.mapping.space_of(index);
                log.blocks.relocate(&mut self.melded, space, 1, way);
                let (before, now) = (Entry::Flash(ppn), Entry::Buffered(slot));
                self.mapping.change(index, before, now);
            }
            victim.arrived(position, slot);
        }
        while self.gather_row(lane).is_some() {}
        self.ready.push(lane);
    }

    /// The stream that a page of the victim goes to, which is in a slot.
    #[inline]
    fn gc_stream(&mut self, lane: u32, slot: u32, layout: Layout) -> Stream {
        if self.follows_streams {
            return Stream::Gc(0, layout);
        }
        let (space, number) = self.mapping.logical(self.buffer.get(slot).index);
        let log = &mut self.lanes[lane as usize];
        let blocks = &mut log.blocks;
        let from = log.victim.as_ref().map(|victim| blocks.get(victim.group));
        let from = from.map_or(Frontier::Host(0), |group| group.stream().frontier());
        let frontier = blocks.placement.of_move(PageId { space, number }, from);
        let frontier = frontier.min(self.moved - 1);
        log.gc_stream(frontier, layout)
    }

    /// Writes the pages of the victim's row that was read first, in their order. Nothing when they have
    /// not all arrived.
    fn gather_row(&mut self, lane: u32) -> Option<()> {
        let victim = self.lanes[lane as usize].victim.as_mut()?;
        let (layout, slots) = (victim.layout, victim.pop_row()?);
        let all = self.addressing.pages_per_wordline as usize;
        for first in (slots..slots + self.addressing.pages_per_row).step_by(all) {
            let victim = self.lanes[lane as usize].victim.as_ref()?;
            let read = &victim.slots[first as usize..][..all];
            let mut kept = WordlinePages::NONE;
            for &slot in read.iter().filter(|&&slot| slot != NIL) {
                if self.buffer.get(slot).index == MapIndex::NONE {
                    self.buffer.release(slot); // overwritten or deallocated since it was read
                } else {
                    kept.push(slot);
                }
            }
            let suited = |ftl: &Ftl, slot| ftl.suited(ftl.buffer.get(slot).index, layout);
            let slots = kept.as_slice();
            if layout == Layout::Melded && slots.len() == all && suited(self, slots[0]) == layout {
                // Whole wordlines move as they are.
                let stream = self.gc_stream(lane, slots[0], layout);
                self.close(lane, stream, kept);
                continue;
            }
            for &slot in slots {
                let suited = suited(self, slot);
                self.stats.gc_pages_relaid += u64::from(suited != layout);
                let stream = self.gc_stream(lane, slot, suited);
                match suited {
                    Layout::Normal => self.gather(lane, stream, slot),
                    Layout::Melded => self.gather_leftover(lane, stream, slot),
                }
            }
        }
        Some(())
    }

    /// A wordline has been copied: its pages are there, unless they are no longer current.
    #[inline(never)]
    pub(crate) fn copied(&mut self, token: u32) {
        let Copyback {
            lane,
            from,
            group,
            to,
            step,
        } = self.copybacks[token];
        self.copybacks.remove(token);
        let all = self.addressing.pages_per_wordline;
        let log = &mut self.lanes[lane as usize];
        log.blocks.programmed(group, all);
        self.stats.programs += 1;
        self.stats.gc_pages_programmed += u64::from(all);
        if log.blocks.is_levelling {
            self.stats.levelling_pages_programmed += u64::from(all);
        }
        let melded = log.blocks.get(group).layout == Layout::Melded;
        self.stats.melded_wordlines_programmed += u64::from(melded);
        let Some(victim) = &mut log.victim else {
            debug_assert!(false, "copied from no victim");
            return;
        };
        victim.copying -= all;
        for page in 0..all {
            let offset = self.addressing.offset(step, page);
            let index = &mut victim.p2l[(from + offset) as usize];
            let index = std::mem::replace(index, MapIndex::NONE);
            if index == MapIndex::NONE {
                continue;
            }
            let source = self.addressing.ppn(lane, victim.group, from + offset);
            let target = self.addressing.ppn(lane, group, to + offset);
            self.oracle.moved(source, target);
            let way = (Spot::Flash(victim.group), Spot::Flash(group));
            let space = |_| self.mapping.space_of(index);
            log.blocks.relocate(&mut self.melded, space, 1, way);
            self.mapping.set(index, Entry::Flash(target));
            if self.map_space.is_some() {
                self.changed.push(index);
            }
            if let Some(journal) = &mut self.journal {
                journal.record(1);
            }
            self.stats.gc_pages_moved += 1;
        }
        self.ready.push(lane);
    }

    /// One block of a lane's victim is erased; with the last one it is free.
    #[inline(never)]
    pub(crate) fn erased(&mut self, lane: u32) {
        self.stats.erases += 1;
        let log = &mut self.lanes[lane as usize];
        let Some(erasing) = &mut log.erasing else {
            debug_assert!(false, "erased no victim");
            return;
        };
        erasing.waiting -= 1;
        if erasing.waiting == 0 && erasing.next == self.addressing.units {
            let group = erasing.group;
            log.erasing = None;
            if log.victim.is_none() {
                log.blocks.is_levelling = false;
            }
            log.blocks.erased(group);
            self.oracle.erased(&self.addressing, lane, group);
        }
        self.ready.push(lane);
    }
}
