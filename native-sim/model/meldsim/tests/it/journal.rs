//! The journal of the mapping's changes: when it goes to flash, and who waits for it.

use crate::common::{Random, device, drain, small_profile};
use meldsim::profile::{Allocation, ByteSize, Journaling, Profile};
use meldsim::{Command, Device, Directive, Duration, NamespaceId};

/// Entries of a page.
const ENTRIES: u64 = 64;

/// A journal whose memory is two pages of 64 entries, beside a write buffer that is never full.
fn profile(journal: Journaling) -> Profile {
    let mut profile = small_profile();
    profile.controller.write_buffer = ByteSize(2 << 20);
    profile.ftl.journal = journal;
    profile.ftl.journal_entry = ByteSize(4096 / ENTRIES);
    profile.ftl.journal_buffer = ByteSize(2 * 4096);
    profile
}

fn write(device: &mut Device, nsid: NamespaceId, page: u64) -> Duration {
    let write = Command::write(nsid, page, 1, Directive::NONE, 0);
    device.submit(&write).unwrap();
    assert!(device.run_until_completion());
    device.pop_completion().unwrap().latency()
}

#[test]
fn a_write_waits_for_room_in_the_journal() {
    let slowest = |journal| {
        let profile = profile(journal);
        let (mut device, nsid) = device(&profile);
        let fills = (0..2 * ENTRIES).map(|page| write(&mut device, nsid, page));
        let most = fills.max().unwrap();
        let written = device.stats().journal_pages_programmed;
        assert_eq!((most, written), (profile.controller.latency, 0));
        let waits = write(&mut device, nsid, 2 * ENTRIES);
        (waits, device.stats().journal_pages_programmed)
    };
    let (without, none) = slowest(Journaling::Off);
    assert_eq!((without, none), (Duration::from_us(10), 0));
    let (with, two) = slowest(Journaling::OnDemand);
    assert!(with > Duration::from_us(5001), "a program: {with:?}");
    assert_eq!(two, 2);
}

#[test]
fn an_idle_host_lets_the_journal_be_written() {
    let rested = |journal| {
        let (mut device, nsid) = device(&profile(journal));
        (0..10).for_each(|page| {
            write(&mut device, nsid, page);
        });
        device.advance_to(device.now() + Duration::from_us(900));
        let busy = device.stats().journal_pages_programmed;
        device.advance_to(device.now() + Duration::from_ms(10));
        let stats = device.stats();
        assert_eq!(stats.gc_background_collections, 0);
        (busy, stats.journal_pages_programmed)
    };
    assert_eq!(rested(Journaling::OnDemand), (0, 0));
    assert_eq!(rested(Journaling::Background), (0, 1));
}

#[test]
fn a_flush_writes_the_journal() {
    let (mut device, nsid) = device(&profile(Journaling::OnDemand));
    write(&mut device, nsid, 0);
    device.submit(&Command::flush(nsid, 1)).unwrap();
    drain(&mut device);
    let stats = device.stats();
    let all = stats.host_pages_programmed + stats.journal_pages_programmed + stats.padded_pages;
    assert_eq!(
        (stats.journal_pages_programmed, stats.programs, all),
        (1, 2, 6)
    );
    assert!((stats.write_amplification().unwrap() - 6.0).abs() < 1e-9);
}

/// Every change is journalled once, those of garbage collection among them, also in many sets and logs.
#[test]
fn every_new_place_is_journalled() {
    for allocation in [Allocation::Dynamic, Allocation::Static] {
        for copyback in [false, true] {
            let mut profile = profile(Journaling::OnDemand);
            profile.ftl.allocation = allocation;
            profile.commands.copyback = copyback;
            let (mut device, nsid) = device(&profile);
            let pages = device.stats().capacity_pages;
            let mut random = Random(3);
            let written = 4 * pages;
            for n in 0..written {
                let page = if n < pages { n } else { random.below(pages) };
                write(&mut device, nsid, page);
            }
            device.submit(&Command::flush(nsid, 1)).unwrap();
            drain(&mut device);
            let stats = device.stats();
            // What is rewritten in the buffer has no new place.
            let changes = stats.host_pages_programmed + stats.gc_pages_moved;
            let entries = ENTRIES * stats.journal_pages_programmed;
            assert!(stats.gc_pages_moved > pages / 2);
            // Collection may be under way, and pages that it has read may be overwritten.
            assert!(
                entries.abs_diff(changes) < changes / 20,
                "{allocation:?}: {entries} entries for {changes} changes"
            );
        }
    }
}
