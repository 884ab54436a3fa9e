//! Transactions of packages, and issue in order.

use super::*;
use crate::profile::{DieInterleave, Issue};

fn composed(dies: u32, planes: u32) -> Profile {
    let mut profile = package(dies, planes);
    profile.commands.die_interleave = DieInterleave::Composed;
    profile
}

/// Transactions and pages, by none / plane sharing / die interleaving / both.
fn breakdown(rig: &Rig) -> ([u64; 4], [u64; 4]) {
    let stats = rig.flash.stats(rig.queue.now());
    (stats.transactions, stats.transaction_pages)
}

#[test]
fn the_breakdown_tells_what_a_transaction_shares() {
    // Two dies of two planes: units 0 and 1 are die 0, units 2 and 3 die 1.
    let cases: [(&[u32], usize); 6] = [
        (&[0], 0),
        (&[0, 1], 1),
        (&[0, 2], 2),
        (&[1, 2], 2),
        (&[0, 1, 2], 3),
        (&[0, 1, 2, 3], 3),
    ];
    for (units, class) in cases {
        let mut rig = Rig::new(&composed(2, 2));
        units.iter().for_each(|&unit| rig.read(unit, 4, 0));
        rig.run();
        let mut expected = ([0; 4], [0; 4]);
        expected.0[class] = 1;
        expected.1[class] = units.len() as u64;
        assert_eq!(breakdown(&rig), expected, "reads of {units:?}");
        let mut rig = Rig::new(&composed(2, 2));
        units.iter().for_each(|&unit| rig.program(unit, 4, ALL));
        rig.run();
        expected.1[class] *= 3;
        assert_eq!(breakdown(&rig), expected, "programs of {units:?}");
    }
}

#[test]
fn dies_of_a_transaction_need_not_share_an_address_but_planes_do() {
    let mut rig = Rig::new(&composed(2, 2));
    rig.read(0, 4, 0);
    rig.read(1, 5, 0);
    rig.read(2, 6, 1);
    rig.run();
    assert_eq!(breakdown(&rig), ([1, 0, 1, 0], [1, 0, 2, 0]));
}

#[test]
fn a_package_is_not_given_anything_before_its_transaction_has_ended() {
    let mut rig = Rig::new(&composed(2, 1));
    rig.read(0, 1, 2);
    rig.run_until(us(1));
    // The other die is idle, but the package is not.
    rig.read(1, 1, 0);
    rig.run();
    let first = COMMAND + us(107) + PAGE;
    assert_eq!(rig.times(), [first, first + COMMAND + us(58) + PAGE]);
    // Independent dies overlap.
    let mut rig = Rig::new(&package(2, 1));
    rig.read(0, 1, 2);
    rig.run_until(us(1));
    rig.read(1, 1, 0);
    rig.run();
    assert_eq!(rig.times()[0], us(1) + COMMAND + us(58) + PAGE);
}

#[test]
fn packages_of_a_channel_work_side_by_side() {
    let mut profile = composed(2, 1);
    profile.geometry.dies_per_channel = 4;
    let mut rig = Rig::new(&profile);
    rig.read(0, 1, 2);
    rig.run_until(us(1));
    rig.read(2, 1, 0);
    rig.run();
    assert_eq!(rig.times()[0], us(1) + COMMAND + us(58) + PAGE);
    let busy = rig.flash.packages_busy(rig.queue.now());
    assert_eq!(busy, [COMMAND + us(107) + PAGE, COMMAND + us(58) + PAGE]);
}

/// Reads of units 0, 0 and 1, submitted at once.
fn times_with(issue: Issue, die_interleave: DieInterleave) -> Vec<Time> {
    let mut profile = package(2, 1);
    profile.commands.die_interleave = die_interleave;
    profile.geometry.dies_per_package = 1;
    profile.commands.issue = issue;
    let mut rig = Rig::new(&profile);
    rig.read(0, 1, 0);
    rig.read(0, 2, 0);
    rig.read(1, 1, 0);
    rig.run();
    rig.times()
}

