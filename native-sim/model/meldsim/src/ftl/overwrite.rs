//! Overwriting in no simulated time: what a long past of writes that are not uniform left behind.
//!
//! In come pages that were written, again and again; out goes the state that garbage collection comes to, and how
//! many pages it moved.
//!
//! ```text
//!   write --> the write buffer --> the host's stream --> flash
//!             a page that is still            \--> a log that lacks room collects a superblock,
//!             there is not written twice           as its pacing would have by then
//! ```
//!
//! Placing and collecting are those of `preload.rs`: nothing waits, and nothing is counted as the device's work.

use std::collections::{HashSet, VecDeque};
use std::iter::Sum;

use super::layer::Ftl;
use super::mapping::{Entry, MapIndex};
use super::preload::Preload;
use super::stream::{Layout, Stream};
use super::victim::Choice;

/// What overwriting has done so far, in pages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overwritten {
    /// Placed for the host.
    pub(crate) placed: u64,
    /// Placed for garbage collection.
    pub(crate) moved: u64,
}

impl Overwritten {
    pub(crate) fn since(self, before: Overwritten) -> Overwritten {
        Overwritten {
            placed: self.placed - before.placed,
            moved: self.moved - before.moved,
        }
    }

    /// Pages placed in all for each of the host's.
    pub(crate) fn write_amplification(self) -> f64 {
        1.0 + self.moved as f64 / self.placed.max(1) as f64
    }
}

impl Sum for Overwritten {
    fn sum<I: Iterator<Item = Overwritten>>(all: I) -> Overwritten {
        all.fold(Overwritten::default(), |sum, one| Overwritten {
            placed: sum.placed + one.placed,
            moved: sum.moved + one.moved,
        })
    }
}

/// Overwrites pages of a layer that has been preconditioned and does nothing.
pub(crate) struct Overwriter<'a> {
    preload: Preload<'a>,
    /// Pages in the write buffer, the one that is placed next first, and the same as a set.
    buffered: VecDeque<MapIndex>,
    is_buffered: HashSet<MapIndex>,
    /// Pages that the buffer holds.
    slots: usize,
    logs: Vec<Collection>,
    done: Overwritten,
}

/// How a log collects.
#[derive(Clone, Copy, Default)]
struct Collection {
    is_on: bool,
    /// Pages that the last superblock gained.
    freed: u64,
}

impl<'a> Overwriter<'a> {
    pub(crate) fn new(ftl: &'a mut Ftl) -> Overwriter<'a> {
        let logs = vec![Collection::default(); ftl.logs.len()];
        Overwriter {
            buffered: VecDeque::new(),
            is_buffered: HashSet::new(),
            slots: ftl.buffer.free() as usize,
            logs,
            done: Overwritten::default(),
            preload: Preload::new(ftl, Stream::Host(0, Layout::Normal)),
        }
    }

    pub(crate) fn done(&self) -> Overwritten {
        self.done
    }

    /// Writes a page of a space, if it holds data. Nothing when there is no room.
    pub(crate) fn write(&mut self, space: u32, page: u64) -> Option<()> {
        let mapping = &self.preload.ftl.mapping;
        let Some(index) = mapping.find(space, page) else {
            return Some(());
        };
        mapping.prefetch(index);
        if self.is_buffered.insert(index) {
            self.buffered.push_back(index);
        }
        if self.buffered.len() <= self.slots {
            return Some(());
        }
        let index = self.buffered.pop_front()?;
        self.is_buffered.remove(&index);
        let Entry::Flash(ppn) = self.preload.ftl.mapping.get(index) else {
            return Some(());
        };
        // It stays in its log.
        let log_id = self.preload.ftl.addressing.log_addr(ppn).log_id;
        self.done.placed += 1;
        if let Some(pages) = self.preload.gather(log_id, index) {
            self.keep_room(log_id)?;
            self.preload.place_wordline(log_id, pages)?;
        }
        Some(())
    }

    /// Collects as far as the log's pacing would have; less where all superblocks in turn gain nothing, as in a small log
    /// that is full.
    fn keep_room(&mut self, log_id: u32) -> Option<()> {
        let (mut most, mut in_vain) = (0, 0);
        loop {
            let ftl = &mut *self.preload.ftl;
            let log = &mut ftl.logs[log_id as usize];
            let room = log.room(&ftl.addressing);
            let Collection { is_on, freed } = self.logs[log_id as usize];
            let is_on = ftl.pacing.is_due(room, is_on, freed);
            self.logs[log_id as usize].is_on = is_on;
            let pages = u64::from(ftl.addressing.pages_per_wordline);
            let has_room = log.blocks.available(self.preload.stream) >= pages;
            if in_vain > log.blocks.count || (!is_on && has_room) {
                return has_room.then_some(());
            }
            in_vain = if room > most { 0 } else { in_vain + 1 };
            most = most.max(room);
            let choice = ftl.selection.next(&mut log.blocks, true);
            let Choice {
                superblock,
                for_wear,
                ..
            } = choice?;
            log.blocks.is_levelling = for_wear;
            let valid = u64::from(log.blocks.get(superblock).valid);
            if !for_wear {
                self.logs[log_id as usize].freed =
                    u64::from(log.blocks.pages_per_superblock) - valid;
            }
            self.done.moved += valid;
            self.preload.empty(log_id, superblock)?;
        }
    }
}
