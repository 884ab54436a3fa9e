//! Simulated time: integer picoseconds.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

/// An instant or a length of simulated time, in picoseconds.
///
/// Picoseconds because one byte on a fast bus takes less than a nanosecond; 64 bits hold 213 days.
/// Sums and products saturate: what would come later than [`Time::MAX`] never comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// Time zero, at which every device starts.
    pub const ZERO: Time = Time(0);
    /// The far end of time: "never".
    pub const MAX: Time = Time(u64::MAX);

    /// From picoseconds.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// From nanoseconds (saturating).
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns.saturating_mul(1_000))
    }

    /// From microseconds (saturating).
    pub const fn from_us(us: u64) -> Time {
        Time(us.saturating_mul(1_000_000))
    }

    /// From milliseconds (saturating).
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms.saturating_mul(1_000_000_000))
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

    /// The difference, or zero when `earlier` is later.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// The sum, or [`Time::MAX`].
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        self.saturating_add(other)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        *self = *self + other;
    }
}

impl Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, factor: u64) -> Time {
        Time(self.0.saturating_mul(factor))
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Time>>(times: I) -> Time {
        times.fold(Time::ZERO, Add::add)
    }
}

/// A point in simulated time, counted from the device's start.
pub type Instant = Time;
/// A length of simulated time.
pub type Duration = Time;
