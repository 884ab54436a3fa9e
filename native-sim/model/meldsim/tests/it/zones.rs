//! Zoned namespaces: states, limits and status codes are those of a naive model of the standard, zones fill superblocks of their
//! own, and what takes time takes what the profile says.

use proptest::prelude::*;

use crate::common::small_profile;
use meldsim::nvme::zone::{ZoneAction, ZoneState};
use meldsim::policy::placement::PlacementPolicy;
use meldsim::profile::ByteSize;
use meldsim::{
    Command, Completion, Device, DeviceError, Directive, Duration, Location, NamespaceId, Opcode,
    Profile, Status,
};

const ZONES: u64 = 12;
/// Pages of a zone beyond its capacity.
const HOLE: u64 = 5;

/// The small device with zones of a superblock, of which so many may be active and open.
fn profile((max_active, max_open): (u32, u32)) -> Profile {
    let mut profile = small_profile();
    profile.timing.melded_read = None;
    profile.geometry.wordlines_per_block = 4;
    profile.geometry.blocks_per_plane = 64;
    profile.ftl.over_provisioning_percent = 40;
    profile.ftl.placement = PlacementPolicy::named("streams");
    profile.controller.lba_size = profile.mapping_unit();
    let page = profile.mapping_unit().0;
    let capacity = profile.zone_capacity().0;
    profile.controller.capacity = ByteSize(ZONES * capacity);
    profile.controller.write_buffer = ByteSize(4 * capacity);
    profile.zones.size = ByteSize(capacity + HOLE * page);
    profile.zones.max_active = max_active;
    profile.zones.max_open = max_open;
    profile.zones.reset_time = Duration::from_us(1000);
    profile.zones.reset_unit_time = Duration::from_ns(50);
    profile
}

fn device(profile: &Profile) -> (Device, NamespaceId) {
    let mut device = Device::new(profile).unwrap();
    let nsid = device
        .create_namespace(ZONES * profile.zones.size.0)
        .unwrap();
    (device, nsid)
}

fn run(device: &mut Device, command: &Command) -> Completion {
    device.submit(command).unwrap();
    assert!(device.run_until_completion());
    device.pop_completion().unwrap()
}

fn status(device: &mut Device, command: &Command) -> Status {
    run(device, command).status
}

/// What the standard says of a zone, as plainly as can be. The first number of `open` was opened first.
struct Naive {
    size: u64,
    capacity: u64,
    limits: (usize, usize),
    zones: Vec<(ZoneState, u64)>,
    open: Vec<usize>,
}

impl Naive {
    fn count(&self, is: fn(ZoneState) -> bool) -> usize {
        self.zones.iter().filter(|(state, _)| is(*state)).count()
    }

    fn close(&mut self, zone: usize, state: ZoneState) {
        self.zones[zone].0 = state;
        self.open.retain(|other| *other != zone);
    }

    fn open(&mut self, zone: usize, state: ZoneState) -> Result<(), Status> {
        if self.zones[zone].0 == ZoneState::Empty {
            let active = self.count(|state| ![ZoneState::Empty, ZoneState::Full].contains(&state));
            if active == self.limits.0 {
                return Err(Status::TOO_MANY_ACTIVE_ZONES);
            }
        }
        if self.open.len() == self.limits.1 {
            let implicit = self
                .open
                .iter()
                .find(|zone| self.zones[**zone].0 == ZoneState::ImplicitlyOpen);
            let Some(&implicit) = implicit else {
                return Err(Status::TOO_MANY_OPEN_ZONES);
            };
            self.close(implicit, ZoneState::Closed);
        }
        self.open.push(zone);
        self.zones[zone].0 = state;
        Ok(())
    }

