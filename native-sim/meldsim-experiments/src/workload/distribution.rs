//! Which blocks random requests prefer: fio's `random_distribution`, its words and its draws.
//!
//! Logarithms and powers come from a library in Rust, so that every machine draws the same.

use super::quantity::parse_decimal;
use meldsim::engine::{Permutation, Random};

/// How often each block is touched by random requests. Fractions are in millionths, so that a job can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// Each block once, in random order, then each once again in another order: fio's default, with its random map.
    #[default]
    Once,
    /// Any block at any time: fio's `norandommap`.
    Uniform,
    /// The k-th most popular block is touched in proportion to `1 / k^theta`. Popular blocks are scattered.
    Zipf {
        /// The exponent, in millionths.
        theta: u64,
    },
    /// A share `power` of the blocks gets a share `1 - power` of the requests, and so again within it. Scattered.
    Pareto {
        /// The share, in millionths.
        power: u64,
    },
    /// Around the middle of the region.
    Normal {
        /// Standard deviation in percent of the region, in millionths.
        deviation: u64,
    },
    /// Zones from the region's start, each with its share of the requests.
    Zoned(Vec<Zone>),
}

/// A part of the region, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Share of the requests.
    pub access_percent: u32,
    /// Share of the region.
    pub size_percent: u32,
}

/// One, in the unit of a distribution's parameters.
const MILLION: u64 = 1_000_000;

/// The distribution in fio's syntax: `random`, `zipf:1.2`, `pareto:0.2`, `normal:10`, `zoned:60/10:40/90`.
pub(super) fn parse_distribution(text: &str) -> Result<Distribution, String> {
    let (name, parameter) = match text.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (text, None),
    };
    let number = |default: Option<u64>, within: std::ops::RangeInclusive<u64>, range: &str| {
        let value = match parameter {
            None | Some("") => default,
            Some(text) => parse_decimal(text, MILLION),
        };
        value.filter(|value| within.contains(value)).ok_or_else(|| {
            format!(
                "is \"{text}\", which is not {name} with a number; write {name}:N with N {range}"
            )
        })
    };
    // Defaults and ranges are fio's.
    match name {
        "random" if parameter.is_none() => Ok(Distribution::Once),
        "zipf" => number(
            Some(1_200_000),
            1..=20 * MILLION,
            "above 0 and up to 20, such as zipf:1.2",
        )
        .map(|theta| Distribution::Zipf { theta }),
        "pareto" => number(
            Some(200_000),
            1..=MILLION / 2,
            "above 0 and up to 0.5, such as pareto:0.2",
        )
        .map(|power| Distribution::Pareto { power }),
        "normal" => number(
            None,
            1..=100 * MILLION,
            "above 0 and up to 100, such as normal:10",
        )
        .map(|deviation| Distribution::Normal { deviation }),
        "zoned" => parse_zones(parameter.unwrap_or("")),
        _ => Err(format!(
            "is \"{text}\", which is unknown; use random, zipf:THETA, pareto:POWER, normal:DEVIATION or zoned:ACCESS/SIZE:..."
        )),
    }
}

fn parse_zones(text: &str) -> Result<Distribution, String> {
    let wrong = || {
        format!(
            "has zones \"{text}\" that are not percentages which add up to 100; write zoned:ACCESS/SIZE:..., such as zoned:60/10:40/90"
        )
    };
    let mut zones = Vec::new();
    for zone in text.split(':') {
        let (access, size) = zone.split_once('/').ok_or_else(wrong)?;
        zones.push((percentage(access), percentage(size)));
    }
    let zones = zones.into_iter().map(|(access, size)| access.zip(size));
    let zones: Vec<(Option<u32>, Option<u32>)> = zones.collect::<Option<_>>().ok_or_else(wrong)?;
    // As in fio, what is left out shares the rest.
    let accesses = shares(zones.iter().map(|zone| zone.0));
    let sizes = shares(zones.iter().map(|zone| zone.1));
    let zones = accesses.into_iter().zip(sizes);
    let zones: Vec<Zone> = zones
        .map(|(access_percent, size_percent)| Zone {
            access_percent,
            size_percent,
        })
        .collect();
    let sum = |part: fn(&Zone) -> u32| zones.iter().map(part).sum::<u32>();
    let whole = sum(|zone| zone.access_percent) == 100 && sum(|zone| zone.size_percent) == 100;
    if !whole || zones.iter().any(|zone| zone.size_percent == 0) {
        return Err(wrong());
    }
    Ok(Distribution::Zoned(zones))
}

