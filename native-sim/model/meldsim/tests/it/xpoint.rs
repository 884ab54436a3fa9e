//! A device of kind `xpoint`: what commands take, and what calls made for flash answer.

use crate::common::drain;
use meldsim::nvme::Window;
use meldsim::{
    Command, Completion, Device, DeviceError, Directive, Duration, Location, NamespaceId,
    Precondition, Profile, Status,
};
use proptest::prelude::*;

const LBA: u64 = 512;
const LBAS: u64 = 4 << 20;

fn profile() -> Profile {
    Profile::builtin("optane-900p").unwrap()
}

fn device(profile: &Profile) -> (Device, NamespaceId) {
    let mut device = Device::new(profile).unwrap();
    let nsid = device.create_namespace(LBAS * LBA).unwrap();
    (device, nsid)
}

/// The latency of one command on an idle device.
fn alone(profile: &Profile, command: impl Fn(NamespaceId) -> Command) -> Duration {
    let (mut device, nsid) = device(profile);
    device.submit(&command(nsid)).unwrap();
    drain(&mut device)
}

fn read(slba: u64, nlb: u32) -> impl Fn(NamespaceId) -> Command {
    move |nsid| Command::read(nsid, slba, nlb, 0)
}

fn write(slba: u64, nlb: u32) -> impl Fn(NamespaceId) -> Command {
    move |nsid| Command::write(nsid, slba, nlb, Directive::NONE, 0)
}

/// Picoseconds of bytes at a rate in bytes a second.
fn transfer(bytes: u64, rate: u64) -> u64 {
    bytes * 1_000_000 / (rate / 1_000_000)
}

#[test]
fn a_read_alone_takes_the_sum_of_its_parts() {
    let profile = profile();
    let (xpoint, host) = (&profile.xpoint, &profile.host);
    let fixed = host.command_cost + profile.controller.latency + xpoint.read;
    let data = transfer(4096, xpoint.read_rate.0) + transfer(4096, host.link_rate.0);
    let taken = alone(&profile, read(8, 8)).as_ps();
    assert!(taken.abs_diff(fixed.as_ps() + data) < 1000, "{taken}");
}

#[test]
fn every_key_changes_a_result() {
    let base = profile();
    let sector_reads = |profile: &Profile| {
        let (mut device, nsid) = device(profile);
        for n in 0..32 {
            device.submit(&Command::read(nsid, 8 * n, 1, n)).unwrap();
        }
        drain(&mut device)
    };
    let same_die = |write: bool| {
        move |profile: &Profile| {
            let (mut device, nsid) = device(profile);
            for n in 0..8 {
                let slba = n * 7 * 8;
                let command = match write {
                    true => Command::write(nsid, slba, 8, Directive::NONE, n),
                    false => Command::read(nsid, slba, 8, n),
                };
                device.submit(&command).unwrap();
            }
            drain(&mut device)
        }
    };
    let differs = |what: &str, change: fn(&mut Profile), run: &dyn Fn(&Profile) -> Duration| {
        let mut changed = base.clone();
        change(&mut changed);
        assert_ne!(run(&changed), run(&base), "{what} changes nothing");
    };
    let large_read = |profile: &Profile| alone(profile, read(0, 256));
    let small_read = |profile: &Profile| alone(profile, read(0, 8));
    let large_write = |profile: &Profile| alone(profile, write(0, 256));
    differs(
        "read",
        |p| p.xpoint.read = Duration::from_us(7),
        &large_read,
    );
    differs(
        "write",
        |p| p.xpoint.write = Duration::from_us(7),
        &large_write,
    );
    differs(
        "issue_interval",
        |p| p.xpoint.issue_interval = Duration::from_us(3),
        &large_read,
    );
    differs("chunk_size", |p| p.xpoint.chunk_size.0 = 8192, &large_read);
    differs("dies", |p| p.xpoint.dies = 8, &same_die(false));
    differs(
        "read_interval",
        |p| p.xpoint.read_interval = Duration::from_us(3),
        &same_die(false),
    );
    differs(
        "write_interval",
        |p| p.xpoint.write_interval = Duration::from_us(3),
        &same_die(true),
    );
    differs(
        "sector_buffers",
        |p| p.xpoint.sector_buffers = 3,
        &sector_reads,
    );
    differs(
        "sector_time",
        |p| p.xpoint.sector_time = Duration::from_us(4),
        &sector_reads,
    );
    differs("read_rate", |p| p.xpoint.read_rate.0 /= 2, &large_read);
    differs("write_rate", |p| p.xpoint.write_rate.0 /= 2, &large_write);
    differs(
        "link_command_time",
        |p| p.host.link_command_time = Duration::from_us(1),
        &small_read,
    );
    differs(
        "link_command_time",
        |p| p.host.link_command_time = Duration::from_us(1),
        &large_write,
    );
    let capacity = |profile: &Profile| {
        let pages = Device::new(profile).unwrap().stats().capacity_pages;
        Duration::from_us(pages)
    };
    differs("capacity", |p| p.xpoint.capacity.0 /= 2, &capacity);
}

