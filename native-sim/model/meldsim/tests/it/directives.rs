//! Directives: four encodings of a read pattern, down to the layout on flash; and streams, whose data are kept
//! together, apart from those of others.

use crate::common::{SEQUENTIAL, device, drain, published_profile};
use meldsim::nvme::wire::io::{DsmByte, DsmRange};
use meldsim::{Command, Device, Directive, Location, NamespaceId, Pattern, Profile};

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

/// Pages of two rows of wordlines on every die.
const PAGES: u64 = 384;

fn block_of(device: &Device, nsid: NamespaceId, lba: u64) -> u32 {
    match device.locate(nsid, lba).unwrap() {
        Location::Flash { block, .. } => block,
        other => panic!("{lba} is {other:?}"),
    }
}

/// Writes the pages to both streams in turn.
fn write(device: &mut Device, nsid: NamespaceId, streams: [u16; 2]) {
    for page in 0..PAGES {
        let hint = Directive::stream_of(streams[page as usize % 2]);
        let write = Command::write(nsid, page, 1, hint, 0);
        device.submit(&write).unwrap();
    }
}

/// The blocks that the two streams are in, on every die.
fn blocks(device: &mut Device, nsid: NamespaceId) -> [u32; 2] {
    device.submit(&Command::flush(nsid, 0)).unwrap();
    drain(device);
    let blocks = [0, 1].map(|first| block_of(device, nsid, first));
    for page in 0..PAGES {
        let expected = blocks[page as usize % 2];
        assert_eq!(block_of(device, nsid, page), expected);
    }
    blocks
}

/// A device with room for one stream's blocks besides those of no stream.
fn profile_for_one_stream() -> Profile {
    let mut profile = published_profile();
    profile.geometry.blocks_per_plane = 100;
    profile.ftl.over_provisioning_percent = 9;
    profile
}

#[test]
fn each_stream_has_blocks_of_its_own() {
    for (streams, count) in [([0, 0], 1), ([1, 2], 2), ([0, 16], 2)] {
        let (mut device, nsid) = device(&published_profile());
        write(&mut device, nsid, streams);
        let [even, odd] = blocks(&mut device, nsid);
        assert_eq!(even != odd, count == 2, "{streams:?}");
    }
}

#[test]
fn buffered_pages_stay_in_their_streams_across_a_power_cut() {
    for (streams, count) in [([1, 2], 2), ([3, 3], 1)] {
        let (mut device, nsid) = device(&published_profile());
        write(&mut device, nsid, streams);
        let mut device = Device::restore(&device.snapshot().unwrap()).unwrap();
        assert_eq!(device.locate(nsid, 0).unwrap(), Location::Buffered);
        let [even, odd] = blocks(&mut device, nsid);
        assert_eq!(even != odd, count == 2, "{streams:?}");
    }
}

#[test]
fn a_released_stream_leaves_its_room_to_another() {
    for is_cut in [false, true] {
        let (mut device, nsid) = device(&profile_for_one_stream());
        write(&mut device, nsid, [0, 1]);
        let [first, second] = blocks(&mut device, nsid);
        assert_ne!(first, second);
        if is_cut {
            device = Device::restore(&device.snapshot().unwrap()).unwrap();
        }
        write(&mut device, nsid, [0, 2]);
        let [even, odd] = blocks(&mut device, nsid);
        assert_eq!(
            even, odd,
            "stream 1 has all the room, after a power cut too"
        );
        device.release_stream(nsid, 1).unwrap();
        write(&mut device, nsid, [0, 2]);
        let [even, odd] = blocks(&mut device, nsid);
        assert_ne!(even, odd);
        assert_ne!(odd, second, "the block of stream 1 is closed");
        // Another is a stream again only when that one is released.
        write(&mut device, nsid, [0, 1]);
        let [even, odd] = blocks(&mut device, nsid);
        assert_eq!(even, odd);
    }
}

#[test]
fn releasing_programs_what_the_stream_gathers() {
    let (mut device, nsid) = device(&published_profile());
    let write = |page, stream| Command::write(nsid, page, 1, Directive::stream_of(stream), 0);
    device.submit(&write(0, 1)).unwrap();
    device.submit(&write(1, 2)).unwrap();
    drain(&mut device);
    device.release_stream(nsid, 1).unwrap();
    drain(&mut device);
    block_of(&device, nsid, 0);
    assert_eq!(device.locate(nsid, 1).unwrap(), Location::Buffered);
    assert_eq!(device.stats().padded_pages, 2, "the rest of a wordline");
    for stream in [0, 17] {
        assert!(device.release_stream(nsid, stream).is_err(), "{stream}");
    }
    assert!(device.release_stream(NamespaceId(9), 1).is_err());
}