/// A percentage, or nothing where it is left out; `None` if it is neither.
fn percentage(text: &str) -> Option<Option<u32>> {
    match text {
        "" => Some(None),
        text => text.parse::<u8>().ok().map(|percent| Some(percent.into())),
    }
}

/// Percentages, of which those that are left out share what the others leave of a hundred.
pub(super) fn shares(given: impl Iterator<Item = Option<u32>> + Clone) -> Vec<u32> {
    let left = 100u32.saturating_sub(given.clone().flatten().sum());
    let open = given.clone().filter(Option::is_none).count() as u32;
    let mut nth = 0;
    let share = |share: Option<u32>| {
        share.unwrap_or_else(|| {
            // What does not divide goes to the first.
            nth += 1;
            left / open + u32::from(nth <= left % open)
        })
    };
    given.map(share).collect()
}

impl std::fmt::Display for Distribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = |millionths: u64| millionths as f64 / MILLION as f64;
        match self {
            Distribution::Once => f.write_str("random"),
            Distribution::Uniform => f.write_str("random, norandommap"),
            Distribution::Zipf { theta } => write!(f, "zipf:{}", number(*theta)),
            Distribution::Pareto { power } => write!(f, "pareto:{}", number(*power)),
            Distribution::Normal { deviation } => write!(f, "normal:{}", number(*deviation)),
            Distribution::Zoned(zones) => {
                f.write_str("zoned")?;
                for zone in zones {
                    write!(f, ":{}/{}", zone.access_percent, zone.size_percent)?;
                }
                Ok(())
            }
        }
    }
}

/// Draws block numbers below a bound.
#[derive(Clone, Debug)]
pub(crate) enum Popularity {
    Once {
        order: Permutation,
        next: u64,
        seed: u64,
    },
    Uniform,
    Zipf(Zipf, Permutation),
    Pareto {
        exponent: f64,
        scatter: Permutation,
    },
    Normal {
        deviation: f64,
    },
    Zoned(Vec<Zone>),
}

impl Popularity {
    pub(crate) fn new(distribution: &Distribution, blocks: u64, seed: u64) -> Popularity {
        let scatter = || Permutation::new(blocks, seed);
        let fraction = |millionths: u64| millionths as f64 / 1e6;
        match distribution {
            Distribution::Once => Popularity::Once {
                order: scatter(),
                next: 0,
                seed,
            },
            Distribution::Uniform => Popularity::Uniform,
            Distribution::Zipf { theta } => {
                Popularity::Zipf(Zipf::new(blocks, fraction(*theta)), scatter())
            }
            Distribution::Pareto { power } => {
                let power = fraction(*power);
                Popularity::Pareto {
                    exponent: libm::log(power) / libm::log(1.0 - power),
                    scatter: scatter(),
                }
            }
            Distribution::Normal { deviation } => Popularity::Normal {
                deviation: fraction(*deviation) / 100.0 * blocks as f64,
            },
            Distribution::Zoned(zones) => Popularity::Zoned(zones.clone()),
        }
    }

    /// The next block of `blocks`.
    #[inline(always)]
    pub(crate) fn next(&mut self, blocks: u64, random: &mut Random) -> u64 {
        match self {
            Popularity::Once { order, next, seed } => {
                if *next == blocks {
                    *next = 0;
                    *seed = seed.wrapping_add(1);
                    *order = Permutation::new(blocks, *seed);
                }
                *next += 1;
                order.at(*next - 1)
            }
            Popularity::Uniform => random.below(blocks),
            _ => self.next_preferred(blocks, random),
        }
    }

