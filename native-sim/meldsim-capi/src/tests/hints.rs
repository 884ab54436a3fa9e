//! What is said about data, in each encoding of the ABI; where data is; what is deallocated.

use super::*;

/// Writes 24 MiB with the hint, flushes, reads it back; how many melded reads that took.
fn melded_reads(directive: u32, dsm: u32, bound_to: u32) -> u64 {
    let rig = Rig::new();
    ok(meldsim_stream_bind(rig.handle, rig.nsid, 3, bound_to));
    for at in 0..24 {
        let write = meldsim_command {
            opcode: MELDSIM_WRITE,
            nsid: rig.nsid,
            slba: rig.lbas(at * MIB),
            nlb: rig.lbas(MIB) as u32,
            directive,
            dsm,
            ..sized()
        };
        // SAFETY: one command.
        let ticket = unsafe { meldsim_submit_batch(rig.handle, &write, 1, MELDSIM_DETACHED) };
        assert_eq!(ticket, 0, "{}", last_error());
    }
    let flush = meldsim_submit(rig.handle, MELDSIM_FLUSH, rig.nsid, 0, 0, 0, 0);
    assert!(
        meldsim_wait(rig.handle, flush, FOREVER) > 0,
        "{}",
        last_error()
    );
    rig.read(0, 24 * MIB);
    rig.stat("melded_reads")
}

#[test]
fn every_encoding_of_sequential_reads_melds() {
    let stream = MELDSIM_DIRECTIVE_STREAM | 3;
    assert_eq!(melded_reads(MELDSIM_DIRECTIVE_NONE, 0, 0), 0);
    assert_eq!(melded_reads(stream, 0, 0), 0);
    for (directive, dsm, bound_to) in [
        (MELDSIM_DIRECTIVE_SEQUENTIAL, 0, 0),
        (MELDSIM_DIRECTIVE_NONE, MELDSIM_DSM_SEQUENTIAL_READS, 0),
        (stream, 0, MELDSIM_DIRECTIVE_SEQUENTIAL),
    ] {
        let melded = melded_reads(directive, dsm, bound_to);
        assert!(
            melded > 1500,
            "{directive:#x} {dsm:#x} {bound_to:#x}: {melded}"
        );
    }
}

#[test]
fn what_no_hint_can_be_is_refused() {
    let rig = Rig::new();
    let bind = |nsid, stream, directive| meldsim_stream_bind(rig.handle, nsid, stream, directive);
    assert_eq!(bind(rig.nsid, 0, 0), MELDSIM_ERR_UNSUPPORTED);
    assert_eq!(bind(rig.nsid, 17, 0), MELDSIM_ERR_UNSUPPORTED);
    assert_eq!(bind(rig.nsid, 1 << 16 | 1, 0), MELDSIM_ERR_UNSUPPORTED);
    assert_eq!(bind(rig.nsid, 1, 0x000F_0007), MELDSIM_ERR_UNSUPPORTED);
    assert_eq!(bind(99, 1, 0), MELDSIM_ERR_NAMESPACE);
    let stream = MELDSIM_DIRECTIVE_STREAM | 17;
    let ticket = meldsim_submit(rig.handle, MELDSIM_WRITE, rig.nsid, 0, 1, stream, 0);
    assert_eq!(ticket, i64::from(MELDSIM_ERR_UNSUPPORTED));
}

/// Pages of the range that hold data, that are buffered, and that are melded.
fn layout(rig: &Rig, offset: u64, bytes: u64) -> [u64; 3] {
    let (slba, nlb) = (rig.lbas(offset), rig.lbas(bytes));
    let mut counts: meldsim_page_counts = sized();
    // SAFETY: its size is set.
    ok(unsafe { meldsim_layout(rig.handle, rig.nsid, slba, nlb, &mut counts) });
    [counts.mapped, counts.buffered, counts.melded]
}

#[test]
fn the_layout_of_a_range_is_as_it_was_placed() {
    let rig = Rig::preloaded(3);
    let page_bytes = info(rig.handle, rig.nsid).page_bytes;
    let pages = 3 * MIB / page_bytes;
    assert_eq!(layout(&rig, 0, 8 * MIB), [pages, 0, pages]);
    assert_eq!(layout(&rig, 4 * MIB, MIB), [0, 0, 0]);
    // Placed anew, as when a hint comes late.
    ok(meldsim_preload(rig.handle, rig.nsid, 0, rig.lbas(MIB), 0));
    assert_eq!(layout(&rig, 0, 8 * MIB), [pages, 0, pages / 3 * 2]);
    ok(meldsim_preload(
        rig.handle,
        rig.nsid,
        0,
        rig.lbas(MIB),
        MELDSIM_DIRECTIVE_SEQUENTIAL,
    ));
    assert_eq!(layout(&rig, 0, 8 * MIB), [pages, 0, pages]);
}

#[test]
fn a_layout_outside_of_the_namespace_is_refused() {
    let rig = Rig::new();
    let before = meldsim_page_counts {
        mapped: 7,
        ..sized()
    };
    let mut counts = before;
    let beyond = rig.lbas(1 << 30);
    // SAFETY: its size is set.
    let status = unsafe { meldsim_layout(rig.handle, rig.nsid, beyond, 1, &mut counts) };
    assert_eq!((status, counts), (MELDSIM_ERR_RANGE, before));
}

// Ranges.

fn range(rig: &Rig, attributes: u32, offset: u64, bytes: u64) -> meldsim_range {
    meldsim_range {
        attributes,
        nlb: rig.lbas(bytes) as u32,
        slba: rig.lbas(offset),
        ..sized()
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

fn location(rig: &Rig, offset: u64) -> meldsim_location {
    let mut location = sized();
    // SAFETY: its size is set.
    ok(unsafe { meldsim_locate(rig.handle, rig.nsid, rig.lbas(offset), &mut location) });
    location
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
    let left = info(rig.handle, rig.nsid).allocated_lbas;
    assert_eq!(left, rig.lbas(2 * MIB), "still there");
    assert_eq!(location(&rig, 0), sized(), "unmapped");
    assert_eq!(location(&rig, MIB).kind, MELDSIM_ON_FLASH);
    assert_eq!(deallocate(&rig, &ranges[..1], MELDSIM_DETACHED), 0);
    assert_eq!(
        deallocate(&rig, &ranges, 8),
        i64::from(MELDSIM_ERR_ARGUMENT)
    );
    assert_eq!(deallocate(&rig, &[], 0), i64::from(MELDSIM_ERR_ARGUMENT));
}

#[test]
fn a_block_is_somewhere() {
    let rig = Rig::preloaded(1);
    // Page q of wordline q div 3, channel by channel.
    let first = meldsim_location {
        kind: MELDSIM_ON_FLASH,
        ..sized()
    };
    assert_eq!(location(&rig, 0), first);
    let fifth = meldsim_location {
        channel: 1,
        page: 1,
        ..first
    };
    assert_eq!(location(&rig, 4 * 4096), fifth);
    assert_eq!(
        rig.submit(MELDSIM_WRITE, 2 * MIB, 4096, MELDSIM_DETACHED),
        0
    );
    assert_eq!(location(&rig, 2 * MIB).kind, MELDSIM_BUFFERED);
    let mut location = sized();
    // SAFETY: its size is set.
    let code = unsafe { meldsim_locate(rig.handle, rig.nsid, 1 << 40, &mut location) };
    assert_eq!((code, location), (MELDSIM_ERR_RANGE, sized()));
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
