//! Which block groups are collected first.

use std::cmp::Reverse;

use crate::profile::{Gc, GcVictim};

/// A closed group that could be collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) group: u32,
    /// Pages whose data is current.
    pub(crate) valid: u32,
    /// When it was closed: pages programmed in its lane until then.
    pub(crate) closed_at: u64,
}

/// How candidates are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VictimPolicy {
    /// Fewest valid pages first.
    Greedy,
    /// Most benefit for its cost first: age x (1 - u) / 2u, where u is the valid share; reading
    /// and writing u frees 1 - u (Rosenblum and Ousterhout; Kawaguchi et al.).
    CostBenefit,
    /// Greedy among the groups that were closed first, as many as the window has (Hu et al.).
    WindowedGreedy {
        /// Groups.
        window: u32,
    },
}

impl VictimPolicy {
    pub(crate) fn new(gc: &Gc) -> VictimPolicy {
        match gc.victim {
            GcVictim::Greedy => VictimPolicy::Greedy,
            GcVictim::CostBenefit => VictimPolicy::CostBenefit,
            GcVictim::WindowedGreedy => VictimPolicy::WindowedGreedy { window: gc.window },
        }
    }

    /// Leaves the `count` candidates to collect first, in that order. `now` is the lane's count of
    /// programmed pages. Ties go to the block closed first.
    pub(crate) fn select(
        self,
        candidates: &mut Vec<Candidate>,
        count: usize,
        pages_per_group: u32,
        now: u64,
    ) {
        match self {
            VictimPolicy::Greedy => keep_least(candidates, count, fewest_valid),
            VictimPolicy::CostBenefit => keep_least(candidates, count, |candidate| {
                let benefit = benefit_for_cost(candidate, pages_per_group, now);
                (Reverse(benefit), candidate.closed_at, candidate.group)
            }),
            VictimPolicy::WindowedGreedy { window } => {
                let oldest = |candidate: &Candidate| (candidate.closed_at, candidate.group);
                keep_least(candidates, window as usize, oldest);
                keep_least(candidates, count, fewest_valid);
            }
        }
    }
}

fn fewest_valid(candidate: &Candidate) -> (u32, u64, u32) {
    (candidate.valid, candidate.closed_at, candidate.group)
}

/// Age x (1 - u) / 2u with 16 fractional bits; more than any other when nothing is valid.
fn benefit_for_cost(candidate: &Candidate, pages_per_group: u32, now: u64) -> u128 {
    if candidate.valid == 0 {
        return u128::MAX;
    }
    let age = u128::from(now.saturating_sub(candidate.closed_at));
    let freed = u128::from(pages_per_group - candidate.valid.min(pages_per_group));
    ((age * freed) << 16) / (2 * u128::from(candidate.valid))
}

/// Leaves the `count` candidates with the least keys, in order.
fn keep_least<K: Ord>(
    candidates: &mut Vec<Candidate>,
    count: usize,
    key: impl Fn(&Candidate) -> K,
) {
    if count < candidates.len() {
        candidates.select_nth_unstable_by_key(count, &key);
        candidates.truncate(count);
    }
    candidates.sort_unstable_by_key(key);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Group n is the n-th closed; its valid pages are given.
    fn candidates(valid: &[u32]) -> Vec<Candidate> {
        (0..)
            .zip(valid)
            .map(|(group, &valid)| Candidate {
                group,
                valid,
                closed_at: u64::from(group) * 100,
            })
            .collect()
    }

    fn order(policy: VictimPolicy, valid: &[u32], count: usize) -> Vec<u32> {
        let mut candidates = candidates(valid);
        candidates.reverse(); // the order they come in must not matter
        policy.select(&mut candidates, count, 100, 1000);
        candidates.iter().map(|candidate| candidate.group).collect()
    }

    #[test]
    fn greedy_takes_the_fewest_valid_and_of_equals_the_oldest() {
        let valid = [50, 20, 70, 20, 10];
        assert_eq!(order(VictimPolicy::Greedy, &valid, 3), [4, 1, 3]);
        assert_eq!(order(VictimPolicy::Greedy, &valid, 99), [4, 1, 3, 0, 2]);
    }

    #[test]
    fn cost_benefit_weighs_age_against_what_is_freed() {
        // Ages 1000 and 200: 1000 x 40/120 is more than 200 x 50/100.
        let valid = [60, 100, 100, 100, 100, 100, 100, 100, 50];
        assert_eq!(order(VictimPolicy::CostBenefit, &valid, 2), [0, 8]);
        assert_eq!(order(VictimPolicy::Greedy, &valid, 2), [8, 0]);
        // Nothing valid comes first whatever its age.
        let valid = [1, 100, 100, 100, 100, 100, 100, 100, 100, 0];
        assert_eq!(order(VictimPolicy::CostBenefit, &valid, 2), [9, 0]);
    }

    #[test]
    fn the_window_hides_younger_groups() {
        let valid = [50, 60, 40, 10, 0];
        let window = |window| VictimPolicy::WindowedGreedy { window };
        assert_eq!(order(window(3), &valid, 2), [2, 0]);
        assert_eq!(order(window(1), &valid, 2), [0]);
        assert_eq!(
            order(window(9), &valid, 2),
            order(VictimPolicy::Greedy, &valid, 2)
        );
    }
}
