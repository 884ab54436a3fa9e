//! Several threads, in real-time mode mostly: contention, the clock, timeouts, close; and failures inside,
//! which take one device out of service and nothing else.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::handles;

/// At this dilation a read of 16 MiB takes hours.
const FROZEN: f64 = 1e6;

/// How many threads sleep for outcomes.
fn asleep(handle: i64) -> u32 {
    let session = handles::get(handle).unwrap();
    session.with(|state| Ok(state.tickets.waiters())).unwrap()
}

fn until_asleep(handle: i64, threads: u32) {
    while asleep(handle) < threads {
        thread::yield_now();
    }
}

/// Each submits its next command when the last one has completed, while one of the other is on the device.
#[test]
fn two_readers_of_one_device_get_about_half_each() {
    const ROUNDS: u64 = 12;
    let rig = Rig::preloaded(64);
    let mean_ps = |offsets: &[u64]| -> Vec<f64> {
        let submit = |offset, round| {
            let at = offset + round % 8 * 4 * MIB;
            rig.submit(MELDSIM_READ, at, 4 * MIB, 0)
        };
        let mut tickets: Vec<i64> = offsets.iter().map(|offset| submit(offset, 0)).collect();
        let mut sums = vec![0; offsets.len()];
        for round in 1..=ROUNDS {
            for (reader, offset) in offsets.iter().enumerate() {
                sums[reader] += meldsim_wait(rig.handle, tickets[reader], FOREVER);
                tickets[reader] = submit(offset, round);
            }
        }
        for ticket in tickets {
            assert!(meldsim_wait(rig.handle, ticket, FOREVER) > 0);
        }
        sums.iter().map(|sum| *sum as f64 / ROUNDS as f64).collect()
    };
    let alone_ps = mean_ps(&[0])[0];
    let shared_ps = mean_ps(&[0, 32 * MIB]);
    for shared_ps in &shared_ps {
        let slowdown = shared_ps / alone_ps;
        assert!((1.5..2.2).contains(&slowdown), "{slowdown} {alone_ps}");
    }
    let fairness = shared_ps[0] / shared_ps[1];
    assert!((0.7..1.4).contains(&fairness), "{fairness} {shared_ps:?}");
}

#[test]
fn simulated_time_is_never_ahead_of_the_scaled_wall_clock() {
    let rig = Rig::preloaded(64);
    let dilation = 7.0;
    let start = Instant::now();
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, dilation));
    let check = |rig: &Rig| {
        let simulated_ps = rig.stat("now_ps") as f64;
        let allowed_ps = start.elapsed().as_nanos() as f64 * 1000.0 / dilation;
        assert!(simulated_ps <= allowed_ps, "{simulated_ps} > {allowed_ps}");
    };
    thread::scope(|scope| {
        for offset in [0, 16, 32] {
            let rig = &rig;
            scope.spawn(move || {
                for at in 0..20 {
                    let wall = Instant::now();
                    let latency_ps = rig.read((offset + at % 8) * MIB, MIB);
                    let paced_ps = wall.elapsed().as_nanos() as f64 * 1000.0 / dilation;
                    assert!(latency_ps as f64 <= paced_ps, "returned before its time");
                    check(rig);
                }
            });
        }
    });
    assert!(rig.stat("read_active_ps") > 0);
    check(&rig);
}

#[test]
fn idle_time_passes_too() {
    let rig = Rig::preloaded(1);
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, 1.0));
    thread::sleep(Duration::from_millis(5));
    assert!(rig.stat("now_ps") >= 5_000_000_000);
}

#[test]
fn the_wall_clock_brings_posted_outcomes_when_they_are_due() {
    let rig = Rig::preloaded(4);
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, 100.0));
    assert_eq!(rig.reap(4), (vec![], FOREVER), "nothing is scheduled");
    let start = Instant::now();
    let ticket = rig.submit(MELDSIM_READ, 0, 4096, MELDSIM_POSTED);
    loop {
        let (done, due_ns) = rig.reap(4);
        if let [(reaped, latency_ps)] = done[..] {
            assert_eq!(reaped, ticket);
            assert!(start.elapsed().as_nanos() >= latency_ps as u128 / 1000 * 100);
            break;
        }
        assert!(due_ns < ns(Duration::from_secs(1)), "{due_ns}");
        thread::sleep(Duration::from_nanos(due_ns));
    }
}

