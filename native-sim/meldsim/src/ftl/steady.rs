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

/// Where each page lies when a log of blocks is in steady state: computed for each page by itself,
/// so that placing all of them is one pass over the logical pages without a table of them.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    blocks: Vec<Block>,
    /// The block of every 2^`shift`-th page in the order of placing.
    hints: Vec<u32>,
    shift: u32,
    permutation: Permutation,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    /// Pages placed in older blocks.
    before: u64,
    /// Positions from one valid page to the next, 32 fractional bits.
    stride: u64,
}

/// The place of a page: a block by age, the oldest first, and a position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Placed {
    pub(crate) block: u32,
    pub(crate) position: u32,
}

impl Placement {
    /// Spreads `pages` over `blocks` of `pages_per_block`; there must be room. `seed` tells apart
    /// logs that would otherwise be alike.
    pub(crate) fn new(pages: u64, blocks: u32, pages_per_block: u32, seed: u64) -> Placement {
        let room = u64::from(blocks) * u64::from(pages_per_block);
        debug_assert!(pages <= room, "{pages} pages in the room of {room}");
        let u = valid_at_collection(pages as f64 / room as f64);
        // Valid pages of blocks older than rank 1 - x, of all: the integral of u^r from there.
        let older = |x: f64| {
            if u > 0.0 && u < 1.0 {
                (u.powf(1.0 - x) - u) / (1.0 - u)
            } else {
                x
            }
        };
        let before = |block: u32| match block {
            _ if block == blocks => pages,
            _ => (older(f64::from(block) / f64::from(blocks)) * pages as f64).round() as u64,
        };
        let placed: Vec<Block> = (0..blocks)
            .map(|block| {
                let valid = before(block + 1) - before(block);
                debug_assert!(valid <= u64::from(pages_per_block));
                Block {
                    before: before(block),
                    stride: (u64::from(pages_per_block) << 32) / valid.max(1),
                }
            })
            .collect();
        // Some hints for each block: then the one looked for is hardly ever further than the next.
        let shift = (pages / (8 * u64::from(blocks)).max(1)).max(1).ilog2();
        let mut block = 0;
        let hints = (0..=pages >> shift)
            .map(|hint| {
                while block + 1 < placed.len() && placed[block + 1].before <= hint << shift {
                    block += 1;
                }
                block as u32
            })
            .collect();
        Placement {
            blocks: placed,
            hints,
            shift,
            permutation: Permutation::new(pages, seed),
        }
    }

    /// Where the `page`-th page lies. No two are in one place.
    #[inline]
    pub(crate) fn place(&self, page: u64) -> Placed {
        let (order, noise) = self.permutation.at(page);
        let mut block = self.hints[(order >> self.shift) as usize] as usize;
        while self
            .blocks
            .get(block + 1)
            .is_some_and(|next| next.before <= order)
        {
            block += 1;
        }
        let Block { before, stride } = self.blocks[block];
        // Anywhere between its own stratum and the next: evenly spaced pages would lie on some
        // channels only.
        let index = order - before;
        let (low, high) = ((index * stride) >> 32, ((index + 1) * stride) >> 32);
        let position = low + ((u64::from(noise) * (high - low)) >> 32);
        Placed {
            block: block as u32,
            position: position as u32,
        }
    }

    /// Valid pages of each block, the oldest first.
    pub(crate) fn valid(&self) -> impl Iterator<Item = u32> {
        let ends = self.blocks.iter().skip(1).map(|block| block.before);
        self.blocks
            .iter()
            .zip(ends.chain([self.permutation.len]))
            .map(|(block, end)| (end - block.before) as u32)
    }
}

/// A pseudo-random permutation of the numbers below `len`, computed for each number by itself.
///
/// A Feistel network over a rectangle of hardly more numbers than that: `rows` times `columns`, both
/// near the square root. A number beyond `len` is permuted again, which is too rare to cost anything;
/// over a power of two it would be every other number at worst.
#[derive(Clone, Copy, Debug)]
struct Permutation {
    len: u64,
    rows: u64,
    columns: u64,
    /// 2^64 / columns, rounded up: exact for numbers below 2^64 / columns.
    inverse: u128,
    keys: [u64; 5],
}