    fn write(&mut self, lba: u64, lbas: u64) -> Result<(), Status> {
        let (zone, offset) = ((lba / self.size) as usize, lba % self.size);
        if self.zones[zone].0 == ZoneState::Full {
            return Err(Status::ZONE_IS_FULL);
        }
        if offset + lbas > self.capacity {
            return Err(Status::ZONE_BOUNDARY_ERROR);
        }
        if offset != self.zones[zone].1 {
            return Err(Status::ZONE_INVALID_WRITE);
        }
        if !self.open.contains(&zone) {
            self.open(zone, ZoneState::ImplicitlyOpen)?;
        }
        self.zones[zone].1 += lbas;
        if self.zones[zone].1 == self.capacity {
            self.close(zone, ZoneState::Full);
        }
        Ok(())
    }

    fn append(&mut self, lba: u64, lbas: u64) -> Result<u64, Status> {
        if lba % self.size != 0 {
            return Err(Status::INVALID_FIELD);
        }
        let at = lba + self.zones[(lba / self.size) as usize].1;
        match self.write(at, lbas) {
            Ok(()) => Ok(at),
            Err(status) => Err(status),
        }
    }

    fn manage(&mut self, lba: u64, action: ZoneAction) -> Result<(), Status> {
        if lba % self.size != 0 {
            return Err(Status::INVALID_FIELD);
        }
        let zone = (lba / self.size) as usize;
        let state = self.zones[zone].0;
        match action {
            ZoneAction::Open => match state {
                ZoneState::ExplicitlyOpen => Ok(()),
                ZoneState::ImplicitlyOpen => {
                    self.zones[zone].0 = ZoneState::ExplicitlyOpen;
                    Ok(())
                }
                ZoneState::Full => Err(Status::INVALID_ZONE_STATE_TRANSITION),
                _ => self.open(zone, ZoneState::ExplicitlyOpen),
            },
            ZoneAction::Close => match state {
                ZoneState::Empty | ZoneState::Full => Err(Status::INVALID_ZONE_STATE_TRANSITION),
                _ => {
                    self.close(zone, ZoneState::Closed);
                    Ok(())
                }
            },
            ZoneAction::Finish => {
                self.close(zone, ZoneState::Full);
                Ok(())
            }
            ZoneAction::Reset => {
                self.close(zone, ZoneState::Empty);
                self.zones[zone].1 = 0;
                Ok(())
            }
            ZoneAction::Offline => Err(Status::INVALID_ZONE_STATE_TRANSITION),
        }
    }

    /// Each zone whose state allows it; of zones to open, all or none.
    fn manage_all(&mut self, action: ZoneAction) -> Result<(), Status> {
        use ZoneState::{Closed, ExplicitlyOpen, Full, ImplicitlyOpen};
        let from: &[ZoneState] = match action {
            ZoneAction::Close => &[ImplicitlyOpen, ExplicitlyOpen],
            ZoneAction::Finish => &[ImplicitlyOpen, ExplicitlyOpen, Closed],
            ZoneAction::Open => &[Closed],
            ZoneAction::Reset => &[ImplicitlyOpen, ExplicitlyOpen, Closed, Full],
            ZoneAction::Offline => &[],
        };
        let explicit_after = self.count(|state| [ExplicitlyOpen, Closed].contains(&state));
        if action == ZoneAction::Open && explicit_after > self.limits.1 {
            return Err(Status::TOO_MANY_OPEN_ZONES);
        }
        let before = self.zones.clone();
        for (zone, (state, _)) in (0..).zip(before) {
            if from.contains(&state) {
                self.manage(zone * self.size, action)?;
            }
        }
        Ok(())
    }

    fn read(&self, lba: u64, lbas: u64) -> Result<(), Status> {
        match lba / self.size == (lba + lbas - 1) / self.size {
            true => Ok(()),
            false => Err(Status::ZONE_BOUNDARY_ERROR),
        }
    }

