//! Latency histograms: every request is counted, percentiles are within 0.1 %.

use serde::Serialize;

use meldsim::engine::Duration;

/// Longer latencies (over 75 minutes) are counted as this long in percentiles; minimum, mean and maximum stay exact.
const HIGHEST_PS: u64 = (1 << 52) - 1;
/// Log2 of the buckets that values of one power of two fall into: a bucket is 0.1 % of its values.
const BUCKET_BITS: u32 = 10;

/// Counts by value, in buckets that are as wide as the value has bits more than [`BUCKET_BITS`] + 1. These are the buckets of
/// HdrHistogram with three digits (Gil Tene); to count is all that happens for each request, so it is but a shift here.
#[derive(Clone, Debug, Default)]
struct Buckets {
    /// None before the first value. The system gives memory only to those that are used.
    counts: Vec<u64>,
    total: u64,
}

impl Buckets {
    /// The bucket of [`HIGHEST_PS`] is the last.
    const COUNT: usize = ((HIGHEST_PS.ilog2() + 2 - BUCKET_BITS) << BUCKET_BITS) as usize;

    #[inline]
    fn add(&mut self, value: u64, count: u64) {
        let bucket = bucket::<BUCKET_BITS>(value.min(HIGHEST_PS)) as usize;
        if self.counts.is_empty() {
            self.begin();
        }
        self.counts[bucket] += count;
        self.total += count;
    }

    #[cold]
    fn begin(&mut self) {
        self.counts = vec![0; Buckets::COUNT];
    }

    fn merge(&mut self, other: &Buckets) {
        if self.counts.is_empty() {
            self.counts = other.counts.clone();
        } else {
            let counts = self.counts.iter_mut().zip(&other.counts);
            counts.for_each(|(count, other)| *count += other);
        }
        self.total += other.total;
    }

    /// The greatest value of the bucket that this share of the values does not exceed, the least of the first bucket where
    /// the share is nothing; zero when there are no values.
    fn quantile(&self, quantile: f64) -> u64 {
        let rank = (quantile.min(1.0) * self.total as f64).ceil() as u64;
        let mut left = rank.max(1);
        for (bucket, &count) in (0..).zip(&self.counts) {
            if count >= left {
                let (least, greatest) = bucket_values::<BUCKET_BITS>(bucket);
                return if quantile > 0.0 { greatest } else { least };
            }
            left -= count;
        }
        0
    }
}

/// The bucket of a value, where buckets are as wide as the value has bits more than `BITS` + 1.
#[inline]
pub fn bucket<const BITS: u32>(value: u64) -> u32 {
    let bits = u64::BITS - value.leading_zeros();
    let shift = bits.saturating_sub(BITS + 1);
    (shift << BITS) + (value >> shift) as u32
}

/// The least and the greatest value of a bucket.
pub fn bucket_values<const BITS: u32>(bucket: u32) -> (u64, u64) {
    let shift = (bucket >> BITS).saturating_sub(1);
    let least = u64::from(bucket - (shift << BITS)) << shift;
    (least, least + ((1 << shift) - 1))
}

/// A distribution of latencies.
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    buckets: Buckets,
    sum_ps: u128,
    sum_squares: u128,
    min_ps: u64,
    max_ps: u64,
}

impl LatencyHistogram {
    /// An empty one.
    pub fn new() -> LatencyHistogram {
        LatencyHistogram {
            buckets: Buckets::default(),
            sum_ps: 0,
            sum_squares: 0,
            min_ps: u64::MAX,
            max_ps: 0,
        }
    }

    /// Counts one latency.
    #[inline(always)]
    pub fn record(&mut self, latency: Duration) {
        let ps = u128::from(latency.as_ps());
        self.add(latency, 1, ps, ps * ps);
    }

    /// Counts one latency `count` times.
    pub fn record_many(&mut self, latency: Duration, count: u64) {
        if count == 0 {
            return;
        }
        let ps = u128::from(latency.as_ps());
        let sum_squares = (ps * ps).saturating_mul(count.into());
        self.add(latency, count, ps * u128::from(count), sum_squares);
    }

    /// Counts one latency `count` times, which add up to so much.
    #[inline(always)]
    fn add(&mut self, latency: Duration, count: u64, sum_ps: u128, sum_squares: u128) {
        let ps = latency.as_ps();
        self.buckets.add(ps, count);
        self.sum_ps += sum_ps;
        // Saturates only beyond 10^7 latencies of an hour each.
        self.sum_squares = self.sum_squares.saturating_add(sum_squares);
        self.min_ps = self.min_ps.min(ps);
        self.max_ps = self.max_ps.max(ps);
    }

