//! Regions: which planes of the device an NVM set has.
//!
//! ```text
//!              4 channels x 4 dies, 4 sets (a to d)
//!   vertical      horizontal     mixed, 2 channel groups
//!   a b c d       a a a a        a a b b
//!   a b c d       b b b b        a a b b
//!   a b c d       c c c c        c c d d
//!   a b c d       d d d d        c c d d
//! ```
//!
//! And in which order it fills them: the page allocation (PALLOC). The units of a region are numbered
//! naturally: channel, way, die, plane, the plane varying fastest. A scheme counts pages in a mixed
//! radix whose digits are the same four dimensions in the order of the allocation, the first varying
//! fastest.
//!
//! ```text
//!   2 channels x 2 ways (x 1 die x 1 plane)    page   0  1  2  3
//!   CWDP: the channel varies fastest           unit   0  2  1  3
//!   WCDP: the way varies fastest               unit   0  1  2  3
//! ```

use std::ops::Range;

use crate::nand::{Geometry, Unit};
use crate::profile::PageAllocation;
use crate::profile::{Profile, SetLayout, Sets};

/// The units of a set, in the order of the page allocation.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    units: Box<[Unit]>,
    /// The inverse, for units from `first` on; units between them may be others'.
    local: Box<[u32]>,
    first: u32,
}

/// The channels and the dies of each that a set has; together a rectangle.
type Share = (Range<u32>, Range<u32>);

impl Region {
    /// The regions of all sets of the device, by set.
    pub(crate) fn all(profile: &Profile, geometry: &Geometry) -> Vec<Region> {
        let shares = shares(&profile.sets, geometry.channels, geometry.dies_per_channel);
        let region = |share| Region::new(profile, geometry, share);
        shares.map(region).collect()
    }

    fn new(profile: &Profile, geometry: &Geometry, (channels, dies): Share) -> Region {
        let (first_channel, first_die) = (channels.start, dies.start);
        let (channels, dies) = (channels.len() as u32, dies.len() as u32);
        // Where sets cut packages in two, the dies of a set count as one package.
        let per_package = match geometry.dies_per_package {
            package if dies % package == 0 => package,
            _ => dies,
        };
        let planes = geometry.planes;
        let dims = [channels, dies / per_package, per_package, planes];
        let order = unit_order(profile.ftl.page_allocation, dims);
        let units: Box<[Unit]> = order
            .map(|natural| {
                let (die, plane) = (natural / planes, natural % planes);
                let channel = first_channel + die / dies;
                let die = channel * geometry.dies_per_channel + first_die + die % dies;
                Unit(die * planes + plane)
            })
            .collect();
        let first = units.iter().map(|unit| unit.0).min().unwrap_or(0);
        let last = units.iter().map(|unit| unit.0).max().unwrap_or(0);
        let mut local = vec![0; (last - first + 1) as usize];
        for (n, unit) in (0..).zip(&units) {
            local[(unit.0 - first) as usize] = n;
        }
        Region {
            units,
            local: local.into_boxed_slice(),
            first,
        }
    }

    pub(crate) fn units(&self) -> u32 {
        self.units.len() as u32
    }

    pub(crate) fn unit(&self, local: u32) -> Unit {
        self.units[local as usize]
    }

