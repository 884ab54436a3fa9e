//! Submission queues through the ABI.

use meldsim::profile::QueueArbitration;
use meldsim::{Duration, Profile};

use super::support::*;
use crate::*;

/// A device that fetches a command each 10 us and arbitrates by priority.
fn slow() -> (i64, u32) {
    let mut profile = Profile::builtin(PROFILE).unwrap();
    profile.host.command_cost = Duration::from_us(10);
    profile.host.arbitration = QueueArbitration::WeightedRoundRobin;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), profile.to_toml()).unwrap();
    let handle = open(file.path().to_str().unwrap()).unwrap();
    let mut nsid = 0;
    // SAFETY: `nsid` is writable.
    ok(unsafe { meldsim_namespace_create(handle, 1 << 30, &mut nsid) });
    (handle, nsid)
}

fn create(handle: i64, depth: u32, priority: u32) -> Result<u32, i32> {
    let mut queue = 0;
    // SAFETY: `queue` is writable.
    match unsafe { meldsim_queue_create(handle, depth, priority, &mut queue) } {
        MELDSIM_OK => Ok(queue),
        code => Err(code),
    }
}

fn read(handle: i64, nsid: u32, queue: u32) -> i64 {
    let read = meldsim_command {
        opcode: MELDSIM_READ,
        nsid,
        slba: 0,
        nlb: 1,
        directive: 0,
        dsm: 0,
        queue,
    };
    // SAFETY: one command.
    unsafe { meldsim_submit_batch(handle, &read, 1, 0) }
}

#[test]
fn an_urgent_queue_overtakes() {
    let (handle, nsid) = slow();
    let low = create(handle, 8, MELDSIM_PRIORITY_LOW).unwrap();
    let urgent = create(handle, 8, MELDSIM_PRIORITY_URGENT).unwrap();
    assert_eq!((low, urgent), (1, 2));
    let waiting: Vec<i64> = (0..8).map(|_| read(handle, nsid, low)).collect();
    assert_eq!(meldsim_queued(handle, low), 7, "one is being fetched");
    read(handle, nsid, low);
    assert_eq!(read(handle, nsid, low), i64::from(MELDSIM_ERR_CAPACITY));
    let overtaking = read(handle, nsid, urgent);
    let overtaking_ps = meldsim_wait(handle, overtaking, FOREVER);
    let last_ps = meldsim_wait(handle, waiting[7], FOREVER);
    assert!(overtaking_ps > 0 && overtaking_ps + 40_000_000 < last_ps);
    assert_eq!(read(handle, nsid, 3), i64::from(MELDSIM_ERR_ARGUMENT));
    assert_eq!(read(handle, nsid, 1 << 16), i64::from(MELDSIM_ERR_ARGUMENT));
    ok(meldsim_close(handle));
}

#[test]
fn queues_and_weights_are_checked_and_told() {
    let rig = Rig::new();
    assert_eq!(create(rig.handle, 0, 0), Err(MELDSIM_ERR_ARGUMENT));
    assert_eq!(create(rig.handle, 1, 4), Err(MELDSIM_ERR_ARGUMENT));
    // SAFETY: null is the error under test.
    let null = unsafe { meldsim_queue_create(rig.handle, 1, 0, std::ptr::null_mut()) };
    assert_eq!(null, MELDSIM_ERR_ARGUMENT);
    assert_eq!(meldsim_queued(rig.handle, 9), 0);
    ok(meldsim_set_arbitration(rig.handle, 4, 8, 0, 2));
    let mut values = [0; 4];
    // SAFETY: room for four values.
    let count = unsafe { meldsim_arbitration(rig.handle, values.as_mut_ptr(), 4) };
    assert_eq!((count, values), (4, [4, 8, 1, 2]));
}
