//! Multi-plane, cache and copyback commands and suspension: what they save, and what they cannot do.

use super::*;
use crate::profile::EnergyAmount;

#[test]
fn planes_share_only_the_same_block_wordline_and_page() {
    let time_of = |a: (u32, u32), b: (u32, u32)| {
        let mut rig = Rig::new(&package(1, 2));
        rig.read(0, a.0, a.1);
        rig.read(1, b.0, b.1);
        (rig.run(), rig.stats().commands.transactions)
    };
    let alone = COMMAND + us(58) + PAGE;
    assert_eq!(
        time_of((5, 0), (5, 0)),
        ((COMMAND + PAGE) * 2 + us(58), [0, 1, 0, 0])
    );
    // Another wordline of the block, another block, another page of the wordline.
    assert_eq!(time_of((5, 0), (6, 0)), (alone * 2, [2, 0, 0, 0]));
    assert_eq!(time_of((5, 0), (5 + 256, 0)), (alone * 2, [2, 0, 0, 0]));
    assert_eq!(time_of((5, 0), (5, 1)), (alone * 2 + us(20), [2, 0, 0, 0]));
}

#[test]
fn programs_share_planes_but_keep_the_order_of_each_plane() {
    let mut rig = Rig::new(&package(1, 2));
    // Plane 1 has to program row 0 before it can join in row 1.
    rig.program(0, 1, ALL);
    rig.program(1, 0, ALL);
    rig.program(1, 1, ALL);
    let each = COMMAND + PAGE * 3 + us(5001);
    assert_eq!(rig.run(), each * 3);
    assert_eq!(rig.times(), [each, each * 2, each * 3]);

    let mut rig = Rig::new(&package(1, 2));
    for row in 0..2 {
        rig.program(0, row, ALL);
    }
    for row in 0..2 {
        rig.program(1, row, ALL);
    }
    let both = (COMMAND + PAGE * 3) * 2 + us(5001);
    assert_eq!(rig.run(), both * 2);
}

#[test]
fn erases_and_melded_reads_share_planes() {
    let mut rig = Rig::new(&package(1, 4));
    for unit in 0..4 {
        rig.erase(unit, 7);
    }
    let mut end = COMMAND * 4 + us(2274);
    assert_eq!(rig.run(), end);
    for unit in 0..4 {
        rig.read_pages(unit, 3, ALL, true, unit);
    }
    // Each plane's pages are delivered as soon as they have crossed the bus.
    end += COMMAND * 4 + us(166);
    let arrivals: Vec<Duration> = (1..=4).map(|n| end + PAGE * 3 * n).collect();
    rig.run();
    assert_eq!(rig.times()[4..], arrivals);
    let senses = rig.done[4..].iter().map(|(_, done)| match done {
        Finished::Read { sense, .. } => *sense,
        other => panic!("{other:?}"),
    });
    assert_eq!(
        senses.collect::<Vec<_>>(),
        [Sense::Melded { is_first: true }; 4]
    );
    // Blocks of different numbers are erased one after the other.
    let mut rig = Rig::new(&package(1, 2));
    rig.erase(0, 1);
    rig.erase(1, 2);
    assert_eq!(rig.run(), (COMMAND + us(2274)) * 2);
}

#[test]
fn a_melded_read_is_the_first_of_the_reads_that_share_it() {
    let mut rig = Rig::new(&profile());
    rig.read_pages(0, 3, 0b001, true, 7);
    rig.read_pages(0, 3, 0b110, true, 8);
    rig.run();
    let read = |pages, owner, is_first| Finished::Read {
        is_failed: false,
        at: WordlineAddr {
            unit: Unit(0),
            row: 3,
        },
        pages,
        owner: Owner::request(owner),
        sense: Sense::Melded { is_first },
    };
    let done: Vec<Finished> = rig.done.iter().map(|&(_, done)| done).collect();
    assert_eq!(done, [read(0b001, 7, true), read(0b110, 8, false)]);
    assert_eq!(rig.stats().dies.melded_reads, 1);
}

