//! When records arrive: the unit of a trace's times, and whether they make sense.

use std::str::FromStr;

use super::text::{MEND, decimal, is_digits};
use crate::error::Fault;
use crate::quantity::choice;
use meldsim::Duration;
use meldsim::profile::excerpt;
use meldsim_stats::duration;

/// The unit in which a trace counts time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// Picoseconds.
    Ps,
    /// Nanoseconds.
    #[default]
    Ns,
    /// 100 nanoseconds, as Windows' file times.
    Ns100,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

const UNITS: [(&str, TimeUnit); 6] = [
    ("ps", TimeUnit::Ps),
    ("ns", TimeUnit::Ns),
    ("100ns", TimeUnit::Ns100),
    ("us", TimeUnit::Us),
    ("ms", TimeUnit::Ms),
    ("s", TimeUnit::S),
];

impl TimeUnit {
    /// `ps`, `ns`, `100ns`, `us`, `ms` or `s`.
    pub fn name(self) -> &'static str {
        let named = UNITS.iter().find(|(_, unit)| *unit == self);
        named.map_or("", |(name, _)| name)
    }

    pub(super) fn ps(self) -> u64 {
        match self {
            TimeUnit::Ps => 1,
            TimeUnit::Ns => 1_000,
            TimeUnit::Ns100 => 100_000,
            TimeUnit::Us => 1_000_000,
            TimeUnit::Ms => 1_000_000_000,
            TimeUnit::S => 1_000_000_000_000,
        }
    }

    /// The ticks of this unit from 1990 to 2100: what a clock on the wall says. File times count from 1601, others from 1970.
    fn wall_clock(self) -> std::ops::Range<u128> {
        const YEAR_S: u128 = 31_556_952;
        let epoch = if self == TimeUnit::Ns100 { 1601 } else { 1970 };
        let ticks =
            |year: u128| (year - epoch) * YEAR_S * 1_000_000_000_000 / u128::from(self.ps());
        ticks(1990)..ticks(2100)
    }

    /// The unit of the whole numbers with which a trace's first lines begin, where it can only be another one than the
    /// format's: the format's would put them after 2100, or more than one request into each tick.
    pub(super) fn inferred(self, times: &[u64]) -> Option<TimeUnit> {
        let (first, last) = (u128::from(*times.first()?), u128::from(*times.last()?));
        let crowded = times.len() >= 8 && last.saturating_sub(first) < times.len() as u128;
        let far = self != TimeUnit::S && first >= TimeUnit::Ns100.wall_clock().start;
        let beyond = first >= self.wall_clock().end || (far && !self.wall_clock().contains(&first));
        let other = UNITS
            .iter()
            .map(|(_, unit)| *unit)
            .filter(|unit| *unit != self);
        let mut fitting = other.filter(|unit| unit.wall_clock().contains(&first));
        fitting
            .find(|unit| beyond || (crowded && unit.ps() > self.ps()))
            .filter(|_| !self.wall_clock().contains(&first))
    }
}

impl FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeUnit, String> {
        choice(text, &UNITS)
    }
}

/// Turns a trace's times into those since its first record.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    pub(super) unit: TimeUnit,
    /// Since whenever the trace counts from.
    first_ps: Option<u128>,
    /// When the first record arrives.
    begin: Duration,
    /// The last arrival so far.
    last: Duration,
    /// Records earlier than the first, while none was later than it.
    pub(super) early: u64,
    /// How records lie before the latest so far.
    back: Back,
}

/// Records earlier than one before them.
#[derive(Clone, Copy, Debug, Default)]
struct Back {
    records: u64,
    farthest: Duration,
    /// Of these in a row.
    run: u64,
    longest_run: u64,
}

impl Clock {
    /// A time of the trace in picoseconds, from a number with or without decimals.
    pub(super) fn read(&self, field: &'static str, text: &str) -> Result<u128, Fault> {
        let read = || {
            let (whole, part) = text.split_once('.').unwrap_or((text, ""));
            let mut ps = digits(whole)?;
            ps *= u128::from(self.unit.ps());
            if !part.is_empty() {
                // Digits beyond a picosecond mean nothing.
                let part = part.get(..part.len().min(18))?;
                ps += digits(part)? * u128::from(self.unit.ps()) / 10u128.pow(part.len() as u32);
            }
            Some(ps)
        };
        // Small ones are exported as `1e-05`.
        let places = self.unit.ps().ilog10() as i32;
        let exported = || text.contains(['e', 'E']).then(|| decimal(text, places))?;
        read().or_else(exported).ok_or_else(|| {
            let message = format!("is \"{}\", which is not a time", excerpt(text));
            Fault::new(field, message, MEND)
        })
    }

    /// The time since the first record. What is before that arrives with it.
    pub(super) fn arrival(&mut self, ps: u128) -> Duration {
        let first = *self.first_ps.get_or_insert(ps);
        self.early += u64::from(ps < first && self.last == self.begin);
        let since = u64::try_from(ps.saturating_sub(first)).unwrap_or(u64::MAX);
        let arrival = Duration::from_ps(self.begin.as_ps().saturating_add(since));
        let back = &mut self.back;
        if arrival < self.last {
            back.records += 1;
            back.farthest = back.farthest.max(self.last - arrival);
            back.run += 1;
            back.longest_run = back.longest_run.max(back.run);
        } else {
            back.run = 0;
        }
        self.last = self.last.max(arrival);
        arrival
    }

