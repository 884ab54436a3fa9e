//! Physical page numbers: dense, and consecutive for pages that are filled one after the other.
//!
//! ```text
//!   number = (group * pages of a group + position) * lanes + lane
//!
//!   position in the group, for 2 units U, 2 wordlines W of 3 pages each, lane by lane:
//!            normal          melded          normal, shadow order
//!            U0    U1        U0    U1        U0    U1
//!   W0      0 2 4 1 3 5     0 1 2 3 4 5     0 4 8  1 5 9        (LSB CSB MSB)
//!   W1      6 8 a 7 9 b     6 7 8 9 a b     2 6 a  3 7 b
//! ```
//!
//! With one lane for each unit the pages of a sequential write go to the lanes in turn, and are
//! consecutive all the same. Where a position lies is arithmetic, so nothing is stored for a page.

use super::order::ShadowSequence;
use super::region::Region;
use super::stream::Layout;
use crate::nand::{Geometry, Unit, WordlineAddr};
use crate::profile::{Allocation, Profile, ProgramOrder};

/// The number of a physical page in its NVM set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ppn(pub(crate) u32);

/// What a number says: the lane, its block group, and the position in the order of filling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) lane: u32,
    pub(crate) group: u32,
    pub(crate) position: u32,
}

/// A page of a block group: the unit of the lane, the wordline of the block, the page of the
/// wordline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) unit: u32,
    pub(crate) wordline: u32,
    pub(crate) page: u32,
}

/// The numbers of an NVM set.
#[derive(Clone, Debug)]
pub(crate) struct Numbering {
    /// Independent logs of the set.
    pub(crate) lanes: u32,
    /// Units of a lane.
    pub(crate) units: u32,
    pub(crate) pages_per_wordline: u32,
    pub(crate) wordlines_per_block: u32,
    pub(crate) pages_per_group: u32,
    /// Pages of one wordline on every unit of a lane.
    pub(crate) pages_per_row: u32,
    /// Block groups of a lane.
    pub(crate) groups: u32,
    shadow: Option<ShadowSequence>,
    region: Region,
}

impl Numbering {
    pub(crate) fn new(profile: &Profile, geometry: &Geometry, region: Region) -> Numbering {
        let (lanes, units) = match profile.ftl.allocation {
            Allocation::Dynamic => (1, region.units()),
            Allocation::Static => (region.units(), 1),
        };
        let pages_per_wordline = geometry.pages_per_wordline;
        let wordlines_per_block = geometry.wordlines_per_block;
        let wordlines_per_group = units * wordlines_per_block;
        Numbering {
            lanes,
            units,
            pages_per_wordline,
            wordlines_per_block,
            pages_per_group: wordlines_per_group * pages_per_wordline,
            pages_per_row: units * pages_per_wordline,
            groups: geometry.blocks_per_plane,
            shadow: match profile.ftl.program_order {
                ProgramOrder::OneShot => None,
                ProgramOrder::Shadow => {
                    Some(ShadowSequence::new(wordlines_per_block, pages_per_wordline))
                }
            },
            region,
        }
    }

    /// Of a row in one-shot order: positions from the first page of a unit's wordline to that of the
    /// next unit's, and from each page of a wordline to the next.
    pub(crate) fn strides(&self, layout: Layout) -> (u32, u32) {
        match layout {
            Layout::Melded => (self.pages_per_wordline, 1),
            Layout::Normal => (1, self.units),
        }
    }

    pub(crate) fn is_shadow(&self) -> bool {
        self.shadow.is_some()
    }

    /// The lane that takes a page, when the logical page decides.
    #[inline]
    pub(crate) fn lane_of(&self, page: u64, layout: Layout) -> u32 {
        if self.lanes == 1 {
            return 0;
        }
        let index = match layout {
            Layout::Normal => page,
            Layout::Melded => page / u64::from(self.pages_per_wordline),
        };
        (index % u64::from(self.lanes)) as u32
    }

    #[inline]
    pub(crate) fn number(&self, lane: u32, group: u32, position: u32) -> Ppn {
        Ppn((group * self.pages_per_group + position) * self.lanes + lane)
    }

    #[inline]
    pub(crate) fn slice(&self, ppn: Ppn) -> Slice {
        let (number, lane) = if self.lanes == 1 {
            (ppn.0, 0)
        } else {
            (ppn.0 / self.lanes, ppn.0 % self.lanes)
        };
        Slice {
            lane,
            group: number / self.pages_per_group,
            position: number % self.pages_per_group,
        }
    }

    #[inline]
    pub(crate) fn spot(&self, layout: Layout, position: u32) -> Spot {
        match (layout, &self.shadow) {
            (Layout::Melded, _) => {
                let (wordline, page) = (
                    position / self.pages_per_wordline,
                    position % self.pages_per_wordline,
                );
                Spot {
                    unit: wordline % self.units,
                    wordline: wordline / self.units,
                    page,
                }
            }
            (Layout::Normal, None) => {
                let (row, rest) = (position / self.pages_per_row, position % self.pages_per_row);
                Spot {
                    unit: rest % self.units,
                    wordline: row,
                    page: rest / self.units,
                }
            }
            (Layout::Normal, Some(sequence)) => {
                let (wordline, page) = sequence.page_at(position / self.units);
                Spot {
                    unit: position % self.units,
                    wordline,
                    page,
                }
            }
        }
    }

