//! Latency histograms: every request is counted, percentiles are within 0.1 %.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::engine::Time;

/// Significant decimal digits of a recorded value.
const DIGITS: u8 = 3;
/// Longer latencies (over an hour) are counted as this long in percentiles; minimum, mean and maximum stay exact.
const HIGHEST_PS: u64 = 3_600_000_000_000_000;

/// A distribution of latencies.
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    counts: Histogram<u64>,
    sum_ps: u128,
    min_ps: u64,
    max_ps: u64,
}

impl LatencyHistogram {
    /// An empty one.
    pub fn new() -> LatencyHistogram {
        let counts = match Histogram::new_with_bounds(1, HIGHEST_PS, DIGITS) {
            Ok(counts) => counts,
            Err(error) => unreachable!("constant bounds are valid: {error}"),
        };
        LatencyHistogram {
            counts,
            sum_ps: 0,
            min_ps: u64::MAX,
            max_ps: 0,
        }
    }

    /// Counts one latency.
    pub fn record(&mut self, latency: Time) {
        let ps = latency.as_ps();
        self.counts.saturating_record(ps);
        self.sum_ps += u128::from(ps);
        self.min_ps = self.min_ps.min(ps);
        self.max_ps = self.max_ps.max(ps);
    }

    /// How many latencies were counted.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// The latency that `quantile` (0 to 1) of the requests did not exceed.
    pub fn quantile(&self, quantile: f64) -> Time {
        let ps = self.counts.value_at_quantile(quantile);
        Time::from_ps(ps.min(self.max_ps))
    }

    /// The figures a report shows; `None` when nothing was counted.
    pub fn summary(&self) -> Option<LatencySummary> {
        if self.count() == 0 {
            return None;
        }
        let mean_ps = (self.sum_ps / u128::from(self.count())) as u64;
        let us = |time: Time| time.as_ps() as f64 / 1e6;
        Some(LatencySummary {
            min_us: us(Time::from_ps(self.min_ps)),
            mean_us: us(Time::from_ps(mean_ps)),
            p50_us: us(self.quantile(0.5)),
            p90_us: us(self.quantile(0.9)),
            p99_us: us(self.quantile(0.99)),
            p99_9_us: us(self.quantile(0.999)),
            p99_99_us: us(self.quantile(0.9999)),
            max_us: us(Time::from_ps(self.max_ps)),
        })
    }
}

impl Default for LatencyHistogram {
    fn default() -> LatencyHistogram {
        LatencyHistogram::new()
    }
}

/// Minimum, mean, percentiles and maximum, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencySummary {
    /// The shortest.
    pub min_us: f64,
    /// The mean, exact to a picosecond.
    pub mean_us: f64,
    /// Half of the requests took at most this long.
    pub p50_us: f64,
    /// 90 % did.
    pub p90_us: f64,
    /// 99 % did.
    pub p99_us: f64,
    /// 99.9 % did.
    pub p99_9_us: f64,
    /// 99.99 % did.
    pub p99_99_us: f64,
    /// The longest.
    pub max_us: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_thousandth() {
        let mut histogram = LatencyHistogram::new();
        for us in 1..=10_000 {
            histogram.record(Time::from_us(us));
        }
        for (quantile, us) in [
            (0.5, 5_000.0),
            (0.99, 9_900.0),
            (0.999, 9_990.0),
            (1.0, 10_000.0),
        ] {
            let got = histogram.quantile(quantile).as_ps() as f64 / 1e6;
            assert!((got / us - 1.0).abs() <= 1e-3, "{quantile}: {got}");
        }
        let summary = histogram.summary().unwrap();
        assert_eq!(summary.min_us, 1.0);
        assert_eq!(summary.mean_us, 5_000.5);
        assert_eq!(summary.max_us, 10_000.0);
    }

    #[test]
    fn extremes_are_counted() {
        let mut histogram = LatencyHistogram::new();
        assert!(histogram.summary().is_none());
        histogram.record(Time::ZERO);
        histogram.record(Time::MAX);
        assert_eq!(histogram.count(), 2);
        let summary = histogram.summary().unwrap();
        assert_eq!(summary.min_us, 0.0);
        assert_eq!(summary.max_us, u64::MAX as f64 / 1e6);
    }
}
