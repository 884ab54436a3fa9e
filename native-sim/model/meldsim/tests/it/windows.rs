//! Predictable latency mode: windows, their log, and what they do to the tail.

use meldsim::nvme::{PredictableLatencyConfig, PredictableLatencyLog, Window};
use meldsim::policy::pacing::PacingPolicy;
use meldsim::{
    Command, Device, DeviceError, Directive, Duration, Instant, NamespaceId, Opcode, Profile,
};

const NSID: NamespaceId = NamespaceId(1);
const SET: u32 = 0;
const CONFIG: PredictableLatencyConfig = PredictableLatencyConfig {
    enable_event: u16::MAX,
    reads_threshold: 10,
    writes_threshold: 10,
    time_threshold_ms: 5,
};

fn profile() -> Profile {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.predictable_latency.dtwin_reads = 100;
    profile.predictable_latency.dtwin_writes = 50;
    profile.predictable_latency.dtwin_time = Duration::from_ms(40);
    profile.predictable_latency.ndwin_time_high = Duration::from_ms(20);
    profile.predictable_latency.ndwin_time_low = Duration::from_ms(10);
    profile
}

fn device(profile: &Profile) -> Device {
    let mut device = Device::new(profile).unwrap();
    assert_eq!(device.create_namespace(1 << 30), Ok(NSID));
    device
}

fn enabled(profile: &Profile) -> Device {
    let mut device = device(profile);
    device.configure_windows(SET, true, CONFIG).unwrap();
    device
}

fn log(device: &mut Device) -> PredictableLatencyLog {
    device.latency_log(SET, true).unwrap()
}

fn run(device: &mut Device, opcode: Opcode, slba: u64, nlb: u32) -> Duration {
    let command = Command {
        opcode,
        ..Command::read(NSID, slba, nlb, 0)
    };
    device.submit(&command).unwrap();
    // Not until the device is idle: the end of a window is an event too.
    assert!(device.run_until_completion());
    device.pop_completion().unwrap().latency()
}

#[test]
fn windows_are_features_of_a_set() {
    let mut device = device(&profile());
    let disabled = Err(DeviceError::WindowsDisabled { set: SET });
    assert_eq!(device.enter_window(SET, true), disabled);
    let unknown = DeviceError::UnknownSet { set: 1, sets: 1 };
    let refused = device.configure_windows(1, true, CONFIG);
    assert_eq!(refused, Err(unknown.clone()));
    assert_eq!(device.enter_window(1, true), Err(unknown.clone()));
    assert_eq!(device.window(1), Err(unknown.clone()));
    assert_eq!(device.latency_log(1, true), Err(unknown));
    assert_eq!(log(&mut device).status, Window::Disabled);
    device.configure_windows(SET, true, CONFIG).unwrap();
    device.enter_window(SET, true).unwrap();
    assert_eq!(device.window(SET), Ok((Window::Deterministic, CONFIG)));
}

#[test]
fn the_log_has_the_terms_of_the_profile() {
    let log = log(&mut enabled(&profile()));
    let typical = (log.dtwin_reads_typical, log.dtwin_writes_typical);
    assert_eq!((typical, log.dtwin_time_maximum_ms), ((100, 50), 40));
    let ndwin = (
        log.ndwin_time_minimum_high_ms,
        log.ndwin_time_minimum_low_ms,
    );
    assert_eq!(ndwin, (20, 10));
    let estimates = (log.dtwin_reads_estimate, log.dtwin_writes_estimate);
    assert_eq!((estimates, log.dtwin_time_estimate_ms), ((100, 50), 40));
}

#[test]
fn the_budget_of_a_window_is_spent_by_commands() {
    let mut device = enabled(&profile());
    device.enter_window(SET, true).unwrap();
    for slba in 0..91 {
        run(&mut device, Opcode::Read, slba, 1);
    }
    let before = log(&mut device);
    assert_eq!(
        (before.status, before.dtwin_reads_estimate),
        (Window::Deterministic, 9)
    );
    assert_eq!(before.event_type, PredictableLatencyLog::READS_WARNING);
    run(&mut device, Opcode::Read, 0, 10);
    let after = device.latency_log(SET, false).unwrap();
    assert_eq!(after.status, Window::NonDeterministic);
    let both = PredictableLatencyLog::READS_WARNING | PredictableLatencyLog::EXCEEDED;
    assert_eq!(after.event_type, both);
    assert_eq!(log(&mut device).event_type, 0);
    let early = Err(DeviceError::WindowNotEarned { set: SET });
    assert_eq!(device.enter_window(SET, true), early);
}

