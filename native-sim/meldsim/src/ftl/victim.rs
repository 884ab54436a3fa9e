//! When a lane is collected, and which block group is its next victim.
//!
//! In come the block groups of a lane, out goes the one to collect: one that holds nothing, or one
//! that lags behind in wear, or what the policy ranks first; and how far its collection has come.

use std::collections::VecDeque;

use super::address::Addressing;
use super::blocks::Blocks;
use super::mapping::{MapIndex, Mapping};
use super::reverse_map::{self, ReverseMap};
use super::stream::Layout;
use crate::engine::NIL;
use crate::nand::{PageSet, WordlineAddr};
use crate::policy::victim::Superblock;
use crate::profile::limits::GC_ROWS_AT_ONCE;
use crate::profile::{Gc, Profile};

/// A group must gain this share of its pages to be collected in the background, 1 in so many.
const BACKGROUND_GAIN: u32 = 10;
/// A victim that the reverse map does not hold must have this many times fewer valid pages than the
/// best that it does, to be worth making the map anew; unless victims are exact.
const WORTH_A_BATCH: u32 = 2;
/// Of the groups that are likely to be collected next, one in so many is one that lags behind in wear.
const LAGGING_SHARE: usize = 32;

/// The group to collect next, and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) group: u32,
    pub(crate) in_background: bool,
    pub(crate) for_wear: bool,
}

/// Decides when lanes are collected, and which groups.
#[derive(Debug)]
pub(crate) struct VictimSelection {
    /// The policy's first is the victim, whatever the reverse map holds.
    is_exact: bool,
    /// Free groups at which collecting in the background ends.
    background_free: u32,
    /// The host is idle: groups are collected though enough are free.
    pub(crate) is_idle: bool,
    /// The host has been promised that nothing is collected, unless all would stop.
    pub(crate) is_deterministic: bool,
    /// Something had to be collected in a deterministic window.
    pub(crate) had_excursion: bool,
    /// Reused to rank candidates.
    ranked: Vec<Superblock>,
}

impl VictimSelection {
    pub(crate) fn new(profile: &Profile) -> VictimSelection {
        let gc: &Gc = &profile.gc;
        let groups = u64::from(profile.geometry.blocks_per_plane);
        let free = groups * u64::from(gc.background_free_percent) / 100;
        VictimSelection {
            is_exact: gc.exact_victim,
            background_free: free as u32,
            is_idle: false,
            is_deterministic: false,
            had_excursion: false,
            ranked: Vec::new(),
        }
    }

    /// Whether a lane may not collect now. Where it has to in a deterministic window, the window
    /// ends.
    pub(crate) fn is_held_back(&mut self, blocks: &Blocks) -> bool {
        if !self.is_deterministic {
            return false;
        }
        if !blocks.is_at_reserve() {
            return true;
        }
        self.is_deterministic = false;
        self.had_excursion = true;
        false
    }

    /// The group of a lane to collect next, if that is due. It is urgent when the host needs room.
    pub(crate) fn next(
        &mut self,
        lane: u32,
        blocks: &mut Blocks,
        reverse_map: &ReverseMap,
        is_urgent: bool,
    ) -> Option<Choice> {
        let in_background = !is_urgent && self.is_idle && blocks.free() < self.background_free;
        if !is_urgent && !in_background {
            return None;
        }
        let most_valid = match in_background {
            true => blocks.pages_per_group / BACKGROUND_GAIN * (BACKGROUND_GAIN - 1),
            false => blocks.pages_per_group,
        };
        let coldest = blocks.take_coldest();
        Some(Choice {
            group: coldest.or_else(|| self.choose(lane, blocks, reverse_map, most_valid))?,
            in_background,
            for_wear: coldest.is_some(),
        })
    }

    /// The group of a lane to collect next, of those with at most so many valid pages.
    pub(crate) fn choose(
        &mut self,
        lane: u32,
        blocks: &mut Blocks,
        reverse_map: &ReverseMap,
        most_valid: u32,
    ) -> Option<u32> {
        let takes_empty = !self.is_exact || blocks.takes_empty_first();
        if let Some(group) = blocks.pop_empty().filter(|_| takes_empty) {
            return Some(group);
        }
        let best = self.first(blocks, blocks.candidates())?;
        let chosen = match self.is_exact {
            true => best,
            false => self.known(lane, blocks, reverse_map, best),
        };
        (chosen.valid <= most_valid).then_some(chosen.number)
    }

