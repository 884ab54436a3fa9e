//! Steady state under uniform random overwrites, in closed form.
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

/// The valid share of a block when it is collected, for a utilisation from 0 to 1.
pub(crate) fn valid_at_collection(utilisation: f64) -> f64 {
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

/// Pages programmed for each page the host writes.
#[cfg(test)]
pub(crate) fn write_amplification(utilisation: f64) -> f64 {
    1.0 / (1.0 - valid_at_collection(utilisation))
}

/// The mean valid share of blocks collected at `u`.
fn mean_valid(u: f64) -> f64 {
    if u > 0.0 && u < 1.0 {
        (1.0 - u) / -u.ln()
    } else {
        u
    }
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
            (u.powf(1.0 - x) - u) / (1.0 - u)
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
            let expected = u.powf(rank) * f64::from(pages_per_block);
            assert!(
                (f64::from(valid) - expected).abs() < 2.0,
                "{block}: {valid} for {expected}"
            );
        }
    }

    #[test]
    fn the_closed_form_at_known_points() {
        // (1 - u) / -ln u at u = 1/e is 1 - 1/e; at 1/2 it is 1 / (2 ln 2).
        let inverse_e = (-1.0f64).exp();
        assert!((valid_at_collection(1.0 - inverse_e) - inverse_e).abs() < 1e-12);
        assert!((valid_at_collection(0.5 / 2f64.ln()) - 0.5).abs() < 1e-12);
        assert!((write_amplification(0.5 / 2f64.ln()) - 2.0).abs() < 1e-9);
        assert!(valid_at_collection(0.0) < 1e-12 && valid_at_collection(1.0) > 1.0 - 1e-12);
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
                let expected = valid_at_collection(fill).powf(rank);
                assert!(
                    (share - expected).abs() < 0.05,
                    "rank {rank}: {share} for {expected}"
                );
            }
        }
    }
}
