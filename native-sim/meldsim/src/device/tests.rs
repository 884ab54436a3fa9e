//! The device against a naive model: a map from page to the write that last wrote it.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;

use super::{Device, Location};
use crate::engine::Time;
use crate::nvme::{Command, Directive, NamespaceId, Pattern, Status};
use crate::profile::{Allocation, ByteSize, MeldedPartialRead, Profile, ProgramOrder, SetLayout};

/// Pages of each of the two namespaces: together more than the device holds.
pub(super) const PAGES: u64 = 480;

#[derive(Clone, Debug)]
enum Step {
    Write {
        nsid: u32,
        slba: u64,
        nlb: u32,
        sequential: bool,
    },
    /// Several writers, each going on where it was, in commands that are no whole wordlines.
    Writers {
        nlb: u32,
        rounds: u64,
    },
    Deallocate {
        nsid: u32,
        slba: u64,
        nlb: u32,
    },
    Read {
        nsid: u32,
        slba: u64,
        nlb: u32,
    },
    Preload {
        nsid: u32,
        slba: u64,
        nlb: u32,
        sequential: bool,
    },
    Flush,
    Advance {
        us: u64,
    },
    Drain,
}

fn range() -> impl Strategy<Value = (u32, u64, u32)> {
    (1..=2u32, 0..PAGES, prop_oneof![1..8u32, 1..120u32])
        .prop_map(|(nsid, slba, nlb)| (nsid, slba, nlb.min((PAGES - slba) as u32)))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (range(), any::<bool>()).prop_map(|((nsid, slba, nlb), sequential)| Step::Write { nsid, slba, nlb, sequential }),
        2 => (1..20u32, 1..6u64).prop_map(|(nlb, rounds)| Step::Writers { nlb, rounds }),
        2 => range().prop_map(|(nsid, slba, nlb)| Step::Deallocate { nsid, slba, nlb }),
        3 => range().prop_map(|(nsid, slba, nlb)| Step::Read { nsid, slba, nlb }),
        1 => (range(), any::<bool>()).prop_map(|((nsid, slba, nlb), sequential)| Step::Preload { nsid, slba, nlb, sequential }),
        1 => Just(Step::Flush),
        3 => (0..20_000u64).prop_map(|us| Step::Advance { us }),
        1 => Just(Step::Drain),
    ]
}

/// How the pages of a small device are laid out.
#[derive(Clone, Debug)]
struct Kind {
    pages_per_wordline: usize,
    channels: u32,
    dies: u32,
    planes: u32,
    melds: bool,
    cheapest: bool,
    allocation: Allocation,
    program_order: ProgramOrder,
    sets: SetLayout,
}

fn kind() -> impl Strategy<Value = Kind> {
    let geometry = (1..=4usize, 1..=3u32, 1..=3u32, 1..=2u32);
    let allocation = prop_oneof![2 => Just(Allocation::Dynamic), 1 => Just(Allocation::Static)];
    let order = prop_oneof![2 => Just(ProgramOrder::OneShot), 1 => Just(ProgramOrder::Shadow)];
    let sets = prop_oneof![
        3 => Just(SetLayout::Baseline),
        1 => Just(SetLayout::Vertical),
        1 => Just(SetLayout::Horizontal),
    ];
    let reads = any::<(bool, bool)>();
    (geometry, reads, allocation, order, sets).prop_map(
        |(geometry, (melds, cheapest), allocation, program_order, sets)| {
            let (pages_per_wordline, channels, dies, planes) = geometry;
            // Two sets or more, where there are.
            let (channels, dies) = match sets {
                SetLayout::Vertical => (channels.max(2), dies),
                SetLayout::Horizontal => (channels, dies.max(2)),
                _ => (channels, dies),
            };
            Kind {
                pages_per_wordline,
                channels,
                dies,
                planes,
                melds,
                cheapest,
                allocation,
                program_order,
                sets,
            }
        },
    )
}

/// Small devices of every kind of cell, layout and order.
pub(super) fn profile() -> impl Strategy<Value = Profile> {
    kind().prop_map(|kind| {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        let pages = kind.pages_per_wordline;
        profile.timing.read = [30, 58, 78, 107][..pages]
            .iter()
            .map(|&us| Time::from_us(us))
            .collect();
        profile.timing.melded_read = (kind.melds && pages > 1).then_some(Time::from_us(150));
        profile.timing.program_pages = Some(vec![Time::from_us(500); pages]);
        profile.geometry.channels = kind.channels;
        profile.geometry.dies_per_channel = kind.dies;
        profile.geometry.planes_per_die = kind.planes;
        profile.sets.layout = kind.sets;
        profile.sets.count = match kind.sets {
            SetLayout::Baseline | SetLayout::Mixed => 1,
            SetLayout::Vertical => kind.channels,
            SetLayout::Horizontal => kind.dies,
        };
        let units = kind.channels * kind.dies * kind.planes;
        let per_group = u64::from(units) * pages as u64 * 4;
        profile.geometry.wordlines_per_block = 4;
        profile.geometry.blocks_per_plane = (600 / per_group) as u32 + 8;
        profile.ftl.over_provisioning_percent = 1;
        profile.ftl.open_runs = 3;
        profile.ftl.allocation = kind.allocation;
        profile.ftl.program_order = kind.program_order;
        profile.ftl.melded_partial_read = match kind.cheapest {
            true => MeldedPartialRead::Cheapest,
            false => MeldedPartialRead::WholeWordline,
        };
        // Little more than each set needs.
        let open = (units / profile.sets.count) as usize * pages * (pages + 1).max(4) / 2;
        let buffer = (open + 4 * pages + 8).max(80) * profile.sets.count as usize;
        profile.controller.write_buffer = ByteSize(buffer as u64 * 4096);
        profile.controller.reads_before_program = 4;
        profile
    })
}

