//! The mapping unit apart from the flash page: 4 KiB in pages of 16 KiB, as drives have it.

use crate::common::{Random, SEQUENTIAL, device, drain, small_profile};
use meldsim::profile::{Allocation, ByteSize, Profile, ProgramOrder};
use meldsim::{Command, Device, Directive, Duration, Location, NamespaceId, Stats};

const KIB: u64 = 1 << 10;

/// A small device with pages of 16 KiB, mapped in units of so many KiB.
fn profile(unit_kib: u64) -> Profile {
    let mut profile = small_profile();
    profile.geometry.page_size = ByteSize(16 * KIB);
    profile.ftl.mapping_unit = ByteSize(unit_kib * KIB);
    // Little, for what is written again while it is buffered is not programmed.
    profile.controller.write_buffer = ByteSize(2 << 20);
    profile.controller.lba_size = ByteSize(4 * KIB);
    profile
}

/// The latency of one read of so many units of 4 KiB, of data that was written in order.
fn read_latency(profile: &Profile, first: u64, units: u32) -> Duration {
    let (mut device, nsid) = device(profile);
    device.preload(nsid, 0, 1024, Directive::NONE).unwrap();
    let read = Command::read(nsid, first, units, 0);
    device.submit(&read).unwrap();
    drain(&mut device)
}

/// To the rounding of a transfer, a picosecond each.
fn assert_near(one: Duration, other: Duration) {
    let off = one.max(other) - one.min(other);
    assert!(off <= Duration::from_ps(4), "{one} for {other}");
}

#[test]
fn a_read_of_a_part_senses_the_page_and_transfers_its_codewords() {
    let (whole, halves, parts) = (profile(16), profile(8), profile(4));
    let page = read_latency(&whole, 0, 4);
    let one = read_latency(&parts, 0, 1);
    let transfer = read_latency(&parts, 1, 2) - one;
    assert!(transfer > Duration::ZERO);
    assert_near(page, one + transfer * 3);
    // Whatever the unit, and wherever in it they are.
    for units in 1..=4 {
        for first in 0..=4 - u64::from(units) {
            for profile in [&whole, &halves, &parts] {
                let latency = read_latency(profile, first, units);
                assert_near(latency, one + transfer * (u64::from(units) - 1));
            }
        }
    }
}

/// The bus is held a quarter as long, by arithmetic; what is read to be merged is whole.
#[test]
fn reads_of_a_codeword_hold_the_bus_a_quarter_as_long() {
    const READS: u64 = 100;
    let mut profile = profile(16);
    let byte = 8e12 / (profile.bus.rate.0 as f64 * 1e6 * f64::from(profile.bus.width_bits));
    let command = f64::from(profile.bus.command_bytes) * byte;
    let codeword = f64::from(profile.bus.bytes_per_4kib) * byte;
    profile.controller.write_buffer = ByteSize(16 << 20);
    for (units, codewords) in [(1, 1.0), (4, 4.0), (6, 6.0)] {
        let (mut device, nsid) = device(&profile);
        device.preload(nsid, 0, 2048, Directive::NONE).unwrap();
        let mut random = Random(7);
        for tag in 0..READS {
            let first = random.below(500) * 4;
            device
                .submit(&Command::read(nsid, first, units, tag))
                .unwrap();
            drain(&mut device);
        }
        let busy = device.stats().channel_busy_ps as f64 / READS as f64;
        let pages = f64::from(units.div_ceil(4));
        let expected = pages * command + codewords * codeword;
        assert!((busy / expected - 1.0).abs() < 1e-6, "{busy} {expected}");
    }
    let (mut device, nsid) = device(&profile);
    device.preload(nsid, 0, 2048, Directive::NONE).unwrap();
    device
        .submit(&Command::write(nsid, 5, 1, Directive::NONE, 0))
        .unwrap();
    drain(&mut device);
    let busy = device.stats().channel_busy_ps as f64;
    let expected = command + 4.0 * codeword;
    assert!((busy / expected - 1.0).abs() < 1e-6, "{busy} {expected}");
}

