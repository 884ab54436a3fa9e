//! Which pages lie where after a long past of random overwrites, as a stream in the logical order.
//!
//! The valid pages of every block are dealt in turns. A turn takes pages of each block that are evenly
//! spaced, begins elsewhere in each, and shuffles them:
//!
//! ```text
//!   valid pages of a block, 3 turns     0 1 2 0 1 2 0 1 2 0     of another     2 1 0 2 1 0 2
//!   logical order                       (turn 0, shuffled) (turn 1, shuffled) (turn 2, shuffled)
//! ```
//!
//! So places are made in their physical order, without a table of them, and a turn fits the
//! processor's cache.

use crate::engine::Random;
use crate::profile::limits::PPN_LIMIT;

/// Pages of a turn at least, and pages of a block in a turn on average: the more, the less is spent on
/// looking at blocks, and the fewer, the nearer is the cache that holds them.
const TURN_PAGES: u64 = 1 << 14;
const TURN_PAGES_PER_BLOCK: u64 = 2;

/// Places of pages, given out in the logical order. A place is a position in the log, whose blocks
/// follow each other, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Deal {
    blocks: Vec<Block>,
    pages_per_block: u32,
    /// A prime, so that every step leads through all turns.
    turns: u32,
    /// The places of this turn; those from `next` on are still to be given out.
    turn: Vec<u32>,
    len: usize,
    next: usize,
    random: Random,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    valid: u32,
    /// The first of its valid pages that the next turn takes, below `turns`; the turn after it
    /// begins `step` further.
    first: u32,
    step: u32,
    /// Positions from one valid page to the next, 32 fractional bits.
    stride: u64,
}

impl Deal {
    /// Deals so many `valid` pages of each block, the oldest first. `seed` tells apart logs that
    /// would otherwise be alike.
    pub(crate) fn new(valid: impl Iterator<Item = u32>, pages_per_block: u32, seed: u64) -> Deal {
        let mut blocks: Vec<Block> = valid
            .map(|valid| Block {
                valid,
                first: 0,
                step: 0,
                stride: (u64::from(pages_per_block) << 32) / u64::from(valid.max(1)),
            })
            .collect();
        let pages: u64 = blocks.iter().map(|block| u64::from(block.valid)).sum();
        debug_assert!(pages < PPN_LIMIT);
        let turn = TURN_PAGES.max(TURN_PAGES_PER_BLOCK * blocks.len() as u64);
        let turns = prime_from((pages / turn) as u32);
        let mut random = Random::new(seed);
        for block in &mut blocks {
            block.first = random.below(u64::from(turns)) as u32;
            block.step = 1 + random.below(u64::from(turns - 1)) as u32;
        }
        let most = blocks
            .iter()
            .map(|block| block.valid.div_ceil(turns))
            .sum::<u32>();
        Deal {
            blocks,
            pages_per_block,
            turns,
            turn: vec![0; most as usize],
            len: 0,
            next: 0,
            random,
        }
    }

    /// The places of the next pages, of at least one and at most so many; there must be one left. No
    /// two are the same.
    pub(crate) fn next(&mut self, pages: usize) -> &[u32] {
        while self.next == self.len {
            self.turn();
        }
        let end = self.len.min(self.next + pages);
        let first = std::mem::replace(&mut self.next, end);
        &self.turn[first..end]
    }

    fn turn(&mut self) {
        let turn = &mut self.turn[..];
        let mut len = 0;
        let mut begin = 0;
        for block in &mut self.blocks {
            let mut page = block.first;
            while page < block.valid {
                let random = self.random.next_u64();
                // Anywhere between its own stratum and the next: evenly spaced pages would lie on some
                // channels only.
                let low = (u64::from(page) * block.stride) >> 32;
                let high = ((u64::from(page) + 1) * block.stride) >> 32;
                let position = low + (((random & 0xFFFF_FFFF) * (high - low)) >> 32);
                // Each of those before it may be the one that makes room (Fisher, Yates: inside out).
                let at = (((random >> 32) * (len as u64 + 1)) >> 32) as usize;
                turn[len] = turn[at];
                turn[at] = begin + position as u32;
                len += 1;
                page += self.turns;
            }
            block.first += block.step;
            if block.first >= self.turns {
                block.first -= self.turns;
            }
            begin += self.pages_per_block;
        }
        self.len = len;
        self.next = 0;
    }
}

