//! A cached mapping against closed forms. Namespaces fill whole rows of flash, so that all dies and kinds of pages hold as many
//! translation pages as data pages each.

use meldsim::device::{Device, Precondition, Stats};
use meldsim::engine::Random;
use meldsim::nvme::{Command, Directive, NamespaceId};
use meldsim::profile::{ByteSize, MapKind, MapUpdate, Profile};

/// Entries of a translation page, which are cached one by one.
const ENTRIES: u64 = 64;

/// A device of melded-tlc-8x8's flash, but so many channels and dies on each, with a mapping that is whole.
fn profile(channels: u32, dies: u32) -> Profile {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.geometry.channels = channels;
    profile.geometry.dies_per_channel = dies;
    profile.geometry.wordlines_per_block = 32;
    profile
}

/// A device, its namespace, all of which holds data, and what draws pages of it.
struct Cached {
    device: Device,
    nsid: NamespaceId,
    pages: u64,
    random: Random,
    /// Of each page the share of commands on it and the pages before; none: uniform.
    popularity: Vec<f64>,
}

impl Cached {
    /// `rows` of translation pages. `cached`: the share of entries that is cached, and which go to flash; none: all are at hand.
    fn new(mut profile: Profile, rows: u64, cached: Option<(f64, MapUpdate)>) -> Cached {
        let geometry = &profile.geometry;
        let row = 3 * u64::from(geometry.channels * geometry.dies_per_channel);
        let pages = rows * row * ENTRIES;
        if let Some((share, update)) = cached {
            profile.ftl.map = MapKind::Cached;
            profile.ftl.map_entry = ByteSize(4096 / ENTRIES);
            profile.ftl.map_line = 1;
            profile.ftl.map_update = update;
            let line = 4096 / ENTRIES + 4; // with what says which one it is
            profile.ftl.map_cache = ByteSize((share * pages as f64) as u64 * line);
        }
        let mut device = Device::new(&profile).unwrap();
        let nsid = device.create_namespace(pages * 4096).unwrap();
        device.preload(nsid, 0, pages, Directive::NONE).unwrap();
        let random = Random::new(3);
        Cached {
            device,
            nsid,
            pages,
            random,
            popularity: Vec::new(),
        }
    }

    fn page(&mut self) -> u64 {
        if self.popularity.is_empty() {
            return self.random.below(self.pages);
        }
        let drawn = self.random.below(1 << 52) as f64 / (1_u64 << 52) as f64;
        self.popularity.partition_point(|&share| share <= drawn) as u64
    }

    /// So many commands for each page, `depth` at a time. What they counted, and how long they took in seconds.
    fn run(&mut self, per_page: f64, depth: usize, writes: f64) -> (Stats, f64) {
        let (before, begin) = (self.device.stats(), self.device.now());
        for _ in 0..(per_page * self.pages as f64) as u64 {
            let page = self.page();
            let command = match (self.random.below(1000) as f64) < 1000.0 * writes {
                true => Command::write(self.nsid, page, 1, Directive::NONE, 0),
                false => Command::read(self.nsid, page, 1, 0),
            };
            self.device.submit(&command).unwrap();
            while self.device.outstanding() >= depth && self.device.run_until_completion() {
                while self.device.pop_completion().is_some() {}
            }
        }
        while self.device.run_until_completion() {
            while self.device.pop_completion().is_some() {}
        }
        let seconds = (self.device.now() - begin).as_ps() as f64 / 1e12;
        (self.device.stats().since(&before), seconds)
    }
}

fn assert_near(what: &str, value: f64, form: f64) {
    let error = value / form - 1.0;
    println!("{what}: {value:.5} for {form:.5}, {:+.2} %", 100.0 * error);
    assert!(error.abs() < 0.03, "{what}: {value} for {form}");
}

/// Microseconds.
fn latency(stats: &Stats) -> f64 {
    stats.read_latency_ps as f64 / stats.read_commands as f64 / 1e6
}

#[test]
fn uniform_reads_hit_the_share_that_is_cached_and_wait_for_the_rest() {
    let profile = profile(8, 8);
    let mut table = Cached::new(profile.clone(), 3, None);
    let (whole, _) = table.run(0.3, 1, 0.0);
    let (busy, seconds) = table.run(0.5, 64, 0.0);
    assert_eq!(busy.map_lookups, 0);
    let reads_of_flash = busy.read_commands as f64 / seconds;
    for share in [0.25, 0.5, 0.75] {
        let mut cached = Cached::new(profile.clone(), 3, Some((share, MapUpdate::Batched)));
        cached.run(1.5, 64, 0.0); // fills the cache
        let (stats, _) = cached.run(0.3, 1, 0.0);
        assert_eq!(stats.map_lookups, stats.read_commands);
        assert_eq!(stats.map_pages_read, stats.map_misses);
        let missed = stats.map_misses as f64 / stats.map_lookups as f64;
        assert_near("hit share", 1.0 - missed, share);
        // A miss is another read of flash.
        let form = latency(&whole) * (2.0 - share);
        assert_near("latency", latency(&stats), form);
        // Many at a time: the dies read as many pages a second as they do of data alone. Commands that miss entries of one
        // translation page share its read.
        let (stats, seconds) = cached.run(0.5, 64, 0.0);
        let read = (stats.read_commands + stats.map_pages_read) as f64;
        assert!(stats.map_pages_read <= stats.map_misses);
        assert_near("reads a second", read / seconds, reads_of_flash);
    }
}

