//! d-choices (Van Houdt, SIGMETRICS 2013; Li, Lee, Lui, SIGMETRICS 2013): the fewest valid pages among `d` drawn at random.

use super::{Candidate, Log, Shape, Victims, draw, fewest_valid, keep_least};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct DChoices {
    d: usize,
}

pub(super) fn make(given: &mut Given<'_>, _: &Shape) -> Result<Box<dyn Victims>, OptionError> {
    let d = given.number("d", 10, 1..=1 << 20)?;
    Ok(Box::new(DChoices { d }))
}

impl Victims for DChoices {
    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, log: &Log) {
        let drawn = |superblock: &Candidate| (draw(superblock, log), superblock.number);
        keep_least(superblocks, self.d, drawn);
        keep_least(superblocks, most, fewest_valid);
    }

    fn takes_empty_first(&self) -> bool {
        false
    }
}
