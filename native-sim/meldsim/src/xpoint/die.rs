//! A memory die: it takes one operation after another, and several overlap if on different chunks.

use std::collections::VecDeque;

use crate::engine::Time;

/// A chunk that is being read or written.
#[derive(Clone, Copy, Debug)]
struct Held {
    chunk: u64,
    until: Time,
}

/// A die and what waits for it, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Die {
    waiting: VecDeque<(u32, u64)>,
    /// When it may take its next operation.
    free_at: Time,
    /// Few: as many operations as overlap.
    held: Vec<Held>,
    /// An event will look at the first that waits.
    is_timed: bool,
    /// What all operations so far take.
    total: Time,
}

/// What a die does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Starts this access.
    Start(u32),
    /// Cannot start anything before this time.
    Wait(Time),
    /// Has nothing to do, or is looked at later anyhow.
    Nothing,
}

impl Die {
    #[inline]
    pub(super) fn enqueue(&mut self, access: u32, chunk: u64) {
        self.waiting.push_back((access, chunk));
    }

    /// The event for the first that waits has come.
    #[inline]
    pub(super) fn look(&mut self) {
        self.is_timed = false;
    }

    #[inline]
    pub(super) fn next(&mut self, now: Time) -> Next {
        if self.is_timed {
            return Next::Nothing;
        }
        let Some(&(access, chunk)) = self.waiting.front() else {
            return Next::Nothing;
        };
        self.held.retain(|held| held.until > now);
        let held = self.held.iter().find(|held| held.chunk == chunk);
        let at = held.map_or(Time::ZERO, |held| held.until).max(self.free_at);
        if at > now {
            self.is_timed = true;
            return Next::Wait(at);
        }
        self.waiting.pop_front();
        Next::Start(access)
    }

    /// An operation on `chunk` starts: the die is taken for `interval`, the chunk for `time`.
    #[inline]
    pub(super) fn start(&mut self, now: Time, chunk: u64, interval: Time, time: Time) {
        self.free_at = now + interval;
        self.total += interval;
        self.held.push(Held {
            chunk,
            until: now + time,
        });
    }

    /// Time it was taken by operations.
    pub(super) fn busy(&self, now: Time) -> Time {
        self.total - self.free_at.saturating_sub(now)
    }
}
