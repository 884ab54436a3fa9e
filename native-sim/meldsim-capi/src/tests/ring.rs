//! A device behind its ring: what is put in comes out as by the calls of the same name.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::*;
use crate::ring::{AWAITED, FLAGS, HEAD, LINE, STATE, Shared, TAIL, TURN, WAITER};

const ENTRIES: u32 = 16;
const SLOTS: u32 = 32;
const POSTED: usize = 2 * LINE + 2;
const POSTS: usize = 4 * LINE;

struct RingRig {
    rig: Rig,
    words: Vec<AtomicU64>,
}

impl RingRig {
    fn new() -> RingRig {
        RingRig::of(Rig::preloaded(16))
    }

    fn of(rig: Rig) -> RingRig {
        let words = (0..Shared::words(ENTRIES, SLOTS)).map(|_| AtomicU64::new(7));
        let ring = RingRig {
            rig,
            words: words.collect(),
        };
        let at = ring.words.as_ptr().cast_mut().cast();
        // SAFETY: as many words as the ring needs, which live as long as the device.
        ok(unsafe { meldsim_ring_attach(ring.rig.handle, at, ENTRIES, SLOTS) });
        ring
    }

    fn word(&self, at: usize) -> u64 {
        self.words[at].load(Acquire)
    }

    fn slot(&self, ticket: u64) -> &[AtomicU64] {
        let at = ENTRIES as usize + (ticket as usize - 1) % SLOTS as usize;
        let first = MELDSIM_RING_HEADER_WORDS as usize + LINE * at;
        &self.words[first..first + LINE]
    }

    fn is_done(&self, ticket: u64) -> bool {
        self.slot(ticket)[STATE].load(Acquire) == ticket << 1 | 1
    }

    fn put(&self, opcode: u32, slba: u64, nlb: u64, flags: u32, awaited: u64) -> Option<u64> {
        let at = self.word(TAIL);
        let first = MELDSIM_RING_HEADER_WORDS as usize + LINE * (at % u64::from(ENTRIES)) as usize;
        let entry = &self.words[first..first + LINE];
        if entry[TURN].load(Acquire) != at {
            return None;
        }
        let (nsid, directive) = (u64::from(self.rig.nsid), 0);
        let command = [
            40 | u64::from(opcode) << 32,
            nsid | nlb << 32,
            slba,
            directive,
            0,
        ];
        for (word, value) in entry.iter().zip(command) {
            word.store(value, Relaxed);
        }
        entry[FLAGS].store(flags.into(), Relaxed);
        entry[AWAITED].store(awaited, Relaxed);
        self.slot(at + 1)[STATE].store((at + 1) << 1, Relaxed);
        self.words[TAIL].store(at + 1, Relaxed);
        entry[TURN].store(at + 1, Release);
        Some(at + 1)
    }

    fn read(&self, slba: u64, nlb: u64) -> u64 {
        self.put(MELDSIM_READ, slba, nlb, 0, 0).unwrap()
    }

    fn run(&self, spin: Duration) -> i64 {
        meldsim_ring_run(self.rig.handle, 0, ns(spin), ns(Duration::from_millis(10)))
    }
}

#[test]
fn it_simulates_what_calls_do_to_the_picosecond() {
    let (ring, calls) = (RingRig::new(), Rig::preloaded(16));
    for round in 0..50 {
        let slba = round * 64;
        let detached = calls.submit(MELDSIM_READ, slba * 4096, 4096, MELDSIM_DETACHED);
        assert_eq!(detached, 0);
        let latency_ps = calls.read((slba + 7) * 4096, 16 * 4096);
        ring.put(MELDSIM_READ, slba, 1, MELDSIM_DETACHED, 0)
            .unwrap();
        let ticket = ring.read(slba + 7, 16);
        ring.put(MELDSIM_RING_WAIT, 0, 0, 0, ticket).unwrap();
        assert_eq!(ring.run(Duration::ZERO), i64::MAX);
        assert!(ring.is_done(ticket));
        assert_eq!(ring.slot(ticket)[1].load(Relaxed), latency_ps as u64);
    }
    assert_eq!(ring.rig.stat("now_ps"), calls.stat("now_ps"));
}

#[test]
fn an_entry_that_is_refused_is_posted_with_its_text_and_the_others_go_on() {
    let ring = RingRig::new();
    let (beyond, good) = (ring.read(1 << 40, 1), ring.read(0, 1));
    assert_eq!(ring.run(Duration::ZERO), 0, "there is more to hear");
    assert_eq!(ring.word(POSTED), 1);
    assert_eq!(ring.word(POSTS), beyond);
    assert_eq!(ring.word(POSTS + 1) as i64, i64::from(MELDSIM_ERR_RANGE));
    assert!(last_error().contains("block"), "{}", last_error());
    assert!(!ring.is_done(beyond), "the caller ends it");
    ring.put(MELDSIM_RING_WAIT, 0, 0, 0, good).unwrap();
    assert_eq!(ring.run(Duration::ZERO), i64::MAX);
    assert!(ring.is_done(good));
}

