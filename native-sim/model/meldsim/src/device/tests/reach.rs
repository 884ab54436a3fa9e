//! What random devices come to: a test of collection is none when nothing is collected.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::profiles::profile;
use super::{power_cuts, reads};
use crate::device::Device;
use crate::profile::{Profile, SetLayout};

/// Cases of each test that are looked at.
const CASES: usize = 192;

/// How often each of these things happened.
const THINGS: [&str; 8] = [
    "pages moved",
    "background collections",
    "levelling collections",
    "pages laid out anew",
    "copybacks",
    "streams kept apart",
    "write-backs",
    "translation pages read",
];

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reached([u64; THINGS.len()]);

impl Reached {
    /// What happened to a device since it was built.
    pub(super) fn add(&mut self, device: &Device) {
        let stats = device.stats();
        let streams = device.ftls().into_iter().map(|ftl| ftl.streams_used());
        let counts = [
            stats.gc_pages_moved,
            stats.gc_background_collections,
            stats.gc_levelling_collections,
            stats.gc_pages_relaid,
            stats.copybacks,
            streams.sum(),
            stats.map_write_backs,
            stats.map_pages_read,
        ];
        self.sum(Reached(counts));
    }

    fn sum(&mut self, more: Reached) {
        for (sum, count) in self.0.iter_mut().zip(more.0) {
            *sum += count;
        }
    }
}

/// What the cases of a test come to, and the layouts under which pages are moved.
fn reached_by<S: std::fmt::Debug>(
    step: impl Strategy<Value = S>,
    run: fn(&Profile, &[S]) -> Reached,
) -> (Reached, Vec<SetLayout>) {
    let mut runner = TestRunner::deterministic();
    let case = (profile(), prop::collection::vec(step, 60..100));
    let (mut sum, mut layouts) = (Reached::default(), Vec::new());
    for _ in 0..CASES {
        let (profile, steps) = case.new_tree(&mut runner).unwrap().current();
        let reached = run(&profile, &steps);
        sum.sum(reached);
        if reached.0[0] > 0 && !layouts.contains(&profile.sets.layout) {
            layouts.push(profile.sets.layout);
        }
    }
    (sum, layouts)
}

#[test]
fn random_devices_come_to_everything() {
    for (reached, layouts) in [
        reached_by(reads::step(), reads::run),
        reached_by(power_cuts::step(), power_cuts::run),
    ] {
        for (thing, count) in THINGS.iter().zip(reached.0) {
            assert!(count > 0, "no {thing}: {reached:?}");
        }
        assert_eq!(layouts.len(), 4, "{layouts:?}");
    }
}
