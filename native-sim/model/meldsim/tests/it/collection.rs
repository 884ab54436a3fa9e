//! Garbage collection and wear levelling: each option changes the result as it should.

use crate::common::{Random, SEQUENTIAL, device, drain, small_profile};
use meldsim::nvme::Window;
use meldsim::nvme::wire::sets::PredictableLatencyConfig;
use meldsim::policy::wear::WearPolicy;
use meldsim::profile::{Allocation, ByteSize, Profile};
use meldsim::{Command, Device, Directive, Duration, NamespaceId, Precondition, Stats, Status};

/// A device of 100 superblocks of 96 pages.
fn profile() -> Profile {
    let mut profile = small_profile();
    profile.geometry.blocks_per_plane = 100;
    profile.geometry.wordlines_per_block = 8;
    profile.ftl.over_provisioning_percent = 15;
    profile
}

/// Keeps a few writes of one page outstanding.
fn write_pages(device: &mut Device, nsid: NamespaceId, pages: impl Iterator<Item = u64>) {
    for page in pages {
        let write = Command::write(nsid, page, 1, Directive::NONE, 0);
        device.submit(&write).unwrap();
        while device.outstanding() >= 16 {
            assert!(device.run_until_completion());
            while let Some(done) = device.pop_completion() {
                assert_eq!(done.status, Status::SUCCESS);
            }
        }
    }
}

/// Fills the device and overwrites it: nine writes of ten go to a tenth of the pages.
fn skewed(profile: &Profile, times: u64) -> Stats {
    let (mut device, nsid) = device(profile);
    let pages = device.stats().capacity_pages;
    write_pages(&mut device, nsid, 0..pages);
    let mut random = Random(7);
    let mut skewed = |_| match random.below(10) {
        0 => random.below(pages),
        _ => random.below(pages / 10),
    };
    write_pages(&mut device, nsid, (0..pages * times).map(&mut skewed));
    let before = device.stats();
    write_pages(&mut device, nsid, (0..pages * times).map(&mut skewed));
    drain(&mut device);
    let after = device.stats();
    assert_eq!(after.mapped_pages, pages);
    after.since(&before)
}

#[test]
fn policies_differ_as_they_should_when_some_data_is_hot() {
    let amplification = |victim: &str, window| {
        let mut profile = profile();
        profile.gc.victim = victim.parse().unwrap();
        profile.gc.window = window;
        skewed(&profile, 10).write_amplification().unwrap()
    };
    let greedy = amplification("greedy", 64);
    let cost_benefit = amplification("cost-benefit", 64);
    let first_closed = amplification("windowed-greedy", 1);
    let window = amplification("windowed-greedy", 20);
    let all = amplification("windowed-greedy", 1000);
    // Collecting by age alone moves cold data round and round; age and use together beat use alone.
    assert!(first_closed > 1.2 * greedy, "{first_closed} {greedy}");
    assert!(cost_benefit < 0.95 * greedy, "{cost_benefit} {greedy}");
    assert!(first_closed > window && window != greedy, "{window}");
    assert_eq!(all, greedy);
}

#[test]
fn wear_levelling_keeps_erase_counts_together() {
    let wear = |levelling, threshold| {
        let mut profile = profile();
        profile.gc.wear_levelling = levelling;
        profile.gc.wear_threshold = threshold;
        let (mut device, nsid) = device(&profile);
        // Most data never changes, and lies apart from what does.
        let pages = device.stats().capacity_pages;
        write_pages(&mut device, nsid, 0..pages);
        let mut random = Random(3);
        let hot = (0..pages * 30).map(|_| random.below(pages / 20));
        write_pages(&mut device, nsid, hot);
        drain(&mut device);
        device.stats()
    };
    let none = wear(WearPolicy::named("none"), 10);
    let dynamic = wear(WearPolicy::named("dynamic"), 10);
    let fixed = wear(WearPolicy::named("static"), 10);
    let spread = |stats: &Stats| stats.most_erases - stats.least_erases;
    // Blocks of cold data are never erased unless it is moved; lowest number first wears few blocks.
    assert_eq!((none.least_erases, dynamic.least_erases), (0, 0));
    assert!(spread(&none) > spread(&dynamic) + 10);
    assert!(spread(&fixed) <= 13, "{}", spread(&fixed));
    assert_eq!(dynamic.gc_levelling_collections, 0);
    assert!(fixed.gc_levelling_collections > 0);
    // A wider threshold moves less.
    let wide = wear(WearPolicy::named("static"), 40);
    assert!(spread(&wide) > spread(&fixed) && spread(&wide) <= 44);
    assert!(wide.gc_levelling_collections < fixed.gc_levelling_collections);
    let amplification = [&dynamic, &wide, &fixed].map(|stats| stats.write_amplification().unwrap());
    assert!(
        amplification.is_sorted() && amplification[2] < 2.5,
        "{amplification:?}"
    );
}

