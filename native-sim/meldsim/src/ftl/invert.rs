//! The reverse of the mapping, made when garbage collection needs it.
//!
//! Which logical page a physical one holds is not stored: that would double the mapping's memory.
//! Instead the forward table is gone through once for a batch of groups that are likely to be
//! collected next, and what leads to them is noted. By the time a group is collected some of it is
//! out of date, so the notes are compared with the mapping again. A batch grows until it holds a
//! fixed share of all mapped pages: then a pass costs a fixed time for each page moved, and the
//! notes a fixed share of the mapping's memory.

use std::collections::BTreeMap;

use super::layer::Ftl;
use super::mapping::{Entry, Place};
use super::numbering::{Ppn, Slice};
use super::policy::Candidate;

/// A batch holds one in this many of the mapped pages.
const BATCH_SHARE: u64 = 32;

/// Positions of a group and the places that lead to them, both consecutive.
#[derive(Clone, Copy, Debug)]
struct PlaceRun {
    position: u32,
    place: Place,
    pages: u32,
}

/// What leads to the groups of a batch.
#[derive(Debug, Default)]
pub(super) struct Inversion {
    /// By lane and group.
    groups: BTreeMap<(u32, u32), Vec<PlaceRun>>,
}

impl Inversion {
    pub(super) fn memory(&self) -> u64 {
        let runs = self.groups.values().map(Vec::capacity).sum::<usize>();
        (runs * size_of::<PlaceRun>()) as u64
    }
}

impl Ftl {
    /// For each position of a closed group the place whose data it holds, [`Place::NONE`] for those
    /// that hold nobody's. A new batch begins with the group when the present one does not hold it.
    pub(super) fn places_of(&mut self, lane: u32, group: u32) -> Box<[Place]> {
        let blocks = &mut self.lanes[lane as usize].blocks;
        let positions = self.numbering.pages_per_group;
        let mut places = vec![Place::NONE; positions as usize].into_boxed_slice();
        if blocks.get(group).valid > 0 && !blocks.get(group).is_inverted {
            self.invert(lane, group);
        }
        let blocks = &mut self.lanes[lane as usize].blocks;
        blocks.get_mut(group).is_inverted = false;
        // Some of the notes are out of date: all are checked at once, for one check need not wait
        // for the other's memory.
        let notes = self.inversion.groups.remove(&(lane, group));
        for noted in notes.unwrap_or_default() {
            let mut page = 0;
            for run in self.mapping.runs_at(noted.place, noted.pages) {
                if let Entry::Flash(first) = run.entry {
                    for index in 0..run.pages {
                        let position = noted.position + page + index;
                        let number = self.numbering.number(lane, group, position);
                        if Ppn(first.0 + index) == number {
                            places[position as usize] = Place(noted.place.0 + page + index);
                        }
                    }
                }
                page += run.pages;
            }
        }
        debug_assert_eq!(
            places.iter().filter(|&&place| place != Place::NONE).count() as u32,
            self.lanes[lane as usize].blocks.get(group).valid,
        );
        places
    }

    /// Starts a batch of the group and those of all lanes that are to be collected next.
    fn invert(&mut self, lane: u32, group: u32) {
        let mut batch = BTreeMap::from([((lane, group), Vec::new())]);
        let mut ranked: Vec<Candidate> = Vec::new();
        let pages = self.numbering.pages_per_group;
        for (lane, log) in (0..).zip(&self.lanes) {
            let blocks = &log.blocks;
            let mut share = log.live / BATCH_SHARE;
            ranked.clear();
            ranked.extend(blocks.candidates());
            let all = ranked.len();
            self.gc
                .policy
                .select(&mut ranked, all, pages, blocks.clock());
            let lagging = self.gc.threshold.map(|threshold| blocks.lagging(threshold));
            let lagging = lagging
                .into_iter()
                .flatten()
                .take(ranked.len() / BATCH_SHARE as usize);
            let ranked = ranked.iter().map(|candidate| candidate.group);
            for number in lagging.chain(ranked) {
                match share.checked_sub(u64::from(blocks.get(number).valid)) {
                    None => break,
                    Some(rest) => share = rest,
                }
                batch.insert((lane, number), Vec::new());
            }
        }
        for log in &mut self.lanes {
            log.blocks.end_batch();
        }
        // Found by number: the batch's own index of each group, if it has it.
        let lanes = self.numbering.lanes;
        let used = self
            .lanes
            .iter()
            .map(|lane| lane.blocks.iter().count())
            .max();
        let mut indices = vec![u32::MAX; used.unwrap_or(0) * lanes as usize];
        let mut notes: Vec<Vec<PlaceRun>> = Vec::with_capacity(batch.len());
        for &(lane, group) in batch.keys() {
            indices[(group * lanes + lane) as usize] = notes.len() as u32;
            notes.push(Vec::new());
            self.lanes[lane as usize].blocks.get_mut(group).is_inverted = true;
        }
        let numbering = &self.numbering;
        self.mapping.for_each_flash_run(|place, first, pages| {
            let mut done = 0;
            while done < pages {
                let Slice {
                    lane,
                    group,
                    position,
                } = numbering.slice(Ppn(first.0 + done));
                let run = match lanes {
                    1 => (pages - done).min(numbering.pages_per_group - position),
                    _ => 1,
                };
                if let Some(notes) =
                    notes.get_mut(indices[(group * lanes + lane) as usize] as usize)
                {
                    notes.push(PlaceRun {
                        position,
                        place: Place(place.0 + done),
                        pages: run,
                    });
                }
                done += run;
            }
        });
        for (runs, noted) in batch.values_mut().zip(notes) {
            *runs = noted;
        }
        self.inversion.groups = batch;
    }
}
