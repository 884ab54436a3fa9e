//! Cost-benefit (Rosenblum and Ousterhout, SOSP 1991; for flash Kawaguchi and others, USENIX 1995): the most age x (1 - u) / 2u.

use std::cmp::Reverse;

use super::{Candidate, Log, Shape, Victims, keep_least};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct CostBenefit;

pub(super) fn make(_: &mut Given<'_>, _: &Shape) -> Result<Box<dyn Victims>, OptionError> {
    Ok(Box::new(CostBenefit))
}

impl Victims for CostBenefit {
    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, log: &Log) {
        keep_least(superblocks, most, |superblock| {
            let benefit = benefit_for_cost(superblock, log);
            (Reverse(benefit), superblock.closed_at, superblock.number)
        });
    }
}

/// With 16 fractional bits; more than any other when nothing is valid.
fn benefit_for_cost(superblock: &Candidate, log: &Log) -> u128 {
    if superblock.valid == 0 {
        return u128::MAX;
    }
    let pages = log.pages_per_superblock;
    let age = u128::from(log.now.saturating_sub(superblock.closed_at));
    let freed = u128::from(pages - superblock.valid.min(pages));
    ((age * freed) << 16) / (2 * u128::from(superblock.valid))
}
