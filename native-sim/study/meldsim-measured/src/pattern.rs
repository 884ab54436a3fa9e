//! Which pages random writes touch, in the words of `steady_random_writes.csv`.
//!
//! Logarithms and powers come from a library in Rust, so that every machine draws the same.

use meldsim::engine::{Permutation, Random};

/// A pattern and its parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pattern {
    /// Every page equally likely.
    Uniform,
    /// Each page once in a pass, in another order each time.
    Permutation,
    /// The k-th page in proportion to `1 / k^theta`.
    Zipf(f64),
    /// This share of the pages is never rewritten, the rest uniformly.
    ReadOnly(f64),
    /// This share of the pages gets the rest of the writes, and the rest of the pages this share of them.
    TwoZones(f64),
}

impl Pattern {
    /// The pattern of that name; otherwise why there is none.
    pub(super) fn named(name: &str, parameter: f64) -> Result<Pattern, &'static str> {
        let is_share = (0.0..1.0).contains(&parameter);
        match name {
            "uniform" => Ok(Pattern::Uniform),
            "zipf" if parameter == 0.0 => Ok(Pattern::Uniform),
            "zipf" if (0.0..=20.0).contains(&parameter) => Ok(Pattern::Zipf(parameter)),
            "rofrac" if is_share => Ok(Pattern::ReadOnly(parameter)),
            "twozone" if is_share && parameter > 0.0 => Ok(Pattern::TwoZones(parameter)),
            "zipf" | "rofrac" | "twozone" => Err("the pattern's parameter is out of its range"),
            _ => Err("the pattern is not defined"),
        }
    }

    pub(super) fn is_uniform(self) -> bool {
        self == Pattern::Uniform
    }

    /// Draws of `pages` pages.
    pub(super) fn draws(self, pages: u64, seed: u64) -> Draws {
        self.draws_of(pages, seed, seed)
    }

    /// Draws before those of this seed: others, with the same popular pages.
    pub(super) fn draws_before(self, pages: u64, seed: u64) -> Draws {
        self.draws_of(pages, seed, !seed)
    }

    fn draws_of(self, pages: u64, seed: u64, draws: u64) -> Draws {
        let law = match self {
            Pattern::Uniform => Law::Uniform,
            Pattern::Permutation => Law::Once { next: 0, seed },
            Pattern::Zipf(theta) => Law::Zipf(Zipf::new(pages, theta)),
            Pattern::ReadOnly(share) => Law::ReadOnly(share),
            Pattern::TwoZones(share) => Law::TwoZones(share),
        };
        Draws {
            law,
            pages,
            scatter: Permutation::new(pages, seed),
            random: Random::new(draws),
        }
    }
}

/// Pages, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    law: Law,
    pages: u64,
    /// Which pages are popular, or first.
    scatter: Permutation,
    random: Random,
}

/// How they are drawn.
#[derive(Clone, Debug)]
enum Law {
    Uniform,
    Once { next: u64, seed: u64 },
    Zipf(Zipf),
    ReadOnly(f64),
    TwoZones(f64),
}

impl Draws {
    pub(super) fn next(&mut self) -> u64 {
        // At least one page each.
        let part = |share: f64| ((self.pages as f64 * share) as u64).clamp(1, self.pages);
        match &mut self.law {
            Law::Uniform => self.random.below(self.pages),
            Law::Once { next, seed } => {
                if *next == self.pages {
                    *next = 0;
                    *seed = seed.wrapping_add(1);
                    self.scatter = Permutation::new(self.pages, *seed);
                }
                *next += 1;
                self.scatter.at(*next - 1)
            }
            Law::Zipf(zipf) => self.scatter.at(zipf.next(&mut self.random)),
            Law::ReadOnly(share) => {
                let rewritten = part(1.0 - *share);
                self.scatter.at(self.random.below(rewritten))
            }
            Law::TwoZones(share) => {
                let hot = part(1.0 - *share);
                let is_hot = self.random.unit() < *share;
                self.scatter.at(match is_hot || hot == self.pages {
                    true => self.random.below(hot),
                    false => hot + self.random.below(self.pages - hot),
                })
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

    /// Writes to the most written tenth of the pages, and pages that are written at all.
    fn shape(pattern: Pattern) -> (f64, usize) {
        const PAGES: u64 = 1000;
        const WRITES: u64 = 100_000;
        let mut counts = vec![0u64; PAGES as usize];
        let mut draws = pattern.draws(PAGES, 1);
        (0..WRITES).for_each(|_| counts[draws.next() as usize] += 1);
        counts.sort_unstable();
        let hot: u64 = counts[900..].iter().sum();
        let written = counts.iter().filter(|count| **count > 0).count();
        (hot as f64 / WRITES as f64, written)
    }

    #[test]
    fn patterns_are_as_their_names_say() {
        let (hot, written) = shape(Pattern::Uniform);
        assert!(hot < 0.15 && written == 1000, "{hot} {written}");
        let (_, written) = shape(Pattern::ReadOnly(0.4));
        assert_eq!(written, 600);
        let (hot, written) = shape(Pattern::TwoZones(0.9));
        assert!((hot - 0.9).abs() < 0.01 && written == 1000, "{hot}");
        let (hot, _) = shape(Pattern::Zipf(1.0));
        assert!((hot - 0.69).abs() < 0.02, "{hot}");
        assert!(Pattern::named("fiozipf", 1.0).is_err());
        assert!(Pattern::named("rofrac", 1.5).is_err());
    }

    #[test]
    fn zipf_follows_its_law() {
        const PAGES: u64 = 1000;
        const DRAWS: u64 = 200_000;
        for theta in [0.5, 1.0, 1.2, 2.0] {
            let mut counts = vec![0u64; PAGES as usize];
            let mut draws = Pattern::Zipf(theta).draws(PAGES, 7);
            (0..DRAWS).for_each(|_| counts[draws.next() as usize] += 1);
            counts.sort_unstable_by(|a, b| b.cmp(a));
            let sum: f64 = (1..=PAGES).map(|k| libm::pow(k as f64, -theta)).sum();
            for rank in [1u64, 2, 5, 10] {
                let expected = DRAWS as f64 * libm::pow(rank as f64, -theta) / sum;
                let got = counts[rank as usize - 1] as f64;
                assert!(
                    (got / expected - 1.0).abs() < 0.1,
                    "{theta} {rank}: {got} {expected}"
                );
            }
        }
    }
}
