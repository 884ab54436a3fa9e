//! Predictable latency mode of NVM sets.

use meldsim::nvme::wire::sets::PredictableLatencyConfig;

use super::{fill, status};
use crate::convert;
use crate::error::Failure;
use crate::handles;
use crate::panic::boundary;

/// How many values `meldsim_window_info` knows.
pub const MELDSIM_WINDOW_INFO_COUNT: u32 = 14;
/// A window: predictable latency mode is not enabled.
pub const MELDSIM_WINDOW_DISABLED: u32 = 0;
/// A window: deterministic (DTWIN), in which the set collects no garbage.
pub const MELDSIM_WINDOW_DETERMINISTIC: u32 = 1;
/// A window: not deterministic (NDWIN), in which the set catches up and earns the next deterministic one.
pub const MELDSIM_WINDOW_NON_DETERMINISTIC: u32 = 2;

/// Enables (`enable` 1) or disables (0) predictable latency mode for an NVM set, as NVMe's Feature 13h does. `events` is a sum
/// of the events to be reported, bits as in the log page (0 to 2 warnings, 14 budget exceeded, 15 excursion); the thresholds
/// are those of the warnings: reads of 4 KiB, optimal writes and milliseconds left. The mode begins in the non-deterministic
/// window, with a deterministic one earned. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (set, `enable`, `events`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_window_configure(
    handle: i64,
    set: u32,
    enable: u32,
    events: u32,
    reads_threshold: u64,
    writes_threshold: u64,
    time_threshold_ms: u64,
) -> i32 {
    status(handle, |session| {
        let enable = match enable {
            0 | 1 => enable == 1,
            other => return Err(Failure::argument(format!("enable is {other}; use 0 or 1"))),
        };
        let enable_event = u16::try_from(events)
            .map_err(|_| Failure::argument(format!("events {events:#x} are above 0xffff")))?;
        let config = PredictableLatencyConfig {
            enable_event,
            reads_threshold,
            writes_threshold,
            time_threshold_ms,
        };
        session.on_device(|device| {
            let configured = device.configure_windows(set, enable, config);
            configured.map_err(convert::refused)
        })
    })
}

/// Moves an NVM set to MELDSIM_WINDOW_DETERMINISTIC or MELDSIM_WINDOW_NON_DETERMINISTIC, as NVMe's Feature 14h does. The
/// deterministic window ends by itself when its budget of reads, writes or time is used up, or when writes leave the set no
/// choice but to collect. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (set, window, mode not enabled, window not earned), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_window_enter(handle: i64, set: u32, window: u32) -> i32 {
    status(handle, |session| {
        let deterministic = match window {
            MELDSIM_WINDOW_DETERMINISTIC => true,
            MELDSIM_WINDOW_NON_DETERMINISTIC => false,
            other => {
                return Err(Failure::argument(format!(
                    "window {other} cannot be entered; use 1 (deterministic) or 2 (non-deterministic)"
                )));
            }
        };
        session.on_device(|device| {
            let entered = device.enter_window(set, deterministic);
            entered.map_err(convert::refused)
        })
    })
}

/// Fills `out` with at most `n` of the Predictable Latency log page of an NVM set and its configuration: window, events; of a
/// whole deterministic window reads, writes and milliseconds; milliseconds outside that earn a whole one, and any; reads,
/// writes and milliseconds left in this window, or in the next one; events enabled, and thresholds of reads, writes and
/// milliseconds. Events are cleared unless `retain` is 1.
///
/// Returns how many values there are (MELDSIM_WINDOW_INFO_COUNT, more in a later library). In real-time mode they are as of
/// now. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, set, `retain`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_window_info(
    handle: i64,
    set: u32,
    retain: u32,
    out: *mut u64,
    n: u32,
) -> i32 {
    boundary(|| {
        if retain > 1 {
            return Err(Failure::argument(format!("retain is {retain}; use 0 or 1")));
        }
        let values = handles::get(handle)?.guard(|session| {
            session.on_device(|device| {
                let log = device
                    .latency_log(set, retain == 1)
                    .map_err(convert::refused)?;
                let (_, config) = device.window(set).map_err(convert::refused)?;
                Ok(convert::window_values(&log, &config))
            })
        })?;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, values.into_iter()) }
    })
}
