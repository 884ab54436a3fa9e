//! One open device shared by all threads that hold its handle: one lock, and two bells to sleep by.

use std::time::Duration;

use meldsim::{
    Device, DeviceError, Directive, Instant, Namespace, NamespaceId, Precondition, Stats,
    Utilisation,
};
use parking_lot::MutexGuard;

use crate::account;
use crate::convert::{completed_with, refused};
use crate::deadline::Deadline;
use crate::error::{Failure, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_TIMEOUT};
use crate::fault::Fault;
use crate::lock::{Bell, DeviceLock};
use crate::panic::catch;
use crate::realtime::{self, Clock};
use crate::state::{Executive, State};
use crate::tickets::DETACHED;

/// The most commands on one device, and so the most in one batch. Submitting more runs the engine (account mode) or
/// blocks (real-time mode) until there is room.
pub const MELDSIM_MAX_OUTSTANDING: u32 = 1024;

/// An open device.
pub(crate) struct Session {
    state: DeviceLock,
    pub(crate) leader: Bell,
    pub(crate) follower: Bell,
}

impl Session {
    pub(crate) fn new(device: Device) -> Session {
        Session {
            state: DeviceLock::new(State::new(device)),
            leader: Bell::default(),
            follower: Bell::default(),
        }
    }

    /// Runs `body`. A panic inside takes this device out of service, and only this one.
    pub(crate) fn guard<R>(
        &self,
        body: impl FnOnce(&Session) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        catch(|| body(self)).unwrap_or_else(|text| {
            if let Ok(mut state) = self.lock() {
                state.failed = Some(text.clone());
            }
            self.wake_all();
            Err(Failure::panic(text))
        })
    }

    pub(crate) fn close(&self) {
        // A device that hangs tells its callers so, and is freed when the last of them has gone.
        if let Ok(mut state) = self.lock() {
            state.closed = true;
        }
        self.wake_all();
    }

    pub(crate) fn arm(&self, fault: Option<Fault>) -> Result<(), Failure> {
        let mut state = self.lock()?;
        state.usable()?;
        state.fault = fault;
        Ok(())
    }

    pub(crate) fn set_account(&self) -> Result<(), Failure> {
        let mut state = self.lock()?;
        state.usable()?;
        state.catch_up();
        account::drain(&mut state);
        state.executive = Executive::Account;
        drop(state);
        self.wake_all();
        Ok(())
    }

    pub(crate) fn set_real_time(&self, dilation: f64) -> Result<(), Failure> {
        let mut state = self.lock()?;
        state.usable()?;
        Clock::start(state.device.now(), dilation)?;
        match state.executive {
            // What was accounted must not be paced afterwards.
            Executive::Account => account::drain(&mut state),
            // Already paced: going on at another speed loses nothing, and a drain would run ahead of the wall.
            Executive::RealTime(_) => state.catch_up(),
        }
        // Anchored after the drain, which takes wall time of its own.
        state.executive = Executive::RealTime(Clock::start(state.device.now(), dilation)?);
        drop(state);
        self.wake_all();
        Ok(())
    }

    /// Creates a namespace in `set`, or in the sets in turn.
    pub(crate) fn create_namespace(
        &self,
        set: Option<u32>,
        size_bytes: u64,
    ) -> Result<NamespaceId, Failure> {
        let mut state = self.lock()?;
        state.usable()?;
        state.count_call()?;
        match set {
            Some(set) => state.device.create_namespace_in(set, size_bytes),
            None => state.device.create_namespace(size_bytes),
        }
        .map_err(refused)
    }

    /// Completes everything outstanding, then preconditions the device.
    pub(crate) fn precondition(&self, precondition: &Precondition) -> Result<(), Failure> {
        let (mut state, _patience) = self.state.lock_for_long()?;
        state.usable()?;
        state.count_call()?;
        state.catch_up();
        account::drain(&mut state);
        let outcome = state.device.precondition(precondition).map_err(refused);
        drop(state);
        self.wake_all();
        outcome
    }

    pub(crate) fn bind_stream(
        &self,
        nsid: NamespaceId,
        stream: u16,
        directive: Directive,
    ) -> Result<(), Failure> {
        let mut state = self.lock()?;
        state.usable()?;
        state.count_call()?;
        let pattern = directive
            .pattern()
            .map_err(|error| refused(DeviceError::Directive(error)))?;
        state
            .device
            .bind_stream(nsid, stream, pattern)
            .map_err(refused)
    }

    /// Runs `body` on the device as it is now; what comes of it reaches those who wait.
    pub(crate) fn on_device<R>(
        &self,
        body: impl FnOnce(&mut Device) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let mut state = self.lock()?;
        state.usable()?;
        state.catch_up();
        let outcome = body(&mut state.device);
        state.collect();
        if let Executive::RealTime(clock) = &state.executive {
            realtime::nudge(self, &state, clock);
        }
        self.spread_news(&mut state);
        outcome
    }

    /// Lets simulated time pass in account mode.
    pub(crate) fn advance(&self, duration: meldsim::Duration) -> Result<(), Failure> {
        let mut state = self.lock()?;
        state.usable()?;
        if let Executive::RealTime(_) = state.executive {
            return Err(Failure::argument(
                "in real-time mode the wall clock moves time; sleep instead",
            ));
        }
        let until = state.device.now().as_ps().checked_add(duration.as_ps());
        let until = until.filter(|&ps| ps <= Device::LAST_SUBMISSION.as_ps());
        let until = until.ok_or_else(|| refused(DeviceError::EndOfTime))?;
        state.device.advance_to(Instant::from_ps(until));
        state.collect();
        self.spread_news(&mut state);
        Ok(())
    }

