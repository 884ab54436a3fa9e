//! Model tests of the monitor: `monitor.rs` compiled a second time, over shuttle's mutexes, condition variables and
//! threads, and run under thousands of schedules. A lost wake-up, or a leader that leaves without handing over, is a
//! deadlock, which shuttle reports with the schedule that leads to it.

#[allow(clippy::duplicate_mod, reason = "over other primitives")]
#[path = "../monitor.rs"]
mod monitor;

use std::cell::Cell;
use std::time::{Duration, Instant};

use shuttle::sync::Arc;
use shuttle::{check_dfs, check_pct, check_random, thread};

use self::monitor::{Guarded, Monitor, Next};
use crate::error::Failure;

const WAITERS: usize = 3;
const SCHEDULES: usize = 3000;

thread_local! {
    /// Whether sleeps end by their limit. A model runs on one thread of the process.
    static LIMITS_PASS: Cell<bool> = const { Cell::new(true) };
    /// Whether a thread that waits for the lock polls it; else it gets it in the end, whatever the schedule.
    static POLLS: Cell<bool> = const { Cell::new(false) };
    /// How often a thread has waited for the lock.
    static WAITS: Cell<u32> = const { Cell::new(0) };
}

/// What the monitor is made of, in terms of shuttle.
mod sync {
    use std::ops::{Deref, DerefMut};
    use std::time::Duration;

    use shuttle::sync::TryLockError;
    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU64};

    pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

    /// Empty only while its thread waits by a condition variable.
    pub(crate) struct MutexGuard<'a, T> {
        mutex: &'a Mutex<T>,
        guard: Option<shuttle::sync::MutexGuard<'a, T>>,
    }

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Mutex<T> {
            Mutex(shuttle::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard {
                mutex: self,
                guard: Some(self.0.lock().unwrap()),
            }
        }

        pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            let guard = match self.0.try_lock() {
                Ok(guard) => Some(guard),
                Err(TryLockError::WouldBlock) => return None,
                Err(TryLockError::Poisoned(error)) => panic!("{error}"),
            };
            Some(MutexGuard { mutex: self, guard })
        }

        pub(crate) fn try_lock_for(&self, _: Duration) -> Option<MutexGuard<'_, T>> {
            if !super::POLLS.get() {
                return Some(self.lock());
            }
            super::WAITS.set(super::WAITS.get() + 1);
            shuttle::thread::yield_now();
            self.try_lock()
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            self.guard.as_ref().unwrap()
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.guard.as_mut().unwrap()
        }
    }

    pub(crate) struct Condvar(shuttle::sync::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Condvar {
            Condvar(shuttle::sync::Condvar::new())
        }

        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }

        pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            let inner = guard.guard.take().unwrap();
            guard.guard = Some(self.0.wait(inner).unwrap());
        }

        /// The limit passes whenever the schedule has it so, or never. Whether it has passed.
        pub(crate) fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, _: Duration) -> bool {
            if super::LIMITS_PASS.get() {
                drop(guard.guard.take());
                shuttle::thread::yield_now();
                *guard = guard.mutex.lock();
            } else {
                self.wait(guard);
            }
            super::LIMITS_PASS.get()
        }
    }
}

/// A device of which each waiter waits for a completion of its own. Only a thread that leads, or would,
/// processes what is due: the others depend on being woken.
#[derive(Default)]
struct Device {
    /// Completions to come, the next one last.
    due: Vec<usize>,
    completed: [bool; WAITERS],
    sleeps: [bool; WAITERS],
    news: bool,
    closed: bool,
    /// What is due is processed by a thread that has not slept, too.
    is_eager: bool,
}

impl Guarded for Device {
    fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }
}

impl Device {
    fn complete(&mut self, waiter: usize) {
        self.completed[waiter] = true;
        self.news |= self.sleeps[waiter];
    }
}

fn device(due: &[usize]) -> Arc<Monitor<Device>> {
    Arc::new(Monitor::new(Device {
        due: due.to_vec(),
        ..Device::default()
    }))
}

