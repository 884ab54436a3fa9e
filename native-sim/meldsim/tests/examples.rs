//! The examples run, and show what they say they show.

#![allow(clippy::unwrap_used, dead_code)]

#[path = "../examples/two_devices.rs"]
mod two_devices;

use meldsim::Pattern;

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
