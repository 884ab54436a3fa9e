//! The far ends: of time, of namespaces, of memory.

use crate::common::*;
use meldsim::profile::ByteSize;
use meldsim::{Command, Device, DeviceError, Directive, Duration, Instant};

#[test]
fn commands_are_refused_when_simulated_time_is_used_up() {
    let (mut device, nsid) = device(&small_profile());
    device.advance_to(Device::LAST_SUBMISSION);
    device.submit(&Command::read(nsid, 0, 1, 0)).unwrap();
    drain(&mut device);
    let refused = device.submit(&Command::read(nsid, 0, 1, 1));
    assert_eq!(refused, Err(DeviceError::EndOfTime));
    assert_eq!(device.stats().read_commands, 1);
    device.advance_to(Instant::MAX);
    assert_eq!(device.now(), Instant::MAX);
}

#[test]
fn time_saturates_at_its_end() {
    let mut late = Duration::from_ps(u64::MAX - 1);
    late += Duration::from_ps(5);
    assert_eq!(late, Duration::MAX);
    assert_eq!(late + Duration::from_ps(1), Duration::MAX);
    assert_eq!(Duration::from_ms(10_000) * u64::MAX, Duration::MAX);
    // Counters that are sums over dies or channels.
    assert_eq!([late, late].into_iter().sum::<Duration>(), Duration::MAX);
}

#[test]
fn the_least_mapping_memory_holds_a_tiny_device() {
    let mut profile = small_profile();
    profile.geometry.channels = 1;
    profile.geometry.dies_per_channel = 1;
    profile.geometry.blocks_per_plane = 20;
    profile.ftl.mapping_memory = ByteSize(13 * 12 * 4);
    let (mut device, nsid) = device(&profile);
    let pages = device.stats().capacity_pages;
    assert_eq!(pages * 4, profile.ftl.mapping_memory.0);
    // Across a boundary of the mapping's leaves.
    device.preload(nsid, 1000, pages, Directive::NONE).unwrap();
    assert_eq!(device.stats().mapped_pages, pages);
}

#[test]
fn a_read_of_a_huge_hole_is_quick() {
    let mut profile = small_profile();
    profile.controller.lba_size = ByteSize(64 << 10);
    profile.geometry.page_size = ByteSize(512);
    let mut device = Device::new(&profile).unwrap();
    let nsid = device.create_namespace(1 << 48).unwrap();
    for tag in 0..10 {
        device
            .submit(&Command::read(nsid, 1, u32::MAX, tag))
            .unwrap();
    }
    drain(&mut device);
    assert_eq!(
        device.stats().unmapped_page_reads,
        10 * 128 * u64::from(u32::MAX)
    );
}

#[test]
fn a_time_based_job_ends_on_the_quickest_device() {
    let mut profile = small_profile();
    profile.controller.latency = Duration::ZERO;
    let error = Device::new(&profile).unwrap_err().to_string();
    assert!(
        error.contains("controller.latency: is 0ps; must be at least 1ns"),
        "{error}"
    );
}
