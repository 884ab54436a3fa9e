//! NVM sets, and their predictable latency mode.

use meldsim::DeviceError;
use meldsim::nvme::PredictableLatencyConfig;

use crate::entry::{check_reserved, count, device, give, status, take, versioned};
use crate::error::Failure;

/// A window: predictable latency mode is not enabled.
pub const MELDSIM_WINDOW_DISABLED: u32 = 0;
/// A window: deterministic (DTWIN), in which the set collects no garbage.
pub const MELDSIM_WINDOW_DETERMINISTIC: u32 = 1;
/// A window: not deterministic (NDWIN), in which the set catches up and earns the next deterministic one.
pub const MELDSIM_WINDOW_NON_DETERMINISTIC: u32 = 2;

/// An NVM set, of `meldsim_set_info`. What it did, it did since the device was opened.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct meldsim_nvm_set {
    /// sizeof(meldsim_nvm_set), set by the caller.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// Pages that can hold data at one time.
    pub capacity_pages: u64,
    /// Pages that hold data.
    pub mapped_pages: u64,
    /// Erased blocks.
    pub free_blocks: u64,
    /// Pages programmed for the host.
    pub host_pages_programmed: u64,
    /// Pages moved by garbage collection.
    pub gc_pages_moved: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Reads begun.
    pub read_commands: u64,
    /// Bytes of them.
    pub read_bytes: u64,
    /// Writes begun.
    pub write_commands: u64,
    /// Bytes of them.
    pub written_bytes: u64,
    /// Bytes programmed in all.
    pub programmed_bytes: u64,
    /// Its optimal write: bytes of a wordline.
    pub optimal_write_bytes: u64,
    /// What a read of one page takes on an idle device, in simulated picoseconds.
    pub random_read_ps: u64,
}

/// Predictable latency mode of an NVM set, of `meldsim_window_info`: its log page, and what it was configured to.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct meldsim_window {
    /// sizeof(meldsim_window), set by the caller.
    pub size: u32,
    /// MELDSIM_WINDOW_DISABLED, MELDSIM_WINDOW_DETERMINISTIC or MELDSIM_WINDOW_NON_DETERMINISTIC.
    pub window: u32,
    /// What has happened and was not cleared; bits as in the log page (0 to 2 warnings, 14 budget exceeded, 15 excursion).
    pub events: u32,
    /// The events that are reported.
    pub events_enabled: u32,
    /// Reads of 4 KiB in a whole deterministic window.
    pub dtwin_reads: u64,
    /// Optimal writes in a whole deterministic window.
    pub dtwin_writes: u64,
    /// Milliseconds of a whole deterministic window.
    pub dtwin_time_ms: u64,
    /// Milliseconds outside that earn a whole one.
    pub ndwin_time_high_ms: u64,
    /// Milliseconds outside that earn any.
    pub ndwin_time_low_ms: u64,
    /// Reads left in this window, or in the next one.
    pub reads_left: u64,
    /// Writes left.
    pub writes_left: u64,
    /// Milliseconds left.
    pub time_left_ms: u64,
    /// A warning is reported when fewer reads are left.
    pub reads_threshold: u64,
    /// A warning is reported when fewer writes are left.
    pub writes_threshold: u64,
    /// A warning is reported when fewer milliseconds are left.
    pub time_threshold_ms: u64,
}

/// What is to be reported of predictable latency mode, for `meldsim_window_configure`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct meldsim_window_config {
    /// sizeof(meldsim_window_config).
    pub size: u32,
    /// 1 enables the mode, 0 disables it.
    pub enable: u32,
    /// A sum of the events to be reported; bits as in `meldsim_window`.
    pub events: u32,
    /// 0.
    pub reserved: u32,
    /// Warn when fewer reads are left.
    pub reads_threshold: u64,
    /// Warn when fewer writes are left.
    pub writes_threshold: u64,
    /// Warn when fewer milliseconds are left.
    pub time_threshold_ms: u64,
}

versioned! {
    meldsim_nvm_set: 112,
    meldsim_window: 104,
    meldsim_window_config: 40,
}

/// The number of NVM sets of the device, as its profile has it; they are numbered from 0. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_sets(handle: i64) -> i32 {
    device(handle, |device| Ok(count(device.sets().into())))
}

