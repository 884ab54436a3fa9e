//! Every read returns the last write, against a map from page to the write that last wrote it.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;

use super::profiles::profile;
use super::reach::Reached;
use super::{
    Hint, NAMESPACES, PAGES, Range, advance, audit, come_to_rest, device, hint, mapped_pages, range,
};
use crate::device::{Device, Location, Stats};
use crate::nvme::{Command, NamespaceId, Status};
use crate::profile::{Allocation, Profile};

#[derive(Clone, Debug)]
pub(super) enum Step {
    Write(Range, Hint),
    /// Several writers, each going on where it was, in commands that are no whole wordlines.
    Writers {
        nlb: u32,
        rounds: u64,
    },
    Deallocate(Range),
    Read(Range),
    Preload(Range, Hint),
    Flush(NamespaceId),
    Advance {
        us: u64,
    },
    Drain,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (range(), hint()).prop_map(|(range, hint)| Step::Write(range, hint)),
        2 => (1..20u32, 1..6u64).prop_map(|(nlb, rounds)| Step::Writers { nlb, rounds }),
        2 => range().prop_map(Step::Deallocate),
        3 => range().prop_map(Step::Read),
        1 => (range(), hint()).prop_map(|(range, hint)| Step::Preload(range, hint)),
        1 => prop::sample::select(NAMESPACES.to_vec()).prop_map(Step::Flush),
        3 => (0..20_000u64).prop_map(|us| Step::Advance { us }),
        1 => Just(Step::Drain),
    ]
}

/// The last write of a page, and where it takes room: its set, and the log when the logical page
/// decides.
#[derive(Clone, Copy)]
struct Page {
    tag: u64,
    room: (u32, u64),
}

/// Planes of the device.
fn units(profile: &Profile) -> u64 {
    let geometry = &profile.geometry;
    u64::from(geometry.channels * geometry.dies_per_channel * geometry.planes_per_die)
}

struct Model {
    device: Device,
    data: BTreeMap<(NamespaceId, u64), Page>,
    expected: BTreeMap<u64, Status>,
    completed: u64,
    next_tag: u64,
    cursors: [u64; 3],
}

impl Model {
    fn new(profile: &Profile) -> Model {
        Model {
            device: device(profile),
            data: BTreeMap::new(),
            expected: BTreeMap::new(),
            completed: 0,
            next_tag: 0,
            cursors: [0, 160, 320],
        }
    }

    /// Where a page takes room.
    fn room(&self, nsid: NamespaceId, page: u64, hint: Hint) -> (u32, u64) {
        let profile = self.device.profile();
        let set = self.device.set_of(nsid).unwrap();
        let units = units(profile) / u64::from(profile.sets.count);
        let melded = hint.is_sequential() && profile.timing.melded_read.is_some();
        let log_id = match (profile.ftl.allocation, melded) {
            (Allocation::Dynamic, _) => 0,
            (Allocation::Static, false) => page % units,
            (Allocation::Static, true) => page / profile.timing.read.len() as u64 % units,
        };
        (set, log_id)
    }

    /// Whether the pages find room, one after the other: some may leave room in other logs.
    fn fits(&self, range: Range, hint: Hint) -> bool {
        let mut used: BTreeMap<(u32, u64), u64> = BTreeMap::new();
        for page in self.data.values() {
            *used.entry(page.room).or_default() += 1;
        }
        let profile = self.device.profile();
        let logs = match profile.ftl.allocation {
            Allocation::Dynamic => u64::from(profile.sets.count),
            Allocation::Static => units(profile),
        };
        let capacity = self.device.stats().capacity_pages / logs;
        range.pages().all(|(nsid, page)| {
            let before = self.data.get(&(nsid, page)).map(|page| page.room);
            if let Some(before) = before {
                *used.entry(before).or_default() -= 1;
            }
            let used = used.entry(self.room(nsid, page, hint)).or_default();
            *used += 1;
            *used <= capacity
        })
    }

    /// The page now holds what the next command brings.
    fn put(&mut self, nsid: NamespaceId, page: u64, hint: Hint) {
        let room = self.room(nsid, page, hint);
        let tag = self.next_tag;
        self.data.insert((nsid, page), Page { tag, room });
    }

    fn submit(&mut self, command: Command, status: Status) {
        let tag = self.next_tag;
        self.device.submit(&Command { tag, ..command }).unwrap();
        self.expected.insert(tag, status);
        self.next_tag += 1;
    }

