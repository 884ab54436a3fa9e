//! The state after a long past of random overwrites, placed in no time by its closed form.

use super::deal::Deal;
use super::layer::Ftl;
use super::mapping::LEAF;
use super::numbering::{Numbering, Ppn};
use super::steady::valid_by_age;
use super::stream::Layout;

/// What a space holds, from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    pub(crate) space: u32,
    pub(crate) pages: u64,
    /// Of these, pages that were overwritten at random until collection was in steady state.
    pub(crate) random: u64,
}

/// A lane in steady state.
struct Log {
    deal: Deal,
    /// The group of the oldest block.
    first: u32,
}

impl Ftl {
    /// Fills a layer that was never used. False when there is no room.
    pub(crate) fn precondition(&mut self, filled: &[Filled]) -> bool {
        // What was written in order and never again first: it is the oldest.
        let in_order = filled.iter().all(|filled| {
            let Filled { space, random, .. } = *filled;
            filled.pages == random || self.preload(space, random, filled.pages, Layout::Normal)
        });
        let mut logs = match in_order {
            true => self.logs(filled),
            false => None,
        };
        let Some(logs) = &mut logs else {
            return false;
        };
        filled
            .iter()
            .all(|filled| self.place_random(logs, filled.space, filled.random))
    }

    /// Makes the groups of each lane.
    fn logs(&mut self, filled: &[Filled]) -> Option<Vec<Log>> {
        let numbering = &self.numbering;
        let pages_per_group = numbering.pages_per_group;
        let mut logs = Vec::new();
        for (number, lane) in (0..).zip(&mut self.lanes) {
            let pages = filled
                .iter()
                .map(|filled| pages_of(numbering, number, filled.random))
                .sum::<u64>();
            let groups = match pages {
                0 => 0,
                _ => lane.blocks.unused_in_steady_state(),
            };
            if pages > u64::from(groups) * u64::from(pages_per_group) {
                return None;
            }
            let seed = u64::from(self.set) << 32 | u64::from(number);
            let valid = valid_by_age(pages, groups, pages_per_group);
            let first = lane.blocks.close_filled(valid.clone());
            lane.live += pages;
            let deal = Deal::new(valid, pages_per_group, seed);
            logs.push(Log { deal, first });
        }
        Some(logs)
    }

    /// Maps the first pages of a space.
    fn place_random(&mut self, logs: &mut [Log], space: u32, pages: u64) -> bool {
        let lanes = self.numbering.lanes as usize;
        let mut numbers = [Ppn(0); LEAF];
        let mut page = 0;
        while page < pages {
            let end = pages.min(page + LEAF as u64);
            let numbers = &mut numbers[..(end - page) as usize];
            // Those of a lane are as many pages apart as there are lanes.
            for first in 0..lanes.min(numbers.len()) {
                let lane = self.numbering.lane_of(page + first as u64, Layout::Normal);
                let log = &mut logs[lane as usize];
                let mut numbers = numbers[first..].iter_mut().step_by(lanes);
                while numbers.len() > 0 {
                    let places = log.deal.next(numbers.len());
                    for (&place, number) in places.iter().zip(&mut numbers) {
                        *number = self.numbering.number(lane, log.first, place);
                    }
                }
            }
            #[cfg(test)]
            for &number in &*numbers {
                self.witness.preloaded(number);
            }
            if !self.mapping.fill(space, page, numbers) {
                return false;
            }
            page = end;
        }
        true
    }
}

/// Of the first pages of a space those that a lane takes.
fn pages_of(numbering: &Numbering, lane: u32, pages: u64) -> u64 {
    let lanes = u64::from(numbering.lanes);
    (pages + lanes - 1).saturating_sub(u64::from(lane)) / lanes
}
