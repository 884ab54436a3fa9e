//! The library, its errors, and devices.

use std::ffi::{CStr, c_char};

use meldsim::Duration;

use super::status;
use crate::convert;
use crate::error::{self, Failure, MELDSIM_ERR_ABI};
use crate::handles;
use crate::panic::boundary;
use crate::session::Session;

/// The version of this interface; give it to `meldsim_open`. It changes when a caller must be rebuilt.
pub const MELDSIM_ABI_VERSION: u32 = 1;

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
        Ok(error::with_last(|text| {
            // SAFETY: the contract of this function on `buf` and `len`.
            unsafe { copy_text(text, buf, len) }
        }))
    })
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
        if profile.is_null() || handle.is_null() {
            return Err(Failure::argument("profile or handle is null"));
        }
        // SAFETY: not null, and the caller vouches for a NUL-terminated string that lives through the call.
        let name = unsafe { CStr::from_ptr(profile) };
        let name = name
            .to_str()
            .map_err(|_| Failure::argument("the profile's name is not UTF-8"))?;
        let opened = handles::insert(Session::new(convert::device(name)?))?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { handle.write(opened) };
        Ok(error::MELDSIM_OK)
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
        Ok(error::MELDSIM_OK)
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
        MELDSIM_ACCOUNT => session.set_account(),
        MELDSIM_REAL_TIME => session.set_real_time(time_dilation),
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
    boundary(|| {
        let profile = handles::get(handle)?
            .guard(|session| session.on_device(|device| Ok(device.profile().to_toml())))?;
        // SAFETY: the contract of this function on `buf` and `len`.
        Ok(unsafe { copy_text(&profile, buf, len) })
    })
}

/// Bytes of memory that the device's translation layers take: mapping, blocks, buffers. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_memory_bytes(handle: i64) -> i64 {
    boundary(|| {
        let bytes = handles::get(handle)?
            .guard(|session| session.on_device(|device| Ok(device.memory())))?;
        Ok(i64::try_from(bytes).unwrap_or(i64::MAX))
    })
}

/// Refuses a caller that was compiled for another version of the interface.
pub(super) fn check_abi(abi_version: u32) -> Result<(), Failure> {
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

/// Copies as much of `text` as fits, with a NUL, and gives the bytes that all of it needs.
///
/// # Safety
/// `buf` is null, or points to `len` writable bytes.
pub(super) unsafe fn copy_text(text: &str, buf: *mut c_char, len: u64) -> i32 {
    if !buf.is_null() && len > 0 {
        let room = usize::try_from(len - 1).unwrap_or(usize::MAX);
        let bytes = error::cut(text, room).as_bytes();
        // SAFETY: the caller gives `len` writable bytes at `buf`; at most `len - 1` and the NUL are written.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), buf.cast::<u8>(), bytes.len());
            buf.add(bytes.len()).write(0);
        }
    }
    i32::try_from(text.len() + 1).unwrap_or(i32::MAX)
}
