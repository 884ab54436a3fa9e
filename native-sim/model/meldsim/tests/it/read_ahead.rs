//! Read-ahead: who gets it, what it takes, and what ends it.

use std::collections::BTreeMap;

use crate::common::{Random, device, published_profile};
use meldsim::policy::cells::{Cells, Place, Sensed};
use meldsim::policy::{Policy, register};
use meldsim::profile::{ByteSize, MapKind};
use meldsim::{
    Command, Completion, Device, Directive, Duration, Instant, NamespaceId, Profile, Stats, Status,
};

fn with(read_ahead: u64) -> Profile {
    let mut profile = published_profile();
    profile.controller.read_ahead = ByteSize(read_ahead);
    profile
}

const PAGE: u64 = 4096;
/// What is read in order.
const PAGES: u64 = 512;
/// Pages that hold data.
const FILLED: u64 = 1 << 16;

fn filled(profile: &Profile) -> (Device, NamespaceId) {
    let (mut device, nsid) = device(profile);
    device.preload(nsid, 0, FILLED, Directive::NONE).unwrap();
    (device, nsid)
}

fn run(device: &mut Device, command: Command) -> Completion {
    device.submit(&command).unwrap();
    assert!(device.run_until_completion());
    device.pop_completion().unwrap()
}

/// What the reads take one after the other, and what the device has counted in the end.
fn read(profile: &Profile, reads: impl Iterator<Item = (u64, u32)>) -> (Vec<Duration>, Stats) {
    let (mut device, nsid) = filled(profile);
    let times = reads.map(|(page, pages)| {
        let done = run(&mut device, Command::read(nsid, page, pages, 0));
        assert_eq!(done.status, Status::SUCCESS);
        done.latency()
    });
    let times = times.collect();
    while let Some(time) = device.next_event() {
        device.advance_to(time);
    }
    let stats = device.stats();
    assert_eq!(
        stats.host_pages_read + stats.read_ahead_pages,
        stats.page_reads + stats.melded_pages_read - stats.map_pages_read
    );
    (times, stats)
}

/// The third read in order is a run. With 64 dies at work for it, one command at a time waits for the controller alone.
#[test]
fn reads_in_order_come_from_the_controller() {
    let profile = with(64 * PAGE);
    let in_order = || (0..PAGES).map(|page| (page, 1));
    let (none, _) = read(&with(0), in_order());
    let (times, stats) = read(&profile, in_order());
    assert_eq!(times[..3], none[..3]);
    let at_once = times
        .iter()
        .filter(|time| **time == profile.controller.latency);
    assert!(at_once.count() as u64 > PAGES * 9 / 10, "{times:?}");
    assert_eq!(stats.read_ahead_hits, PAGES - 3);
    // What nobody came for is no more than it was to be ahead.
    assert!((PAGES - 3..PAGES - 3 + 64).contains(&stats.read_ahead_pages));
    assert_eq!(stats.host_pages_read, 3);
}

#[test]
fn reads_of_several_runs_and_sizes_are_served() {
    for pages in [2, 5, 16, 30] {
        let in_turn = |at: u64| (at % 4 * 128 + at / 4 * pages, pages as u32);
        let reads = || (0..4 * (128 / pages)).map(in_turn);
        let (none, _) = read(&with(0), reads());
        let (times, stats) = read(&with(32 * PAGE), reads());
        let sum = |times: &[Duration]| times.iter().copied().sum::<Duration>();
        let asked = 4 * (128 / pages) * pages;
        assert_eq!(stats.read_ahead_hits, asked - 4 * 3 * pages);
        assert!(sum(&times) < sum(&none), "{pages} pages at a time");
    }
}