/// The time one of many reads of one die takes, at a bus rate.
fn time_per_read(rate: u64, cache: bool) -> (Duration, u64) {
    let mut profile = profile();
    profile.bus.rate.0 = rate;
    profile.commands.cache_read = cache;
    let mut rig = Rig::new(&profile);
    for row in 0..500 {
        rig.read(0, row, 0);
    }
    let end = rig.run();
    let cached = rig.stats().commands.cached_reads;
    (Duration::from_ps(end.as_ps() / 500), cached)
}

#[test]
fn a_cache_read_overlaps_sensing_with_the_bus() {
    // At 800 MT/s the sense is the longer part, at 40 MT/s the transfer.
    assert_close(time_per_read(800, false).0, COMMAND + us(58) + PAGE, "off");
    assert_close(time_per_read(800, true).0, COMMAND + us(58), "sense");
    let slow = (COMMAND + PAGE) * 20;
    assert_close(time_per_read(40, false).0, slow + us(58), "off");
    assert_close(time_per_read(40, true).0, slow, "bus");
    assert_eq!(time_per_read(800, false).1, 0);
    assert!(time_per_read(800, true).1 > 490);
}

#[test]
fn a_cache_program_loads_while_the_array_programs() {
    let time = |rate, cache| {
        let mut profile = profile();
        profile.bus.rate.0 = rate;
        profile.commands.cache_program = cache;
        let mut rig = Rig::new(&profile);
        for row in 0..200 {
            rig.program(0, row, ALL);
        }
        let end = rig.run();
        let cached = rig.stats().commands.cached_programs;
        (Duration::from_ps(end.as_ps() / 200), cached)
    };
    // A bus so slow that it matters: 3.5 ms for a wordline's three pages, or 6.9 ms.
    let load = |rate: u64| Duration::from_ps((COMMAND + PAGE * 3).as_ps() * 800 / rate);
    assert_close(time(4, false).0, load(4) + us(5001), "off");
    assert_close(time(4, true).0, us(5001), "array");
    assert_close(time(2, true).0, load(2), "bus");
    assert_eq!((time(4, false).1, time(4, true).1), (0, 199));
}

#[test]
fn a_copyback_leaves_the_bus_alone() {
    let mut rig = Rig::new(&profile());
    rig.copyback(at(0, 3), at(0, 900), ALL);
    assert_eq!(rig.run(), COMMAND * 2 + us(166 + 5001));
    let unit = Unit(0);
    assert_eq!(rig.done[0].1, Finished::Copyback { unit, token: 900 });
    let stats = rig.stats();
    assert_eq!(
        (stats.dies.copybacks, stats.channel_busy),
        (1, (COMMAND * 2).into())
    );
    // Over the bus: all pages out and in again.
    let mut rig = Rig::new(&profile());
    rig.read_pages(0, 3, ALL, true, 0);
    rig.run();
    rig.program(0, 900, ALL);
    assert_eq!(rig.run(), (COMMAND + PAGE * 3) * 2 + us(166 + 5001));
    // A page alone is sensed alone and programmed as one.
    let mut shadow = profile();
    shadow.timing.program_pages = Some(vec![us(558), us(2201), us(5001)]);
    let mut rig = Rig::new(&shadow);
    rig.copyback(at(0, 3), at(0, 4), 0b10);
    assert_eq!(rig.run(), COMMAND * 2 + us(78 + 2201));
}

#[test]
#[should_panic(expected = "a copyback stays in its plane")]
fn a_copyback_to_another_plane_is_refused() {
    Rig::new(&package(1, 2)).copyback(at(0, 3), at(1, 3), ALL);
}