#[test]
fn a_timeout_leaves_the_ticket_valid() {
    let rig = Rig::preloaded(64);
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, FROZEN));
    let ticket = rig.submit(MELDSIM_READ, 0, 32 * MIB, 0);
    let start = Instant::now();
    let early = meldsim_wait(rig.handle, ticket, ns(Duration::from_millis(2)));
    assert_eq!(early, i64::from(MELDSIM_ERR_TIMEOUT), "{}", last_error());
    assert!(start.elapsed() >= Duration::from_millis(2));
    assert_eq!(
        meldsim_wait(rig.handle, ticket, 0),
        i64::from(MELDSIM_ERR_TIMEOUT)
    );
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, 5.0));
    assert!(
        meldsim_wait(rig.handle, ticket, FOREVER) > 0,
        "{}",
        last_error()
    );
}

#[test]
fn close_wakes_waiters() {
    let rig = Rig::preloaded(64);
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, FROZEN));
    let handle = rig.handle;
    let waiters: Vec<_> = (0..4)
        .map(|at| {
            let ticket = rig.submit(MELDSIM_READ, at * 16 * MIB, 16 * MIB, 0);
            thread::spawn(move || meldsim_wait(handle, ticket, FOREVER))
        })
        .collect();
    until_asleep(handle, 4);
    ok(meldsim_close(handle));
    for waiter in waiters {
        assert_eq!(waiter.join().unwrap(), i64::from(MELDSIM_ERR_CLOSED));
    }
}

/// The leader sleeps first. Its command is far away, that of the follower is not.
#[test]
fn a_leader_that_times_out_hands_over() {
    let rig = Rig::preloaded(64);
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, 1000.0));
    let soon = rig.submit(MELDSIM_READ, 32 * MIB, 4096, 0);
    let late = rig.submit(MELDSIM_READ, 0, 32 * MIB, 0);
    thread::scope(|scope| {
        let (handle, timeout_ns) = (rig.handle, ns(Duration::from_millis(10)));
        let leader = scope.spawn(move || meldsim_wait(handle, late, timeout_ns));
        while !leader.is_finished() && asleep(rig.handle) == 0 {
            thread::yield_now();
        }
        let follower = meldsim_wait(rig.handle, soon, FOREVER);
        assert!(follower > 0, "the follower must not sleep for ever");
        assert_eq!(leader.join().unwrap(), i64::from(MELDSIM_ERR_TIMEOUT));
    });
    ok(meldsim_set_mode(rig.handle, MELDSIM_ACCOUNT, 1.0));
    assert!(meldsim_wait(rig.handle, late, FOREVER) > 0);
}

#[test]
fn switching_to_account_releases_paced_waiters() {
    let rig = Rig::preloaded(64);
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, FROZEN));
    thread::scope(|scope| {
        let rig = &rig;
        let waiter = scope.spawn(move || rig.read(0, 16 * MIB));
        until_asleep(rig.handle, 1);
        ok(meldsim_set_mode(rig.handle, MELDSIM_ACCOUNT, 1.0));
        assert!(waiter.join().unwrap() > 0);
    });
    assert_eq!(meldsim_set_mode(rig.handle, 2, 1.0), MELDSIM_ERR_ARGUMENT);
    assert_eq!(meldsim_set_mode(rig.handle, 1, 0.0), MELDSIM_ERR_ARGUMENT);
}

#[test]
fn submitting_beyond_the_bound_blocks_until_there_is_room() {
    let rig = Rig::preloaded(64);
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, FROZEN));
    let most = u64::from(MELDSIM_MAX_OUTSTANDING);
    let accepted = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for at in 0..most + 64 {
                let offset = at % 16_000 * 4096;
                assert_eq!(rig.submit(MELDSIM_READ, offset, 4096, MELDSIM_DETACHED), 0);
                accepted.fetch_add(1, Ordering::SeqCst);
            }
        });
        while accepted.load(Ordering::SeqCst) < most {
            thread::yield_now();
        }
        // Nothing completes, so the next one has no room.
        thread::sleep(Duration::from_millis(2));
        assert_eq!(accepted.load(Ordering::SeqCst), most);
        ok(meldsim_set_mode(rig.handle, MELDSIM_ACCOUNT, 1.0));
    });
    assert_eq!(accepted.load(Ordering::SeqCst), most + 64);
    let last = rig.submit(MELDSIM_READ, 0, 4096, 0);
    assert!(meldsim_wait(rig.handle, last, FOREVER) > 0);
}

