//! Streams: data of one is kept together, apart from that of others.

#![allow(clippy::unwrap_used)]

mod common;

use common::{device, drain, published_profile};
use meldsim::{Command, Device, Directive, Location, NamespaceId, Profile};

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