    /// What the policy ranks first of the groups that the reverse map holds, unless `best` is worth
    /// making the map anew.
    fn known(
        &mut self,
        lane: u32,
        blocks: &Blocks,
        reverse_map: &ReverseMap,
        best: Superblock,
    ) -> Superblock {
        let reversed = reverse_map.groups(lane);
        let reversed = reversed.filter_map(|group| blocks.candidate(group));
        match self.first(blocks, reversed) {
            Some(reversed) if reversed.valid < best.valid.saturating_mul(WORTH_A_BATCH) => reversed,
            _ => best,
        }
    }

    /// What the policy ranks first, of some.
    fn first(
        &mut self,
        blocks: &Blocks,
        candidates: impl Iterator<Item = Superblock>,
    ) -> Option<Superblock> {
        self.rank(blocks, candidates, 1);
        self.ranked.first().copied()
    }

    fn rank(
        &mut self,
        blocks: &Blocks,
        candidates: impl Iterator<Item = Superblock>,
        count: usize,
    ) {
        self.ranked.clear();
        self.ranked.extend(candidates);
        blocks.rank(&mut self.ranked, count);
    }

    /// The groups of a lane, in the order in which they are likely to be collected.
    pub(crate) fn likely(&mut self, blocks: &Blocks) -> impl Iterator<Item = u32> {
        self.rank(blocks, blocks.candidates(), usize::MAX);
        blocks
            .lagging()
            .take(self.ranked.len() / LAGGING_SHARE)
            .chain(self.ranked.iter().map(|superblock| superblock.number))
    }
}

/// A group that is being emptied.
#[derive(Debug)]
pub(crate) struct Victim {
    pub(crate) group: u32,
    pub(crate) layout: Layout,
    /// For each position the entry whose data it holds (P2L); kept up to date where it is confirmed.
    pub(crate) p2l: Box<[MapIndex]>,
    /// For each page of the rows that are being read, each in its turn here, the slot it was read into,
    /// or [`NIL`]. No larger than it must be, to stay in the processor's cache.
    pub(crate) slots: Box<[u32]>,
    /// Positions that are confirmed. That is done row by row, for the mapping's entries are then still
    /// in the processor's cache when the pages move.
    confirmed: u32,
    /// Valid pages of the row that was confirmed last.
    pub(crate) valid_in_row: u32,
    /// The first position of the next row to read: a wordline of each unit.
    pub(crate) next: u32,
    /// Rows that are being read, the first one first.
    rows: VecDeque<Row>,
    /// Where the slots of the row begin that is read next.
    next_slots: u32,
    /// Pages that are being read.
    pub(crate) reading: u32,
    /// Pages that are being copied inside their planes.
    pub(crate) copying: u32,
}

/// A group that is being erased.
#[derive(Debug)]
pub(crate) struct Erasing {
    pub(crate) group: u32,
    /// The unit whose block is erased next.
    pub(crate) next: u32,
    /// Blocks whose erases have been given out.
    pub(crate) waiting: u32,
}

/// A row that is being read.
#[derive(Debug)]
struct Row {
    /// Its first position.
    first: u32,
    /// Pages that have not arrived.
    waiting: u32,
    /// Where its slots begin.
    slots: u32,
}

impl Victim {
    /// The victim `group`, of which so many pages are read as a row.
    pub(crate) fn new(
        group: u32,
        layout: Layout,
        p2l: Box<[MapIndex]>,
        pages_per_row: u32,
    ) -> Victim {
        Victim {
            group,
            layout,
            slots: vec![NIL; (GC_ROWS_AT_ONCE * pages_per_row) as usize].into_boxed_slice(),
            next_slots: 0,
            p2l,
            confirmed: 0,
            valid_in_row: 0,
            next: 0,
            rows: VecDeque::new(),
            reading: 0,
            copying: 0,
        }
    }

    /// Fetches from memory the entries that the row at a position is to be confirmed with.
    pub(crate) fn prefetch_row(&self, first: u32, pages_per_row: u32, mapping: &Mapping) {
        let row = self.p2l[first as usize..].iter();
        mapping.prefetch_all(row.take(pages_per_row as usize).copied());
    }