#[test]
fn many_threads_in_account_mode_lose_nothing() {
    let rig = Rig::preloaded(64);
    thread::scope(|scope| {
        for thread in 0..4 {
            let rig = &rig;
            scope.spawn(move || {
                for at in 0..500 {
                    rig.read((thread * 500 + at) * 4096, 4096);
                }
            });
        }
    });
    assert_eq!(rig.stat("read_commands"), 2000);
}

#[test]
fn submitting_without_waiting_is_refused_when_there_is_no_room() {
    let rig = Rig::preloaded(64);
    let flags = MELDSIM_DETACHED | MELDSIM_NO_WAIT;
    let fill = || {
        for _ in 0..MELDSIM_MAX_OUTSTANDING {
            assert_eq!(rig.submit(MELDSIM_READ, 0, 4096, flags), 0);
        }
        rig.submit(MELDSIM_READ, 0, 4096, flags)
    };
    assert_eq!(fill(), 0, "account mode makes room");
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, FROZEN));
    assert_eq!(fill(), i64::from(MELDSIM_ERR_TIMEOUT));
    assert!(last_error().starts_with("no room"), "{}", last_error());
}

// Failures inside.

/// After so many calls that still succeed, every call meets `fault`.
fn inject(
    handle: i64,
    mut after_calls: u64,
    mut fault: impl FnMut() -> Result<(), String> + Send + 'static,
) -> i32 {
    let check = move || match after_calls {
        0 => fault(),
        _ => {
            after_calls -= 1;
            Ok(())
        }
    };
    testing::set_fault_check(handle, Ok(Some(Box::new(check))))
}

fn hang() -> Result<(), String> {
    loop {
        thread::park();
    }
}

#[test]
fn a_panic_takes_one_device_out_of_service() {
    let (broken, healthy) = (Rig::preloaded(1), Rig::preloaded(1));
    ok(inject(broken.handle, 2, || panic!("injected panic")));
    broken.read(0, 4096); // two counted calls
    let failed = broken.submit(MELDSIM_READ, 0, 4096, 0);
    assert_eq!(failed, i64::from(MELDSIM_ERR_PANIC));
    assert!(last_error().contains("injected panic"), "{}", last_error());

    let panic = i64::from(MELDSIM_ERR_PANIC);
    assert_eq!(broken.submit(MELDSIM_READ, 0, 4096, 0), panic);
    assert_eq!(meldsim_wait(broken.handle, 1 << 32 | 1, 0), panic);
    assert_eq!(meldsim_set_mode(broken.handle, 1, 1.0), MELDSIM_ERR_PANIC);
    assert_eq!(inject(broken.handle, 0, || Ok(())), MELDSIM_ERR_PANIC);
    // SAFETY: no values are asked for.
    let stats = unsafe { meldsim_stats(broken.handle, std::ptr::null_mut(), 0) };
    assert_eq!(stats, MELDSIM_ERR_PANIC);

    healthy.read(0, 4096);
    ok(meldsim_close(broken.handle));
    assert_eq!(meldsim_close(broken.handle), MELDSIM_ERR_CLOSED);
}

#[test]
fn an_injected_error_lasts_until_disarmed() {
    let rig = Rig::preloaded(1);
    ok(inject(rig.handle, 0, || Err("injected error".to_owned())));
    for _ in 0..3 {
        let outcome = rig.submit(MELDSIM_READ, 0, 4096, 0);
        assert_eq!(outcome, i64::from(testing::ERR_INJECTED));
    }
    ok(testing::set_fault_check(rig.handle, Ok(None)));
    rig.read(0, 4096);
    let refused = testing::set_fault_check(rig.handle, Err("no such fault".to_owned()));
    assert_eq!(refused, MELDSIM_ERR_ARGUMENT);
    assert_eq!(last_error(), "no such fault");
    assert!(testing::open_devices().contains(&rig.handle));
}

