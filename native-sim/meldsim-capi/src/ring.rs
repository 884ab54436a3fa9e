//! The memory of a ring: what a caller's threads and the one thread that runs the device write into it.
//!
//! ```text
//!   callers:    claim a position by TAIL -> write the slot, then the entry -> its turn: position + 1
//!   the runner: an entry whose turn has come -> the device -> its turn: position + entries; HEAD
//!               a completion -> the slot is done -> posted too, where a thread sleeps for it or it has failed
//! ```
//!
//! All of it is 64-bit words. Each is atomic, so what a caller does wrong is a wrong value, and no undefined
//! behaviour. The queue of entries is Vyukov's bounded queue with one consumer. An entry at position `p` has
//! ticket `p + 1` and slot `p % slots`: a slot goes to the newest ticket.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::time::Instant;

use super::sync::AtomicU64;
use crate::error::Failure;

/// Words of an entry, and of a slot: a line of the processor's cache.
pub(crate) const LINE: usize = 8;
/// Words before the entries.
pub(crate) const HEADER: usize = POSTS + 2 * POSTS_MAX;
/// The most outcomes that one call posts.
pub(crate) const POSTS_MAX: usize = 64;

/// Positions claimed by callers.
#[cfg(test)]
pub(crate) const TAIL: usize = 0;
/// Positions taken.
pub(crate) const HEAD: usize = LINE;
/// 1 when the device has no room for the next entry.
const FULL: usize = 2 * LINE;
/// When the device goes on, on the caller's clock.
const DUE: usize = 2 * LINE + 1;
/// How many outcomes the last call has posted.
const POSTED: usize = 2 * LINE + 2;
/// Pairs of ticket and outcome.
const POSTS: usize = 4 * LINE;

/// Words of an entry: the command, flags, the ticket of a wait, the turn.
pub(crate) const COMMAND: usize = 5;
#[cfg(test)]
pub(crate) const FLAGS: usize = 5;
pub(crate) const AWAITED: usize = 6;
pub(crate) const TURN: usize = 7;

/// Words of a slot.
pub(crate) const STATE: usize = 0;
const OUTCOME: usize = 1;
pub(crate) const WAITER: usize = 2;

/// When nothing is scheduled.
const NEVER: u64 = i64::MAX as u64;

/// What is done is odd.
const DONE: u64 = 1;

/// What a caller has put in.
pub(crate) struct Entry {
    pub(crate) ticket: u64,
    pub(crate) command: [u64; COMMAND],
    pub(crate) awaited: u64,
}

/// The memory, which the caller and the library share.
#[derive(Clone, Copy)]
pub(crate) struct Shared {
    words: &'static [AtomicU64],
    entries: u64,
    slots: u64,
}

impl Shared {
    /// Words of a ring.
    pub(crate) fn words(entries: u32, slots: u32) -> usize {
        HEADER + LINE * (entries as usize + slots as usize)
    }

    /// An empty ring in `words`, of which there are as many as [`Shared::words`] says.
    pub(crate) fn new(words: &'static [AtomicU64], entries: u32, slots: u32) -> Shared {
        let shared = Shared {
            words,
            entries: entries.into(),
            slots: slots.into(),
        };
        words.iter().for_each(|word| word.store(0, Relaxed));
        for position in 0..shared.entries {
            shared.entry(position)[TURN].store(position, Release);
        }
        shared.words[DUE].store(NEVER, Relaxed);
        shared
    }

    pub(crate) fn entry(&self, position: u64) -> &[AtomicU64] {
        let at = HEADER + LINE * (position % self.entries) as usize;
        &self.words[at..at + LINE]
    }

    pub(crate) fn slot(&self, ticket: u64) -> &[AtomicU64] {
        let slot = ticket.wrapping_sub(1) % self.slots;
        let at = HEADER + LINE * (self.entries + slot) as usize;
        &self.words[at..at + LINE]
    }

    /// Whether an entry's turn has come.
    pub(crate) fn is_ready(&self) -> bool {
        let head = self.words[HEAD].load(Relaxed);
        self.entry(head)[TURN].load(Acquire) == head + 1
    }