/// Who gave it up, or never waited, has written something all the same.
#[test]
fn a_command_that_fails_on_the_device_is_posted_whoever_waits() {
    let ring = RingRig::of(zones::rig().0);
    let detached = ring.put(MELDSIM_WRITE, 3, 1, MELDSIM_DETACHED, 0).unwrap();
    ring.slot(detached)[STATE].store(0, Release);
    let given_up = ring.put(MELDSIM_WRITE, 3, 1, 0, 0).unwrap();
    ring.slot(given_up)[STATE].store(given_up << 1 | 1, Release);
    ring.run(Duration::ZERO);
    assert_eq!(ring.word(POSTED), 0, "they are on the device");
    ok(meldsim_advance(ring.rig.handle, 1_000_000_000));
    let mut posted = Vec::new();
    while ring.run(Duration::ZERO) == 0 {
        assert_eq!(ring.word(POSTED), 1);
        posted.push((ring.word(POSTS), ring.word(POSTS + 1) as i32));
    }
    let failed = |ticket| (ticket, MELDSIM_ERR_ZONE);
    assert_eq!(posted, [detached, given_up].map(failed));
}

#[test]
fn a_wait_that_takes_the_host_too_long_is_an_error() {
    let ring = RingRig::new();
    let mut last = 0;
    for at in 0..64 {
        last = ring.read(at * 32, 16);
        ring.run(Duration::ZERO);
    }
    let session = crate::handles::get(ring.rig.handle).unwrap();
    let failure = session
        .with(|state| state.wait_in_ring(last, 0))
        .unwrap_err();
    assert_eq!(failure.code, MELDSIM_ERR_TIMEOUT);
    assert!(!ring.is_done(last), "the caller hears of it first");
}

#[test]
fn a_second_ring_waits_for_what_the_first_has_on_the_device() {
    let ring = RingRig::new();
    let attach = || {
        let at = ring.words.as_ptr().cast_mut().cast();
        // SAFETY: as many words as the ring needs, which live as long as the device.
        unsafe { meldsim_ring_attach(ring.rig.handle, at, ENTRIES, SLOTS) }
    };
    let ticket = ring.read(0, 1);
    ring.run(Duration::ZERO);
    assert!(!ring.is_done(ticket));
    assert_eq!(attach(), MELDSIM_ERR_ARGUMENT);
    assert!(
        last_error().starts_with("1 commands of the device's ring"),
        "{}",
        last_error()
    );
    assert!(!ring.is_done(ticket), "its memory is as it was");
    ring.put(MELDSIM_RING_WAIT, 0, 0, 0, ticket).unwrap();
    ring.run(Duration::ZERO);
    let latency = ring.slot(ticket)[1].load(Relaxed);
    assert!(ring.is_done(ticket) && latency > 0);
    ok(attach());
    assert!(!ring.is_done(ticket), "the new ring is empty");
    let first = ring.read(64, 1);
    ring.put(MELDSIM_RING_WAIT, 0, 0, 0, first).unwrap();
    ring.run(Duration::ZERO);
    assert_eq!((first, ring.is_done(first)), (1, true));
}

#[test]
fn a_slot_goes_to_the_newest_ticket() {
    let ring = RingRig::new();
    let first = ring.read(0, 1);
    for _ in 0..SLOTS {
        while ring.put(MELDSIM_READ, 0, 1, 0, 0).is_none() {
            assert_eq!(ring.run(Duration::ZERO), i64::MAX);
        }
    }
    let last = first + u64::from(SLOTS);
    ring.put(MELDSIM_RING_WAIT, 0, 0, 0, first).unwrap();
    ring.put(MELDSIM_RING_WAIT, 0, 0, 0, last).unwrap();
    assert_eq!(ring.run(Duration::ZERO), i64::MAX);
    assert!(ring.is_done(last));
}

#[test]
fn in_real_time_a_thread_that_sleeps_is_named_and_others_look() {
    let ring = RingRig::new();
    ok(meldsim_set_mode(ring.rig.handle, MELDSIM_REAL_TIME, 1.0));
    let looks = ring.read(0, 16);
    while !ring.is_done(looks) {
        let due_ns = ring.run(Duration::ZERO);
        assert!(
            (1..1_000_000).contains(&due_ns) || ring.is_done(looks),
            "{due_ns}"
        );
        assert_eq!(ring.word(POSTED), 0);
    }
    let sleeps = ring.read(0, 16);
    ring.slot(sleeps)[WAITER].store(1, Release);
    while ring.word(POSTED) == 0 {
        assert!(ring.run(Duration::from_millis(1)) >= 0);
    }
    assert_eq!(ring.word(POSTS), sleeps);
    assert!(ring.is_done(sleeps));
}

#[test]
fn in_real_time_what_finds_no_room_keeps_its_place() {
    let ring = RingRig::new();
    ok(meldsim_set_mode(ring.rig.handle, MELDSIM_REAL_TIME, 1e6));
    let most = u64::from(MELDSIM_MAX_OUTSTANDING);
    for _ in 0..most + 8 {
        while ring.put(MELDSIM_READ, 0, 1, MELDSIM_DETACHED, 0).is_none() {
            assert!(ring.run(Duration::ZERO) > 0);
        }
    }
    assert!(ring.run(Duration::ZERO) > 0);
    assert_eq!(ring.word(HEAD), most);
    ok(meldsim_set_mode(ring.rig.handle, MELDSIM_ACCOUNT, 1.0));
    assert_eq!(ring.run(Duration::ZERO), i64::MAX);
    assert_eq!(ring.word(HEAD), most + 8);
}
