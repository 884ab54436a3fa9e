//! Four encodings of a read pattern, down to the layout on flash.

#![allow(clippy::unwrap_used)]

mod common;

use common::{SEQUENTIAL, device, drain};
use meldsim::nvme::wire::io::{DsmByte, DsmRange};
use meldsim::{Command, Device, Directive, NamespaceId, Pattern, Profile};

const LBAS: u32 = 300;
const SEQUENTIAL_BYTE: DsmByte = DsmByte::new(DsmByte::AF_READ_MOSTLY, 0, true);
const RANDOM: Directive = Directive::read_pattern(Pattern::Random);

fn new_device() -> (Device, NamespaceId) {
    device(&Profile::builtin("melded-tlc-8x8").unwrap())
}

fn sequential_range(slba: u64, length: u32) -> DsmRange {
    DsmRange {
        attributes: DsmRange::attributes_of(3, 0, true, false, false, 32),
        length,
        slba,
    }
}

/// Pages in the melded layout once `command` is on flash.
fn melded(device: &mut Device, command: &Command) -> u64 {
    device.submit(command).unwrap();
    device.submit(&Command::flush(command.nsid, 0)).unwrap();
    drain(device);
    device.stats().melded_mapped_pages
}

#[test]
fn each_encoding_melds() {
    let all = u64::from(LBAS);
    let (mut device, nsid) = new_device();
    let write = Command::write(nsid, 0, LBAS, Directive::NONE, 0);
    assert_eq!(melded(&mut device, &write), 0, "no hint");
    let directive = Command {
        directive: SEQUENTIAL,
        ..write
    };
    assert_eq!(melded(&mut device, &directive), all);

    let (mut device, nsid) = new_device();
    device.describe(nsid, &sequential_range(0, LBAS)).unwrap();
    assert_eq!(melded(&mut device, &write), all);

    let (mut device, _) = new_device();
    assert_eq!(melded(&mut device, &write.with_dsm(SEQUENTIAL_BYTE)), all);

    let (mut device, nsid) = new_device();
    device.bind_stream(nsid, 3, Pattern::Sequential).unwrap();
    let stream = Command {
        directive: Directive::stream_of(3),
        ..write
    };
    assert_eq!(melded(&mut device, &stream), all);
    device.bind_stream(nsid, 3, Pattern::None).unwrap();
    assert_eq!(melded(&mut device, &stream), 0);
}

#[test]
fn a_stronger_encoding_overrules() {
    let (mut device, nsid) = new_device();
    device.describe(nsid, &sequential_range(0, LBAS)).unwrap();
    let write = Command::write(nsid, 0, LBAS, RANDOM, 0);
    assert_eq!(melded(&mut device, &write.with_dsm(SEQUENTIAL_BYTE)), 0);
}

#[test]
fn a_range_speaks_for_the_writes_it_covers_until_it_is_deallocated() {
    let (mut device, nsid) = new_device();
    device.describe(nsid, &sequential_range(0, LBAS)).unwrap();
    let write = Command::write(nsid, 0, LBAS, Directive::NONE, 0);
    let beyond = Command { slba: 1, ..write };
    assert_eq!(melded(&mut device, &beyond), 0);
    assert_eq!(melded(&mut device, &write), u64::from(LBAS));
    device
        .submit(&Command::deallocate(nsid, 0, LBAS + 1, 0))
        .unwrap();
    assert_eq!(melded(&mut device, &write), 0);
}

#[test]
fn preloaded_data_obey_ranges_and_streams() {
    let (mut device, nsid) = new_device();
    device.describe(nsid, &sequential_range(0, LBAS)).unwrap();
    let lbas = u64::from(LBAS);
    device.preload(nsid, 0, lbas, Directive::NONE).unwrap();
    assert_eq!(device.stats().melded_mapped_pages, lbas);
}

#[test]
fn descriptions_outside_the_namespace_are_refused() {
    let (mut device, nsid) = new_device();
    assert!(
        device
            .describe(nsid, &sequential_range(u64::MAX, 2))
            .is_err()
    );
    assert!(
        device
            .describe(nsid, &sequential_range(1 << 28, 1))
            .is_err()
    );
    assert!(
        device
            .describe(NamespaceId(2), &sequential_range(0, 1))
            .is_err()
    );
    assert!(
        device
            .describe(nsid, &sequential_range(u64::MAX, 0))
            .is_ok()
    );
    assert!(device.bind_stream(nsid, 0, Pattern::Random).is_err());
    assert!(
        device
            .bind_stream(NamespaceId(9), 1, Pattern::Random)
            .is_err()
    );
    assert_eq!(device.bound_streams(nsid).unwrap().len(), 17);
}