    /// The entry whose turn has come.
    pub(crate) fn next(&self) -> Option<Entry> {
        let head = self.words[HEAD].load(Relaxed);
        let words = self.entry(head);
        (words[TURN].load(Acquire) == head + 1).then(|| Entry {
            ticket: head + 1,
            command: std::array::from_fn(|at| words[at].load(Relaxed)),
            awaited: words[AWAITED].load(Relaxed),
        })
    }

    /// The next entry has been seen to.
    pub(crate) fn take(&self) {
        let head = self.words[HEAD].load(Relaxed);
        self.entry(head)[TURN].store(head + self.entries, Release);
        self.words[HEAD].store(head + 1, Release);
    }

    pub(crate) fn is_pending(&self, ticket: u64) -> bool {
        self.slot(ticket)[STATE].load(Acquire) == ticket << 1
    }

    /// Who waits for the ticket goes on. Whether that is a thread that sleeps.
    pub(crate) fn end(&self, ticket: u64, outcome: u64) -> bool {
        let slot = self.slot(ticket);
        if !self.is_pending(ticket) {
            return false;
        }
        slot[OUTCOME].store(outcome, Relaxed);
        let (pending, done) = (ticket << 1, ticket << 1 | DONE);
        // Either this sees the waiter, or the waiter sees that it is done.
        slot[STATE]
            .compare_exchange(pending, done, SeqCst, Relaxed)
            .is_ok()
            && slot[WAITER].load(SeqCst) != 0
    }
}

/// An outcome that the caller has to hear of.
pub(crate) struct Post {
    pub(crate) ticket: u64,
    pub(crate) outcome: Result<u64, Failure>,
}

/// A ring that a device has.
pub(crate) struct Ring {
    pub(crate) shared: Shared,
    unheard: VecDeque<Post>,
    /// Outcomes so far.
    pub(crate) ended: u64,
    /// Commands on the device whose outcome goes here.
    pub(crate) outstanding: u64,
    /// When something was last taken or done. A spin ends so long after it, however many calls that takes.
    pub(crate) active: Instant,
}

impl Ring {
    pub(crate) fn new(shared: Shared) -> Ring {
        Ring {
            shared,
            unheard: VecDeque::new(),
            ended: 0,
            outstanding: 0,
            active: Instant::now(),
        }
    }

    /// A command has ended. When it has failed, the caller hears of it, even if nobody waits, and ends its slot.
    pub(crate) fn complete(&mut self, ticket: u64, outcome: Result<u64, Failure>) {
        self.ended += 1;
        self.outstanding -= 1;
        let heard = match &outcome {
            Ok(latency_ps) => !self.shared.end(ticket, *latency_ps),
            Err(_) => false,
        };
        if !heard {
            self.unheard.push_back(Post { ticket, outcome });
        }
    }

    /// An entry was refused, or a wait has failed.
    pub(crate) fn refuse(&mut self, ticket: u64, failure: Failure) {
        let outcome = Err(failure);
        self.unheard.push_back(Post { ticket, outcome });
    }

    /// Whether the caller has to hear something.
    pub(crate) fn has_news(&self) -> bool {
        !self.unheard.is_empty()
    }

    pub(crate) fn has_failed(&self, ticket: u64) -> bool {
        self.unheard.iter().any(|post| post.ticket == ticket)
    }

    /// Tells the caller what it has to hear; a failure, of which `code` makes a number, is the last of it.
    /// Whether there was something.
    pub(crate) fn post(
        &mut self,
        is_full: bool,
        due_ns: Option<u64>,
        code: impl Fn(&Failure) -> i32,
    ) -> bool {
        let words = self.shared.words;
        words[FULL].store(is_full.into(), Relaxed);
        words[DUE].store(due_ns.unwrap_or(NEVER), Relaxed);
        let mut posted = 0;
        while posted < POSTS_MAX {
            let Some(post) = self.unheard.pop_front() else {
                break;
            };
            let outcome = match &post.outcome {
                Ok(latency_ps) => *latency_ps,
                Err(failure) => i64::from(code(failure)) as u64,
            };
            words[POSTS + 2 * posted].store(post.ticket, Relaxed);
            words[POSTS + 2 * posted + 1].store(outcome, Relaxed);
            posted += 1;
            if post.outcome.is_err() {
                break;
            }
        }
        words[POSTED].store(posted as u64, Release);
        posted > 0
    }
}
