//! Which superblock is collected next: `gc.victim`.
//!
//! ```text
//!   Log, Superblocks --rank--> those to collect, the first first
//!   closed, invalidated, erased: what a policy may want to remember
//! ```

use std::fmt::Debug;

use super::placement::Frontier;

/// The name of a victim policy.
pub type VictimPolicy = super::Name<dyn Victims>;

super::shelf! { dyn Victims, "gc.victim", Shape:
    "greedy" in greedy, "the one with fewest valid pages";
    "cost-benefit" in cost_benefit, "the one with the most age x (1 - u) / 2u, for a valid share of u";
    "windowed-greedy" in windowed_greedy, "the one with fewest valid pages among the `gc.window` closed first";
    "d-choices" in d_choices, "the one with fewest valid pages among `d` drawn at random";
    "fifo" in fifo, "the one closed first";
    "random" in random, "any";
}

/// The log that a policy is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// Superblocks of the log; they are numbered from 0.
    pub superblocks: u32,
    /// Pages of each.
    pub pages_per_superblock: u32,
    /// `gc.window`.
    pub window: u32,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            superblocks: 64,
            pages_per_superblock: 1024,
            window: 16,
        }
    }
}

/// A superblock that can be collected: closed, programmed, and with pages that are out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// Its number in its log.
    pub number: u32,
    /// Pages whose data is current.
    pub valid: u32,
    /// When it was closed, as [`Log::now`].
    pub closed_at: u64,
    /// How often it has been erased.
    pub erases: u32,
    /// The frontier that filled it. After a power cut frontier 0 of collection's is told from 0 of the host's no more.
    pub written_at: Frontier,
}

/// The log that the superblocks are of: a log of the FTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Log {
    /// Pages of each superblock.
    pub pages_per_superblock: u32,
    /// The log's time: pages that the host and collection have been given so far.
    pub now: u64,
}

/// A victim policy. Each log has its own.
///
/// The same must come out in every run: draw from [`draw`], not from a clock or a generator of the system.
pub trait Victims: Debug + Send {
    /// Leaves the `most` superblocks that are to be collected first, the first first. They come in any order.
    ///
    /// It is asked more often than a victim is taken, and not always of all superblocks: what it answers follows from
    /// what it is given, and from what it was told before.
    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, log: &Log);

    /// Whether a superblock without valid pages, which costs nothing, is always the first: it is then taken without a
    /// look at the others.
    fn takes_empty_first(&self) -> bool {
        true
    }

    /// A superblock has been closed: nothing more will be written to it before it is erased.
    fn closed(&mut self, _superblock: &Candidate) {}

    /// Whether it wants to be told of [what is invalidated](Victims::invalidated), which costs time with each page.
    fn follows_invalidations(&self) -> bool {
        false
    }

    /// Pages of a superblock have been overwritten, moved or deallocated; it has so many valid ones left. It may be open.
    fn invalidated(&mut self, _superblock: &Candidate, _pages: u32) {}

    /// A superblock has been erased.
    fn erased(&mut self, _number: u32) {}
}

/// Leaves the `most` superblocks with the least keys, in order.
pub fn keep_least<K: Ord>(
    superblocks: &mut Vec<Candidate>,
    most: usize,
    key: impl Fn(&Candidate) -> K,
) {
    if most < superblocks.len() {
        superblocks.select_nth_unstable_by_key(most, &key);
        superblocks.truncate(most);
    }
    superblocks.sort_unstable_by_key(key);
}

/// The key of greedy: the fewest valid pages, and of equals the one closed first.
pub fn fewest_valid(superblock: &Candidate) -> (u32, u64, u32) {
    (superblock.valid, superblock.closed_at, superblock.number)
}

/// A number that looks random, and is the same in every run, of a superblock at a time of its log.
pub fn draw(superblock: &Candidate, log: &Log) -> u64 {
    // The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
    let mut bits = log.now ^ (u64::from(superblock.number) << 40);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PolicyOptions;

    /// How a policy orders superblocks of 100 pages: the n-th closed has number n; its valid pages are given.
    fn order((name, number): (&str, u32), valid: &[u32], most: usize) -> Vec<u32> {
        let mut options = PolicyOptions::default();
        if name == "d-choices" {
            options.set(name, "d", number);
        }
        let shape = Shape {
            window: number,
            ..Shape::default()
        };
        let policy = VictimPolicy::named(name).make(&options, &shape).unwrap();
        let superblock = |(number, &valid)| Candidate {
            number,
            valid,
            closed_at: u64::from(number) * 100,
            erases: 0,
            written_at: Frontier::Host(0),
        };
        let mut superblocks: Vec<Candidate> = (0..).zip(valid).map(superblock).collect();
        superblocks.reverse(); // the order they come in must not matter
        let log = Log {
            pages_per_superblock: 100,
            now: 1000,
        };
        policy.rank(&mut superblocks, most, &log);
        superblocks
            .iter()
            .map(|superblock| superblock.number)
            .collect()
    }

    const GREEDY: (&str, u32) = ("greedy", 0);

    #[test]
    fn greedy_takes_the_fewest_valid_and_of_equals_the_oldest() {
        let valid = [50, 20, 70, 20, 10];
        assert_eq!(order(GREEDY, &valid, 3), [4, 1, 3]);
        assert_eq!(order(GREEDY, &valid, 99), [4, 1, 3, 0, 2]);
    }

    #[test]
    fn cost_benefit_weighs_age_against_what_is_freed() {
        // Ages 1000 and 200: 1000 x 40/120 is more than 200 x 50/100.
        let valid = [60, 100, 100, 100, 100, 100, 100, 100, 50];
        assert_eq!(order(("cost-benefit", 0), &valid, 2), [0, 8]);
        assert_eq!(order(GREEDY, &valid, 2), [8, 0]);
        // Nothing valid comes first whatever its age.
        let valid = [1, 100, 100, 100, 100, 100, 100, 100, 100, 0];
        assert_eq!(order(("cost-benefit", 0), &valid, 2), [9, 0]);
    }

    #[test]
    fn the_window_hides_younger_superblocks() {
        let valid = [50, 60, 40, 10, 0];
        let window = |window, most| order(("windowed-greedy", window), &valid, most);
        assert_eq!(window(3, 2), [2, 0]);
        assert_eq!(window(1, 2), [0]);
        assert_eq!(window(9, 2), order(GREEDY, &valid, 2));
    }

    #[test]
    fn of_all_choices_the_fewest_valid_and_of_one_choice_any() {
        let valid = [50, 20, 70, 20, 10];
        let choices = |d, most| order(("d-choices", d), &valid, most);
        assert_eq!(choices(5, 3), order(GREEDY, &valid, 3));
        assert_eq!(choices(2, 9).len(), 2);
        assert_eq!(choices(1, 1), order(("random", 0), &valid, 1));
    }

    #[test]
    fn first_in_first_out() {
        assert_eq!(order(("fifo", 0), &[50, 0, 70, 20, 10], 9), [0, 1, 2, 3, 4]);
    }
}
