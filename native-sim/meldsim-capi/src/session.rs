//! One open device, shared by all threads that hold its handle: its calls.
//!
//! In: calls of any thread. Out: what they return; a panic of one takes the device out of service.

use std::time::{Duration as Wall, Instant};

use meldsim::{Device, DeviceError, Duration, Profile};
use meldsim_timeline::Recording;
use meldsim_workload::Past;

use crate::clock::{Clock, Deadline};
use crate::error::{Failure, MELDSIM_ERR_TIMEOUT, catch, remember};
use crate::monitor::{Guard, Monitor, Next};
use crate::ring::{Entry, Ring, Shared};
use crate::state::{Executive, FaultCheck, OF_RING, State};
use crate::tickets::{DETACHED, Ended, Outcome};

/// The most commands on one device, and so the most in one batch. Submitting more runs the engine (account mode) or
/// blocks (real-time mode) until there is room.
pub const MELDSIM_MAX_OUTSTANDING: u32 = 1024;

/// Entries of a ring for which the lock is kept: others that wait for it get their turn.
const RING_BATCH: u32 = 64;
/// In account mode a wait ends by itself; this is for one that takes the host too long.
const RING_WAIT_NS: u64 = 1_000_000_000;

/// What an entry of a ring asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RingOp {
    Submit,
    Preload,
    Wait,
}

/// What came of one look at a ring.
struct Looked {
    shared: Shared,
    /// When something was last taken or done.
    active: Instant,
    /// The caller has to hear something.
    posted: bool,
    /// The device has no room for the next entry.
    full: bool,
    paced: bool,
    /// When the next event is due, and the shortest sleep.
    due: Option<(Instant, Wall)>,
}

/// How commands are submitted.
#[derive(Clone, Copy)]
pub(crate) struct How {
    /// Nobody waits.
    pub(crate) detached: bool,
    /// The outcome goes to the completion queue.
    pub(crate) posted: bool,
    pub(crate) no_wait: bool,
}

/// An open device.
pub(crate) struct Session {
    monitor: Monitor<State>,
}

impl Session {
    pub(crate) fn new(device: Device) -> Session {
        Session {
            monitor: Monitor::new(State::new(device)),
        }
    }

    /// Runs `body`. A panic inside takes this device out of service, and only this one.
    pub(crate) fn guard<R>(
        &self,
        body: impl FnOnce(&Session) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        catch(|| body(self)).unwrap_or_else(|failure| {
            if let Ok(mut state) = self.monitor.lock() {
                state.failed = Some(failure.to_string());
            }
            self.monitor.wake_all();
            Err(failure)
        })
    }

    /// Runs `body` on the device as it is now; its effects reach those who wait.
    pub(crate) fn with<R>(
        &self,
        body: impl FnOnce(&mut State) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        self.run(self.usable()?, body)
    }

    /// As [`Session::with`], for a call whose time grows with what the device holds or has to do.
    pub(crate) fn with_for_long<R>(
        &self,
        body: impl FnOnce(&mut State) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        self.run(self.usable_for_long()?, body)
    }

    /// As [`Session::with`], for a call that tests can make fail.
    pub(crate) fn with_check<R>(
        &self,
        body: impl FnOnce(&mut State) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        self.with(|state| {
            state.check_fault()?;
            body(state)
        })
    }

    fn run<R>(
        &self,
        mut state: Guard<'_, State>,
        body: impl FnOnce(&mut State) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        state.catch_up();
        let outcome = body(&mut state);
        self.publish(state);
        outcome
    }

    pub(crate) fn close(&self) {
        // A device that hangs is freed when the last of its callers has gone.
        if let Ok(mut state) = self.monitor.lock() {
            state.closed = true;
        }
        self.monitor.wake_all();
    }

    pub(crate) fn set_fault_check(&self, check: Option<FaultCheck>) -> Result<(), Failure> {
        self.usable()?.fault_check = check;
        Ok(())
    }

