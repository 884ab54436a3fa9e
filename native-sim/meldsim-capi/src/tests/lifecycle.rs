//! Opening, closing, handles, errors and their texts, counters; snapshots.

use std::ffi::CString;

use super::*;

#[test]
fn the_abi_version_is_checked_before_anything_else() {
    let mut handle = 77;
    // SAFETY: the profile may be null by contract; `handle` is writable.
    let code = unsafe { meldsim_open(MELDSIM_ABI_VERSION + 1, std::ptr::null(), &mut handle) };
    assert_eq!(code, MELDSIM_ERR_ABI);
    assert_eq!(handle, 77, "set on success only");
    assert_eq!(meldsim_abi_version(), MELDSIM_ABI_VERSION);
}

#[test]
fn null_arguments_are_errors() {
    let name = CString::new(PROFILE).unwrap();
    let mut handle = 0;
    let rig = Rig::new();
    // SAFETY: null pointers are the errors under test; each function documents them as such.
    unsafe {
        assert_eq!(
            meldsim_open(MELDSIM_ABI_VERSION, std::ptr::null(), &mut handle),
            MELDSIM_ERR_ARGUMENT
        );
        assert_eq!(
            meldsim_open(MELDSIM_ABI_VERSION, name.as_ptr(), std::ptr::null_mut()),
            MELDSIM_ERR_ARGUMENT
        );
        assert_eq!(
            meldsim_namespace_create(rig.handle, MIB, std::ptr::null_mut()),
            MELDSIM_ERR_ARGUMENT
        );
        assert_eq!(
            meldsim_stats(rig.handle, std::ptr::null_mut(), 3),
            MELDSIM_ERR_ARGUMENT
        );
        assert_eq!(
            meldsim_submit_batch(rig.handle, std::ptr::null(), 1, 0),
            i64::from(MELDSIM_ERR_ARGUMENT)
        );
        assert_eq!(
            meldsim_stats(rig.handle, std::ptr::null_mut(), 0),
            meldsim::Stats::NAMES.len() as i32,
            "asks for the count only"
        );
        assert_eq!(
            meldsim_namespace_stats(rig.handle, rig.nsid, std::ptr::null_mut(), 3),
            MELDSIM_ERR_ARGUMENT
        );
        assert_eq!(
            meldsim_namespace_stats(rig.handle, rig.nsid, std::ptr::null_mut(), 0),
            meldsim::NamespaceStats::NAMES.len() as i32,
            "asks for the count only"
        );
    }
}

#[test]
fn an_unknown_profile_names_the_built_in_ones() {
    assert_eq!(open("melted-tlc-8x8"), Err(MELDSIM_ERR_PROFILE));
    let text = last_error();
    assert!(text.contains("melted-tlc-8x8"), "{text}");
    assert!(text.contains("melded-tlc-16x4"), "{text}");
}

