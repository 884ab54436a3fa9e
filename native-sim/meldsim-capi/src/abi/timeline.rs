//! What a device did, as a file: kept while it is used, written when that is asked for.

use std::ffi::c_char;
use std::fs::OpenOptions;
use std::io::BufWriter;

use crate::entry::{check_out, long, session, status, string};
use crate::error::Failure;
use crate::session::Session;
use meldsim_timeline::{Kept, Recording};

/// The most bytes that `meldsim_timeline_start` keeps.
pub const MELDSIM_TIMELINE_BYTES_MAX: u64 = 1 << 30;

/// Keeps what every channel, die, core and command of the device does from now on: the latest of it, in at most `bytes`
/// bytes of memory (65536 to MELDSIM_TIMELINE_BYTES_MAX). A command takes about 30 bytes for each page. What was kept
/// before is gone. Commands that are outstanding now are not told of. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (`bytes`, or the memory is no flash), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_timeline_start(handle: i64, bytes: u64) -> i32 {
    status(handle, |session| {
        if !(1 << 16..=MELDSIM_TIMELINE_BYTES_MAX).contains(&bytes) {
            return Err(Failure::argument(format!(
                "{bytes} bytes of a timeline; use 65536 to {MELDSIM_TIMELINE_BYTES_MAX}"
            )));
        }
        session.record(Recording::new(bytes as usize))
    })
}

/// Ends what `meldsim_timeline_start` began and writes it to a new file at `path`, for `meldsim timeline --join`. Stores the
/// number of older records that had to make room in `*lost`, unless it is null. The device serves others meanwhile.
///
/// Returns the number of records in the file; 0, and no file, when nothing was begun. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, not UTF-8, the file exists or cannot be written), MELDSIM_ERR_CLOSED,
/// MELDSIM_ERR_PANIC. What was kept is gone then, too.
///
/// # Safety
/// `path` is null or a NUL-terminated string; `lost` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_timeline_stop(
    handle: i64,
    path: *const c_char,
    lost: *mut u64,
) -> i64 {
    session(handle, |session| {
        // SAFETY: the contract of this function on `path`.
        let path = unsafe { string(path, "path") }?;
        if !lost.is_null() {
            check_out(lost, "lost")?;
        }
        let kept = stop(session, path)?;
        if !lost.is_null() {
            // SAFETY: not null, aligned, and the caller vouches that it is writable.
            unsafe { lost.write(kept.lost) };
        }
        Ok(long(kept.records))
    })
}

fn stop(session: &Session, path: &str) -> Result<Kept, Failure> {
    let Some((recording, profile)) = session.end_recording()? else {
        return Ok(Kept::default());
    };
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|file| recording.write_to(&profile, BufWriter::new(file)));
    written.map_err(|error| {
        Failure::argument(format!(
            "the timeline cannot be written to {path}: {error}; give a new file in a folder that can be written"
        ))
    })
}
