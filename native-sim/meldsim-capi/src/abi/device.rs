//! The library, its errors; devices, their snapshots, and who moves their time.

use std::ffi::c_char;
use std::fs::File;
use std::io::{self, Read};

use meldsim::{Device, Duration, Precondition, Profile, ProfileErrors};
use meldsim_workload::Past;

use crate::entry::{
    boundary, check_out, copy_text, count, device, device_for_long, long, status, string,
};
use crate::error::{self, Failure, MELDSIM_ERR_ABI, MELDSIM_ERR_PROFILE, MELDSIM_OK};
use crate::handles;
use crate::session::Session;

/// The version of this interface; give it to `meldsim_open`. It changes when a caller must be rebuilt.
pub const MELDSIM_ABI_VERSION: u32 = 3;

/// Mode of `meldsim_set_mode`: simulated time moves as far as waits require.
pub const MELDSIM_ACCOUNT: u32 = 0;
/// Mode of `meldsim_set_mode`: simulated time follows the wall clock, divided by the dilation.
pub const MELDSIM_REAL_TIME: u32 = 1;

/// Version of the interface this library was built with. Thread-safe; cannot fail.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_abi_version() -> u32 {
    MELDSIM_ABI_VERSION
}

/// Copies the text of the calling thread's last failure into `buf`, NUL-terminated and cut to `len` bytes.
///
/// Returns the bytes that the whole text needs, its NUL included: 1 when nothing has failed on this thread. A null `buf`
/// with `len` 0 asks for the size only. The caller owns `buf`. Thread-safe: each thread has its own last error, and a
/// call that succeeds leaves it alone.
///
/// # Safety
/// `buf` is null, or points to `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_last_error(buf: *mut c_char, len: u64) -> i32 {
    boundary(|| {
        // SAFETY: the contract of this function on `buf` and `len`.
        let needed = error::with_last(|text| unsafe { copy_text(text, buf, len) });
        Ok(count(needed))
    })
}

/// The status with which an NVMe controller completes the command of this thread's last failure: the status code type from bit 8
/// up, the status code below, as the Base specification and those of the command sets number them. 0 when the failure was not of a
/// command.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_last_status() -> i32 {
    error::last_status().0.into()
}

/// Opens a device in account mode and stores its handle, always positive, in `*handle`.
///
/// `abi_version` is MELDSIM_ABI_VERSION as the caller was compiled with. `profile` is the name of a built-in profile or
/// the path of a TOML file; it is read before the call returns. Close the handle with `meldsim_close`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT (null, not UTF-8), MELDSIM_ERR_PROFILE (unknown name, unreadable file,
/// unknown key, impossible device), MELDSIM_ERR_CAPACITY (too many devices open). `*handle` is set on success only.
///
/// # Safety
/// `profile` is null or a NUL-terminated string; `handle` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_open(
    abi_version: u32,
    profile: *const c_char,
    handle: *mut i64,
) -> i32 {
    boundary(|| {
        check_abi(abi_version)?;
        check_out(handle, "handle")?;
        // SAFETY: the contract of this function on `profile`.
        let name = unsafe { string(profile, "profile") }?;
        let opened = handles::insert(Session::new(device_of(name)?))?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { handle.write(opened) };
        Ok(MELDSIM_OK)
    })
}

/// Closes a device and frees it. Commands on it are abandoned; threads that wait return MELDSIM_ERR_CLOSED, as does any
/// later use of the handle, closing it again included. Thread-safe, also against calls in flight on other threads.
///
/// Errors: MELDSIM_ERR_ARGUMENT (never a handle), MELDSIM_ERR_CLOSED.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_close(handle: i64) -> i32 {
    boundary(|| {
        handles::remove(handle)?.close();
        Ok(MELDSIM_OK)
    })
}

/// Chooses who moves simulated time: MELDSIM_ACCOUNT or MELDSIM_REAL_TIME, in which one simulated second takes
/// `time_dilation` wall seconds (0.001 to 1000000; ignored in account mode).
///
/// A switch between the modes first completes everything outstanding, at once. A new dilation in real-time mode goes on
/// from the present simulated time, with commands outstanding. Thread-safe; waiting threads go on by the new rules.
///
/// Errors: MELDSIM_ERR_ARGUMENT (mode or dilation), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_set_mode(handle: i64, mode: u32, time_dilation: f64) -> i32 {
    status(handle, |session| match mode {
        MELDSIM_ACCOUNT => session.set_mode(None),
        MELDSIM_REAL_TIME => session.set_mode(Some(time_dilation)),
        other => Err(Failure::argument(format!(
            "mode {other} is unknown; use 0 (account) or 1 (real-time)"
        ))),
    })
}

/// In account mode lets `duration_ps` of simulated time pass, as on a host that does something else: commands on the device
/// go on, and so does what it does by itself. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (real-time mode), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC (beyond the 106 days that a device
/// lives).
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_advance(handle: i64, duration_ps: u64) -> i32 {
    status(handle, |session| {
        session.advance(Duration::from_ps(duration_ps))
    })
}

/// Copies the device's profile as TOML, with every key, into `buf`; else as `meldsim_last_error`.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `buf` is null, or points to `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_profile(handle: i64, buf: *mut c_char, len: u64) -> i32 {
    device(handle, |device| {
        let profile = device.profile().to_toml();
        // SAFETY: the contract of this function on `buf` and `len`.
        Ok(count(unsafe { copy_text(&profile, buf, len) }))
    })
}

/// Bytes of memory that the device's translation layers take: mapping, blocks, buffers. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_memory_bytes(handle: i64) -> i64 {
    device_for_long(handle, |device| Ok(long(device.memory())))
}

