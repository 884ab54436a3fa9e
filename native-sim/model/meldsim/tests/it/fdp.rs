//! Flexible data placement: reclaim unit handles keep data apart, are counted and logged, and refuse as NVMe says.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::common::{Random, device, drain, small_profile};
use meldsim::nvme::fdp::{FdpEventType, MAX_EVENTS};
use meldsim::policy::placement::PlacementPolicy;
use meldsim::{
    Command, Device, DeviceError, Directive, Location, NamespaceId, Pattern, Profile, Status,
};

/// The small device with so many handles.
fn profile(handles: u32, placement: &str) -> Profile {
    let mut profile = small_profile();
    profile.geometry.blocks_per_plane = 96;
    profile.ftl.over_provisioning_percent = 25;
    profile.ftl.placement = PlacementPolicy::named(placement);
    profile.fdp.handles = handles;
    profile
}

fn write(device: &mut Device, nsid: NamespaceId, page: u64, directive: Directive) {
    let write = Command::write(nsid, page, 1, directive, 0);
    device.submit(&write).unwrap();
    assert!(device.run_until_completion());
    while let Some(done) = device.pop_completion() {
        assert_eq!(done.status, Status::SUCCESS);
    }
}

fn flush(device: &mut Device, nsid: NamespaceId) {
    device.submit(&Command::flush(nsid, 0)).unwrap();
    drain(device);
}

/// The reclaim unit of a page on flash.
fn unit_of(device: &Device, nsid: NamespaceId, page: u64) -> Option<u32> {
    match device.locate(nsid, page).unwrap() {
        Location::Flash { block, .. } => Some(block),
        _ => None,
    }
}

fn events(device: &Device, kind: FdpEventType) -> u64 {
    let counts = device.fdp_event_counts(0);
    let of_kind = counts.filter(|(other, _)| *other == kind);
    of_kind.map(|(_, count)| count).sum()
}

/// Overwrites at random, in turn in each of the handles given, each in its equal part of the device.
fn churn(device: &mut Device, nsid: NamespaceId, directives: &[Directive], passes: u64) {
    let pages = device.stats().capacity_pages;
    let share = pages / directives.len() as u64;
    let mut random = Random(7);
    for n in 0..pages * passes {
        let part = n % directives.len() as u64;
        let page = part * share + random.below(share);
        write(device, nsid, page, directives[part as usize]);
    }
    flush(device, nsid);
}

#[test]
fn one_handle_is_none() {
    let run = |handles, directive| {
        let (mut device, nsid) = device(&profile(handles, "streams"));
        churn(&mut device, nsid, &[directive], 3);
        (device.stats(), device.now())
    };
    let none = run(0, Directive::NONE);
    assert!(none.0.gc_pages_moved > 0);
    assert_eq!(run(1, Directive::placement(0)), none);
    assert_eq!(run(1, Directive::NONE), none);
    assert_eq!(run(8, Directive::NONE), none, "handles that nobody uses");
}

#[test]
fn a_handle_is_a_stream() {
    let run = |handles, directives: [Directive; 2]| {
        let (mut device, nsid) = device(&profile(handles, "streams"));
        churn(&mut device, nsid, &directives, 3);
        device.stats()
    };
    let streams = run(0, [Directive::NONE, Directive::stream_of(1)]);
    assert_eq!(run(2, [0, 1].map(Directive::placement)), streams);
}

#[test]
fn a_handle_fills_reclaim_units_of_its_own() {
    let (mut device, nsid) = device(&profile(3, "streams"));
    // A reclaim unit of each.
    let pages = 3 * device.profile().reclaim_unit().0 / device.profile().mapping_unit().0;
    for page in 0..pages {
        write(
            &mut device,
            nsid,
            page,
            Directive::placement(page as u16 % 3),
        );
    }
    flush(&mut device, nsid);
    let units: Vec<_> = (0..3).map(|page| unit_of(&device, nsid, page)).collect();
    for page in 0..pages {
        assert_eq!(unit_of(&device, nsid, page), units[page as usize % 3]);
    }
    assert!(units[0] != units[1] && units[1] != units[2] && units[0] != units[2]);
    let statistics = device.fdp_statistics(0).unwrap();
    let stats = device.stats();
    assert_eq!(statistics.host_bytes_written, stats.host_written_bytes);
    assert_eq!(statistics.media_bytes_written, stats.programmed_bytes);
    assert_eq!(statistics.media_bytes_erased, 0);
}