    #[inline]
    pub(crate) fn position(&self, layout: Layout, spot: Spot) -> u32 {
        let Spot {
            unit,
            wordline,
            page,
        } = spot;
        match (layout, &self.shadow) {
            (Layout::Melded, _) => (wordline * self.units + unit) * self.pages_per_wordline + page,
            (Layout::Normal, None) => wordline * self.pages_per_row + page * self.units + unit,
            (Layout::Normal, Some(sequence)) => {
                sequence.position_of(wordline, page) * self.units + unit
            }
        }
    }

    /// Whether a position of a group is filled, when `next` is what its stream fills next.
    pub(crate) fn is_filled(&self, layout: Layout, position: u32, next: u32) -> bool {
        match layout {
            Layout::Normal if !self.is_shadow() => {
                // A wordline at a time, whose pages are a pass over the row apart.
                let spot = self.spot(layout, position);
                (spot.wordline * self.units + spot.unit) * self.pages_per_wordline < next
            }
            Layout::Normal | Layout::Melded => position < next,
        }
    }

    /// The page after `spot` in the order of filling, in one-shot order.
    #[inline]
    pub(crate) fn next_striped(&self, spot: &mut Spot) {
        spot.unit += 1;
        if spot.unit == self.units {
            spot.unit = 0;
            spot.page += 1;
            if spot.page == self.pages_per_wordline {
                spot.page = 0;
                spot.wordline += 1;
            }
        }
    }

    /// Where a wordline of a block group lies on the device.
    #[inline]
    pub(crate) fn address(&self, lane: u32, group: u32, unit: u32, wordline: u32) -> WordlineAddr {
        WordlineAddr {
            unit: self.unit(lane, unit),
            row: group * self.wordlines_per_block + wordline,
        }
    }

    /// The device's number of a unit of a lane. Of lane and unit one is always 0.
    #[inline]
    pub(crate) fn unit(&self, lane: u32, unit: u32) -> Unit {
        self.region.unit(lane + unit)
    }

    /// The lane, group and spot of the first page of a wordline.
    pub(crate) fn find(&self, at: WordlineAddr) -> (u32, u32, Spot) {
        let local = self.region.local(at.unit);
        let (lane, unit) = if self.lanes == 1 {
            (0, local)
        } else {
            (local, 0)
        };
        let spot = Spot {
            unit,
            wordline: at.row % self.wordlines_per_block,
            page: 0,
        };
        (lane, at.row / self.wordlines_per_block, spot)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbering() -> impl Strategy<Value = Numbering> {
        (
            1..=3u32,
            1..=4u32,
            1..=3u32,
            1..=4usize,
            1..=6u32,
            any::<bool>(),
            any::<bool>(),
        )
            .prop_map(
                |(channels, dies, planes, pages, wordlines, fixed, shadow)| {
                    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
                    profile.geometry.channels = channels;
                    profile.geometry.dies_per_channel = dies;
                    profile.geometry.planes_per_die = planes;
                    profile.geometry.blocks_per_plane = 5;
                    profile.geometry.wordlines_per_block = wordlines;
                    profile.timing.read = vec![profile.timing.erase; pages];
                    if fixed {
                        profile.ftl.allocation = Allocation::Static;
                    }
                    if shadow {
                        profile.ftl.program_order = ProgramOrder::Shadow;
                    }
                    let geometry = Geometry::new(&profile);
                    let region = Region::all(&profile, &geometry).remove(0);
                    Numbering::new(&profile, &geometry, region)
                },
            )
    }

    proptest! {
        /// Numbers are dense, and each leads to a page of its own and back.
        #[test]
        fn numbers_and_pages_are_a_bijection(numbering in numbering(), melded in any::<bool>()) {
            let layout = if melded { Layout::Melded } else { Layout::Normal };
            let pages = numbering.lanes * numbering.pages_per_group * numbering.groups;
            let mut seen = std::collections::HashSet::new();
            for number in 0..pages {
                let Slice { lane, group, position } = numbering.slice(Ppn(number));
                prop_assert_eq!(numbering.number(lane, group, position), Ppn(number));
                let spot = numbering.spot(layout, position);
                prop_assert!(spot.page < numbering.pages_per_wordline);
                prop_assert_eq!(numbering.position(layout, spot), position);
                let at = numbering.address(lane, group, spot.unit, spot.wordline);
                prop_assert!(seen.insert((at, spot.page)));
                let first = Spot { page: 0, ..spot };
                prop_assert_eq!(numbering.find(at), (lane, group, first));
                let mut next = spot;
                numbering.next_striped(&mut next);
                if layout == Layout::Normal && !numbering.is_shadow()
                    && position + 1 < numbering.pages_per_group
                {
                    prop_assert_eq!(numbering.spot(layout, position + 1), next);
                }
            }
        }
    }
}
