//! Snapshots through the ABI.

use super::support::*;
use crate::*;

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
