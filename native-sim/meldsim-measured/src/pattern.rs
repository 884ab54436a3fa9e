//! Which pages random writes touch, in the words of `steady_random_writes.csv`.

use meldsim::engine::{Permutation, Random};
use meldsim_drive::{Distribution, Popularity};

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
        let distribution = match self {
            Pattern::Permutation => Distribution::Once,
            Pattern::Zipf(theta) => Distribution::Zipf {
                theta: (theta * 1e6).round() as u64,
            },
            _ => Distribution::Uniform,
        };
        Draws {
            pattern: self,
            pages,
            popularity: Popularity::new(&distribution, pages, seed),
            scatter: Permutation::new(pages, seed),
            random: Random::new(draws),
        }
    }
}

/// Pages, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    pattern: Pattern,
    pages: u64,
    popularity: Popularity,
    scatter: Permutation,
    random: Random,
}

impl Draws {
    pub(super) fn next(&mut self) -> u64 {
        // At least one page each.
        let part = |share: f64| ((self.pages as f64 * share) as u64).clamp(1, self.pages);
        match self.pattern {
            Pattern::Uniform | Pattern::Permutation | Pattern::Zipf(_) => {
                self.popularity.next(self.pages, &mut self.random)
            }
            Pattern::ReadOnly(share) => {
                let rewritten = part(1.0 - share);
                self.scatter.at(self.random.below(rewritten))
            }
            Pattern::TwoZones(share) => {
                let hot = part(1.0 - share);
                let is_hot = self.random.unit() < share;
                self.scatter.at(match is_hot || hot == self.pages {
                    true => self.random.below(hot),
                    false => hot + self.random.below(self.pages - hot),
                })
            }
        }
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
}
