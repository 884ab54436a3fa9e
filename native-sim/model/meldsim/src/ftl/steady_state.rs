//! Steady state under uniform random overwrites: its closed form, and which pages lie where.
//!
//! In come pages and blocks, out goes how many valid pages each block holds, and their positions in
//! the logical order.
//!
//! Blocks are filled one after the other and each page is as likely to be overwritten as any
//! other, so the share of a block that is still valid decays exponentially with its age. Of the
//! blocks lined up by age, from rank 0 (just filled) to 1 (next to be collected), the one of rank
//! r has u^r of its pages valid, where u is what is left at collection. The mean over all ranks is
//! the utilisation, the share of the flash that holds valid data:
//!
//! ```text
//!   utilisation = (1 - u) / -ln u          write amplification = 1 / (1 - u)
//! ```
//!
//! (Robinson, "Analysis of steady-state segment storage utilizations in a log-structured file
//! system with least-utilized segment cleaning", 1996; Desnoyers, SYSTOR'12: for large blocks
//! greedy collection and collection by age agree with it.)
//!
//! The positions come from a stratified shuffle, in passes. A pass takes pages of each block that are
//! evenly spaced, begins elsewhere in each, and shuffles them:
//!
//! ```text
//!   valid pages of a block, 3 passes    0 1 2 0 1 2 0 1 2 0     of another     2 1 0 2 1 0 2
//!   logical order                       (pass 0, shuffled) (pass 1, shuffled) (pass 2, shuffled)
//! ```
//!
//! So positions are made in their physical order, without a table of them, and a pass fits the
//! processor's cache.
//!
//! Logarithms and powers are `libm`'s: the platform's differ in the last bit from machine to machine.

use crate::engine::Random;
use crate::profile::limits::PPN_LIMIT;

/// Pages of a pass at least, and pages of a block in a pass on average: the more, the less is spent on
/// going through blocks, and the fewer, the nearer is the cache that holds them.
const PASS_PAGES: u64 = 1 << 14;
const PASS_PAGES_PER_BLOCK: u64 = 2;

/// The valid share of a block when it is collected, for a utilisation from 0 to 1.
fn valid_at_collection(utilisation: f64) -> f64 {
    // The utilisation grows with u: bisection, to the last bit.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..64 {
        let u = (low + high) / 2.0;
        if mean_valid(u) < utilisation {
            low = u;
        } else {
            high = u;
        }
    }
    low
}

/// The mean valid share of blocks collected at `u`.
fn mean_valid(u: f64) -> f64 {
    if u > 0.0 && u < 1.0 {
        (1.0 - u) / -libm::log(u)
    } else {
        u
    }
}

/// Pages programmed for each page the host writes, for a utilisation from 0 to 1.
pub(crate) fn write_amplification(utilisation: f64) -> f64 {
    1.0 / (1.0 - valid_at_collection(utilisation))
}

/// Valid pages of each block of a log in steady state, the oldest first, when `pages` are spread over
/// `blocks` of `pages_per_block`; there must be room.
pub(crate) fn valid_by_age(
    pages: u64,
    blocks: u32,
    pages_per_block: u32,
) -> impl Iterator<Item = u32> + Clone {
    let room = u64::from(blocks) * u64::from(pages_per_block);
    debug_assert!(pages <= room, "{pages} pages in the room of {room}");
    let u = valid_at_collection(pages as f64 / room as f64);
    // Valid pages of blocks older than rank 1 - x, of all: the integral of u^r from there.
    let older = move |x: f64| {
        if u > 0.0 && u < 1.0 {
            (libm::pow(u, 1.0 - x) - u) / (1.0 - u)
        } else {
            x
        }
    };
    (1..=blocks).scan(0, move |before, end| {
        let share = older(f64::from(end) / f64::from(blocks));
        // Rounding must not put more into a block than there is room for, now or later.
        let younger = u64::from(blocks - end) * u64::from(pages_per_block);
        let least = (*before).max(pages.saturating_sub(younger));
        let most = pages.min(*before + u64::from(pages_per_block));
        let until = ((share * pages as f64).round() as u64).clamp(least, most);
        Some((until - std::mem::replace(before, until)) as u32)
    })
}

