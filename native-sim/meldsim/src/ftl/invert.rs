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
use super::numbering::{Numbering, Ppn, Slice};
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

/// Of which numbers some are in the batch, roughly: tells most others apart without a division.
struct Wanted {
    shift: u32,
    /// By piece; the last one is of everything that is no page's number.
    some: Vec<bool>,
}

impl Wanted {
    /// Pieces a group is looked at in: pages around the group that are taken for its own are few.
    const PIECES_LOG2: u32 = 4;

    fn new(numbering: &Numbering, groups: impl Iterator<Item = u32>) -> Wanted {
        let span = numbering.pages_per_group * numbering.lanes;
        let shift = span.ilog2().saturating_sub(Wanted::PIECES_LOG2);
        let pieces = (u64::from(span) * u64::from(numbering.groups)) >> shift;
        let mut some = vec![false; pieces as usize + 2];
        for group in groups {
            let first = group * span;
            let last = first + (span - 1);
            some[(first >> shift) as usize..=(last >> shift) as usize].fill(true);
        }
        Wanted { shift, some }
    }

    #[inline]
    fn may_have(&self, number: Ppn) -> bool {
        let piece = (number.0 >> self.shift) as usize;
        self.some[piece.min(self.some.len() - 1)]
    }
}

/// Notes a run, which may go on where the last one ends.
#[inline]
fn note(notes: &mut Vec<PlaceRun>, run: PlaceRun) {
    match notes.last_mut() {
        Some(last)
            if last.position + last.pages == run.position
                && last.place.0 + last.pages == run.place.0
                && last.place.leaf() == run.place.leaf() =>
        {
            last.pages += run.pages;
        }
        _ => notes.push(run),
    }
}

impl Inversion {
    pub(super) fn memory(&self) -> u64 {
        let runs = self.groups.values().map(Vec::capacity).sum::<usize>();
        (runs * size_of::<PlaceRun>()) as u64
    }
}

impl Ftl {
    /// For each position of a closed group the place whose data it was found to hold,
    /// [`Place::NONE`] for those that held nobody's. Some of it may be out of date: see
    /// [`Ftl::confirm`]. A new batch begins with the group when the present one does not hold it.
    pub(super) fn noted_places(&mut self, lane: u32, group: u32) -> Box<[Place]> {
        let blocks = &mut self.lanes[lane as usize].blocks;
        let positions = self.numbering.pages_per_group;
        let mut places = vec![Place::NONE; positions as usize].into_boxed_slice();
        if blocks.get(group).valid > 0 && !blocks.get(group).is_inverted {
            self.invert(lane, group);
        }
        let blocks = &mut self.lanes[lane as usize].blocks;
        blocks.get_mut(group).is_inverted = false;
        let notes = self.inversion.groups.remove(&(lane, group));
        for run in notes.unwrap_or_default() {
            let positions = run.position as usize..(run.position + run.pages) as usize;
            for (slot, place) in places[positions].iter_mut().zip(run.place.0..) {
                *slot = Place(place);
            }
        }
        places
    }

    /// Drops those of the noted places whose data is elsewhere by now. They are of the positions
    /// from `first` on.
    pub(super) fn confirm(&self, lane: u32, group: u32, first: u32, places: &mut [Place]) {
        for &place in places.iter().filter(|&&place| place != Place::NONE) {
            self.mapping.prefetch(place);
        }
        let mut from = 0;
        while from < places.len() {
            let place = places[from];
            if place == Place::NONE {
                from += 1;
                continue;
            }
            let follows = |&(index, next): &(u32, &Place)| {
                next.0 == place.0 + index && next.leaf() == place.leaf()
            };
            let pages = (0..).zip(&places[from..]).take_while(follows).count();
            if pages == 1 {
                let number = self.numbering.number(lane, group, first + from as u32);
                if self.mapping.get(place) != Entry::Flash(number) {
                    places[from] = Place::NONE;
                }
                from += 1;
                continue;
            }
            let mut index = from;
            for run in self.mapping.runs_at(place, pages as u32) {
                for page in 0..run.pages {
                    let number = self.numbering.number(lane, group, first + index as u32);
                    if run.entry.plus(page) != Entry::Flash(number) {
                        places[index] = Place::NONE;
                    }
                    index += 1;
                }
            }
            from = index;
        }
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
        let wanted = Wanted::new(numbering, batch.keys().map(|&(_, group)| group));
        let wanted = |number| wanted.may_have(number);
        self.mapping
            .for_each_flash_run(wanted, |place, first, pages| {
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
                    let index = indices[(group * lanes + lane) as usize] as usize;
                    if let Some(notes) = notes.get_mut(index) {
                        let place = Place(place.0 + done);
                        let pages = run;
                        note(
                            notes,
                            PlaceRun {
                                position,
                                place,
                                pages,
                            },
                        );
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
