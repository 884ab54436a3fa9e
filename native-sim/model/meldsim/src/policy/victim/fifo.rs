//! First in, first out: the superblock closed first, as in a log without a choice.

use super::{Candidate, Log, Shape, Victims, keep_least};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct Fifo;

pub(super) fn make(_: &mut Given<'_>, _: &Shape) -> Result<Box<dyn Victims>, OptionError> {
    Ok(Box::new(Fifo))
}

impl Victims for Fifo {
    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, _: &Log) {
        keep_least(superblocks, most, |superblock| {
            (superblock.closed_at, superblock.number)
        });
    }

    fn takes_empty_first(&self) -> bool {
        false
    }
}
