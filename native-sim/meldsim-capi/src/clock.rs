//! Wall time: the clock that simulated time follows in real-time mode, and deadlines of callers.
//!
//! ```text
//!   wall      anchor ------------- elapsed ------------> now
//!   simulated anchor -- elapsed / dilation (floor) --> now
//! ```

use std::time::{Duration, Instant};

use meldsim::Instant as Simulated;

use crate::error::{Failure, MELDSIM_ERR_TIMEOUT};

/// Dilations outside of this range are refused.
const DILATIONS: std::ops::RangeInclusive<f64> = 1e-3..=1e6;
/// A sleep is at least this long: finer ones cost a core and the host's timers do not honour them.
const QUANTUM_WALL: Duration = Duration::from_micros(50);
/// At high dilations a sleep is at least this much simulated time.
const QUANTUM_SIMULATED_US: f64 = 10.0;
/// Fraction bits of the clock's rate; 2^40 keeps a dilation of 10^6 exact to 10^-9 and a century
/// within 128 bits.
const RATE_BITS: u32 = 40;

/// The scaled wall clock of one device: simulated time is never ahead of it.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    anchor_wall: Instant,
    anchor_ps: u64,
    /// Simulated picoseconds per wall nanosecond, fixed point.
    rate: u128,
    /// The shortest sleep.
    pub(crate) quantum: Duration,
}

impl Clock {
    /// A clock that shows `simulated` now and then runs `dilation` times slower than the wall.
    pub(crate) fn start(simulated: Simulated, dilation: f64) -> Result<Clock, Failure> {
        if !DILATIONS.contains(&dilation) {
            return Err(Failure::argument(format!(
                "time dilation {dilation} is not between {} and {}",
                DILATIONS.start(),
                DILATIONS.end()
            )));
        }
        // Rounded down: an inexact rate must make simulated time late, never early.
        let rate = (1000.0 / dilation * (1u64 << RATE_BITS) as f64).floor() as u128;
        let simulated_quantum = Duration::from_secs_f64(QUANTUM_SIMULATED_US * 1e-6 * dilation);
        Ok(Clock {
            anchor_wall: Instant::now(),
            anchor_ps: simulated.as_ps(),
            rate,
            quantum: QUANTUM_WALL.max(simulated_quantum),
        })
    }

    /// The simulated time that the wall clock allows now.
    pub(crate) fn simulated_now(&self) -> Simulated {
        self.simulated_after(self.anchor_wall.elapsed())
    }

    fn simulated_after(&self, elapsed: Duration) -> Simulated {
        let ps = (elapsed.as_nanos() * self.rate) >> RATE_BITS;
        let ps = u64::try_from(ps).unwrap_or(u64::MAX);
        Simulated::from_ps(self.anchor_ps.saturating_add(ps))
    }

    /// The first wall time at which `simulated` has been reached; `None` when it is beyond the
    /// clock's range.
    pub(crate) fn wall_of(&self, simulated: Simulated) -> Option<Instant> {
        let ahead_ps = u128::from(simulated.as_ps().saturating_sub(self.anchor_ps));
        let elapsed_ns = (ahead_ps << RATE_BITS).div_ceil(self.rate);
        let elapsed = Duration::from_nanos(u64::try_from(elapsed_ns).ok()?);
        self.anchor_wall.checked_add(elapsed)
    }
}

/// How long a caller is willing to wait. The point in time is fixed on first use, so that a wait that
/// is over at once never reads the clock.
pub(crate) struct Deadline {
    timeout_ns: u64,
    at: Option<Instant>,
}

impl Deadline {
    pub(crate) fn after_ns(timeout_ns: u64) -> Deadline {
        Deadline {
            timeout_ns,
            at: None,
        }
    }

    pub(crate) fn never() -> Deadline {
        Deadline::after_ns(u64::MAX)
    }

    /// The time left, `None` when there is no limit; a failure when it has passed.
    pub(crate) fn left(&mut self) -> Result<Option<Duration>, Failure> {
        let now = Instant::now();
        if self.at.is_none() {
            self.at = now.checked_add(Duration::from_nanos(self.timeout_ns));
        }
        let left = match self.at {
            Some(at) if self.timeout_ns != u64::MAX => at.saturating_duration_since(now),
            _ => return Ok(None),
        };
        if left == Duration::ZERO {
            let message = format!(
                "not done within {} ms of wall time; the ticket stays valid",
                self.timeout_ns / 1_000_000
            );
            return Err(Failure::new(MELDSIM_ERR_TIMEOUT, message));
        }
        Ok(Some(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(dilation: f64) -> Clock {
        Clock::start(Simulated::from_ps(5_000), dilation).unwrap()
    }

    #[test]
    fn the_clock_never_runs_ahead_of_the_wall() {
        for dilation in [1e-3, 0.37, 1.0, 3.0, 17.3, 1e6] {
            let clock = clock(dilation);
            for elapsed_ns in [0, 1, 999, 1_000_003, 3_600_000_000_007u64] {
                let elapsed = Duration::from_nanos(elapsed_ns);
                let simulated = (clock.simulated_after(elapsed).as_ps() - 5_000) as f64;
                let allowed = elapsed_ns as f64 * 1000.0 / dilation;
                assert!(simulated <= allowed, "{dilation}: {simulated} > {allowed}");
                assert!(
                    simulated >= allowed * (1.0 - 1e-8) - 1.0,
                    "{dilation}: {simulated} < {allowed}"
                );
            }
        }
    }

    #[test]
    fn waking_for_an_event_is_never_too_early_for_it() {
        for dilation in [1e-3, 0.37, 1.0, 3.0, 17.3, 1e6] {
            let clock = clock(dilation);
            for ps in [0, 4_999, 5_000, 5_001, 123_456_789, 10u64.pow(15)] {
                let Some(due) = clock.wall_of(Simulated::from_ps(ps)) else {
                    continue;
                };
                let reached = clock.simulated_after(due - clock.anchor_wall);
                assert!(reached.as_ps() >= ps, "{dilation}: {ps} not reached");
            }
        }
    }

    #[test]
    fn impossible_dilations_are_refused() {
        for dilation in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-4, 1e7] {
            assert!(Clock::start(Simulated::from_ps(0), dilation).is_err());
        }
    }
}
