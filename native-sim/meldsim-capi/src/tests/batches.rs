//! Batches: several commands at one instant under one ticket.

use super::support::*;
use crate::*;

fn read_of(rig: &Rig, offset: u64, bytes: u64) -> meldsim_command {
    meldsim_command {
        opcode: MELDSIM_READ,
        nsid: rig.nsid,
        slba: rig.lbas(offset),
        nlb: rig.lbas(bytes) as u32,
        directive: 0,
        dsm: 0,
        queue: 0,
    }
}

fn submit(rig: &Rig, commands: &[meldsim_command]) -> i64 {
    // SAFETY: a slice is as long as it says.
    unsafe { meldsim_submit_batch(rig.handle, commands.as_ptr(), commands.len() as u32, 0) }
}

#[test]
fn a_batch_takes_as_long_as_one_request_of_the_same_pages() {
    let (split, whole) = (Rig::preloaded(24), Rig::preloaded(24));
    let commands: Vec<_> = (0..16).map(|at| read_of(&split, at * MIB, MIB)).collect();
    let ticket = submit(&split, &commands);
    assert!(ticket > 0, "{}", last_error());
    let split_ps = meldsim_wait(split.handle, ticket, FOREVER);
    assert_eq!(split_ps, whole.read(0, 16 * MIB));
}

#[test]
fn a_refused_command_fails_the_batch_and_leaves_no_ticket_behind() {
    let rig = Rig::preloaded(1);
    let mut commands = vec![read_of(&rig, 0, 4096); 3];
    commands[2].nsid = 99;
    assert_eq!(submit(&rig, &commands), i64::from(MELDSIM_ERR_NAMESPACE));
    commands[2] = read_of(&rig, 4096, 4096);
    commands[1].queue = 1;
    assert_eq!(submit(&rig, &commands), i64::from(MELDSIM_ERR_ARGUMENT));
    assert_eq!(submit(&rig, &[]), i64::from(MELDSIM_ERR_ARGUMENT));
    let too_many = vec![read_of(&rig, 0, 4096); MELDSIM_MAX_OUTSTANDING as usize + 1];
    assert_eq!(submit(&rig, &too_many), i64::from(MELDSIM_ERR_ARGUMENT));
    rig.read(0, 4096);
}

#[test]
fn the_largest_batch_fits_behind_outstanding_work() {
    let rig = Rig::preloaded(16);
    let commands = vec![read_of(&rig, 0, 4096); MELDSIM_MAX_OUTSTANDING as usize];
    let first = submit(&rig, &commands);
    let second = submit(&rig, &commands);
    assert!(first > 0 && second > 0 && first != second);
    assert!(meldsim_wait(rig.handle, second, FOREVER) > 0);
    assert!(meldsim_wait(rig.handle, first, FOREVER) > 0);
}