#[test]
fn energy_is_counted_by_operation() {
    let mut profile = profile();
    profile.timing.program_pages = Some(vec![us(558), us(2201), us(5001)]);
    profile.energy.read = EnergyAmount::from_nj(3);
    profile.energy.melded_read = EnergyAmount::from_nj(50);
    profile.energy.program = EnergyAmount::from_nj(700);
    profile.energy.program_page = EnergyAmount::from_nj(11_000);
    profile.energy.erase = EnergyAmount::from_nj(13);
    profile.energy.bus_byte = EnergyAmount(1_000);
    let mut rig = Rig::new(&profile);
    rig.read(0, 0, 0);
    rig.read(0, 0, 2);
    rig.read_pages(0, 1, ALL, true, 0);
    rig.program(0, 2, ALL);
    rig.program(0, 3, 0b1);
    rig.erase(0, 4);
    rig.run();
    let stats = rig.stats();
    assert_eq!(stats.read_energy_nj, 2 * 3 + 50);
    assert_eq!(stats.program_energy_nj, 700 + 11_000);
    assert_eq!(stats.erase_energy_nj, 13);
    assert_eq!(stats.bus_energy_nj, 4625 * (2 + 3 + 3 + 1));
}

/// Of three reads, one or two pass a waiting erase; those of its block all do.
#[test]
fn an_erase_waits_for_earlier_reads_of_its_block() {
    let reads_before = |block| {
        let mut profile = profile();
        profile.controller.reads_before_program = 1;
        let mut rig = Rig::new(&profile);
        (0..3).for_each(|row| rig.read(0, row, 0));
        rig.erase(0, block);
        rig.run();
        rig.erases_begun[&block]
    };
    assert_eq!((reads_before(0), reads_before(1)), (3, 1));
}

/// A die whose programs and erases reads may suspend.
fn suspending() -> Profile {
    let mut profile = profile();
    profile.commands.suspend_program = true;
    profile.commands.suspend_erase = true;
    profile.commands.suspend_time = us(20);
    profile.commands.resume_time = us(30);
    profile.commands.suspend_progress = us(100);
    profile
}

/// From the read's submission to its data, when everything but the command is done at once.
fn read_time(profile: &Profile) -> Duration {
    COMMAND + profile.commands.suspend_time + us(58) + PAGE
}

#[test]
fn a_read_suspends_a_program_which_then_goes_on() {
    let mut profile = suspending();
    let mut rig = Rig::new(&profile);
    rig.program(0, 0, ALL);
    rig.run_until(us(1000));
    rig.read(0, 9, 0);
    rig.run();
    let whole = COMMAND + PAGE * 3 + us(5001);
    let read = us(1000) + read_time(&profile);
    // The array worked on until the suspending command was there.
    let done_before = us(1000) + COMMAND;
    assert_eq!(
        rig.times(),
        [read, read + COMMAND + us(30) + (whole - done_before)]
    );
    let stats = rig.stats();
    assert_eq!(
        (
            stats.commands.program_suspends,
            stats.commands.erase_suspends
        ),
        (1, 0)
    );

    profile.commands.suspend_program = false;
    let mut rig = Rig::new(&profile);
    rig.program(0, 0, ALL);
    rig.run_until(us(1000));
    rig.read(0, 9, 0);
    rig.run();
    assert_eq!(rig.times(), [whole, whole + COMMAND + us(58) + PAGE]);
}

#[test]
fn while_writes_wait_nothing_is_suspended_if_the_profile_says_so() {
    for suspends in [true, false] {
        let mut profile = suspending();
        profile.commands.suspend_under_pressure = suspends;
        let mut rig = Rig::new(&profile);
        rig.program(0, 0, ALL);
        rig.run_until(us(1000));
        rig.flash.set_pressure([Unit(0)].into_iter(), true);
        rig.read(0, 9, 0);
        rig.run();
        let whole = COMMAND + PAGE * 3 + us(5001);
        let expected = match suspends {
            true => us(1000) + read_time(&profile),
            false => whole + COMMAND + us(58) + PAGE,
        };
        assert!(rig.times().contains(&expected), "{:?}", rig.times());
        assert_eq!(rig.stats().commands.program_suspends, u64::from(suspends));
        // Writes wait no longer.
        rig.program(0, 1, ALL);
        rig.run_until(us(10_000));
        rig.flash.set_pressure([Unit(0)].into_iter(), false);
        rig.read(0, 10, 0);
        rig.run();
        let suspended = 1 + u64::from(suspends);
        assert_eq!(rig.stats().commands.program_suspends, suspended);
    }
}