#[test]
fn a_profile_can_be_a_file_and_its_errors_name_the_key() {
    let path = std::env::temp_dir().join(format!("meldsim-capi-{}.toml", std::process::id()));
    let good = meldsim::Profile::builtin(PROFILE).unwrap().to_toml();
    std::fs::write(&path, &good).unwrap();
    let handle = open(path.to_str().unwrap()).unwrap();
    ok(meldsim_close(handle));

    let zero = good
        .lines()
        .map(|line| match line.split('=').next().map(str::trim) {
            Some("channels") => "channels = 0",
            _ => line,
        })
        .collect::<Vec<_>>()
        .join("\n");
    std::fs::write(&path, zero).unwrap();
    assert_eq!(open(path.to_str().unwrap()), Err(MELDSIM_ERR_PROFILE));
    assert!(last_error().contains("channels"), "{}", last_error());
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_closed_handle_stays_an_error_when_its_slot_is_reused() {
    let stale = open(PROFILE).unwrap();
    ok(meldsim_close(stale));
    let fresh = open(PROFILE).unwrap();
    assert_eq!(meldsim_close(stale), MELDSIM_ERR_CLOSED);
    assert_eq!(
        meldsim_submit(stale, MELDSIM_READ, 1, 0, 1, 0, 0),
        i64::from(MELDSIM_ERR_CLOSED)
    );
    assert_eq!(
        meldsim_wait(stale, 1 << 32 | 1, 0),
        i64::from(MELDSIM_ERR_CLOSED)
    );
    assert_eq!(meldsim_set_mode(stale, 0, 1.0), MELDSIM_ERR_CLOSED);
    ok(meldsim_close(fresh));
}

#[test]
fn an_invented_handle_is_an_argument_error() {
    for handle in [0, -1, 1, i64::MAX, i64::MIN, 1 << 32, 12_345 << 32 | 1] {
        assert_eq!(meldsim_close(handle), MELDSIM_ERR_ARGUMENT, "{handle:#x}");
    }
}

#[test]
fn the_last_error_is_cut_at_the_buffer_and_is_per_thread() {
    assert_eq!(meldsim_close(0), MELDSIM_ERR_ARGUMENT);
    let whole = last_error();
    let mut small = [0x7Fu8; 9];
    // SAFETY: eight writable bytes are promised, the ninth is a guard.
    let needed = unsafe { meldsim_last_error(small.as_mut_ptr().cast(), 8) };
    assert_eq!(needed as usize, whole.len() + 1);
    assert_eq!(&small[..7], &whole.as_bytes()[..7]);
    assert_eq!(small[7..], [0, 0x7F]);
    // SAFETY: null with length 0 asks for the size.
    let other = std::thread::spawn(|| unsafe { meldsim_last_error(std::ptr::null_mut(), 0) });
    assert_eq!(other.join().unwrap(), 1, "nothing failed on that thread");
}

#[test]
fn two_devices_in_one_process_do_not_share_anything() {
    let (one, two) = (Rig::preloaded(1), Rig::preloaded(1));
    one.read(0, 4096);
    assert_eq!(one.stat("read_commands"), 1);
    assert_eq!(two.stat("read_commands"), 0);
    assert_eq!(two.stat("now_ps"), 0, "no time has passed");
}

#[test]
fn counters_are_named_and_described_to_the_last() {
    let all = |text_at: extern "C" fn(u32) -> *const std::ffi::c_char| -> Vec<&str> {
        let texts = (0u32..).map(|index| text_at(index));
        texts.take_while(|text| !text.is_null()).map(text).collect()
    };
    let stats = (meldsim::Stats::NAMES, meldsim::Stats::DESCRIPTIONS);
    assert_eq!(all(meldsim_stats_name), stats.0);
    assert_eq!(all(meldsim_stats_description), stats.1);
    assert_eq!(text(meldsim_stats_description(1)), "Reads submitted.");
    let stats = (
        meldsim::NamespaceStats::NAMES,
        meldsim::NamespaceStats::DESCRIPTIONS,
    );
    assert_eq!(all(meldsim_namespace_stats_name), stats.0);
    assert_eq!(all(meldsim_namespace_stats_description), stats.1);
    assert!(meldsim_stats_name(u32::MAX).is_null());
    assert!(meldsim_namespace_stats_name(u32::MAX).is_null());
}

#[test]
fn each_namespace_counts_its_own() {
    let rig = Rig::preloaded(4);
    let mut other = 0;
    // SAFETY: `other` is writable.
    ok(unsafe { meldsim_namespace_create(rig.handle, 1 << 30, &mut other) });
    ok(meldsim_preload(rig.handle, other, 0, rig.lbas(MIB), 0));
    rig.read(0, MIB);
    let stats = |nsid| {
        let mut values = [0; meldsim::NamespaceStats::NAMES.len()];
        // SAFETY: room for all of them.
        let count = unsafe {
            meldsim_namespace_stats(rig.handle, nsid, values.as_mut_ptr(), values.len() as u32)
        };
        assert_eq!(count as usize, values.len(), "{}", last_error());
        move |name| {
            let at = meldsim::NamespaceStats::NAMES
                .iter()
                .position(|of| *of == name);
            values[at.unwrap()]
        }
    };
    let (read, unread) = (stats(rig.nsid), stats(other));
    let page_bytes = info(rig.handle, rig.nsid).page_bytes;
    assert_eq!(
        (read("host_read_bytes"), unread("host_read_bytes")),
        (MIB, 0)
    );
    assert_eq!(
        (read("preloaded_bytes"), unread("preloaded_bytes")),
        (4 * MIB, MIB)
    );
    assert_eq!(read("melded_reads"), rig.stat("melded_reads"));
    assert_eq!(unread("melded_reads") + unread("page_reads"), 0);
    assert_eq!(read("melded_mapped_pages"), 4 * MIB / page_bytes);
    assert_eq!(
        (unread("mapped_pages"), unread("melded_mapped_pages")),
        (MIB / page_bytes, 0)
    );
    // SAFETY: no values are asked for.
    let code = unsafe { meldsim_namespace_stats(rig.handle, 3, std::ptr::null_mut(), 0) };
    assert_eq!(code, MELDSIM_ERR_NAMESPACE);
    assert!(last_error().contains('3'), "{}", last_error());
}

#[test]
fn a_caller_with_less_room_gets_the_first_counters() {
    let rig = Rig::preloaded(1);
    rig.read(0, 4096);
    let mut values = [u64::MAX; 3];
    // SAFETY: room for two values is promised, the third is a guard.
    let count = unsafe { meldsim_stats(rig.handle, values.as_mut_ptr(), 2) };
    assert_eq!(count as usize, meldsim::Stats::NAMES.len());
    assert_eq!(values, [rig.stat("now_ps"), 1, u64::MAX]);
}

#[test]
fn every_channel_and_die_says_how_busy_it_was() {
    let rig = Rig::preloaded(16);
    rig.read(0, 16 * MIB);
    let busy = |ask: unsafe extern "C" fn(i64, *mut u64, u32) -> i32| {
        let mut values = [0; 80];
        // SAFETY: room for 80 values.
        let count = unsafe { ask(rig.handle, values.as_mut_ptr(), 80) };
        assert!(count > 0, "{}", last_error());
        values[..count as usize].to_vec()
    };
    for (ask, count, sum) in [
        (meldsim_channels_busy_ps as _, 8, "channel_busy_ps"),
        (meldsim_dies_busy_ps as _, 64, "die_busy_ps"),
    ] {
        let times = busy(ask);
        assert_eq!(times.len(), count);
        assert_eq!(times.iter().sum::<u64>(), rig.stat(sum));
        assert!(times.iter().all(|ps| (1..=rig.stat("now_ps")).contains(ps)));
        // SAFETY: null is the error under test.
        let null = unsafe { ask(rig.handle, std::ptr::null_mut(), 1) };
        assert_eq!(null, MELDSIM_ERR_ARGUMENT);
    }
}

// Snapshots.

/// The whole snapshot, as a C caller takes it.
fn snapshot(handle: i64) -> Vec<u8> {
    // SAFETY: no bytes are asked for.
    let size = unsafe { meldsim_snapshot(handle, std::ptr::null_mut(), 0) };
    assert!(size > 0, "{}", last_error());
    let mut bytes = vec![0; size as usize];
    // SAFETY: room for `size` bytes.
    let again = unsafe { meldsim_snapshot(handle, bytes.as_mut_ptr(), size as u64) };
    assert_eq!(again, size);
    bytes
}

fn restore(bytes: &[u8]) -> Result<i64, i32> {
    let mut handle = 0;
    // SAFETY: as many bytes as it says, and a writable handle.
    let code = unsafe {
        meldsim_restore(
            MELDSIM_ABI_VERSION,
            bytes.as_ptr(),
            bytes.len() as u64,
            &mut handle,
        )
    };
    match code {
        MELDSIM_OK => Ok(handle),
        code => Err(code),
    }
}

#[test]
fn a_restored_device_holds_what_the_first_one_held() {
    let rig = Rig::preloaded(4);
    assert_eq!(rig.submit(MELDSIM_WRITE, 8 * MIB, MIB, MELDSIM_DETACHED), 0);
    let flush = rig.submit(MELDSIM_FLUSH, 0, 0, 0);
    assert!(meldsim_wait(rig.handle, flush, FOREVER) > 0);
    let bytes = snapshot(rig.handle);
    let latency_ps = rig.read(0, 4 * MIB);
    let handle = restore(&bytes).unwrap();
    assert_eq!(meldsim_namespaces(handle), 1);
    assert_eq!(info(handle, rig.nsid), info(rig.handle, rig.nsid));
    let restored = Rig { handle, ..rig };
    assert_eq!(restored.stat("mapped_pages"), 5 * MIB / 4096);
    assert_eq!(
        (restored.stat("now_ps"), restored.stat("write_commands")),
        (0, 0)
    );
    assert_eq!(restored.read(0, 4 * MIB), latency_ps, "laid out as before");
    assert_eq!(snapshot(handle), bytes);
    assert_eq!(profile(handle), profile(rig.handle));
}

fn profile(handle: i64) -> String {
    // SAFETY: no bytes are asked for.
    let size = unsafe { meldsim_profile(handle, std::ptr::null_mut(), 0) };
    let mut bytes = vec![0u8; size as usize];
    // SAFETY: room for `size` bytes.
    let again = unsafe { meldsim_profile(handle, bytes.as_mut_ptr().cast(), size as u64) };
    assert_eq!((again, bytes.pop()), (size, Some(0)));
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("melded-tlc-8x8"), "{text}");
    text
}

