//! Zones: commands, their statuses and results, and the report.

use meldsim::profile::ByteSize;
use meldsim::{Profile, Status};

use super::*;

const ZONE: u64 = 20;
const ZONES: u32 = 6;

/// A device with six zones of 16 blocks that begin 20 blocks from each other, of which three may be active and two open.
pub(super) fn rig() -> (Rig, u64) {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.timing.melded_read = None;
    (
        profile.geometry.channels,
        profile.geometry.dies_per_channel,
        profile.geometry.planes_per_die,
    ) = (1, 1, 1);
    (
        profile.geometry.blocks_per_plane,
        profile.geometry.wordlines_per_block,
    ) = (40, 6);
    profile.ftl.over_provisioning_percent = 50;
    profile.controller.lba_size = profile.mapping_unit();
    let capacity = profile.zone_capacity().0;
    profile.controller.write_buffer = ByteSize(2 * MIB);
    profile.zones.size = ByteSize(ZONE * profile.mapping_unit().0);
    (profile.zones.max_active, profile.zones.max_open) = (3, 2);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), profile.to_toml()).unwrap();
    let handle = open(file.path().to_str().unwrap()).unwrap_or_else(|_| panic!("{}", last_error()));
    let (mut nsid, bytes) = (0, u64::from(ZONES) * profile.zones.size.0);
    // SAFETY: `nsid` is writable.
    ok(unsafe { meldsim_namespace_create(handle, bytes, &mut nsid) });
    let lba_bytes = profile.mapping_unit().0;
    let rig = Rig {
        handle,
        nsid,
        lba_bytes,
    };
    (rig, capacity / lba_bytes)
}

/// What a command returns, or its error and status.
fn run(rig: &Rig, opcode: u32, slba: u64, nlb: u32) -> Result<u64, (i32, Status)> {
    let refused = |code: i64| (code as i32, Status(meldsim_last_status() as u16));
    let ticket = meldsim_submit(rig.handle, opcode, rig.nsid, slba, nlb, 0, 0);
    if ticket < 0 {
        return Err(refused(ticket));
    }
    let mut result = 0;
    // SAFETY: a writable value.
    match unsafe { meldsim_wait_result(rig.handle, ticket, FOREVER, &mut result) } {
        code @ ..0 => Err(refused(code)),
        _ => Ok(result),
    }
}

/// The report of the zones from a block on, zone by zone.
fn report(rig: &Rig, slba: u64, options: u32) -> Result<Vec<[u64; 5]>, i32> {
    let mut values = [0; 5 * ZONES as usize];
    let (out, n) = (values.as_mut_ptr(), values.len() as u32);
    // SAFETY: room for `n` values.
    match unsafe { meldsim_zone_report(rig.handle, rig.nsid, slba, options, out, n) } {
        code @ ..0 => Err(code),
        count => {
            let zones = values[..count as usize].chunks_exact(5);
            Ok(zones.map(|zone| zone.try_into().unwrap()).collect())
        }
    }
}

fn zones_info(rig: &Rig) -> meldsim_zones {
    let mut info = sized();
    // SAFETY: its size is set.
    ok(unsafe { meldsim_zones_info(rig.handle, rig.nsid, &mut info) });
    info
}

