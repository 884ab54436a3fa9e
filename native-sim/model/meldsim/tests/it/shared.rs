//! What NVM sets share: the write buffer, where it is global, and the controller's DRAM.

use crate::common::{Random, burst_mib_s, drain, small_profile};
use meldsim::profile::{BufferScope, ByteSize, DataRate, SetLayout};
use meldsim::{Command, Device, Directive, Duration, NamespaceId, Profile};

/// Two vertical sets.
fn sets(scope: BufferScope) -> Profile {
    let mut profile = small_profile();
    profile.sets.layout = SetLayout::Vertical;
    profile.sets.count = 2;
    profile.sets.write_buffer = scope;
    profile
}

/// A device with a namespace in each set, and its logical blocks.
fn device(profile: &Profile) -> (Device, [NamespaceId; 2], u64) {
    let mut device = Device::new(profile).unwrap();
    let bytes = device.set_capacity_bytes(0) * 9 / 10 / 4096 * 4096;
    let nsids = [0, 1].map(|set| device.create_namespace_in(set, bytes).unwrap());
    let lbas = device.namespace(nsids[0]).unwrap().size_lbas;
    (device, nsids, lbas)
}

/// How long a page of the second set's takes when the first set's writer has filled what it can.
fn light_write(scope: BufferScope) -> Duration {
    let profile = sets(scope);
    let (mut device, [heavy, light], lbas) = device(&profile);
    let pages = 2 * profile.controller.write_buffer.0 / profile.mapping_unit().0;
    for page in 0..pages {
        let write = Command::write(heavy, page % lbas, 1, Directive::NONE, 1);
        device.submit(&write).unwrap();
    }
    let write = Command::write(light, 0, 1, Directive::NONE, 0);
    device.submit(&write).unwrap();
    loop {
        assert!(device.run_until_completion());
        while let Some(completion) = device.pop_completion() {
            if completion.tag == 0 {
                let latency = completion.latency();
                drain(&mut device);
                return latency;
            }
        }
    }
}

#[test]
fn a_writer_fills_its_own_part_of_the_buffer_or_all_of_it() {
    let latency = small_profile().controller.latency;
    assert_eq!(light_write(BufferScope::Local), latency);
    let program = small_profile().timing.program;
    let global = light_write(BufferScope::Global);
    // A program of the other set's has to end first.
    assert!(global >= latency + program, "{global}");
}

/// Writes, flushes, deallocations and reads of both sets at random. Returns what the device did.
fn churn(profile: &Profile, seed: u64) -> (Device, [NamespaceId; 2], Vec<(u64, Duration)>) {
    let (mut device, nsids, lbas) = device(profile);
    let mut random = Random(seed);
    let mut done = Vec::new();
    for tag in 0..6000 {
        // Mostly of one set, so that the other often has nothing on its way.
        let nsid = nsids[usize::from(random.below(8) == 0)];
        let nlb = 1 + random.below(12);
        let slba = random.below(lbas - nlb);
        let command = match random.below(40) {
            0 => Command::flush(nsid, tag),
            1 => Command::deallocate(nsid, slba, nlb as u32, tag),
            2..=7 => Command::read(nsid, slba, nlb as u32, tag),
            _ => Command::write(nsid, slba, nlb as u32, Directive::NONE, tag),
        };
        device.submit(&command).unwrap();
        while device.outstanding() >= 32 {
            assert!(device.run_until_completion(), "nothing goes on");
            while let Some(completion) = device.pop_completion() {
                done.push((completion.tag, completion.latency()));
            }
        }
    }
    while device.run_until_completion() {
        while let Some(completion) = device.pop_completion() {
            done.push((completion.tag, completion.latency()));
        }
    }
    assert_eq!(device.outstanding(), 0, "nothing goes on");
    (device, nsids, done)
}

#[test]
fn a_shared_buffer_never_stands_still_and_repeats() {
    for (seed, is_small, write_cache) in [
        (1, false, true),
        (2, true, true),
        (3, true, false),
        (4, false, false),
    ] {
        let mut profile = sets(BufferScope::Global);
        profile.controller.write_cache = write_cache;
        if is_small {
            // The smallest that the profile may have.
            let smallest = |kib: &u64| {
                let mut profile = profile.clone();
                profile.controller.write_buffer = ByteSize(kib << 10);
                profile.validate().is_ok()
            };
            let kib = (1..4096).map(|step| 16 * step).find(smallest).unwrap();
            profile.controller.write_buffer = ByteSize(kib << 10);
        }
        let (.., once) = churn(&profile, seed);
        let (.., again) = churn(&profile, seed);
        assert_eq!(once, again);
        assert_eq!(once.len(), 6000);
    }
}

