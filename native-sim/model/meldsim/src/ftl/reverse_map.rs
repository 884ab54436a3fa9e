//! The reverse map (P2L), made when garbage collection needs it.
//!
//! In come the superblocks that are likely to be collected next, a batch; out goes which logical page
//! each physical one of them holds. That is not stored: it would double the mapping's memory. Instead
//! the forward table is gone through once for a batch, and what leads to its superblocks is noted. By the
//! time a superblock is collected some of it is out of date, so the notes are compared with the mapping
//! again. A batch holds a fixed share of all mapped pages: then a pass costs a fixed time for each page
//! moved, and the notes a fixed share of the mapping's memory.

use std::collections::{BTreeMap, BTreeSet};

use super::address::{Addressing, Ppn};
use super::mapping::{Entry, MapIndex, Mapping};

/// A batch holds one in this many of the mapped pages.
pub(crate) const BATCH_SHARE: u64 = 32;

/// Positions of a superblock and the entries of a leaf that lead to them, both consecutive.
#[derive(Clone, Copy, Debug)]
struct ReverseRun {
    position: u32,
    leaf: u32,
    offset: u16,
    pages: u16,
}

/// What leads to the superblocks of a batch.
#[derive(Debug, Default)]
pub(crate) struct ReverseMap {
    /// By log and superblock.
    superblocks: BTreeMap<(u32, u32), Vec<ReverseRun>>,
}

impl ReverseMap {
    /// Whether it holds a superblock of a log.
    pub(crate) fn holds(&self, log_id: u32, superblock: u32) -> bool {
        self.superblocks.contains_key(&(log_id, superblock))
    }

    /// Makes it anew, for these superblocks of logs.
    pub(crate) fn make(
        &mut self,
        batch: BTreeSet<(u32, u32)>,
        mapping: &Mapping,
        addressing: &Addressing,
    ) {
        let logs = addressing.logs as usize;
        let number = |log_id, superblock| superblock as usize * logs + log_id as usize;
        let last = batch
            .iter()
            .map(|&(log_id, superblock)| number(log_id, superblock))
            .max();
        // By number, where in the batch a superblock is.
        let mut indices = vec![u32::MAX; last.map_or(0, |last| last + 1)];
        for (index, &(log_id, superblock)) in (0..).zip(&batch) {
            indices[number(log_id, superblock)] = index;
        }
        let mut notes = vec![Vec::new(); batch.len()];
        let wanted = Wanted::new(addressing, batch.iter().map(|&(_, superblock)| superblock));
        mapping.for_each_flash_run(wanted.test(), |index, first, pages| {
            let (leaf, mut offset) = (index.leaf() as u32, index.offset() as u16);
            for (at, pages) in addressing.pieces(first, pages) {
                let noted = indices.get(number(at.log_id, at.superblock));
                if let Some(notes) = noted.and_then(|&noted| notes.get_mut(noted as usize)) {
                    let run = ReverseRun {
                        position: at.position,
                        leaf,
                        offset,
                        pages: pages as u16,
                    };
                    note(notes, run);
                }
                offset += pages as u16;
            }
        });
        self.superblocks = batch.into_iter().zip(notes).collect();
    }

    /// For each position of a superblock, which has so many pages, the entry whose data it was found to
    /// hold, [`MapIndex::NONE`] for those that held nobody's. Some of it may be out of date: see
    /// [`confirm`]. It no longer holds the superblock.
    pub(crate) fn take(&mut self, log_id: u32, superblock: u32, pages: u32) -> Box<[MapIndex]> {
        let mut p2l = vec![MapIndex::NONE; pages as usize].into_boxed_slice();
        for run in self
            .superblocks
            .remove(&(log_id, superblock))
            .unwrap_or_default()
        {
            let positions = &mut p2l[run.position as usize..][..usize::from(run.pages)];
            let first = MapIndex::new(run.leaf, run.offset.into());
            for (noted, index) in positions.iter_mut().zip(first.0..) {
                *noted = MapIndex(index);
            }
        }
        p2l
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        let runs = self.superblocks.values().map(Vec::capacity).sum::<usize>();
        (runs * size_of::<ReverseRun>()) as u64
    }
}

