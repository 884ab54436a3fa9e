//! Which blocks random requests prefer: fio's `random_distribution` and its draws.
//!
//! Logarithms and powers come from a library in Rust, so that every machine draws the same.

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
pub struct Popularity(Draw);

/// How they are drawn.
#[derive(Clone, Debug)]
enum Draw {
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
    /// Draws by this distribution. The seed says which blocks are popular.
    pub fn new(distribution: &Distribution, blocks: u64, seed: u64) -> Popularity {
        let scatter = || Permutation::new(blocks, seed);
        let fraction = |millionths: u64| millionths as f64 / 1e6;
        Popularity(match distribution {
            Distribution::Once => Draw::Once {
                order: scatter(),
                next: 0,
                seed,
            },
            Distribution::Uniform => Draw::Uniform,
            Distribution::Zipf { theta } => {
                Draw::Zipf(Zipf::new(blocks, fraction(*theta)), scatter())
            }
            Distribution::Pareto { power } => {
                let power = fraction(*power);
                Draw::Pareto {
                    exponent: libm::log(power) / libm::log(1.0 - power),
                    scatter: scatter(),
                }
            }
            Distribution::Normal { deviation } => Draw::Normal {
                deviation: fraction(*deviation) / 100.0 * blocks as f64,
            },
            Distribution::Zoned(zones) => Draw::Zoned(zones.clone()),
        })
    }

    /// The next block of `blocks`.
    #[inline(always)]
    pub fn next(&mut self, blocks: u64, random: &mut Random) -> u64 {
        match &mut self.0 {
            Draw::Once { order, next, seed } => {
                if *next == blocks {
                    *next = 0;
                    *seed = seed.wrapping_add(1);
                    *order = Permutation::new(blocks, *seed);
                }
                *next += 1;
                order.at(*next - 1)
            }
            Draw::Uniform => random.below(blocks),
            _ => self.next_preferred(blocks, random),
        }
    }

    /// The next block where some are touched more often than others.
    fn next_preferred(&mut self, blocks: u64, random: &mut Random) -> u64 {
        match &mut self.0 {
            Draw::Once { .. } | Draw::Uniform => random.below(blocks),
            Draw::Zipf(zipf, scatter) => scatter.at(zipf.next(random)),
            Draw::Pareto { exponent, scatter } => {
                let share = libm::pow(random.unit(), *exponent);
                scatter.at(((share * blocks as f64) as u64).min(blocks - 1))
            }
            Draw::Normal { deviation } => loop {
                let block = blocks as f64 / 2.0 + random.normal() * *deviation;
                if (0.0..blocks as f64).contains(&block) {
                    return (block as u64).min(blocks - 1);
                }
            },
            Draw::Zoned(zones) => {
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
struct Zipf {
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