/// Every way in which a command of zones is wrong ends with the status that the command set names, in this order on one device.
#[test]
fn wrong_commands_end_with_the_status_of_the_standard() {
    let (rig, capacity) = rig();
    let (write, append, manage) = (MELDSIM_WRITE, MELDSIM_ZONE_APPEND, MELDSIM_ZONE_MANAGE);
    let zone = |err| Err((MELDSIM_ERR_ZONE, err));
    let argument = Err((MELDSIM_ERR_ARGUMENT, Status::INVALID_FIELD));
    let beyond = Err((MELDSIM_ERR_RANGE, Status::LBA_OUT_OF_RANGE));
    let (at, end) = (|zone: u64| zone * ZONE, u64::from(ZONES) * ZONE);
    let all = MELDSIM_ZONE_SELECT_ALL;
    let whole = capacity as u32;
    for (number, (opcode, slba, nlb, expected)) in (0..).zip([
        // At the write pointer, and not.
        (write, at(0), 2, Ok(0)),
        (write, at(0), 1, zone(Status::ZONE_INVALID_WRITE)),
        (write, at(0) + 3, 1, zone(Status::ZONE_INVALID_WRITE)),
        // Across the capacity, the boundary and the end.
        (
            write,
            at(0) + 2,
            whole - 1,
            zone(Status::ZONE_BOUNDARY_ERROR),
        ),
        (append, at(0), whole - 1, zone(Status::ZONE_BOUNDARY_ERROR)),
        (
            MELDSIM_READ,
            at(1) - 1,
            2,
            zone(Status::ZONE_BOUNDARY_ERROR),
        ),
        (write, end - 1, 2, beyond),
        (manage, end, MELDSIM_ZONE_OPEN, beyond),
        (append, end, 1, beyond),
        // Not the first block of a zone; no such action, opcode.
        (append, at(0) + 1, 1, argument),
        (manage, at(0) + 1, MELDSIM_ZONE_OPEN, argument),
        (manage, at(0), 0, argument),
        (manage, at(0), 6, argument),
        (manage, at(0), 0x10 | all, argument),
        (manage, at(0), 0x200 | MELDSIM_ZONE_OPEN, argument),
        (
            0x7b,
            0,
            1,
            Err((MELDSIM_ERR_UNSUPPORTED, Status::INVALID_OPCODE)),
        ),
        (
            MELDSIM_DEALLOCATE,
            0,
            1,
            Err((MELDSIM_ERR_UNSUPPORTED, Status::INVALID_OPCODE)),
        ),
        // A full zone.
        (append, at(0), whole - 2, Ok(2)),
        (write, at(0) + capacity, 1, zone(Status::ZONE_IS_FULL)),
        (append, at(0), 1, zone(Status::ZONE_IS_FULL)),
        (
            manage,
            at(0),
            MELDSIM_ZONE_OPEN,
            zone(Status::INVALID_ZONE_STATE_TRANSITION),
        ),
        (
            manage,
            at(0),
            MELDSIM_ZONE_CLOSE,
            zone(Status::INVALID_ZONE_STATE_TRANSITION),
        ),
        (
            manage,
            at(0),
            MELDSIM_ZONE_OFFLINE,
            zone(Status::INVALID_ZONE_STATE_TRANSITION),
        ),
        (manage, at(0), MELDSIM_ZONE_FINISH, Ok(0)),
        // An empty one.
        (
            manage,
            at(1),
            MELDSIM_ZONE_CLOSE,
            zone(Status::INVALID_ZONE_STATE_TRANSITION),
        ),
        (manage, at(1), MELDSIM_ZONE_RESET, Ok(0)),
        // Two open, three active.
        (manage, at(1), MELDSIM_ZONE_OPEN, Ok(0)),
        (manage, at(2), MELDSIM_ZONE_OPEN, Ok(0)),
        (
            manage,
            at(3),
            MELDSIM_ZONE_OPEN,
            zone(Status::TOO_MANY_OPEN_ZONES),
        ),
        (append, at(3), 1, zone(Status::TOO_MANY_OPEN_ZONES)),
        (manage, at(2), MELDSIM_ZONE_CLOSE, Ok(0)),
        (append, at(3), 1, Ok(at(3))),
        (write, at(4), 1, zone(Status::TOO_MANY_ACTIVE_ZONES)),
        // All: two that are closed may be opened only when nothing else is open.
        (manage, 1, MELDSIM_ZONE_CLOSE | all, Ok(0)),
        (
            manage,
            0,
            MELDSIM_ZONE_OPEN | all,
            zone(Status::TOO_MANY_OPEN_ZONES),
        ),
        (manage, at(1), MELDSIM_ZONE_RESET, Ok(0)),
        (manage, end, MELDSIM_ZONE_OPEN | all, Ok(0)),
        (manage, 0, MELDSIM_ZONE_OFFLINE | all, Ok(0)),
    ]) {
        let got = run(&rig, opcode, slba, nlb);
        assert_eq!(got, expected, "number {number}: {}", last_error());
    }
    let states: Vec<u64> = report(&rig, 0, 0)
        .unwrap()
        .iter()
        .map(|zone| zone[1])
        .collect();
    assert_eq!(states, [14, 1, 3, 3, 1, 1]);
    let info = zones_info(&rig);
    assert_eq!((info.appends, info.resets, info.finishes), (2, 1, 0));
}

