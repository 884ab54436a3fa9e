//! Suspension of programs and erases, so that reads need not wait for their end.
//!
//! ```text
//!   array  |program ........|suspend|sense|      |resume|........ program|
//!   bus                     |c|           |####| |c|
//! ```

use super::op::Work;
use crate::engine::Time;
use crate::profile::Commands;

/// What each die's present program or erase has been through.
#[derive(Debug)]
pub(super) struct Suspensions {
    program: bool,
    erase: bool,
    pub(super) suspend_time: Time,
    pub(super) resume_time: Time,
    max: u32,
    progress: Time,
    dies: Vec<Suspension>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Suspension {
    /// Since when the array has worked on it without a break.
    since: Time,
    /// What it still needs once it is resumed.
    remaining: Time,
    count: u32,
}

/// Whether reads may suspend what their die works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Now,
    /// Not before it has made some progress.
    At(Time),
    Never,
}

impl Suspensions {
    /// Nothing when the dies cannot suspend anything.
    pub(super) fn new(commands: &Commands, dies: usize) -> Option<Suspensions> {
        let &Commands {
            suspend_program: program,
            suspend_erase: erase,
            ..
        } = commands;
        (program || erase).then(|| Suspensions {
            program,
            erase,
            suspend_time: commands.suspend_time,
            resume_time: commands.resume_time,
            max: commands.max_suspends,
            progress: commands.suspend_progress,
            dies: vec![Suspension::default(); dies],
        })
    }

    /// The array of a die starts on something new.
    pub(super) fn start(&mut self, die: usize, since: Time) {
        self.dies[die] = Suspension {
            since,
            ..Suspension::default()
        };
    }

    /// Whether the die's work, which ends at `end`, may be suspended. It is not when it ends
    /// before a read could start, or soon enough to make suspending it a loss.
    pub(super) fn verdict(&self, die: usize, work: Work, end: Time, now: Time) -> Verdict {
        let able = match work {
            Work::Program => self.program,
            Work::Erase => self.erase,
            Work::Copyback => false,
        };
        let suspension = &self.dies[die];
        if !able || suspension.count >= self.max {
            return Verdict::Never;
        }
        let from = now.max(suspension.since + self.progress);
        if end <= from + self.suspend_time {
            Verdict::Never
        } else if from > now {
            Verdict::At(from)
        } else {
            Verdict::Now
        }
    }

    /// The die's work stops, `remaining` before its end.
    pub(super) fn suspend(&mut self, die: usize, remaining: Time) {
        let suspension = &mut self.dies[die];
        suspension.remaining = remaining;
        suspension.count += 1;
    }

    /// The die's work goes on after a command that ends at `command_end`. Returns its new end.
    pub(super) fn resume(&mut self, die: usize, command_end: Time) -> Time {
        let suspension = &mut self.dies[die];
        suspension.since = command_end + self.resume_time;
        suspension.since + suspension.remaining
    }
}
