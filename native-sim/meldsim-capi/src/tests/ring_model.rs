//! Model tests of a ring: `ring.rs` compiled a second time, over shuttle's atomics, with callers as the page of the interface
//! has them. A lost wake-up is a deadlock, which shuttle reports with its schedule.

#[allow(clippy::duplicate_mod, dead_code, reason = "over other primitives")]
#[path = "../ring.rs"]
mod ring;

use std::sync::atomic::Ordering::SeqCst;

use shuttle::sync::Arc;
use shuttle::{check_pct, check_random, thread};

use self::ring::{AWAITED, HEAD, Ring, STATE, Shared, TAIL, TURN, WAITER};
use self::sync::{AtomicBool, AtomicU64};

const SCHEDULES: usize = 3000;
const ENTRIES: u32 = 2;
const SLOTS: u32 = 4;

/// What a ring is made of, in terms of shuttle.
mod sync {
    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU64};
}

/// A ring, the thread that runs it, and whether that thread sleeps.
struct Model {
    shared: Shared,
    words: &'static [AtomicU64],
    asleep: AtomicBool,
    runner: thread::Thread,
}

impl Model {
    fn new() -> Arc<Model> {
        let words = (0..Shared::words(ENTRIES, SLOTS)).map(|_| AtomicU64::new(0));
        let words: &'static [AtomicU64] = Box::leak(words.collect::<Box<[AtomicU64]>>());
        Arc::new(Model {
            shared: Shared::new(words, ENTRIES, SLOTS),
            words,
            asleep: AtomicBool::new(false),
            runner: thread::current(),
        })
    }

    /// By any thread: waits while it is full.
    fn put(&self, value: u64) -> u64 {
        loop {
            let at = self.words[TAIL].load(SeqCst);
            let entry = self.shared.entry(at);
            if entry[TURN].load(SeqCst) != at
                || self.words[TAIL]
                    .compare_exchange(at, at + 1, SeqCst, SeqCst)
                    .is_err()
            {
                thread::yield_now();
                continue;
            }
            let ticket = at + 1;
            let slot = self.shared.slot(ticket);
            slot[WAITER].store(0, SeqCst);
            slot[STATE].store(ticket << 1, SeqCst);
            entry[AWAITED].store(value, SeqCst);
            entry[TURN].store(ticket, SeqCst);
            if self.asleep.swap(false, SeqCst) {
                self.runner.unpark();
            }
            return ticket;
        }
    }

    /// By the runner: sleeps until there is an entry.
    fn sleep(&self) {
        self.asleep.store(true, SeqCst);
        if !self.shared.is_ready() {
            thread::park();
        }
        self.asleep.store(false, SeqCst);
    }
}

#[test]
fn each_entry_is_taken_once_in_the_order_of_its_thread_and_no_wake_up_is_lost() {
    let model = || {
        let model = Model::new();
        let callers: Vec<_> = (0..2)
            .map(|caller| {
                let model = model.clone();
                thread::spawn(move || {
                    for at in 0..2 {
                        model.put(10 * caller + at);
                    }
                })
            })
            .collect();
        let mut seen = Vec::new();
        while seen.len() < 4 {
            match model.shared.next() {
                Some(entry) => {
                    assert_eq!(entry.ticket, model.words[HEAD].load(SeqCst) + 1);
                    seen.push(entry.awaited);
                    model.shared.take();
                }
                None => model.sleep(),
            }
        }
        for caller in callers {
            caller.join().unwrap();
        }
        for caller in [0, 10] {
            let of = seen
                .iter()
                .filter(|value| (caller..caller + 10).contains(*value));
            assert!(of.eq(&[caller, caller + 1]), "{seen:?}");
        }
    };
    check_random(model, SCHEDULES);
    check_pct(model, SCHEDULES, 3);
}

/// The caller looks, says that it sleeps, looks again and sleeps; the runner wakes whom it was told of.
#[test]
fn who_sleeps_for_an_outcome_is_woken() {
    let model = || {
        let model = Model::new();
        let caller = {
            let model = model.clone();
            thread::spawn(move || {
                let ticket = model.put(0);
                model.shared.slot(ticket)[WAITER].store(1, SeqCst);
                while model.shared.is_pending(ticket) {
                    thread::park();
                }
            })
        };
        let mut ring = Ring::new(model.shared);
        let entry = loop {
            match model.shared.next() {
                Some(entry) => break entry,
                None => model.sleep(),
            }
        };
        model.shared.take();
        ring.outstanding = 1;
        ring.complete(entry.ticket, Ok(5));
        if ring.post(false, None, |failure| failure.code) {
            caller.thread().unpark();
        }
        caller.join().unwrap();
    };
    check_random(model, SCHEDULES);
    check_pct(model, SCHEDULES, 3);
}

/// The newest ticket of a slot gets nothing of what was another's.
#[test]
fn a_slot_that_was_given_on_is_left_alone() {
    let model = || {
        let model = Model::new();
        let caller = {
            let model = model.clone();
            thread::spawn(move || (0..=SLOTS).fold(0, |_, _| model.put(0)))
        };
        let mut ring = Ring::new(model.shared);
        for _ in 0..=SLOTS {
            while model.shared.next().is_none() {
                model.sleep();
            }
            model.shared.take();
        }
        ring.outstanding = 1;
        ring.complete(1, Ok(5));
        let newest = caller.join().unwrap();
        assert!(model.shared.is_pending(newest));
    };
    check_random(model, SCHEDULES);
}