    /// Real-time mode with a dilation, or account mode.
    pub(crate) fn set_mode(&self, dilation: Option<f64>) -> Result<(), Failure> {
        let mut state = self.usable_for_long()?;
        let start = |state: &State| match dilation {
            None => Ok(Executive::Account),
            Some(dilation) => Clock::start(state.device.now(), dilation).map(Executive::RealTime),
        };
        start(&state)?;
        state.catch_up();
        // What was accounted must not be paced afterwards. What is paced already goes on at another
        // speed: a drain would run ahead of the wall.
        if !matches!(state.executive, Executive::RealTime(_)) || dilation.is_none() {
            state.drain();
        }
        // Anchored after the drain, which takes wall time of its own.
        state.executive = start(&state)?;
        drop(state);
        self.monitor.wake_all();
        Ok(())
    }

    /// Completes everything outstanding, then preconditions the device.
    pub(crate) fn precondition(&self, past: &Past) -> Result<(), Failure> {
        let mut state = self.usable_for_long()?;
        state.check_fault()?;
        state.catch_up();
        state.drain();
        let outcome = past.befall(&mut state.device);
        drop(state);
        self.monitor.wake_all();
        Ok(outcome?)
    }

    /// Keeps what the device does from now on.
    pub(crate) fn record(&self, recording: Recording) -> Result<(), Failure> {
        self.with(|state| {
            let timeline = Box::new(recording.clone());
            state.device.set_timeline(Some(timeline))?;
            state.recording = Some(recording);
            Ok(())
        })
    }

    /// Keeps nothing from now on; what there is, with the device's profile.
    pub(crate) fn end_recording(&self) -> Result<Option<(Recording, Profile)>, Failure> {
        self.with(|state| {
            let Some(recording) = state.recording.take() else {
                return Ok(None);
            };
            state.device.set_timeline(None)?;
            Ok(Some((recording, state.device.profile().clone())))
        })
    }

    /// Lets simulated time pass in account mode.
    pub(crate) fn advance(&self, duration: Duration) -> Result<(), Failure> {
        self.with_for_long(|state| {
            if let Executive::RealTime(_) = state.executive {
                return Err(Failure::argument(
                    "in real-time mode the wall clock moves time; sleep instead",
                ));
            }
            let until = state.device.now() + duration;
            if until > Device::LAST_SUBMISSION {
                return Err(DeviceError::EndOfTime.into());
            }
            state.device.advance_to(until);
            Ok(())
        })
    }

    /// Submits `count` commands at one instant; `send` submits the n-th with a tag. A ticket, or 0 when
    /// `detached`. In real-time mode blocks until there is room, or with `no_wait` is a timeout.
    pub(crate) fn submit(
        &self,
        count: usize,
        How {
            detached,
            posted,
            no_wait,
        }: How,
        mut send: impl FnMut(&mut Device, usize, u64) -> Result<(), Failure>,
    ) -> Result<i64, Failure> {
        let mut state = self.usable()?;
        state.check_fault()?;
        state.catch_up();
        let room = MELDSIM_MAX_OUTSTANDING as usize - count;
        if state.device.outstanding() > room {
            if no_wait && matches!(state.executive, Executive::RealTime(_)) {
                return Err(Failure::new(
                    MELDSIM_ERR_TIMEOUT,
                    format!("no room: {MELDSIM_MAX_OUTSTANDING} commands are on the device"),
                ));
            }
            state = self.wait_for_room(state, room)?;
        }
        let ticket = match detached {
            true => DETACHED as i64,
            false => state.tickets.issue(count as u32, posted)?,
        };
        let mut outcome = Ok(ticket);
        for sent in 0..count {
            if let Err(failure) = send(&mut state.device, sent, ticket as u64) {
                state.tickets.withdraw(ticket, (count - sent) as u32);
                outcome = Err(failure);
                break;
            }
        }
        self.publish(state);
        outcome
    }

    /// Waits for `ticket`; how its commands ended.
    pub(crate) fn wait(&self, ticket: i64, mut deadline: Deadline) -> Result<Ended, Failure> {
        let mut state = self.usable()?;
        state.check_fault()?;
        let mut outcome = None;
        state = self.wait_until(
            state,
            &mut deadline,
            |state| {
                outcome = state.tickets.take(ticket)?;
                Ok(outcome.is_some())
            },
            |state, blocked| state.tickets.mark_waiter(ticket, blocked),
        )?;
        drop(state);
        match outcome {
            Some(Ok(ended)) => Ok(ended),
            Some(Err(status)) => Err(Failure::of_command(status)),
            None => Err(Failure::panic("a wait ended without an outcome")),
        }
    }