/// Waits for the completion of `waiter`, at most for so many steps.
fn wait(monitor: &Monitor<Device>, waiter: usize, steps: usize) -> Result<(), Failure> {
    let mut left = steps;
    let step = |device: &mut Device, is_led: bool| {
        if device.closed {
            return Err(Failure::argument("closed"));
        }
        if device.completed[waiter] {
            return Ok(Next::Done);
        }
        if !is_led && (device.is_eager || left < steps) {
            // It has slept until something was due.
            if let Some(next) = device.due.pop() {
                device.complete(next);
                return Ok(Next::Again);
            }
        }
        left = left.checked_sub(1).ok_or(Failure::argument("timeout"))?;
        Ok(Next::Sleep((!is_led).then_some(Duration::ZERO)))
    };
    let guard = monitor.lock()?;
    let mark = |device: &mut Device, sleeps| device.sleeps[waiter] = sleeps;
    monitor.wait_until(guard, step, mark).map(drop)
}

/// Spawns a waiter for each number of steps.
fn spawn(
    monitor: &Arc<Monitor<Device>>,
    steps: &[usize],
) -> Vec<thread::JoinHandle<Result<(), Failure>>> {
    let spawn = |(waiter, &steps): (usize, &usize)| {
        let monitor = monitor.clone();
        thread::spawn(move || wait(&monitor, waiter, steps))
    };
    steps.iter().enumerate().map(spawn).collect()
}

const FOR_EVER: usize = usize::MAX;

fn all_orders(check: impl Fn([usize; WAITERS])) {
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        check(order);
    }
}

#[test]
fn no_wake_up_is_lost_whatever_completes_first() {
    all_orders(|order| {
        let model = move || {
            let monitor = device(&order);
            for waiter in spawn(&monitor, &[FOR_EVER; WAITERS]) {
                waiter.join().unwrap().unwrap();
            }
        };
        check_random(model, SCHEDULES / 6);
        check_pct(model, SCHEDULES / 6, 3);
    });
}

#[test]
fn two_waiters_under_schedules_one_after_the_other() {
    let model = || {
        let monitor = device(&[1, 0]);
        for waiter in spawn(&monitor, &[FOR_EVER; 2]) {
            waiter.join().unwrap().unwrap();
        }
    };
    check_dfs(model, Some(4 * SCHEDULES));
}

/// The leader gives up before anything has completed; the others must not sleep for ever.
#[test]
fn a_leader_that_leaves_hands_over() {
    all_orders(|order| {
        let model = move || {
            let monitor = device(&order);
            let mut waiters = spawn(&monitor, &[1, FOR_EVER, FOR_EVER]);
            let first = waiters.remove(0);
            for waiter in waiters {
                waiter.join().unwrap().unwrap();
            }
            let _either = first.join().unwrap();
        };
        check_random(model, SCHEDULES / 6);
        check_pct(model, SCHEDULES / 6, 3);
    });
}

/// What another thread does reaches a waiter that sleeps, whether it leads or follows.
#[test]
fn news_of_other_threads_wake_leader_and_followers() {
    let model = || {
        LIMITS_PASS.set(false);
        let monitor = device(&[]);
        let waiters = spawn(&monitor, &[FOR_EVER; WAITERS]);
        for waiter in 0..WAITERS {
            let mut guard = monitor.lock().unwrap();
            guard.complete(waiter);
            monitor.notify(&mut guard);
        }
        for waiter in waiters {
            waiter.join().unwrap().unwrap();
        }
    };
    check_random(model, SCHEDULES);
    check_pct(model, SCHEDULES, 3);
}