    /// That files were joined which overlap in time, if records come late as they do then: from most of the way back, or many
    /// in a row. Others are a little late where several processors record.
    pub(super) fn overlap(&self) -> Option<String> {
        const MANY: u64 = 64;
        let Back {
            records,
            farthest,
            longest_run,
            ..
        } = self.back;
        let is_far = farthest.as_ps() >= self.last.as_ps() / 2;
        (records >= 2 && (is_far || longest_run >= MANY)).then(|| {
            let far = duration(farthest);
            format!("{records} records are earlier than one before them, by up to {far}, and arrive with it: files that overlap in time were joined")
        })
    }

    /// The trace begins anew at its last arrival.
    pub(super) fn restart(&mut self) {
        (self.first_ps, self.begin) = (None, self.last);
    }
}

/// Up to 20 digits as a number.
fn digits(text: &str) -> Option<u128> {
    is_digits(text).then(|| text.parse::<u64>().ok().map(u128::from))?
}

/// What about the times of a trace makes no sense, if its `records` came within `span`: a device that got them so fast, or
/// so slowly, would be none.
pub(super) fn doubt(records: u64, span: Duration, unit: TimeUnit) -> Option<String> {
    const LEAST_RECORDS: u64 = 32;
    const LEAST_INTERVAL_PS: u64 = 100_000;
    const MOST_INTERVAL_PS: u64 = 3_600_000_000_000_000;
    let interval_ps = span.as_ps().checked_div(records)?;
    if records < LEAST_RECORDS || (LEAST_INTERVAL_PS..MOST_INTERVAL_PS).contains(&interval_ps) {
        return None;
    }
    let (much, rate) = match interval_ps < LEAST_INTERVAL_PS {
        true => ("more", "10 million requests a second"),
        false => ("less", "one request an hour"),
    };
    Some(format!(
        "times were taken as {}: that is {much} than {rate}; if they are in another unit, say it with --time-unit",
        unit.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_inferred_where_the_formats_makes_no_sense() {
        use TimeUnit::{Ms, Ns, Ns100, S, Us};
        let spread =
            |first: u64, step: u64| -> Vec<u64> { (0..32).map(|n| first + n * step).collect() };
        let same = |first: u64| -> Vec<u64> { (0..32).map(|n| first + n / 20).collect() };
        for (unit, times, other) in [
            // Alibaba's microseconds, and the same rounded to seconds and milliseconds.
            (Us, spread(1_577_808_000_000_626, 40), None),
            (Us, same(1_577_808_000), Some(S)),
            (Us, same(1_577_808_000_000), Some(Ms)),
            // A trace that is cut out of a long one is no wall clock.
            (Us, spread(1_577_808_000, 300), None),
            (Ns, spread(1_500_000_000, 20_000), None),
            (Ns, spread(128_166_372_003_061_629, 10_000), Some(Ns100)),
            (Ns100, spread(128_166_372_003_061_629, 10_000), None),
            (Ns100, spread(1_577_808_000_000_000_000, 10_000), Some(Ns)),
            (S, same(1_538_323_200), None),
            (S, spread(1_538_323_200_000_000, 30), Some(Us)),
            (S, spread(0, 1), None),
        ] {
            assert_eq!(unit.inferred(&times), other, "{unit:?} {}", times[0]);
        }
    }

    #[test]
    fn times_have_decimals() {
        for (unit, text, ps) in [
            (
                TimeUnit::S,
                "1456095145.133076000",
                Some(1_456_095_145_133_076_000_000),
            ),
            (TimeUnit::Ms, "0.000001", Some(1_000)),
            (TimeUnit::Ns, "7", Some(7_000)),
            (
                TimeUnit::S,
                "0.1234567890123456789012",
                Some(123_456_789_012),
            ),
            (TimeUnit::S, "1.", Some(1_000_000_000_000)),
            (TimeUnit::S, "-1", None),
            (TimeUnit::S, "1.5.5", None),
            (TimeUnit::S, "1e3", Some(1_000_000_000_000_000)),
            (TimeUnit::S, "1.5e-05", Some(15_000_000)),
            (TimeUnit::Ms, "2.5E+1", Some(25_000_000_000)),
            (TimeUnit::S, "1e-13", Some(0)),
            (TimeUnit::S, "1e", None),
            (TimeUnit::S, "1e99", None),
            (TimeUnit::S, "0.١", None),
            (TimeUnit::S, "", None),
        ] {
            let clock = Clock {
                unit,
                ..Clock::default()
            };
            assert_eq!(clock.read("t", text).ok(), ps, "{text}");
        }
    }

    #[test]
    fn impossible_rates_are_doubted() {
        let doubt = |records, ps| doubt(records, Duration::from_ps(ps), TimeUnit::Ns);
        assert!(
            doubt(1000, 1_000_000)
                .unwrap()
                .contains("more than 10 million")
        );
        assert!(doubt(100, u64::MAX).unwrap().contains("less than one"));
        assert_eq!(doubt(1000, 1_000_000_000_000), None);
        assert_eq!(doubt(2, 0), None);
        assert_eq!(doubt(0, 0), None);
    }
}
