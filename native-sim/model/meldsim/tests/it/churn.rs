//! A device under churn: garbage collection keeps it working and melded data melded.

use crate::common::{SEQUENTIAL, device, drain, small_profile};
use meldsim::{Command, Device, Directive, Location, NamespaceId, Stats};

/// Writes one page after the other, as a host that waits for each.
fn write_pages(
    device: &mut Device,
    nsid: NamespaceId,
    pages: impl Iterator<Item = u64>,
    hint: Directive,
) {
    for page in pages {
        device
            .submit(&Command::write(nsid, page, 1, hint, 0))
            .unwrap();
        assert!(device.run_until_completion());
        while let Some(done) = device.pop_completion() {
            assert_eq!(done.status, meldsim::Status::SUCCESS);
        }
    }
}

/// Fills `share` percent of the device and rewrites random pages of it, ten times its size.
fn churn(share: u64, hint: Directive) -> Stats {
    let (mut device, nsid) = device(&small_profile());
    let pages = device.stats().capacity_pages * share / 100;
    write_pages(&mut device, nsid, 0..pages, hint);
    let mut seed = 99u64;
    let random = (0..pages * 10).map(|_| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % pages
    });
    write_pages(&mut device, nsid, random, hint);
    drain(&mut device);
    let stats = device.stats();
    assert_eq!(stats.mapped_pages, pages);
    stats
}

#[test]
fn a_full_device_takes_random_rewrites_and_fuller_ones_pay_more() {
    for hint in [Directive::NONE, SEQUENTIAL] {
        let [half, full] = [50, 100].map(|share| churn(share, hint));
        for stats in [half, full] {
            assert!(stats.erases > 0 && stats.failed_commands == 0);
        }
        let amplification = |stats: Stats| stats.write_amplification().unwrap();
        assert!(amplification(half) < amplification(full));
        assert!(amplification(full) < 6.0, "{}", amplification(full));
    }
}

/// The share of whole wordlines that still lie together.
fn together(device: &Device, nsid: NamespaceId, pages: impl Iterator<Item = u64>) -> f64 {
    let (mut all, mut kept) = (0, 0);
    for first in pages {
        let wordline = |page| match device.locate(nsid, page).unwrap() {
            Location::Flash {
                channel,
                die,
                block,
                wordline,
                ..
            } => Some((channel, die, block, wordline)),
            _ => None,
        };
        all += 1;
        let here = wordline(first);
        kept +=
            u32::from(here.is_some() && here == wordline(first + 1) && here == wordline(first + 2));
    }
    f64::from(kept) / f64::from(all)
}

#[test]
fn collection_keeps_melded_data_melded() {
    let (mut device, nsid) = device(&small_profile());
    let files = device.stats().capacity_pages * 9 / 10 / 24;
    let pages = files * 24;
    device.preload(nsid, 0, pages, SEQUENTIAL).unwrap();
    // Files of 8 wordlines die and are written anew, again and again.
    let mut seed = 5u64;
    for _ in 0..400 {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let slba = (seed >> 33) % files * 24;
        for command in [
            Command::deallocate(nsid, slba, 24, 0),
            Command::write(nsid, slba, 24, SEQUENTIAL, 0),
        ] {
            device.submit(&command).unwrap();
            drain(&mut device);
        }
    }
    device.submit(&Command::flush(nsid, 0)).unwrap();
    drain(&mut device);
    let stats = device.stats();
    assert!(stats.gc_pages_moved > 0, "nothing was collected");
    assert!(
        stats.melded_mapped_pages + 100 > stats.mapped_pages,
        "{stats:?}"
    );
    let share = together(&device, nsid, (0..pages - 2).step_by(3));
    assert!(share > 0.95, "{share}");
}

#[test]
fn deallocated_blocks_come_back_without_moving_anything() {
    let (mut device, nsid) = device(&small_profile());
    let pages = device.stats().capacity_pages;
    for _ in 0..5 {
        device
            .submit(&Command::write(nsid, 0, pages as u32, SEQUENTIAL, 0))
            .unwrap();
        device.submit(&Command::flush(nsid, 0)).unwrap();
        drain(&mut device);
        device
            .submit(&Command::deallocate(nsid, 0, pages as u32, 0))
            .unwrap();
        drain(&mut device);
        assert_eq!(device.stats().mapped_pages, 0);
    }
    let stats = device.stats();
    assert!(stats.erases > 0);
    assert_eq!(stats.gc_pages_moved, 0);
}

#[test]
fn preloading_makes_room_for_itself() {
    let (mut device, nsid) = device(&small_profile());
    let pages = device.stats().capacity_pages;
    for round in 0..10 {
        let hint = if round % 2 == 0 {
            SEQUENTIAL
        } else {
            Directive::NONE
        };
        device.preload(nsid, 0, pages, hint).unwrap();
        device
            .submit(&Command::deallocate(nsid, 0, pages as u32 / 2, 0))
            .unwrap();
        drain(&mut device);
    }
    assert_eq!(device.stats().mapped_pages, pages - pages / 2);
}

#[test]
fn a_thin_namespace_costs_what_is_written() {
    let (mut device, _) = device(&small_profile());
    let nsid = device.create_namespace(1 << 50).unwrap();
    let last = (1u64 << 50) / 4096 - 1;
    device
        .submit(&Command::write(nsid, last, 1, Directive::NONE, 0))
        .unwrap();
    device
        .submit(&Command::deallocate(nsid, 0, u32::MAX, 0))
        .unwrap();
    device
        .submit(&Command::read(nsid, last - 9, 10, 0))
        .unwrap();
    drain(&mut device);
    assert_eq!(device.stats().mapped_pages, 1);
    assert_eq!(device.stats().unmapped_page_reads, 9);
}

#[test]
fn mapping_memory_is_bounded_even_for_the_sparsest_writes() {
    let mut profile = small_profile();
    profile.ftl.mapping_memory.0 = 64 << 10; // 16 leaves
    let (mut device, nsid) = device(&profile);
    for page in 0..20u64 {
        device
            .submit(&Command::write(nsid, page << 12, 1, Directive::NONE, page))
            .unwrap();
    }
    drain(&mut device);
    assert_eq!(device.stats().mapped_pages, 16);
    assert_eq!(device.stats().failed_commands, 4);
    device.submit(&Command::deallocate(nsid, 0, 1, 0)).unwrap();
    device
        .submit(&Command::write(nsid, 19 << 12, 1, Directive::NONE, 0))
        .unwrap();
    drain(&mut device);
    assert_eq!(device.stats().failed_commands, 4);
}
