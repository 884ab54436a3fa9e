//! The account executive: simulated time moves only as far as work requires.
//!
//! A waiter runs the engine on its own thread, one event time at a time, until what it waits for has happened.

use std::time::Duration;

use crate::deadline::Deadline;
use crate::error::Failure;
use crate::state::State;

/// Looking at the wall clock costs as much as a few events, so it is done once in this many.
const EVENTS_PER_LOOK: u32 = 256;

/// Processes the next event time. `looked` counts calls between looks at the wall clock.
///
/// At least [`EVENTS_PER_LOOK`] event times pass before a timeout, so that a caller that polls makes progress.
pub(crate) fn step(
    state: &mut State,
    deadline: &mut Deadline,
    looked: &mut u32,
) -> Result<(), Failure> {
    *looked += 1;
    if *looked >= EVENTS_PER_LOOK {
        *looked = 0;
        if deadline.left() == Some(Duration::ZERO) {
            return Err(deadline.timeout());
        }
    }
    let Some(next) = state.device.next_event() else {
        return Err(state.stuck());
    };
    state.device.advance_to(next);
    state.collect();
    Ok(())
}

/// Runs the device until nothing is outstanding.
pub(crate) fn drain(state: &mut State) {
    while let Some(next) = state.device.next_event() {
        if state.device.outstanding() == 0 {
            break;
        }
        state.device.advance_to(next);
        state.collect();
    }
}
