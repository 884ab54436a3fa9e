//! Power cuts at any time: what was acknowledged is still there.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::Device;
use super::tests::{PAGES, profile};
use crate::engine::Time;
use crate::nvme::{Command, Directive, NamespaceId, Pattern, Status};
use crate::profile::Profile;

#[derive(Clone, Debug)]
enum Step {
    Write {
        slba: u64,
        nlb: u32,
        sequential: bool,
    },
    Deallocate {
        slba: u64,
        nlb: u32,
    },
    Flush,
    Advance {
        us: u64,
    },
    PowerCut,
}

fn step() -> impl Strategy<Value = Step> {
    let range = || {
        (0..PAGES, prop_oneof![1..8u32, 1..120u32])
            .prop_map(|(slba, nlb)| (slba, nlb.min((PAGES - slba) as u32)))
    };
    prop_oneof![
        6 => (range(), any::<bool>()).prop_map(|((slba, nlb), sequential)| Step::Write { slba, nlb, sequential }),
        1 => range().prop_map(|(slba, nlb)| Step::Deallocate { slba, nlb }),
        1 => Just(Step::Flush),
        3 => (0..20_000u64).prop_map(|us| Step::Advance { us }),
        2 => Just(Step::PowerCut),
    ]
}

/// What a page may hold, from the last write or deallocation that was acknowledged on: each with
/// the tag of its command.
#[derive(Clone, Debug, Default)]
struct History {
    values: Vec<(u64, Option<u64>)>,
    /// The first of them was acknowledged, so that nothing before it can be seen any more.
    is_acknowledged: bool,
}

struct Model {
    device: Device,
    pages: BTreeMap<u64, History>,
    outstanding: BTreeMap<u64, Vec<u64>>,
    next_tag: u64,
}

const NSID: NamespaceId = NamespaceId(1);

impl Model {
    fn new(profile: &Profile) -> Model {
        let mut device = Device::new(profile).unwrap();
        device.create_namespace(PAGES * 4096).unwrap();
        Model {
            device,
            pages: BTreeMap::new(),
            outstanding: BTreeMap::new(),
            next_tag: 1,
        }
    }

    fn submit(&mut self, command: Command, value: Option<u64>) {
        let tag = self.next_tag;
        self.next_tag += 1;
        let pages: Vec<u64> = (command.slba..command.slba + u64::from(command.nlb)).collect();
        for &page in &pages {
            self.pages
                .entry(page)
                .or_default()
                .values
                .push((tag, value));
        }
        self.outstanding.insert(tag, pages);
        self.device.submit(&Command { tag, ..command }).unwrap();
    }

    fn step(&mut self, step: &Step) {
        let tag = self.next_tag;
        match *step {
            Step::Write {
                slba,
                nlb,
                sequential,
            } => {
                let pattern = match sequential {
                    true => Pattern::Sequential,
                    false => Pattern::Random,
                };
                let directive = Directive::read_pattern(pattern);
                self.submit(Command::write(NSID, slba, nlb, directive, 0), Some(tag));
            }
            Step::Deallocate { slba, nlb } => {
                self.submit(Command::deallocate(NSID, slba, nlb, 0), None);
            }
            Step::Flush => self.submit(Command::flush(NSID, 0), None),
            Step::Advance { us } => {
                let until = self.device.now() + Time::from_us(us);
                self.device.advance_to(until);
                self.complete();
            }
            Step::PowerCut => self.cut(),
        }
    }

    /// What is acknowledged ends what came before it. A write that found no room in the end may have
    /// written any of its pages.
    fn complete(&mut self) {
        while let Some(done) = self.device.pop_completion() {
            let pages = self.outstanding.remove(&done.tag).unwrap();
            if done.status != Status::Success {
                continue;
            }
            for page in pages {
                let history = self.pages.get_mut(&page).unwrap();
                let values = &mut history.values;
                if let Some(index) = values.iter().position(|&(tag, _)| tag == done.tag) {
                    values.drain(..index);
                    history.is_acknowledged = true;
                }
            }
        }
    }

    fn cut(&mut self) {
        self.complete();
        let snapshot = self.device.snapshot().unwrap();
        let mut restored = Device::restore(&snapshot).unwrap();
        let sets = restored.nand_mut().sets.iter_mut();
        for (set, before) in sets.zip(&self.device.nand_mut().sets) {
            set.ftl.witness_restored(&before.ftl);
        }
        for page in 0..PAGES {
            let held = self.device.data(NSID, page);
            assert_eq!(restored.data(NSID, page), held, "page {page} changed");
        }
        assert_eq!(
            restored.stats().mapped_pages,
            self.device.stats().mapped_pages
        );
        self.device = restored;
        self.outstanding.clear();
        self.check();
        // Now it is settled what was written.
        for (&page, history) in &mut self.pages {
            history.values = vec![(0, self.device.data(NSID, page))];
            history.is_acknowledged = true;
        }
    }

    fn check(&self) {
        for page in 0..PAGES {
            let held = self.device.data(NSID, page);
            let history = self.pages.get(&page).cloned().unwrap_or_default();
            let may_hold = history.values.iter().any(|&(_, value)| value == held);
            let untouched = held.is_none() && !history.is_acknowledged;
            assert!(
                may_hold || untouched,
                "page {page}: {held:?} of {history:?}"
            );
        }
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
        assert!(self.outstanding.is_empty(), "commands that never complete");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn what_was_acknowledged_survives_power_cuts(
        profile in profile(),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut model = Model::new(&profile);
        for step in &steps {
            model.step(step);
        }
        model.drain();
        model.check();
        model.cut();
        model.drain();
        model.check();
    }
}
