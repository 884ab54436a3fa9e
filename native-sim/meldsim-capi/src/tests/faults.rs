//! Failures inside: the device goes out of service, the process and other devices do not.

use std::time::Duration;

use super::support::*;
use crate::*;

#[test]
fn a_panic_takes_one_device_out_of_service() {
    let (broken, healthy) = (Rig::preloaded(1), Rig::preloaded(1));
    ok(meldsim_inject_fault(broken.handle, 1, 2));
    broken.read(0, 4096); // two counted calls
    let failed = broken.submit(MELDSIM_READ, 0, 4096, 0);
    assert_eq!(failed, i64::from(MELDSIM_ERR_PANIC));
    assert!(last_error().contains("injected panic"), "{}", last_error());

    let panic = i64::from(MELDSIM_ERR_PANIC);
    assert_eq!(broken.submit(MELDSIM_READ, 0, 4096, 0), panic);
    assert_eq!(meldsim_wait(broken.handle, 1 << 32 | 1, 0), panic);
    assert_eq!(meldsim_set_mode(broken.handle, 1, 1.0), MELDSIM_ERR_PANIC);
    assert_eq!(meldsim_inject_fault(broken.handle, 0, 0), MELDSIM_ERR_PANIC);
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
    ok(meldsim_inject_fault(rig.handle, 2, 0));
    for _ in 0..3 {
        let outcome = rig.submit(MELDSIM_READ, 0, 4096, 0);
        assert_eq!(outcome, i64::from(MELDSIM_ERR_INJECTED));
    }
    ok(meldsim_inject_fault(rig.handle, 0, 0));
    rig.read(0, 4096);
    assert_eq!(meldsim_inject_fault(rig.handle, 4, 0), MELDSIM_ERR_ARGUMENT);
}

#[test]
fn a_panic_wakes_the_threads_that_wait() {
    let rig = Rig::preloaded(64);
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, 100_000.0));
    let handle = rig.handle;
    let ticket = rig.submit(MELDSIM_READ, 0, 64 * MIB, 0);
    let waiter = std::thread::spawn(move || meldsim_wait(handle, ticket, FOREVER));
    std::thread::sleep(Duration::from_millis(20));
    ok(meldsim_inject_fault(handle, 1, 0));
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
    ok(meldsim_set_mode(handle, MELDSIM_REAL_TIME, 100_000.0));
    let ticket = hanging.submit(MELDSIM_READ, 0, 64 * MIB, 0);
    let sleeps = std::thread::spawn(move || meldsim_wait(handle, ticket, FOREVER));
    let polls = std::thread::spawn(move || meldsim_wait(handle, ticket, 100_000_000));
    std::thread::sleep(Duration::from_millis(20));
    ok(meldsim_inject_fault(handle, 3, 0));
    std::thread::spawn(move || meldsim_preload(handle, 1, 0, 8, 0));
    std::thread::sleep(Duration::from_millis(20));

    let panic = i64::from(MELDSIM_ERR_PANIC);
    assert_eq!(hanging.submit(MELDSIM_READ, 0, 4096, 0), panic);
    assert!(last_error().contains("hangs"), "{}", last_error());
    assert_eq!(polls.join().unwrap(), panic);
    let begin = std::time::Instant::now();
    assert_eq!(meldsim_wait(handle, ticket, 0), panic);
    assert_eq!(meldsim_set_mode(handle, 0, 1.0), MELDSIM_ERR_PANIC);
    ok(meldsim_close(handle));
    assert!(begin.elapsed() < Duration::from_secs(1), "not known yet");
    assert_eq!(sleeps.join().unwrap(), panic);
    healthy.read(0, 4096);
}
