//! Garbage collection: one superblock of each log at a time.
//!
//! In come logs that are low on free superblocks, or whose host is idle; out go reads, programs, copybacks
//! and erases. Which superblock is next is decided in `victim.rs`, what it holds in `reverse_map.rs`.
//!
//! ```text
//!   collect    read_row    valid pages of a stripe of wordlines are read ...
//!   gc_read    gather_row  ... into slots of the collector's own, and go to streams of its own
//!   copied     copy_row    or the stripe is copied inside its planes
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
//! stripe of the victim is copied when all of its pages are current and the stripe the collector fills next
//! begins: each wordline then stays on its plane. With static allocation a stripe is one wordline. The
//! data does not pass the controller, so pages that are overwritten meanwhile are copied in vain.

use std::collections::BTreeSet;

use super::address::PageAddr;
use super::buffer::User;
use super::layer::Ftl;
use super::ledger::Spot;
use super::log::Log;
use super::mapping::{Entry, MapIndex};
use super::pacing::{Pace, Pacer};
use super::reverse_map::BATCH_SHARE;
use super::stream::{Layout, Stream, WordlinePages};
use super::victim::{Copyback, Erasing, Victim};
use crate::engine::{EventQueue, Instant, NIL};
use crate::event::Event;
use crate::nand::{Flash, Owner, PageSet, WordlineAddr};
use crate::nvme::fdp::{FdpEvent, FdpEventType};
use crate::policy::placement::{Frontier, Page as PageId};
use crate::timeline::Collection;

/// Stripes that are copied back at a time: what waits for a die is bounded.
const COPIES_AT_ONCE: u32 = 2;
/// With pacing a superblock is erased in so many steps, each on other dies.
const ERASE_STEPS: u32 = 4;

/// Superblocks that the host of a log leaves to the collector.
fn host_reserve(log: &Log, pacing: &Pacer) -> u32 {
    let Some(victim) = &log.victim else {
        return pacing.host_reserve(None, 0);
    };
    let superblock = log.blocks.get(victim.superblock);
    let stream = match superblock.stream().is_of_map() {
        true => Stream::MAP[1],
        false => Stream::Gc(0, victim.layout),
    };
    pacing.host_reserve(Some(superblock.valid), log.blocks.left(stream))
}

impl Ftl {
    /// Starts a collection when that is due, and moves the present one on.
    pub(super) fn collect(
        &mut self,
        log_id: u32,
        flash: &mut Flash,
        queue: &mut EventQueue<Event>,
    ) {
        if self
            .selection
            .is_held_back(&self.logs[log_id as usize].blocks)
        {
            return self.change_pace(log_id, |pace, _| pace.suspend());
        }
        let is_paced = !self.pacing.is_off();
        if is_paced {
            self.erase_step(log_id, flash, queue);
            self.keep_pace(log_id);
        }
        if self.logs[log_id as usize].victim.is_none() {
            if !self.begin_victim(log_id) {
                return;
            }
            self.note_victim(log_id, flash, queue.now());
        }
        while self.goes_on(log_id)
            && self.confirm_stripe(log_id)
            && (self.copy_stripe(log_id, flash, queue) || self.read_stripe(log_id, flash, queue))
        {
            if is_paced {
                self.keep_pace(log_id);
            }
        }
        self.erase_victim(log_id, flash, queue);
    }

    /// Chooses a victim, if one is to be collected. False when there is none.
    #[inline]
    fn begin_victim(&mut self, log_id: u32) -> bool {
        let log = &self.logs[log_id as usize];
        let is_urgent = match self.pacing.is_off() {
            true => log.blocks.is_low() && log.erasing.is_none(),
            false => log.pace.is_on(),
        };
        (is_urgent || self.selection.is_idle) && self.choose_victim(log_id, is_urgent)
    }

    /// Tells of a victim that has been chosen.
    fn note_victim(&mut self, log_id: u32, flash: &mut Flash, now: Instant) {
        let blocks = &self.logs[log_id as usize].blocks;
        let victim = self.logs[log_id as usize].victim.as_ref();
        if let (Some(events), Some(victim)) = (&mut self.fdp, victim) {
            let superblock = blocks.get(victim.superblock);
            if superblock.valid > 0 {
                let pid = match superblock.stream().frontier() {
                    Frontier::Host(number) => Some(u16::from(number)),
                    Frontier::Collection(_) => None,
                };
                events.note(FdpEvent {
                    kind: FdpEventType::MediaReallocated,
                    time: now,
                    pid,
                    nsid: None,
                    pages: u64::from(superblock.valid),
                });
            }
        }
        if let (Some(recorder), Some(victim)) = (flash.recorder(), victim) {
            recorder.collection_begins(Collection {
                set: self.set,
                log: log_id,
                superblock: victim.superblock,
                valid_pages: blocks.get(victim.superblock).valid,
                pages: blocks.pages_per_superblock,
                start: now,
                end: now,
            });
        }
    }

