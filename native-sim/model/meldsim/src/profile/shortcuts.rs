//! The shortcuts of the simulator: what a profile need not have simulated step by step, because nothing would come of it.
//!
//! | shortcut | holds where | what is left out |
//! | --- | --- | --- |
//! | direct | the host interface limits nothing: no limit of commands, no cost of fetching one, no link, no DRAM rate | queues, fetching, data crossing the link |
//! | bare | the firmware takes no time; and neither zones nor a timeline | what these do for a command |
//! | ideal | direct and bare | all but the medium |
//! | single | one-plane dies with packages and queues of their own, ideal cells; and no timeline | planes, packages, transactions, cells and timelines in the code of channels |
//! | plain | single, and dies do one thing at a time, on whole pages | what a die could do besides |
//!
//! Plain is single, and the channels' do not depend on the others. The first holds for as long as the device; zones end, and a
//! timeline suspends, the others. The code of each kind is compiled by itself (`device/pipeline.rs`, `nand/context.rs`). With or
//! without a shortcut the results are the same, to the picosecond.

use super::{DataRate, DieInterleave, Issue, Profile};
use crate::engine::Duration;

/// The shortcuts that a profile allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shortcuts {
    pub(crate) direct: bool,
    pub(crate) channels: ChannelKind,
}

/// What the code of channels leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChannelKind {
    /// Nothing.
    Any,
    Single,
    Plain,
}

impl Shortcuts {
    /// Those of a profile, whose cells are ideal or not.
    pub(crate) fn of(profile: &Profile, ideal_cells: bool) -> Shortcuts {
        let (host, commands) = (&profile.host, &profile.commands);
        let direct = host.commands_in_flight == 0
            && host.command_cost == Duration::ZERO
            && host.link_rate == DataRate(0)
            && profile.controller.dram_rate == DataRate(0);
        let one_thing_at_a_time = !commands.cache_read
            && !commands.cache_program
            && !commands.suspend_program
            && !commands.suspend_erase
            && !profile.gc.reads_yield;
        let queues_of_their_own = commands.die_interleave == DieInterleave::Independent
            && commands.issue == Issue::OutOfOrder;
        let is_single = queues_of_their_own
            && ideal_cells
            && profile.geometry.planes_per_die == 1
            && profile.geometry.dies_per_package == 1;
        let whole_pages = profile.mapping_unit() == profile.geometry.page_size;
        Shortcuts {
            direct,
            channels: match (is_single, one_thing_at_a_time && whole_pages) {
                (true, true) => ChannelKind::Plain,
                (true, false) => ChannelKind::Single,
                (false, _) => ChannelKind::Any,
            },
        }
    }
}
