//! Counters, percentiles, and how busy the parts of a device are.

use std::ffi::{CString, c_char};
use std::sync::OnceLock;

use meldsim::{Duration, NamespaceId, NamespaceStats, Stats};

use super::io::{MELDSIM_READ, MELDSIM_WRITE};
use crate::entry::{device, fill, long, session};
use crate::error::{Failure, catch};

/// Fills `out` with the first `n` counters of the device, all since it was opened (names in `_ps`: simulated picoseconds).
///
/// Returns how many counters there are, which may be more than `n` and grows from release to release; a null `out` with
/// `n` 0 asks for that only. `meldsim_stats_name` says what stands where: look a counter up by its name. In real-time mode
/// they are as of now. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_stats(handle: i64, out: *mut u64, n: u32) -> i32 {
    device(handle, |device| {
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, device.stats().to_array().into_iter()) }
    })
}

/// The name of the counter at `index` of `meldsim_stats`, such as `read_commands`; null past the last one.
///
/// The text is NUL-terminated, belongs to the library and lives as long as it. Thread-safe; nothing else can go wrong.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_stats_name(index: u32) -> *const c_char {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    text_at(&NAMES, Stats::NAMES, index)
}

/// What the counter at `index` of `meldsim_stats` counts, in one English sentence; else as `meldsim_stats_name`.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_stats_description(index: u32) -> *const c_char {
    static DESCRIPTIONS: OnceLock<Vec<CString>> = OnceLock::new();
    text_at(&DESCRIPTIONS, Stats::DESCRIPTIONS, index)
}

/// Fills `out` with the first `n` counters of a namespace, all since the device was opened; else as `meldsim_stats`, with
/// `meldsim_namespace_stats_name` for what stands where. One whose name `meldsim_stats` has too counts what is the
/// namespace's of it. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_namespace_stats(
    handle: i64,
    nsid: u32,
    out: *mut u64,
    n: u32,
) -> i32 {
    device(handle, |device| {
        let stats = device.namespace_stats(NamespaceId(nsid))?;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, stats.to_array().into_iter()) }
    })
}

/// The name of the counter at `index` of `meldsim_namespace_stats`; else as `meldsim_stats_name`.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_namespace_stats_name(index: u32) -> *const c_char {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    text_at(&NAMES, NamespaceStats::NAMES, index)
}

/// What the counter at `index` of `meldsim_namespace_stats` counts, in one English sentence; else as `meldsim_stats_name`.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_namespace_stats_description(index: u32) -> *const c_char {
    static DESCRIPTIONS: OnceLock<Vec<CString>> = OnceLock::new();
    text_at(&DESCRIPTIONS, NamespaceStats::DESCRIPTIONS, index)
}

/// The latency that `quantile` (0 to 1, such as 0.99) of the reads or of the writes did not exceed, in simulated
/// picoseconds: from submission to completion, of all that completed since the device was opened or restored, within
/// 0.1 %. 0 when there were none.
///
/// `opcode` is MELDSIM_READ or MELDSIM_WRITE. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_latency(handle: i64, opcode: u32, quantile: f64) -> i64 {
    session(handle, |session| {
        let writes = match opcode {
            MELDSIM_READ => false,
            MELDSIM_WRITE => true,
            _ => {
                let message =
                    format!("opcode {opcode} has no latencies; use 1 (write) or 2 (read)");
                return Err(Failure::argument(message));
            }
        };
        if !(0.0..=1.0).contains(&quantile) {
            let message = format!("quantile {quantile} is outside of 0 to 1; use one such as 0.99");
            return Err(Failure::argument(message));
        }
        let latency = session.with(|state| Ok(state.latency(writes, quantile)))?;
        Ok(long(latency.as_ps()))
    })
}

/// Fills `out` with how long each channel's bus was held since the device was opened, in simulated picoseconds, for the
/// first `n` channels.
///
/// Returns how many channels there are; a null `out` with `n` 0 asks for that only. In real-time mode the times are as of
/// now. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_channels_busy_ps(handle: i64, out: *mut u64, n: u32) -> i32 {
    device(handle, |device| {
        let busy = device.utilisation().channels_busy;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, busy.into_iter().map(Duration::as_ps)) }
    })
}

/// How long each die was busy, from command to idle; the dies of channel 0 first. Else as `meldsim_channels_busy_ps`.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_dies_busy_ps(handle: i64, out: *mut u64, n: u32) -> i32 {
    device(handle, |device| {
        let busy = device.utilisation().dies_busy;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, busy.into_iter().map(Duration::as_ps)) }
    })
}

/// Text `index` as a C string, or null past the last one. The strings are made once.
fn text_at(
    made: &'static OnceLock<Vec<CString>>,
    texts: &'static [&'static str],
    index: u32,
) -> *const c_char {
    let found = catch(|| {
        let made = made.get_or_init(|| {
            // Neither an identifier nor a doc comment has a NUL in it.
            let text = |text: &&str| CString::new(*text).unwrap_or_default();
            texts.iter().map(text).collect()
        });
        made.get(index as usize).map(|text| text.as_ptr())
    });
    found.ok().flatten().unwrap_or(std::ptr::null())
}
