//! NVM sets and their predictable latency windows.

use meldsim::Profile;
use meldsim::profile::SetLayout;

use super::*;

const MS_PS: u64 = 1_000_000_000;

/// A device of four vertical sets.
fn divided() -> (i64, tempfile::TempPath) {
    let mut profile = Profile::builtin(PROFILE).unwrap();
    profile.sets.layout = SetLayout::Vertical;
    profile.sets.count = 4;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), profile.to_toml()).unwrap();
    let handle = open(file.path().to_str().unwrap()).unwrap();
    (handle, file.into_temp_path())
}

fn set_info(handle: i64, set: u32) -> Result<meldsim_nvm_set, i32> {
    let mut info = sized();
    // SAFETY: its size is set.
    match unsafe { meldsim_set_info(handle, set, &mut info) } {
        MELDSIM_OK => Ok(info),
        code => Err(code),
    }
}

#[test]
fn a_namespace_is_where_it_was_created() {
    let (handle, _file) = divided();
    assert_eq!(meldsim_sets(handle), 4);
    for set in [2, 0, 3] {
        let mut nsid = 0;
        // SAFETY: `nsid` is writable.
        ok(unsafe { meldsim_namespace_create_in(handle, set, 1 << 30, &mut nsid) });
        let namespace = info(handle, nsid);
        assert_eq!(namespace.set, set);
        let lbas = MIB / namespace.lba_bytes;
        ok(meldsim_preload(handle, nsid, 0, lbas, 0));
        let info = set_info(handle, set).unwrap();
        assert_eq!(info.mapped_pages, MIB / namespace.page_bytes);
        assert!(info.capacity_pages > info.mapped_pages && info.free_blocks > 0);
    }
    assert_eq!(
        set_info(handle, 1).unwrap().mapped_pages,
        0,
        "nothing is there"
    );
    ok(meldsim_close(handle));
}

#[test]
fn a_set_that_does_not_exist_is_an_error() {
    let rig = Rig::new();
    assert_eq!(meldsim_sets(rig.handle), 1);
    let mut nsid = 0;
    // SAFETY: `nsid` is writable.
    let code = unsafe { meldsim_namespace_create_in(rig.handle, 1, 1 << 30, &mut nsid) };
    assert_eq!(code, MELDSIM_ERR_ARGUMENT);
    assert!(last_error().contains("NVM set 1"), "{}", last_error());
    assert_eq!(set_info(rig.handle, 1), Err(MELDSIM_ERR_ARGUMENT));
    // SAFETY: null is the error under test.
    let null = unsafe { meldsim_namespace_create_in(rig.handle, 0, 1 << 30, std::ptr::null_mut()) };
    assert_eq!(null, MELDSIM_ERR_ARGUMENT);
}

// Windows.

fn window_info(handle: i64, retain: u32) -> Result<meldsim_window, i32> {
    let mut info = sized();
    // SAFETY: its size is set.
    match unsafe { meldsim_window_info(handle, 0, retain, &mut info) } {
        MELDSIM_OK => Ok(info),
        code => Err(code),
    }
}

fn configure(handle: i64, set: u32, config: meldsim_window_config) -> i32 {
    // SAFETY: its size is set.
    unsafe { meldsim_window_configure(handle, set, &config) }
}

#[test]
fn a_set_goes_through_its_windows() {
    let rig = Rig::preloaded(1);
    let enter = |window| meldsim_window_enter(rig.handle, 0, window);
    let disabled = window_info(rig.handle, 0).unwrap();
    assert_eq!(disabled.window, MELDSIM_WINDOW_DISABLED);
    assert_eq!(enter(MELDSIM_WINDOW_DETERMINISTIC), MELDSIM_ERR_ARGUMENT);
    assert!(last_error().contains("not enabled"), "{}", last_error());
    let config = meldsim_window_config {
        enable: 1,
        events: 0xFFFF,
        reads_threshold: 10,
        writes_threshold: 20,
        time_threshold_ms: 30,
        ..sized()
    };
    ok(configure(rig.handle, 0, config));
    let info = window_info(rig.handle, 0).unwrap();
    assert_eq!(info.window, MELDSIM_WINDOW_NON_DETERMINISTIC);
    let thresholds = [
        info.reads_threshold,
        info.writes_threshold,
        info.time_threshold_ms,
    ];
    assert_eq!((info.events_enabled, thresholds), (0xFFFF, [10, 20, 30]));
    ok(enter(MELDSIM_WINDOW_DETERMINISTIC));
    rig.read(0, 8192);
    let info = window_info(rig.handle, 1).unwrap();
    assert_eq!((info.window, info.events), (1, 0));
    assert_eq!(info.reads_left, info.dtwin_reads - 2, "two reads of 4 KiB");
    // The budget of time is used up, and that is reported until it was read without being retained.
    ok(meldsim_advance(rig.handle, 1001 * MS_PS));
    for (retain, events) in [(1, 0x4004), (0, 0x4004), (0, 0)] {
        let info = window_info(rig.handle, retain).unwrap();
        assert_eq!((info.window, info.events), (2, events), "{retain}");
    }
    assert_eq!(enter(MELDSIM_WINDOW_DETERMINISTIC), MELDSIM_ERR_ARGUMENT);
    ok(meldsim_advance(rig.handle, 100 * MS_PS));
    ok(enter(MELDSIM_WINDOW_DETERMINISTIC));
    ok(enter(MELDSIM_WINDOW_NON_DETERMINISTIC));
    let usage = set_info(rig.handle, 0).unwrap();
    let read = (usage.read_commands, usage.read_bytes);
    let written = (usage.write_commands, usage.written_bytes);
    assert_eq!((read, written), ((1, 8192), (0, 0)));
    // What was preloaded, and padded, is not counted.
    assert_eq!(usage.programmed_bytes, 0);
    assert_eq!(usage.optimal_write_bytes, 3 * 4096);
    assert!(usage.random_read_ps > 58_000_000, "{usage:?}");
}

