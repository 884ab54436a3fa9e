//! Power cuts at any time: what was acknowledged is still there.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::profiles::profile;
use super::reach::Reached;
use super::{Hint, NAMESPACES, PAGES, Range};
use super::{advance, audit, bind_stream, come_to_rest, device, hint, mapped_pages, range};
use crate::device::Device;
use crate::nvme::{Command, MAX_STREAMS, NamespaceId, Status};
use crate::profile::Profile;

#[derive(Clone, Debug)]
pub(super) enum Step {
    Write(Range, Hint),
    Deallocate(Range),
    Read(Range),
    Flush(NamespaceId),
    Release(NamespaceId, u16),
    Advance { us: u64 },
    PowerCut,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (range(), hint()).prop_map(|(range, hint)| Step::Write(range, hint)),
        2 => range().prop_map(Step::Deallocate),
        3 => range().prop_map(Step::Read),
        1 => prop::sample::select(NAMESPACES.to_vec()).prop_map(Step::Flush),
        1 => (prop::sample::select(NAMESPACES.to_vec()), 1..=MAX_STREAMS)
            .prop_map(|(nsid, stream)| Step::Release(nsid, stream)),
        6 => (0..20_000u64).prop_map(|us| Step::Advance { us }),
        3 => Just(Step::PowerCut),
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
    pages: BTreeMap<(NamespaceId, u64), History>,
    /// The pages that each outstanding command changes.
    outstanding: BTreeMap<u64, Vec<(NamespaceId, u64)>>,
    next_tag: u64,
    reached: Reached,
}

/// Runs the steps, cuts the power once more, and runs to rest. Tells what the device came to.
pub(super) fn run(profile: &Profile, steps: &[Step]) -> Reached {
    let mut model = Model {
        device: device(profile),
        pages: BTreeMap::new(),
        outstanding: BTreeMap::new(),
        next_tag: 1,
        reached: Reached::default(),
    };
    for step in steps {
        model.step(step);
    }
    model.drain();
    model.check();
    model.cut();
    model.drain();
    model.check();
    model.reached.add(&model.device);
    model.reached
}

impl Model {
    fn submit(&mut self, command: Command, changes: Option<(Range, Option<u64>)>) {
        let tag = self.next_tag;
        self.next_tag += 1;
        let mut pages = Vec::new();
        if let Some((range, value)) = changes {
            pages.extend(range.pages());
            for &page in &pages {
                let history = self.pages.entry(page).or_default();
                history.values.push((tag, value));
            }
        }
        self.outstanding.insert(tag, pages);
        self.device.submit(&Command { tag, ..command }).unwrap();
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Write(range, hint) => {
                let Range { nsid, slba, nlb } = range;
                let write = Command::write(nsid, slba, nlb, hint.directive(), 0);
                self.submit(write, Some((range, Some(self.next_tag))));
            }
            Step::Deallocate(range) => {
                let Range { nsid, slba, nlb } = range;
                self.submit(Command::deallocate(nsid, slba, nlb, 0), Some((range, None)));
            }
            Step::Read(Range { nsid, slba, nlb }) => {
                self.submit(Command::read(nsid, slba, nlb, 0), None);
            }
            Step::Flush(nsid) => self.submit(Command::flush(nsid, 0), None),
            Step::Release(nsid, stream) => self.device.release_stream(nsid, stream).unwrap(),
            Step::Advance { us } => {
                advance(&mut self.device, us);
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
            if done.status != Status::SUCCESS {
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
        self.reached.add(&self.device);
        let mut restored = restored(&self.device);
        bind_stream(&mut restored);
        for (nsid, page) in all_pages() {
            let held = self.device.data(nsid, page);
            assert_eq!(restored.data(nsid, page), held, "page {page} changed");
        }
        assert_eq!(mapped_pages(&restored).0, mapped_pages(&self.device).0);
        self.device = restored;
        self.outstanding.clear();
        self.check();
        // Now it is settled what was written.
        for (&(nsid, page), history) in &mut self.pages {
            history.values = vec![(0, self.device.data(nsid, page))];
            history.is_acknowledged = true;
        }
    }

    fn check(&self) {
        for page in all_pages() {
            let held = self.device.data(page.0, page.1);
            let history = self.pages.get(&page).cloned().unwrap_or_default();
            let may_hold = history.values.iter().any(|&(_, value)| value == held);
            let untouched = held.is_none() && !history.is_acknowledged;
            assert!(
                may_hold || untouched,
                "page {page:?}: {held:?} of {history:?}"
            );
        }
    }

    fn drain(&mut self) {
        come_to_rest(&mut self.device);
        self.complete();
        assert!(self.outstanding.is_empty(), "commands that never complete");
    }
}

/// The device after a power cut.
fn restored(device: &Device) -> Device {
    let snapshot = device.snapshot().unwrap();
    let mut restored = Device::restore(&snapshot).unwrap();
    for (ftl, before) in restored.ftls_mut().into_iter().zip(device.ftls()) {
        ftl.restore_oracle(before);
    }
    audit(&restored);
    restored
}

fn all_pages() -> impl Iterator<Item = (NamespaceId, u64)> {
    let pages = |nsid| (0..PAGES).map(move |page| (nsid, page));
    NAMESPACES.into_iter().flat_map(pages)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn what_was_acknowledged_survives_power_cuts(
        profile in profile(),
        steps in prop::collection::vec(step(), 1..100),
    ) {
        run(&profile, &steps);
    }
}

/// Each stream keeps a superblock of blocks open, and a small device has superblocks for one of them: a device
/// that forgot at a power cut which ones it has would run out of blocks.
#[test]
fn streams_of_before_a_power_cut_still_count() {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.geometry.channels = 1;
    profile.geometry.dies_per_channel = 1;
    profile.geometry.wordlines_per_block = 4;
    profile.geometry.blocks_per_plane = 40;
    profile.ftl.over_provisioning_percent = 23; // 10 of the 40, 3 more than collection needs
    profile.ftl.open_runs = 3;
    profile.controller.write_buffer.0 = 16 * 4096;
    let mut device = Device::new(&profile).unwrap();
    let nsid = device.create_namespace(PAGES * 4096).unwrap();
    let pages = device.stats().capacity_pages;
    assert!(pages <= PAGES);
    device
        .preload(nsid, 0, pages, Hint::Random.directive())
        .unwrap();
    let write = |device: &mut Device, page: u64, hint: Hint| {
        let write = Command::write(nsid, page, 1, hint.directive(), 0);
        device.submit(&write).unwrap();
        come_to_rest(device);
        let done = device.pop_completion().expect("the device is stuck");
        assert_eq!(done.status, Status::SUCCESS);
    };
    for stream in 1..=16 {
        for page in 0..4 {
            write(
                &mut device,
                (page * 37 + u64::from(stream)) % pages,
                Hint::Stream(stream),
            );
        }
        device = restored(&device);
    }
    for n in 0..pages * 4 {
        write(&mut device, n * 77 % pages, Hint::Random);
    }
}
