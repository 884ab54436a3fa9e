//! Windowed greedy (Hu and others, SYSTOR 2009): the fewest valid pages among the superblocks closed first.

use super::{Candidate, Log, Shape, Victims, fewest_valid, keep_least};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct WindowedGreedy {
    /// Superblocks that compete.
    window: usize,
}

pub(super) fn make(_: &mut Given<'_>, log: &Shape) -> Result<Box<dyn Victims>, OptionError> {
    let window = log.window as usize;
    Ok(Box::new(WindowedGreedy { window }))
}

impl Victims for WindowedGreedy {
    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, _: &Log) {
        let oldest = |superblock: &Candidate| (superblock.closed_at, superblock.number);
        keep_least(superblocks, self.window, oldest);
        keep_least(superblocks, most, fewest_valid);
    }

    // An empty one may lie outside of the window.
    fn takes_empty_first(&self) -> bool {
        false
    }
}
