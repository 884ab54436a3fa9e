//! What the mapping costs for a terabyte of data: it grows with what is written and not with the
//! capacity, and least with what is written sequentially.

use crate::common::{SEQUENTIAL, drain};
use meldsim::profile::ByteSize;
use meldsim::{Command, Device, Directive, NamespaceId, Profile};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
/// Pages of 4 KiB: the most to map.
const PAGE: u64 = 4096;

/// Room for more than a terabyte.
fn terabyte() -> (Device, NamespaceId) {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.geometry.blocks_per_plane = 7000;
    let mut device = Device::new(&profile).unwrap();
    let nsid = device.create_namespace(16 * TIB).unwrap();
    (device, nsid)
}

fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Bytes for a terabyte at the rate at which the second half of the writes grew the memory: what
/// there is but once does not count.
fn per_terabyte(written: u64, mut write: impl FnMut(u64) -> u64) -> u64 {
    let half = write(written / 2);
    let whole = write(written);
    (whole - half) * (TIB / (written / 2))
}

#[test]
fn an_empty_device_costs_next_to_nothing() {
    for page_kib in [4, 16] {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        profile.geometry.page_size = ByteSize(page_kib << 10);
        profile.geometry.blocks_per_plane = 176_000 / page_kib as u32; // 8 TiB
        profile.ftl.mapping_memory = ByteSize(9 * GIB);
        let device = Device::new(&profile).unwrap();
        assert!(device.stats().capacity_pages * (page_kib << 10) > 7 * TIB);
        assert!(device.memory() < MIB, "{}", device.memory());
    }
}

#[test]
fn a_terabyte_preloaded_in_blocks_of_128_mib() {
    for directive in [Directive::NONE, SEQUENTIAL] {
        let (mut device, nsid) = terabyte();
        let block = 128 * MIB / PAGE;
        for n in 0..TIB / (128 * MIB) {
            device.preload(nsid, n * block, block, directive).unwrap();
        }
        assert_eq!(device.stats().mapped_pages, TIB / PAGE);
        assert!(device.memory() <= 64 * MIB, "{}", device.memory() / MIB);
    }
}

/// Several writers, each of whom writes blocks of 128 MiB in pieces; who is next is random.
#[test]
fn writers_of_blocks_that_interleave() {
    for (writers, piece_kib, directive) in [
        (1, 128, Directive::NONE),
        (8, 64, Directive::NONE),
        (8, 64, SEQUENTIAL),
        (40, 128, SEQUENTIAL),
    ] {
        let (mut device, nsid) = terabyte();
        let (block, piece) = (128 * MIB / PAGE, piece_kib * 1024 / PAGE);
        let mut seed = 88_172_645_463_325_252;
        let mut at: Vec<u64> = (0..writers).map(|writer| writer * block).collect();
        let (mut next_block, mut written) = (writers, 0);
        let needed = per_terabyte(12 * GIB, |until| {
            while written < until {
                let writer = (random(&mut seed) % writers) as usize;
                let slba = at[writer];
                let write = Command::write(nsid, slba, piece as u32, directive, 0);
                device.submit(&write).unwrap();
                drain_some(&mut device);
                written += piece * PAGE;
                at[writer] = slba + piece;
                if at[writer] % block == 0 {
                    at[writer] = next_block * block;
                    next_block += 1;
                }
            }
            device.memory()
        });
        assert!(
            needed <= 64 * MIB,
            "{writers} writers of {piece_kib} KiB: {} MiB",
            needed / MIB
        );
    }
}

#[test]
fn pages_written_at_random() {
    let (mut device, nsid) = terabyte();
    // Every page of an area once, in an order that scatters them.
    let pages = 4 * GIB / PAGE;
    let mut written = 0;
    let needed = per_terabyte(4 * GIB, |until| {
        while written < until / PAGE {
            let half = written / (pages / 2);
            let page = half * (pages / 2) + written * 400_009 % (pages / 2);
            let write = Command::write(nsid, page, 1, Directive::NONE, 0);
            device.submit(&write).unwrap();
            drain_some(&mut device);
            written += 1;
        }
        device.memory()
    });
    drain(&mut device);
    assert_eq!(device.stats().mapped_pages, pages);
    assert!(needed <= 1300 * MIB, "{}", needed / MIB);
    assert!(needed >= 1000 * MIB, "not random: {}", needed / MIB);
}

/// Keeps a few commands outstanding.
fn drain_some(device: &mut Device) {
    while device.outstanding() > 32 && device.run_until_completion() {
        device.pop_completion();
    }
    while device.pop_completion().is_some() {}
}

/// What garbage collection notes for a batch of blocks is a small share, and given up again.
#[test]
fn collection_takes_little_on_top() {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.geometry.blocks_per_plane = 24;
    profile.geometry.wordlines_per_block = 64;
    let mut device = Device::new(&profile).unwrap();
    let nsid = device.create_namespace(TIB).unwrap();
    let pages = device.stats().capacity_pages;
    device.preload(nsid, 0, pages, Directive::NONE).unwrap();
    let mut seed = 99;
    let mut most = 0;
    for _ in 0..pages * 3 {
        let page = random(&mut seed) % pages;
        let write = Command::write(nsid, page, 1, Directive::NONE, 0);
        device.submit(&write).unwrap();
        drain_some(&mut device);
        most = most.max(device.memory());
    }
    drain(&mut device);
    assert!(
        device.stats().gc_pages_moved > pages,
        "nothing was collected"
    );
    // The mapping itself takes four bytes a page; the buffer, its slots and a victim's notes are
    // the same for a device of any size.
    let fixed = 3 * MIB;
    assert!(most <= pages * 5 + fixed, "{most} for {pages} pages");
}