/// A device in use, left alone for a while.
fn left_alone(background: bool, idle: Duration, rest: Duration) -> (Device, NamespaceId) {
    let mut profile = profile();
    profile.gc.background = background;
    profile.gc.background_idle = idle;
    profile.gc.background_free_percent = 12;
    let (mut device, nsid) = device(&profile);
    let pages = device.stats().capacity_pages * 4 / 5;
    write_pages(&mut device, nsid, 0..pages);
    let mut random = Random(5);
    write_pages(
        &mut device,
        nsid,
        (0..pages * 3).map(|_| random.below(pages)),
    );
    while device.outstanding() > 0 {
        device.run_until_completion();
        while device.pop_completion().is_some() {}
    }
    device.advance_to(device.now() + rest);
    (device, nsid)
}

#[test]
fn background_collection_makes_room_while_the_host_rests() {
    let (idle, rest) = (Duration::from_ms(5), Duration::from_ms(4000));
    let (busy, _) = left_alone(false, idle, rest);
    let (mut rested, nsid) = left_alone(true, idle, rest);
    assert_eq!(busy.stats().gc_background_collections, 0);
    let stats = rested.stats();
    assert!(stats.gc_background_collections > 0);
    assert!(stats.free_blocks >= 12 * 4 && stats.free_blocks > busy.stats().free_blocks);
    // It comes to an end by itself.
    drain(&mut rested);
    assert_eq!(rested.next_event(), None);
    // Not before the threshold, and the host's return ends it.
    let (early, _) = left_alone(true, Duration::from_ms(9000), rest);
    assert_eq!(early.stats().gc_background_collections, 0);
    let before = rested.stats().gc_background_collections;
    write_pages(&mut rested, nsid, 0..500);
    assert_eq!(rested.stats().gc_background_collections, before);
}

#[test]
fn a_rested_device_takes_a_burst_faster() {
    let burst = |background| {
        let (mut device, nsid) =
            left_alone(background, Duration::from_ms(5), Duration::from_ms(4000));
        let started = device.now();
        let moved = device.stats().gc_pages_moved;
        let mut random = Random(11);
        let pages = device.stats().mapped_pages;
        write_pages(&mut device, nsid, (0..600).map(|_| random.below(pages)));
        (
            device.now() - started,
            device.stats().gc_pages_moved - moved,
        )
    };
    let (tired, moved) = burst(false);
    let (rested, moved_after_rest) = burst(true);
    assert!(moved > 0 && moved_after_rest < moved / 2);
    assert!(rested < tired, "{rested:?} {tired:?}");
}

#[test]
fn a_deterministic_window_holds_collection_back_until_all_would_stop() {
    let moved = |deterministic, writes| {
        let (mut device, nsid) = left_alone(true, Duration::from_ms(5), Duration::from_ms(4000));
        let config = PredictableLatencyConfig::default();
        device.configure_windows(0, true, config).unwrap();
        device.advance_to(device.now() + Duration::from_ms(1000)); // earns a window
        device.enter_window(0, deterministic).unwrap();
        let before = device.stats();
        let pages = before.mapped_pages;
        let mut random = Random(13);
        write_pages(&mut device, nsid, (0..writes).map(|_| random.below(pages)));
        let during = device.stats().gc_pages_moved - before.gc_pages_moved;
        let (window, _) = device.window(0).unwrap();
        drain(&mut device);
        (during, window, device.stats())
    };
    // As much as the free groups take: without the promise some is collected early.
    assert_eq!(moved(true, 1040).0, 0);
    assert!(moved(false, 1040).0 > 0);
    // A host that writes more is served all the same.
    let (during, window, stats) = moved(true, 2000);
    assert!(during > 0);
    assert_eq!(window, Window::NonDeterministic);
    assert_eq!(stats.failed_commands, 0);
}

/// The valid share of a block when it is collected: (1 - u) / -ln u is the utilisation.
fn closed_form(utilisation: f64) -> f64 {
    let (mut low, mut high) = (0.0f64, 1.0f64);
    for _ in 0..60 {
        let u = (low + high) / 2.0;
        if (1.0 - u) / -libm::log(u) < utilisation {
            low = u;
        } else {
            high = u;
        }
    }
    low
}

#[test]
fn preconditioning_is_followed_by_steady_state() {
    for (allocation, fill_percent) in [
        (Allocation::Dynamic, 70),
        (Allocation::Dynamic, 100),
        (Allocation::Static, 100),
    ] {
        let mut profile = profile();
        profile.ftl.allocation = allocation;
        profile.gc.victim = "windowed-greedy".parse().unwrap();
        profile.gc.window = 1; // by age: what the closed form describes
        // Many blocks and few pages on their way: what is open or buffered hardly counts.
        profile.geometry.wordlines_per_block = 4;
        profile.geometry.blocks_per_plane = 1000;
        profile.controller.write_buffer = ByteSize(224 << 10);
        let mut device = Device::new(&profile).unwrap();
        let capacity = device.stats().capacity_pages;
        let nsid = device.create_namespace(capacity * 4096).unwrap();
        let precondition = Precondition {
            fill_percent,
            random_percent: 100,
        };
        device.precondition(&precondition).unwrap();
        let pages = device.stats().mapped_pages;
        assert!(capacity * u64::from(fill_percent) / 100 - pages < 4);
        let mut random = Random(1);
        let mut amplification = |times: u64| {
            let before = device.stats();
            let writes = (0..pages * times / 4).map(|_| random.below(pages));
            write_pages(&mut device, nsid, writes);
            device.stats().since(&before).write_amplification().unwrap()
        };
        // Blocks that hold data: all but the free ones, and half of the two that are open.
        let utilisation = pages as f64 / ((1000 - 4 - 1) * 48) as f64;
        let expected = 1.0 / (1.0 - closed_form(utilisation));
        let first = amplification(1);
        let later = amplification(3);
        assert!(
            (first / expected - 1.0).abs() < 0.06,
            "{first} for {expected}"
        );
        assert!(
            (later / expected - 1.0).abs() < 0.04,
            "{later} for {expected}"
        );
    }
}