    #[inline(never)]
    fn choose_victim(&mut self, log_id: u32, is_urgent: bool) -> bool {
        let log = &mut self.logs[log_id as usize];
        if self.pacing.is_off() && log.erasing.is_some() {
            return false;
        }
        let blocks = &mut log.blocks;
        let mut choice = self.selection.next(blocks, is_urgent);
        if log.erasing.is_none() {
            choice = choice.map(|choice| choice.that_fits(blocks));
        }
        let freed = choice.map(|choice| {
            let valid = blocks.get(choice.superblock).valid;
            u64::from(blocks.pages_per_superblock - valid)
        });
        let is_of_map = choice.is_some_and(|choice| {
            let superblock = blocks.get(choice.superblock);
            superblock.stream().is_of_map()
        });
        self.change_pace(log_id, |pace, pacing| match is_of_map {
            true => pace.begin_map(),
            false => pace.begin(pacing, freed),
        });
        let Some(choice) = choice else {
            return false;
        };
        self.stats.collections += 1;
        self.stats.background_collections += u64::from(choice.in_background);
        self.stats.levelling_collections += u64::from(choice.for_wear);
        let p2l = self.p2l(log_id, choice.superblock);
        let log = &mut self.logs[log_id as usize];
        log.blocks.is_levelling = choice.for_wear;
        log.blocks.collected(choice.superblock);
        let superblock = log.blocks.get(choice.superblock);
        let pages_per_stripe = self.addressing.pages_per_stripe;
        let victim = Victim::new(choice.superblock, superblock.layout, p2l, pages_per_stripe);
        victim.prefetch_stripe(0, pages_per_stripe, &self.mapping);
        log.victim = Some(victim);
        true
    }

    /// Tells the log's pace how far it is.
    fn keep_pace(&mut self, log_id: u32) {
        let log = &mut self.logs[log_id as usize];
        let room = log.room(&self.addressing);
        let victim = log.victim.as_ref();
        let emptied = victim.map(|victim| victim.emptied(self.addressing.pages_per_stripe));
        log.blocks.host_reserve = host_reserve(log, &self.pacing);
        self.change_pace(log_id, |pace, pacing| {
            pace.look(pacing, room);
            if let Some(emptied) = emptied {
                pace.emptied(pacing, emptied);
            }
        });
    }

    /// Changes the log's pace. A host that may then program again does so.
    fn change_pace(&mut self, log_id: u32, change: impl FnOnce(&mut Pace, &mut Pacer)) {
        let pace = &mut self.logs[log_id as usize].pace;
        let was_held = !pace.admits(&self.pacing);
        change(pace, &mut self.pacing);
        if was_held && pace.admits(&self.pacing) {
            self.ready.push(log_id);
        }
    }

    /// Whether the collector need not wait for the host, or for translation pages.
    fn goes_on(&self, log_id: u32) -> bool {
        let Log {
            pace,
            victim,
            blocks,
            ..
        } = &self.logs[log_id as usize];
        if self.is_map_behind && !pace.is_short() {
            let victim = victim.as_ref().map(|victim| blocks.get(victim.superblock));
            if victim.is_some_and(|victim| !victim.stream().is_of_map()) {
                return false;
            }
        }
        self.pacing.is_off() || self.selection.is_idle || pace.collects(&self.pacing)
    }

    /// Which entries lead to a superblock. The reverse map is made anew when it does not hold the superblock.
    pub(super) fn p2l(&mut self, log_id: u32, superblock: u32) -> Box<[MapIndex]> {
        let is_valid = self.logs[log_id as usize].blocks.get(superblock).valid > 0;
        if is_valid && !self.reverse_map.holds(log_id, superblock) {
            let mut batch = BTreeSet::from([(log_id, superblock)]);
            for (log_id, log) in (0..).zip(&self.logs) {
                let mut share = log.blocks.live / BATCH_SHARE;
                for superblock in self.selection.likely(&log.blocks) {
                    match share.checked_sub(u64::from(log.blocks.get(superblock).valid)) {
                        None => break,
                        Some(rest) => share = rest,
                    }
                    batch.insert((log_id, superblock));
                }
            }
            self.reverse_map
                .make(batch, &self.mapping, &self.addressing);
        }
        let pages = self.addressing.pages_per_superblock;
        self.reverse_map.take(log_id, superblock, pages)
    }

