//! The real-time executive: simulated time follows the wall clock, slowed by the dilation, and is never ahead of it.
//!
//! ```text
//!   wall      anchor ------------- elapsed ------------> now
//!   simulated anchor -- elapsed / dilation (floor) --> now
//! ```
//!
//! There is no thread here. Among the callers that wait for a device, one leads: it sleeps until the next event is due,
//! processes what has become due, and wakes the others when something they wait for has happened. A leader that leaves
//! hands over to a follower. While nobody waits, due events are left alone; the next call catches up, with the same
//! outcome, since no command can arrive in between.

use std::time::{Duration, Instant};

use meldsim::Instant as Simulated;
use parking_lot::MutexGuard;

use crate::deadline::Deadline;
use crate::error::Failure;
use crate::session::Session;
use crate::state::State;

/// Dilations outside of this range are refused.
pub(crate) const DILATION_MIN: f64 = 1e-3;
/// See [`DILATION_MIN`].
pub(crate) const DILATION_MAX: f64 = 1e6;
/// The leader sleeps at least this long: finer sleeps cost a core and the host's timers do not honour them.
const QUANTUM_WALL: Duration = Duration::from_micros(50);
/// At high dilations the leader looks once in this much simulated time.
const QUANTUM_SIMULATED_US: f64 = 10.0;
/// Fraction bits of the clock's rate; 2^40 keeps a dilation of 10^6 exact to 10^-9 and a century within 128 bits.
const RATE_BITS: u32 = 40;

/// The scaled wall clock of one device.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    anchor_wall: Instant,
    anchor_ps: u64,
    /// Simulated picoseconds per wall nanosecond, fixed point.
    rate: u128,
    quantum: Duration,
}

impl Clock {
    /// A clock that shows `simulated` now and then runs `dilation` times slower than the wall.
    pub(crate) fn start(simulated: Simulated, dilation: f64) -> Result<Clock, Failure> {
        if !(DILATION_MIN..=DILATION_MAX).contains(&dilation) {
            return Err(Failure::argument(format!(
                "time dilation {dilation} is not between {DILATION_MIN} and {DILATION_MAX}"
            )));
        }
        // Rounded down: an inexact rate must make simulated time late, never early.
        let rate = (1000.0 / dilation * (1u64 << RATE_BITS) as f64).floor() as u128;
        Ok(Clock {
            anchor_wall: Instant::now(),
            anchor_ps: simulated.as_ps(),
            rate,
            quantum: QUANTUM_WALL.max(Duration::from_secs_f64(
                QUANTUM_SIMULATED_US * 1e-6 * dilation,
            )),
        })
    }

    /// The simulated time that the wall clock allows now.
    pub(crate) fn simulated_now(&self) -> Simulated {
        self.simulated_after(self.anchor_wall.elapsed())
    }

    fn simulated_after(&self, elapsed: Duration) -> Simulated {
        let ps = (elapsed.as_nanos() * self.rate) >> RATE_BITS;
        Simulated::from_ps(
            self.anchor_ps
                .saturating_add(u64::try_from(ps).unwrap_or(u64::MAX)),
        )
    }

    /// The first wall time at which `simulated` has been reached; `None` when it is beyond the clock's range.
    fn wall_of(&self, simulated: Simulated) -> Option<Instant> {
        let ahead_ps = u128::from(simulated.as_ps().saturating_sub(self.anchor_ps));
        let elapsed_ns = (ahead_ps << RATE_BITS).div_ceil(self.rate);
        let elapsed = Duration::from_nanos(u64::try_from(elapsed_ns).ok()?);
        self.anchor_wall.checked_add(elapsed)
    }
}

/// Blocks until something may have changed for the caller: as the leader, or behind one. The caller has no device any more
/// when that hangs.
pub(crate) fn pause<'a>(
    session: &'a Session,
    mut state: MutexGuard<'a, State>,
    clock: &Clock,
    deadline: &mut Deadline,
) -> Result<(MutexGuard<'a, State>, Result<(), Failure>), Failure> {
    let left = deadline.left();
    if left == Some(Duration::ZERO) {
        return Ok((state, Err(deadline.timeout())));
    }
    if state.leader_wakes.is_some() {
        state.followers += 1;
        state = session.sleep(&session.follower, state, left)?;
        state.followers -= 1;
        return Ok((state, Ok(())));
    }
    let Some(event) = state.device.next_event() else {
        let stuck = state.stuck();
        return Ok((state, Err(stuck)));
    };
    let now = Instant::now();
    let due = clock
        .wall_of(event)
        .map_or(Duration::MAX, |due| due.saturating_duration_since(now));
    let nap = due.max(clock.quantum).min(left.unwrap_or(Duration::MAX));
    // A nap without end cannot be represented as an instant; an hour is as good, the leader just looks again.
    let nap = nap.min(Duration::from_secs(3600));
    state.leader_wakes = Some(now + nap);
    state = session.sleep(&session.leader, state, Some(nap))?;
    state.leader_wakes = None;
    Ok((state, Ok(())))
}

/// Wakes the leader when a new command makes an event due well before the leader would look.
pub(crate) fn nudge(session: &Session, state: &State, clock: &Clock) {
    let (Some(wakes), Some(event)) = (state.leader_wakes, state.device.next_event()) else {
        return;
    };
    if clock
        .wall_of(event)
        .is_some_and(|due| due + clock.quantum < wakes)
    {
        session.leader.wake_one();
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
