//! What works in parallel. Closed forms: what one channel, chip, die and plane can do, and that more
//! of them do as much more. Then transactions of packages, and issue in order.

use super::*;
use crate::profile::{DieInterleave, Issue};

const ROUNDS: u32 = 200;

/// Reads the first page of `ROUNDS` wordlines of every unit; returns the time one round takes.
fn read_round(profile: &Profile) -> Duration {
    let mut rig = Rig::new(profile);
    for row in 0..ROUNDS {
        for unit in 0..units(profile) {
            rig.read(unit, row, 0);
        }
    }
    let end = rig.run();
    assert_eq!(rig.done.len() as u32, ROUNDS * units(profile));
    Duration::from_ps(end.as_ps() / u64::from(ROUNDS))
}

/// Programs `ROUNDS` wordlines of every unit in one shot; returns the time one round takes.
fn program_round(profile: &Profile) -> Duration {
    let mut rig = Rig::new(profile);
    let all = (1 << profile.timing.read.len()) - 1;
    for row in 0..ROUNDS {
        for unit in 0..units(profile) {
            rig.program(unit, row, all);
        }
    }
    let end = rig.run();
    assert_eq!(rig.done.len() as u32, ROUNDS * units(profile));
    Duration::from_ps(end.as_ps() / u64::from(ROUNDS))
}

fn units(profile: &Profile) -> u32 {
    let geometry = &profile.geometry;
    geometry.channels * geometry.dies_per_channel * geometry.planes_per_die
}

/// A round of reads: every die at once, as long as the bus carries it.
fn read_time(dies: u64, planes: u64) -> Duration {
    let bus = (COMMAND + PAGE) * planes;
    (bus + us(58)).max(bus * dies)
}

fn program_time(dies: u64, planes: u64) -> Duration {
    let bus = (COMMAND + PAGE * 3) * planes;
    (bus + us(5001)).max(bus * dies)
}

#[test]
fn dies_of_one_chip_overlap() {
    for dies in [1, 2, 4, 8, 16, 32] {
        let profile = package(dies, 1);
        let what = format!("{dies} dies");
        let dies = u64::from(dies);
        assert_close(read_round(&profile), read_time(dies, 1), &what);
        assert_close(program_round(&profile), program_time(dies, 1), &what);
    }
    // Eleven dies saturate the bus with reads: the closed form above has both regimes.
    assert!(read_time(8, 1) == read_time(1, 1) && read_time(16, 1) > read_time(1, 1));
}

#[test]
fn planes_share_the_array_time() {
    for planes in [1, 2, 4, 8, 16] {
        let mut profile = package(1, planes);
        let what = format!("{planes} planes");
        let planes = u64::from(planes);
        assert_close(read_round(&profile), read_time(1, planes), &what);
        assert_close(program_round(&profile), program_time(1, planes), &what);
        // Without multi-plane commands the planes of a die work one after the other.
        profile.commands.multi_plane = false;
        assert_close(read_round(&profile), read_time(1, 1) * planes, &what);
        assert_close(program_round(&profile), program_time(1, 1) * planes, &what);
    }
}

#[test]
fn dies_and_planes_together() {
    for (dies, planes) in [(2, 2), (4, 2), (2, 4)] {
        let profile = package(dies, planes);
        let what = format!("{dies} dies of {planes} planes");
        let (dies, planes) = (u64::from(dies), u64::from(planes));
        assert_close(read_round(&profile), read_time(dies, planes), &what);
        assert_close(program_round(&profile), program_time(dies, planes), &what);
    }
}

#[test]
fn channels_are_independent() {
    for channels in 1..=16 {
        let mut profile = package(2, 1);
        profile.geometry.channels = channels;
        // The same for any number of them.
        let what = format!("{channels} channels");
        assert_close(read_round(&profile), read_time(2, 1), &what);
        assert_close(program_round(&profile), program_time(2, 1), &what);
    }
}

#[test]
fn a_package_serves_one_die_at_a_time_without_interleaving() {
    for dies in [1, 2, 4, 8] {
        let mut profile = package(dies, 1);
        profile.commands.die_interleave = DieInterleave::Off;
        let what = format!("{dies} dies");
        let dies = u64::from(dies);
        assert_close(read_round(&profile), read_time(1, 1) * dies, &what);
        assert_close(program_round(&profile), program_time(1, 1) * dies, &what);
    }
}

#[test]
fn a_composed_transaction_ends_with_its_last_die() {
    for dies in [1, 2, 4, 8] {
        let mut profile = package(dies, 2);
        profile.commands.die_interleave = DieInterleave::Composed;
        // All senses overlap; then the data of every die crosses the bus, and only then goes the
        // next transaction's first command.
        let bus = COMMAND * 2 + PAGE * 2 * u64::from(dies);
        let what = format!("{dies} dies");
        assert_close(read_round(&profile), bus + us(58), &what);
    }
}

#[test]
fn every_kind_of_cell() {
    let (reads, programs) = ([30, 58, 78, 107], [300, 558, 2201, 5001]);
    for pages in 1..=4 {
        let mut profile = profile();
        profile.timing.read = reads[..pages].iter().map(|&t| us(t)).collect();
        profile.timing.melded_read = None;
        profile.timing.program_pages = Some(programs[..pages].iter().map(|&t| us(t)).collect());
        profile.timing.program = us(1000 * pages as u64);
        let mut rig = Rig::new(&profile);
        let mut expected = Duration::ZERO;
        for (page, time) in (0..).zip(&reads[..pages]) {
            rig.read(0, 0, page);
            expected += COMMAND + us(*time) + PAGE;
        }
        assert_eq!(rig.run(), expected);
        // One shot for the whole wordline, or page by page.
        rig.program(0, 0, (1 << pages) - 1);
        expected += COMMAND + PAGE * pages as u64 + us(1000 * pages as u64);
        assert_eq!(rig.run(), expected);
        if pages > 1 {
            for (page, time) in programs[..pages].iter().enumerate() {
                rig.program(0, 1, 1 << page);
                expected += COMMAND + PAGE + us(*time);
                assert_eq!(rig.run(), expected);
            }
        }
        rig.erase(0, 0);
        assert_eq!(rig.run(), expected + COMMAND + us(2274));
    }
}

fn composed(dies: u32, planes: u32) -> Profile {
    let mut profile = package(dies, planes);
    profile.commands.die_interleave = DieInterleave::Composed;
    profile
}

/// Transactions and pages, by none / plane sharing / die interleaving / both of these.
fn breakdown(rig: &Rig) -> ([u64; 4], [u64; 4]) {
    let stats = rig.stats();
    (
        stats.commands.transactions,
        stats.commands.transaction_pages,
    )
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
fn times_with(issue: Issue, die_interleave: DieInterleave) -> Vec<Duration> {
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

/// Four dies of two planes, each busy for 100 days: more than 64 bits of picoseconds hold.
#[test]
fn busy_times_add_up_beyond_what_one_can_be() {
    let mut rig = Rig::new(&package(4, 2));
    let days = Duration::from_ms(10_000) * (100 * 8640);
    for die in &mut rig.flash.dies {
        die.busy += days;
        die.counts.plane_busy += days;
        die.counts.plane_busy += days;
    }
    let stats = rig.stats();
    let each = u128::from(days.as_ps());
    assert_eq!(stats.die_busy.as_ps(), 4 * each);
    assert_eq!(stats.dies.plane_busy.as_ps(), 8 * each);
    assert!(4 * each > u64::MAX.into());
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