#[test]
fn events_stay_when_they_do_not_reach_the_caller() {
    let rig = Rig::preloaded(1);
    let config = meldsim_window_config {
        enable: 1,
        events: 0xFFFF,
        ..sized()
    };
    ok(configure(rig.handle, 0, config));
    let deterministic = MELDSIM_WINDOW_DETERMINISTIC;
    ok(meldsim_window_enter(rig.handle, 0, deterministic));
    ok(meldsim_advance(rig.handle, 1001 * MS_PS));
    // SAFETY: null is the error under test.
    let null = unsafe { meldsim_window_info(rig.handle, 0, 0, std::ptr::null_mut()) };
    assert_eq!(null, MELDSIM_ERR_ARGUMENT);
    assert_eq!(window_info(rig.handle, 0).unwrap().events, 0x4000);
}

#[test]
fn what_no_window_can_be_is_refused() {
    let rig = Rig::new();
    let configure = |set, enable, events| {
        let config = meldsim_window_config {
            enable,
            events,
            ..sized()
        };
        configure(rig.handle, set, config)
    };
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
    assert_eq!(meldsim_advance(rig.handle, u64::MAX), MELDSIM_ERR_CLOCK);
    assert!(last_error().contains("106 days"), "{}", last_error());
    rig.read(0, 4096);
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, 1.0));
    assert_eq!(meldsim_advance(rig.handle, 1), MELDSIM_ERR_ARGUMENT);
}

#[test]
fn handles_are_counted_logged_and_updated() {
    let mut profile = Profile::builtin(PROFILE).unwrap();
    profile.fdp.handles = 2;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), profile.to_toml()).unwrap();
    let rig = Rig::of(file.path().to_str().unwrap());
    let write = |pid| {
        let directive = MELDSIM_DIRECTIVE_PLACEMENT | pid;
        let lbas = rig.lbas(MIB) as u32;
        let ticket = meldsim_submit(rig.handle, MELDSIM_WRITE, rig.nsid, 0, lbas, directive, 0);
        assert!(
            meldsim_wait(rig.handle, ticket, FOREVER) > 0,
            "{}",
            last_error()
        );
    };
    (0..3).for_each(write);
    let handles = || {
        let mut left = [0; 2];
        // SAFETY: room for two values.
        let count = unsafe { meldsim_handles(rig.handle, rig.nsid, left.as_mut_ptr(), 2) };
        assert_eq!(count, 2, "{}", last_error());
        left
    };
    let whole = profile.reclaim_unit().0 / rig.lba_bytes;
    ok(meldsim_handle_update(rig.handle, rig.nsid, 1));
    ok(meldsim_advance(rig.handle, 1_000 * MS_PS));
    assert_eq!(handles()[1], whole);
    let mut info: meldsim_fdp = sized();
    // SAFETY: its size is set.
    ok(unsafe { meldsim_fdp_info(rig.handle, 0, &mut info) });
    assert_eq!((info.handles, info.host_bytes_written), (2, 3 * MIB));
    assert_eq!(info.reclaim_unit_bytes, profile.reclaim_unit().0);
    assert_eq!(
        (info.invalid_placement_identifiers, info.media_reallocated),
        (1, 0)
    );
    assert_eq!(info.not_fully_written, 1);
    let mut events = [0; 10];
    // SAFETY: room for ten values.
    let count = unsafe { meldsim_fdp_events(rig.handle, 0, 1, events.as_mut_ptr(), 10) };
    assert_eq!(count, 10);
    assert_eq!([events[0], events[2], events[3]], [3, 2, rig.nsid.into()]);
    assert_eq!([events[5], events[7], events[8]], [0, 1, 0]);
    let update = |nsid, pid| meldsim_handle_update(rig.handle, nsid, pid);
    assert_eq!(update(rig.nsid, 2), MELDSIM_ERR_UNSUPPORTED);
    assert_eq!(update(rig.nsid, 1 << 16), MELDSIM_ERR_UNSUPPORTED);
    assert_eq!(update(99, 0), MELDSIM_ERR_NAMESPACE);
    // SAFETY: no values are asked for; a struct whose size is set.
    unsafe {
        let null = std::ptr::null_mut();
        let which = meldsim_fdp_events(rig.handle, 0, 2, null, 0);
        assert_eq!(which, MELDSIM_ERR_ARGUMENT);
        assert_eq!(
            meldsim_fdp_info(rig.handle, 1, &mut info),
            MELDSIM_ERR_ARGUMENT
        );
        let plain = Rig::new();
        assert_eq!(
            meldsim_fdp_info(plain.handle, 0, &mut info),
            MELDSIM_ERR_UNSUPPORTED
        );
        assert_eq!(
            meldsim_handles(plain.handle, plain.nsid, null, 0),
            MELDSIM_ERR_UNSUPPORTED
        );
    }
}
