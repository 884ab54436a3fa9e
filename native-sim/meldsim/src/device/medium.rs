//! What is behind a device's front: the one line between the two.

use super::front::Front;
use super::nand::NandMedium;
use super::request::Work;
use super::xpoint::XpointMedium;
use crate::engine::Event;
use crate::ftl::SavedFtl;
use crate::profile::{Kind, Profile};

/// The medium that holds the data.
///
/// [`Medium::begin`] takes a command that the controller has fetched; what the medium has done for
/// it, it reports to [`Front::deliver`] and [`Front::finish_part`], the last of which ends it.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one in a device, and it stays there"
)]
pub(super) enum Medium {
    Nand(NandMedium),
    Xpoint(XpointMedium),
}

impl Medium {
    pub(super) fn new(profile: &Profile) -> Medium {
        match profile.kind {
            Kind::Nand => Medium::Nand(NandMedium::new(profile)),
            Kind::Xpoint => Medium::Xpoint(XpointMedium::new(profile)),
        }
    }

    /// NVM sets it is divided into.
    pub(super) fn sets(&self) -> usize {
        match self {
            Medium::Nand(nand) => nand.sets.len(),
            Medium::Xpoint(_) => 1,
        }
    }

    /// What it needs timers for.
    pub(super) fn alarms(&self) -> Vec<Event> {
        match self {
            Medium::Nand(nand) => nand.alarms(),
            Medium::Xpoint(_) => Vec::new(),
        }
    }

    /// Bytes of the unit that is read and written as a whole.
    pub(super) fn page_bytes(&self) -> u64 {
        match self {
            Medium::Nand(nand) => nand.page_bytes(),
            Medium::Xpoint(xpoint) => xpoint.page_bytes(),
        }
    }

    /// Bytes that are best written at once.
    pub(super) fn optimal_write_bytes(&self) -> u64 {
        match self {
            Medium::Nand(nand) => nand.optimal_write_bytes(),
            Medium::Xpoint(xpoint) => xpoint.page_bytes(),
        }
    }

    /// Bytes that lie on all parallel units, the same unit of each.
    pub(super) fn stripe_bytes(&self) -> u64 {
        match self {
            Medium::Nand(nand) => nand.stripe_bytes(),
            Medium::Xpoint(xpoint) => xpoint.stripe_bytes(),
        }
    }

    /// Bytes of the largest namespace.
    pub(super) fn max_namespace_bytes(&self) -> u64 {
        match self {
            Medium::Nand(nand) => nand.max_namespace_bytes(),
            Medium::Xpoint(xpoint) => xpoint.max_namespace_bytes(),
        }
    }

    /// The number of a new namespace's space in its set.
    pub(super) fn add_space(&mut self, set: u32, size_bytes: u64) -> u32 {
        match self {
            Medium::Nand(nand) => nand.add_space(set),
            Medium::Xpoint(xpoint) => xpoint.add_space(size_bytes),
        }
    }

    /// A command that the controller has fetched begins.
    #[inline]
    pub(super) fn begin(&mut self, front: &mut Front, request: u32, work: Work) {
        match self {
            Medium::Nand(nand) => nand.begin(front, request, work),
            Medium::Xpoint(xpoint) => xpoint.begin(front, request, work),
        }
    }

    /// Pages that garbage collection has moved.
    pub(super) fn pages_moved(&self) -> u64 {
        match self {
            Medium::Nand(nand) => nand.pages_moved(),
            Medium::Xpoint(_) => 0,
        }
    }

    /// Something happens in the medium.
    #[inline]
    pub(super) fn process(&mut self, front: &mut Front, event: Event) {
        match self {
            Medium::Nand(nand) => nand.process(front, event),
            Medium::Xpoint(xpoint) => xpoint.process(front, event),
        }
    }

    /// What survives a power cut, of each NVM set; of memory without a map, nothing need be told.
    pub(super) fn save(&self) -> Vec<SavedFtl> {
        match self {
            Medium::Nand(nand) => nand.save(),
            Medium::Xpoint(_) => Vec::new(),
        }
    }
}