#[test]
fn a_program_stops_at_the_end_of_a_phase() {
    let mut profile = suspending();
    profile.commands.suspend_phase = us(400);
    let loaded = COMMAND + PAGE * 3;
    // From a moment of a phase to its end; the end of the program itself is no worse than waiting for it.
    for (read_at, stops_at) in [(us(1000), loaded + us(1200)), (us(1500), loaded + us(1600))] {
        let mut rig = Rig::new(&profile);
        rig.program(0, 0, ALL);
        rig.run_until(read_at);
        rig.read(0, 9, 0);
        rig.run();
        let read = stops_at + us(20 + 58) + PAGE;
        let end = read + COMMAND + us(30) + (loaded + us(5001) - stops_at);
        assert_eq!(rig.times(), [read, end]);
    }
    // In the last phase it is not worth it.
    let mut rig = Rig::new(&profile);
    rig.program(0, 0, ALL);
    rig.run_until(us(4850));
    rig.read(0, 9, 0);
    rig.run();
    let end = loaded + us(5001);
    assert_eq!(rig.times(), [end, end + COMMAND + us(58) + PAGE]);
}

#[test]
fn a_read_of_collection_yields_to_the_host_and_suspends_nothing() {
    let sense = us(58);
    for yields in [false, true] {
        let mut profile = suspending();
        profile.gc.reads_yield = yields;
        // Page by page, a read of the host goes between those of collection.
        let mut rig = Rig::new(&profile);
        rig.collect(0, 9, 0b001);
        rig.collect(0, 10, 0b001);
        rig.run_until(us(10));
        rig.read(0, 11, 0);
        rig.run();
        let one = COMMAND + sense + PAGE;
        let order = rig.done.iter().map(|(time, what)| match what {
            Finished::Read { at, .. } => (*time, at.row),
            other => panic!("{other:?}"),
        });
        let rows = if yields { [9, 11, 10] } else { [9, 10, 11] };
        let expected: Vec<_> = (1..).zip(rows).map(|(n, row)| (one * n, row)).collect();
        assert_eq!(order.collect::<Vec<_>>(), expected);
        // While a program is executed, collection waits; a read of the host stops it.
        let mut rig = Rig::new(&profile);
        rig.program(0, 0, ALL);
        rig.run_until(us(1000));
        rig.collect(0, 9, 0b001);
        rig.run();
        let suspends = rig.stats().commands.program_suspends;
        assert_eq!(suspends, u64::from(!yields));
        rig.program(0, 1, ALL);
        rig.run_until(us(8000));
        rig.collect(0, 9, 0b001);
        rig.read(0, 11, 0);
        rig.run();
        let [.., before, last] = rig.done.as_slice() else {
            panic!("{:?}", rig.done);
        };
        let collected = |what: &Finished| matches!(what, Finished::Read { at, .. } if at.row == 9);
        assert_eq!(collected(&last.1), yields, "after {before:?}");
        assert_eq!(rig.stats().commands.program_suspends, suspends + 1);
    }
}

#[test]
fn a_read_suspends_an_erase() {
    let profile = suspending();
    let mut rig = Rig::new(&profile);
    rig.erase(0, 0);
    rig.run_until(us(500));
    rig.read(0, 9 * 256, 0);
    let end = rig.run();
    assert_eq!(rig.times()[0], us(500) + read_time(&profile));
    let overhead = COMMAND * 2 + us(20 + 58 + 30) + PAGE;
    assert_eq!(end, COMMAND + us(2274) + overhead - COMMAND);
    assert_eq!(rig.stats().commands.erase_suspends, 1);
    let mut without = profile;
    without.commands.suspend_erase = false;
    let mut rig = Rig::new(&without);
    rig.erase(0, 0);
    rig.run_until(us(500));
    rig.read(0, 9 * 256, 0);
    rig.run();
    assert_eq!(rig.times()[0], COMMAND + us(2274));
}