/// The last write of a page, and where it takes room: its set, and the lane when the logical page
/// decides.
#[derive(Clone, Copy)]
struct Page {
    tag: u64,
    room: (u32, u64),
}

struct Model {
    device: Device,
    data: BTreeMap<(u32, u64), Page>,
    expected: BTreeMap<u64, Status>,
    completed: u64,
    next_tag: u64,
    cursors: [u64; 3],
}

fn directive(sequential: bool) -> Directive {
    Directive::read_pattern(if sequential {
        Pattern::Sequential
    } else {
        Pattern::Random
    })
}

impl Model {
    fn new(profile: &Profile) -> Model {
        let mut device = Device::new(profile).unwrap();
        for _ in 0..2 {
            device.create_namespace(PAGES * 4096).unwrap();
        }
        Model {
            device,
            data: BTreeMap::new(),
            expected: BTreeMap::new(),
            completed: 0,
            next_tag: 0,
            cursors: [0, 160, 320],
        }
    }

    /// Where a page takes room.
    fn room(&self, nsid: u32, page: u64, sequential: bool) -> (u32, u64) {
        let profile = self.device.profile();
        let set = self.device.set_of(NamespaceId(nsid)).unwrap();
        let geometry = &profile.geometry;
        let units = geometry.channels * geometry.dies_per_channel * geometry.planes_per_die;
        let units = u64::from(units / profile.sets.count);
        let melded = sequential && profile.timing.melded_read.is_some();
        let lane = match (profile.ftl.allocation, melded) {
            (Allocation::Dynamic, _) => 0,
            (Allocation::Static, false) => page % units,
            (Allocation::Static, true) => page / profile.timing.read.len() as u64 % units,
        };
        (set, lane)
    }

    /// Whether the pages find room, one after the other: some may leave room in other lanes.
    fn fits(&self, nsid: u32, slba: u64, nlb: u32, sequential: bool) -> bool {
        let mut used: BTreeMap<(u32, u64), u64> = BTreeMap::new();
        for page in self.data.values() {
            *used.entry(page.room).or_default() += 1;
        }
        let profile = self.device.profile();
        let lanes = match profile.ftl.allocation {
            Allocation::Dynamic => u64::from(profile.sets.count),
            Allocation::Static => {
                let geometry = &profile.geometry;
                let dies = geometry.channels * geometry.dies_per_channel;
                u64::from(dies * geometry.planes_per_die)
            }
        };
        let capacity = self.device.stats().capacity_pages / lanes;
        (slba..slba + u64::from(nlb)).all(|page| {
            let before = self.data.get(&(nsid, page)).map(|page| page.room);
            if let Some(before) = before {
                *used.entry(before).or_default() -= 1;
            }
            let used = used.entry(self.room(nsid, page, sequential)).or_default();
            *used += 1;
            *used <= capacity
        })
    }

    fn put(
        &self,
        data: &mut BTreeMap<(u32, u64), Page>,
        nsid: u32,
        slba: u64,
        nlb: u32,
        sequential: bool,
    ) {
        let tag = self.next_tag;
        for page in slba..slba + u64::from(nlb) {
            let room = self.room(nsid, page, sequential);
            data.insert((nsid, page), Page { tag, room });
        }
    }

    fn submit(&mut self, command: Command, status: Status) {
        self.device
            .submit(&Command {
                tag: self.next_tag,
                ..command
            })
            .unwrap();
        self.expected.insert(self.next_tag, status);
        self.next_tag += 1;
    }

