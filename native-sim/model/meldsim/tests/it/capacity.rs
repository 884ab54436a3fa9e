//! `controller.capacity`: what the host sees of the flash.

use crate::common::*;
use meldsim::device::Precondition;
use meldsim::profile::{Allocation, ByteSize};
use meldsim::{Command, Device, DeviceError, Directive, Profile};

/// As `drives.csv` has them: the namespaces that were measured.
const DRIVES: [(&str, u64); 11] = [
    ("7450-max", 800_166_076_416),
    ("7450-pro", 960_197_124_096),
    ("980-pro", 1_000_204_886_016),
    ("cm7-r", 3_840_755_982_336),
    ("fadu", 3_840_755_982_336),
    ("p5520", 1_920_383_410_176),
    ("pe8110", 960_197_124_096),
    ("pm9a3", 960_197_124_096),
    ("pm9d3a", 7_681_501_126_656),
    ("wd-960", 960_197_124_096),
    ("zn540", 1_020_901_982_208),
];

#[test]
fn drives_hold_what_they_are_sold_with() {
    for (name, bytes) in DRIVES {
        let device = Device::new(&Profile::builtin(name).unwrap()).unwrap();
        assert_eq!(device.set_capacity_bytes(0), bytes, "{name}");
    }
}

/// A device with so many pages for the host, with dynamic and with static allocation.
fn profiles() -> [Profile; 2] {
    [Allocation::Dynamic, Allocation::Static].map(|allocation| {
        let mut profile = small_profile();
        profile.ftl.allocation = allocation;
        let all = Device::new(&profile).unwrap().stats().capacity_pages;
        profile.controller.capacity.0 = all / 2 * profile.geometry.page_size.0;
        profile
    })
}

#[test]
fn a_device_holds_its_capacity_and_no_more() {
    for profile in profiles() {
        let page_bytes = profile.geometry.page_size.0;
        let lbas = profile.controller.capacity.0 / profile.controller.lba_size.0;
        let (mut device, nsid) = device(&profile);
        let held = device.stats().capacity_pages * page_bytes;
        // Static allocation has as many pages on each plane.
        let planes = profile.geometry.channels * profile.geometry.dies_per_channel;
        let least = profile.controller.capacity.0 - u64::from(planes) * page_bytes;
        assert!((least..=profile.controller.capacity.0).contains(&held));
        let page_lbas = page_bytes / profile.controller.lba_size.0;
        let fitting = held / profile.controller.lba_size.0;
        device.preload(nsid, 0, fitting, Directive::NONE).unwrap();
        let more = device.preload(nsid, lbas, page_lbas, Directive::NONE);
        let refused = matches!(more, Err(DeviceError::CapacityExceeded { .. }));
        assert!(refused, "{more:?}");
        // After a power cut, too.
        let mut device = Device::restore(&device.snapshot().unwrap()).unwrap();
        let more = device.preload(nsid, lbas, page_lbas, Directive::NONE);
        let refused = matches!(more, Err(DeviceError::CapacityExceeded { .. }));
        assert!(refused, "{more:?}");
    }
}

#[test]
fn what_the_host_does_not_see_is_spare() {
    let [profile, _] = profiles();
    let mut all = profile.clone();
    all.controller.capacity = ByteSize(0);
    let [half, whole] = [&profile, &all].map(|profile| {
        let (mut device, nsid) = device(profile);
        device.precondition(&Precondition::default()).unwrap();
        let pages = device.stats().capacity_pages;
        let before = device.stats();
        let mut random = Random(7);
        let page_lbas = profile.geometry.page_size.0 / profile.controller.lba_size.0;
        for tag in 0..20_000 {
            let lba = random.below(pages) * page_lbas;
            let write = Command::write(nsid, lba, page_lbas as u32, Directive::NONE, tag);
            device.submit(&write).unwrap();
            drain(&mut device);
        }
        let stats = device.stats().since(&before);
        (stats.gc_pages_programmed, stats.host_pages_programmed)
    });
    assert!(10 * half.0 < whole.0 + whole.1, "{half:?} {whole:?}");
}

#[test]
fn more_than_the_flash_leaves_and_less_than_a_page_of_each_plane_are_refused() {
    let mut profile = small_profile();
    for (bytes, said) in [
        (
            1 << 50,
            "controller.capacity: is 1024.0 TiB, and over-provisioning of",
        ),
        (4096, "controller.capacity: is 4KiB; must be at least"),
    ] {
        profile.controller.capacity = ByteSize(bytes);
        let error = Device::new(&profile).unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
        assert!(error.contains("or 0B for all"), "{error}");
    }
}