#[test]
fn what_does_not_fit_is_not_written() {
    let rig = Rig::preloaded(1);
    let whole = snapshot(rig.handle);
    let mut bytes = vec![7u8; whole.len()];
    // SAFETY: room for as many bytes and one more than it says.
    let size = unsafe { meldsim_snapshot(rig.handle, bytes.as_mut_ptr(), whole.len() as u64 - 1) };
    assert_eq!(size, whole.len() as i64);
    assert!(bytes.iter().all(|&byte| byte == 7));
    // SAFETY: null is the error under test.
    let null = unsafe { meldsim_snapshot(rig.handle, std::ptr::null_mut(), 1) };
    assert_eq!(null, i64::from(MELDSIM_ERR_ARGUMENT));
}

#[test]
fn what_is_no_snapshot_is_refused_with_a_reason() {
    let rig = Rig::preloaded(1);
    let good = snapshot(rig.handle);
    let changed = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        restore(&bytes).unwrap_err()
    };
    for (at, reason) in [
        (0, "no snapshot"),
        (8, "version"),
        (12, "cut"),
        (20, "checksum"),
    ] {
        assert_eq!(changed(at), MELDSIM_ERR_SNAPSHOT);
        assert!(last_error().contains(reason), "{}", last_error());
    }
    assert_eq!(restore(&good[..good.len() - 1]), Err(MELDSIM_ERR_SNAPSHOT));
    assert_eq!(restore(&[]), Err(MELDSIM_ERR_SNAPSHOT));
    let mut handle = 0;
    let mut call = |version, bytes: *const u8, length| {
        // SAFETY: null or a length that is refused before anything is read.
        unsafe { meldsim_restore(version, bytes, length, &mut handle) }
    };
    let null = std::ptr::null();
    assert_eq!(call(MELDSIM_ABI_VERSION, null, 0), MELDSIM_ERR_ARGUMENT);
    let endless = call(MELDSIM_ABI_VERSION, good.as_ptr(), u64::MAX);
    assert_eq!(endless, MELDSIM_ERR_ARGUMENT);
    let other = call(MELDSIM_ABI_VERSION + 1, good.as_ptr(), 0);
    assert_eq!(other, MELDSIM_ERR_ABI);
    assert_eq!(handle, 0);
}

