//! Victim policies beside a plain log that has nothing else of a device: no time and no reverse map.

use std::collections::VecDeque;

use crate::common::{Random, drain, small_profile};
use meldsim::policy::placement::PlacementPolicy;
use meldsim::policy::wear::WearPolicy;
use meldsim::profile::{ByteSize, Profile};
use meldsim::{Command, Device, Directive, Precondition, Stats};

/// Groups of blocks, and the pages of each.
const GROUPS: usize = 400;
const PAGES: usize = 48;
/// Groups that are kept free, the rests of the two that are being filled among them.
const ROOM: usize = 3;
const WINDOW: usize = 64;
/// Pages of the write buffer: what they held before is out of date already.
const BUFFER: usize = 56;

/// Numbers of pages: so many percent of the draws are of as many percent of the pages as are left.
fn draws(skew: u64, pages: u64, seed: u64) -> impl Iterator<Item = u64> {
    let hot = pages * (100 - skew) / 100;
    let mut random = Random(seed);
    std::iter::repeat_with(move || match random.below(100) < skew {
        true => random.below(hot),
        false => hot + random.below(pages - hot),
    })
}

const NONE: usize = usize::MAX;

/// Blocks that are filled in turn by the host and by collection.
struct Log {
    policy: &'static str,
    /// By page its position, and by position its page.
    at: Vec<usize>,
    holds: Vec<usize>,
    /// By block: pages that are current, and when it was filled. An open or free one has no time.
    valid: Vec<usize>,
    closed: Vec<Option<usize>>,
    free: Vec<usize>,
    buffered: VecDeque<usize>,
    /// The next position of the host, and of collection.
    next: [usize; 2],
    written: usize,
    moved: usize,
    /// Pages that the last victim freed.
    freed: usize,
}

impl Log {
    fn new(policy: &'static str, pages: usize) -> Log {
        Log {
            policy,
            at: vec![NONE; pages],
            holds: vec![NONE; GROUPS * PAGES],
            valid: vec![0; GROUPS],
            closed: vec![None; GROUPS],
            free: (2..GROUPS).collect(),
            buffered: VecDeque::new(),
            next: [0, PAGES],
            written: 0,
            moved: 0,
            freed: 0,
        }
    }

    fn forget(&mut self, page: usize) {
        let before = std::mem::replace(&mut self.at[page], NONE);
        if before != NONE {
            self.holds[before] = NONE;
            self.valid[before / PAGES] -= 1;
        }
    }

    fn place(&mut self, page: usize, by: usize) {
        self.forget(page);
        self.at[page] = self.next[by];
        let block = self.next[by] / PAGES;
        self.holds[self.next[by]] = page;
        self.valid[block] += 1;
        self.written += 1;
        self.next[by] += 1;
        if self.next[by] % PAGES == 0 {
            self.closed[block] = Some(self.written);
            self.next[by] = self.free.pop().unwrap() * PAGES;
        }
    }

    fn victim(&self) -> usize {
        let gains = (0..GROUPS).filter(|&block| self.valid[block] < PAGES);
        let closed = gains.filter_map(|block| Some((self.closed[block]?, block)));
        let mut closed: Vec<(usize, usize)> = closed.collect();
        closed.sort_unstable();
        let score = |&(time, block): &(usize, usize)| {
            let valid = self.valid[block] as f64 / PAGES as f64;
            match self.policy {
                "cost-benefit" => -((self.written - time) as f64) * (1.0 - valid) / (2.0 * valid),
                _ => valid,
            }
        };
        let seen = match self.policy {
            "windowed-greedy" => WINDOW,
            "fifo" => 1,
            _ => GROUPS,
        };
        let first = closed.iter().take(seen);
        first
            .min_by(|a, b| score(a).total_cmp(&score(b)))
            .unwrap()
            .1
    }

