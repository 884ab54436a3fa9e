//! Model tests of a ring: `ring.rs` compiled a second time, over loom's atomics, with callers and a runner of the orderings
//! that Java's have. Loom tries every schedule of few preemptions, and what weak memory lets each load see. A lost wake-up is
//! a deadlock.

#[allow(clippy::duplicate_mod, dead_code, reason = "over other primitives")]
#[path = "../ring.rs"]
mod ring;

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use loom::sync::Arc;
use loom::thread;

use self::ring::{AWAITED, HEAD, Ring, STATE, Shared, TAIL, TURN, WAITER};
use self::sync::AtomicU64;

const ENTRIES: u32 = 2;
const SLOTS: u32 = 4;

/// What a ring is made of, in terms of loom.
mod sync {
    use std::sync::atomic::Ordering::{self, SeqCst};

    use loom::sync::atomic::fence;

    /// Loom takes an access in sequential order for one that acquires and releases; fences around it give it its order.
    pub(crate) struct AtomicU64(loom::sync::atomic::AtomicU64);

    fn fenced<R>(order: Ordering, access: impl FnOnce() -> R) -> R {
        if order == SeqCst {
            fence(SeqCst);
        }
        let result = access();
        if order == SeqCst {
            fence(SeqCst);
        }
        result
    }

    impl AtomicU64 {
        pub(crate) fn new(value: u64) -> AtomicU64 {
            AtomicU64(loom::sync::atomic::AtomicU64::new(value))
        }

        pub(crate) fn load(&self, order: Ordering) -> u64 {
            fenced(order, || self.0.load(order))
        }

        pub(crate) fn store(&self, value: u64, order: Ordering) {
            fenced(order, || self.0.store(value, order));
        }

        pub(crate) fn compare_exchange(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            fenced(success, || {
                self.0.compare_exchange(current, new, success, failure)
            })
        }
    }
}

/// A ring, the thread that runs it, and whether that thread sleeps.
struct Model {
    shared: Shared,
    words: &'static [AtomicU64],
    asleep: AtomicU64,
    runner: thread::Thread,
}

impl Model {
    fn new() -> Arc<Model> {
        let words = (0..Shared::words(ENTRIES, SLOTS)).map(|_| AtomicU64::new(0));
        let words: &'static [AtomicU64] = Box::leak(words.collect::<Box<[AtomicU64]>>());
        Arc::new(Model {
            shared: Shared::new(words, ENTRIES, SLOTS),
            words,
            asleep: AtomicU64::new(0),
            runner: thread::current(),
        })
    }

    /// `CommandRing.claim` and `publish`, and what `DeviceThread.submit` does then; waits while the ring is full.
    fn put(&self, value: u64) -> u64 {
        loop {
            let at = self.words[TAIL].load(Acquire);
            let entry = self.shared.entry(at);
            if entry[TURN].load(Acquire) != at
                || self.words[TAIL]
                    .compare_exchange(at, at + 1, SeqCst, SeqCst)
                    .is_err()
            {
                thread::yield_now();
                continue;
            }
            let ticket = at + 1;
            let slot = self.shared.slot(ticket);
            slot[WAITER].store(0, Relaxed);
            slot[STATE].store(ticket << 1, Release);
            entry[AWAITED].store(value, Relaxed);
            entry[TURN].store(ticket, SeqCst);
            if self.asleep.load(SeqCst) != 0 {
                self.asleep.store(0, SeqCst);
                self.runner.unpark();
            }
            return ticket;
        }
    }

    /// `CommandRing.isPending`.
    fn is_pending(&self, ticket: u64) -> bool {
        self.shared.slot(ticket)[STATE].load(SeqCst) == ticket << 1
    }

    /// `DeviceThread.sleep`: until there is an entry.
    fn sleep(&self) {
        self.asleep.store(1, SeqCst);
        let head = self.words[HEAD].load(Acquire);
        if self.shared.entry(head)[TURN].load(SeqCst) != head + 1 {
            thread::park();
        }
        self.asleep.store(0, SeqCst);
    }

    /// By the runner: the next entry, for which it sleeps.
    fn take(&self) -> ring::Entry {
        loop {
            if let Some(entry) = self.shared.next() {
                self.shared.take();
                return entry;
            }
            self.sleep();
        }
    }
}

/// Every schedule with at most so many preemptions.
fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 10_000;
    builder.check(model);
}

#[test]
fn each_entry_is_taken_once_in_the_order_of_its_thread_and_no_wake_up_is_lost() {
    check(2, || {
        let model = Model::new();
        // Not joined: loom lets nobody be woken who waits for a thread's end.
        for (first, count) in [(0, 2), (10, 1)] {
            let model = model.clone();
            thread::spawn(move || {
                for value in first..first + count {
                    model.put(value);
                }
            });
        }
        let mut seen: Vec<u64> = (1..4)
            .map(|ticket| {
                let entry = model.take();
                assert_eq!(entry.ticket, ticket);
                entry.awaited
            })
            .collect();
        assert!(seen.iter().filter(|value| **value < 10).is_sorted());
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 10]);
    });
}

/// `DeviceThread.awaitDone`: the caller looks, says that it sleeps, looks again and sleeps; the runner wakes whom it was told of.
#[test]
fn who_sleeps_for_an_outcome_is_woken() {
    check(3, || {
        let model = Model::new();
        let caller = {
            let model = model.clone();
            thread::spawn(move || {
                let ticket = model.put(0);
                while model.is_pending(ticket) {
                    model.shared.slot(ticket)[WAITER].store(1, SeqCst);
                    if model.is_pending(ticket) {
                        thread::park();
                    }
                }
            })
        };
        let mut ring = Ring::new(model.shared);
        let entry = model.take();
        ring.outstanding = 1;
        ring.complete(entry.ticket, Ok(5));
        if ring.post(false, None, |failure| failure.code) {
            caller.thread().unpark();
        }
    });
}