#[test]
fn the_time_of_a_window_ends_it_without_any_command() {
    let mut device = enabled(&profile());
    device.enter_window(SET, true).unwrap();
    device.advance_to(Instant::START + Duration::from_ms(39));
    let before = log(&mut device);
    assert_eq!(
        (before.status, before.dtwin_time_estimate_ms),
        (Window::Deterministic, 1)
    );
    device.advance_to(Instant::START + Duration::from_ms(45));
    assert_eq!(log(&mut device).status, Window::NonDeterministic);
    // Half a window is earned by half the time, from its end at 40 ms.
    device.advance_to(Instant::START + Duration::from_ms(50));
    device.enter_window(SET, true).unwrap();
    assert_eq!(log(&mut device).dtwin_reads_estimate, 50);
}

/// A small device that has to collect garbage all the time, whether the host goes on or not.
fn busy(profile: &mut Profile) {
    profile.gc.pacing = PacingPolicy::named("off");
    profile.geometry.channels = 2;
    profile.geometry.dies_per_channel = 2;
    profile.geometry.blocks_per_plane = 24;
    profile.geometry.wordlines_per_block = 128;
    profile.controller.write_buffer.0 = 1 << 20;
    profile.ftl.open_runs = 8;
    profile.ftl.over_provisioning_percent = 40;
}

/// The slowest of the reads after a burst of writes has set garbage collection going, and the pages
/// it moved meanwhile.
fn tail(deterministic: bool) -> (Duration, u64) {
    let mut profile = profile();
    profile.predictable_latency.dtwin_time = Duration::from_ms(100_000);
    busy(&mut profile);
    let mut device = enabled(&profile);
    let pages = device.stats().capacity_pages;
    device.preload(NSID, 0, pages, Directive::NONE).unwrap();
    let mut random = 1u64;
    while device.stats().gc_pages_moved == 0 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        run(&mut device, Opcode::Write, (random >> 33) % pages, 1);
    }
    if deterministic {
        device.enter_window(SET, true).unwrap();
    }
    // What the host has written is programmed; what was being collected goes on, or stops.
    run(&mut device, Opcode::Flush, 0, 0);
    let quiet = device.now() + Duration::from_ms(20);
    device.advance_to(quiet);
    let before = device.stats().gc_pages_moved;
    let slowest = (0..100).map(|index| run(&mut device, Opcode::Read, index * 7 % pages, 1));
    let slowest = slowest.max().unwrap();
    let expected = match deterministic {
        true => Window::Deterministic,
        false => Window::NonDeterministic,
    };
    assert_eq!(log(&mut device).status, expected);
    (slowest, device.stats().gc_pages_moved - before)
}

#[test]
fn nothing_is_collected_in_the_deterministic_window_and_the_tail_is_shorter() {
    let (slowest, moved) = tail(false);
    let (predictable, none) = tail(true);
    assert!(moved > 0, "the test must be able to fail");
    assert_eq!(none, 0);
    assert!(
        predictable < Duration::from_us(200),
        "one sense and one transfer"
    );
    assert!(
        slowest > Duration::from_ms(1),
        "{slowest:?}: behind a program"
    );
}

#[test]
fn a_host_that_writes_too_much_ends_the_window_by_an_excursion() {
    let mut profile = profile();
    profile.predictable_latency.dtwin_writes = 1_000_000;
    profile.predictable_latency.dtwin_time = Duration::from_ms(100_000);
    busy(&mut profile);
    let mut device = enabled(&profile);
    device.enter_window(SET, true).unwrap();
    let pages = device.stats().capacity_pages;
    for index in 0..20 * pages / 64 {
        run(&mut device, Opcode::Write, index * 64 % (pages - 64), 64);
        if log(&mut device).status == Window::NonDeterministic {
            break;
        }
    }
    let log = log(&mut device);
    assert_eq!(log.status, Window::NonDeterministic);
    assert_ne!(log.event_type & PredictableLatencyLog::EXCURSION, 0);
}

#[test]
fn sets_that_alternate_take_turns_without_a_host() {
    let mut profile = profile();
    profile.predictable_latency.alternate = true;
    let mut device = device(&profile);
    let mut windows = Vec::new();
    for step in 0..14 {
        device.advance_to(Instant::START + Duration::from_ms(10 * step));
        run(&mut device, Opcode::Read, step, 1);
        windows.push(log(&mut device).status as u8);
    }
    // 40 ms in the window, at least 20 ms outside.
    assert_eq!(windows, [1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 2, 2, 1, 1]);
}
