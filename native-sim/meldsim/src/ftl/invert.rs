//! The reverse of the mapping, made when garbage collection needs it.
//!
//! Which logical page a physical one holds is not stored: that would double the mapping's memory.
//! Instead the forward table is gone through once for a batch of groups that are likely to be
//! collected next, and what leads to them is noted. By the time a group is collected some of it is
//! out of date, so each page is looked up again before it is moved. A batch grows until it holds a
//! fixed share of all mapped pages: then a pass costs a fixed time for each page moved, and the
//! notes a fixed share of the mapping's memory.

use std::collections::BTreeMap;

use super::blocks::{Group, State};
use super::layer::Ftl;
use super::mapping::{Entry, Place};
use super::numbering::{Ppn, Slice};

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
    pub(super) fn has(&self, lane: u32, group: u32) -> bool {
        self.groups.contains_key(&(lane, group))
    }

    /// The batch no longer holds the group. Returns for each of its positions the place that led
    /// there, [`Place::NONE`] for those nothing did.
    pub(super) fn take(&mut self, lane: u32, group: u32, positions: u32) -> Box<[Place]> {
        let mut places = vec![Place::NONE; positions as usize].into_boxed_slice();
        for run in self.groups.remove(&(lane, group)).unwrap_or_default() {
            for page in 0..run.pages {
                places[(run.position + page) as usize] = Place(run.place.0 + page);
            }
        }
        places
    }

    pub(super) fn memory(&self) -> u64 {
        let runs = self.groups.values().map(Vec::capacity).sum::<usize>();
        (runs * size_of::<PlaceRun>()) as u64
    }
}

impl Ftl {
    /// For each position of a closed group the place that leads to it. A new batch begins with the
    /// group when the present one does not hold it.
    pub(super) fn places_of(&mut self, lane: u32, group: u32) -> Box<[Place]> {
        let positions = self.numbering.pages_per_group;
        if self.lanes[lane as usize].blocks.get(group).valid == 0 {
            self.inversion.groups.remove(&(lane, group));
            return vec![Place::NONE; positions as usize].into_boxed_slice();
        }
        if !self.inversion.has(lane, group) {
            self.invert(lane, group);
        }
        self.inversion.take(lane, group, positions)
    }

    /// Whether a group still holds the page that this place led to.
    #[inline]
    pub(super) fn is_current(&self, place: Place, ppn: Ppn) -> bool {
        place != Place::NONE && self.mapping.get(place) == Entry::Flash(ppn)
    }

    /// Starts a batch of the group and those of all lanes that have the fewest pages to move.
    fn invert(&mut self, lane: u32, group: u32) {
        let mut batch = BTreeMap::from([((lane, group), Vec::new())]);
        for (lane, log) in (0..).zip(&self.lanes) {
            let mut share = log.live / BATCH_SHARE;
            let mut groups: Vec<(u32, u32)> = log
                .blocks
                .iter()
                .filter(|(_, group)| is_inverted(group))
                .map(|(number, group)| (group.valid, number))
                .collect();
            groups.sort_unstable();
            for (valid, number) in groups {
                match share.checked_sub(u64::from(valid)) {
                    None => break,
                    Some(rest) => share = rest,
                }
                batch.insert((lane, number), Vec::new());
            }
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

/// Whether the group is at rest and has something to move.
fn is_inverted(group: &Group) -> bool {
    group.state == State::Closed && group.unprogrammed == 0 && group.valid > 0
}
