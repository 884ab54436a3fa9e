//! Devices drawn at random, with maps, pasts and jobs: whatever is outstanding completes, and how long nothing does is explained.

use meldsim::device::{Device, Precondition};
use meldsim::engine::{Duration, Instant, Random};
use meldsim::nvme::{Command, Directive, NamespaceId};
use meldsim::policy::pacing::PacingPolicy;
use meldsim::policy::victim::VictimPolicy;
use meldsim::profile::{Allocation, ByteSize, MapKind, MapUpdate, Profile};

/// Those of the tree: other tests register others.
const VICTIMS: [&str; 6] = [
    "greedy",
    "cost-benefit",
    "windowed-greedy",
    "d-choices",
    "fifo",
    "random",
];
const PACING: [&str; 4] = ["credit", "off", "burst", "throttle"];

const PAGE: u64 = 4096;
/// Stripes of a victim that collection is ahead of the host and reads besides, and the one that is next.
const STRIPES: u64 = 4 + 2 + 1;
/// Memory of a device that holds nothing, at most.
const EMPTY_BYTES: u64 = 1 << 20;

fn one_of<T: Copy>(random: &mut Random, values: &[T]) -> T {
    values[random.below(values.len() as u64) as usize]
}

fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

/// A device of up to 64 planes, in which there is room for what is drawn.
fn profile(random: &mut Random) -> Profile {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    let pages = 1 + random.below(4);
    profile.timing.read = (0..pages).map(|page| us(40 + 20 * page)).collect();
    profile.timing.melded_read = None;
    profile.timing.program = us(one_of(random, &[200, 900, 2_000, 6_000]));
    profile.timing.erase = us(one_of(random, &[1_000, 5_000, 15_000]));
    let geometry = &mut profile.geometry;
    geometry.channels = one_of(random, &[1, 2, 4]);
    geometry.dies_per_channel = one_of(random, &[1, 2, 4]);
    geometry.planes_per_die = one_of(random, &[1, 2, 4]);
    geometry.wordlines_per_block = one_of(random, &[4, 16, 48, 96]);
    let subpages = one_of(random, &[1, 1, 4]);
    geometry.page_size = ByteSize(subpages * PAGE);
    let planes = geometry.channels * geometry.dies_per_channel * geometry.planes_per_die;
    let row = u64::from(planes * geometry.wordlines_per_block) * pages * subpages;
    geometry.blocks_per_plane = (60_000 / row).clamp(40, 200) as u32;
    profile.ftl.mapping_unit = ByteSize(if subpages > 1 { PAGE } else { 0 });
    profile.ftl.over_provisioning_percent = one_of(random, &[7, 10, 28]);
    profile.ftl.open_runs = 3;
    if random.below(4) == 0 && subpages == 1 {
        profile.ftl.allocation = Allocation::Static;
    }
    let stripe = u64::from(planes) * pages * subpages;
    let stripes = one_of(random, &[2, 8]);
    profile.controller.write_buffer = ByteSize((stripes * stripe + 16 * pages * subpages) * PAGE);
    profile.controller.reads_before_program = one_of(random, &[1, 32]);
    // Whether it reads ahead, without another draw.
    profile.controller.read_ahead = ByteSize(stripes / 4 * 16 * subpages * PAGE);
    profile.gc.victim = one_of(random, &VICTIMS.map(VictimPolicy::named));
    profile.gc.pacing = one_of(random, &PACING.map(PacingPolicy::named));
    if random.below(2) == 0 {
        (profile.gc.victim, profile.gc.pacing) = Default::default();
        profile.gc.pacing = PacingPolicy::named("credit");
    }
    if random.below(2) == 0 {
        // Hundreds of translation pages, of which few are cached.
        let entries = one_of(random, &[16, 64, 256]);
        profile.ftl.map = MapKind::Cached;
        profile.ftl.map_entry = ByteSize(PAGE / entries);
        profile.ftl.map_line = one_of(random, &[0, 1, 4]);
        profile.ftl.map_update = one_of(random, &[MapUpdate::Batched, MapUpdate::Lazy]);
        profile.ftl.map_cache = ByteSize(one_of(random, &[32 << 10, 256 << 10, 2 << 20]));
        let pages = row * u64::from(profile.geometry.blocks_per_plane);
        let of_map = (pages / 800 + 9) * (1024 / entries);
        profile.geometry.blocks_per_plane += of_map.div_ceil(row) as u32 + 3;
    }
    profile
}

