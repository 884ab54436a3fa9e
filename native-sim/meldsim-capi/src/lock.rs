//! The lock of a device, for which nobody waits without bound, and places to sleep without it.
//!
//! What is simulated takes microseconds, so a caller that keeps the device for [`LOOKS`] times [`LOOK`] hangs. It cannot be
//! stopped, but all others can be kept from it: whoever waits for the lock gives the device up for all of them.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::error::Failure;
use crate::state::State;

/// How long a waiter sleeps before it looks whether the lock has changed hands.
const LOOK: Duration = Duration::from_millis(100);
/// So many looks at one holder are a hang. They are counted, and no time measured: a process that was stopped for a minute
/// must not find its device hanging when it goes on.
const LOOKS: u32 = 100;

/// The state of a device behind its lock.
pub(crate) struct DeviceLock {
    state: Mutex<State>,
    /// How often the lock was taken: the same number is the same holder.
    taken: AtomicU64,
    /// The holder may take its time.
    patient: AtomicBool,
    hangs: AtomicBool,
}

impl DeviceLock {
    pub(crate) fn new(state: State) -> DeviceLock {
        DeviceLock {
            state: Mutex::new(state),
            taken: AtomicU64::new(0),
            patient: AtomicBool::new(false),
            hangs: AtomicBool::new(false),
        }
    }

    /// Waits for the lock as long as it changes hands. A failure when the device hangs, then and from then on.
    pub(crate) fn lock(&self) -> Result<MutexGuard<'_, State>, Failure> {
        let state = match self.state.try_lock() {
            Some(state) => state,
            None => self.wait()?,
        };
        if self.hangs.load(Relaxed) {
            return Err(hangs());
        }
        self.taken.store(self.taken.load(Relaxed) + 1, Relaxed);
        Ok(state)
    }

    /// As [`DeviceLock::lock`], for a call that may take minutes: nobody takes it for one that hangs.
    pub(crate) fn lock_for_long(&self) -> Result<(MutexGuard<'_, State>, Patience<'_>), Failure> {
        let state = self.lock()?;
        self.patient.store(true, Relaxed);
        Ok((state, Patience(self)))
    }

    #[cold]
    fn wait(&self) -> Result<MutexGuard<'_, State>, Failure> {
        let mut holder = self.taken.load(Relaxed);
        let mut looks = 0;
        while !self.hangs.load(Relaxed) {
            if let Some(state) = self.state.try_lock_for(LOOK) {
                return Ok(state);
            }
            let present = self.taken.load(Relaxed);
            if present != holder || self.patient.load(Relaxed) {
                holder = present;
                looks = 0;
            } else {
                looks += 1;
                if looks == LOOKS {
                    self.hangs.store(true, Relaxed);
                }
            }
        }
        Err(hangs())
    }
}

fn hangs() -> Failure {
    let seconds = (LOOK * LOOKS).as_secs();
    Failure::panic(format!(
        "the device is out of service: it hangs; a call has not returned for {seconds} s"
    ))
}

/// The holder of the lock may take its time until this is dropped.
pub(crate) struct Patience<'a>(&'a DeviceLock);

impl Drop for Patience<'_> {
    fn drop(&mut self) {
        self.0.patient.store(false, Relaxed);
    }
}

/// Wakes threads that sleep without the device's lock: a condition variable of that lock would have them wait for it
/// without bound when they wake.
#[derive(Default)]
pub(crate) struct Bell {
    rings: std::sync::Mutex<u64>,
    rung: std::sync::Condvar,
}

impl Bell {
    /// What [`Bell::sleep`] wants to know, taken while the device is locked.
    pub(crate) fn rings(&self) -> u64 {
        *self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wake_one(&self) {
        self.ring();
        self.rung.notify_one();
    }

    pub(crate) fn wake_all(&self) {
        self.ring();
        self.rung.notify_all();
    }

    fn ring(&self) {
        *self.rings.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    /// Sleeps until it has rung since `rings`, at most for `limit`; sometimes shorter.
    pub(crate) fn sleep(&self, rings: u64, limit: Option<Duration>) {
        let present = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        if *present != rings {
            return;
        }
        match limit {
            Some(limit) => drop(self.rung.wait_timeout(present, limit)),
            None => drop(self.rung.wait(present)),
        }
    }
}