#[test]
fn tiny_and_unaligned_requests_cost_more() {
    let profile = profile();
    let aligned = alone(&profile, read(0, 8));
    assert!(alone(&profile, read(1, 8)) > aligned);
    // Two chunks in part; one would be as good as aligned but for the sector buffer.
    assert!(alone(&profile, read(1, 8)) > alone(&profile, read(0, 7)));
    let whole = alone(&profile, write(0, 8));
    assert!(alone(&profile, write(0, 1)) > whole, "a read-modify-write");
}

#[test]
fn what_is_made_for_flash_has_a_sensible_answer() {
    let (mut device, nsid) = device(&profile());
    let second = device.create_namespace(1 << 30).unwrap();
    device.preload(nsid, 0, LBAS, Directive::NONE).unwrap();
    device.precondition(&Precondition::default()).unwrap();
    assert!(device.preload(nsid, 0, LBAS + 1, Directive::NONE).is_err());
    assert_eq!((device.sets(), device.set_of(second)), (1, Some(0)));
    assert_eq!(device.optimal_write_bytes(), 4096);
    assert_eq!(device.stripe_bytes(), 7 * 4096);
    assert_eq!(device.allocated_lbas(nsid), LBAS);
    let info = device.set_info(0).unwrap();
    assert_eq!(info.capacity_pages, 260 << 18);
    assert_eq!(info.mapped_pages, (LBAS * LBA + (1 << 30)) / 4096);
    let chunks_of = |nsid| device.namespace_stats(nsid).unwrap().mapped_pages;
    assert_eq!(chunks_of(nsid) + chunks_of(second), info.mapped_pages);
    assert_eq!(chunks_of(second), (1 << 30) / 4096);
    assert_eq!(device.set_info(1), None);
    // The first chunk of the second namespace comes after the last of the first.
    let chunks = LBAS * LBA / 4096;
    let at = |chunk: u64| Location::Xpoint {
        die: (chunk % 7) as u32,
        chunk,
    };
    assert_eq!(device.locate(nsid, 8 * 9), Ok(at(9)));
    assert_eq!(device.locate(second, 7), Ok(at(chunks)));
    let placed = device.preload_unmapped(nsid, 0, 64, Directive::NONE);
    assert_eq!(placed, Ok(0), "nothing is missing");
    // No garbage, no windows.
    assert_eq!(device.window(0).unwrap().0, Window::Disabled);
    assert_eq!(
        device.enter_window(0, true),
        Err(DeviceError::WindowsUnsupported)
    );
    assert!(matches!(
        device.window(1),
        Err(DeviceError::UnknownSet { .. })
    ));
}

#[test]
fn a_power_cut_loses_nothing_and_a_snapshot_holds_nearly_nothing() {
    let (mut device, nsid) = device(&profile());
    for n in 0..1000 {
        device
            .submit(&Command::write(nsid, 8 * n, 8, Directive::NONE, n))
            .unwrap();
    }
    let snapshot = device.snapshot().unwrap();
    // Little more than the profile.
    assert!(snapshot.len() < 4096, "{}", snapshot.len());
    let mut restored = Device::restore(&snapshot).unwrap();
    assert_eq!(restored.namespaces(), device.namespaces());
    assert_eq!(
        (restored.now(), restored.outstanding()),
        (meldsim::Instant::START, 0)
    );
    restored.submit(&Command::read(nsid, 0, 8, 0)).unwrap();
    assert!(drain(&mut restored) > Duration::ZERO);
}

