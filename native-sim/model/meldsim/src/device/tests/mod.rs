//! Devices of every kind under random commands, against naive models.

mod power_cuts;
mod profiles;
mod reach;
mod reads;
mod timeline;
pub(super) mod zone;

use proptest::prelude::*;

use super::Device;
use crate::engine::Duration;
use crate::nvme::{Directive, NamespaceId, Pattern};
use crate::profile::Profile;

/// Pages of each of the two namespaces: together more than the device holds.
const PAGES: u64 = 480;
const NAMESPACES: [NamespaceId; 2] = [NamespaceId(1), NamespaceId(2)];
/// Streams that are written: more than some of the devices can keep apart.
const STREAMS: u16 = 4;
/// The last of them is said to be read sequentially.
const SEQUENTIAL_STREAM: u16 = STREAMS;

/// Consecutive pages of a namespace.
#[derive(Clone, Copy, Debug)]
struct Range {
    nsid: NamespaceId,
    slba: u64,
    nlb: u32,
}

impl Range {
    fn pages(self) -> impl Iterator<Item = (NamespaceId, u64)> {
        (self.slba..self.slba + u64::from(self.nlb)).map(move |page| (self.nsid, page))
    }
}

fn range() -> impl Strategy<Value = Range> {
    let nlb = prop_oneof![1..8u32, 1..120u32];
    (prop::sample::select(NAMESPACES.to_vec()), 0..PAGES, nlb).prop_map(|(nsid, slba, nlb)| Range {
        nsid,
        slba,
        nlb: nlb.min((PAGES - slba) as u32),
    })
}

/// What a write says about its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hint {
    Random,
    Sequential,
    Stream(u16),
}

impl Hint {
    fn directive(self) -> Directive {
        match self {
            Hint::Random => Directive::read_pattern(Pattern::Random),
            Hint::Sequential => Directive::read_pattern(Pattern::Sequential),
            Hint::Stream(stream) => Directive::stream_of(stream),
        }
    }

    fn is_sequential(self) -> bool {
        matches!(self, Hint::Sequential | Hint::Stream(SEQUENTIAL_STREAM))
    }
}

fn hint() -> impl Strategy<Value = Hint> {
    prop_oneof![
        2 => Just(Hint::Random),
        2 => Just(Hint::Sequential),
        1 => (1..=STREAMS).prop_map(Hint::Stream),
    ]
}

/// A device with the two namespaces: in the first set, and in one that shares its channels if any does.
fn device(profile: &Profile) -> Device {
    let mut device = Device::new(profile).unwrap();
    let neighbour = profile.sets.channel_groups % profile.sets.count;
    for set in [0, neighbour] {
        device.create_namespace_in(set, PAGES * 4096).unwrap();
    }
    bind_stream(&mut device);
    device
}

fn bind_stream(device: &mut Device) {
    for nsid in NAMESPACES {
        let bound = device.bind_stream(nsid, SEQUENTIAL_STREAM, Pattern::Sequential);
        bound.unwrap();
    }
}

fn advance(device: &mut Device, us: u64) {
    let until = device.now() + Duration::from_us(us);
    device.advance_to(until);
    assert_eq!(device.now(), until);
}

/// Runs everything. That it ends at all is part of the tests.
fn come_to_rest(device: &mut Device) {
    let mut events = 0;
    while let Some(time) = device.next_event() {
        device.advance_to(time);
        events += 1;
        assert!(events < 1_000_000, "the device does not come to rest");
    }
}

/// What is current where is what a naive count comes to.
fn audit(device: &Device) {
    for ftl in device.ftls() {
        ftl.audit();
    }
}

/// Pages of the namespaces that hold data, and those of them that are melded: each namespace counts what lies there.
fn mapped_pages(device: &Device) -> (u64, u64) {
    let (mut mapped, mut melded) = (0, 0);
    for nsid in NAMESPACES {
        let counted = device.namespace_stats(nsid).unwrap();
        let layout = device.layout(nsid, 0, PAGES).unwrap();
        let there = (layout.mapped, layout.melded);
        assert_eq!((counted.mapped_pages, counted.melded_mapped_pages), there);
        (mapped, melded) = (mapped + layout.mapped, melded + layout.melded);
    }
    (mapped, melded)
}
