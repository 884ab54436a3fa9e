//! Random: any superblock with a page out of date.

use super::{Candidate, Log, Shape, Victims, draw, keep_least};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct Random;

pub(super) fn make(_: &mut Given<'_>, _: &Shape) -> Result<Box<dyn Victims>, OptionError> {
    Ok(Box::new(Random))
}

impl Victims for Random {
    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, log: &Log) {
        keep_least(superblocks, most, |superblock| {
            (draw(superblock, log), superblock.number)
        });
    }

    fn takes_empty_first(&self) -> bool {
        false
    }
}