/// Positions of pages in a log, given out in the logical order. The blocks of the log follow each
/// other, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct StratifiedShuffle {
    blocks: Vec<Block>,
    pages_per_block: u32,
    /// A prime, so that every step leads through all passes.
    passes: u32,
    /// The positions of this pass; those from `next` on are still to be given out.
    pass: Vec<u64>,
    len: usize,
    next: usize,
    random: Random,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    valid: u32,
    /// The first of its valid pages that the next pass takes, below `passes`; the pass after it
    /// begins `step` further.
    first: u32,
    step: u32,
    /// Positions from one valid page to the next, 32 fractional bits.
    stride: u64,
}

impl StratifiedShuffle {
    /// Shuffles so many `valid` pages of each block, the oldest first. `seed` tells apart logs that
    /// would else be alike.
    pub(crate) fn new(
        valid: impl Iterator<Item = u32>,
        pages_per_block: u32,
        seed: u64,
    ) -> StratifiedShuffle {
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
        let pass = PASS_PAGES.max(PASS_PAGES_PER_BLOCK * blocks.len() as u64);
        let passes = prime_from((pages / pass) as u32);
        let mut random = Random::new(seed);
        for block in &mut blocks {
            block.first = random.below(u64::from(passes)) as u32;
            block.step = 1 + random.below(u64::from(passes - 1)) as u32;
        }
        let most = blocks
            .iter()
            .map(|block| block.valid.div_ceil(passes))
            .sum::<u32>();
        StratifiedShuffle {
            blocks,
            pages_per_block,
            passes,
            pass: vec![0; most as usize],
            len: 0,
            next: 0,
            random,
        }
    }

    /// The positions of the next pages, of at least one and at most so many; there must be one left. No
    /// two are the same.
    pub(crate) fn next(&mut self, pages: usize) -> &[u64] {
        while self.next == self.len {
            self.pass();
        }
        let end = self.len.min(self.next + pages);
        let first = std::mem::replace(&mut self.next, end);
        &self.pass[first..end]
    }