#[derive(Clone, Debug)]
enum Step {
    Read(u64, u32),
    Write(u64, u32),
    Deallocate(u64, u32),
    Flush,
    Advance(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let range = || (0..LBAS - 600, prop_oneof![1..20u32, 1..600u32]);
    // Few places, so that chunks are fought for.
    let narrow = || (0..64u64, 1..20u32);
    let step = prop_oneof![
        3 => range().prop_map(|(slba, nlb)| Step::Read(slba, nlb)),
        2 => narrow().prop_map(|(slba, nlb)| Step::Read(slba, nlb)),
        3 => range().prop_map(|(slba, nlb)| Step::Write(slba, nlb)),
        2 => narrow().prop_map(|(slba, nlb)| Step::Write(slba, nlb)),
        1 => range().prop_map(|(slba, nlb)| Step::Deallocate(slba, nlb)),
        1 => Just(Step::Flush),
        3 => (0..200u64).prop_map(Step::Advance),
    ];
    prop::collection::vec(step, 1..120)
}

/// What completes, in order, when the steps are done one after the other.
fn run(profile: &Profile, steps: &[Step]) -> (Device, Vec<Completion>) {
    let (mut device, nsid) = device(profile);
    let mut done = Vec::new();
    for (tag, step) in (0..).zip(steps) {
        let command = match *step {
            Step::Read(slba, nlb) => Command::read(nsid, slba, nlb, tag),
            Step::Write(slba, nlb) => Command::write(nsid, slba, nlb, Directive::NONE, tag),
            Step::Deallocate(slba, nlb) => Command::deallocate(nsid, slba, nlb, tag),
            Step::Flush => Command::flush(nsid, tag),
            Step::Advance(us) => {
                let until = device.now() + Duration::from_us(us);
                device.advance_to(until);
                continue;
            }
        };
        device.submit(&command).unwrap();
    }
    while device.run_until_completion() {
        done.extend(std::iter::from_fn(|| device.pop_completion()));
    }
    (device, done)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_submitted_completes_once_and_none_too_early(
        steps in steps(),
        sector_buffers in 1..12u32,
        dies in 1..9u32,
        in_flight in 0..4u32,
    ) {
        let mut profile = profile();
        profile.xpoint.sector_buffers = sector_buffers;
        profile.xpoint.dies = dies;
        profile.host.commands_in_flight = in_flight;
        let (device, done) = run(&profile, &steps);
        let mut tags: Vec<u64> = done.iter().map(|done| done.tag).collect();
        tags.sort_unstable();
        let submitted: Vec<u64> = (0..)
            .zip(&steps)
            .filter(|(_, step)| !matches!(step, Step::Advance(_)))
            .map(|(tag, _)| tag)
            .collect();
        prop_assert_eq!(tags, submitted);
        prop_assert_eq!(device.outstanding(), 0);
        prop_assert!(done.windows(2).all(|pair| pair[0].completed <= pair[1].completed));
        let xpoint = &profile.xpoint;
        let (mut read_bytes, mut chunks) = (0, 0);
        for done in &done {
            prop_assert_eq!(done.status, Status::SUCCESS);
            let least = match steps[done.tag as usize] {
                Step::Read(_, nlb) => xpoint.read.as_ps() + transfer(u64::from(nlb) * LBA, xpoint.read_rate.0),
                Step::Write(_, nlb) => xpoint.write.as_ps() + transfer(u64::from(nlb) * LBA, xpoint.write_rate.0),
                _ => profile.controller.latency.as_ps(),
            };
            // Each chunk's transfer is cut to a picosecond.
            prop_assert!(done.latency().as_ps() + 2000 >= least, "{:?} {:?}", done, steps[done.tag as usize]);
        }
        for step in &steps {
            if let Step::Read(slba, nlb) | Step::Write(slba, nlb) = *step {
                let of_read = matches!(step, Step::Read(..));
                read_bytes += if of_read { u64::from(nlb) * LBA } else { 0 };
                chunks += (slba + u64::from(nlb)).div_ceil(8) - slba / 8;
            }
        }
        let stats = device.stats();
        prop_assert_eq!(stats.host_read_bytes, read_bytes);
        let modified = stats.chunk_reads + stats.chunk_writes - chunks;
        prop_assert!(modified <= stats.partial_chunk_accesses);
        prop_assert_eq!(device.memory() > 0, true);
    }

    #[test]
    fn the_same_steps_give_the_same_picoseconds(steps in steps()) {
        let profile = profile();
        prop_assert_eq!(run(&profile, &steps).1, run(&profile, &steps).1);
    }
}