    /// The next block where some are touched more often than others.
    fn next_preferred(&mut self, blocks: u64, random: &mut Random) -> u64 {
        match self {
            Popularity::Once { .. } | Popularity::Uniform => random.below(blocks),
            Popularity::Zipf(zipf, scatter) => scatter.at(zipf.next(random)),
            Popularity::Pareto { exponent, scatter } => {
                let share = libm::pow(random.unit(), *exponent);
                scatter.at(((share * blocks as f64) as u64).min(blocks - 1))
            }
            Popularity::Normal { deviation } => loop {
                let block = blocks as f64 / 2.0 + random.normal() * *deviation;
                if (0.0..blocks as f64).contains(&block) {
                    return (block as u64).min(blocks - 1);
                }
            },
            Popularity::Zoned(zones) => {
                let mut ticket = random.below(100) as u32;
                let mut start_percent = 0;
                for zone in zones.iter() {
                    if ticket < zone.access_percent {
                        let at =
                            |percent: u32| (u128::from(blocks) * u128::from(percent) / 100) as u64;
                        let first = at(start_percent).min(blocks - 1);
                        let end = at(start_percent + zone.size_percent).max(first + 1);
                        return first + random.below(end - first);
                    }
                    ticket -= zone.access_percent;
                    start_percent += zone.size_percent;
                }
                random.below(blocks)
            }
        }
    }
}

/// Ranks by Zipf's law in constant time and memory: rejection-inversion (Hörmann, Derflinger: ACM TOMACS 6(3), 1996).
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    ranks: f64,
    theta: f64,
    area_first: f64,
    area_last: f64,
    always_accepted: f64,
}

impl Zipf {
    fn new(ranks: u64, theta: f64) -> Zipf {
        let mut zipf = Zipf {
            ranks: ranks as f64,
            theta,
            area_first: 0.0,
            area_last: 0.0,
            always_accepted: 0.0,
        };
        zipf.area_first = zipf.area(1.5) - 1.0;
        zipf.area_last = zipf.area(zipf.ranks + 0.5);
        zipf.always_accepted = 2.0 - zipf.area_inverse(zipf.area(2.5) - zipf.density(2.0));
        zipf
    }