/// What a job does: shares of its commands in percent; the rest are writes.
#[derive(Debug)]
struct Job {
    reads: u64,
    trims: u64,
    flushes: u64,
    most_pages: u64,
    in_order: bool,
    depth: usize,
}

fn job(random: &mut Random) -> Job {
    let is_pure = random.below(2) == 0;
    Job {
        reads: if is_pure { 0 } else { random.below(60) },
        trims: if is_pure { 0 } else { random.below(10) },
        flushes: if is_pure { 0 } else { random.below(10) },
        most_pages: one_of(random, &[1, 1, 4, 32]),
        in_order: random.below(4) == 0,
        depth: one_of(random, &[1, 4, 16, 64, 256]),
    }
}

impl Job {
    fn command(
        &self,
        random: &mut Random,
        nsid: NamespaceId,
        pages: u64,
        next: &mut u64,
    ) -> Command {
        let count = 1 + random.below(self.most_pages.min(pages));
        let page = match self.in_order {
            true => std::mem::replace(next, *next + count) % pages,
            false => random.below(pages),
        };
        let count = count.min(pages - page);
        let kind = random.below(100);
        if kind < self.flushes {
            Command::flush(nsid, 0)
        } else if kind < self.flushes + self.trims {
            let count = if kind % 8 == 0 { pages - page } else { count };
            Command::deallocate(nsid, page, count as u32, 0)
        } else if kind < self.flushes + self.trims + self.reads {
            Command::read(nsid, page, count as u32, 0)
        } else {
            Command::write(nsid, page, count as u32, Directive::NONE, 0)
        }
    }
}

/// How long nothing may complete: on a die the steps of an erase, what is queued there before the host's program, and what is
/// moved for a wordline of the host's, twice the mean; with translation pages as many reads and programs again.
fn explained(profile: &Profile, write_amplification: f64) -> Duration {
    let timing = &profile.timing;
    let pages = timing.read.len() as u64;
    let sense = timing.read[timing.read.len() - 1];
    let step =
        timing.program + sense * pages + us(200 * pages * profile.geometry.page_size.0 / PAGE);
    let moved = (2.0 * write_amplification).ceil() as u64;
    let maps = if profile.ftl.map == MapKind::Cached {
        2
    } else {
        1
    };
    (timing.erase * 2 + step * (STRIPES + moved))
        * u64::from(profile.geometry.planes_per_die)
        * maps
}

/// The longest time in which nothing completes of so many commands, with as many outstanding as the job has. Some are left where
/// the device stands still.
fn longest_silence(
    device: &mut Device,
    job: &Job,
    commands: u64,
    mut next_command: impl FnMut(&mut u64) -> Command,
) -> Duration {
    let (mut next, mut silence, mut last) = (0, Duration::ZERO, Instant::START);
    for _ in 0..commands {
        device.submit(&next_command(&mut next)).unwrap();
        while device.outstanding() >= job.depth && device.run_until_completion() {
            while let Some(done) = device.pop_completion() {
                silence = silence.max(done.completed.saturating_since(last.max(done.submitted)));
                last = done.completed;
            }
        }
        if device.outstanding() >= job.depth {
            return silence;
        }
    }
    while device.run_until_completion() {
        while device.pop_completion().is_some() {}
    }
    silence
}

fn takes_what_was_announced(device: &Device, seed: u64) {
    let capacity = device.stats().capacity_pages * PAGE;
    let (announced, taken) = (device.memory_bytes(capacity), device.memory());
    assert!(
        taken <= announced + EMPTY_BYTES,
        "{seed}: takes {taken} B, {announced} B announced, {:?}",
        device.profile()
    );
}

