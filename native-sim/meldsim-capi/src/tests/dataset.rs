//! Ranges through the ABI: hints, deallocation, locations.

use super::support::*;
use crate::*;

fn range(rig: &Rig, attributes: u32, offset: u64, bytes: u64) -> meldsim_range {
    meldsim_range {
        attributes,
        nlb: rig.lbas(bytes) as u32,
        slba: rig.lbas(offset),
    }
}

fn describe(rig: &Rig, ranges: &[meldsim_range]) -> i32 {
    // SAFETY: as many ranges as it says.
    unsafe { meldsim_describe(rig.handle, rig.nsid, ranges.as_ptr(), ranges.len() as u32) }
}

fn deallocate(rig: &Rig, ranges: &[meldsim_range], flags: u32) -> i64 {
    let (ranges, n) = (ranges.as_ptr(), ranges.len() as u32);
    // SAFETY: as many ranges as it says.
    unsafe { meldsim_deallocate(rig.handle, rig.nsid, ranges, n, 0, flags) }
}

fn location(rig: &Rig, offset: u64) -> [u64; 7] {
    let mut values = [0; MELDSIM_LOCATION_COUNT as usize];
    let (out, n) = (values.as_mut_ptr(), MELDSIM_LOCATION_COUNT);
    // SAFETY: as long as it says.
    let count = unsafe { meldsim_locate(rig.handle, rig.nsid, rig.lbas(offset), out, n) };
    assert_eq!(count, 7, "{}", last_error());
    values
}

fn write_and_flush(rig: &Rig, offset: u64, bytes: u64) {
    assert_eq!(
        rig.submit(MELDSIM_WRITE, offset, bytes, MELDSIM_DETACHED),
        0
    );
    let flush = rig.submit(MELDSIM_FLUSH, 0, 0, 0);
    assert!(
        meldsim_wait(rig.handle, flush, FOREVER) > 0,
        "{}",
        last_error()
    );
}

#[test]
fn writes_to_a_described_range_meld() {
    let rig = Rig::new();
    let sequential = MELDSIM_RANGE_SEQUENTIAL_READ;
    let ranges = [
        range(&rig, sequential, 0, MIB),
        range(&rig, sequential, 2 * MIB, MIB),
    ];
    ok(describe(&rig, &ranges));
    for (at, melded) in [(0, 256), (1, 256), (2, 512)] {
        write_and_flush(&rig, at * MIB, MIB);
        assert_eq!(rig.stat("melded_mapped_pages"), melded, "MiB {at}");
    }
    ok(describe(&rig, &[range(&rig, 0, 0, MIB)]));
    write_and_flush(&rig, 0, MIB);
    assert_eq!(rig.stat("melded_mapped_pages"), 256, "taken back");
    let beyond = range(&rig, sequential, 1 << 30, MIB);
    assert_eq!(describe(&rig, &[beyond]), MELDSIM_ERR_RANGE);
    assert_eq!(describe(&rig, &[]), MELDSIM_ERR_ARGUMENT);
    assert_eq!(describe(&rig, &[ranges[0]; 257]), MELDSIM_ERR_ARGUMENT);
    // SAFETY: null is the error under test.
    let null = unsafe { meldsim_describe(rig.handle, rig.nsid, std::ptr::null(), 1) };
    assert_eq!(null, MELDSIM_ERR_ARGUMENT);
    // SAFETY: one range.
    let code = unsafe { meldsim_describe(rig.handle, 99, &ranges[0], 1) };
    assert_eq!(code, MELDSIM_ERR_NAMESPACE);
}

#[test]
fn one_command_deallocates_several_ranges() {
    let rig = Rig::preloaded(4);
    let ranges = [range(&rig, 0, 0, MIB), range(&rig, 0, 3 * MIB, MIB)];
    let beyond = [ranges[0], range(&rig, 0, 1 << 30, MIB)];
    assert_eq!(deallocate(&rig, &beyond, 0), i64::from(MELDSIM_ERR_RANGE));
    assert_eq!(rig.stat("mapped_pages"), 1024, "all or none");
    let ticket = deallocate(&rig, &ranges, 0);
    assert!(
        meldsim_wait(rig.handle, ticket, FOREVER) >= 0,
        "{}",
        last_error()
    );
    assert_eq!(
        (rig.stat("mapped_pages"), rig.stat("deallocate_commands")),
        (512, 1)
    );
    assert_eq!(
        info(rig.handle, rig.nsid)[6],
        rig.lbas(2 * MIB),
        "still there"
    );
    assert_eq!(location(&rig, 0), [0; 7]);
    assert_eq!(location(&rig, MIB)[0], u64::from(MELDSIM_ON_FLASH));
    assert_eq!(deallocate(&rig, &ranges[..1], MELDSIM_DETACHED), 0);
    assert_eq!(
        deallocate(&rig, &ranges, 4),
        i64::from(MELDSIM_ERR_ARGUMENT)
    );
    assert_eq!(deallocate(&rig, &[], 0), i64::from(MELDSIM_ERR_ARGUMENT));
}

#[test]
fn a_block_is_somewhere() {
    let rig = Rig::preloaded(1);
    // Page q of wordline q div 3, channel by channel.
    assert_eq!(location(&rig, 0), [2, 0, 0, 0, 0, 0, 0]);
    assert_eq!(location(&rig, 4 * 4096), [2, 1, 0, 0, 0, 0, 1]);
    assert_eq!(
        rig.submit(MELDSIM_WRITE, 2 * MIB, 4096, MELDSIM_DETACHED),
        0
    );
    assert_eq!(location(&rig, 2 * MIB)[0], u64::from(MELDSIM_BUFFERED));
    // SAFETY: nothing is asked for.
    let code = unsafe { meldsim_locate(rig.handle, rig.nsid, 1 << 40, std::ptr::null_mut(), 0) };
    assert_eq!(code, MELDSIM_ERR_RANGE);
    assert!(meldsim_memory_bytes(rig.handle) > 0);
}

#[test]
fn a_released_stream_stays_bound() {
    let rig = Rig::new();
    ok(meldsim_stream_bind(
        rig.handle,
        rig.nsid,
        3,
        MELDSIM_DIRECTIVE_RANDOM,
    ));
    ok(meldsim_stream_release(rig.handle, rig.nsid, 3));
    let mut bound = [9; 17];
    // SAFETY: room for 17 values.
    let count = unsafe { meldsim_streams_bound(rig.handle, rig.nsid, bound.as_mut_ptr(), 17) };
    assert_eq!((count, bound[3], bound[4]), (17, 2, 0));
    for (nsid, stream, error) in [
        (rig.nsid, 0, MELDSIM_ERR_UNSUPPORTED),
        (rig.nsid, 1 << 16 | 3, MELDSIM_ERR_UNSUPPORTED),
        (99, 3, MELDSIM_ERR_NAMESPACE),
    ] {
        assert_eq!(meldsim_stream_release(rig.handle, nsid, stream), error);
    }
}
