//! The two published tables, through the whole device.

#![allow(clippy::unwrap_used)]

mod common;

use common::{SEQUENTIAL, burst, burst_mib_s, published_profile};
use meldsim::profile::{Arbitration, ByteSize, TransferRate};
use meldsim::{Directive, Profile};

fn rows(text: &'static str) -> impl Iterator<Item = Vec<u64>> {
    text.lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .map(|line| {
            line.split(',')
                .map(|cell| cell.parse().expect("a number"))
                .collect()
        })
}

fn latency_rows() -> impl Iterator<Item = Vec<u64>> {
    rows(include_str!("../data/melded_latency_8x8.csv"))
}

fn throughput_rows() -> impl Iterator<Item = Vec<u64>> {
    rows(include_str!("../data/melded_throughput_8x8.csv"))
}

fn with_bus(page_bytes: u64, bus_mts: u64, bus_bits: u64) -> Profile {
    let mut profile = published_profile();
    profile.geometry.page_size = ByteSize(page_bytes);
    profile.bus.rate = TransferRate(bus_mts);
    profile.bus.width_bits = bus_bits as u32;
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
fn throughput_error(change: impl Fn(&mut Profile)) -> f64 {
    let mut worst = 0f64;
    for row in throughput_rows() {
        let mut profile = with_bus(row[0], row[1], row[2]);
        change(&mut profile);
        for (directive, published) in [(Directive::NONE, row[3]), (SEQUENTIAL, row[4])] {
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
fn every_throughput_is_within_0_15_percent() {
    assert_eq!(throughput_rows().count(), 8);
    let worst = throughput_error(|_| {});
    assert!(worst <= 0.0015, "{worst}");
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
