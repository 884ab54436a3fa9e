//! What a write says about how its data will be read, in each encoding of the ABI.

use super::support::*;
use crate::*;

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
            queue: 0,
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
    let mut out = [0; 3];
    // SAFETY: `out` has room for three values.
    let status = unsafe {
        meldsim_layout(
            rig.handle,
            rig.nsid,
            rig.lbas(offset),
            rig.lbas(bytes),
            out.as_mut_ptr(),
            3,
        )
    };
    assert_eq!(status, MELDSIM_LAYOUT_COUNT as i32);
    out
}

#[test]
fn the_layout_of_a_range_is_as_it_was_placed() {
    let rig = Rig::preloaded(3);
    let page_bytes = info(rig.handle, rig.nsid)[2];
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
    let mut out = [7; 3];
    // SAFETY: `out` has room for three values.
    let status = unsafe {
        meldsim_layout(
            rig.handle,
            rig.nsid,
            rig.lbas(1 << 30),
            1,
            out.as_mut_ptr(),
            3,
        )
    };
    assert_eq!(status, MELDSIM_ERR_RANGE);
    assert_eq!(out, [7; 3]);
}
