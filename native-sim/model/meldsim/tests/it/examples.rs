//! The examples run, and show what they say they show.

#![allow(dead_code, reason = "the examples are programs of their own")]

#[path = "../../examples/noisy_neighbor.rs"]
mod noisy_neighbor;
#[path = "../../examples/two_devices.rs"]
mod two_devices;

use meldsim::profile::SetLayout;
use meldsim::{Command, Device, Directive, Pattern, Profile};

#[test]
fn a_stripe_over_two_devices_is_faster_than_one() {
    let table = two_devices::table(Pattern::Sequential).unwrap();
    assert_eq!(table, two_devices::table(Pattern::Sequential).unwrap());
    for line in table.lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [one, both] = [2, 4].map(|at| words[at].parse::<f64>().unwrap());
        assert!(both < 0.7 * one, "{line}");
    }
    two_devices::main().unwrap();
}

#[test]
fn a_reader_in_a_set_of_its_own_does_not_notice_the_writer() {
    let p99_us = |layout, with_writer| {
        let latencies = noisy_neighbor::reader_latencies(layout, with_writer).unwrap();
        latencies.percentile(0.99).as_us()
    };
    let [alone, beside] = [false, true].map(|writer| p99_us(SetLayout::Vertical, writer));
    assert_eq!(alone, beside);
    let shared = p99_us(SetLayout::Baseline, true);
    assert!(shared > 5 * beside, "{shared} {beside}");
}

#[test]
fn a_device_can_be_sent_to_another_thread() {
    let profile = Profile::builtin("melded-tlc-8x8").unwrap();
    let (mut here, mut there) = [0, 1].map(|_| Device::new(&profile).unwrap()).into();
    let read = |device: &mut Device| {
        let nsid = device.create_namespace(1 << 30).unwrap();
        device.preload(nsid, 0, 64, Directive::NONE).unwrap();
        device.submit(&Command::read(nsid, 0, 64, 0)).unwrap();
        device.run_until_completion();
        device.stats()
    };
    let elsewhere = std::thread::scope(|scope| scope.spawn(|| read(&mut there)).join().unwrap());
    assert_eq!(elsewhere, read(&mut here));
}