/// The smallest prime that is not below `least`.
fn prime_from(least: u32) -> u32 {
    let is_prime = |number: &u32| (2..=number.isqrt()).all(|factor| number % factor != 0);
    (least.max(2)..).find(is_prime).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::super::steady::valid_by_age;
    use super::*;

    /// Blocks and their pages: turns that take hundreds of pages of each block, and two.
    const LOGS: [(u32, u32); 2] = [(1 << 6, 1 << 12), (1 << 14, 1 << 7)];
    const SHARE: f64 = 0.7;

    fn deal_all(deal: &mut Deal, pages: usize) -> Vec<u32> {
        let mut places = Vec::new();
        while places.len() < pages {
            // Not in step with the turns.
            let left = pages - places.len();
            places.extend_from_slice(deal.next(left.min(1000)));
        }
        places
    }

    fn valid((blocks, pages_per_block): (u32, u32)) -> impl Iterator<Item = u32> + Clone {
        let pages = f64::from(blocks * pages_per_block) * SHARE;
        valid_by_age(pages as u64, blocks, pages_per_block)
    }

    fn places(log: (u32, u32), seed: u64) -> Vec<u32> {
        let pages = valid(log).sum::<u32>() as usize;
        deal_all(&mut Deal::new(valid(log), log.1, seed), pages)
    }

    proptest! {
        #[test]
        fn each_block_holds_its_pages_and_no_two_share_a_place(
            pages_per_block in 1..3000u32,
            shares in prop::collection::vec(0.0..=1.0f64, 1..60),
            seed: u64,
        ) {
            let valid: Vec<u32> = shares
                .iter()
                .map(|share| (f64::from(pages_per_block) * share) as u32)
                .collect();
            let mut deal = Deal::new(valid.iter().copied(), pages_per_block, seed);
            let pages = valid.iter().sum::<u32>() as usize;
            let mut seen = HashSet::new();
            let mut found = vec![0; valid.len()];
            for place in deal_all(&mut deal, pages) {
                prop_assert!(seen.insert(place));
                found[(place / pages_per_block) as usize] += 1u32;
            }
            prop_assert_eq!(found, valid);
        }
    }

    #[test]
    fn seeds_differ_and_repeat() {
        assert_eq!(places(LOGS[0], 1), places(LOGS[0], 1));
        assert_ne!(places(LOGS[0], 1), places(LOGS[0], 2));
    }

    /// Logical neighbours lie apart: in one block, and near there, as often as by chance.
    #[test]
    fn logical_neighbours_lie_apart() {
        const REACH: u32 = 256;
        for log in LOGS {
            let places = places(log, 1);
            let pages = places.len() as f64;
            let block = |place: u32| place / log.1;
            // Blocks differ in what they hold: those that hold more meet themselves more often.
            let squares: f64 = valid(log).map(|n| (f64::from(n) / pages).powi(2)).sum();
            let reached = f64::from(2 * REACH - 1) / f64::from(log.1);
            for distance in [1, 2, 7, 64, 1024] {
                let pairs = || places.iter().zip(&places[distance..]);
                let together = pairs().filter(|&(&a, &b)| block(a) == block(b)).count();
                let near = pairs().filter(|&(&a, &b)| a.abs_diff(b) < REACH).count();
                // A turn takes as many pages of each block, whatever was drawn before: of two, each meets
                // one and not two of its own block.
                let spread = 1.0
                    - f64::from(log.0)
                        / TURN_PAGES.max(TURN_PAGES_PER_BLOCK * u64::from(log.0)) as f64;
                for (found, chance) in [(together, squares), (near, squares * reached)] {
                    let (found, expected) = (found as f64, chance * pages);
                    let margin = 5.0 * expected.sqrt();
                    assert!(
                        found < expected + margin && found > spread * expected - margin,
                        "{log:?}, {distance} apart: {found} for {expected}"
                    );
                }
            }
        }
    }

    /// And physical neighbours are logically apart, so that what is hot together does not lie together.
    #[test]
    fn physical_neighbours_are_logically_apart() {
        for log in LOGS {
            let mut page_at = vec![None; (log.0 * log.1) as usize];
            for (page, place) in places(log, 1).into_iter().enumerate() {
                page_at[place as usize] = Some(page);
            }
            let pages: Vec<usize> = page_at.into_iter().flatten().collect();
            for reach in [1 << 10, 1 << 14] {
                let near = |pair: &&[usize]| pair[0].abs_diff(pair[1]) < reach;
                let found = pages.windows(2).filter(near).count();
                let expected = 2 * reach;
                assert!(
                    found < expected + expected / 5,
                    "{log:?}, {reach}: {found} for {expected}"
                );
            }
        }
    }

    /// The places of successive pages do not follow from each other.
    #[test]
    fn successive_places_are_uncorrelated() {
        for log in LOGS {
            let places = places(log, 1);
            let pages = places.len() as f64;
            let mean = places.iter().map(|&place| f64::from(place)).sum::<f64>() / pages;
            let of = |a: u32, b: u32| (f64::from(a) - mean) * (f64::from(b) - mean);
            let variance: f64 = places.iter().map(|&place| of(place, place)).sum();
            for distance in 1..50 {
                let pairs = places.iter().zip(&places[distance..]);
                let correlation = pairs.map(|(&a, &b)| of(a, b)).sum::<f64>() / variance;
                // Five standard deviations.
                assert!(
                    correlation.abs() < 5.0 / pages.sqrt(),
                    "{log:?}, {distance} apart: {correlation}"
                );
            }
        }
    }

    /// Pages that are read together keep as many dies busy as random ones do.
    #[test]
    fn successive_pages_spread_over_the_dies() {
        const DIES: usize = 64;
        for log in LOGS {
            let places = places(log, 1);
            let mut all = [0u32; DIES];
            let mut distinct = 0;
            for window in places.chunks_exact(DIES) {
                let dies: Vec<usize> = window.iter().map(|&at| at as usize % DIES).collect();
                distinct += dies.iter().collect::<HashSet<_>>().len();
                dies.iter().for_each(|&die| all[die] += 1);
            }
            // Of 64 draws 64 (1 - (1 - 1/64)^64) are distinct.
            let missed = (1.0 - 1.0 / DIES as f64).powi(DIES as i32);
            let expected = DIES as f64 * (1.0 - missed);
            let found = distinct as f64 / (places.len() / DIES) as f64;
            assert!(
                (found - expected).abs() < 0.2,
                "{log:?}: {found} for {expected}"
            );
            let mean = places.len() as f64 / DIES as f64;
            // But for the end of a block, whose last position is hardly ever taken.
            let off = all[..DIES - 2]
                .iter()
                .map(|&n| (f64::from(n) / mean - 1.0).abs());
            assert!(off.fold(0.0, f64::max) < 0.1, "{log:?}: {all:?}");
        }
    }
}