impl Permutation {
    fn new(len: u64, seed: u64) -> Permutation {
        let rows = len.isqrt().max(1);
        let columns = len.div_ceil(rows).max(1);
        Permutation {
            len,
            rows,
            columns,
            inverse: (1u128 << 64).div_ceil(u128::from(columns)),
            // The fractional digits of pi, as good as any.
            keys: [
                0x243F_6A88_85A3_08D3,
                0x1319_8A2E_0370_7344,
                0xA409_3822_299F_31D0,
                0x082E_FA98_EC4E_6C89,
                0x4528_21E6_38D0_1377,
            ]
            .map(|key| key ^ seed),
        }
    }

    /// The number at `index`, and noise of its own.
    #[inline]
    fn at(&self, index: u64) -> (u64, u32) {
        let Permutation { rows, columns, .. } = *self;
        let mut x = index;
        loop {
            let mut row = ((u128::from(x) * self.inverse) >> 64) as u64;
            let mut column = x - row * columns;
            // Each round adds to one coordinate what the other comes to, so it can be undone.
            let [a, b, c, d, e] = self.keys;
            row = add(row, mix(column ^ a), rows);
            column = add(column, mix(row ^ b), columns);
            row = add(row, mix(column ^ c), rows);
            column = add(column, mix(row ^ d), columns);
            row = add(row, mix(column ^ e), rows);
            x = row * columns + column;
            if x < self.len {
                return (x, mix(x) as u32);
            }
        }
    }
}

/// Spreads a number over 32 bits (Fibonacci hashing: the factor is 2^64 divided by the golden ratio).
#[inline]
fn mix(x: u64) -> u64 {
    x.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

/// Adds, modulo `len`, what `mixed` comes to on a scale from 0 to `len`.
#[inline]
fn add(x: u64, mixed: u64, len: u64) -> u64 {
    let sum = x + ((mixed * len) >> 32);
    sum - if sum >= len { len } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashSet, VecDeque};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn permutations_are_bijections(len in 1..3000u64, seed: u64) {
            let permutation = Permutation::new(len, seed);
            let seen: HashSet<u64> = (0..len).map(|index| permutation.at(index).0).collect();
            prop_assert_eq!(seen.len() as u64, len);
            prop_assert!(seen.iter().all(|&number| number < len));
        }

        #[test]
        fn no_two_pages_share_a_place(
            blocks in 1..40u32,
            pages_per_block in 1..200u32,
            share in 0.0..=1.0,
            seed: u64,
        ) {
            let room = blocks * pages_per_block;
            let pages = (f64::from(room) * share) as u64;
            let placement = Placement::new(pages, blocks, pages_per_block, seed);
            let mut seen = HashSet::new();
            let mut valid = vec![0; blocks as usize];
            for page in 0..pages {
                let placed = placement.place(page);
                prop_assert!(placed.block < blocks && placed.position < pages_per_block);
                prop_assert!(seen.insert(placed));
                valid[placed.block as usize] += 1u32;
            }
            prop_assert!(placement.valid().eq(valid.iter().copied()));
            prop_assert!(valid.windows(2).all(|pair| pair[0] <= pair[1] + 1), "{:?}", valid);
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

    /// Neighbours in the logical order lie apart, in the blocks as often as these hold pages.
    #[test]
    fn pages_lie_as_if_written_at_random() {
        let (blocks, pages_per_block) = (64u32, 512u32);
        let pages = u64::from(blocks * pages_per_block) * 7 / 10;
        let placement = Placement::new(pages, blocks, pages_per_block, 1);
        let near = (1..pages)
            .filter(|&page| {
                let (one, two) = (placement.place(page - 1), placement.place(page));
                one.block == two.block && one.position.abs_diff(two.position) < 8
            })
            .count() as f64;
        // By chance: 1 in 64 in the same block (a little more, for blocks differ), 15 in 512 near.
        let chance = pages as f64 / 64.0 * 15.0 / 512.0;
        assert!(near < 1.5 * chance, "{near} for {chance}");
        // Each remainder of the position by the number of channels is as likely as the others.
        let mut by_channel = [0u64; 8];
        for page in 0..pages {
            by_channel[placement.place(page).position as usize % 8] += 1;
        }
        let mean = pages as f64 / 8.0;
        assert!(
            by_channel
                .iter()
                .all(|&n| (n as f64 / mean - 1.0).abs() < 0.05),
            "{by_channel:?}"
        );
    }
}