    pub(crate) fn sets(&self) -> Result<u32, Failure> {
        self.on_device(|device| Ok(device.sets()))
    }

    pub(crate) fn stats(&self) -> Result<Stats, Failure> {
        self.on_device(|device| Ok(device.stats()))
    }

    /// The latency that `quantile` of the reads, or of the writes, did not exceed.
    pub(crate) fn latency(
        &self,
        writes: bool,
        quantile: f64,
    ) -> Result<meldsim::Duration, Failure> {
        self.on_device(|_| Ok(()))?;
        Ok(self.lock()?.latency(writes, quantile))
    }

    pub(crate) fn utilisation(&self) -> Result<Utilisation, Failure> {
        self.on_device(|device| Ok(device.utilisation()))
    }

    pub(crate) fn namespace<R>(
        &self,
        id: NamespaceId,
        read: impl FnOnce(&Device, &Namespace) -> R,
    ) -> Result<R, Failure> {
        let state = self.lock()?;
        state.usable()?;
        match state.device.namespace(id) {
            Some(namespace) => Ok(read(&state.device, namespace)),
            None => Err(Failure::new(
                MELDSIM_ERR_NAMESPACE,
                "no such namespace on this device",
            )),
        }
    }

    pub(crate) fn preload(
        &self,
        id: NamespaceId,
        slba: u64,
        nlb: u64,
        directive: Directive,
    ) -> Result<(), Failure> {
        let mut state = self.lock()?;
        state.usable()?;
        state.count_call()?;
        state.catch_up();
        state
            .device
            .preload(id, slba, nlb, directive)
            .map_err(refused)
    }

    /// Submits `count` commands at one instant; `send` submits the n-th with a tag. A ticket, or 0 when `detached`. In
    /// real-time mode blocks until there is room, or with `no_wait` is a timeout.
    pub(crate) fn submit(
        &self,
        count: usize,
        detached: bool,
        no_wait: bool,
        mut send: impl FnMut(&mut Device, usize, u64) -> Result<(), Failure>,
    ) -> Result<i64, Failure> {
        let mut state = self.lock()?;
        state.usable()?;
        state.count_call()?;
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
            false => state.tickets.issue(count as u32)?,
        };
        for sent in 0..count {
            if let Err(failure) = send(&mut state.device, sent, ticket as u64) {
                state.tickets.withdraw(ticket, (count - sent) as u32);
                return Err(failure);
            }
        }
        if let Executive::RealTime(clock) = &state.executive {
            realtime::nudge(self, &state, clock);
        }
        self.spread_news(&mut state);
        Ok(ticket)
    }

    /// Waits for `ticket`; the latency of its slowest command in simulated picoseconds.
    pub(crate) fn wait(&self, ticket: i64, mut deadline: Deadline) -> Result<u64, Failure> {
        let mut state = self.lock()?;
        state.usable()?;
        state.count_call()?;
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
            Some(Ok(latency_ps)) => Ok(latency_ps),
            Some(Err(status)) => Err(completed_with(status)),
            None => Err(Failure::panic("a wait ended without an outcome")),
        }
    }

    pub(crate) fn forget(&self, ticket: i64) -> Result<(), Failure> {
        let mut state = self.lock()?;
        state.usable()?;
        let awaited = state.tickets.forget(ticket)?;
        drop(state);
        if awaited {
            self.wake_all();
        }
        Ok(())
    }

    fn wait_for_room<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        room: usize,
    ) -> Result<MutexGuard<'a, State>, Failure> {
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

    /// Moves time by the rules of the executive until `done`. `mark` is told when the caller starts and stops sleeping.
    fn wait_until<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        deadline: &mut Deadline,
        mut done: impl FnMut(&mut State) -> Result<bool, Failure>,
        mark: impl Fn(&mut State, bool),
    ) -> Result<MutexGuard<'a, State>, Failure> {
        let mut unlooked = 0;
        loop {
            let finished = state.usable().and_then(|()| {
                state.catch_up();
                done(&mut state)
            });
            self.spread_news(&mut state);
            let progress = match finished {
                Ok(true) => {
                    self.hand_over(&state);
                    return Ok(state);
                }
                Ok(false) => match state.executive {
                    Executive::Account => account::step(&mut state, deadline, &mut unlooked),
                    Executive::RealTime(clock) => {
                        mark(&mut state, true);
                        let (woken, slept) = realtime::pause(self, state, &clock, deadline)?;
                        state = woken;
                        mark(&mut state, false);
                        slept
                    }
                },
                Err(failure) => Err(failure),
            };
            if let Err(failure) = progress {
                self.hand_over(&state);
                return Err(failure);
            }
        }
    }

    /// Gives the device free and sleeps until `bell` rings, at most for `limit`.
    pub(crate) fn sleep<'a>(
        &'a self,
        bell: &Bell,
        state: MutexGuard<'a, State>,
        limit: Option<Duration>,
    ) -> Result<MutexGuard<'a, State>, Failure> {
        let rings = bell.rings();
        drop(state);
        bell.sleep(rings, limit);
        self.lock()
    }

    /// A caller stops waiting: when nobody leads any more, a follower must.
    fn hand_over(&self, state: &State) {
        if state.leader_wakes.is_none() && state.followers > 0 {
            self.follower.wake_one();
        }
    }

    fn spread_news(&self, state: &mut State) {
        if std::mem::take(&mut state.news) {
            self.leader.wake_all();
            self.follower.wake_all();
        }
    }

    fn wake_all(&self) {
        self.leader.wake_all();
        self.follower.wake_all();
    }

    fn lock(&self) -> Result<MutexGuard<'_, State>, Failure> {
        // Who sleeps need not hear of a hang by himself.
        self.state.lock().inspect_err(|_| self.wake_all())
    }
}