#[test]
fn preconditioning_fills_what_it_says() {
    let mut device = Device::new(&profile()).unwrap();
    let capacity = device.stats().capacity_pages;
    let large = device.create_namespace(1 << 40).unwrap();
    let small = device.create_namespace(4096 * 100).unwrap();
    device.preload(large, 5, 10, SEQUENTIAL).unwrap();
    let precondition: Precondition = "fill=50,random=25".parse().unwrap();
    device.precondition(&precondition).unwrap();
    // The namespaces share the device by their sizes.
    let stats = device.stats();
    assert!(
        capacity / 2 - stats.mapped_pages < 2,
        "{}",
        stats.mapped_pages
    );
    assert_eq!(stats.melded_mapped_pages, 0);
    assert_eq!((stats.programs, stats.now_ps), (0, 0));
    let read = Command::read(small, 0, 1, 0);
    device.submit(&read).unwrap();
    assert!(device.precondition(&precondition).is_err());
    drain(&mut device);
    assert!(device.precondition(&precondition).is_ok());
}

#[test]
fn copyback_moves_whole_wordlines_off_the_bus() {
    let run = |copyback| {
        let mut profile = profile();
        profile.ftl.allocation = Allocation::Static;
        profile.commands.copyback = copyback;
        skewed(&profile, 10)
    };
    let (with, without) = (run(true), run(false));
    assert_eq!(without.copybacks, 0);
    assert!(with.copybacks > 1000, "{}", with.copybacks);
    for stats in [&with, &without] {
        // Some are overwritten while they move: they are read, or even programmed, for nothing.
        let lost = stats.gc_pages_read - stats.gc_pages_moved;
        assert!(lost < stats.gc_pages_moved / 10, "{lost}");
        let programmed = stats.gc_pages_programmed as f64 / stats.gc_pages_moved as f64;
        assert!((0.9..1.1).contains(&programmed), "{programmed}");
        assert_eq!((stats.host_pages_read, stats.padded_pages), (0, 0));
        let made_of = stats.programmed();
        let all = made_of.host_bytes + made_of.collection_bytes;
        assert_eq!((stats.programmed_bytes, made_of.total()), (all, all));
    }
    let busy = |stats: &Stats| stats.channel_busy_ps as f64 / stats.gc_pages_moved as f64;
    assert!(
        busy(&with) < 0.9 * busy(&without),
        "{} {}",
        busy(&with),
        busy(&without)
    );
    // The dies bound this device: what a copy saves is the bus.
    let time = with.now_ps as f64 / without.now_ps as f64;
    assert!((0.95..1.05).contains(&time), "{time}");
}

#[test]
fn collection_melds_what_is_read_sequentially_and_unmelds_what_is_not() {
    // Fills the device, reads it in one way, and overwrites half of it, so that the rest moves.
    let melded_share = |relayout, before: Directive, sequential| {
        let mut profile = profile();
        profile.gc.relayout = relayout;
        let (mut device, nsid) = device(&profile);
        let pages = device.stats().capacity_pages;
        device.preload(nsid, 0, pages, before).unwrap();
        let mut random = Random(5);
        for n in 0..pages {
            let read = match sequential {
                true if n % 64 != 0 => continue,
                true => Command::read(nsid, n, 64.min(pages - n) as u32, 0),
                false => Command::read(nsid, random.below(pages), 1, 0),
            };
            device.submit(&read).unwrap();
            drain(&mut device);
        }
        for round in [0, 1, 2, 3, 0, 1] {
            let some = (0..pages).filter(|page| page / 8 % 8 == round);
            write_pages(&mut device, nsid, some);
        }
        drain(&mut device);
        let stats = device.stats();
        assert_eq!(stats.mapped_pages, pages);
        (
            stats.melded_mapped_pages as f64 / pages as f64,
            stats.gc_pages_relaid,
        )
    };
    assert_eq!(melded_share(false, Directive::NONE, true), (0.0, 0));
    let (share, relaid) = melded_share(true, Directive::NONE, true);
    assert!(share > 0.05 && relaid > 0, "{share} {relaid}");
    assert_eq!(melded_share(true, Directive::NONE, false), (0.0, 0));
    let (kept, _) = melded_share(false, SEQUENTIAL, false);
    let (left, relaid) = melded_share(true, SEQUENTIAL, false);
    assert!(left < kept && relaid > 0, "{left} {kept} {relaid}");
}
