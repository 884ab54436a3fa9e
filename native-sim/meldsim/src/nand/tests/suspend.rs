//! Suspension of programs and erases by reads.

use super::*;

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
fn read_time(profile: &Profile) -> Time {
    COMMAND + profile.commands.suspend_time + us(58) + PAGE
}

#[test]
fn a_read_suspends_a_program_which_then_goes_on() {
    let mut profile = suspending();
    let mut rig = Rig::new(&profile);
    rig.program(0, 0, ALL);
    rig.run_until(us(1000));
    rig.read(0, 9, 0);
    let end = rig.run();
    let whole = COMMAND + PAGE * 3 + us(5001);
    let read = us(1000) + read_time(&profile);
    // The array worked on until the suspending command was there.
    let done_before = us(1000) + COMMAND;
    assert_eq!(
        rig.times(),
        [read, read + COMMAND + us(30) + (whole - done_before)]
    );
    let stats = rig.flash.stats(end);
    assert_eq!((stats.program_suspends, stats.erase_suspends), (1, 0));

    profile.commands.suspend_program = false;
    let mut rig = Rig::new(&profile);
    rig.program(0, 0, ALL);
    rig.run_until(us(1000));
    rig.read(0, 9, 0);
    rig.run();
    assert_eq!(rig.times(), [whole, whole + COMMAND + us(58) + PAGE]);
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
    assert_eq!(rig.flash.stats(end).erase_suspends, 1);
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
    let end = rig.run();
    assert_eq!(rig.flash.stats(end).program_suspends, 3);
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

#[test]
fn what_is_about_to_end_is_left_alone() {
    let profile = suspending();
    let mut rig = Rig::new(&profile);
    rig.erase(0, 0);
    rig.run_until(us(2260));
    rig.read(0, 256, 0);
    let end = rig.run();
    assert_eq!(rig.flash.stats(end).erase_suspends, 0);
    assert_eq!(rig.times()[0], COMMAND + us(2274));
}