    /// Confirms what the victim's next stripe holds. False when there is none.
    fn confirm_stripe(&mut self, log_id: u32) -> bool {
        let victim = &mut self.logs[log_id as usize].victim;
        let (mapping, addressing) = (&self.mapping, &self.addressing);
        victim
            .as_mut()
            .is_some_and(|victim| victim.confirm_stripe(log_id, mapping, addressing))
    }

    /// Reads the victim's next stripe; false when there is no room for it.
    fn read_stripe(
        &mut self,
        log_id: u32,
        flash: &mut Flash,
        queue: &mut EventQueue<Event>,
    ) -> bool {
        let log = &mut self.logs[log_id as usize];
        let Some(victim) = &mut log.victim else {
            return false;
        };
        let room = self.buffer.gc_free(log_id);
        if victim.reads_enough() || victim.valid_in_stripe + victim.reading > room {
            return false;
        }
        let pages_per_stripe = self.addressing.pages_per_stripe;
        if victim.valid_in_stripe > 0 {
            self.stats.gc_pages_read += u64::from(victim.valid_in_stripe);
            victim.begin_stripe(pages_per_stripe);
            victim.for_each_wordline(log_id, &self.addressing, |at, pages| {
                // Sensing the pages of a wordline at once does not need them to be laid out so.
                flash.read(queue, at, pages, true, Owner::gc(self.set));
            });
        }
        victim.next += pages_per_stripe;
        true
    }

    /// Copies the victim's next stripe inside its planes; false when it cannot be.
    fn copy_stripe(
        &mut self,
        log_id: u32,
        flash: &mut Flash,
        queue: &mut EventQueue<Event>,
    ) -> bool {
        let log = &self.logs[log_id as usize];
        let (true, Some(victim)) = (self.copies_back, &log.victim) else {
            return false;
        };
        let row = self.addressing.pages_per_stripe;
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
        let (log, addressing) = (&mut self.logs[log_id as usize], &self.addressing);
        let (Some(victim), Some((superblock, position))) =
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
                log_id,
                from: first + unit * from_unit,
                superblock,
                to: position + unit * from_unit,
                step,
            };
            let from = addressing.page_addr(layout, copy.from);
            let to = addressing.page_addr(layout, copy.to);
            let from = addressing.wordline(log_id, victim.superblock, from);
            let to = addressing.wordline(log_id, superblock, to);
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

    fn erase_victim(&mut self, log_id: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let log = &mut self.logs[log_id as usize];
        let Some(victim) = &mut log.victim else {
            return;
        };
        let moving = victim.reading + victim.copying;
        let emptied = log.blocks.get(victim.superblock).valid == 0 && moving == 0;
        if emptied && log.erasing.is_none() {
            log.erasing = Some(Erasing {
                superblock: victim.superblock,
                next: 0,
                waiting: 0,
            });
            log.victim = None;
            if let Some(recorder) = flash.recorder() {
                recorder.collection_ends(self.set, log_id, queue.now());
            }
            self.erase_step(log_id, flash, queue);
            if !self.pacing.is_off() {
                self.ready.push(log_id); // for the next victim
            }
        }
    }

    /// Erases the next blocks of the log's last victim, if those before are done; all that are left when the host has no
    /// superblock to go on in.
    #[inline]
    fn erase_step(&mut self, log_id: u32, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let log = &mut self.logs[log_id as usize];
        let Some(erasing) = &mut log.erasing else {
            return;
        };
        let units = self.addressing.units;
        let step = match self.pacing.is_off() || log.pace.is_short() {
            true => units,
            false if erasing.waiting > 0 => return,
            false => units.div_ceil(ERASE_STEPS),
        };
        let end = units.min(erasing.next + step);
        for unit in erasing.next..end {
            let unit = self.addressing.unit(log_id, unit);
            flash.erase(queue, unit, erasing.superblock, log_id);
        }
        erasing.waiting += end - erasing.next;
        erasing.next = end;
    }