#[test]
fn other_reads_are_as_without() {
    let mut random = Random(7);
    let mut pages: Vec<_> = (0..PAGES * 16).map(|page| (page, 1)).collect();
    for at in (1..pages.len()).rev() {
        pages.swap(at, random.below(at as u64 + 1) as usize);
    }
    let backwards = (0..PAGES / 2).map(|at| (PAGES - 2 - 2 * at, 2));
    let strided = (0..PAGES / 4).map(|at| (4 * at, 2));
    let reads = || {
        pages
            .iter()
            .copied()
            .chain(backwards.clone())
            .chain(strided.clone())
    };
    let (none, before) = read(&with(0), reads());
    let (times, after) = read(&with(64 * PAGE), reads());
    assert_eq!(times, none);
    assert_eq!((before, after.read_ahead_pages), (after, 0));
}

/// A page that is written or deallocated is not what was read ahead of it.
#[test]
fn what_changes_is_read_anew() {
    for change in [
        |nsid| Command::write(nsid, 40, 1, Directive::NONE, 0),
        |nsid| Command::deallocate(nsid, 40, 1, 0),
    ] {
        let (mut device, nsid) = filled(&with(64 * PAGE));
        for page in 0..36 {
            run(&mut device, Command::read(nsid, page, 1, 0));
        }
        run(&mut device, change(nsid));
        let before = device.stats().since(&Stats::default());
        for page in 36..41 {
            run(&mut device, Command::read(nsid, page, 1, 0));
        }
        let since = device.stats().since(&before);
        assert_eq!(since.buffer_page_reads + since.unmapped_page_reads, 1);
        // The run goes on behind what was forgotten.
        for page in 41..80 {
            run(&mut device, Command::read(nsid, page, 1, 0));
        }
        assert!(device.stats().since(&before).read_ahead_hits >= 35);
    }
}

#[test]
fn what_is_not_at_hand_of_a_cached_mapping_is_left_to_the_read() {
    let mut profile = with(64 * PAGE);
    profile.ftl.map = MapKind::Cached;
    let mut table = profile.clone();
    table.ftl.map = MapKind::Table;
    let in_order = || (0..PAGES).map(|page| (page, 1));
    let (_, cached) = read(&profile, in_order());
    let (_, table) = read(&table, in_order());
    assert_eq!(cached.host_pages_read, table.host_pages_read);
    assert_eq!(cached.read_ahead_hits, table.read_ahead_hits);
}

/// Every wordline fails the first time.
#[derive(Debug, Default)]
struct FailsOnce(BTreeMap<(u32, u32, u32), u32>);

impl Cells for FailsOnce {
    fn sense(&mut self, at: Place, _: Option<u8>, time: Duration, _: Instant) -> Sensed {
        let senses = self.0.entry((at.plane, at.block, at.wordline)).or_default();
        *senses += 1;
        let fails = *senses == 1;
        Sensed { time, fails }
    }
}

/// Nobody asked for it yet: what fails ahead is read again for who does ask.
#[test]
fn what_fails_ahead_is_read_again() {
    register::<dyn Cells>(Policy {
        name: "fails-once",
        about: "each wordline fails once",
        make: |_, _| Ok(Box::<FailsOnce>::default()),
    });
    let mut profile = with(8 * PAGE);
    profile.timing.cells = "fails-once".parse().unwrap();
    let (mut device, nsid) = filled(&profile);
    for page in 0..PAGES as u32 {
        device
            .submit(&Command::read(nsid, u64::from(page), 1, u64::from(page)))
            .unwrap();
    }
    let mut failed = 0;
    while device.run_until_completion() {
        while let Some(done) = device.pop_completion() {
            failed += u64::from(done.status == Status::UNRECOVERED_READ_ERROR);
        }
    }
    let stats = device.stats();
    assert_eq!(device.outstanding(), 0);
    assert!(failed > 0 && stats.read_ahead_pages > 0);
    assert_eq!(stats.failed_commands, failed);
    assert_eq!(
        stats.host_pages_read + stats.read_ahead_pages,
        stats.page_reads
    );
    assert_eq!(stats.host_pages_read + stats.read_ahead_hits, PAGES);
}