#[test]
fn units_of_a_page_follow_each_other_and_pages_go_to_the_dies_in_turn() {
    for order in [ProgramOrder::OneShot, ProgramOrder::Shadow] {
        let mut parts = profile(4);
        parts.ftl.program_order = order;
        parts.timing.program_pages = Some(vec![Duration::from_us(500); parts.timing.read.len()]);
        let (mut device, nsid) = device(&parts);
        device.preload(nsid, 0, 64, Directive::NONE).unwrap();
        let at = |device: &Device, lba: u64| match device.locate(nsid, lba).unwrap() {
            Location::Flash {
                channel,
                die,
                wordline,
                page,
                ..
            } => (channel, die, wordline, page),
            elsewhere => panic!("{lba} is {elsewhere:?}"),
        };
        for lba in 0..64 {
            let (first, here) = (at(&device, lba / 4 * 4), at(&device, lba));
            let expected = (first.0, first.1, first.2, first.3 + (lba % 4) as u32);
            assert_eq!(here, expected, "{order:?}: {lba}");
        }
        assert_ne!(at(&device, 0).0, at(&device, 4).0, "{order:?}");
    }
}

/// Overwrites 4 KiB at random; what that came to, and how long it took.
fn overwrite(
    device: &mut Device,
    nsid: NamespaceId,
    blocks: u64,
    writes: u64,
) -> (Stats, Duration) {
    let (before, started, mut random) = (device.stats(), device.now(), Random(7));
    for _ in 0..writes {
        let write = Command::write(nsid, random.below(blocks), 1, Directive::NONE, 0);
        device.submit(&write).unwrap();
        while device.outstanding() >= 32 {
            assert!(device.run_until_completion());
            while device.pop_completion().is_some() {}
        }
    }
    drain(device);
    (device.stats().since(&before), device.now() - started)
}

#[test]
fn small_writes_fill_pages_together() {
    let time = |unit_kib| {
        let (mut device, nsid) = device(&profile(unit_kib));
        let pages = device.stats().capacity_pages * unit_kib / 4;
        device
            .precondition(&meldsim::Precondition::default())
            .unwrap();
        let (stats, took) = overwrite(&mut device, nsid, pages, 40_000);
        assert!(stats.gc_pages_moved > 0, "nothing was collected");
        // A page that is mapped whole is read, changed and written for 4 KiB of it.
        assert!(stats.host_pages_programmed <= 40_000);
        took
    };
    let (whole, parts) = (time(16), time(4));
    assert!(
        parts * 3 < whole,
        "{parts} against {whole}: four units share a page"
    );
}

#[test]
fn melding_reads_all_units_of_a_wordline_at_once() {
    let parts = profile(4);
    let units = parts.units_per_wordline();
    let (mut device, nsid) = device(&parts);
    device.preload(nsid, 0, 1024, SEQUENTIAL).unwrap();
    device.submit(&Command::read(nsid, 0, units, 0)).unwrap();
    drain(&mut device);
    let stats = device.stats();
    assert_eq!((stats.melded_reads, stats.page_reads), (1, 0));
    assert_eq!(stats.melded_pages_read, u64::from(units));
}

#[test]
fn what_cannot_be_a_mapping_unit_is_refused_with_the_remedy() {
    let refused = |change: fn(&mut Profile)| {
        let mut profile = profile(4);
        change(&mut profile);
        profile.validate().unwrap_err().to_string()
    };
    for unit in [ByteSize(3 * KIB), ByteSize(2 * KIB), ByteSize(32 * KIB)] {
        let mut wrong = profile(4);
        wrong.ftl.mapping_unit = unit;
        let errors = wrong.validate().unwrap_err().to_string();
        let remedy = "must be 16KiB, 8KiB or 4KiB: a page, a half or a quarter of one";
        assert!(
            errors.starts_with("ftl.mapping_unit: is ") && errors.ends_with(remedy),
            "{errors}"
        );
    }
    let errors = refused(|profile| profile.ftl.allocation = Allocation::Static);
    assert!(errors.contains("with static allocation"), "{errors}");
    let errors = refused(|profile| profile.controller.read_segment = ByteSize(6 * KIB));
    assert!(errors.contains("pages are of 4KiB"), "{errors}");
}
