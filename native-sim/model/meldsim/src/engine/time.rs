//! Simulated time: integer picoseconds.
//!
//! Picoseconds because one byte on a fast bus takes less than a nanosecond; 64 bits hold 213 days.
//! Sums and products saturate: what would come later than [`Instant::MAX`] never comes. As in the
//! standard library, a point in time and a length of it are types of their own.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A length of simulated time, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A point in simulated time, in picoseconds since the device was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Duration {
    /// No time.
    pub const ZERO: Duration = Duration(0);
    /// The longest time.
    pub const MAX: Duration = Duration(u64::MAX);

    /// From picoseconds.
    pub const fn from_ps(ps: u64) -> Duration {
        Duration(ps)
    }

    /// From nanoseconds (saturating).
    pub const fn from_ns(ns: u64) -> Duration {
        Duration(ns.saturating_mul(1_000))
    }

    /// From microseconds (saturating).
    pub const fn from_us(us: u64) -> Duration {
        Duration(us.saturating_mul(1_000_000))
    }

    /// From milliseconds (saturating).
    pub const fn from_ms(ms: u64) -> Duration {
        Duration(ms.saturating_mul(1_000_000_000))
    }

    /// In picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// In whole nanoseconds, truncated.
    pub const fn as_ns(self) -> u64 {
        self.0 / 1_000
    }

    /// In whole microseconds, truncated.
    pub const fn as_us(self) -> u64 {
        self.0 / 1_000_000
    }

    /// In seconds, for people and rates only: the model itself never uses floating point.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// The difference, or zero when `other` is longer.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl Instant {
    /// When every device starts.
    pub const START: Instant = Instant(0);
    /// The far end of time: "never".
    pub const MAX: Instant = Instant(u64::MAX);

    /// From picoseconds since the start.
    pub const fn from_ps(ps: u64) -> Instant {
        Instant(ps)
    }

    /// In picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// The time since the start.
    pub const fn since_start(self) -> Duration {
        Duration(self.0)
    }

    /// The time since `earlier`, or zero when that is later.
    pub const fn saturating_since(self, earlier: Instant) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Duration {
    type Output = Duration;
    #[inline]
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

/// The other must not be longer: a debug build panics, a release build gives zero.
impl Sub for Duration {
    type Output = Duration;
    #[inline]
    fn sub(self, other: Duration) -> Duration {
        debug_assert!(self >= other, "{self:?} is shorter than {other:?}");
        self.saturating_sub(other)
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Duration>>(times: I) -> Duration {
        times.fold(Duration::ZERO, Add::add)
    }
}

/// A sum of times of many things at once, such as dies. It may be longer than any [`Duration`], and does not
/// saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TotalTime(u128);

impl TotalTime {
    /// In picoseconds.
    pub fn as_ps(self) -> u128 {
        self.0
    }

    /// As a counter, in picoseconds: the low 64 bits, so that what it grows by is right whatever it has come to.
    pub fn as_counter(self) -> u64 {
        self.0 as u64
    }

    /// As long a time as a [`Duration`] can be.
    pub(crate) fn as_duration(self) -> Duration {
        Duration(u64::try_from(self.0).unwrap_or(u64::MAX))
    }
}

impl AddAssign<Duration> for TotalTime {
    #[inline]
    fn add_assign(&mut self, time: Duration) {
        self.0 += u128::from(time.0);
    }
}

impl Add for TotalTime {
    type Output = TotalTime;
    #[inline]
    fn add(self, other: TotalTime) -> TotalTime {
        TotalTime(self.0 + other.0)
    }
}

impl From<Duration> for TotalTime {
    fn from(time: Duration) -> TotalTime {
        TotalTime(time.0.into())
    }
}

impl Sum<Duration> for TotalTime {
    fn sum<I: Iterator<Item = Duration>>(times: I) -> TotalTime {
        times.map(TotalTime::from).sum()
    }
}

impl Sum for TotalTime {
    fn sum<I: Iterator<Item = TotalTime>>(times: I) -> TotalTime {
        times.fold(TotalTime::default(), Add::add)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, time: Duration) -> Instant {
        Instant(self.0.saturating_add(time.0))
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, time: Duration) {
        *self = *self + time;
    }
}

/// The other must not be later: a debug build panics, a release build gives zero.
impl Sub for Instant {
    type Output = Duration;
    #[inline]
    fn sub(self, earlier: Instant) -> Duration {
        debug_assert!(self >= earlier, "{self:?} is before {earlier:?}");
        self.saturating_since(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_lengths_saturate_at_the_end() {
        let late = Instant::from_ps(u64::MAX - 1);
        assert_eq!(late + Duration::from_ps(5), Instant::MAX);
        assert_eq!(Duration::from_ms(10_000) * u64::MAX, Duration::MAX);
        assert_eq!(late.saturating_since(Instant::MAX), Duration::ZERO);
        assert_eq!(Instant::MAX - late, Duration::from_ps(1));
        assert_eq!(
            (Instant::START + Duration::from_us(3))
                .since_start()
                .as_ns(),
            3_000
        );
    }

    #[test]
    fn totals_do_not_saturate() {
        let total: TotalTime = [Duration::MAX, Duration::from_ps(5)].into_iter().sum();
        assert_eq!(total.as_ps(), u128::from(u64::MAX) + 5);
        assert_eq!(total.as_counter(), 4);
        assert_eq!(total.as_duration(), Duration::MAX);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "is before")]
    fn a_debug_build_finds_time_that_runs_backwards() {
        let _ = Instant::START - Instant::from_ps(1);
    }
}
