//! Zoned namespaces: what zones are like, and the report of them. Commands of zones go through `meldsim_submit`.

use meldsim::NamespaceId;
use meldsim::nvme::Status;
use meldsim::nvme::zone::{Zone, ZoneAction, ZoneState};

use crate::entry::{device, fill, give, versioned};
use crate::error::Failure;

/// Opcode of `meldsim_submit`: Zone Management Send. `slba` is the first logical block of a zone, and `nlb` what is done to it,
/// such as MELDSIM_ZONE_OPEN.
pub const MELDSIM_ZONE_MANAGE: u32 = 0x79;
/// Opcode of `meldsim_submit`: a write at the write pointer of the zone whose first logical block is `slba`.
/// `meldsim_wait_result` says where it went.
pub const MELDSIM_ZONE_APPEND: u32 = 0x7d;

/// Zone Send Action: the zone is closed.
pub const MELDSIM_ZONE_CLOSE: u32 = 0x01;
/// Zone Send Action: the zone becomes full; what is not written is padded.
pub const MELDSIM_ZONE_FINISH: u32 = 0x02;
/// Zone Send Action: the zone is opened explicitly.
pub const MELDSIM_ZONE_OPEN: u32 = 0x03;
/// Zone Send Action: what the zone holds is gone.
pub const MELDSIM_ZONE_RESET: u32 = 0x04;
/// Zone Send Action: a zone that is read only goes out of service; there is none.
pub const MELDSIM_ZONE_OFFLINE: u32 = 0x05;
/// Add it to a Zone Send Action: all zones that may be closed, finished or reset, or all closed ones to open; `slba` does not
/// matter.
pub const MELDSIM_ZONE_SELECT_ALL: u32 = 0x100;

/// Zone Type: sequential write required.
const SEQUENTIAL_WRITE_REQUIRED: u64 = 2;
/// Reporting Options: zones of every state; those of a state; and those that are read only and offline.
const REPORT_ALL: u32 = 0;
const REPORT_LAST: u32 = 7;

/// Zones of a namespace, of `meldsim_zones_info`. What was done to them, was done since the device was opened.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct meldsim_zones {
    /// sizeof(meldsim_zones), set by the caller.
    pub size: u32,
    /// Zones.
    pub zones: u32,
    /// Maximum Active Resources: zones that are open or closed.
    pub max_active: u32,
    /// Maximum Open Resources.
    pub max_open: u32,
    /// Zone Size: logical blocks from the start of a zone to that of the next.
    pub zone_lbas: u64,
    /// Zone Capacity: logical blocks of a zone that can be written.
    pub capacity_lbas: u64,
    /// Appends.
    pub appends: u64,
    /// Zones that were reset and were not empty.
    pub resets: u64,
    /// Zones that were finished and were not full.
    pub finishes: u64,
    /// Zones that were closed because another was opened.
    pub implicit_closes: u64,
}

versioned! {
    meldsim_zones: 64,
}

/// Fills `*out` with what the zones of a namespace are like. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (no zones), MELDSIM_ERR_CLOSED,
/// MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null, or points to a struct whose size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_zones_info(
    handle: i64,
    nsid: u32,
    out: *mut meldsim_zones,
) -> i32 {
    device(handle, |device| {
        let (shape, zones) = device.report_zones(NamespaceId(nsid), 0)?;
        let zones = zones.count() as u32;
        let counts = device.zone_counts();
        let value = meldsim_zones {
            size: 0,
            zones,
            max_active: shape.max_active,
            max_open: shape.max_open,
            zone_lbas: shape.size_lbas,
            capacity_lbas: shape.capacity_lbas,
            appends: counts.appends,
            resets: counts.resets,
            finishes: counts.finishes,
            implicit_closes: counts.implicit_closes,
        };
        // SAFETY: the contract of this function on `out`.
        unsafe { give(out, value) }
    })
}

/// Zone Management Receive (7Ah), Report Zones: fills `out` with the first `n` values of the report of the zones from that of
/// logical block `slba` on. `options` are its Reporting Options: 0 all zones, 1 empty ones, 2 those open implicitly, 3
/// explicitly, 4 closed, 5 full, 6 read only, 7 offline. It takes no simulated time.
///
/// Each zone is five values: its type, which is 2 (sequential write required), its state, its first logical block, its capacity,
/// and its write pointer, which of a full zone is UINT64_MAX. The state is 1 empty, 2 open implicitly, 3 explicitly, 4 closed, 14
/// full.
///
/// Returns how many values there are. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (`options`), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_UNSUPPORTED (no zones),
/// MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_zone_report(
    handle: i64,
    nsid: u32,
    slba: u64,
    options: u32,
    out: *mut u64,
    n: u32,
) -> i32 {
    device(handle, |device| {
        let (shape, zones) = device.report_zones(NamespaceId(nsid), slba)?;
        if options > REPORT_LAST {
            return Err(Failure::argument(format!(
                "reporting options {options} are unknown; use 0 (all) to 7"
            ))
            .with_status(Status::INVALID_FIELD));
        }
        let state = (options as usize).checked_sub(1);
        let state = state.and_then(|at| ZoneState::ALL.get(at).copied());
        let zones = zones.filter(|zone| options == REPORT_ALL || Some(zone.state) == state);
        let values = zones.flat_map(|zone: Zone| {
            [
                SEQUENTIAL_WRITE_REQUIRED,
                zone.state as u64,
                zone.start_lba,
                shape.capacity_lbas,
                match zone.state {
                    ZoneState::Full => u64::MAX,
                    _ => zone.start_lba + zone.written_lbas,
                },
            ]
        });
        let values: Vec<u64> = values.collect();
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, values.into_iter()) }
    })
}

/// What Zone Management Send does, and whether to all zones.
pub(super) fn send_of(number: u32) -> Result<(ZoneAction, bool), Failure> {
    let action = u8::try_from(number & !MELDSIM_ZONE_SELECT_ALL).ok();
    let action = action.and_then(ZoneAction::from_u8).ok_or_else(|| {
        Failure::argument(format!(
            "zone action {number:#x} is unknown; use 1 (close), 2 (finish), 3 (open), 4 (reset) or 5 (offline), for all zones with 0x100"
        ))
        .with_status(Status::INVALID_FIELD)
    })?;
    Ok((action, number & MELDSIM_ZONE_SELECT_ALL != 0))
}