    /// Whether a page is programmed for it.
    fn write(&mut self, page: usize) -> bool {
        if self.buffered.contains(&page) {
            return false;
        }
        self.forget(page);
        self.buffered.push_back(page);
        if self.buffered.len() <= BUFFER {
            return false;
        }
        let page = self.buffered.pop_front().unwrap();
        self.place(page, 0);
        let rest = |next: usize| PAGES - next % PAGES;
        let room = |log: &Log| log.free.len() * PAGES + log.next.map(rest).iter().sum::<usize>();
        while room(self) + self.freed / 2 < ROOM * PAGES {
            let victim = self.victim();
            self.freed = PAGES - self.valid[victim];
            self.moved += self.valid[victim];
            for position in victim * PAGES..(victim + 1) * PAGES {
                if self.holds[position] != NONE {
                    self.place(self.holds[position], 1);
                }
            }
            self.closed[victim] = None;
            self.free.push(victim);
        }
        true
    }
}

/// Pages placed for each page of the host's, by the plain log.
fn plain(policy: &'static str, skew: u64, pages: u64) -> f64 {
    let mut log = Log::new(policy, pages as usize);
    for page in 0..pages as usize {
        log.write(page);
    }
    let mut draws = draws(skew, pages, 3).map(|page| page as usize);
    for page in draws.by_ref().take(12 * pages as usize) {
        log.write(page);
    }
    let before = log.moved;
    let programmed = draws
        .take(8 * pages as usize)
        .filter(|&page| log.write(page));
    let programmed = programmed.count();
    1.0 + (log.moved - before) as f64 / programmed as f64
}

fn profile(policy: &'static str) -> Profile {
    let mut profile = small_profile();
    profile.geometry.blocks_per_plane = GROUPS as u32;
    profile.ftl.over_provisioning_percent = 12;
    profile.controller.write_buffer = ByteSize((BUFFER as u64) << 12);
    profile.gc.victim = policy.parse().unwrap();
    profile.gc.window = WINDOW as u32;
    profile.gc.wear_levelling = WearPolicy::named("dynamic");
    profile
}

/// The same, of a device.
pub(crate) fn simulated(profile: &Profile, skew: u64) -> (f64, u64) {
    let mut device = Device::new(profile).unwrap();
    let pages = device.stats().capacity_pages;
    let nsid = device.create_namespace(pages * 4096).unwrap();
    device.precondition(&Precondition::default()).unwrap();
    let mut draws = draws(skew, pages, 5);
    let mut overwrite = |count: u64| -> Stats {
        let before = device.stats();
        for page in draws.by_ref().take(count as usize) {
            let write = Command::write(nsid, page, 1, Directive::NONE, 0);
            device.submit(&write).unwrap();
            while device.outstanding() >= 16 {
                assert!(device.run_until_completion());
                while device.pop_completion().is_some() {}
            }
        }
        drain(&mut device);
        device.stats().since(&before)
    };
    overwrite(4 * pages);
    let stats = overwrite(4 * pages);
    let host = stats.host_pages_programmed as f64;
    (1.0 + stats.gc_pages_programmed as f64 / host, pages)
}

#[test]
fn victims_are_those_of_the_policy_alone() {
    for policy in ["greedy", "cost-benefit", "windowed-greedy", "fifo"] {
        // Half of the draws of half of the pages are uniform.
        for skew in [50, 80, 90] {
            let (found, pages) = simulated(&profile(policy), skew);
            let expected = plain(policy, skew, pages);
            let ratio = found / expected;
            println!("{policy:?}, {skew} %: {found:.3}, {ratio:.3} of {expected:.3}");
            assert!(
                (ratio - 1.0).abs() < 0.03,
                "{policy:?}, {skew} %: {found} for {expected}"
            );
        }
    }
}

/// Data told apart by when it will be overwritten: the more skewed the writes, the more that gains (Wang and others, FAST 2022).
#[test]
fn sepbit_gains_with_skew() {
    let mut gains = Vec::new();
    for skew in [50, 80, 90] {
        let mut profile = profile("cost-benefit");
        let (together, _) = simulated(&profile, skew);
        profile.ftl.placement = PlacementPolicy::named("sepbit");
        let (apart, _) = simulated(&profile, skew);
        println!("{skew} %: {together:.3} together, {apart:.3} told apart");
        gains.push(1.0 - apart / together);
    }
    println!("{gains:.3?}");
    assert!(gains[0].abs() < 0.1, "uniform writes: {gains:?}");
    assert!(gains.is_sorted() && gains[2] > 0.1, "{gains:?}");
}
