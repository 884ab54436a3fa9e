//! Greedy: the superblock with the fewest valid pages.

use super::{Candidate, Log, Shape, Victims, fewest_valid, keep_least};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct Greedy;

pub(super) fn make(_: &mut Given<'_>, _: &Shape) -> Result<Box<dyn Victims>, OptionError> {
    Ok(Box::new(Greedy))
}

impl Victims for Greedy {
    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, _: &Log) {
        keep_least(superblocks, most, fewest_valid);
    }
}