#[test]
fn a_power_cut_keeps_what_a_shared_buffer_holds() {
    let profile = sets(BufferScope::Global);
    let (mut device, [heavy, _], _) = device(&profile);
    // More than half of the buffer is one set's.
    let pages = profile.controller.write_buffer.0 / profile.mapping_unit().0 * 3 / 4;
    for page in 0..pages {
        let write = Command::write(heavy, page, 1, Directive::NONE, page);
        device.submit(&write).unwrap();
    }
    for _ in 0..pages {
        assert!(device.run_until_completion());
        while device.pop_completion().is_some() {}
    }
    let mut restored = Device::restore(&device.snapshot().unwrap()).unwrap();
    assert_eq!(restored.stats().mapped_pages, pages);
    let write = Command::write(heavy, 0, 1, Directive::NONE, 0);
    restored.submit(&write).unwrap();
    drain(&mut restored);
}

#[test]
fn data_go_through_the_dram_twice() {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    let unlimited = burst_mib_s(&profile, Directive::NONE);
    profile.controller.dram_rate = DataRate(1000 * 1_000_000_000);
    let ample = burst_mib_s(&profile, Directive::NONE);
    assert!((ample / unlimited - 1.0).abs() < 0.001, "{ample}");
    profile.controller.dram_rate = DataRate(2_000_000_000);
    let limited = burst_mib_s(&profile, Directive::NONE) * f64::from(1 << 20) / 1e9;
    assert!((limited / 1.0 - 1.0).abs() < 0.01, "{limited}");
}

#[test]
fn a_writer_of_another_set_delays_a_read_in_the_dram() {
    let mut profile = sets(BufferScope::Local);
    let latencies = |profile: &Profile, is_beside: bool| {
        let (mut device, [writer, reader], lbas) = device(profile);
        device.preload(reader, 0, lbas, Directive::NONE).unwrap();
        if is_beside {
            let write = Command::write(writer, 0, 32, Directive::NONE, 1);
            device.submit(&write).unwrap();
        }
        device.submit(&Command::read(reader, 0, 1, 0)).unwrap();
        loop {
            assert!(device.run_until_completion());
            while let Some(completion) = device.pop_completion() {
                if completion.tag == 0 {
                    return completion.latency();
                }
            }
        }
    };
    assert_eq!(latencies(&profile, true), latencies(&profile, false));
    profile.controller.dram_rate = DataRate(100_000_000);
    assert!(latencies(&profile, true) > latencies(&profile, false));
}

/// Write amplification of both sets under random overwrites, when their namespaces take so much of their capacity, and that of
/// the closed form.
fn amplifications(percent: [u64; 2]) -> [(f64, f64); 2] {
    let mut profile = sets(BufferScope::Local);
    profile.geometry.blocks_per_plane = 100;
    let mut device = Device::new(&profile).unwrap();
    let capacity = device.set_capacity_bytes(0) / 4096;
    let lbas = percent.map(|percent| capacity * percent / 100);
    let nsids = [0, 1].map(|set| {
        let bytes = lbas[set as usize] * 4096;
        device.create_namespace_in(set, bytes).unwrap()
    });
    let mut random = Random(7);
    let mut before = None;
    // Filled in order, then overwritten: five times to settle, five times that count.
    for round in 0..11 {
        for page in 0..capacity {
            for (nsid, lbas) in nsids.into_iter().zip(lbas) {
                let lba = match round {
                    0 => page.min(lbas - 1),
                    _ => random.below(lbas),
                };
                device
                    .submit(&Command::write(nsid, lba, 1, Directive::NONE, 0))
                    .unwrap();
            }
            if device.outstanding() >= 32 {
                drain(&mut device);
            }
        }
        drain(&mut device);
        if round == 5 {
            before = Some([0, 1].map(|set| device.set_info(set).unwrap()));
        }
    }
    let before = before.unwrap();
    [0, 1].map(|set| {
        let now = device.set_info(set).unwrap();
        let was = before[set as usize];
        let host = now.host_pages_programmed - was.host_pages_programmed;
        let moved = now.gc_pages_moved - was.gc_pages_moved;
        let closed_form = device.uniform_write_amplification(set).unwrap();
        (1.0 + moved as f64 / host as f64, closed_form)
    })
}

/// What a namespace leaves of its set is that set's over-provisioning, and no other's.
#[test]
fn a_smaller_namespace_leaves_its_set_more_over_provisioning() {
    let [(roomy, roomy_closed), full] = amplifications([70, 95]);
    assert!(roomy < 0.7 * full.0, "{roomy} {full:?}");
    for (measured, closed_form) in [(roomy, roomy_closed), full] {
        assert!(
            (measured / closed_form - 1.0).abs() < 0.2,
            "{measured} {closed_form}"
        );
    }
    let [_, beside_full] = amplifications([95, 95]);
    assert!(
        (beside_full.0 / full.0 - 1.0).abs() < 0.1,
        "{beside_full:?} {full:?}"
    );
}
