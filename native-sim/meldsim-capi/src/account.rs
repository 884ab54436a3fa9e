//! The account executive: simulated time moves only as far as work requires.
//!
//! A waiter runs the engine on its own thread, from completion to completion, until what it waits for has happened.

use std::time::Duration;

use crate::deadline::Deadline;
use crate::error::Failure;
use crate::state::State;

/// Looking at the wall clock costs as much as simulating a small request, so it is done once in this many.
const COMPLETIONS_PER_LOOK: u32 = 16;

/// Runs the engine to the next completion. `unlooked` counts completions since the last look at the wall clock.
///
/// At least [`COMPLETIONS_PER_LOOK`] completions pass before a timeout, so that a caller that polls makes progress.
pub(crate) fn step(
    state: &mut State,
    deadline: &mut Deadline,
    unlooked: &mut u32,
) -> Result<(), Failure> {
    *unlooked += 1;
    if *unlooked > COMPLETIONS_PER_LOOK {
        *unlooked = 1;
        if deadline.left() == Some(Duration::ZERO) {
            return Err(deadline.timeout());
        }
    }
    if !state.device.run_until_completion() {
        return Err(state.stuck());
    }
    state.collect();
    Ok(())
}

/// Runs the device until it is idle: nothing is outstanding, and what was written is programmed but for wordlines that
/// still lack pages. Else programs that were only accounted would be paced after a change of mode.
pub(crate) fn drain(state: &mut State) {
    while let Some(next) = state.device.next_event() {
        state.device.advance_to(next);
        state.collect();
    }
}
