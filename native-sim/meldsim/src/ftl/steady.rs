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

use super::mapping::PPN_LIMIT;

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
    /// The oldest first, and one that no page reaches.
    runs: Vec<Run>,
    /// The run of every 2^`shift`-th page in the order of placing.
    hints: Vec<u16>,
    shift: u32,
    permutation: Permutation,
}

/// Blocks of about one age, as many pages valid in each: a few hundred runs approximate the decay
/// as well as one for each block would, and stay in the processor's nearest cache.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Pages placed in older runs.
    before: u32,
    /// The oldest block.
    first: u32,
    /// Valid pages of each block.
    valid: u32,
    /// Blocks to a page, [`RECIPROCAL_BITS`] fractional bits.
    reciprocal: u64,
    /// Positions from one valid page to the next, 32 fractional bits.
    stride: u64,
}

/// Ages told apart. Of each, some blocks have one page more than the others.
const AGES: u32 = 256;

/// Enough for the quotient to be exact: a run has fewer than 2^31 pages, and a page more or less in
/// a block of at most 2^31 pages makes a difference of more than their product to 2^62.
const RECIPROCAL_BITS: u32 = 62;

impl Run {
    fn new(before: u32, first: u32, valid: u32, pages_per_block: u32) -> Run {
        let divisor = u64::from(valid.max(1));
        Run {
            before,
            first,
            valid,
            reciprocal: (1 << RECIPROCAL_BITS) / divisor + 1,
            stride: (u64::from(pages_per_block) << 32) / divisor,
        }
    }

    /// The place of the page that comes so far in the order of placing.
    #[inline]
    fn place(&self, order: u32) -> Placed {
        let pages = order - self.before;
        let blocks = ((u128::from(pages) * u128::from(self.reciprocal)) >> RECIPROCAL_BITS) as u32;
        // Anywhere between its own stratum and the next: evenly spaced pages would lie on some
        // channels only.
        let noise = u64::from(mix(order));
        let index = u64::from(pages - blocks * self.valid);
        let (low, high) = (
            (index * self.stride) >> 32,
            ((index + 1) * self.stride) >> 32,
        );
        Placed {
            block: self.first + blocks,
            position: (low + ((noise * (high - low)) >> 32)) as u32,
        }
    }
}

/// The place of a page: a block by age, the oldest first, and a position in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Placed {
    pub(crate) block: u32,
    pub(crate) position: u32,
}

impl Placement {
    /// Spreads `pages` over `blocks` of `pages_per_block`; there must be room. `seed` tells apart
    /// logs that would otherwise be alike.
    pub(crate) fn new(pages: u64, blocks: u32, pages_per_block: u32, seed: u64) -> Placement {
        let room = u64::from(blocks) * u64::from(pages_per_block);
        debug_assert!(pages < PPN_LIMIT);
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
            _ if block == blocks => pages as u32,
            _ => (older(f64::from(block) / f64::from(blocks)) * pages as f64).round() as u32,
        };
        let ages = blocks.min(AGES);
        let begin = |age: u32| (u64::from(blocks) * u64::from(age) / u64::from(ages.max(1))) as u32;
        let mut runs = Vec::with_capacity(2 * ages as usize + 1);
        for age in 0..ages {
            let (first, end) = (begin(age), begin(age + 1));
            let (from, valid) = (before(first), before(end) - before(first));
            let (each, more) = (valid / (end - first), valid % (end - first));
            // The older ones have less.
            let less = end - first - more;
            runs.push(Run::new(from, first, each, pages_per_block));
            if more > 0 {
                let from = from + less * each;
                runs.push(Run::new(from, first + less, each + 1, pages_per_block));
            }
        }
        let shift = (pages / u64::from(4 * AGES)).max(1).ilog2();
        runs.push(Run::new(u32::MAX, blocks, 0, pages_per_block));
        let mut run = 0;
        let hints = (0..=pages >> shift)
            .map(|hint| {
                let begins = |run: &Run| u64::from(run.before) <= hint << shift;
                while runs.get(run + 1).is_some_and(begins) {
                    run += 1;
                }
                run as u16
            })
            .collect();
        Placement {
            runs,
            hints,
            shift,
            permutation: Permutation::new(pages as u32, seed),
        }
    }

    /// Where the pages from `first` on lie. No two are in one place.
    pub(crate) fn place(&self, first: u64, places: &mut [Placed]) {
        const AT_ONCE: usize = 64;
        let mut orders = [0; AT_ONCE];
        for (first, places) in (first..).step_by(AT_ONCE).zip(places.chunks_mut(AT_ONCE)) {
            let orders = &mut orders[..places.len()];
            self.permutation.at(first, orders);
            for (place, &order) in places.iter_mut().zip(&*orders) {
                let mut run = usize::from(self.hints[(order >> self.shift) as usize]);
                // Which of two runs it is cannot be predicted, so that takes no branch.
                run += usize::from(self.runs[run + 1].before <= order);
                while self.runs[run + 1].before <= order {
                    run += 1;
                }
                *place = self.runs[run].place(order);
            }
        }
    }

    /// Valid pages of each block, the oldest first.
    pub(crate) fn valid(&self) -> impl Iterator<Item = u32> {
        self.runs.windows(2).flat_map(|pair| {
            std::iter::repeat_n(pair[0].valid, (pair[1].first - pair[0].first) as usize)
        })
    }
}

