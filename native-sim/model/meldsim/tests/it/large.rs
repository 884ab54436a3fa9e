//! Sets of more mapping units than 32 bits number: drives of 122.88 TB in units of 4 KiB have seven times as many.

use crate::common::{Random, drain};
use meldsim::profile::ByteSize;
use meldsim::{Command, Device, Directive, Location, NamespaceId, Profile};

const MIB: u64 = 1 << 20;
const PAGE: u64 = 4096;
/// Pages that 32 bits number.
const SHORT: u64 = 1 << 32;

/// Superblocks of the set, of so many pages, and how many of them the host cannot fill.
const SUPERBLOCKS: u32 = 68_000;
const SUPERBLOCK: u64 = 64 * 342 * 3;
const SPARE: u64 = 680;

/// A set whose superblocks are small, so that few writes are enough to collect one.
fn large() -> (Device, NamespaceId) {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.geometry.page_size = ByteSize(PAGE);
    profile.geometry.wordlines_per_block = 342;
    profile.geometry.blocks_per_plane = SUPERBLOCKS;
    profile.ftl.over_provisioning_percent = 1;
    profile.ftl.mapping_memory = ByteSize(32 << 30);
    let mut device = Device::new(&profile).unwrap();
    let nsid = device.create_namespace(64 << 40).unwrap();
    (device, nsid)
}

/// Overwrites pages of a range at random until so many have been moved.
fn overwrite(device: &mut Device, nsid: NamespaceId, (first, pages): (u64, u64), moved: u64) {
    let mut random = Random(7);
    let until = device.stats().gc_pages_moved + moved;
    while device.stats().gc_pages_moved < until {
        for _ in 0..32 {
            let page = first + random.below(pages);
            let write = Command::write(nsid, page, 1, Directive::NONE, 0);
            device.submit(&write).unwrap();
        }
        drain(device);
    }
}

#[test]
fn pages_beyond_32_bits_are_collected_deallocated_and_kept_over_a_power_cut() {
    let (mut device, nsid) = large();
    assert!(device.memory() < MIB, "{}", device.memory());
    let pages = device.stats().capacity_pages;
    assert!(pages > SHORT);
    device.preload(nsid, 0, pages, Directive::NONE).unwrap();
    assert!(device.memory() < 300 * MIB, "{}", device.memory());

    // Half of the last pages is written again, in pieces of some stripes, so that no superblock before them is collected.
    let piece = 5 * 64 * 3;
    let rewritten = (SPARE - 8) * SUPERBLOCK / piece;
    let first = pages - 2 * piece * rewritten;
    for number in 0..rewritten {
        let page = first + 2 * piece * number;
        device.preload(nsid, page, piece, Directive::NONE).unwrap();
    }
    let at = device.locate(nsid, first + piece).unwrap();
    assert!(
        matches!(at, Location::Flash { block, .. } if u64::from(block) > SHORT / SUPERBLOCK),
        "{at:?}"
    );
    let some = (pages - 4_000_000, 4_000_000);
    overwrite(&mut device, nsid, some, 20_000);
    let read = Command::read(nsid, some.0, 256, 0);
    device.submit(&read).unwrap();
    drain(&mut device);
    let deallocate = Command::deallocate(nsid, pages - 10, 5, 0);
    device.submit(&deallocate).unwrap();
    drain(&mut device);
    assert_eq!(device.stats().mapped_pages, pages - 5);

    let snapshot = device.snapshot().unwrap();
    let mut restored = Device::restore(&snapshot).unwrap();
    for page in (some.0..pages).step_by(997) {
        let at = |device: &Device| device.locate(nsid, page).unwrap();
        assert_eq!(at(&restored), at(&device), "{page}");
    }
    assert_eq!(restored.stats().mapped_pages, pages - 5);
    overwrite(&mut restored, nsid, some, 20_000);
    restored.submit(&read).unwrap();
    drain(&mut restored);
}

/// A namespace of a full drive opens at once; what is written anywhere in it costs what is written.
#[test]
fn a_namespace_of_122_tb_costs_what_is_written() {
    let mut profile = Profile::builtin("enterprise-8tb").unwrap();
    profile.geometry.blocks_per_plane = 3600;
    profile.ftl.mapping_unit = ByteSize(PAGE);
    profile.ftl.mapping_memory = ByteSize(200 << 30);
    for bytes in [64_000_000_000_000, 122_880_000_000_000] {
        let mut device = Device::new(&profile).unwrap();
        let nsid = device.create_namespace(bytes).unwrap();
        let pages = bytes / PAGE;
        for page in [0, SHORT - 4, SHORT + 4, pages - 8] {
            let write = Command::write(nsid, page, 8, Directive::NONE, 0);
            device.submit(&write).unwrap();
            drain(&mut device);
        }
        assert_eq!(device.stats().mapped_pages, 32);
        assert!(device.memory() < 4 * MIB, "{}", device.memory());
    }
}