    fn write(&mut self, range: Range, hint: Hint) {
        let mut status = Status::CAPACITY_EXCEEDED;
        if self.fits(range, hint) {
            status = Status::SUCCESS;
            for (nsid, page) in range.pages() {
                self.put(nsid, page, hint);
            }
        }
        let Range { nsid, slba, nlb } = range;
        self.submit(Command::write(nsid, slba, nlb, hint.directive(), 0), status);
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Write(range, hint) => self.write(range, hint),
            Step::Writers { nlb, rounds } => {
                for _ in 0..rounds {
                    for writer in 0..self.cursors.len() {
                        let slba = self.cursors[writer];
                        let nlb = nlb.min((PAGES - slba) as u32);
                        let nsid = NAMESPACES[0];
                        self.write(Range { nsid, slba, nlb }, Hint::Sequential);
                        self.cursors[writer] = (slba + u64::from(nlb)) % PAGES;
                    }
                }
            }
            Step::Deallocate(range) => {
                for page in range.pages() {
                    self.data.remove(&page);
                }
                let Range { nsid, slba, nlb } = range;
                self.submit(Command::deallocate(nsid, slba, nlb, 0), Status::SUCCESS);
            }
            Step::Read(Range { nsid, slba, nlb }) => {
                self.submit(Command::read(nsid, slba, nlb, 0), Status::SUCCESS);
            }
            Step::Preload(range, hint) => self.preload(range, hint),
            Step::Flush(nsid) => self.submit(Command::flush(nsid, 0), Status::SUCCESS),
            Step::Advance { us } => {
                advance(&mut self.device, us);
                self.complete();
                self.check_injective();
            }
            Step::Drain => {
                self.drain();
                self.check();
            }
        }
    }

    fn preload(&mut self, range: Range, hint: Hint) {
        self.drain(); // it takes effect at once, before writes that wait
        for ftl in self.device.ftls_mut() {
            ftl.oracle.begin(self.next_tag);
        }
        let Range { nsid, slba, nlb } = range;
        let result = self
            .device
            .preload(nsid, slba, u64::from(nlb), hint.directive());
        // There may be room for the pages but none for the padding: a part is placed.
        assert!(result.is_err() || self.fits(range, hint));
        for (nsid, page) in range.pages() {
            let placed = self.device.data(nsid, page) == Some(self.next_tag);
            assert!(placed || result.is_err());
            if placed {
                self.put(nsid, page, hint);
            }
        }
        self.next_tag += 1;
        self.check();
    }

    fn complete(&mut self) {
        let mut last = crate::Instant::START;
        while let Some(completion) = self.device.pop_completion() {
            let expected = self.expected.remove(&completion.tag);
            assert_eq!(expected, Some(completion.status), "{completion:?}");
            assert!(completion.submitted <= completion.completed && last <= completion.completed);
            last = completion.completed;
            self.completed += 1;
        }
        assert_eq!(self.device.outstanding(), self.expected.len());
    }

    fn drain(&mut self) {
        come_to_rest(&mut self.device);
        self.complete();
        assert_eq!(self.expected.len(), 0, "commands that never complete");
    }

    fn check(&self) {
        for nsid in NAMESPACES {
            for page in 0..PAGES {
                let expected = self.data.get(&(nsid, page)).map(|page| page.tag);
                assert_eq!(self.device.data(nsid, page), expected, "{nsid:?}:{page}");
            }
        }
        let stats = self.device.stats();
        assert_eq!(stats.mapped_pages, self.data.len() as u64);
        assert_eq!(
            mapped_pages(&self.device),
            (stats.mapped_pages, stats.melded_mapped_pages)
        );
        self.check_injective();
    }

    /// No two pages are in one place.
    fn check_injective(&self) {
        let mut places = HashSet::new();
        for nsid in NAMESPACES {
            for page in 0..PAGES {
                let location = self.device.locate(nsid, page).unwrap();
                if matches!(location, Location::Flash { .. }) {
                    assert!(places.insert(location), "{location:?} is used twice");
                }
            }
        }
    }

    /// What must be true of the counters of a device at rest.
    fn check_counters(&self, stats: &Stats) {
        let submitted = stats.read_commands
            + stats.write_commands
            + stats.deallocate_commands
            + stats.flush_commands;
        assert_eq!(submitted, self.completed);
        let pages_per_wordline = u64::from(self.device.profile().units_per_wordline());
        assert!(stats.host_pages_programmed <= stats.programs * pages_per_wordline);
        assert!(stats.channel_busy_ps <= stats.now_ps * stats.channels);
        assert!(stats.die_busy_ps <= stats.now_ps * stats.dies);
        assert!(stats.read_active_ps <= stats.active_ps && stats.active_ps <= stats.now_ps);
    }
}

/// Runs the steps, flushes and runs to rest. Tells what the device came to.
pub(super) fn run(profile: &Profile, steps: &[Step]) -> Reached {
    let mut model = Model::new(profile);
    for step in steps {
        model.step(step);
        audit(&model.device);
    }
    for nsid in NAMESPACES {
        model.step(&Step::Flush(nsid));
    }
    model.drain();
    model.check();
    model.check_counters(&model.device.stats());
    let mut reached = Reached::default();
    reached.add(&model.device);
    reached
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn every_read_returns_the_last_write(
        profile in profile(),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        run(&profile, &steps);
    }

    #[test]
    fn the_same_input_gives_the_same_output(
        profile in profile(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let run = || {
            let mut model = Model::new(&profile);
            let mut completions = Vec::new();
            for step in &steps {
                model.step(step);
                completions.push(model.completed);
            }
            model.drain();
            (model.device.stats(), completions)
        };
        prop_assert_eq!(run(), run());
    }
}
