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

use std::ops::Range;

use super::allocation::Scheme;
use crate::nand::{Geometry, Unit};
use crate::profile::{Profile, SetLayout, Sets};

/// The units of a set, in the order of the page allocation.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    units: Box<[Unit]>,
    /// The inverse, for units from `first` on; units between them may be others'.
    local: Box<[u32]>,
    first: u32,
}

/// A rectangle of channels and dies.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Share {
    channels: Range<u32>,
    dies: Range<u32>,
}

impl Region {
    /// The regions of all sets of the device, by set.
    pub(crate) fn all(profile: &Profile, geometry: &Geometry) -> Vec<Region> {
        let shares = shares(&profile.sets, geometry.channels, geometry.dies_per_channel);
        shares
            .iter()
            .map(|share| Region::new(profile, geometry, share))
            .collect()
    }

    fn new(profile: &Profile, geometry: &Geometry, share: &Share) -> Region {
        let dies = share.dies.len() as u32;
        // Where sets cut packages in two, the dies of a set count as one package.
        let per_package = match geometry.dies_per_package {
            package if dies % package == 0 => package,
            _ => dies,
        };
        let planes = geometry.planes;
        let channels = share.channels.len() as u32;
        let dims = [channels, dies / per_package, per_package, planes];
        let scheme = Scheme::new(profile.ftl.page_allocation, dims);
        let units: Box<[Unit]> = (0..scheme.units())
            .map(|n| {
                let natural = scheme.unit_at(n);
                let (die, plane) = (natural / planes, natural % planes);
                let channel = share.channels.start + die / dies;
                let die = channel * geometry.dies_per_channel + share.dies.start + die % dies;
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

    #[inline]
    pub(crate) fn unit(&self, local: u32) -> Unit {
        self.units[local as usize]
    }

    /// The number of a unit in this region, which has it.
    #[inline]
    pub(crate) fn local(&self, unit: Unit) -> u32 {
        self.local[(unit.0 - self.first) as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Unit> {
        self.units.iter().copied()
    }
}

/// The shares of all sets; the profile has been found to divide.
fn shares(sets: &Sets, channels: u32, dies: u32) -> Vec<Share> {
    let channel_groups = match sets.layout {
        SetLayout::Baseline | SetLayout::Horizontal => 1,
        SetLayout::Vertical => sets.count,
        SetLayout::Mixed => sets.channel_groups,
    };
    let die_groups = sets.count / channel_groups;
    let (channels, dies) = (channels / channel_groups, dies / die_groups);
    (0..sets.count)
        .map(|set| {
            let (column, row) = (set % channel_groups, set / channel_groups);
            Share {
                channels: column * channels..(column + 1) * channels,
                dies: row * dies..(row + 1) * dies,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
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
}