    /// Zones that were open are closed; one that nothing was written to is empty.
    fn power_cut(&mut self) {
        for (state, written) in &mut self.zones {
            if ![ZoneState::Empty, ZoneState::Full].contains(state) {
                *state = match written {
                    0 => ZoneState::Empty,
                    _ => ZoneState::Closed,
                };
            }
        }
        self.open.clear();
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// In the zone, so many pages from its write pointer or its start, so many pages.
    Write(u64, i64, u64),
    Append(u64, u64, u64),
    Manage(u64, u64, ZoneAction),
    ManageAll(ZoneAction),
    Read(u64, u64, u64),
    PowerCut,
}

fn step() -> impl Strategy<Value = Step> {
    let zone = || 0..ZONES;
    let few = prop_oneof![9 => Just(0), 1 => -2..3i64];
    let offset = || prop_oneof![9 => Just(0), 1 => 0..9u64];
    let action = || {
        prop::sample::select(vec![
            ZoneAction::Open,
            ZoneAction::Close,
            ZoneAction::Finish,
            ZoneAction::Reset,
            ZoneAction::Offline,
        ])
    };
    prop_oneof![
        4 => (zone(), few, 1..60u64).prop_map(|(zone, off, pages)| Step::Write(zone, off, pages)),
        2 => (zone(), offset(), 1..60u64).prop_map(|(zone, off, pages)| Step::Append(zone, off, pages)),
        4 => (zone(), offset(), action()).prop_map(|(zone, off, action)| Step::Manage(zone, off, action)),
        1 => action().prop_map(Step::ManageAll),
        1 => (zone(), 0..100u64, 1..60u64).prop_map(|(zone, off, pages)| Step::Read(zone, off, pages)),
        1 => Just(Step::PowerCut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn states_limits_and_status_codes_are_those_of_a_naive_model(
        limits in (1..7u32, 1..7u32),
        steps in prop::collection::vec(step(), 1..220),
    ) {
        let limits = (limits.0.max(limits.1), limits.1);
        let profile = profile(limits);
        let (mut device, nsid) = device(&profile);
        let shape = device.zone_shape().unwrap();
        let mut naive = Naive {
            size: shape.size_lbas,
            capacity: shape.capacity_lbas,
            limits: (limits.0 as usize, limits.1 as usize),
            zones: vec![(ZoneState::Empty, 0); ZONES as usize],
            open: Vec::new(),
        };
        for (tag, step) in (0..).zip(steps) {
            let start = |zone: u64| zone * naive.size;
            let (command, expected) = match step {
                Step::Write(zone, off, pages) => {
                    let pointer = start(zone) + naive.zones[zone as usize].1;
                    let lba = pointer.saturating_add_signed(off);
                    let lba = lba.min(ZONES * naive.size - pages);
                    let write = Command::write(nsid, lba, pages as u32, Directive::NONE, tag);
                    (write, naive.write(lba, pages).map(|()| 0))
                }
                Step::Append(zone, off, pages) => {
                    let lba = (start(zone) + off).min(ZONES * naive.size - pages);
                    (Command::append(nsid, lba, pages as u32, tag), naive.append(lba, pages))
                }
                Step::Manage(zone, off, action) => {
                    let lba = start(zone) + off;
                    let expected = naive.manage(lba, action).map(|()| 0);
                    (Command::manage_zone(nsid, lba, action, tag), expected)
                }
                Step::ManageAll(action) => {
                    let expected = naive.manage_all(action).map(|()| 0);
                    (Command::manage_all_zones(nsid, action, tag), expected)
                }
                Step::Read(zone, off, pages) => {
                    let lba = (start(zone) + off).min(ZONES * naive.size - pages);
                    let expected = naive.read(lba, pages).map(|()| 0);
                    (Command::read(nsid, lba, pages as u32, tag), expected)
                }
                Step::PowerCut => {
                    device = Device::restore(&device.snapshot().unwrap()).unwrap();
                    naive.power_cut();
                    continue;
                }
            };
            let done = run(&mut device, &command);
            let got = match done.status {
                Status::SUCCESS => Ok(done.result),
                status => Err(status),
            };
            prop_assert_eq!(got, expected, "{:?}", command);
            let zones: Vec<_> = device.zones().map(|zone| (zone.state, zone.written_lbas)).collect();
            prop_assert_eq!(&zones, &naive.zones, "after {:?}", command);
        }
        // What is written is there, and nothing else.
        for (zone, (_, written)) in (0..).zip(&naive.zones) {
            for page in 0..naive.size {
                let at = device.locate(nsid, zone * naive.size + page).unwrap();
                prop_assert_eq!(at == Location::Unmapped, page >= *written);
            }
        }
        prop_assert_eq!(device.stats().gc_pages_moved, 0);
    }
}

#[test]
fn commands_of_zones_are_refused_where_there_are_none() {
    let mut device = Device::new(&small_profile()).unwrap();
    let nsid = device.create_namespace(1 << 20).unwrap();
    for command in [
        Command::append(nsid, 0, 1, 0),
        Command::manage_zone(nsid, 0, ZoneAction::Open, 0),
    ] {
        let error = device.submit(&command).unwrap_err();
        assert_eq!(error, DeviceError::NotZoned { nsid });
        assert_eq!(error.status(), Status::INVALID_OPCODE);
    }
    assert_eq!((device.zone_shape(), device.zones().count()), (None, 0));
}

#[test]
fn what_a_zoned_device_cannot_do_is_refused() {
    let profile = profile((3, 2));
    let (mut device, nsid) = device(&profile);
    let size = profile.zones.size.0;
    assert_eq!(device.create_namespace(size), Err(DeviceError::SecondZoned));
    let past = device.precondition(&meldsim::Precondition::default());
    assert_eq!(past, Err(DeviceError::ZonedPast));
    let deallocation = Command::deallocate(nsid, 0, 1, 0);
    assert_eq!(status(&mut device, &deallocation), Status::INVALID_OPCODE);
    let no_action = Command {
        zone_action: None,
        ..Command::manage_zone(nsid, 0, ZoneAction::Open, 0)
    };
    assert_eq!(device.submit(&no_action), Err(DeviceError::NoZoneAction));
    device.preload(nsid, 0, 3, Directive::NONE).unwrap();
    let again = device.preload(nsid, 0, 3, Directive::NONE);
    assert_eq!(again, Err(DeviceError::ZonesNotEmpty));
    let mut other = Device::new(&profile).unwrap();
    for wrong in [size - 4096, (ZONES + 1) * size] {
        let refused = other.create_namespace(wrong).unwrap_err();
        assert!(
            matches!(refused, DeviceError::NamespaceSize { .. }),
            "{wrong}"
        );
    }
}

#[test]
fn profiles_that_cannot_keep_zones_apart_are_refused() {
    for (change, key) in [
        (
            (|p| p.zones.max_open = 9) as fn(&mut Profile),
            "zones.max_open",
        ),
        (|p| p.zones.size.0 = 8192, "zones.size"),
        (|p| p.geometry.blocks_per_plane = 17, "zones.max_active"),
        (
            |p| p.controller.write_buffer = ByteSize(400 << 10),
            "controller.write_buffer",
        ),
        (
            |p| p.controller.lba_size = ByteSize(512),
            "controller.lba_size",
        ),
        (
            |p| p.ftl.placement = PlacementPolicy::named("isolated"),
            "ftl.placement",
        ),
        (|p| p.sets.count = 2, "sets.count"),
    ] {
        let mut profile = profile((8, 8));
        assert!(profile.validate().is_ok());
        change(&mut profile);
        let text = profile.validate().expect_err(key).to_string();
        assert!(text.contains(key), "{key}: {text}");
    }
}

/// Zones are written side by side, reset and written again many times: each fills a superblock of its own, and nothing is moved.
#[test]
fn a_zone_fills_a_superblock_of_its_own() {
    let profile = profile((4, 4));
    let (mut device, nsid) = device(&profile);
    let shape = device.zone_shape().unwrap();
    for round in 0..20 {
        for group in 0..ZONES / 4 {
            for page in 0..shape.capacity_lbas {
                for zone in 4 * group..4 * group + 4 {
                    let start = zone * shape.size_lbas;
                    let write = Command::write(nsid, start + page, 1, Directive::NONE, 0);
                    assert_eq!(status(&mut device, &write), Status::SUCCESS);
                }
            }
        }
        while device.run_until_completion() {}
        let mut blocks: Vec<u32> = (0..ZONES)
            .map(|zone| {
                let block = |page| match device.locate(nsid, zone * shape.size_lbas + page) {
                    Ok(Location::Flash { block, .. }) => block,
                    other => panic!("zone {zone}, round {round}: {other:?}"),
                };
                let first = block(0);
                assert!((0..shape.capacity_lbas).all(|page| block(page) == first));
                first
            })
            .collect();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), ZONES as usize);
        for zone in 0..ZONES {
            let reset = Command::manage_zone(nsid, zone * shape.size_lbas, ZoneAction::Reset, 0);
            assert_eq!(status(&mut device, &reset), Status::SUCCESS);
        }
    }
    let stats = device.stats();
    assert!(stats.erases > 0);
    assert_eq!(stats.programmed_bytes, stats.host_written_bytes);
    assert_eq!(device.zone_counts().resets, 20 * ZONES);
}

/// A reset takes its time and that of what was written, and writes to other zones wait for it; reads do not.
#[test]
fn a_reset_takes_the_time_of_what_was_written() {
    let profile = profile((4, 4));
    let (mut device, nsid) = device(&profile);
    let shape = device.zone_shape().unwrap();
    let latency = profile.controller.latency;
    let full = Command::write(nsid, 0, shape.capacity_lbas as u32, Directive::NONE, 0);
    assert_eq!(status(&mut device, &full), Status::SUCCESS);
    while device.run_until_completion() {}
    let reset = Command::manage_zone(nsid, 0, ZoneAction::Reset, 1);
    let zones = &profile.zones;
    let time = zones.reset_time + zones.reset_unit_time * shape.capacity_lbas;
    device.submit(&reset).unwrap();
    let (write, read) = (
        Command::write(nsid, shape.size_lbas, 1, Directive::NONE, 2),
        Command::read(nsid, 5, 1, 3),
    );
    device.submit(&write).unwrap();
    device.submit(&read).unwrap();
    let mut latencies = [Duration::ZERO; 4];
    while device.run_until_completion() {
        while let Some(done) = device.pop_completion() {
            latencies[done.tag as usize] = done.latency();
        }
    }
    assert_eq!(latencies[1], time + latency);
    assert_eq!(latencies[2], time + latency);
    assert!(latencies[3] < time, "{:?}", latencies[3]);
    // An empty zone is so already.
    assert_eq!(run(&mut device, &reset).latency(), latency);
}

/// A finish programs what is not written: the dies work side by side, each on its share.
#[test]
fn a_finish_pads_what_is_not_written() {
    let profile = profile((4, 4));
    let (mut device, nsid) = device(&profile);
    let shape = device.zone_shape().unwrap();
    let finish =
        |zone: u64| Command::manage_zone(nsid, zone * shape.size_lbas, ZoneAction::Finish, 0);
    // Nothing is written: nothing is padded.
    let empty = run(&mut device, &finish(0));
    assert_eq!(empty.latency(), profile.controller.latency);
    let mut padded = Vec::new();
    for (zone, share) in [(1, 4), (2, 2)] {
        let pages = shape.capacity_lbas / share;
        let start = zone * shape.size_lbas;
        let write = Command::write(nsid, start, pages as u32, Directive::NONE, 0);
        assert_eq!(status(&mut device, &write), Status::SUCCESS);
        while device.run_until_completion() {}
        let before = device.stats().padded_pages;
        padded.push(run(&mut device, &finish(zone)).latency());
        let pages = shape.capacity_lbas - pages;
        assert_eq!(device.stats().padded_pages - before, pages);
        // As full as the others: its block takes no more.
        assert_eq!(
            device.zones().nth(zone as usize).unwrap().state,
            ZoneState::Full
        );
        assert_eq!(
            run(&mut device, &finish(zone)).latency(),
            profile.controller.latency
        );
    }
    let program = profile.timing.program;
    assert!(
        padded[0] >= program * 3 && padded[1] >= program * 2,
        "{padded:?}"
    );
    assert!(
        padded[0] < program * 5 && padded[1] < program * 4,
        "{padded:?}"
    );
    // Its frontier is free again, and its data are where they were.
    for zone in 3..ZONES {
        let write = Command::append(nsid, zone * shape.size_lbas, 1, 0);
        let expected = match zone {
            3..7 => Status::SUCCESS,
            _ => Status::TOO_MANY_ACTIVE_ZONES,
        };
        assert_eq!(status(&mut device, &write), expected, "{zone}");
    }
    assert_eq!(device.zone_counts().finishes, 3);
    assert!(matches!(
        device.locate(nsid, shape.size_lbas).unwrap(),
        Location::Flash { .. }
    ));
}

/// What is done to all zones takes the time of what they hold; resources are free again.
#[test]
fn all_zones_are_finished_and_reset_at_once() {
    let profile = profile((4, 4));
    let (mut device, nsid) = device(&profile);
    let shape = device.zone_shape().unwrap();
    let write_some = |device: &mut Device, pages: u64| {
        for zone in 0..3 {
            let start = zone * shape.size_lbas;
            let write = Command::write(nsid, start, pages as u32, Directive::NONE, 0);
            assert_eq!(status(device, &write), Status::SUCCESS);
        }
        while device.run_until_completion() {}
    };
    let pages = shape.capacity_lbas / 4;
    write_some(&mut device, pages);
    let finish = Command::manage_all_zones(nsid, ZoneAction::Finish, 0);
    assert_eq!(status(&mut device, &finish), Status::SUCCESS);
    let full = device
        .zones()
        .filter(|zone| zone.state == ZoneState::Full)
        .count();
    assert_eq!(full, 3);
    assert_eq!(
        device.stats().padded_pages,
        3 * (shape.capacity_lbas - pages)
    );
    let reset = Command::manage_all_zones(nsid, ZoneAction::Reset, 0);
    let zones = &profile.zones;
    let time = zones.reset_time + zones.reset_unit_time * (3 * pages);
    assert_eq!(
        run(&mut device, &reset).latency(),
        time + profile.controller.latency
    );
    assert_eq!(
        (device.zone_counts().finishes, device.zone_counts().resets),
        (3, 3)
    );
    // Four zones may be active again, and their superblocks are free.
    for _ in 0..10 {
        write_some(&mut device, shape.capacity_lbas);
        assert_eq!(status(&mut device, &reset), Status::SUCCESS);
    }
    assert_eq!(device.stats().mapped_pages, 0);
}

/// Appends that are outstanding at once get addresses one after the other, in the order submitted.
#[test]
fn appends_return_where_they_are() {
    let profile = profile((4, 4));
    let (mut device, nsid) = device(&profile);
    let zslba = 3 * device.zone_shape().unwrap().size_lbas;
    for tag in 0..20 {
        device
            .submit(&Command::append(nsid, zslba, 2, tag))
            .unwrap();
    }
    let mut placed = Vec::new();
    while device.run_until_completion() {
        while let Some(done) = device.pop_completion() {
            assert_eq!(
                (done.opcode, done.status),
                (Opcode::Append, Status::SUCCESS)
            );
            placed.push((done.tag, done.result));
        }
    }
    placed.sort_unstable();
    let expected: Vec<_> = (0..20).map(|tag| (tag, zslba + 2 * tag)).collect();
    assert_eq!(placed, expected);
    assert_eq!(device.zone_counts().appends, 20);
}

/// The firmware works on one write after the other, half before the buffer and half after: how long for which, and as many as there
/// are in as many times that.
#[test]
fn writes_and_appends_take_the_firmware_one_after_the_other() {
    let mut profile = profile((4, 4));
    let page = profile.mapping_unit().0;
    profile.zones.write_time = Duration::from_us(6);
    profile.zones.append_time = Duration::from_us(2);
    profile.zones.write_unit = ByteSize(2 * page);
    profile.zones.part_time = Duration::from_us(1);
    let latency = profile.controller.latency;
    let us = Duration::from_us;
    let (mut alone, nsid) = device(&profile);
    for (lba, append, pages, work) in [
        (0, false, 2, 6),
        (2, false, 1, 7),
        (0, true, 2, 8),
        (0, true, 1, 9),
    ] {
        let command = match append {
            true => Command::append(nsid, lba, pages, 0),
            false => Command::write(nsid, lba, pages, Directive::NONE, 0),
        };
        assert_eq!(run(&mut alone, &command).latency(), latency + us(work));
    }
    assert_eq!(alone.stats().zone_unit_busy_ps, us(6 + 7 + 8 + 9).as_ps());
    // A read overtakes what waits, a close does not.
    let (mut many, nsid) = device(&profile);
    let count = many.zone_shape().unwrap().capacity_lbas - 1;
    for lba in 0..count {
        many.submit(&Command::write(nsid, lba, 1, Directive::NONE, lba))
            .unwrap();
    }
    many.submit(&Command::manage_zone(nsid, 0, ZoneAction::Close, count))
        .unwrap();
    many.submit(&Command::read(nsid, 0, 1, count + 1)).unwrap();
    let half = Duration::from_ps(us(7).as_ps() / 2);
    let mut done = 0;
    while many.run_until_completion() {
        while let Some(completion) = many.pop_completion() {
            let expected = match completion.tag {
                tag if tag < count => half * count + half * (tag + 1),
                tag if tag == count => half * count + latency,
                _ => latency,
            };
            assert_eq!(completion.status, Status::SUCCESS);
            assert_eq!(completion.latency(), expected, "{}", completion.tag);
            done += 1;
        }
    }
    assert_eq!(done, count + 2);
    // With d outstanding a write takes d times its work: the ceiling is one over its work.
    let (mut steady, nsid) = device(&profile);
    let (depth, mut next) = (8, 0);
    let mut submit = |device: &mut Device| {
        device
            .submit(&Command::write(nsid, next, 1, Directive::NONE, next))
            .unwrap();
        next += 1;
    };
    (0..depth).for_each(|_| submit(&mut steady));
    let mut ends = Vec::new();
    while steady.run_until_completion() {
        let completion = steady.pop_completion().unwrap();
        ends.push(completion.completed);
        if (ends.len() as u64) < count - depth {
            submit(&mut steady);
        }
    }
    let (from, until) = (8, ends.len() - 9);
    let rounds = (until - from) as u64;
    let off = (ends[until] - ends[from])
        .as_ps()
        .abs_diff((us(7) * rounds).as_ps());
    assert!(off <= us(7 * depth).as_ps(), "{off} ps in {rounds} writes");
    let busy = steady.stats().zone_unit_busy_ps;
    assert_eq!(busy, (us(7) * ends.len() as u64).as_ps());
}

#[test]
fn a_zone_whose_last_write_is_lost_in_a_power_cut_has_no_holes() {
    let mut profile = profile((2, 2));
    profile.geometry.wordlines_per_block = 8;
    let capacity = profile.zone_capacity().0;
    profile.controller.capacity = ByteSize(ZONES * capacity);
    profile.controller.write_buffer = ByteSize(capacity / 2);
    profile.zones.size = ByteSize(capacity);
    let (mut device, nsid) = device(&profile);
    let capacity = device.zone_shape().unwrap().capacity_lbas;
    let half = (capacity / 2) as u32;
    let write = |slba, nlb, tag| Command::write(nsid, slba, nlb, Directive::NONE, tag);
    assert_eq!(run(&mut device, &write(0, half, 1)).status, Status::SUCCESS);
    // The last has begun, and waits for the buffer.
    let rest = capacity as u32 - half;
    device.submit(&write(half.into(), rest, 2)).unwrap();
    let (zone, found) = device
        .zones()
        .next()
        .map(|zone| (zone.state, zone.written_lbas))
        .unwrap();
    assert_eq!((zone, found), (ZoneState::Full, capacity));
    let device = Device::restore(&device.snapshot().unwrap()).unwrap();
    let zone = device.zones().next().unwrap();
    let is_there = |lba: u64| device.locate(nsid, lba).unwrap() != Location::Unmapped;
    assert!(zone.written_lbas < capacity && (0..zone.written_lbas).all(is_there));
    assert!(zone.written_lbas >= half.into());
}
