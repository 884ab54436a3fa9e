//! Which superblock is collected.

use super::blocks::{Blocks, State};
use crate::profile::GcVictim;

/// The superblock to collect next. One whose pages are all current is never chosen: collecting it
/// gains nothing.
pub(crate) fn choose(policy: GcVictim, blocks: &Blocks, pages_per_superblock: u32) -> Option<u32> {
    let candidates = blocks.iter().filter(|(_, block)| {
        block.state == State::Closed
            && block.unprogrammed == 0
            && block.valid < pages_per_superblock
    });
    match policy {
        GcVictim::Greedy => candidates
            .min_by_key(|(_, block)| block.valid)
            .map(|(index, _)| index),
    }
}