/// Copies what would survive if the power were cut now into `out`, when its `n` bytes are enough: all data whose write has
/// been acknowledged, the wear of the blocks, the namespaces, and the profile. Commands on the device are not in it, and
/// neither are counters, what was said of ranges and streams, or predictable latency mode. The device goes on unchanged.
///
/// Returns the bytes that the snapshot needs; a null `out` with `n` 0 asks for that only. The state may change between two
/// calls: compare what the second one returns with `n`. The same state gives the same bytes. The caller owns `out`.
/// Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null), MELDSIM_ERR_SNAPSHOT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_snapshot(handle: i64, out: *mut u8, n: u64) -> i64 {
    device_for_long(handle, |device| {
        if out.is_null() && n > 0 {
            return Err(Failure::argument("out is null"));
        }
        let bytes = device.snapshot()?;
        if bytes.len() as u64 <= n {
            // SAFETY: the caller gives `n` writable bytes at `out`, and there are no more of them.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len()) };
        }
        Ok(long(bytes.len() as u64))
    })
}

/// Opens a device in account mode in the state of a snapshot, as after the power has come back: its time and its counters
/// begin anew, its namespaces keep their ids. The snapshot brings the profile with it. Else as `meldsim_open`.
///
/// `snapshot` is `n` bytes of `meldsim_snapshot`, from this or another process; it is read before the call returns. What is
/// not a snapshot is refused and changes nothing. Thread-safe.
///
/// Errors: MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT (null), MELDSIM_ERR_SNAPSHOT (another version, damaged, contradictory),
/// MELDSIM_ERR_CAPACITY (too many devices open). `*handle` is set on success only.
///
/// # Safety
/// `snapshot` is null or points to `n` bytes; `handle` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_restore(
    abi_version: u32,
    snapshot: *const u8,
    n: u64,
    handle: *mut i64,
) -> i32 {
    boundary(|| {
        check_abi(abi_version)?;
        check_out(handle, "handle")?;
        if snapshot.is_null() {
            return Err(Failure::argument("snapshot is null"));
        }
        let length = isize::try_from(n)
            .map_err(|_| Failure::argument(format!("no snapshot has {n} bytes")))?;
        // SAFETY: not null, a length that a slice may have, and the caller vouches for as many bytes that live through
        // the call.
        let bytes = unsafe { std::slice::from_raw_parts(snapshot, length.unsigned_abs()) };
        let opened = handles::insert(Session::new(Device::restore(bytes)?))?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { handle.write(opened) };
        Ok(MELDSIM_OK)
    })
}

/// Puts the device into the state of one that has been used for long: every namespace filled to `fill_percent` (1 to 100)
/// from its start, of which the first `random_percent` (0 to 100) was overwritten at random until garbage collection came
/// to its steady state. What the namespaces held before is gone.
///
/// First completes everything outstanding, at once. The state itself is computed, in no simulated time. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (a share), MELDSIM_ERR_CAPACITY, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_precondition(handle: i64, fill_percent: u32, random_percent: u32) -> i32 {
    status(handle, |session| {
        if !(1..=100).contains(&fill_percent) || random_percent > 100 {
            return Err(Failure::argument(format!(
                "fill {fill_percent} % and random {random_percent} %: use 1 to 100 and 0 to 100"
            )));
        }
        session.precondition(&Past::from(Precondition {
            fill_percent,
            random_percent,
        }))
    })
}

/// As `meldsim_precondition`, of a past as `meldsim run --precondition` has it: `fill=100,random=75,skew=zipf:0.9`. What is
/// left out is 100, and no skew. With one, the random writes touched some pages of every namespace more often than others.
///
/// A skew has no computed state: the pages are overwritten 4 to 16 times, in no simulated time, but a fraction of a
/// microsecond for each. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, not UTF-8, an unknown or impossible word), else as `meldsim_precondition`.
///
/// # Safety
/// `past` is null or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_precondition_by(handle: i64, past: *const c_char) -> i32 {
    status(handle, |session| {
        // SAFETY: the contract of this function on `past`.
        let text = unsafe { string(past, "past") }?;
        let refused = |error: String| Failure::argument(format!("past \"{text}\": {error}"));
        session.precondition(&text.parse().map_err(refused)?)
    })
}

/// Refuses a caller that was compiled for another version of the interface.
pub(crate) fn check_abi(abi_version: u32) -> Result<(), Failure> {
    // Every way to a profile begins here.
    meldsim_firmware::register();
    match abi_version {
        MELDSIM_ABI_VERSION => Ok(()),
        _ => Err(Failure::new(
            MELDSIM_ERR_ABI,
            format!(
                "the caller speaks ABI version {abi_version}, this library {MELDSIM_ABI_VERSION}; use matching versions"
            ),
        )),
    }
}

/// A fresh device of the profile `name`: a built-in one, or the path of a TOML file.
fn device_of(name: &str) -> Result<Device, Failure> {
    let refused = |errors: ProfileErrors| {
        Failure::new(MELDSIM_ERR_PROFILE, format!("profile {name}: {errors}"))
    };
    let profile = if Profile::builtin_names().any(|builtin| builtin == name) {
        Profile::builtin(name).map_err(refused)?
    } else {
        Profile::from_toml(&read(name)?).map_err(refused)?
    };
    Device::new(&profile).map_err(refused)
}

fn read(path: &str) -> Result<String, Failure> {
    // No profile is that long; a path may be of something without an end.
    let text = File::open(path).and_then(|file| io::read_to_string(file.take(16 << 20)));
    text.map_err(|error| {
        let names: Vec<&str> = Profile::builtin_names().collect();
        let names = names.join(", ");
        Failure::new(
            MELDSIM_ERR_PROFILE,
            format!("profile {path}: not built in ({names}) and not a readable file: {error}"),
        )
    })
}