    fn write(&mut self, nsid: u32, slba: u64, nlb: u32, sequential: bool) {
        let fits = self.fits(nsid, slba, nlb, sequential);
        let status = if fits {
            Status::Success
        } else {
            Status::CapacityExceeded
        };
        if fits {
            let mut data = std::mem::take(&mut self.data);
            self.put(&mut data, nsid, slba, nlb, sequential);
            self.data = data;
        }
        let write = Command::write(NamespaceId(nsid), slba, nlb, directive(sequential), 0);
        self.submit(write, status);
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Write {
                nsid,
                slba,
                nlb,
                sequential,
            } => self.write(nsid, slba, nlb, sequential),
            Step::Writers { nlb, rounds } => {
                for _ in 0..rounds {
                    for writer in 0..self.cursors.len() {
                        let slba = self.cursors[writer];
                        let nlb = nlb.min((PAGES - slba) as u32);
                        self.write(1, slba, nlb, true);
                        self.cursors[writer] = (slba + u64::from(nlb)) % PAGES;
                    }
                }
            }
            Step::Deallocate { nsid, slba, nlb } => {
                for page in slba..slba + u64::from(nlb) {
                    self.data.remove(&(nsid, page));
                }
                let command = Command::deallocate(NamespaceId(nsid), slba, nlb, 0);
                self.submit(command, Status::Success);
            }
            Step::Read { nsid, slba, nlb } => {
                self.submit(
                    Command::read(NamespaceId(nsid), slba, nlb, 0),
                    Status::Success,
                );
            }
            Step::Preload {
                nsid,
                slba,
                nlb,
                sequential,
            } => {
                self.drain(); // it takes effect at once, before writes that wait
                for set in &mut self.device.nand_mut().sets {
                    set.ftl.witness.writing = self.next_tag;
                }
                let result = self.device.preload(
                    NamespaceId(nsid),
                    slba,
                    u64::from(nlb),
                    directive(sequential),
                );
                // There may be room for the pages but none for the padding: a part is placed.
                assert!(result.is_err() || self.fits(nsid, slba, nlb, sequential));
                for page in slba..slba + u64::from(nlb) {
                    let placed = self.device.data(NamespaceId(nsid), page) == Some(self.next_tag);
                    assert!(placed || result.is_err());
                    if placed {
                        let mut data = std::mem::take(&mut self.data);
                        self.put(&mut data, nsid, page, 1, sequential);
                        self.data = data;
                    }
                }
                self.next_tag += 1;
                self.check();
            }
            Step::Flush => self.submit(Command::flush(NamespaceId(1), 0), Status::Success),
            Step::Advance { us } => {
                let until = self.device.now() + Time::from_us(us);
                self.device.advance_to(until);
                assert_eq!(self.device.now(), until);
                self.complete();
                self.check_injective();
            }
            Step::Drain => {
                self.drain();
                self.check();
            }
        }
    }

    fn complete(&mut self) {
        let mut last = Time::ZERO;
        while let Some(completion) = self.device.pop_completion() {
            let expected = self.expected.remove(&completion.tag);
            assert_eq!(expected, Some(completion.status), "{completion:?}");
            assert!(completion.submitted <= completion.completed && last <= completion.completed);
            last = completion.completed;
            self.completed += 1;
        }
        assert_eq!(self.device.outstanding(), self.expected.len());
    }

    /// Runs everything. That it ends at all is part of the test.
    fn drain(&mut self) {
        let mut events = 0;
        while let Some(time) = self.device.next_event() {
            self.device.advance_to(time);
            events += 1;
            assert!(events < 1_000_000, "the device does not come to rest");
        }
        self.complete();
        assert_eq!(self.expected.len(), 0, "commands that never complete");
    }

    fn check(&self) {
        for nsid in 1..=2 {
            for page in 0..PAGES {
                let expected = self.data.get(&(nsid, page)).map(|page| page.tag);
                assert_eq!(
                    self.device.data(NamespaceId(nsid), page),
                    expected,
                    "{nsid}:{page}"
                );
            }
        }
        let stats = self.device.stats();
        assert_eq!(stats.mapped_pages, self.data.len() as u64);
        assert!(stats.melded_mapped_pages <= stats.mapped_pages);
        self.check_injective();
    }

    /// No two pages are in one place.
    fn check_injective(&self) {
        let mut places = HashSet::new();
        for nsid in 1..=2 {
            for page in 0..PAGES {
                let location = self.device.locate(NamespaceId(nsid), page).unwrap();
                if matches!(location, Location::Flash { .. }) {
                    assert!(places.insert(location), "{location:?} is used twice");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn every_read_returns_the_last_write(
        profile in profile(),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut model = Model::new(&profile);
        for step in &steps {
            model.step(step);
        }
        model.step(&Step::Flush);
        model.drain();
        model.check();
        let stats = model.device.stats();
        let submitted = stats.read_commands
            + stats.write_commands
            + stats.deallocate_commands
            + stats.flush_commands;
        prop_assert_eq!(submitted, model.completed);
        // After a flush nothing of the host's is buffered, and every page programmed was counted.
        let pages_per_wordline = profile.timing.read.len() as u64;
        prop_assert!(stats.host_pages_programmed + stats.gc_pages_moved <= stats.programs * pages_per_wordline
            + stats.gc_pages_moved);
        prop_assert!(stats.channel_busy_ps <= stats.now_ps * stats.channels);
        prop_assert!(stats.die_busy_ps <= stats.now_ps * stats.dies);
        prop_assert!(stats.read_active_ps <= stats.active_ps && stats.active_ps <= stats.now_ps);
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