/// A pseudo-random permutation of the numbers below `len`, computed for each number by itself.
///
/// A Feistel network over a rectangle of hardly more numbers than that: `rows` times `columns`, both
/// near the square root. A number beyond `len` is permuted again, which is too rare to cost anything;
/// over a power of two it would be every other number at worst.
#[derive(Clone, Copy, Debug)]
struct Permutation {
    len: u32,
    rows: u32,
    columns: u32,
    keys: [u32; 6],
}

impl Permutation {
    fn new(len: u32, seed: u64) -> Permutation {
        let rows = len.isqrt().max(1);
        // The fractional digits of pi, as good as any.
        let digits = [
            0x243F_6A88,
            0x85A3_08D3,
            0x1319_8A2E,
            0x0370_7344,
            0xA409_3822,
            0x299F_31D0,
        ];
        Permutation {
            len,
            rows,
            columns: len.div_ceil(rows).max(1),
            keys: digits.map(|digits| digits ^ mix(seed as u32) ^ mix((seed >> 32) as u32)),
        }
    }

    /// The numbers at the indices from `first` on.
    fn at(&self, first: u64, numbers: &mut [u32]) {
        let first = first as u32;
        let (mut row, mut column) = (first / self.columns, first % self.columns);
        self.permute(numbers, |_| {
            let at = (row, column);
            column += 1;
            if column == self.columns {
                (row, column) = (row + 1, 0);
            }
            at
        });
        for number in numbers {
            while *number >= self.len {
                let again = |number| (number / self.columns, number % self.columns);
                self.permute(std::slice::from_mut(number), again);
            }
        }
    }

    /// Permutes numbers of the rectangle, whose rows and columns `at` tells, round by round: one
    /// number's rounds wait for each other, those of different numbers do not.
    #[inline]
    fn permute(&self, numbers: &mut [u32], mut at: impl FnMut(u32) -> (u32, u32)) {
        const AT_ONCE: usize = 64;
        let (mut row, mut column) = ([0; AT_ONCE], [0; AT_ONCE]);
        for numbers in numbers.chunks_mut(AT_ONCE) {
            let (row, column) = (&mut row[..numbers.len()], &mut column[..numbers.len()]);
            for ((row, column), number) in row.iter_mut().zip(&mut *column).zip(&*numbers) {
                (*row, *column) = at(*number);
            }
            // Each round adds to one coordinate what the other comes to, so it can be undone.
            for key in self.keys.chunks_exact(2) {
                for (row, column) in row.iter_mut().zip(&*column) {
                    *row = add(*row, mix(column ^ key[0]), self.rows);
                }
                for (row, column) in row.iter().zip(&mut *column) {
                    *column = add(*column, mix(row ^ key[1]), self.columns);
                }
            }
            for ((row, column), number) in row.iter().zip(&*column).zip(numbers) {
                *number = row * self.columns + column;
            }
        }
    }
}

/// Spreads a number over 32 bits (Fibonacci hashing: the factor is 2^32 divided by the golden ratio).
#[inline]
fn mix(x: u32) -> u32 {
    x.wrapping_mul(0x9E37_79B9)
}

/// Adds, modulo `len`, what `mixed` comes to on a scale from 0 to `len`.
#[inline]
fn add(x: u32, mixed: u32, len: u32) -> u32 {
    let sum = x + ((u64::from(mixed) * u64::from(len)) >> 32) as u32;
    sum.min(sum.wrapping_sub(len))
}

#[cfg(test)]
mod tests {
    use std::collections::{HashSet, VecDeque};

    use proptest::prelude::*;

    use super::*;

    fn place_all(placement: &Placement, pages: u64) -> Vec<Placed> {
        let mut places = vec![Placed::default(); pages as usize];
        placement.place(0, &mut places);
        places
    }

    proptest! {
        #[test]
        fn permutations_are_bijections(len in 1..3000u32, seed: u64) {
            let mut numbers = vec![0; len as usize];
            Permutation::new(len, seed).at(0, &mut numbers);
            let seen: HashSet<u32> = numbers.iter().copied().collect();
            prop_assert_eq!(seen.len() as u32, len);
            prop_assert!(numbers.iter().all(|&number| number < len));
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
            for placed in place_all(&placement, pages) {
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
        let places = place_all(&placement, pages);
        let near = places
            .windows(2)
            .filter(|pair| {
                let (one, two) = (pair[0], pair[1]);
                one.block == two.block && one.position.abs_diff(two.position) < 8
            })
            .count() as f64;
        // By chance: 1 in 64 in the same block (a little more, for blocks differ), 15 in 512 near.
        let chance = pages as f64 / 64.0 * 15.0 / 512.0;
        assert!(near < 1.5 * chance, "{near} for {chance}");
        // Each remainder of the position by the number of channels is as likely as the others.
        let mut by_channel = [0u64; 8];
        for placed in &places {
            by_channel[placed.position as usize % 8] += 1;
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
