//! The lock of a device, for which nobody waits without bound, and how threads wait for the device.
//!
//! In: threads that use the device, or wait until something has happened on it. Out: the device under
//! its lock, or a failure when a call hangs. This is a monitor (Hoare, 1974) that can be given up.
//!
//! **Hangs.** What is simulated takes microseconds, so a caller that keeps the lock for [`POLLS`] times
//! [`POLL`] hangs. It cannot be stopped, but all others can be kept from it: a thread that waits for the
//! lock that long gives the device up for all of them.
//!
//! **Waiting.** There is no thread here. Among the callers that wait for the wall clock, one leads: it
//! sleeps until the next event is due, processes what has become due, and wakes the others when
//! something they wait for has happened. A leader that leaves hands over to a follower. While nobody
//! waits, due events stay; the next call catches up, with the same outcome, since no command can
//! arrive in between.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::sync::{AtomicBool, AtomicU64, Condvar, Mutex, MutexGuard};
use crate::error::Failure;

/// How long a thread waits for the lock before it checks whether the lock has changed hands.
const POLL: Duration = Duration::from_millis(100);
/// As many checks that find the same holder are a hang. Checks are counted, and no time measured: a
/// process that was stopped for a minute must not find its device hanging when it goes on.
const POLLS: u32 = 100;
/// The leader's longest sleep; it then checks again.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);

/// What a monitor guards.
pub(crate) trait Guarded {
    /// Whether something has happened that a thread waits for, since this was last asked.
    fn take_news(&mut self) -> bool;
}

/// The state behind the lock, and who sleeps.
pub(crate) struct Shared<S> {
    state: S,
    /// When the leader's sleep ends; `None` when nobody leads.
    leader_wakes: Option<Instant>,
    followers: u32,
}

impl<S> Deref for Shared<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.state
    }
}

impl<S> DerefMut for Shared<S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.state
    }
}

/// The state, for as long as the caller has the lock.
pub(crate) type Guard<'a, S> = MutexGuard<'a, Shared<S>>;

/// What a thread that waits does next.
pub(crate) enum Next {
    /// It returns.
    Done,
    /// It goes on at once.
    Again,
    /// It sleeps until something has happened, at most for so long.
    Sleep(Option<Duration>),
}

/// See the module's description.
pub(crate) struct Monitor<S> {
    shared: Mutex<Shared<S>>,
    /// How often the lock was taken: the same number is the same holder.
    taken: AtomicU64,
    /// The holder that may keep the lock for long, as `taken` counts; 0 for none so far.
    long: AtomicU64,
    hangs: AtomicBool,
    leader: Event,
    follower: Event,
}

impl<S: Guarded> Monitor<S> {
    pub(crate) fn new(state: S) -> Monitor<S> {
        Monitor {
            shared: Mutex::new(Shared {
                state,
                leader_wakes: None,
                followers: 0,
            }),
            taken: AtomicU64::new(0),
            long: AtomicU64::new(0),
            hangs: AtomicBool::new(false),
            leader: Event::new(),
            follower: Event::new(),
        }
    }

