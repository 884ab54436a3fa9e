//! Page allocation: which parallel unit takes the n-th page.
//!
//! The units of a region are numbered naturally: channel, way, die, plane, the plane varying
//! fastest. A scheme counts n in a mixed radix whose digits are the same four dimensions in the
//! order of the allocation, the first varying fastest.
//!
//! ```text
//!   2 channels x 2 ways (x 1 die x 1 plane)    n          0  1  2  3
//!   CWDP: the channel varies fastest           unit_at    0  2  1  3
//!   WCDP: the way varies fastest               unit_at    0  1  2  3
//! ```

use crate::profile::PageAllocation;

/// One permutation of the units of a region, and its inverse, as tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scheme {
    unit_at: Box<[u32]>,
    position_of: Box<[u32]>,
}

impl Scheme {
    /// The scheme over `dims`: channels, ways of a channel, dies of a way, planes of a die.
    pub(crate) fn new(allocation: PageAllocation, dims: [u32; 4]) -> Scheme {
        let [_, ways, dies, planes] = dims;
        // What one step along each dimension adds to a unit's number.
        let strides = [ways * dies * planes, dies * planes, planes, 1];
        let units: u32 = dims.iter().product();
        let unit = |position: u32| {
            let (mut rest, mut unit) = (position, 0);
            for dimension in allocation.order() {
                let dimension = dimension as usize;
                unit += rest % dims[dimension] * strides[dimension];
                rest /= dims[dimension];
            }
            unit
        };
        let unit_at: Box<[u32]> = (0..units).map(unit).collect();
        let mut position_of = vec![0; unit_at.len()].into_boxed_slice();
        for (position, &unit) in (0..).zip(&unit_at) {
            position_of[unit as usize] = position;
        }
        Scheme {
            unit_at,
            position_of,
        }
    }

    /// Units of the region.
    pub(crate) fn units(&self) -> u32 {
        self.unit_at.len() as u32
    }

    /// The unit that comes at this position of a round over all units; position below [`Scheme::units`].
    #[inline]
    pub(crate) fn unit_at(&self, position: u32) -> u32 {
        self.unit_at[position as usize]
    }

    /// The position of a unit: the inverse of [`Scheme::unit_at`].
    #[inline]
    pub(crate) fn position_of(&self, unit: u32) -> u32 {
        self.position_of[unit as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn all_units(dims: [u32; 4]) -> impl Iterator<Item = Vec<u32>> {
        PageAllocation::ALL.into_iter().map(move |allocation| {
            let scheme = Scheme::new(allocation, dims);
            (0..scheme.units()).map(|n| scheme.unit_at(n)).collect()
        })
    }

    proptest! {
        #[test]
        fn every_scheme_is_a_bijection(dims in prop::array::uniform4(1..9u32)) {
            for allocation in PageAllocation::ALL {
                let scheme = Scheme::new(allocation, dims);
                prop_assert_eq!(scheme.units(), dims.iter().product::<u32>());
                let mut seen = vec![false; scheme.units() as usize];
                for n in 0..scheme.units() {
                    let unit = scheme.unit_at(n);
                    prop_assert!(!std::mem::replace(&mut seen[unit as usize], true));
                    prop_assert_eq!(scheme.position_of(unit), n);
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
                let scheme = Scheme::new(allocation, dims);
                for n in 0..scheme.units() {
                    let unit = scheme.unit_at(n);
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
        let scheme = Scheme::new(PageAllocation::default(), [channels, ways, 1, 1]);
        for page in 0..4 * channels * ways {
            let unit = scheme.unit_at(page % scheme.units());
            assert_eq!(unit, page % channels * ways + page / channels % ways);
        }
    }
}