/// The hit share of an LRU cache of so many entries, of which these shares of the references are. Che's approximation: an entry
/// leaves that was not referenced for t, the same t for all; as many are cached as there is room for.
fn che(shares: &[f64], capacity: f64) -> f64 {
    let cached = |share: f64, t: f64| 1.0 - libm::exp(-share * t);
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..100 {
        let t = (low + high) / 2.0;
        match shares.iter().map(|&share| cached(share, t)).sum::<f64>() < capacity {
            true => low = t,
            false => high = t,
        }
    }
    shares.iter().map(|&share| share * cached(share, low)).sum()
}

#[test]
fn popular_pages_hit_by_ches_approximation() {
    for (exponent, share) in [(0.8, 0.1), (1.0, 0.1), (1.0, 0.4), (1.2, 0.02)] {
        let mut device = Cached::new(profile(2, 2), 24, Some((share, MapUpdate::Batched)));
        let weight = |rank| libm::pow(f64::from(rank), -exponent);
        let weights: Vec<f64> = (1..=device.pages as u32).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        let running = shares.iter().scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        });
        device.popularity = running.collect();
        *device.popularity.last_mut().unwrap() = 1.0;
        device.run(3.0, 8, 0.0);
        let (stats, _) = device.run(3.0, 8, 0.0);
        let hits = 1.0 - stats.map_misses as f64 / stats.map_lookups as f64;
        let entries = (share * device.pages as f64).floor();
        let what = format!("hit share, zipf {exponent} of {share}");
        assert_near(&what, hits, che(&shares, entries));
    }
}

/// The share of evicted entries that were changed, of a cache with a share `h` of the entries, when a share `p` of uniform
/// commands writes and a write-back leaves changed what of its translation page is cached: of the references to an entry
/// between its coming and its going, one at least is a write.
fn written_back_lazily(h: f64, p: f64) -> f64 {
    p / (1.0 - h * (1.0 - p))
}

/// The same when a write-back takes along all that has changed of a translation page of `n` entries.
///
/// Time is counted in commands for each page, so that an entry is referenced at rate 1. LRU evicts what was not referenced
/// for t = -ln(1 - h) (Che's approximation). At time 0 all entries of a translation page are written. What is evicted before
/// t was last referenced before 0, and has not changed. Of references at y > 0, a share 1 - h is the last before an
/// eviction, at y + t. By then the entry has changed if it was written after 0 and while it was cached:
/// `d(y) = p + (1 - p) ∫ exp(-g) d(y - g) dg`, over the gaps g to the reference before, up to y or t. So the first eviction
/// that writes comes after t + y with the hazard `n (1 - h) d(y)`, while `n (1 - h)` entries a unit of time are evicted.
fn written_back_in_batches(h: f64, p: f64, n: f64) -> f64 {
    const STEP: f64 = 1e-3;
    let t = -libm::log(1.0 - h);
    let (mut changed, mut none_yet, mut mean) = (Vec::<f64>::new(), 1.0, t);
    while none_yet > 1e-6 {
        let gaps = changed.iter().rev().zip(1..);
        let before: f64 = gaps
            .map(|(d, gap)| (f64::from(gap) * STEP, d))
            .take_while(|(gap, _)| *gap < t)
            .map(|(gap, d)| STEP * libm::exp(-gap) * d)
            .sum();
        let d = p + (1.0 - p) * before;
        changed.push(d);
        mean += STEP * none_yet;
        none_yet *= libm::exp(-STEP * n * (1.0 - h) * d);
    }
    1.0 / (mean * n * (1.0 - h))
}