    /// Pages of a victim have arrived in the controller.
    #[inline(never)]
    pub(crate) fn gc_read(&mut self, at: WordlineAddr, pages: PageSet) {
        let (log_id, superblock, first) = self.addressing.locate(at);
        let log = &mut self.logs[log_id as usize];
        let Some(victim) = &mut log.victim else {
            debug_assert!(false, "read for no victim");
            return;
        };
        debug_assert_eq!(victim.superblock, superblock);
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
                slot = self.buffer.take(User::Gc(layout), index, log_id, NIL);
                let ppn = addressing.ppn(log_id, superblock, position);
                if log.blocks.is_levelling {
                    self.buffer.levels(slot);
                }
                self.oracle.collected(ppn, slot);
                self.stats.gc_pages_moved += 1;
                let way = (Spot::Flash(superblock), Spot::Buffer);
                let space = |_| self.mapping.space_of(index);
                log.blocks.relocate(&mut self.melded, space, 1, way);
                let (before, now) = (Entry::Flash(ppn), Entry::Buffered(slot));
                self.mapping.change(index, before, now);
            }
            victim.arrived(position, slot);
        }
        while self.gather_stripe(log_id).is_some() {}
        self.ready.push(log_id);
    }

    /// The stream that a page of the victim goes to, which is in a slot.
    #[inline]
    fn gc_stream(&mut self, log_id: u32, slot: u32, layout: Layout) -> Stream {
        if self.is_of_map(self.buffer.get(slot).index) {
            return Stream::MAP[1];
        }
        if self.follows_streams {
            return Stream::Gc(0, layout);
        }
        let (space, number) = self.mapping.logical(self.buffer.get(slot).index);
        let log = &mut self.logs[log_id as usize];
        let blocks = &mut log.blocks;
        let from = log
            .victim
            .as_ref()
            .map(|victim| blocks.get(victim.superblock));
        let from = from.map_or(Frontier::Host(0), |superblock| {
            superblock.stream().frontier()
        });
        let frontier = blocks.placement.of_move(PageId { space, number }, from);
        log.unplaced[1] += u64::from(frontier >= self.moved);
        let frontier = frontier.min(self.moved - 1);
        let stream = log.gc_stream(frontier, layout);
        log.unplaced[0] += u64::from(stream != Stream::Gc(frontier, layout));
        stream
    }

    /// Writes the pages of the victim's stripe that was read first, in their order. Nothing when they have
    /// not all arrived.
    fn gather_stripe(&mut self, log_id: u32) -> Option<()> {
        let victim = self.logs[log_id as usize].victim.as_mut()?;
        let (layout, slots) = (victim.layout, victim.pop_stripe()?);
        let all = self.addressing.pages_per_wordline as usize;
        for first in (slots..slots + self.addressing.pages_per_stripe).step_by(all) {
            let victim = self.logs[log_id as usize].victim.as_ref()?;
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
                let stream = self.gc_stream(log_id, slots[0], layout);
                self.close(log_id, stream, kept);
                continue;
            }
            for &slot in slots {
                let suited = suited(self, slot);
                self.stats.gc_pages_relaid += u64::from(suited != layout);
                let stream = self.gc_stream(log_id, slot, suited);
                match suited {
                    Layout::Normal => self.gather(log_id, stream, slot),
                    Layout::Melded => self.gather_leftover(log_id, stream, slot),
                }
            }
        }
        Some(())
    }

    /// A wordline has been copied: its pages are there, unless they are no longer current.
    #[inline(never)]
    pub(crate) fn copied(&mut self, token: u32) {
        let Copyback {
            log_id,
            from,
            superblock,
            to,
            step,
        } = self.copybacks[token];
        self.copybacks.remove(token);
        let all = self.addressing.pages_per_wordline;
        let log = &mut self.logs[log_id as usize];
        log.blocks.programmed(superblock, all);
        self.stats.programs += 1;
        self.stats.gc_pages_programmed += u64::from(all);
        if log.blocks.is_levelling {
            self.stats.levelling_pages_programmed += u64::from(all);
        }
        let melded = log.blocks.get(superblock).layout == Layout::Melded;
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
            let source = self
                .addressing
                .ppn(log_id, victim.superblock, from + offset);
            let target = self.addressing.ppn(log_id, superblock, to + offset);
            self.oracle.moved(source, target);
            let way = (Spot::Flash(victim.superblock), Spot::Flash(superblock));
            let space = |_| self.mapping.space_of(index);
            log.blocks.relocate(&mut self.melded, space, 1, way);
            self.mapping.set(index, Entry::Flash(target));
            if let Some(journal) = &mut self.journal {
                journal.record(1);
            }
            self.stats.gc_pages_moved += 1;
        }
        self.ready.push(log_id);
    }

    /// One block of a log's victim is erased; with the last one it is free.
    #[inline(never)]
    pub(crate) fn erased(&mut self, log_id: u32) {
        self.stats.erases += 1;
        let log = &mut self.logs[log_id as usize];
        let Some(erasing) = &mut log.erasing else {
            debug_assert!(false, "erased no victim");
            return;
        };
        erasing.waiting -= 1;
        if erasing.waiting == 0 && erasing.next == self.addressing.units {
            let superblock = erasing.superblock;
            log.erasing = None;
            if log.victim.is_none() {
                log.blocks.is_levelling = false;
            }
            log.blocks.erased(superblock);
            self.oracle.erased(&self.addressing, log_id, superblock);
        }
        self.ready.push(log_id);
    }
}