    fn pass(&mut self) {
        let pass = &mut self.pass[..];
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
                pass[len] = pass[at];
                pass[at] = begin + position;
                len += 1;
                page += self.passes;
            }
            block.first += block.step;
            if block.first >= self.passes {
                block.first -= self.passes;
            }
            begin += u64::from(self.pages_per_block);
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
    use std::collections::{HashSet, VecDeque};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn valid_pages_fit_their_blocks_and_grow_with_youth(
            blocks in 1..300u32,
            pages_per_block in 1..2000u32,
            share in prop_oneof![0.0..=1.0, 0.999..=1.0],
        ) {
            let room = blocks * pages_per_block;
            let pages = (f64::from(room) * share) as u64;
            let valid: Vec<u32> = valid_by_age(pages, blocks, pages_per_block).collect();
            prop_assert_eq!(valid.len() as u32, blocks);
            prop_assert_eq!(valid.iter().map(|&valid| u64::from(valid)).sum::<u64>(), pages);
            prop_assert!(valid.iter().all(|&valid| valid <= pages_per_block));
            prop_assert!(valid.windows(2).all(|pair| pair[0] <= pair[1] + 1), "{:?}", valid);
        }
    }

    #[test]
    fn valid_pages_of_a_block_follow_the_closed_form() {
        let (blocks, pages_per_block) = (100, 10_000);
        let u = valid_at_collection(0.8);
        let valid = valid_by_age(800_000, blocks, pages_per_block);
        for (block, valid) in (0..blocks).zip(valid) {
            let rank = 1.0 - (f64::from(block) + 0.5) / f64::from(blocks);
            let expected = libm::pow(u, rank) * f64::from(pages_per_block);
            assert!(
                (f64::from(valid) - expected).abs() < 2.0,
                "{block}: {valid} for {expected}"
            );
        }
    }

    #[test]
    fn the_closed_form_at_known_points() {
        // (1 - u) / -ln u at u = 1/e is 1 - 1/e; at 1/2 it is 1 / (2 ln 2).
        let inverse_e = libm::exp(-1.0);
        assert!((valid_at_collection(1.0 - inverse_e) - inverse_e).abs() < 1e-12);
        assert!((valid_at_collection(0.5 / libm::log(2.0)) - 0.5).abs() < 1e-12);
        assert!((write_amplification(0.5 / libm::log(2.0)) - 2.0).abs() < 1e-9);
        assert!(valid_at_collection(0.0) < 1e-12 && valid_at_collection(1.0) > 1.0 - 1e-12);
    }

    /// Every platform comes to the same bits.
    #[test]
    fn the_state_is_the_same_on_every_machine() {
        let mut hasher = crc32fast::Hasher::new();
        for share in (1..100).map(|percent| f64::from(percent) / 100.0) {
            hasher.update(&valid_at_collection(share).to_le_bytes());
        }
        for log in LOGS {
            valid(log).for_each(|valid| hasher.update(&valid.to_le_bytes()));
            for position in positions(log, 1) {
                hasher.update(&position.to_le_bytes());
            }
        }
        assert_eq!(hasher.finalize(), 725_252_541);
    }

    /// A log of blocks, collected by age, without any of the device: pages as numbers.
    #[test]
    fn a_naive_log_comes_to_the_closed_form() {
        const BLOCKS: usize = 100;
        const PAGES_PER_BLOCK: usize = 256;
        for fill in [0.6, 0.8, 0.9] {
            let pages = (BLOCKS as f64 * PAGES_PER_BLOCK as f64 * fill) as usize;
            let mut block_of = vec![usize::MAX; pages];
            let mut log: VecDeque<(usize, Vec<usize>)> = VecDeque::new();
            let mut open = (0, Vec::new());
            let (mut programmed, mut written, mut seed) = (0u64, 0u64, 1u64);
            let mut left = Vec::new();
            let order = (0..pages * 8).map(|n| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if n < pages {
                    n
                } else {
                    (seed >> 33) as usize % pages
                }
            });
            for (n, page) in order.enumerate() {
                let mut todo = vec![page];
                while let Some(page) = todo.pop() {
                    block_of[page] = open.0;
                    open.1.push(page);
                    programmed += u64::from(n >= pages * 4);
                    if open.1.len() == PAGES_PER_BLOCK {
                        let number = open.0 + 1;
                        log.push_back(std::mem::replace(&mut open, (number, Vec::new())));
                        if log.len() == BLOCKS {
                            let (victim, held) = log.pop_front().unwrap();
                            let valid = held.into_iter().filter(|&page| block_of[page] == victim);
                            let before = todo.len();
                            todo.extend(valid);
                            let moved = HashSet::<usize>::from_iter(todo[before..].iter().copied());
                            todo.truncate(before);
                            todo.extend(moved.iter());
                            if n >= pages * 4 {
                                left.push(moved.len() as f64 / PAGES_PER_BLOCK as f64);
                            }
                        }
                    }
                }
                written += u64::from(n >= pages * 4);
            }
            let u = left.iter().sum::<f64>() / left.len() as f64;
            let expected = valid_at_collection(fill);
            assert!(
                (u / expected - 1.0).abs() < 0.03,
                "{fill}: {u} for {expected}"
            );
            let amplification = programmed as f64 / written as f64;
            let expected = write_amplification(fill);
            let ratio = amplification / expected;
            assert!(
                (ratio - 1.0).abs() < 0.05,
                "{fill}: {amplification} for {expected}"
            );
            // And the block of age rank r has u^r of its pages valid.
            for rank in [0.25, 0.5, 0.75] {
                let middle = ((1.0 - rank) * log.len() as f64) as usize;
                let blocks = log.range(middle - 3..middle + 3);
                let valid: usize = blocks
                    .map(|(number, held)| {
                        let current = held.iter().filter(|&&page| block_of[page] == *number);
                        current.collect::<HashSet<_>>().len()
                    })
                    .sum();
                let share = valid as f64 / (6 * PAGES_PER_BLOCK) as f64;
                let expected = libm::pow(valid_at_collection(fill), rank);
                assert!(
                    (share - expected).abs() < 0.05,
                    "rank {rank}: {share} for {expected}"
                );
            }
        }
    }

    /// Blocks and their pages: passes that take hundreds of pages of each block, and two.
    const LOGS: [(u32, u32); 2] = [(1 << 6, 1 << 12), (1 << 14, 1 << 7)];
    const SHARE: f64 = 0.7;

    fn all_of(shuffle: &mut StratifiedShuffle, pages: usize) -> Vec<u64> {
        let mut positions = Vec::new();
        while positions.len() < pages {
            // Not in step with the passes.
            let left = pages - positions.len();
            positions.extend_from_slice(shuffle.next(left.min(1000)));
        }
        positions
    }

    fn valid((blocks, pages_per_block): (u32, u32)) -> impl Iterator<Item = u32> + Clone {
        let pages = f64::from(blocks * pages_per_block) * SHARE;
        valid_by_age(pages as u64, blocks, pages_per_block)
    }

    fn positions(log: (u32, u32), seed: u64) -> Vec<u32> {
        let pages = valid(log).sum::<u32>() as usize;
        let positions = all_of(&mut StratifiedShuffle::new(valid(log), log.1, seed), pages);
        positions
            .into_iter()
            .map(|position| position as u32)
            .collect()
    }

    proptest! {
        #[test]
        fn each_block_holds_its_pages_and_no_two_share_a_position(
            pages_per_block in 1..3000u32,
            shares in prop::collection::vec(0.0..=1.0f64, 1..60),
            seed: u64,
        ) {
            let valid: Vec<u32> = shares
                .iter()
                .map(|share| (f64::from(pages_per_block) * share) as u32)
                .collect();
            let mut shuffle = StratifiedShuffle::new(valid.iter().copied(), pages_per_block, seed);
            let pages = valid.iter().sum::<u32>() as usize;
            let mut seen = HashSet::new();
            let mut found = vec![0; valid.len()];
            for position in all_of(&mut shuffle, pages) {
                prop_assert!(seen.insert(position));
                found[(position / u64::from(pages_per_block)) as usize] += 1u32;
            }
            prop_assert_eq!(found, valid);
        }
    }

    #[test]
    fn seeds_differ_and_repeat() {
        assert_eq!(positions(LOGS[0], 1), positions(LOGS[0], 1));
        assert_ne!(positions(LOGS[0], 1), positions(LOGS[0], 2));
    }

    /// Logical neighbours lie apart: in one block, and near there, as often as by chance.
    #[test]
    fn logical_neighbours_lie_apart() {
        const REACH: u32 = 256;
        for log in LOGS {
            let positions = positions(log, 1);
            let pages = positions.len() as f64;
            let block = |position: u32| position / log.1;
            // Blocks differ in what they hold: those that hold more meet themselves more often.
            let squares: f64 = valid(log)
                .map(|n| libm::pow(f64::from(n) / pages, 2.0))
                .sum();
            let reached = f64::from(2 * REACH - 1) / f64::from(log.1);
            for distance in [1, 2, 7, 64, 1024] {
                let pairs = || positions.iter().zip(&positions[distance..]);
                let together = pairs().filter(|&(&a, &b)| block(a) == block(b)).count();
                let near = pairs().filter(|&(&a, &b)| a.abs_diff(b) < REACH).count();
                // A pass takes as many pages of each block, whatever was drawn before: of two, each meets
                // one and not two of its own block.
                let spread = 1.0
                    - f64::from(log.0)
                        / PASS_PAGES.max(PASS_PAGES_PER_BLOCK * u64::from(log.0)) as f64;
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
            for (page, position) in positions(log, 1).into_iter().enumerate() {
                page_at[position as usize] = Some(page);
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

    /// The positions of successive pages do not follow from each other.
    #[test]
    fn successive_positions_are_uncorrelated() {
        for log in LOGS {
            let positions = positions(log, 1);
            let pages = positions.len() as f64;
            let mean = positions
                .iter()
                .map(|&position| f64::from(position))
                .sum::<f64>()
                / pages;
            let of = |a: u32, b: u32| (f64::from(a) - mean) * (f64::from(b) - mean);
            let variance: f64 = positions
                .iter()
                .map(|&position| of(position, position))
                .sum();
            for distance in 1..50 {
                let pairs = positions.iter().zip(&positions[distance..]);
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
            let positions = positions(log, 1);
            let mut all = [0u32; DIES];
            let mut distinct = 0;
            for window in positions.chunks_exact(DIES) {
                let dies: Vec<usize> = window.iter().map(|&at| at as usize % DIES).collect();
                distinct += dies.iter().collect::<HashSet<_>>().len();
                dies.iter().for_each(|&die| all[die] += 1);
            }
            // Of 64 draws 64 (1 - (1 - 1/64)^64) are distinct.
            let missed = libm::pow(1.0 - 1.0 / DIES as f64, DIES as f64);
            let expected = DIES as f64 * (1.0 - missed);
            let found = distinct as f64 / (positions.len() / DIES) as f64;
            assert!(
                (found - expected).abs() < 0.2,
                "{log:?}: {found} for {expected}"
            );
            let mean = positions.len() as f64 / DIES as f64;
            // But for the end of a block, whose last position is hardly ever taken.
            let off = all[..DIES - 2]
                .iter()
                .map(|&n| (f64::from(n) / mean - 1.0).abs());
            assert!(off.fold(0.0, f64::max) < 0.1, "{log:?}: {all:?}");
        }
    }
}