#[test]
fn a_panic_wakes_the_threads_that_wait() {
    let rig = Rig::preloaded(64);
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, FROZEN));
    let handle = rig.handle;
    let ticket = rig.submit(MELDSIM_READ, 0, 64 * MIB, 0);
    let waiter = std::thread::spawn(move || meldsim_wait(handle, ticket, FOREVER));
    until_asleep(handle, 1);
    ok(inject(handle, 0, || panic!("injected panic")));
    assert_eq!(
        rig.submit(MELDSIM_READ, 0, 4096, 0),
        i64::from(MELDSIM_ERR_PANIC)
    );
    assert_eq!(waiter.join().unwrap(), i64::from(MELDSIM_ERR_PANIC));
}

/// The thread that hangs is lost; nobody else is, whether it waits for the device's lock or sleeps for a completion.
#[test]
fn a_call_that_hangs_costs_its_own_thread_only() {
    let (hanging, healthy) = (Rig::preloaded(64), Rig::preloaded(1));
    let handle = hanging.handle;
    ok(meldsim_set_mode(handle, MELDSIM_REAL_TIME, FROZEN));
    let ticket = hanging.submit(MELDSIM_READ, 0, 64 * MIB, 0);
    let sleeps = std::thread::spawn(move || meldsim_wait(handle, ticket, FOREVER));
    // It wakes while the call hangs, before that is known.
    let some_time = ns(Duration::from_secs(5));
    let polls = std::thread::spawn(move || meldsim_wait(handle, ticket, some_time));
    until_asleep(handle, 2);
    let (begins, begun) = channel();
    ok(inject(handle, 0, move || {
        begins.send(()).unwrap();
        hang()
    }));
    std::thread::spawn(move || meldsim_stream_bind(handle, 1, 1, 0));
    begun.recv().unwrap();

    let panic = i64::from(MELDSIM_ERR_PANIC);
    assert_eq!(hanging.submit(MELDSIM_READ, 0, 4096, 0), panic);
    assert!(last_error().contains("hangs"), "{}", last_error());
    assert_eq!(polls.join().unwrap(), panic);
    assert_eq!(meldsim_wait(handle, ticket, 0), panic);
    assert_eq!(meldsim_set_mode(handle, 0, 1.0), MELDSIM_ERR_PANIC);
    ok(meldsim_close(handle));
    assert_eq!(sleeps.join().unwrap(), panic);
    healthy.read(0, 4096);
}

/// What takes minutes on a large device is waited for, and does not hang.
#[test]
fn calls_that_grow_with_the_device_may_take_long() {
    let rig = Rig::preloaded(1);
    let was_long = |call: &dyn Fn()| {
        call();
        crate::handles::get(rig.handle).unwrap().was_long()
    };
    // SAFETY: no bytes are asked for.
    let snapshot = || unsafe { meldsim_snapshot(rig.handle, std::ptr::null_mut(), 0) };
    let mut counts: meldsim_page_counts = sized();
    let counts = &raw mut counts;
    // SAFETY: its size is set.
    let layout = || unsafe { meldsim_layout(rig.handle, rig.nsid, 0, 8, counts) };
    let calls: [(&str, &dyn Fn()); 7] = [
        ("snapshot", &|| assert!(snapshot() > 0)),
        ("layout", &|| ok(layout())),
        ("preload", &|| {
            ok(meldsim_preload(rig.handle, rig.nsid, 0, 8, 0))
        }),
        ("set_mode", &|| {
            ok(meldsim_set_mode(rig.handle, MELDSIM_ACCOUNT, 1.0))
        }),
        ("advance", &|| ok(meldsim_advance(rig.handle, 1_000))),
        ("memory", &|| assert!(meldsim_memory_bytes(rig.handle) > 0)),
        ("precondition", &|| {
            ok(meldsim_precondition(rig.handle, 10, 0))
        }),
    ];
    for (name, call) in calls {
        assert!(was_long(call), "{name}");
        let short = &|| ok(meldsim_stream_bind(rig.handle, rig.nsid, 1, 0));
        assert!(!was_long(short), "after {name}");
    }
}
