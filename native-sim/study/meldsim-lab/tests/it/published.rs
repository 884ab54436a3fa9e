//! The two published tables, through the whole device.

use crate::common::{SEQUENTIAL, burst, burst_mib_s, published_profile};
use meldsim::profile::{Arbitration, ByteSize, TransferRate};
use meldsim::{Directive, Profile};

/// The whole numbers with which each row begins.
fn rows(text: &'static str) -> impl Iterator<Item = Vec<u64>> {
    text.lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .map(|line| {
            line.split(',')
                .map_while(|cell| cell.parse().ok())
                .collect()
        })
}

fn latency_rows() -> impl Iterator<Item = Vec<u64>> {
    rows(include_str!("../../data/melded_latency_8x8.csv"))
}

fn throughput_rows() -> impl Iterator<Item = Vec<u64>> {
    rows(include_str!("../../data/melded_throughput.csv"))
}

/// The device of a row: channels, dies, bytes of a page, transfers and bits of the bus.
fn device_of(row: &[u64]) -> Profile {
    let mut profile = published_profile();
    profile.geometry.channels = row[0] as u32;
    profile.geometry.dies_per_channel = row[1] as u32;
    profile.geometry.page_size = ByteSize(row[2]);
    profile.bus.rate = TransferRate(row[3]);
    profile.bus.width_bits = row[4] as u32;
    let lba_bytes = profile.controller.lba_size.0.min(row[2]);
    profile.controller.lba_size = ByteSize(lba_bytes);
    profile
}

/// Published and simulated cells of the latency table that differ.
fn latency_misses(profile: &Profile) -> usize {
    let mut misses = 0;
    for row in latency_rows() {
        let normal = burst(profile, row[0], Directive::NONE).as_us();
        let melded = burst(profile, row[0], SEQUENTIAL).as_us();
        misses += usize::from(normal != row[1]) + usize::from(melded != row[2]);
    }
    misses
}

/// The largest relative error of the throughput table.
fn throughput_error() -> f64 {
    let mut worst = 0f64;
    for row in throughput_rows() {
        let profile = device_of(&row);
        for (directive, published) in [(Directive::NONE, row[5]), (SEQUENTIAL, row[6])] {
            let error = burst_mib_s(&profile, directive) / published as f64 - 1.0;
            worst = worst.max(error.abs());
        }
    }
    worst
}

#[test]
fn every_latency_is_exact() {
    assert_eq!(latency_rows().count(), 16);
    assert_eq!(latency_misses(&published_profile()), 0);
}

#[test]
fn every_throughput_is_within_0_1_percent() {
    assert_eq!(throughput_rows().count(), 32);
    let worst = throughput_error();
    assert!(worst <= 0.001, "{worst}");
}

#[test]
fn data_before_commands_misses_the_tables() {
    let mut profile = published_profile();
    profile.bus.arbitration = Arbitration::DataFirst;
    assert!(
        latency_misses(&profile) >= 8,
        "{}",
        latency_misses(&profile)
    );
}

#[test]
fn way_first_striping_misses_the_tables() {
    let mut profile = published_profile();
    profile.ftl.page_allocation = "WCDP".parse().unwrap();
    assert!(
        latency_misses(&profile) >= 6,
        "{}",
        latency_misses(&profile)
    );
}

#[test]
fn a_melded_4_kib_read_moves_the_whole_wordline() {
    assert_eq!(burst(&published_profile(), 4096, SEQUENTIAL).as_us(), 183);
}