    /// Confirms what the next row holds, once. False when there is no next row.
    pub(crate) fn confirm_row(
        &mut self,
        lane: u32,
        mapping: &Mapping,
        addressing: &Addressing,
    ) -> bool {
        if self.next as usize == self.p2l.len() {
            return false;
        }
        if self.next >= self.confirmed {
            self.confirmed = self.next + addressing.pages_per_row;
            self.prefetch_row(self.confirmed, addressing.pages_per_row, mapping);
            let row = &mut self.p2l[self.next as usize..self.confirmed as usize];
            let first = addressing.ppn(lane, self.group, self.next);
            reverse_map::confirm(row, first, addressing.lanes, mapping);
            self.valid_in_row = row.iter().filter(|&&index| index != MapIndex::NONE).count() as u32;
        }
        true
    }

    /// The data of pages is no longer current.
    #[inline]
    pub(crate) fn invalidated(&mut self, position: u32, pages: u32) {
        for position in position..position + pages {
            let index = &mut self.p2l[position as usize];
            let index = std::mem::replace(index, MapIndex::NONE);
            let is_next = position >= self.next && position < self.confirmed;
            self.valid_in_row -= u32::from(index != MapIndex::NONE && is_next);
        }
    }

    /// Positions whose data is elsewhere.
    pub(crate) fn emptied(&self, pages_per_row: u32) -> u32 {
        self.next - self.rows.len() as u32 * pages_per_row - self.copying
    }

    /// Whether so many rows are being read that the next one has to wait.
    pub(crate) fn reads_enough(&self) -> bool {
        self.rows.len() == GC_ROWS_AT_ONCE as usize
    }

    /// The valid pages of the next row, which has so many in all, are being read.
    pub(crate) fn begin_row(&mut self, pages: u32) {
        self.reading += self.valid_in_row;
        let (slots, end) = (self.next_slots, self.next_slots + pages);
        self.slots[slots as usize..end as usize].fill(NIL);
        self.next_slots = end % self.slots.len() as u32;
        self.rows.push_back(Row {
            first: self.next,
            waiting: self.valid_in_row,
            slots,
        });
    }

    /// Hands over what is to be read of the next row: wordlines, and which of their pages.
    pub(crate) fn for_each_wordline(
        &self,
        lane: u32,
        addressing: &Addressing,
        mut read: impl FnMut(WordlineAddr, PageSet),
    ) {
        let (from_unit, step) = addressing.strides(self.layout);
        let in_shadow_order = addressing.is_shadow() && self.layout == Layout::Normal;
        let at = |position| addressing.page_addr(self.layout, position);
        for unit in 0..addressing.units {
            let first = self.next + unit * from_unit;
            let mut pages: PageSet = 0;
            for index in 0..addressing.pages_per_wordline {
                let position = first + addressing.offset(step, index);
                if self.p2l[position as usize] != MapIndex::NONE {
                    pages |= 1 << index;
                }
            }
            if !in_shadow_order {
                if pages != 0 {
                    read(addressing.wordline(lane, self.group, at(first)), pages);
                }
                continue;
            }
            // The row's flash pages are of several wordlines.
            let subpages = addressing.subpages();
            for index in (0..addressing.pages_per_wordline).step_by(subpages as usize) {
                let of_flash_page = (pages >> index) & ((1 << subpages) - 1);
                if of_flash_page != 0 {
                    let at = at(first + addressing.offset(step, index));
                    let wordline = addressing.wordline(lane, self.group, at);
                    read(wordline, of_flash_page << at.page);
                }
            }
        }
    }

    /// A page has arrived in this slot, or in none because it is no longer current.
    #[inline]
    pub(crate) fn arrived(&mut self, position: u32, slot: u32) {
        self.reading -= 1;
        let mut rows = self.rows.iter_mut().rev();
        if let Some(row) = rows.find(|row| row.first <= position) {
            row.waiting -= 1;
            self.slots[(row.slots + position - row.first) as usize] = slot;
        }
    }

    /// Where the slots of the row that was read first begin, if all of its pages have arrived.
    pub(crate) fn pop_row(&mut self) -> Option<u32> {
        let row = self.rows.front()?;
        if row.waiting > 0 {
            return None;
        }
        let slots = row.slots;
        self.rows.pop_front();
        Some(slots)
    }
}

/// A wordline on its way to another of its plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copyback {
    pub(crate) lane: u32,
    /// The position of its first page in the victim.
    pub(crate) from: u32,
    pub(crate) group: u32,
    /// The position of its first page there.
    pub(crate) to: u32,
    /// From each flash page's position to the next one's.
    pub(crate) step: u32,
}