/// On few dies, one command at a time: a write is programmed, and so changes its entry, soon after it was accepted. There is
/// room for all that is written, so that no collection changes entries.
#[test]
fn evictions_are_written_back_by_the_closed_forms() {
    for update in [MapUpdate::Lazy, MapUpdate::Batched] {
        for (h, p) in [(0.5, 0.1), (0.5, 0.3), (0.75, 0.2)] {
            let mut device = Cached::new(profile(2, 2), 24, Some((h, update)));
            device.run(6.0, 1, p);
            let (stats, _) = device.run(8.0, 1, p);
            let form = match update {
                MapUpdate::Lazy => written_back_lazily(h, p),
                _ => written_back_in_batches(h, p, ENTRIES as f64),
            };
            let written = stats.map_write_backs as f64 / stats.map_evictions as f64;
            assert_eq!(stats.gc_pages_programmed, 0);
            assert_near(&format!("{update:?} {h} {p}"), written, form);
            // Each takes a translation page of its own, but for those that meet in the write buffer.
            let (programs, written) = (stats.map_pages_programmed, stats.map_write_backs);
            assert_near("programs", programs as f64, written as f64);
        }
    }
}

/// The host can fill a device and go on overwriting it: translation pages take no room of its own.
#[test]
fn a_full_device_has_room_for_all_its_translation_pages() {
    let mut profile = profile(2, 2);
    profile.geometry.blocks_per_plane = 40;
    profile.ftl.map = MapKind::Cached;
    profile.ftl.map_entry = ByteSize(4096 / ENTRIES);
    profile.ftl.map_cache = ByteSize(64 << 10);
    let mut device = Device::new(&profile).unwrap();
    let pages = device.stats().capacity_pages;
    let nsid = device.create_namespace(pages * 4096).unwrap();
    device.preload(nsid, 0, pages, Directive::NONE).unwrap();
    let mut full = Cached {
        device,
        nsid,
        pages,
        random: Random::new(5),
        popularity: Vec::new(),
    };
    let (stats, _) = full.run(4.0, 8, 1.0);
    assert_eq!(stats.write_commands, 4 * pages);
    assert_eq!(full.device.stats().mapped_pages, pages);
    assert!(stats.gc_pages_programmed > 0 && stats.map_pages_programmed > pages / ENTRIES);
}

/// Writes that change entries of translation pages of which nothing is on flash, so that nothing is on its way that would lead
/// to these; and then all of it is trimmed while many of them are due.
#[test]
fn translation_pages_are_written_though_nothing_is_on_its_way() {
    let mut device = Cached::new(profile(2, 2), 24, Some((0.01, MapUpdate::Batched)));
    let nsid = device.nsid;
    let (all, device) = (device.pages, &mut device.device);
    let run = |device: &mut Device, command: Command| {
        device.submit(&command).unwrap();
        assert!(device.run_until_completion(), "nothing will happen");
        device.pop_completion().unwrap();
    };
    run(device, Command::deallocate(nsid, 0, all as u32, 0));
    for round in 0..3 {
        for page in (round..all).step_by(ENTRIES as usize) {
            run(device, Command::write(nsid, page, 1, Directive::NONE, 0));
        }
        run(device, Command::flush(nsid, 0));
    }
    run(device, Command::deallocate(nsid, 0, all as u32, 0));
    assert_eq!(device.stats().mapped_pages, 0);
    run(device, Command::write(nsid, 0, 1, Directive::NONE, 0));
}

/// Whole translation pages are cached, few of them: each page that is programmed, written or moved, changes another one, of so
/// many that those that are due at a time hardly count. They are collected in superblocks of their own. The past is computed,
/// and the device goes on as it says.
#[test]
fn uniform_overwrites_come_to_the_closed_form_of_data_and_translation_pages() {
    for (blocks, spare, depth) in [(200, 10, 1), (200, 10, 32), (300, 25, 8)] {
        let mut profile = profile(4, 4);
        profile.geometry.blocks_per_plane = blocks;
        profile.ftl.over_provisioning_percent = spare;
        profile.controller.write_buffer = ByteSize(1 << 20);
        profile.ftl.open_runs = 3;
        profile.ftl.map = MapKind::Cached;
        profile.ftl.map_entry = ByteSize(4096 / ENTRIES);
        profile.ftl.map_cache = ByteSize(64 << 10);
        let mut device = Device::new(&profile).unwrap();
        let pages = device.stats().capacity_pages;
        let nsid = device.create_namespace(pages * 4096).unwrap();
        let past = Precondition {
            fill_percent: 100,
            random_percent: 100,
        };
        device.precondition(&past).unwrap();
        let form = device.uniform_write_amplification(0).unwrap();
        let (random, popularity) = (Random::new(7), Vec::new());
        let mut steady = Cached {
            device,
            nsid,
            pages,
            random,
            popularity,
        };
        for (part, within) in [(0.25, 0.1), (0.75, 0.05)] {
            let (stats, _) = steady.run(part, depth, 1.0);
            let value = stats.write_amplification().unwrap();
            println!("{blocks} {spare} {depth}: {value:.3} for {form:.3}");
            let error = (value / form - 1.0).abs();
            assert!(error < within, "{blocks}, {depth}: {value} for {form}");
        }
    }
}