    /// Counts all that `other` has counted.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        self.buckets.merge(&other.buckets);
        self.sum_ps += other.sum_ps;
        self.sum_squares = self.sum_squares.saturating_add(other.sum_squares);
        self.min_ps = self.min_ps.min(other.min_ps);
        self.max_ps = self.max_ps.max(other.max_ps);
    }

    /// The shortest latency; zero when nothing was counted.
    pub fn min(&self) -> Duration {
        Duration::from_ps(self.min_ps.min(self.max_ps))
    }

    /// The longest latency.
    pub fn max(&self) -> Duration {
        Duration::from_ps(self.max_ps)
    }

    /// The mean in picoseconds; zero when nothing was counted.
    pub fn mean_ps(&self) -> f64 {
        match self.count() {
            0 => 0.0,
            count => self.sum_ps as f64 / count as f64,
        }
    }

    /// The standard deviation in picoseconds.
    pub fn deviation_ps(&self) -> f64 {
        let count = u128::from(self.count());
        if count == 0 {
            return 0.0;
        }
        // In whole numbers as far as they go: the squares are far larger than their difference.
        let mean_square = self.sum_squares / count;
        let square_mean = (self.sum_ps / count).pow(2);
        (mean_square.saturating_sub(square_mean) as f64).sqrt()
    }

    /// How many latencies were counted.
    pub fn count(&self) -> u64 {
        self.buckets.total
    }

    /// The latencies that were counted, each the longest of its bucket, and how often.
    pub fn counts(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        let counts = (0..)
            .zip(&self.buckets.counts)
            .filter(|(_, count)| **count > 0);
        counts.map(|(bucket, count)| {
            let most = bucket_values::<BUCKET_BITS>(bucket).1.min(self.max_ps);
            (Duration::from_ps(most), *count)
        })
    }

    /// How many latencies were shorter than each of these, which ascend; within a bucket, 0.1 % of a limit.
    pub fn shorter_than(&self, limits: &[Duration]) -> Vec<u64> {
        let mut counts = (0..).zip(&self.buckets.counts).peekable();
        let mut sum = 0;
        let below = limits.iter().map(|limit| {
            let first = bucket::<BUCKET_BITS>(limit.as_ps());
            while let Some((_, count)) = counts.next_if(|(bucket, _)| *bucket < first) {
                sum += count;
            }
            sum
        });
        below.collect()
    }

    /// The latency that `quantile` (0 to 1) of the requests did not exceed.
    pub fn quantile(&self, quantile: f64) -> Duration {
        let ps = self.buckets.quantile(quantile);
        Duration::from_ps(ps.min(self.max_ps))
    }

    /// The latency in microseconds over `1 / (1 - quantile)`, as far as there are requests.
    pub fn over_percentiles(&self) -> Vec<(f64, f64)> {
        const STEPS_PER_DECADE: i32 = 20;
        let last = (self.count() as f64).min(1e5);
        (0..=5 * STEPS_PER_DECADE)
            .map(|step| libm::pow(10.0, f64::from(step) / f64::from(STEPS_PER_DECADE)))
            .take_while(|at| *at <= last)
            .map(|at| (at, as_us(self.quantile(1.0 - 1.0 / at))))
            .collect()
    }

    /// The figures a report shows; `None` when nothing was counted.
    pub fn summary(&self) -> Option<LatencySummary> {
        if self.count() == 0 {
            return None;
        }
        let mean_ps = (self.sum_ps / u128::from(self.count())) as u64;
        let us = |quantile| as_us(self.quantile(quantile));
        Some(LatencySummary {
            min_us: as_us(self.min()),
            mean_us: as_us(Duration::from_ps(mean_ps)),
            deviation_us: self.deviation_ps() / 1e6,
            p50_us: us(0.5),
            p90_us: us(0.9),
            p99_us: us(0.99),
            p99_9_us: us(0.999),
            p99_99_us: us(0.9999),
            p99_999_us: us(0.99999),
            max_us: as_us(self.max()),
            count: self.count(),
        })
    }
}

fn as_us(time: Duration) -> f64 {
    time.as_ps() as f64 / 1e6
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
    /// The standard deviation.
    pub deviation_us: f64,
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
    /// 99.999 % did.
    pub p99_999_us: f64,
    /// The longest.
    pub max_us: f64,
    /// How many there are.
    #[serde(skip)]
    pub count: u64,
}

impl LatencySummary {
    /// The percentiles 99.99 and 99.999 where ten requests or more took longer.
    pub fn tails_us(&self) -> [Option<f64>; 2] {
        let of = |value, least| (self.count >= least).then_some(value);
        [of(self.p99_99_us, 100_000), of(self.p99_999_us, 1_000_000)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_thousandth() {
        let mut histogram = LatencyHistogram::new();
        for us in 1..=10_000 {
            histogram.record(Duration::from_us(us));
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
        // Of 1 to n: the root of (n^2 - 1) / 12.
        assert!(
            (summary.deviation_us - 2886.75).abs() < 0.1,
            "{}",
            summary.deviation_us
        );
    }

    #[test]
    fn a_value_is_in_a_bucket_of_a_thousandth_of_it() {
        for value in (0..4096).chain((11..51).flat_map(|bits| {
            let power = 1u64 << bits;
            [power - 1, power, power + power / 3]
        })) {
            let mut buckets = Buckets::default();
            buckets.add(value, 1);
            let greatest = buckets.quantile(1.0);
            assert!(
                greatest >= value && greatest - value <= value / 1024,
                "{value} {greatest}"
            );
            buckets.add(greatest, 1);
            buckets.add(greatest + 1, 1);
            assert_eq!((buckets.quantile(0.5), buckets.total), (greatest, 3));
            assert!(buckets.quantile(1.0) > greatest);
        }
    }

    #[test]
    fn merged_is_as_if_counted_in_one() {
        let (mut one, mut two, mut all) =
            <(LatencyHistogram, LatencyHistogram, LatencyHistogram)>::default();
        for us in 1..1000 {
            let part = if us % 3 == 0 { &mut one } else { &mut two };
            part.record(Duration::from_us(us));
            all.record(Duration::from_us(us));
        }
        one.merge(&two);
        assert_eq!(one.count(), all.count());
        assert_eq!(one.summary(), all.summary());
    }

    #[test]
    fn extremes_are_counted() {
        let mut histogram = LatencyHistogram::new();
        assert!(histogram.summary().is_none());
        histogram.record(Duration::ZERO);
        histogram.record(Duration::MAX);
        assert_eq!(histogram.count(), 2);
        let summary = histogram.summary().unwrap();
        assert_eq!(summary.min_us, 0.0);
        assert_eq!(summary.max_us, u64::MAX as f64 / 1e6);
    }
}
