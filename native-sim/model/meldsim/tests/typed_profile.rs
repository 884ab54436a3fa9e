//! Devices from profiles made in Rust: all of this works without the feature `toml`.

#![allow(clippy::unwrap_used)]

use meldsim::profile::{ByteSize, Kind, Profile, TransferRate};
use meldsim::{Command, Device, Directive, Duration};

fn small_tlc() -> Profile {
    let mut profile = Profile::new("small TLC", Kind::Nand);
    profile.geometry.channels = 2;
    profile.geometry.dies_per_channel = 2;
    profile.geometry.blocks_per_plane = 32;
    profile.geometry.wordlines_per_block = 16;
    profile.geometry.page_size = ByteSize(4 << 10);
    profile.bus.rate = TransferRate(800);
    profile.bus.width_bits = 8;
    profile.timing.read = [58, 78, 95].map(Duration::from_us).to_vec();
    profile.timing.melded_read = Some(Duration::from_us(166));
    profile.timing.program = Duration::from_us(2_500);
    profile.timing.erase = Duration::from_ms(2);
    profile
}

#[test]
fn flash_reads_what_was_written_and_comes_back_from_a_snapshot() {
    let mut device = Device::new(&small_tlc()).unwrap();
    let nsid = device.create_namespace(1 << 20).unwrap();
    let write = Command::write(nsid, 0, 16, Directive::NONE, 0);
    let read = Command::read(nsid, 0, 16, 1);
    for command in [write, read] {
        device.submit(&command).unwrap();
        assert!(device.run_until_completion());
        assert!(device.pop_completion().unwrap().latency() > Duration::ZERO);
    }
    let restored = Device::restore(&device.snapshot().unwrap()).unwrap();
    assert_eq!(restored.profile(), device.profile());
    assert_eq!(restored.stats().mapped_pages, 16);
}

#[test]
fn memory_is_complete_with_its_defaults() {
    let profile = Profile::new("memory", Kind::Xpoint);
    assert_eq!(profile.validate(), Ok(()));
    let mut device = Device::new(&profile).unwrap();
    let nsid = device.create_namespace(1 << 20).unwrap();
    device.submit(&Command::read(nsid, 0, 1, 0)).unwrap();
    assert!(device.run_until_completion());
}

#[test]
fn flash_needs_geometry_bus_and_timing() {
    let errors = Profile::new("nothing", Kind::Nand)
        .validate()
        .unwrap_err()
        .0;
    let keys: Vec<&str> = errors.iter().map(|error| error.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "geometry.channels",
            "geometry.dies_per_channel",
            "geometry.blocks_per_plane",
            "geometry.wordlines_per_block",
            "geometry.page_size",
            "bus.rate",
            "bus.width_bits",
            "timing.read",
            "timing.program",
            "timing.erase",
        ]
    );
}