    /// Gives `take` the outcomes in the completion queue, `most` of them, and says how many. In real-time mode with the
    /// time until more may follow; `None` when nothing is scheduled, and in account mode.
    pub(crate) fn reap(
        &self,
        most: usize,
        mut take: impl FnMut(usize, i64, Outcome),
    ) -> Result<(usize, Option<std::time::Duration>), Failure> {
        self.with_check(|state| {
            let mut count = 0;
            while count < most {
                let Some((ticket, outcome)) = state.tickets.reap() else {
                    break;
                };
                take(count, ticket, outcome);
                count += 1;
            }
            Ok((count, state.until_due()))
        })
    }

    pub(crate) fn forget(&self, ticket: i64) -> Result<(), Failure> {
        let mut state = self.usable()?;
        let awaited = state.tickets.forget(ticket)?;
        drop(state);
        if awaited {
            self.monitor.wake_all();
        }
        Ok(())
    }

    /// Gives the device the ring that `shared` makes, once nothing of the one before is on the device: its tickets would be
    /// taken for those of the new one.
    pub(crate) fn attach(&self, shared: impl FnOnce() -> Shared) -> Result<(), Failure> {
        let mut state = self.usable()?;
        match &state.ring {
            Some(Ring {
                outstanding: outstanding @ 1..,
                ..
            }) => Err(Failure::argument(format!(
                "{outstanding} commands of the device's ring are not done; call meldsim_ring_run until they are, then attach another"
            ))),
            _ => {
                state.ring = Some(Ring::new(shared()));
                Ok(())
            }
        }
    }

    /// Does what there is to do for the ring, and looks at it for `spin` after that; see `meldsim_ring_run`. `now_ns` is
    /// what the caller's clock shows.
    pub(crate) fn run_ring(
        &self,
        now_ns: u64,
        (spin, longest): (Wall, Wall),
        op: impl Fn(&Entry) -> RingOp,
        perform: impl Fn(&mut Device, &Entry, u64) -> Result<(), Failure>,
    ) -> Result<Option<Wall>, Failure> {
        let begin = Instant::now();
        loop {
            let on_callers_clock =
                |due: Instant| now_ns.saturating_add((due - begin).as_nanos() as u64);
            let looked = self.look_at_ring(&op, &perform, on_callers_clock)?;
            let mut now = Instant::now();
            if looked.posted {
                return Ok(Some(Wall::ZERO));
            }
            let is_news = || !looked.full && looked.shared.is_ready();
            loop {
                let left = looked
                    .due
                    .map(|(due, _)| due.saturating_duration_since(now));
                if now - begin >= longest && (is_news() || left == Some(Wall::ZERO)) {
                    return Ok(Some(Wall::ZERO));
                }
                if is_news() || left == Some(Wall::ZERO) {
                    break;
                }
                let is_near = left.is_some_and(|left| left <= spin);
                if !looked.paced || (now - looked.active >= spin && !is_near) {
                    let quantum = looked.due.map_or(Wall::ZERO, |(_, quantum)| match spin {
                        Wall::ZERO => quantum,
                        _ => Wall::ZERO,
                    });
                    // The rest of the time is spun away.
                    return Ok(left.map(|left| (left - spin.min(left)).max(quantum)));
                }
                if now - begin >= longest {
                    return Ok(Some(Wall::ZERO));
                }
                std::hint::spin_loop();
                now = Instant::now();
            }
        }
    }

