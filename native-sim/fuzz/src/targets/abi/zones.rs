//! A device with zones, and what its report of them says.

use meldsim::policy::placement::PlacementPolicy;
use meldsim::profile::{ByteSize, Profile};
use meldsim_capi_study::*;

use crate::targets::exercise::tiny_profile;

/// Blocks of a zone, and of a namespace.
pub(super) const ZONE_BLOCKS: u64 = 64;
pub(super) const ZONED_BLOCKS: u64 = 8 * ZONE_BLOCKS;

pub(super) fn zoned_profile() -> Profile {
    let mut profile = tiny_profile();
    profile.timing.melded_read = None;
    profile.geometry.blocks_per_plane = 32;
    profile.ftl.over_provisioning_percent = 40;
    profile.ftl.placement = PlacementPolicy::named("streams");
    profile.controller.lba_size = profile.mapping_unit();
    profile.controller.write_buffer = ByteSize(4 * profile.zone_capacity().0);
    profile.zones.size = ByteSize(ZONE_BLOCKS * profile.mapping_unit().0);
    (profile.zones.max_active, profile.zones.max_open) = (4, 3);
    profile
}

/// A zone of a report.
#[derive(Clone, Copy, Default)]
pub(super) struct Reported {
    state: u64,
    pub(super) start: u64,
    pub(super) capacity: u64,
    pub(super) pointer: u64,
}

/// The zones of a device; none where it has none. What it says must be possible.
pub(super) fn report(device: i64) -> Vec<Reported> {
    let mut info = meldsim_zones {
        size: size_of::<meldsim_zones>() as u32,
        ..Default::default()
    };
    // SAFETY: its size is set.
    if unsafe { meldsim_zones_info(device, 1, &mut info) } != MELDSIM_OK {
        return Vec::new();
    }
    let mut values = vec![0; 5 * info.zones as usize];
    let n = values.len() as u32;
    // SAFETY: room for `n` values.
    let count = unsafe { meldsim_zone_report(device, 1, 0, 0, values.as_mut_ptr(), n) };
    assert_eq!(count, n as i32);
    let zones: Vec<Reported> = values
        .chunks_exact(5)
        .map(|values| Reported {
            state: values[1],
            start: values[2],
            capacity: values[3],
            pointer: values[4],
        })
        .collect();
    let of = |states: &[u64]| {
        let are = zones.iter().filter(|zone| states.contains(&zone.state));
        are.count() as u32
    };
    assert!(of(&[2, 3]) <= info.max_open && of(&[2, 3, 4]) <= info.max_active);
    assert_eq!(of(&[1, 2, 3, 4, 14]), info.zones);
    for (at, zone) in (0..).zip(&zones) {
        assert_eq!(zone.start, at * info.zone_lbas);
        match zone.state {
            1 => assert_eq!(zone.pointer, zone.start),
            14 => assert_eq!(zone.pointer, u64::MAX),
            _ => assert!((zone.start..zone.start + zone.capacity).contains(&zone.pointer)),
        }
    }
    zones
}
