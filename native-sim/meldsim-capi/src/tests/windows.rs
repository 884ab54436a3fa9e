//! Predictable latency windows through the ABI.

use super::support::*;
use crate::*;

const MS_PS: u64 = 1_000_000_000;

fn window_info(handle: i64, retain: u32) -> Result<[u64; 14], i32> {
    let mut values = [0; MELDSIM_WINDOW_INFO_COUNT as usize];
    let (out, n) = (values.as_mut_ptr(), MELDSIM_WINDOW_INFO_COUNT);
    // SAFETY: as long as it says.
    match unsafe { meldsim_window_info(handle, 0, retain, out, n) } {
        14 => Ok(values),
        code => Err(code),
    }
}

fn usage(handle: i64) -> [u64; 13] {
    let mut values = [0; MELDSIM_SET_INFO_COUNT as usize];
    // SAFETY: as long as it says.
    let count = unsafe { meldsim_set_info(handle, 0, values.as_mut_ptr(), MELDSIM_SET_INFO_COUNT) };
    assert_eq!(count, 13, "{}", last_error());
    values
}

#[test]
fn a_set_goes_through_its_windows() {
    let rig = Rig::preloaded(1);
    let enter = |window| meldsim_window_enter(rig.handle, 0, window);
    assert_eq!(window_info(rig.handle, 0).unwrap()[0], 0);
    assert_eq!(enter(MELDSIM_WINDOW_DETERMINISTIC), MELDSIM_ERR_ARGUMENT);
    assert!(last_error().contains("not enabled"), "{}", last_error());
    ok(meldsim_window_configure(
        rig.handle, 0, 1, 0xFFFF, 10, 20, 30,
    ));
    let info = window_info(rig.handle, 0).unwrap();
    assert_eq!(info[0], u64::from(MELDSIM_WINDOW_NON_DETERMINISTIC));
    assert_eq!(info[10..], [0xFFFF, 10, 20, 30]);
    ok(enter(MELDSIM_WINDOW_DETERMINISTIC));
    rig.read(0, 8192);
    let [window, events, whole, .., left, _, _, _, _, _, _] = window_info(rig.handle, 1).unwrap();
    assert_eq!((window, events), (1, 0));
    assert_eq!(left, whole - 2, "two reads of 4 KiB");
    // The budget of time is used up, and that is reported until it was read without being retained.
    ok(meldsim_advance(rig.handle, 1001 * MS_PS));
    for (retain, events) in [(1, 0x4004), (0, 0x4004), (0, 0)] {
        let info = window_info(rig.handle, retain).unwrap();
        assert_eq!(info[..2], [2, events], "{retain}");
    }
    assert_eq!(enter(MELDSIM_WINDOW_DETERMINISTIC), MELDSIM_ERR_ARGUMENT);
    ok(meldsim_advance(rig.handle, 100 * MS_PS));
    ok(enter(MELDSIM_WINDOW_DETERMINISTIC));
    ok(enter(MELDSIM_WINDOW_NON_DETERMINISTIC));
    let usage = usage(rig.handle);
    // What was preloaded, and its padding, was programmed before the counting began.
    assert_eq!(usage[6..11], [1, 8192, 0, 0, 0]);
    assert_eq!(usage[11], 3 * 4096);
    assert!(usage[12] > 58_000_000, "{usage:?}");
}

#[test]
fn what_no_window_can_be_is_refused() {
    let rig = Rig::new();
    let configure =
        |set, enable, events| meldsim_window_configure(rig.handle, set, enable, events, 0, 0, 0);
    assert_eq!(configure(1, 1, 0), MELDSIM_ERR_ARGUMENT);
    assert_eq!(configure(0, 2, 0), MELDSIM_ERR_ARGUMENT);
    assert_eq!(configure(0, 1, 1 << 16), MELDSIM_ERR_ARGUMENT);
    ok(configure(0, 1, 0));
    assert_eq!(meldsim_window_enter(rig.handle, 0, 0), MELDSIM_ERR_ARGUMENT);
    assert_eq!(meldsim_window_enter(rig.handle, 7, 1), MELDSIM_ERR_ARGUMENT);
    assert_eq!(window_info(rig.handle, 2), Err(MELDSIM_ERR_ARGUMENT));
}

#[test]
fn time_passes_in_account_mode_only_and_not_for_ever() {
    let rig = Rig::preloaded(1);
    let ticket = rig.submit(MELDSIM_READ, 0, 4096, 0);
    ok(meldsim_advance(rig.handle, MS_PS));
    assert_eq!(rig.stat("now_ps"), MS_PS);
    assert!((58_000_000..100_000_000).contains(&meldsim_wait(rig.handle, ticket, 0)));
    assert_eq!(meldsim_advance(rig.handle, u64::MAX), MELDSIM_ERR_PANIC);
    assert!(last_error().contains("106 days"), "{}", last_error());
    rig.read(0, 4096);
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, 1.0));
    assert_eq!(meldsim_advance(rig.handle, 1), MELDSIM_ERR_ARGUMENT);
}
