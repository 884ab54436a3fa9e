//! A map of which nothing is ever at hand: whatever is looked up has to be read first. It is here to show what a map has to
//! be, and that commands wait for it and come to the same as with a table.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::Device;
use crate::device::media::AnyMedium;
use crate::device::medium::Medium;
use crate::device::page_mapped::{Map, NandMedium, TranslationPage};
use crate::nvme::{Command, Directive, NamespaceId, Status};
use crate::profile::{ByteSize, Profile};

/// Entries of a translation page.
const ENTRIES: u64 = 16;

#[derive(Debug)]
pub(in crate::device) struct MissesOnce {
    /// What has been read and not been used.
    at_hand: Option<u64>,
    changed: BTreeSet<u64>,
}

impl Map for MissesOnce {
    type Miss = TranslationPage;
    const HAS_PAGES: bool = true;

    fn new(_: &Profile) -> MissesOnce {
        MissesOnce {
            at_hand: None,
            changed: BTreeSet::new(),
        }
    }

    fn look(&mut self, _: u32, pages: Range<u64>) -> Result<u64, TranslationPage> {
        let needed = pages.start / ENTRIES;
        match self.at_hand.take() {
            Some(found) if found == needed => {
                Ok(pages.end.min((needed + 1) * ENTRIES) - pages.start)
            }
            _ => Err(TranslationPage(needed)),
        }
    }

    fn fetched(&mut self, page: TranslationPage) {
        self.at_hand = Some(page.0);
    }

    fn changed(&mut self, _: u32, page: u64) {
        self.changed.insert(page / ENTRIES);
    }

    fn write_back(&self) -> Option<TranslationPage> {
        self.changed.first().copied().map(TranslationPage)
    }

    fn written_back(&mut self) {
        self.changed.pop_first();
    }
}

/// A device of two dies, and the pages that it holds.
fn device(misses: bool) -> (Device, NamespaceId, u64) {
    let mut profile = Profile::builtin("melded-tlc-8x8").expect("a profile");
    profile.geometry.channels = 1;
    profile.geometry.dies_per_channel = 2;
    profile.geometry.blocks_per_plane = 32;
    profile.geometry.wordlines_per_block = 8;
    profile.ftl.over_provisioning_percent = 40;
    profile.ftl.open_runs = 3;
    profile.controller.write_buffer = ByteSize(96 * 4096);
    let mut device = match misses {
        true => {
            let medium = NandMedium::new(&profile).expect("a medium");
            Device::with(&profile, AnyMedium::Misses(medium))
        }
        false => Device::new(&profile),
    }
    .expect("a device");
    let pages = device.stats().capacity_pages;
    let nsid = device.create_namespace(pages * 4096).expect("a namespace");
    (device, nsid, pages)
}

fn medium(device: &Device) -> &NandMedium<MissesOnce> {
    match &device.medium {
        AnyMedium::Misses(medium) => medium,
        _ => unreachable!("not a device that misses"),
    }
}

fn run(device: &mut Device, command: Command) -> u64 {
    device.submit(&command).expect("a good command");
    assert!(device.run_until_completion(), "it hangs");
    let done = device.pop_completion().expect("it is done");
    assert_eq!(done.status, Status::SUCCESS);
    done.latency().as_ns()
}

#[test]
fn a_read_waits_for_its_translation_page() {
    let lbas = |pages: u64| pages as u32;
    let [mut table, mut misses] = [false, true].map(|misses| {
        let (mut device, nsid, _) = device(misses);
        for page in 0..48 {
            let slba = u64::from(lbas(page));
            run(
                &mut device,
                Command::write(nsid, slba, lbas(1), Directive::NONE, page),
            );
        }
        // The pages, and then those of the mapping that have changed.
        run(&mut device, Command::flush(nsid, 0));
        run(&mut device, Command::flush(nsid, 0));
        device.advance_to(device.now() + crate::Duration::from_ms(50));
        (device, nsid)
    });
    // Pages of one translation page, of two, and of three.
    for (pages, read, fetched) in [
        (1, 1, 1),
        (ENTRIES, 16, 1),
        (ENTRIES + 1, 17, 2),
        (48, 48, 3),
    ] {
        let mut reads = [0; 2];
        let mut times = [0; 2];
        for (n, (device, nsid)) in [&mut table, &mut misses].into_iter().enumerate() {
            let before = device.stats().page_reads;
            times[n] = run(device, Command::read(*nsid, 0, lbas(pages), 0));
            reads[n] = device.stats().page_reads - before;
        }
        assert_eq!(reads, [read, read + fetched], "{pages} pages");
        assert!(times[1] > times[0], "{pages} pages: {times:?}");
    }
}

#[test]
fn overwrites_come_to_the_same_through_a_map_that_misses() {
    let (mut device, nsid, pages) = device(true);
    let lbas = |pages: u64| pages as u32;
    let mut random = 7u64;
    let mut data = BTreeMap::new();
    for tag in 0..6 * pages {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let page = (random >> 33) % pages;
        let count = (1 + (random >> 20) % 20).min(pages - page);
        let (slba, nlb) = (u64::from(lbas(page)), lbas(count));
        let command = match random >> 61 {
            0 => Command::deallocate(nsid, slba, nlb, tag),
            1 => Command::read(nsid, slba, nlb, tag),
            _ => Command::write(nsid, slba, nlb, Directive::NONE, tag),
        };
        device.submit(&command).expect("a good command");
        for page in page..page + count {
            match random >> 61 {
                0 => drop(data.remove(&page)),
                1 => {}
                _ => drop(data.insert(page, tag)),
            }
        }
        while device.outstanding() >= 8 {
            assert!(device.run_until_completion(), "it hangs");
            while let Some(done) = device.pop_completion() {
                assert_eq!(done.status, Status::SUCCESS);
            }
        }
        if tag % 64 == 0 {
            medium(&device).sets[0].ftl.audit();
        }
    }
    while device.run_until_completion() {
        device.pop_completion();
    }
    let ftl = &medium(&device).sets[0].ftl;
    ftl.audit();
    assert!(ftl.stats().map_pages_programmed > pages / ENTRIES);
    assert!(ftl.stats().gc_pages_moved > 0);
    let (_, space) = device.namespaces.space(nsid).expect("a namespace");
    for page in 0..pages {
        assert_eq!(
            ftl.data(space, page),
            data.get(&page).copied(),
            "page {page}"
        );
    }
}