// Pasts.

/// Puts the device into the state after a past as the command line has it.
fn precondition_by(rig: &Rig, past: &str) -> i32 {
    let past = CString::new(past).unwrap();
    // SAFETY: a NUL-terminated string.
    unsafe { meldsim_precondition_by(rig.handle, past.as_ptr()) }
}

#[test]
fn a_past_in_words_is_that_of_the_shares_and_has_a_skew() {
    let after = |past: &dyn Fn(&Rig)| {
        let rig = Rig::new();
        past(&rig);
        snapshot(rig.handle)
    };
    let by = |past: &'static str| after(&move |rig| ok(precondition_by(rig, past)));
    let uniform = after(&|rig| ok(meldsim_precondition(rig.handle, 50, 20)));
    assert!(by("fill=50,random=20") == uniform);
    assert!(by("fill=50,random=20,skew=random") == uniform);
    let skewed = by("fill=50,random=20,skew=zipf:0.9");
    assert!(skewed != uniform && skewed.len() > 1000);
    assert!(by("fill=50,random=20,skew=zipf:0.9") == skewed, "each time");
}

#[test]
fn a_past_that_cannot_be_is_refused_in_words() {
    let rig = Rig::new();
    for (past, named) in [
        ("", "no value"),
        ("fill=0", "1 to 100"),
        ("fill=101", "1 to 100"),
        ("random=200", "0 to 100"),
        ("wear=3", "use fill, random and skew"),
        ("skew=gauss:1", "use random, zipf:THETA"),
        ("skew=zipf:21", "above 0 and up to 20"),
        ("skew=zoned:90/10:20/90", "add up to 100"),
    ] {
        assert_eq!(precondition_by(&rig, past), MELDSIM_ERR_ARGUMENT, "{past}");
        let error = last_error();
        assert!(error.starts_with(&format!("past \"{past}\": ")), "{error}");
        assert!(error.contains(named), "{error}");
    }
    // SAFETY: null by contract.
    let null = unsafe { meldsim_precondition_by(rig.handle, std::ptr::null()) };
    assert_eq!(null, MELDSIM_ERR_ARGUMENT);
    assert_eq!(rig.stat("mapped_pages"), 0, "nothing has changed");
}