#[test]
fn nothing_is_suspended_before_it_has_progressed() {
    let profile = suspending();
    let mut rig = Rig::new(&profile);
    rig.erase(0, 0);
    rig.run_until(us(40));
    rig.read(0, 256, 0);
    rig.run_until(us(400));
    // From the command's end the erase works 100 us before it yields.
    assert_eq!(rig.times(), [COMMAND + us(100) + read_time(&profile)]);
    // And again after it has been resumed.
    let resumed = rig.times()[0] + COMMAND + us(30);
    let mut rig = Rig::new(&profile);
    rig.erase(0, 0);
    rig.run_until(us(40));
    rig.read(0, 256, 0);
    rig.run_until(us(200));
    rig.read(0, 257, 0);
    rig.run_until(us(1000));
    assert_eq!(rig.times()[1], resumed + us(100) + read_time(&profile));
}

#[test]
fn suspensions_of_one_operation_are_bounded() {
    let mut profile = suspending();
    profile.commands.max_suspends = 3;
    let mut rig = Rig::new(&profile);
    rig.program(0, 0, ALL);
    for n in 1..=5 {
        rig.run_until(us(300 * n));
        rig.read(0, 256 + n as u32, 0);
    }
    rig.run();
    assert_eq!(rig.stats().commands.program_suspends, 3);
    // Three reads, then the program, then the others.
    let programs: Vec<bool> = rig
        .done
        .iter()
        .map(|(_, what)| matches!(what, Finished::Program { .. }))
        .collect();
    assert_eq!(programs, [false, false, false, true, false, false]);
}

#[test]
fn a_suspended_program_is_not_starved() {
    let mut profile = suspending();
    profile.controller.reads_before_program = 4;
    profile.commands.max_suspends = 1;
    let mut rig = Rig::new(&profile);
    rig.program(0, 0, ALL);
    rig.run_until(us(1000));
    for row in 0..20 {
        rig.read(0, 256 + row, 0);
    }
    rig.run();
    let program = |what: &Finished| matches!(what, Finished::Program { .. });
    let position = rig.done.iter().position(|(_, what)| program(what));
    assert_eq!(position, Some(4));
}

/// Reads that come while it resumes leave it a phase, so that it is done after as many as it has.
#[test]
fn a_program_in_phases_ends_however_many_reads_come() {
    let mut profile = suspending();
    profile.commands.suspend_progress = Duration::ZERO;
    profile.commands.suspend_phase = us(500);
    profile.commands.resume_time = us(540);
    profile.commands.max_suspends = 1000;
    let mut rig = Rig::new(&profile);
    rig.program(0, 0, ALL);
    for n in 1..=150 {
        rig.run_until(us(200 * n));
        rig.read(0, 256 + n as u32, 0);
    }
    rig.run();
    let suspends = rig.stats().commands.program_suspends;
    assert!((8..=10).contains(&suspends), "{suspends}");
    let program = |what: &Finished| matches!(what, Finished::Program { .. });
    let position = rig.done.iter().position(|(_, what)| program(what));
    assert!(position < Some(100), "{position:?}");
}

#[test]
fn what_is_about_to_end_is_left_alone() {
    let profile = suspending();
    let mut rig = Rig::new(&profile);
    rig.erase(0, 0);
    rig.run_until(us(2260));
    rig.read(0, 256, 0);
    rig.run();
    assert_eq!(rig.stats().commands.erase_suspends, 0);
    assert_eq!(rig.times()[0], COMMAND + us(2274));
}