/// Drops those of the noted entries whose data is elsewhere by now. The first is of the physical page
/// `first`; from each to the next it is as many numbers as there are logs.
pub(crate) fn confirm(p2l: &mut [MapIndex], first: Ppn, logs: u32, mapping: &Mapping) {
    let logs = u64::from(logs);
    let mut at = 0;
    while at < p2l.len() {
        if p2l[at] == MapIndex::NONE {
            at += 1;
            continue;
        }
        let pages = p2l[at].consecutive(&p2l[at..]);
        if pages == 1 {
            // What random writes leave.
            if mapping.get(p2l[at]) != Entry::Flash(Ppn(first.0 + at as u64 * logs)) {
                p2l[at] = MapIndex::NONE;
            }
            at += 1;
            continue;
        }
        let end = at + pages;
        for run in mapping.runs_at(p2l[at], pages as u32) {
            for page in 0..run.pages {
                let ppn = Ppn(first.0 + at as u64 * logs);
                if run.entry.plus(page) != Entry::Flash(ppn) {
                    p2l[at] = MapIndex::NONE;
                }
                at += 1;
            }
        }
        // A leaf whose pages have all been deallocated since has no runs.
        p2l[at..end].fill(MapIndex::NONE);
        at = end;
    }
}

/// Of which numbers some are in the batch, roughly: tells most others apart without a division.
struct Wanted {
    shift: u32,
    /// By piece, up to that of the last page's number.
    some: Vec<bool>,
}

impl Wanted {
    /// Pieces of a superblock: pages around it that are taken for its own are few.
    const PIECES_LOG2: u32 = 4;

    fn new(addressing: &Addressing, superblocks: impl Iterator<Item = u32>) -> Wanted {
        let span = u64::from(addressing.pages_per_superblock) * u64::from(addressing.logs);
        let shift = span.ilog2().saturating_sub(Wanted::PIECES_LOG2);
        let pieces = (span * u64::from(addressing.superblocks)) >> shift;
        let mut some = vec![false; pieces as usize + 1];
        for superblock in superblocks {
            let first = u64::from(superblock) * span;
            let last = first + (span - 1);
            some[(first >> shift) as usize..=(last >> shift) as usize].fill(true);
        }
        Wanted { shift, some }
    }

    /// Tells whether a number may be in the batch.
    #[inline]
    fn test(&self) -> impl Fn(Ppn) -> bool + Copy {
        let (shift, some) = (self.shift, &self.some[..]);
        move |number| {
            let some = some.get((number.0 >> shift) as usize);
            some.is_some_and(|&some| some)
        }
    }
}

/// Notes a run, which may go on where the last one ends.
#[inline]
fn note(notes: &mut Vec<ReverseRun>, run: ReverseRun) {
    match notes.last_mut() {
        Some(last)
            if last.position + u32::from(last.pages) == run.position
                && last.offset + last.pages == run.offset
                && last.leaf == run.leaf =>
        {
            last.pages += run.pages;
        }
        _ => notes.push(run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is noted of pages on flash from `first` on, of a namespace that has so many of them deallocated since.
    fn confirmed(first: Ppn, pages: u32, deallocated: u64) -> Vec<bool> {
        let mut mapping = Mapping::new(1 << 30, u64::MAX, 1 << 20);
        mapping.add_space();
        let mut p2l: Vec<MapIndex> = (0..pages)
            .map(|page| {
                let index = mapping.find_or_make(0, page.into()).unwrap();
                mapping.set(index, Entry::Flash(Ppn(first.0 + u64::from(page))));
                index
            })
            .collect();
        mapping.replace(0, 0, deallocated, None, &mut Vec::new());
        confirm(&mut p2l, first, 1, &mapping);
        p2l.iter().map(|&index| index != MapIndex::NONE).collect()
    }

    #[test]
    fn pages_that_were_deallocated_are_dropped() {
        let first = Ppn(7);
        assert_eq!(confirmed(first, 3, 2), [false, false, true]);
        assert_eq!(confirmed(first, 3, 3), [false; 3], "no leaf is left");
        assert_eq!(confirmed(first, 1, 1), [false]);
    }
}