#[test]
fn erased_bytes_are_those_of_blocks() {
    let (mut device, nsid) = device(&profile(2, "streams"));
    churn(&mut device, nsid, &[0, 1].map(Directive::placement), 3);
    let erased = device.fdp_statistics(0).unwrap().media_bytes_erased;
    let unit = device.profile().reclaim_unit().0;
    assert!(erased > 0 && erased % device.profile().block_size().0 == 0);
    // All blocks of a reclaim unit, but for the one that is being erased.
    let erases = device.stats().erases * device.profile().block_size().0;
    assert_eq!(erased, erases);
    assert!(erased / unit > 10);
}

#[test]
fn an_unknown_placement_identifier_stands_for_the_first_and_is_logged() {
    let (mut device, nsid) = device(&profile(2, "streams"));
    for (page, pid) in [(0, 0), (1, 2), (2, u16::MAX), (3, 1)] {
        write(&mut device, nsid, page, Directive::placement(pid));
    }
    flush(&mut device, nsid);
    let unit = |page| unit_of(&device, nsid, page);
    assert!(unit(0) == unit(1) && unit(1) == unit(2) && unit(2) != unit(3));
    let log = device.fdp_events(0, true).unwrap();
    let invalid: Vec<_> = log
        .iter()
        .map(|event| (event.kind, event.pid, event.nsid))
        .collect();
    let kind = FdpEventType::InvalidPlacementIdentifier;
    assert_eq!(
        invalid,
        [
            (kind, Some(2), Some(nsid)),
            (kind, Some(u16::MAX), Some(nsid))
        ]
    );
    for page in 0..100 {
        write(&mut device, nsid, page, Directive::placement(9));
    }
    assert_eq!(events(&device, kind), 102);
    assert_eq!(device.fdp_events(0, true).unwrap().len(), MAX_EVENTS);
    assert!(device.fdp_events(0, false).unwrap().is_empty());
}

#[test]
fn what_is_written_is_not_available_before_it_is_programmed() {
    let (mut device, nsid) = device(&profile(2, "isolated"));
    let profile = device.profile().clone();
    let lbas = profile.reclaim_unit().0 / profile.controller.lba_size.0;
    let per_page = profile.mapping_unit().0 / profile.controller.lba_size.0;
    for written in 1..=3 * lbas / per_page / 2 {
        write(&mut device, nsid, written, Directive::placement(1));
        let status = device.handle_status(nsid).unwrap();
        assert_eq!(status[0].available_lbas, lbas);
        let left = lbas - written * per_page % lbas;
        assert_eq!(status[1].available_lbas, left, "after {written}");
    }
    drain(&mut device);
    let left = device.handle_status(nsid).unwrap()[1].available_lbas;
    assert_eq!(left, lbas - (3 * lbas / per_page / 2) * per_page % lbas);
}

#[test]
fn an_updated_handle_begins_a_reclaim_unit() {
    let (mut device, nsid) = device(&profile(2, "isolated"));
    let lbas = device.profile().reclaim_unit().0 / device.profile().controller.lba_size.0;
    for pid in [0, 1] {
        write(&mut device, nsid, u64::from(pid), Directive::placement(pid));
        flush(&mut device, nsid);
        let before = device.handle_status(nsid).unwrap()[usize::from(pid)];
        assert!(before.is_persistently_isolated && before.available_lbas < lbas);
        device.update_handle(nsid, pid).unwrap();
        drain(&mut device);
        let after = device.handle_status(nsid).unwrap()[usize::from(pid)];
        assert_eq!((after.pid, after.available_lbas), (pid, lbas));
        let log = device.fdp_events(0, true).unwrap();
        let last = log.last().unwrap();
        assert_eq!(
            (last.kind, last.pid),
            (FdpEventType::NotFullyWritten, Some(pid))
        );
        assert_eq!(last.pages, before.available_lbas);
        // Nothing is written to the new one: it is not left.
        device.update_handle(nsid, pid).unwrap();
        drain(&mut device);
        assert_eq!(device.fdp_events(0, true).unwrap().len(), log.len());
        let unit = unit_of(&device, nsid, u64::from(pid));
        write(&mut device, nsid, 10, Directive::placement(pid));
        flush(&mut device, nsid);
        assert_ne!(unit_of(&device, nsid, 10), unit);
    }
}

