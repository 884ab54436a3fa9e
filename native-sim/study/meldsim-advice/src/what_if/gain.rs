//! How much sooner the same requests are served, and how sure that is.

use meldsim::engine::Random;
use serde::Serialize;

/// Samples of the trace's intervals that are drawn.
const SAMPLES: usize = 1000;
/// Share of the samples below the range, and above it.
const TAIL: f64 = 0.05;
/// The same samples each time.
const SEED: u64 = 1;
/// A gain that is nearer to 1 is none.
pub(super) const LEAST: f64 = 1.02;
/// Fewer requests give no advice: their 99th percentile is their maximum, and one of them can decide the mean.
pub(super) const LEAST_REQUESTS: u64 = 100;

/// The latencies of the same requests added up, before against after; above 1 is a gain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// Over all requests.
    pub gain: f64,
    /// Where 90 % of the gains lie when the trace's intervals are drawn anew, with repetition (bootstrap).
    pub gain_range: [f64; 2],
}

impl Gain {
    /// Of sums in the same intervals of the trace.
    pub(super) fn of(before: &[u128], after: &[u128]) -> Gain {
        let pairs = before.iter().zip(after);
        let pairs = pairs.filter(|(before, after)| **before > 0 || **after > 0);
        let pairs: Vec<(f64, f64)> = pairs.map(|(a, b)| (*a as f64, *b as f64)).collect();
        let gain = ratio(pairs.iter().copied());
        let mut random = Random::new(SEED);
        let mut draw = |_| {
            let drawn = pairs
                .iter()
                .map(|_| pairs[random.below(pairs.len() as u64) as usize]);
            ratio(drawn)
        };
        let mut gains: Vec<f64> = (0..SAMPLES).map(&mut draw).collect();
        gains.sort_by(f64::total_cmp);
        let at = |share: f64| gains[((SAMPLES - 1) as f64 * share).round() as usize];
        Gain {
            gain,
            gain_range: [at(TAIL).min(gain), at(1.0 - TAIL).max(gain)],
        }
    }

    /// `x1.38 (1.31 to 1.44)`.
    pub(super) fn text(&self) -> String {
        let [low, high] = self.gain_range;
        format!("x{:.2} ({low:.2} to {high:.2})", self.gain)
    }

    /// Whether it is a gain worth speaking of, over all of the range.
    pub(super) fn wins(&self) -> bool {
        self.gain >= LEAST && self.gain_range[0] > 1.0
    }

    /// The same of a loss.
    pub(super) fn loses(&self) -> bool {
        self.gain * LEAST <= 1.0 && self.gain_range[1] < 1.0
    }
}

/// 1 of nothing.
fn ratio(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (before, after) = pairs.fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    match before > 0.0 && after > 0.0 {
        true => before / after,
        false => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_gains_have_no_range_and_uneven_ones_do() {
        let even = Gain::of(&[200, 400, 0, 600], &[100, 200, 0, 300]);
        assert_eq!((even.gain, even.gain_range), (2.0, [2.0, 2.0]));
        let uneven = Gain::of(&[300, 100, 300, 100], &[100, 100, 100, 100]);
        assert_eq!(uneven.gain, 2.0);
        let [low, high] = uneven.gain_range;
        assert!((1.0..2.0).contains(&low) && high > 2.0 && high <= 3.0);
        assert_eq!(
            uneven,
            Gain::of(&[300, 100, 300, 100], &[100, 100, 100, 100])
        );
        assert_eq!(Gain::of(&[], &[]).gain, 1.0);
        assert!(even.wins() && !even.loses() && Gain::of(&[1], &[2]).loses());
    }
}