    /// The number of a unit in this region, which has it.
    pub(crate) fn local(&self, unit: Unit) -> u32 {
        self.local[(unit.0 - self.first) as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Unit> {
        self.units.iter().copied()
    }
}

/// The shares of all sets; the profile has been found to divide.
fn shares(sets: &Sets, channels: u32, dies: u32) -> impl Iterator<Item = Share> {
    let channel_groups = match sets.layout {
        SetLayout::Baseline | SetLayout::Horizontal => 1,
        SetLayout::Vertical => sets.count,
        SetLayout::Mixed => sets.channel_groups,
    };
    let die_groups = sets.count / channel_groups;
    let (channels, dies) = (channels / channel_groups, dies / die_groups);
    (0..sets.count).map(move |set| {
        let (column, row) = (set % channel_groups, set / channel_groups);
        let channels = column * channels..(column + 1) * channels;
        (channels, row * dies..(row + 1) * dies)
    })
}

/// The natural numbers of the units, in the order in which pages go to them. `dims` is channels, ways
/// of a channel, dies of a way, planes of a die.
fn unit_order(allocation: PageAllocation, dims: [u32; 4]) -> impl Iterator<Item = u32> {
    let [_, ways, dies, planes] = dims;
    // What one step along each dimension adds to a unit's number.
    let strides = [ways * dies * planes, dies * planes, planes, 1];
    (0..dims.iter().product()).map(move |page| {
        let (mut rest, mut unit) = (page, 0);
        for dimension in allocation.order() {
            let dimension = dimension as usize;
            unit += rest % dims[dimension] * strides[dimension];
            rest /= dims[dimension];
        }
        unit
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn regions(change: impl FnOnce(&mut Profile)) -> Vec<Vec<u32>> {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        profile.geometry.channels = 4;
        profile.geometry.dies_per_channel = 4;
        profile.sets.count = 4;
        change(&mut profile);
        let geometry = Geometry::new(&profile);
        let regions = Region::all(&profile, &geometry);
        for region in &regions {
            for n in 0..region.units() {
                assert_eq!(region.local(region.unit(n)), n);
            }
        }
        let units = |region: &Region| region.iter().map(|unit| unit.0).collect();
        regions.iter().map(units).collect()
    }

    #[test]
    fn every_layout_shares_the_device_out() {
        let vertical = regions(|p| p.sets.layout = SetLayout::Vertical);
        assert_eq!(vertical[1], [4, 5, 6, 7]);
        let horizontal = regions(|p| p.sets.layout = SetLayout::Horizontal);
        assert_eq!(horizontal[1], [1, 5, 9, 13]);
        let mixed = regions(|p| {
            p.sets.layout = SetLayout::Mixed;
            p.sets.channel_groups = 2;
        });
        // Channels 2 and 3, dies 0 and 1; the channel varies fastest.
        assert_eq!(mixed[1], [8, 12, 9, 13]);
        let baseline = regions(|p| p.sets.count = 1);
        assert_eq!(baseline.len(), 1);
        for layout in [vertical, horizontal, mixed, baseline] {
            let mut units: Vec<u32> = layout.concat();
            units.sort_unstable();
            assert!(units.into_iter().eq(0..16));
        }
    }

    #[test]
    fn the_allocation_orders_the_units_of_each_set() {
        let planes = |name: &str| {
            regions(|p| {
                p.geometry.planes_per_die = 2;
                p.ftl.page_allocation = name.parse().unwrap();
                p.sets.layout = SetLayout::Vertical;
            })
        };
        assert_eq!(planes("PCWD")[1][..4], [8, 9, 10, 11]);
        assert_eq!(planes("WCDP")[1][..4], [8, 10, 12, 14]);
    }

    fn all_units(dims: [u32; 4]) -> impl Iterator<Item = Vec<u32>> {
        PageAllocation::ALL
            .into_iter()
            .map(move |allocation| unit_order(allocation, dims).collect())
    }

    proptest! {
        #[test]
        fn every_scheme_is_a_bijection(dims in prop::array::uniform4(1..9u32)) {
            for allocation in PageAllocation::ALL {
                let units = dims.iter().product::<u32>() as usize;
                prop_assert_eq!(unit_order(allocation, dims).count(), units);
                let mut seen = vec![false; units];
                for unit in unit_order(allocation, dims) {
                    prop_assert!(!std::mem::replace(&mut seen[unit as usize], true));
                }
            }
        }

        #[test]
        fn no_two_schemes_agree(dims in prop::array::uniform4(2..7u32)) {
            let distinct: HashSet<Vec<u32>> = all_units(dims).collect();
            prop_assert_eq!(distinct.len(), 24);
        }

        /// Each dimension, stepped through by its own rule: the digit of a dimension changes after
        /// as many pages as all faster ones have combinations.
        #[test]
        fn digits_turn_in_the_order_named(dims in prop::array::uniform4(1..6u32)) {
            for allocation in PageAllocation::ALL {
                for (n, unit) in (0..).zip(unit_order(allocation, dims)) {
                    let digits = [
                        unit / (dims[1] * dims[2] * dims[3]),
                        unit / (dims[2] * dims[3]) % dims[1],
                        unit / dims[3] % dims[2],
                        unit % dims[3],
                    ];
                    let mut period = 1;
                    for dimension in allocation.order() {
                        let dimension = dimension as usize;
                        prop_assert_eq!(digits[dimension], n / period % dims[dimension]);
                        period *= dims[dimension];
                    }
                }
            }
        }
    }

    /// The normal layout of the melded-pages paper: page p is on channel p mod C, die (p div C)
    /// mod W.
    #[test]
    fn cwdp_is_the_published_normal_layout() {
        let (channels, ways) = (8, 4);
        let order = unit_order(PageAllocation::default(), [channels, ways, 1, 1]);
        let units: Vec<u32> = order.collect();
        for page in 0..4 * channels * ways {
            let unit = units[page as usize % units.len()];
            assert_eq!(unit, page % channels * ways + page / channels % ways);
        }
    }
}