/// Fills `*out` with what an NVM set holds and has done. In real-time mode that is as of now. The caller owns `out`.
/// Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size, set), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null, or points to a struct whose size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_set_info(handle: i64, set: u32, out: *mut meldsim_nvm_set) -> i32 {
    device(handle, |device| {
        let sets = device.sets();
        let info = device.set_info(set);
        let info = info.ok_or(DeviceError::UnknownSet { set, sets })?;
        let usage = device.set_usage(set);
        let value = meldsim_nvm_set {
            size: 0,
            reserved: 0,
            capacity_pages: info.capacity_pages,
            mapped_pages: info.mapped_pages,
            free_blocks: info.free_blocks,
            host_pages_programmed: info.host_pages_programmed,
            gc_pages_moved: info.gc_pages_moved,
            erases: info.erases,
            read_commands: usage.read_commands,
            read_bytes: usage.read_bytes,
            write_commands: usage.write_commands,
            written_bytes: usage.written_bytes,
            programmed_bytes: usage.programmed_bytes,
            optimal_write_bytes: device.optimal_write_bytes(),
            random_read_ps: device.random_read_typical().as_ps(),
        };
        // SAFETY: the contract of this function on `out`.
        unsafe { give(out, value) }
    })
}

/// Enables or disables predictable latency mode for an NVM set, as NVMe's Feature 13h does, and says what is to be reported.
/// The mode begins in the non-deterministic window, with a deterministic one earned. `config` is copied. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, set, a field of `config`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `config` is null, or points to a struct whose size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_window_configure(
    handle: i64,
    set: u32,
    config: *const meldsim_window_config,
) -> i32 {
    status(handle, |session| {
        // SAFETY: the contract of this function on `config`.
        let config = unsafe { take(config) }?;
        check_reserved::<meldsim_window_config>(config.reserved)?;
        let enable = flag(config.enable, "enable")?;
        let enable_event = u16::try_from(config.events).map_err(|_| {
            Failure::argument(format!("events {:#x} are above 0xffff", config.events))
        })?;
        let reported = PredictableLatencyConfig {
            enable_event,
            reads_threshold: config.reads_threshold,
            writes_threshold: config.writes_threshold,
            time_threshold_ms: config.time_threshold_ms,
        };
        session.with(|state| Ok(state.device.configure_windows(set, enable, reported)?))
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
        session.with(|state| Ok(state.device.enter_window(set, deterministic)?))
    })
}

/// Fills `*out` with the Predictable Latency log page of an NVM set and its configuration. Events are cleared unless `retain`
/// is 1. In real-time mode the values are as of now. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size, set, `retain`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null, or points to a struct whose size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_window_info(
    handle: i64,
    set: u32,
    retain: u32,
    out: *mut meldsim_window,
) -> i32 {
    device(handle, |device| {
        let retain = flag(retain, "retain")?;
        let (_, config) = device.window(set)?;
        let log = device.latency_log(set, true)?;
        let value = meldsim_window {
            size: 0,
            window: log.status as u32,
            events: log.event_type.into(),
            events_enabled: config.enable_event.into(),
            dtwin_reads: log.dtwin_reads_typical,
            dtwin_writes: log.dtwin_writes_typical,
            dtwin_time_ms: log.dtwin_time_maximum_ms,
            ndwin_time_high_ms: log.ndwin_time_minimum_high_ms,
            ndwin_time_low_ms: log.ndwin_time_minimum_low_ms,
            reads_left: log.dtwin_reads_estimate,
            writes_left: log.dtwin_writes_estimate,
            time_left_ms: log.dtwin_time_estimate_ms,
            reads_threshold: config.reads_threshold,
            writes_threshold: config.writes_threshold,
            time_threshold_ms: config.time_threshold_ms,
        };
        // SAFETY: the contract of this function on `out`.
        let given = unsafe { give(out, value) }?;
        if !retain {
            // Only once they have reached the caller.
            device.latency_log(set, false)?;
        }
        Ok(given)
    })
}

fn flag(value: u32, name: &str) -> Result<bool, Failure> {
    match value {
        0 | 1 => Ok(value == 1),
        other => Err(Failure::argument(format!("{name} is {other}; use 0 or 1"))),
    }
}
