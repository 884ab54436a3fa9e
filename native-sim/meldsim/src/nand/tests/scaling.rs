//! Closed forms: what one channel, chip, die and plane can do, and that more of them do as much more.

use super::*;
use crate::profile::DieInterleave;

const ROUNDS: u32 = 200;

/// Reads the first page of `ROUNDS` wordlines of every unit; returns the time one round takes.
fn read_round(profile: &Profile) -> Time {
    let mut rig = Rig::new(profile);
    for row in 0..ROUNDS {
        for unit in 0..units(profile) {
            rig.read(unit, row, 0);
        }
    }
    let end = rig.run();
    assert_eq!(rig.done.len() as u32, ROUNDS * units(profile));
    Time::from_ps(end.as_ps() / u64::from(ROUNDS))
}

/// Programs `ROUNDS` wordlines of every unit in one shot; returns the time one round takes.
fn program_round(profile: &Profile) -> Time {
    let mut rig = Rig::new(profile);
    let all = (1 << profile.timing.read.len()) - 1;
    for row in 0..ROUNDS {
        for unit in 0..units(profile) {
            rig.program(unit, row, all);
        }
    }
    let end = rig.run();
    assert_eq!(rig.done.len() as u32, ROUNDS * units(profile));
    Time::from_ps(end.as_ps() / u64::from(ROUNDS))
}

fn units(profile: &Profile) -> u32 {
    let geometry = &profile.geometry;
    geometry.channels * geometry.dies_per_channel * geometry.planes_per_die
}

/// A round of reads: every die at once, as long as the bus carries it.
fn read_time(dies: u64, planes: u64) -> Time {
    let bus = (COMMAND + PAGE) * planes;
    (bus + us(58)).max(bus * dies)
}

fn program_time(dies: u64, planes: u64) -> Time {
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
        let mut expected = Time::ZERO;
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