#[test]
fn the_report_has_type_state_start_capacity_and_write_pointer() {
    let (rig, capacity) = rig();
    let info = zones_info(&rig);
    assert_eq!((info.zones, info.max_active, info.max_open), (ZONES, 3, 2));
    assert_eq!((info.zone_lbas, info.capacity_lbas), (ZONE, capacity));
    run(&rig, MELDSIM_ZONE_APPEND, ZONE, 5).unwrap();
    run(&rig, MELDSIM_WRITE, 2 * ZONE, capacity as u32).unwrap();
    run(&rig, MELDSIM_ZONE_MANAGE, 3 * ZONE, MELDSIM_ZONE_OPEN).unwrap();
    run(&rig, MELDSIM_ZONE_MANAGE, ZONE, MELDSIM_ZONE_CLOSE).unwrap();
    let closed = [2, 4, ZONE, capacity, ZONE + 5];
    let full = [2, 14, 2 * ZONE, capacity, u64::MAX];
    let open = [2, 3, 3 * ZONE, capacity, 3 * ZONE];
    let empty = |zone: u64| [2, 1, zone * ZONE, capacity, zone * ZONE];
    let zones = vec![empty(0), closed, full, open, empty(4), empty(5)];
    assert_eq!(report(&rig, 0, 0).unwrap(), zones);
    // From the zone that a block is in.
    assert_eq!(report(&rig, 3 * ZONE + 7, 0).unwrap(), zones[3..]);
    for (options, expected) in [
        (1, vec![empty(0), empty(4), empty(5)]),
        (2, vec![]),
        (3, vec![open]),
        (4, vec![closed]),
        (5, vec![full]),
        (6, vec![]),
        (7, vec![]),
    ] {
        assert_eq!(report(&rig, 0, options).unwrap(), expected, "{options}");
    }
    assert_eq!(report(&rig, 0, 8), Err(MELDSIM_ERR_ARGUMENT));
    assert_eq!(meldsim_last_status(), i32::from(Status::INVALID_FIELD.0));
    let beyond = u64::from(ZONES) * ZONE;
    assert_eq!(report(&rig, beyond, 0), Err(MELDSIM_ERR_RANGE));
    assert_eq!(meldsim_last_status(), i32::from(Status::LBA_OUT_OF_RANGE.0));
}

#[test]
fn a_namespace_without_zones_knows_none_of_it() {
    let rig = Rig::new();
    let unknown = Err((MELDSIM_ERR_UNSUPPORTED, Status::INVALID_OPCODE));
    let open = run(&rig, MELDSIM_ZONE_MANAGE, 0, MELDSIM_ZONE_OPEN);
    assert_eq!(open, unknown);
    assert_eq!(run(&rig, MELDSIM_ZONE_APPEND, 0, 1), unknown);
    assert_eq!(report(&rig, 0, 0), Err(MELDSIM_ERR_UNSUPPORTED));
    let mut info: meldsim_zones = sized();
    // SAFETY: its size is set.
    let code = unsafe { meldsim_zones_info(rig.handle, 99, &mut info) };
    assert_eq!(code, MELDSIM_ERR_NAMESPACE);
    assert_eq!(
        meldsim_last_status(),
        i32::from(Status::INVALID_NAMESPACE.0)
    );
    // A failure that is no command's has no status.
    assert_eq!(meldsim_forget(rig.handle, 77), MELDSIM_ERR_TICKET);
    assert_eq!(meldsim_last_status(), 0);
    // What other commands return is 0.
    assert_eq!(run(&rig, MELDSIM_WRITE, 0, 1), Ok(0));
    let ticket = rig.submit(MELDSIM_READ, 0, 4096, 0);
    // SAFETY: null is the error under test.
    let null = unsafe { meldsim_wait_result(rig.handle, ticket, FOREVER, std::ptr::null_mut()) };
    assert_eq!(null, i64::from(MELDSIM_ERR_ARGUMENT));
    assert!(meldsim_wait(rig.handle, ticket, FOREVER) > 0);
}