    /// Takes entries of one kind, moves time, and writes what is done.
    fn look_at_ring(
        &self,
        op: &impl Fn(&Entry) -> RingOp,
        perform: &impl Fn(&mut Device, &Entry, u64) -> Result<(), Failure>,
        on_callers_clock: impl Fn(Instant) -> u64,
    ) -> Result<Looked, Failure> {
        let mut state = self.usable()?;
        let shared = state.attached()?.shared;
        let is_preload = |entry: &Entry| op(entry) == RingOp::Preload;
        let long = shared.next().as_ref().is_some_and(is_preload);
        if long {
            drop(state);
            state = self.usable_for_long()?;
        }
        state.catch_up();
        let ended = state.attached()?.ended;
        let (mut taken, mut full) = (0, false);
        while taken < RING_BATCH && !state.attached()?.has_news() {
            let next = shared.next().filter(|entry| is_preload(entry) == long);
            let Some(entry) = next else {
                break;
            };
            match self.take_entry(&mut state, op(&entry), &entry, perform) {
                Ok(true) => {}
                Ok(false) => {
                    full = true;
                    break;
                }
                Err(failure) => {
                    let ticket = match op(&entry) {
                        RingOp::Wait => entry.awaited,
                        _ => entry.ticket,
                    };
                    state.attached()?.refuse(ticket, failure);
                }
            }
            shared.take();
            taken += 1;
        }
        state.collect();
        let due = state.due();
        let paced = matches!(state.executive, Executive::RealTime(_));
        let ring = state.attached()?;
        if taken > 0 || ring.ended != ended {
            ring.active = Instant::now();
        }
        let active = ring.active;
        let posted = ring.post(full, due.map(|(due, _)| on_callers_clock(due)), remember);
        self.publish(state);
        Ok(Looked {
            shared,
            active,
            posted,
            full,
            paced,
            due,
        })
    }

    /// False when the device has no room for the entry at present.
    fn take_entry(
        &self,
        state: &mut State,
        op: RingOp,
        entry: &Entry,
        perform: impl Fn(&mut Device, &Entry, u64) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        state.check_fault()?;
        if op == RingOp::Wait {
            return state
                .wait_in_ring(entry.awaited, RING_WAIT_NS)
                .map(|()| true);
        }
        let room = MELDSIM_MAX_OUTSTANDING as usize - 1;
        let mut unread = 0;
        while op != RingOp::Preload && state.device.outstanding() > room {
            if let Executive::RealTime(_) = state.executive {
                return Ok(false);
            }
            state.step(&mut Deadline::never(), &mut unread)?;
        }
        perform(&mut state.device, entry, OF_RING | entry.ticket)?;
        state.attached()?.outstanding += u64::from(op == RingOp::Submit);
        Ok(true)
    }

    /// The device under its lock, if it is in service.
    fn usable(&self) -> Result<Guard<'_, State>, Failure> {
        let state = self.monitor.lock()?;
        state.usable()?;
        Ok(state)
    }

    /// As [`Session::usable`], for a call that may take minutes.
    fn usable_for_long(&self) -> Result<Guard<'_, State>, Failure> {
        let state = self.monitor.lock_for_long()?;
        state.usable()?;
        Ok(state)
    }

    /// Whether the last call might have taken minutes.
    #[cfg(test)]
    pub(crate) fn was_long(&self) -> bool {
        self.monitor.was_long()
    }

    /// What the caller has done reaches those who wait.
    fn publish(&self, mut state: Guard<'_, State>) {
        state.collect();
        self.monitor.wake_leader(&state, State::next_due);
        self.monitor.notify(&mut state);
    }

    fn wait_for_room<'a>(
        &'a self,
        state: Guard<'a, State>,
        room: usize,
    ) -> Result<Guard<'a, State>, Failure> {
        self.wait_until(
            state,
            &mut Deadline::never(),
            |state| Ok(state.device.outstanding() <= room),
            |state, blocked| {
                if blocked {
                    state.room_waiters += 1;
                } else {
                    state.room_waiters -= 1;
                }
            },
        )
    }

    /// Moves time by the rules of the executive until `done`. `mark` is called when the caller starts
    /// and when it stops sleeping.
    fn wait_until<'a>(
        &'a self,
        state: Guard<'a, State>,
        deadline: &mut Deadline,
        mut done: impl FnMut(&mut State) -> Result<bool, Failure>,
        mark: impl Fn(&mut State, bool),
    ) -> Result<Guard<'a, State>, Failure> {
        let mut unread = 0;
        let step = |state: &mut State, is_led: bool| {
            state.usable()?;
            state.catch_up();
            if done(state)? {
                return Ok(Next::Done);
            }
            match state.executive {
                Executive::Account => state.step(deadline, &mut unread).map(|()| Next::Again),
                Executive::RealTime(clock) => {
                    state.sleep_limit(&clock, deadline, is_led).map(Next::Sleep)
                }
            }
        };
        self.monitor.wait_until(state, step, mark)
    }
}