#[test]
fn what_is_refused_has_the_status_that_nvme_names() {
    let refused = |result: Result<(), DeviceError>| result.unwrap_err().status();
    let placed = Directive::placement(0);
    let (mut plain, nsid) = device(&profile(0, "streams"));
    let write = |directive| Command::write(nsid, 0, 1, directive, 0);
    assert_eq!(refused(plain.submit(&write(placed))), Status::INVALID_FIELD);
    assert_eq!(refused(plain.update_handle(nsid, 0)), Status::FDP_DISABLED);
    assert_eq!(
        refused(plain.fdp_statistics(0).map(|_| ())),
        Status::FDP_DISABLED
    );
    assert_eq!(
        refused(plain.fdp_events(0, true).map(|_| ())),
        Status::FDP_DISABLED
    );
    assert_eq!(
        refused(plain.handle_status(nsid).map(|_| ())),
        Status::FDP_DISABLED
    );
    assert_eq!(plain.fdp_event_counts(0).count(), 0);

    let (mut device, nsid) = device(&profile(2, "streams"));
    let stream = Directive::stream_of(1);
    assert_eq!(
        refused(device.submit(&write(stream))),
        Status::INVALID_FIELD
    );
    assert_eq!(
        refused(device.update_handle(nsid, 2)),
        Status::INVALID_FIELD
    );
    let unknown = NamespaceId(9);
    assert_eq!(
        refused(device.update_handle(unknown, 0)),
        Status::INVALID_NAMESPACE
    );
    assert_eq!(
        refused(device.fdp_statistics(1).map(|_| ())),
        Status::INVALID_FIELD
    );
    let read = Command {
        directive: placed,
        ..Command::read(nsid, 0, 1, 0)
    };
    assert_eq!(refused(device.submit(&read)), Status::INVALID_FIELD);
    let beyond = Command::write(nsid, u64::MAX, 1, placed, 0);
    assert_eq!(refused(device.submit(&beyond)), Status::LBA_OUT_OF_RANGE);
    assert_eq!(device.stats().write_commands, 0);
    assert_eq!(placed.pattern(), Ok(Pattern::None));
}

