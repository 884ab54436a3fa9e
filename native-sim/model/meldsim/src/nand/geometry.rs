//! How much flash there is, and where on it a wordline is.
//!
//! A *page* of the layers above is what the mapping has an entry for, the mapping unit: a flash page, or
//! a half or a quarter of one, a subpage. Pages of a wordline are numbered flash page by flash page, and sets
//! of them are bits of a [`PageSet`].
//!
//! ```text
//!   flash page of TLC      LSB          CSB          MSB
//!   page, 4 a flash page   0  1  2  3   4  5  6  7   8  9 10 11
//! ```

use crate::profile::Profile;
pub(crate) use crate::profile::limits::MAX_FLASH_PAGES_PER_WORDLINE;
use crate::profile::limits::MAX_UNITS_PER_PAGE;

/// Pages of a wordline at most.
pub(crate) const MAX_PAGES_PER_WORDLINE: usize =
    MAX_FLASH_PAGES_PER_WORDLINE * MAX_UNITS_PER_PAGE as usize;

/// Some pages of a wordline, as a set.
pub(crate) type PageSet = u16;

const _: () = assert!(MAX_PAGES_PER_WORDLINE <= PageSet::BITS as usize);

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
    pub(crate) flash_pages_per_wordline: u32,
    pub(crate) pages_per_wordline: u32,
    /// Log2 of the pages of a flash page.
    pub(crate) subpage_shift: u32,
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
            flash_pages_per_wordline: profile.timing.read.len() as u32,
            pages_per_wordline: profile.units_per_wordline(),
            subpage_shift: (geometry.page_size.0 / profile.mapping_unit().0).ilog2(),
            page_bytes: profile.mapping_unit().0,
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