/// The leader sleeps for nothing in particular when a command comes that completes earlier.
#[test]
fn a_new_command_wakes_the_leader() {
    let earlier = Instant::now();
    let model = move || {
        LIMITS_PASS.set(false);
        let monitor = device(&[]);
        monitor.lock().unwrap().is_eager = true;
        let waiters = spawn(&monitor, &[FOR_EVER; WAITERS]);
        for waiter in 0..WAITERS {
            let mut guard = monitor.lock().unwrap();
            guard.due.push(waiter);
            monitor.wake_leader(&guard, |_| Some(earlier));
        }
        for waiter in waiters {
            waiter.join().unwrap().unwrap();
        }
    };
    check_random(model, SCHEDULES);
}

#[test]
fn closing_wakes_everybody() {
    let model = || {
        LIMITS_PASS.set(false);
        let monitor = device(&[]);
        let waiters = spawn(&monitor, &[FOR_EVER; WAITERS]);
        let mut guard = monitor.lock().unwrap();
        guard.closed = true;
        drop(guard);
        monitor.wake_all();
        for waiter in waiters {
            waiter.join().unwrap().unwrap_err();
        }
    };
    check_random(model, SCHEDULES);
}

#[test]
fn a_call_that_hangs_is_left_alone_by_all_others() {
    let model = || {
        POLLS.set(true);
        LIMITS_PASS.set(false);
        let monitor = device(&[]);
        let waiters = spawn(&monitor, &[FOR_EVER; 2]);
        let hangs = monitor.lock().unwrap();
        let other = {
            let monitor = monitor.clone();
            thread::spawn(move || monitor.lock().map(drop))
        };
        assert!(other.join().unwrap().is_err());
        for waiter in waiters {
            let failure = waiter.join().unwrap().unwrap_err();
            assert!(failure.to_string().contains("hangs"), "{failure}");
        }
        let waits = WAITS.get();
        assert!(monitor.lock().is_err());
        assert_eq!(WAITS.get(), waits, "what hangs is known");
        drop(hangs);
        assert!(monitor.lock().is_err(), "and so it stays");
    };
    check_random(model, SCHEDULES / 10);
}

#[test]
fn a_call_that_holds_the_lock_for_long_is_waited_for() {
    let model = || {
        POLLS.set(true);
        let monitor = device(&[]);
        let guard = monitor.lock_for_long().unwrap();
        let other = {
            let monitor = monitor.clone();
            thread::spawn(move || monitor.lock().map(drop))
        };
        for _ in 0..500 {
            thread::yield_now();
        }
        drop(guard);
        assert!(other.join().unwrap().is_ok());
    };
    check_random(model, SCHEDULES / 10);
}

/// That a call may take long ends with that call: neither does it end another's, nor may the next one hang.
#[test]
fn each_long_call_is_waited_for_and_no_other() {
    let model = || {
        POLLS.set(true);
        let monitor = device(&[]);
        let calls: Vec<_> = (0..3)
            .map(|_| {
                let monitor = monitor.clone();
                thread::spawn(move || {
                    let guard = monitor.lock_for_long()?;
                    assert!(monitor.was_long());
                    for _ in 0..200 {
                        thread::yield_now();
                    }
                    drop(guard);
                    Ok::<(), Failure>(())
                })
            })
            .collect();
        for call in calls {
            assert!(call.join().unwrap().is_ok());
        }
        let hangs = monitor.lock().unwrap();
        assert!(!monitor.was_long());
        let other = {
            let monitor = monitor.clone();
            thread::spawn(move || monitor.lock().map(drop))
        };
        assert!(other.join().unwrap().is_err());
        drop(hangs);
    };
    check_random(model, SCHEDULES / 30);
}

#[test]
fn one_thread_at_a_time_has_the_device() {
    let model = || {
        let monitor = device(&[]);
        let threads: Vec<_> = (0..WAITERS)
            .map(|_| {
                let monitor = monitor.clone();
                thread::spawn(move || {
                    let mut guard = monitor.lock().unwrap();
                    let before = guard.due.len();
                    thread::yield_now();
                    guard.due.push(before);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(monitor.lock().unwrap().due, [0, 1, 2]);
    };
    check_random(model, SCHEDULES);
}
