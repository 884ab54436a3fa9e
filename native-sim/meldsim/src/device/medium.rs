//! What is behind a device's front: the one line between the two.

use super::front::Front;
use super::nand::NandMedium;
use super::request::Work;
use crate::engine::Event;
use crate::ftl::SavedFtl;
use crate::profile::Profile;

/// The medium that holds the data.
///
/// [`Medium::begin`] takes a command that the controller has fetched; what the medium has done for
/// it, it reports to [`Front::deliver`] and [`Front::finish_part`], the last of which ends it.
#[derive(Debug)]
pub(super) enum Medium {
    Nand(NandMedium),
}

impl Medium {
    pub(super) fn new(profile: &Profile) -> Medium {
        Medium::Nand(NandMedium::new(profile))
    }

    /// NVM sets it is divided into.
    pub(super) fn sets(&self) -> usize {
        match self {
            Medium::Nand(nand) => nand.sets.len(),
        }
    }

    /// What it needs timers for.
    pub(super) fn alarms(&self) -> Vec<Event> {
        match self {
            Medium::Nand(nand) => nand.alarms(),
        }
    }

    /// Bytes of the unit that is read and written as a whole.
    pub(super) fn page_bytes(&self) -> u64 {
        match self {
            Medium::Nand(nand) => nand.page_bytes(),
        }
    }

    /// Bytes that are best written at once.
    pub(super) fn optimal_write_bytes(&self) -> u64 {
        match self {
            Medium::Nand(nand) => nand.optimal_write_bytes(),
        }
    }

    /// Bytes of the largest namespace.
    pub(super) fn max_namespace_bytes(&self) -> u64 {
        match self {
            Medium::Nand(nand) => nand.max_namespace_bytes(),
        }
    }

    /// The number of a new namespace's space in its set.
    pub(super) fn add_space(&mut self, set: u32) -> u32 {
        match self {
            Medium::Nand(nand) => nand.add_space(set),
        }
    }

    /// A command that the controller has fetched begins.
    #[inline]
    pub(super) fn begin(&mut self, front: &mut Front, request: u32, work: Work) {
        match self {
            Medium::Nand(nand) => nand.begin(front, request, work),
        }
    }

    /// Something happens in the medium.
    #[inline]
    pub(super) fn process(&mut self, front: &mut Front, event: Event) {
        match self {
            Medium::Nand(nand) => nand.process(front, event),
        }
    }

    /// What survives a power cut, of each NVM set.
    pub(super) fn save(&self) -> Vec<SavedFtl> {
        match self {
            Medium::Nand(nand) => nand.save(),
        }
    }
}
