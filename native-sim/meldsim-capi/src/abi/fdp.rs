//! Flexible data placement: reclaim unit handles, statistics and events of an NVM set.

use meldsim::NamespaceId;
use meldsim::nvme::fdp::FdpEventType;

use crate::entry::{device, fill, give, status, versioned};
use crate::error::Failure;

/// Write directive: add a placement identifier, from 0. For a device whose profile has reclaim unit handles, in place of
/// streams.
pub const MELDSIM_DIRECTIVE_PLACEMENT: u32 = 0x0002_0000;

/// Flexible data placement of an NVM set, of `meldsim_fdp_info`: its configuration, the FDP Statistics log page, and how many
/// events there were. What it did, it did since the device was opened.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct meldsim_fdp {
    /// sizeof(meldsim_fdp), set by the caller.
    pub size: u32,
    /// Reclaim unit handles.
    pub handles: u32,
    /// Bytes of a reclaim unit.
    pub reclaim_unit_bytes: u64,
    /// Host Bytes with Metadata Written.
    pub host_bytes_written: u64,
    /// Media Bytes with Metadata Written.
    pub media_bytes_written: u64,
    /// Media Bytes Erased.
    pub media_bytes_erased: u64,
    /// Events 00h: a reclaim unit was left before it was full.
    pub not_fully_written: u64,
    /// Events 03h: a write named a placement identifier that does not exist.
    pub invalid_placement_identifiers: u64,
    /// Events 80h: data of a reclaim unit was moved.
    pub media_reallocated: u64,
}

versioned! {
    meldsim_fdp: 64,
}

/// Fills `*out` with flexible data placement of an NVM set. In real-time mode that is as of now. The caller owns `out`.
/// Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size, set), MELDSIM_ERR_UNSUPPORTED (no handles), MELDSIM_ERR_CLOSED,
/// MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null, or points to a struct whose size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_fdp_info(handle: i64, set: u32, out: *mut meldsim_fdp) -> i32 {
    device(handle, |device| {
        let statistics = device.fdp_statistics(set)?;
        let counts: Vec<_> = device.fdp_event_counts(set).collect();
        let events = |kind| {
            let of_kind = counts.iter().filter(|(other, _)| *other == kind);
            of_kind.map(|(_, count)| count).sum()
        };
        let value = meldsim_fdp {
            size: 0,
            handles: device.handles().into(),
            reclaim_unit_bytes: device.profile().reclaim_unit().0,
            host_bytes_written: statistics.host_bytes_written,
            media_bytes_written: statistics.media_bytes_written,
            media_bytes_erased: statistics.media_bytes_erased,
            not_fully_written: events(FdpEventType::NotFullyWritten),
            invalid_placement_identifiers: events(FdpEventType::InvalidPlacementIdentifier),
            media_reallocated: events(FdpEventType::MediaReallocated),
        };
        // SAFETY: the contract of this function on `out`.
        unsafe { give(out, value) }
    })
}

/// Fills `out` with the first `n` values of the FDP Events log page of an NVM set: the host's events with `host` 1, the
/// controller's with 0. Each event is five values: its type, its simulated time in picoseconds, its placement identifier or
/// 65536 for none, its namespace or 0, and its logical pages. The oldest comes first; of many the last 63 are kept.
///
/// Returns how many values there are. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (`host`, set), MELDSIM_ERR_UNSUPPORTED (no handles), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_fdp_events(
    handle: i64,
    set: u32,
    host: u32,
    out: *mut u64,
    n: u32,
) -> i32 {
    device(handle, |device| {
        if host > 1 {
            return Err(Failure::argument(format!("host is {host}; use 0 or 1")));
        }
        let events = device.fdp_events(set, host == 1)?;
        let values = events.iter().flat_map(|event| {
            [
                event.kind as u64,
                event.time.as_ps(),
                event.pid.map_or(1 << 16, u64::from),
                event.nsid.map_or(0, |nsid| nsid.0.into()),
                event.pages,
            ]
        });
        let values: Vec<u64> = values.collect();
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, values.into_iter()) }
    })
}

/// Fills `out` with how many logical blocks the reclaim unit of each of the first `n` handles of a namespace can still take.
///
/// Returns how many handles there are. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (no handles), MELDSIM_ERR_CLOSED,
/// MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_handles(handle: i64, nsid: u32, out: *mut u64, n: u32) -> i32 {
    device(handle, |device| {
        let handles = device.handle_status(NamespaceId(nsid))?;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, handles.iter().map(|handle| handle.available_lbas)) }
    })
}

/// Has a reclaim unit handle refer to an empty reclaim unit: what is gathered for it is programmed, with padding, and its
/// reclaim unit is closed. Namespaces of an NVM set share handles. Thread-safe.
///
/// Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (no handles, `pid`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_handle_update(handle: i64, nsid: u32, pid: u32) -> i32 {
    status(handle, |session| {
        session.with(|state| {
            let pid = u16::try_from(pid).unwrap_or(u16::MAX);
            Ok(state.device.update_handle(NamespaceId(nsid), pid)?)
        })
    })
}