    /// Waits for the lock as long as it changes hands. A failure when the device hangs, then and from
    /// then on.
    pub(crate) fn lock(&self) -> Result<Guard<'_, S>, Failure> {
        let guard = self.shared.try_lock().or_else(|| self.poll());
        match guard.filter(|_| !self.hangs.load(Relaxed)) {
            Some(guard) => {
                self.taken.store(self.taken.load(Relaxed) + 1, Relaxed);
                Ok(guard)
            }
            None => {
                // A thread that sleeps learns of the hang when it wakes.
                self.wake_all();
                let seconds = (POLL * POLLS).as_secs();
                Err(Failure::panic(format!(
                    "the device is out of service: it hangs; a call has not returned for {seconds} s"
                )))
            }
        }
    }

    /// As [`Monitor::lock`], for a call that may take minutes and does not hang.
    pub(crate) fn lock_for_long(&self) -> Result<Guard<'_, S>, Failure> {
        let guard = self.lock()?;
        self.long.store(self.taken.load(Relaxed), Relaxed);
        Ok(guard)
    }

    /// Whether the present or last holder may keep the lock, or might have kept it, for long.
    #[cfg(test)]
    pub(crate) fn was_long(&self) -> bool {
        self.long.load(Relaxed) == self.taken.load(Relaxed)
    }

    /// The lock, when it is not free at once; `None` when its holder hangs.
    #[cold]
    fn poll(&self) -> Option<Guard<'_, S>> {
        let mut holder = self.taken.load(Relaxed);
        let mut polls = 0;
        while !self.hangs.load(Relaxed) {
            if let Some(guard) = self.shared.try_lock_for(POLL) {
                return Some(guard);
            }
            let present = self.taken.load(Relaxed);
            if present != holder || present == self.long.load(Relaxed) {
                holder = present;
                polls = 0;
            } else {
                polls += 1;
                if polls == POLLS {
                    self.hangs.store(true, Relaxed);
                }
            }
        }
        None
    }

    /// Takes steps until one is the last. A step learns whether another thread leads. `mark` is called
    /// when the caller starts and when it stops sleeping. The caller has no lock any more when the
    /// device hangs.
    pub(crate) fn wait_until<'a>(
        &'a self,
        mut guard: Guard<'a, S>,
        mut step: impl FnMut(&mut S, bool) -> Result<Next, Failure>,
        mark: impl Fn(&mut S, bool),
    ) -> Result<Guard<'a, S>, Failure> {
        loop {
            let is_led = guard.leader_wakes.is_some();
            let next = step(&mut guard, is_led);
            self.notify(&mut guard);
            match next {
                Ok(Next::Again) => {}
                Ok(Next::Sleep(limit)) => {
                    mark(&mut guard, true);
                    guard = self.sleep(guard, limit)?;
                    mark(&mut guard, false);
                }
                Ok(Next::Done) => {
                    self.hand_over(&guard);
                    return Ok(guard);
                }
                Err(failure) => {
                    self.hand_over(&guard);
                    return Err(failure);
                }
            }
        }
    }

    /// Gives the lock up and sleeps, as the leader when there is none.
    fn sleep<'a>(
        &'a self,
        mut guard: Guard<'a, S>,
        limit: Option<Duration>,
    ) -> Result<Guard<'a, S>, Failure> {
        let leads = guard.leader_wakes.is_none();
        let (event, limit) = if leads {
            let limit = limit.unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP);
            guard.leader_wakes = Some(Instant::now() + limit);
            (&self.leader, Some(limit))
        } else {
            guard.followers += 1;
            (&self.follower, limit)
        };
        let seen = event.count();
        drop(guard);
        event.sleep(seen, limit);
        let mut guard = self.lock()?;
        if leads {
            guard.leader_wakes = None;
        } else {
            guard.followers -= 1;
        }
        Ok(guard)
    }

    /// A caller stops waiting: when nobody leads any more, a follower must.
    fn hand_over(&self, guard: &Guard<'_, S>) {
        if guard.leader_wakes.is_none() && guard.followers > 0 {
            self.follower.wake_one();
        }
    }

    /// Wakes all that sleep when one of them has something to see.
    pub(crate) fn notify(&self, guard: &mut Guard<'_, S>) {
        if guard.take_news() {
            self.wake_all();
        }
    }

    /// Wakes the leader when something is due before its sleep ends.
    pub(crate) fn wake_leader(
        &self,
        guard: &Guard<'_, S>,
        due: impl FnOnce(&S) -> Option<Instant>,
    ) {
        let Some(wakes) = guard.leader_wakes else {
            return;
        };
        if due(guard).is_some_and(|due| due < wakes) {
            self.leader.wake_one();
        }
    }

    pub(crate) fn wake_all(&self) {
        self.leader.wake_all();
        self.follower.wake_all();
    }
}

/// An event count (Reed and Kanodia, 1979): threads sleep by it without the device's lock. By a
/// condition variable of that lock they would wait for it without bound when they wake.
struct Event {
    count: Mutex<u64>,
    advanced: Condvar,
}

impl Event {
    fn new() -> Event {
        Event {
            count: Mutex::new(0),
            advanced: Condvar::new(),
        }
    }

    /// What [`Event::sleep`] compares with, read while the device is locked.
    fn count(&self) -> u64 {
        *self.count.lock()
    }

    fn wake_one(&self) {
        *self.count.lock() += 1;
        self.advanced.notify_one();
    }

    fn wake_all(&self) {
        *self.count.lock() += 1;
        self.advanced.notify_all();
    }

    /// Sleeps until the count is no longer `seen`, at most for `limit`; sometimes shorter.
    fn sleep(&self, seen: u64, limit: Option<Duration>) {
        let mut count = self.count.lock();
        if *count != seen {
            return;
        }
        match limit {
            Some(limit) => drop(self.advanced.wait_for(&mut count, limit)),
            None => self.advanced.wait(&mut count),
        }
    }
}