#[test]
fn profiles_have_room_for_their_handles() {
    let said = |change: fn(&mut Profile)| {
        let mut profile = profile(8, "streams");
        change(&mut profile);
        profile.validate().map_err(|errors| errors.to_string())
    };
    assert_eq!(said(|_| ()), Ok(()));
    for (change, expected) in [
        (
            (|p| p.fdp.handles = 17) as fn(&mut Profile),
            "fdp.handles: is 17; must be at most 16",
        ),
        (
            |p| p.ftl.over_provisioning_percent = 10,
            "fdp.handles: is 8, and over-provisioning has 10 blocks of each plane; raise",
        ),
        (
            |p| {
                p.fdp.handles = 9;
                p.ftl.over_provisioning_percent = 50;
                p.ftl.placement = PlacementPolicy::named("isolated");
            },
            "fdp.handles: is 9 with ftl.placement = \"isolated\"; must be at most 8",
        ),
        (
            |p| p.ftl.placement = PlacementPolicy::named("sepbit"),
            "fdp.handles: is 8, and ftl.placement does not follow handles; set",
        ),
        (
            |p| p.fdp.reclaim_unit.0 = 16 << 30,
            "fdp.reclaim_unit: is 16GiB; must be",
        ),
    ] {
        let error = said(change).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

/// What a noisy handle is to another: data that is never overwritten, beside random overwrites.
fn beside_noise(placement: &str, cuts: bool) -> (Device, NamespaceId, u64) {
    let (mut device, nsid) = device(&profile(2, placement));
    let pages = device.stats().capacity_pages;
    let quiet = pages / 2;
    let mut random = Random(3);
    // In turn, so that without handles both would lie together.
    for page in 0..quiet {
        write(&mut device, nsid, page, Directive::placement(0));
        write(&mut device, nsid, quiet + page, Directive::placement(1));
    }
    for n in 0..6 * pages {
        if cuts && n % pages == 0 {
            device = Device::restore(&device.snapshot().unwrap()).unwrap();
        }
        // A few of the quiet ones die, so that their reclaim units are worth collecting now and then.
        let page = match n % 16 {
            0 => random.below(quiet),
            _ => quiet + random.below(quiet),
        };
        let pid = u16::from(page >= quiet);
        write(&mut device, nsid, page, Directive::placement(pid));
    }
    flush(&mut device, nsid);
    (device, nsid, quiet)
}

/// Reclaim units with data of both handles.
fn mixed(device: &Device, nsid: NamespaceId, quiet: u64) -> usize {
    let mut holds: BTreeMap<u32, [bool; 2]> = BTreeMap::new();
    for page in 0..2 * quiet {
        if let Some(unit) = unit_of(device, nsid, page) {
            holds.entry(unit).or_default()[usize::from(page >= quiet)] = true;
        }
    }
    holds.values().filter(|held| **held == [true, true]).count()
}

#[test]
fn a_noisy_handle_disturbs_others_unless_they_are_persistently_isolated() {
    let (initially, nsid, quiet) = beside_noise("streams", false);
    assert!(mixed(&initially, nsid, quiet) > 0);
    let (persistently, nsid, quiet) = beside_noise("isolated", false);
    assert_eq!(mixed(&persistently, nsid, quiet), 0);
    assert!(events(&persistently, FdpEventType::MediaReallocated) > 0);
}

#[test]
fn isolation_outlives_power_cuts() {
    let (device, nsid, quiet) = beside_noise("isolated", true);
    // What was being moved at a cut goes with the first handle's.
    let mixed = mixed(&device, nsid, quiet);
    assert!(mixed <= 6, "{mixed} for 6 cuts");
}

#[derive(Clone, Debug)]
enum Step {
    Write { page: u64, pages: u32, pid: u16 },
    Deallocate { page: u64, pages: u32 },
    Update { pid: u16 },
    Flush,
}

const SPAN: u64 = 3000;

fn step() -> impl Strategy<Value = Step> {
    let range = (0..SPAN, 1..400u32);
    prop_oneof![
        8 => (range.clone(), 0..6u16).prop_map(|((page, pages), pid)| Step::Write { page, pages, pid }),
        2 => range.prop_map(|(page, pages)| Step::Deallocate { page, pages }),
        1 => (0..6u16).prop_map(|pid| Step::Update { pid }),
        1 => Just(Step::Flush),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The naive model: each page belongs to the handle that wrote it last, and a reclaim unit to one handle.
    #[test]
    fn handles_are_as_a_naive_model_has_them(
        steps in prop::collection::vec(step(), 1..120),
        placement in prop_oneof![Just("streams"), Just("isolated")],
    ) {
        const HANDLES: u16 = 4;
        let (mut device, nsid) = device(&profile(HANDLES.into(), placement));
        let mut owner: BTreeMap<u64, u16> = BTreeMap::new();
        let (mut written, mut invalid) = (0, 0);
        for step in &steps {
            match *step {
                Step::Write { page, pages, pid } => {
                    device.submit(&Command::write(nsid, page, pages, Directive::placement(pid), 0)).unwrap();
                    let handle = if pid < HANDLES { pid } else { 0 };
                    invalid += u64::from(pid >= HANDLES);
                    written += u64::from(pages);
                    owner.extend((page..page + u64::from(pages)).map(|page| (page, handle)));
                }
                Step::Deallocate { page, pages } => {
                    device.submit(&Command::deallocate(nsid, page, pages, 0)).unwrap();
                    (page..page + u64::from(pages)).for_each(|page| { owner.remove(&page); });
                }
                Step::Update { pid } => {
                    let updated = device.update_handle(nsid, pid);
                    prop_assert_eq!(updated.is_ok(), pid < HANDLES);
                }
                Step::Flush => flush(&mut device, nsid),
            }
            drain(&mut device);
        }
        flush(&mut device, nsid);
        let mut units: BTreeMap<u32, u16> = BTreeMap::new();
        let has_moved = device.stats().gc_pages_moved > 0;
        for page in 0..SPAN + 400 {
            let unit = match device.locate(nsid, page).unwrap() {
                Location::Flash { block, .. } => block,
                // A page that is being moved waits for others, and a flush does not wait for it.
                Location::Buffered if has_moved && owner.contains_key(&page) => continue,
                other => {
                    prop_assert_eq!(other, Location::Unmapped, "page {}", page);
                    prop_assert!(!owner.contains_key(&page), "page {} is lost", page);
                    continue;
                }
            };
            let Some(&handle) = owner.get(&page) else {
                return Err(TestCaseError::fail(format!("page {page} was deallocated")));
            };
            let holder = *units.entry(unit).or_insert(handle);
            if placement == "isolated" || !has_moved {
                prop_assert_eq!(holder, handle, "page {} in unit {}", page, unit);
            }
        }
        let statistics = device.fdp_statistics(0).unwrap();
        prop_assert_eq!(statistics.host_bytes_written, written * device.profile().controller.lba_size.0);
        prop_assert!(statistics.media_bytes_written >= owner.len() as u64 * device.profile().mapping_unit().0);
        prop_assert_eq!(events(&device, FdpEventType::InvalidPlacementIdentifier), invalid);
        let lbas = device.profile().reclaim_unit().0 / device.profile().controller.lba_size.0;
        for status in device.handle_status(nsid).unwrap() {
            prop_assert!(status.available_lbas <= lbas);
            prop_assert_eq!(status.is_persistently_isolated, placement == "isolated");
        }
    }
}