#[test]
fn in_order_a_busy_die_delays_what_came_later() {
    let read = COMMAND + us(58) + PAGE;
    for die_interleave in [DieInterleave::Independent, DieInterleave::Composed] {
        let times = times_with(Issue::OutOfOrder, die_interleave);
        // The third read overlaps with the first.
        assert_eq!(times, [read, read + COMMAND + PAGE, read * 2]);
        let times = times_with(Issue::InOrder, die_interleave);
        // It waits for the second to be issued, when the first has ended.
        assert_eq!(times, [read, read * 2, read * 2 + PAGE]);
    }
}

#[test]
fn by_request_a_channel_works_for_one_owner_at_a_time() {
    let read = COMMAND + us(58) + PAGE;
    let times = |issue| {
        let mut profile = profile();
        profile.geometry.dies_per_channel = 4;
        profile.commands.issue = issue;
        let mut rig = Rig::new(&profile);
        // Two pages for one request and one for another, each on a die of its own.
        for (unit, owner) in [(0, 0), (1, 0), (2, 1)] {
            rig.read_pages(unit, 0, 1, false, owner);
        }
        rig.run();
        rig.done.iter().map(|(time, _)| *time).collect::<Vec<_>>()
    };
    let two = [read, read + PAGE];
    assert_eq!(times(Issue::InOrder), [two[0], two[1], read + PAGE * 2]);
    assert_eq!(times(Issue::ByRequest), [two[0], two[1], two[1] + read]);
}

#[test]
fn by_request_programs_belong_to_whom_they_are_queued_for() {
    let last_done = |same: bool| {
        let mut profile = profile();
        profile.geometry.dies_per_channel = 2;
        profile.commands.issue = Issue::ByRequest;
        let mut rig = Rig::new(&profile);
        rig.flash.act_for(Owner::request(7));
        rig.program(0, 0, ALL);
        rig.flash.act_for(Owner::request(if same { 7 } else { 8 }));
        rig.program(1, 0, ALL);
        rig.run();
        rig.done[1].0
    };
    let program = COMMAND + PAGE * 3 + us(5001);
    assert_eq!(last_done(true), program + COMMAND + PAGE * 3);
    assert_eq!(last_done(false), program * 2);
}

#[test]
fn in_order_programs_are_not_passed_by_reads() {
    let first_done = |issue| {
        let mut profile = profile();
        profile.commands.issue = issue;
        let mut rig = Rig::new(&profile);
        rig.program(0, 0, ALL);
        rig.read(0, 256, 0);
        rig.run();
        rig.done[0].1
    };
    let is_read = |what: Finished| matches!(what, Finished::Read { .. });
    assert!(is_read(first_done(Issue::OutOfOrder)));
    assert!(!is_read(first_done(Issue::InOrder)));
}

#[test]
fn in_order_only_neighbours_in_the_queue_are_composed() {
    let run = |issue| {
        let mut profile = composed(2, 2);
        profile.geometry.dies_per_channel = 4;
        profile.commands.issue = issue;
        let mut rig = Rig::new(&profile);
        // Package 0 is busy with the first; what its other units are to do comes apart.
        rig.read(0, 0, 0);
        rig.run_until(us(1));
        rig.read(0, 1, 0);
        rig.read(4, 1, 0);
        rig.read(1, 1, 0);
        rig.read(4, 2, 0);
        rig.read(2, 1, 0);
        rig.run();
        breakdown(&rig).0
    };
    assert_eq!(run(Issue::OutOfOrder), [3, 0, 0, 1]);
    // 0, then 0+1 (4 lies between, but is issued at once), 4, then 4 blocks what follows.
    assert_eq!(run(Issue::InOrder), [4, 1, 0, 0]);
}

#[test]
fn melded_and_partial_reads_are_taken_apart_alike() {
    let mut rig = Rig::new(&composed(2, 1));
    rig.read_pages(0, 1, ALL, true, 0);
    rig.read_pages(1, 1, 0b011, true, 1);
    rig.run();
    let pages: u32 = rig
        .done
        .iter()
        .map(|(_, what)| match what {
            Finished::Read { pages, .. } => pages.count_ones(),
            _ => 0,
        })
        .sum();
    assert_eq!(pages, 5);
    // All three and the first of the two; then the second.
    assert_eq!(breakdown(&rig), ([1, 0, 1, 0], [1, 0, 4, 0]));
}
