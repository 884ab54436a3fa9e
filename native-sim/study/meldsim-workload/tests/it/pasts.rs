//! A skewed past of thin namespaces, which together are larger than the device: each is written in its share.

use crate::common::{Random, drain, small_profile};
use meldsim::device::Aging;
use meldsim::profile::SetLayout;
use meldsim::{Command, Device, Directive, NamespaceId, Profile, Stats};
use meldsim_workload::{Job, Past, ReadWrite, Runner};
use std::ops::ControlFlow;

const PAGE: u64 = 4096;
const SKEW: &str = "fill=100,random=100,skew=zoned:90/10:10/90";

fn profile() -> Profile {
    let mut profile = small_profile();
    profile.geometry.blocks_per_plane = 400;
    profile.ftl.over_provisioning_percent = 20;
    profile
}

/// A device with that past, and namespaces of so many bytes.
fn used(profile: &Profile, sizes: &[u64], past: &str) -> (Device, Vec<NamespaceId>) {
    let mut device = Device::new(profile).unwrap();
    let namespaces = sizes.iter().map(|&bytes| device.create_namespace(bytes));
    let namespaces = namespaces.collect::<Result<_, _>>().unwrap();
    past.parse::<Past>().unwrap().befall(&mut device).unwrap();
    (device, namespaces)
}

#[test]
fn a_past_says_how_far_it_is() {
    let mut profile = profile();
    profile.geometry.blocks_per_plane *= 16;
    let job = Job {
        rw: ReadWrite::RandWrite,
        size_bytes: Device::new(&profile).unwrap().stats().capacity_pages * PAGE,
        ..Job::new("job")
    };
    let runner = Runner::new(&profile, &[job]).unwrap();
    let mut told = Vec::new();
    let past: Past = SKEW.parse().unwrap();
    let runner = runner.precondition_until(&past, |aging| {
        told.push((aging.pages, aging.passes));
        ControlFlow::Continue(())
    });
    runner.unwrap();
    assert_eq!(told[0], (0, 0), "before anything is done");
    assert!(told.is_sorted() && told.len() > 1, "{told:?}");
    assert!(told.iter().all(|(_, passes)| *passes < Aging::MOST_PASSES));
}

/// What the device does in so many writes to the first pages of namespaces: 90 % go to the first 10 % of them.
fn overwritten(
    device: &mut Device,
    of: &[(NamespaceId, u64)],
    random: &mut Random,
    writes: u64,
) -> Stats {
    let before = device.stats();
    for _ in 0..writes {
        let all = of.iter().map(|(_, pages)| pages).sum();
        let ticket = random.below(all);
        let (nsid, pages) = of[usize::from(ticket >= of[0].1)];
        let page = match random.below(100) < 90 {
            true => random.below(pages / 10),
            false => pages / 10 + random.below(pages - pages / 10),
        };
        let write = Command::write(nsid, page, 1, Directive::NONE, 0);
        device.submit(&write).unwrap();
        if device.outstanding() == 16 {
            drain(device);
        }
    }
    drain(device);
    device.stats().since(&before)
}

#[test]
fn a_namespace_beyond_the_device_has_the_past_of_one_as_large_as_it() {
    let profile = profile();
    let capacity = Device::new(&profile).unwrap().stats().capacity_pages;
    for past in [SKEW, "fill=90,random=60,skew=zipf:0.9"] {
        let [thin, exact] = [1 << 46, capacity * PAGE].map(|bytes| {
            let (mut device, of) = used(&profile, &[bytes], past);
            let places: Vec<_> = (0..capacity)
                .map(|page| device.locate(of[0], page).unwrap())
                .collect();
            let stats = overwritten(&mut device, &[(of[0], capacity / 2)], &mut Random(7), 2000);
            (places, stats)
        });
        assert_eq!(thin, exact, "{past}");
    }
}

/// Of writes like those of the past, the first and those long after see the same device; after a uniform past not.
#[test]
fn a_skewed_past_is_steady_for_skewed_writes() {
    let profile = profile();
    // Two of three parts are the first one's.
    let sizes = [1 << 41, 1 << 40];
    let amplified = |past: &str| {
        let (mut device, of) = used(&profile, &sizes, past);
        let capacity = device.stats().capacity_pages;
        assert!(capacity - device.stats().mapped_pages < 8);
        let shares = of.iter().map(|&nsid| device.share_lbas(nsid).unwrap());
        let shares: Vec<u64> = shares.collect();
        assert_eq!(shares, [capacity * 2 / 3, capacity / 3]);
        let of: Vec<_> = of.into_iter().zip(shares).collect();
        let mut random = Random(7);
        let mut amplified = |writes| {
            let stats = overwritten(&mut device, &of, &mut random, writes);
            stats.write_amplification().unwrap()
        };
        amplified(capacity / 2) / amplified(3 * capacity)
    };
    let (skewed, uniform) = (amplified(SKEW), amplified("fill=100,random=100"));
    assert!((skewed - 1.0).abs() < 0.03, "{skewed} after a skew");
    assert!(uniform < 0.97, "{uniform}");
    // The same again, to the last digit.
    assert_eq!(amplified(SKEW).to_bits(), skewed.to_bits());
}

#[test]
fn each_set_is_shared_by_its_own() {
    let mut profile = profile();
    profile.sets.layout = SetLayout::Vertical;
    profile.sets.count = 2;
    let mut device = Device::new(&profile).unwrap();
    let of_set = |set| device.create_namespace_in(set, 1 << 40).unwrap();
    let of: Vec<NamespaceId> = [0, 0, 1].map(of_set).into();
    let capacity = device.stats().capacity_pages / 2;
    let shares = of.iter().map(|&nsid| device.share_lbas(nsid).unwrap());
    assert_eq!(
        shares.collect::<Vec<_>>(),
        [capacity / 2, capacity / 2, capacity]
    );
    assert_eq!(device.share_lbas(NamespaceId(9)), None);
    SKEW.parse::<Past>().unwrap().befall(&mut device).unwrap();
    let mapped = device.stats().mapped_pages;
    assert!(2 * capacity - mapped < 8, "{mapped} of {}", 2 * capacity);
}
