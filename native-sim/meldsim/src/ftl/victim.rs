//! Which block group is collected.

use super::blocks::{Blocks, State};
use crate::profile::GcVictim;

/// The group to collect next. One whose pages are all current is never chosen: collecting it gains
/// nothing.
pub(crate) fn choose(policy: GcVictim, blocks: &Blocks, pages_per_group: u32) -> Option<u32> {
    let candidates = blocks.iter().filter(|(_, group)| {
        group.state == State::Closed && group.unprogrammed == 0 && group.valid < pages_per_group
    });
    match policy {
        GcVictim::Greedy => candidates
            .min_by_key(|(_, group)| group.valid)
            .map(|(index, _)| index),
    }
}
