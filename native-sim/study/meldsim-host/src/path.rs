//! The host's path to the device, as `host.path` of the profile has it. Each stream is a thread of the host.
//!
//! ```text
//!   Load::next ------> thread of the stream: `submit` each, one after the other --> Device
//!   Load::completed <-- the host sees a completion `completion` after the device <----'
//! ```
//!
//! A thread that works on a command sees no completion meanwhile; these are deferred until it is free and has nothing to submit.
//!
//! Both times are the same for every command, so what begins first ends first: two queues hold all that is on its way.
//! A path that takes no time is not used.

use std::collections::VecDeque;

use meldsim::nvme::{Command, Completion};
use meldsim::profile::PathTimes;
use meldsim::{Duration, Instant};

/// Commands that threads work on, and completions that the host has not seen.
#[derive(Debug)]
pub(super) struct Path {
    times: PathTimes,
    /// When the device gets it, the stream that submits it, the command.
    leaving: VecDeque<(Instant, usize, Command)>,
    /// Each with the time at which the host sees it.
    returning: VecDeque<Completion>,
    /// Of the returning, those that the host can see by now.
    arrived: usize,
    /// Of each stream, completions that its thread was too busy to see.
    deferred: Vec<VecDeque<Completion>>,
    /// How many these are.
    all_deferred: usize,
}

impl Path {
    pub(super) fn new(times: PathTimes, streams: usize) -> Path {
        Path {
            times,
            leaving: VecDeque::new(),
            returning: VecDeque::new(),
            arrived: 0,
            deferred: vec![VecDeque::new(); streams],
            all_deferred: 0,
        }
    }

    /// Whether a thread takes time to submit a command.
    #[inline]
    pub(super) fn holds_commands(&self) -> bool {
        self.times.submit > Duration::ZERO
    }

    /// Whether commands and completions are where they go to at once.
    pub(super) fn takes_no_time(&self) -> bool {
        self.times == PathTimes::default()
    }

    /// A thread that is free begins to submit a command.
    pub(super) fn begin(&mut self, stream: usize, command: Command, now: Instant) {
        let end = now + self.times.submit;
        self.leaving.push_back((end, stream, command));
    }

    /// The next command that the device gets by now, with its stream, whose thread is free again.
    pub(super) fn leave(&mut self, now: Instant) -> Option<(usize, Command)> {
        let (end, ..) = self.leaving.front()?;
        if *end > now {
            return None;
        }
        let first = self.leaving.pop_front();
        first.map(|(_, stream, command)| (stream, command))
    }

    /// The device has completed a command.
    pub(super) fn complete(&mut self, mut completion: Completion) {
        completion.completed += self.times.completion;
        self.returning.push_back(completion);
    }

    /// The next completion that the host sees by now, as of when it sees it.
    pub(super) fn arrive(&mut self, now: Instant) -> Option<Completion> {
        self.count_arrived(now);
        self.arrived = self.arrived.checked_sub(1)?;
        self.returning.pop_front()
    }

    /// A completion has arrived that the stream's thread is too busy to see.
    pub(super) fn defer(&mut self, stream: usize, completion: Completion) {
        self.deferred[stream].push_back(completion);
        self.all_deferred += 1;
    }

    /// The first that was deferred, as of now, when the stream's thread sees it.
    pub(super) fn see_deferred(&mut self, stream: usize, now: Instant) -> Option<Completion> {
        let mut completion = self.deferred[stream].pop_front()?;
        self.all_deferred -= 1;
        completion.completed = now;
        Some(completion)
    }

    /// Completions of the stream that are deferred.
    #[inline]
    pub(super) fn deferred(&self, stream: usize) -> usize {
        self.deferred[stream].len()
    }

    /// Commands and completions on their way or deferred: all that a thread which is free could not see by now.
    #[inline]
    pub(super) fn on_their_way(&mut self, now: Instant) -> usize {
        self.count_arrived(now);
        self.leaving.len() + self.returning.len() - self.arrived + self.all_deferred
    }

    /// When the next command or completion has gone its way.
    pub(super) fn next_event(&self) -> Instant {
        let leaves = self.leaving.front().map(|(end, ..)| *end);
        let arrives = self.returning.front().map(|done| done.completed);
        let events = leaves.into_iter().chain(arrives);
        events.min().unwrap_or(Instant::MAX)
    }

    #[inline]
    fn count_arrived(&mut self, now: Instant) {
        while let Some(next) = self.returning.get(self.arrived) {
            if next.completed > now {
                break;
            }
            self.arrived += 1;
        }
    }
}
