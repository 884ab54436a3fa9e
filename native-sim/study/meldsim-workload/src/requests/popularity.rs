//! Which blocks random requests prefer: fio's draws for `random_distribution`, number by number.
//!
//! Logarithms and powers come from a library in Rust, so that every machine draws the same.

use super::tausworthe::Tausworthe;
use crate::distribution::{Distribution, Preference, Zones};

/// 2^64 by the golden ratio (Knuth, vol. 3, 6.4): scatters numbers.
const GOLDEN: u64 = 0x61C8_8646_80B5_83EB;
/// Normal numbers are the mean of so many uniform ones.
const NORMAL_DRAWS: u64 = 12;
/// So many terms of a zeta sum are added; fio's leaves out what is beyond.
const ZETA_TERMS: u64 = 10_000_000;
/// So many of these one by one, the rest by a formula.
const ZETA_ADDED: u64 = 100_000;

/// Draws a block in one of the distributions where some are touched more often than others.
#[derive(Clone, Debug)]
pub(super) struct Popularity {
    law: Law,
    random: Tausworthe,
    blocks: u64,
    shift: u64,
}

/// By which law.
#[derive(Clone, Debug)]
enum Law {
    Zipf {
        zeta: f64,
        /// Where the third rank begins, beside `zeta`.
        two: f64,
        eta: f64,
        alpha: f64,
    },
    Pareto {
        power: f64,
    },
    Normal {
        deviation: u64,
    },
}

impl Popularity {
    /// `None` of a distribution by zones, or where all are alike.
    pub(super) fn new(distribution: &Distribution, blocks: u64, seed: u32) -> Option<Popularity> {
        let (preference, law): (_, fn(f64, u64) -> Law) = match distribution {
            Distribution::Zipf(preference) => (preference, zipf),
            Distribution::Pareto(preference) => (preference, |value, _| Law::Pareto {
                power: libm::log(value) / libm::log(1.0 - value),
            }),
            Distribution::Normal(preference) => (preference, normal),
            _ => return None,
        };
        let Preference { value, center } = *preference;
        let is_normal = matches!(distribution, Distribution::Normal(_));
        let millionth = |value: u64| value as f64 / 1e6;
        let law = law(millionth(value), blocks);
        let mut random = Tausworthe::short(seed);
        let first = if is_normal { 0 } else { random.next() };
        let shift = center.map_or(first, |center| {
            let center = millionth(center) - if is_normal { 0.5 } else { 0.0 };
            // Numbers wrap, as in fio, which has fewer bits for a normal one.
            let shift = (blocks as f64 * center) as i64 as u64;
            if is_normal {
                shift & u64::from(u32::MAX)
            } else {
                shift
            }
        });
        Some(Popularity {
            law,
            random,
            blocks,
            shift,
        })
    }

    /// Other draws of the same popular blocks.
    pub(super) fn draw_otherwise(&mut self, seed: u32) {
        self.random = Tausworthe::short(seed);
    }

    pub(super) fn next(&mut self) -> u64 {
        let blocks = self.blocks;
        let mut unit = || self.random.next() as f64 / f64::from(u32::MAX);
        let rank = match self.law {
            Law::Zipf {
                zeta,
                two,
                eta,
                alpha,
            } => {
                let unit = unit();
                if unit * zeta < 1.0 {
                    0
                } else if unit * zeta < two {
                    1
                } else {
                    (blocks as f64 * libm::pow(eta * unit - eta + 1.0, alpha)) as u64
                }
            }
            Law::Pareto { power } => ((blocks - 1) as f64 * libm::pow(unit(), power)) as u64,
            Law::Normal { deviation } => {
                let draws = (0..NORMAL_DRAWS).map(|_| self.random.next() % (blocks + 1));
                let mean = draws.sum::<u64>().div_ceil(NORMAL_DRAWS);
                if deviation == 0 {
                    mean
                } else {
                    let off = self.random.below(deviation) as i32 - (deviation / 2) as i32;
                    let mut off = i64::from(off);
                    while mean.wrapping_add_signed(off) >= blocks && off != 0 {
                        off /= 2;
                    }
                    mean.wrapping_add_signed(off)
                }
            }
        };
        rank.wrapping_mul(GOLDEN).wrapping_add(self.shift) % blocks
    }
}

/// J. Gray et al.: "Quickly Generating Billion-Record Synthetic Databases", SIGMOD'94.
fn zipf(theta: f64, blocks: u64) -> Law {
    let zeta = zeta(blocks.min(ZETA_TERMS), theta);
    let two = 1.0 + libm::pow(0.5, theta);
    Law::Zipf {
        zeta,
        two,
        eta: (1.0 - libm::pow(2.0 / blocks as f64, 1.0 - theta)) / (1.0 - two / zeta),
        alpha: 1.0 / (1.0 - theta),
    }
}

/// The sum of `1 / k^theta` up to so many terms; many by Euler and Maclaurin's formula, to the last digits of a double.
fn zeta(terms: u64, theta: f64) -> f64 {
    let added = terms.min(ZETA_ADDED);
    let mut sum = 0.0;
    for k in 1..=added {
        sum += libm::pow(1.0 / k as f64, theta);
    }
    if terms > added {
        let (first, last) = (added as f64, terms as f64);
        let at = |x: f64| libm::pow(x, -theta);
        let integral =
            (libm::pow(last, 1.0 - theta) - libm::pow(first, 1.0 - theta)) / (1.0 - theta);
        sum += integral + (at(last) - at(first)) / 2.0;
        sum -= theta * (at(last) / last - at(first) / first) / 12.0;
    }
    sum
}

fn normal(deviation: f64, blocks: u64) -> Law {
    let wanted = libm::ceil(blocks as f64 * deviation / 100.0) as u64;
    Law::Normal {
        deviation: wanted.min(blocks / 2),
    }
}

/// Zones of a region, by the hundredth of the requests.
#[derive(Clone, Debug)]
pub(super) struct ZoneIndex {
    /// Where the zone of each hundredth begins and ends: in percent of the places, or in bytes.
    ends: Vec<(u64, u64)>,
    in_bytes: bool,
}

impl ZoneIndex {
    /// `None` of a distribution without zones.
    pub(super) fn new(zones: Option<&Zones>, in_bytes: bool) -> Option<ZoneIndex> {
        let mut ends = Vec::with_capacity(100);
        let mut start = 0;
        for zone in zones? {
            let end = start + zone.size;
            ends.extend((0..zone.access_percent).map(|_| (start, end)));
            start = end;
        }
        Some(ZoneIndex { ends, in_bytes })
    }

    /// The first place of the zone of a hundredth, from 1, and how many it has, of so many places at that distance.
    pub(super) fn zone(&self, hundredth: u32, places: u64, distance: u64) -> Option<(u64, u64)> {
        let (start, end) = *self.ends.get(hundredth as usize - 1)?;
        if self.in_bytes {
            let (start, end) = (start / distance, end / distance);
            return (end <= places).then_some((start, end - start));
        }
        let part = |percent: u64| (u128::from(percent) * u128::from(places) / 100) as u64;
        Some((part(start), part(end - start)))
    }
}