    /// A rank from 0.
    fn next(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.area_last + random.unit() * (self.area_first - self.area_last);
            let x = self.area_inverse(area);
            let rank = libm::round(x).clamp(1.0, self.ranks);
            if rank - x <= self.always_accepted
                || area >= self.area(rank + 0.5) - self.density(rank)
            {
                return rank as u64 - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// The density's integral from 1 to `x`, also at and near theta = 1.
    fn area(&self, x: f64) -> f64 {
        let log_x = libm::log(x);
        let t = (1.0 - self.theta) * log_x;
        let factor = if t.abs() > 1e-8 {
            libm::expm1(t) / t
        } else {
            1.0 + t / 2.0
        };
        factor * log_x
    }

    fn area_inverse(&self, area: f64) -> f64 {
        let t = (area * (1.0 - self.theta)).max(-1.0);
        let factor = if t.abs() > 1e-8 {
            libm::log1p(t) / t
        } else {
            1.0 - t / 2.0
        };
        libm::exp(factor * area)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: u64 = 1000;
    const DRAWS: usize = 200_000;

    #[test]
    fn reads_what_fio_reads() {
        for (text, expected) in [
            ("random", Distribution::Once),
            ("zipf", Distribution::Zipf { theta: 1_200_000 }),
            ("zipf:0.9", Distribution::Zipf { theta: 900_000 }),
            ("pareto:0.2", Distribution::Pareto { power: 200_000 }),
            (
                "normal:12.5",
                Distribution::Normal {
                    deviation: 12_500_000,
                },
            ),
        ] {
            assert_eq!(parse_distribution(text).as_ref(), Ok(&expected));
            let written = expected.to_string();
            assert_eq!(parse_distribution(&written), Ok(expected), "{written}");
        }
        let zones = parse_distribution("zoned:60/10:30/20:10/70").unwrap();
        assert_eq!(zones.to_string(), "zoned:60/10:30/20:10/70");
    }

    #[test]
    fn refuses_the_rest_with_a_remedy() {
        for text in [
            "",
            "zipf:0",
            "zipf:x",
            "zipf:21",
            "pareto:0.6",
            "normal",
            "normal:101",
            "zoned",
            "zoned:50/50",
            "zoned:50/50:50/49",
            "zoned:100/0:0/100",
            "gauss:1",
            "random:1",
        ] {
            let error = parse_distribution(text).unwrap_err();
            assert!(error.contains("; "), "{text}: {error}");
        }
    }

    /// How often each block is drawn, the most popular first, and by block.
    fn drawn(distribution: &Distribution) -> (Vec<u64>, Vec<u64>) {
        let mut popularity = Popularity::new(distribution, BLOCKS, 7);
        let mut random = Random::new(8);
        let mut by_block = vec![0u64; BLOCKS as usize];
        for _ in 0..DRAWS {
            by_block[popularity.next(BLOCKS, &mut random) as usize] += 1;
        }
        let mut sorted = by_block.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        (sorted, by_block)
    }

    #[test]
    fn zipf_follows_its_law() {
        for theta in [500_000, 1_000_000, 1_200_000, 2_000_000] {
            let (sorted, _) = drawn(&Distribution::Zipf { theta });
            let exponent = theta as f64 / 1e6;
            let sum: f64 = (1..=BLOCKS).map(|k| libm::pow(k as f64, -exponent)).sum();
            for rank in [1u64, 2, 5, 10] {
                let expected = DRAWS as f64 * libm::pow(rank as f64, -exponent) / sum;
                let got = sorted[rank as usize - 1] as f64;
                assert!(
                    (got / expected - 1.0).abs() < 0.1,
                    "{theta} {rank}: {got} {expected}"
                );
            }
        }
    }

    #[test]
    fn pareto_gives_the_few_the_most() {
        let (sorted, _) = drawn(&Distribution::Pareto { power: 200_000 });
        let most: u64 = sorted[..200].iter().sum();
        let share = most as f64 / DRAWS as f64;
        assert!((0.79..0.81).contains(&share), "{share}");
    }

    #[test]
    fn normal_is_around_the_middle() {
        let (_, by_block) = drawn(&Distribution::Normal {
            deviation: 10_000_000,
        });
        let within: u64 = by_block[400..600].iter().sum();
        let share = within as f64 / DRAWS as f64;
        assert!((0.67..0.70).contains(&share), "{share}"); // one deviation: 68.3 %
    }

    #[test]
    fn zones_get_their_shares() {
        let zone = |access_percent, size_percent| Zone {
            access_percent,
            size_percent,
        };
        let zones = vec![zone(60, 10), zone(0, 40), zone(40, 50)];
        let (_, by_block) = drawn(&Distribution::Zoned(zones));
        let share = |blocks: &[u64]| blocks.iter().sum::<u64>() as f64 / DRAWS as f64;
        assert!((0.59..0.61).contains(&share(&by_block[..100])));
        assert_eq!(share(&by_block[100..500]), 0.0);
        assert!(by_block[500..].iter().all(|count| *count > 0));
    }

    #[test]
    fn uniform_repeats_and_once_does_not() {
        let mut once = Popularity::new(&Distribution::Once, BLOCKS, 7);
        let mut uniform = Popularity::new(&Distribution::Uniform, BLOCKS, 7);
        let mut random = Random::new(1);
        let mut distinct = |popularity: &mut Popularity| {
            let drawn = (0..BLOCKS).map(|_| popularity.next(BLOCKS, &mut random));
            drawn.collect::<std::collections::BTreeSet<u64>>().len()
        };
        assert_eq!(distinct(&mut once), 1000);
        assert!((600..660).contains(&distinct(&mut uniform))); // 1 - 1/e
    }
}