/// One draw; it panics where something is amiss.
fn draw(seed: u64) {
    let random = &mut Random::new(seed);
    let profile = profile(random);
    let mut device = match Device::new(&profile) {
        Ok(device) => device,
        Err(_) => return, // no device at all
    };
    let capacity = device.stats().capacity_pages;
    let nsid = device.create_namespace(capacity * PAGE).unwrap();
    let fill_percent = one_of(random, &[0, 30, 90, 100]);
    let random_percent = one_of(random, &[0, 100]);
    let past = Precondition {
        fill_percent,
        random_percent,
    };
    device.precondition(&past).unwrap();
    let pages = capacity * u64::from(fill_percent.max(10)) / 100;
    let job = job(random);
    let commands = (4_000 / job.most_pages).max(500);
    let silence = longest_silence(&mut device, &job, commands, |next| {
        job.command(random, nsid, pages, next)
    });
    assert_eq!(
        device.outstanding(),
        0,
        "{seed}: stands still, {job:?} {profile:?}"
    );
    takes_what_was_announced(&device, seed);
    let amplification = device.stats().write_amplification().unwrap_or(1.0);
    // In a steady state of uniform overwrites, of which the mean is known.
    let is_paced = profile.gc.pacing == PacingPolicy::named("credit")
        && profile.gc.victim == VictimPolicy::default()
        && profile.ftl.allocation == Allocation::Dynamic
        && (fill_percent, random_percent, job.most_pages, job.in_order) == (100, 100, 1, false)
        && job.trims + job.flushes == 0;
    let most = explained(&profile, amplification);
    if is_paced {
        assert!(
            silence <= most,
            "{seed}: {silence:?} of silence, {most:?} explained, write amplification {amplification:.1}, {job:?} {past:?} {profile:?}"
        );
    }
}

/// One draw of a device of many planes whose superblocks are so large that erasing one takes long, over some of them: host and
/// collector take turns, and the host waits for two where the collector opens the first. For each there may be on a die an erase of
/// each plane, and what collection is ahead of the host by and the host's own program.
fn draw_of_many_dies(seed: u64) {
    const AHEAD: u64 = 4 + 1;
    let random = &mut Random::new(seed);
    let mut profile = Profile::builtin("enterprise-8tb").unwrap();
    profile.timing.program = us(one_of(random, &[600, 2_000]));
    profile.timing.erase = us(one_of(random, &[3_000, 5_000, 10_000]));
    let geometry = &mut profile.geometry;
    geometry.channels = one_of(random, &[4, 8]);
    geometry.dies_per_channel = one_of(random, &[2, 4]);
    geometry.planes_per_die = one_of(random, &[2, 4]);
    geometry.wordlines_per_block = one_of(random, &[12, 16, 24, 48]);
    geometry.blocks_per_plane = one_of(random, &[48, 60]);
    geometry.page_size = ByteSize(PAGE);
    profile.ftl.over_provisioning_percent = one_of(random, &[7, 10, 20]);
    profile.ftl.open_runs = 3;
    let planes = geometry.channels * geometry.dies_per_channel * geometry.planes_per_die;
    let stripe = 3 * u64::from(planes);
    let superblock = stripe * u64::from(geometry.wordlines_per_block);
    let buffered = 8 * stripe;
    profile.controller.write_buffer = ByteSize(buffered * PAGE);
    profile.controller.capacity = ByteSize(0);
    let mut device = Device::new(&profile).unwrap();
    let pages = device.stats().capacity_pages;
    let nsid = device.create_namespace(pages * PAGE).unwrap();
    let past = "fill=100,random=100".parse().unwrap();
    device.precondition(&past).unwrap();
    let job = Job {
        reads: 0,
        trims: 0,
        flushes: 0,
        most_pages: 1,
        in_order: false,
        depth: 128,
    };
    // Past the buffer, which takes the first ones at once.
    let commands = buffered + 4 * superblock;
    let silence = longest_silence(&mut device, &job, commands, |next| {
        job.command(random, nsid, pages, next)
    });
    assert_eq!(device.outstanding(), 0, "{seed}: stands still, {profile:?}");
    takes_what_was_announced(&device, seed);
    let timing = &profile.timing;
    let sense = timing.read[timing.read.len() - 1];
    let most = (timing.erase + (timing.program + sense * 3) * AHEAD)
        * (2 * u64::from(profile.geometry.planes_per_die));
    assert!(
        silence <= most,
        "{seed}: {silence:?} of silence, {most:?} explained, {profile:?}"
    );
}

#[test]
fn random_devices_go_on() {
    (0..60).for_each(draw);
}

#[test]
fn erasing_a_superblock_stops_nobody() {
    (0..12).for_each(draw_of_many_dies);
}

#[test]
#[ignore = "takes minutes; release/check.sh runs it"]
fn two_thousand_random_devices_go_on() {
    (0..2_000).for_each(draw);
    (0..100).for_each(draw_of_many_dies);
}
