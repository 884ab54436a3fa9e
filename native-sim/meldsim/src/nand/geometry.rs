//! How much flash there is, and where on it a wordline is.

use crate::profile::Profile;
pub(crate) use crate::profile::limits::MAX_PAGES_PER_WORDLINE;

/// A parallel unit: one plane. `die * planes + plane`, where `die = channel * dies_per_channel +
/// way * dies_per_package + die of the package`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Unit(pub(crate) u32);

/// A physical wordline: the unit, and `block * wordlines_per_block + wordline of the block`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct WordlineAddr {
    pub(crate) unit: Unit,
    pub(crate) row: u32,
}

/// The geometry, ready for use.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub(crate) channels: u32,
    pub(crate) dies_per_channel: u32,
    /// Dies of a package, which is a way of its channel.
    pub(crate) dies_per_package: u32,
    /// Planes of a die.
    pub(crate) planes: u32,
    pub(crate) dies: u32,
    pub(crate) blocks_per_plane: u32,
    pub(crate) wordlines_per_block: u32,
    pub(crate) pages_per_wordline: u32,
    pub(crate) page_bytes: u64,
}

impl Geometry {
    pub(crate) fn new(profile: &Profile) -> Geometry {
        let geometry = &profile.geometry;
        Geometry {
            channels: geometry.channels,
            dies_per_channel: geometry.dies_per_channel,
            dies_per_package: geometry.dies_per_package,
            planes: geometry.planes_per_die,
            dies: geometry.channels * geometry.dies_per_channel,
            blocks_per_plane: geometry.blocks_per_plane,
            wordlines_per_block: geometry.wordlines_per_block,
            pages_per_wordline: profile.timing.read.len() as u32,
            page_bytes: geometry.page_size.0,
        }
    }

    /// Planes of all dies.
    pub(crate) fn units(&self) -> u32 {
        self.dies * self.planes
    }

    /// The die of a unit.
    pub(crate) fn die(&self, unit: Unit) -> u32 {
        unit.0 / self.planes
    }
}
