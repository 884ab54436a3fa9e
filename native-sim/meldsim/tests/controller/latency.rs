//! Predictable latency mode: features, log, and what it does to the tail.

use meldsim::nvme::Controller;
use meldsim::nvme::wire::admin::{GetLogPage, feature, opcode};
use meldsim::nvme::wire::io::ReadWrite;
use meldsim::nvme::wire::sets::{PredictableLatencyConfig, PredictableLatencyLog};
use meldsim::nvme::wire::{Sqe, StatusCode};
use meldsim::{Directive, NamespaceId, Profile, Time};

use super::{controller_of, create_queues, io_status};

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
    profile.predictable_latency.dtwin_time = Time::from_ms(40);
    profile.predictable_latency.ndwin_time_high = Time::from_ms(20);
    profile.predictable_latency.ndwin_time_low = Time::from_ms(10);
    profile
}

fn enabled(profile: &Profile) -> Controller {
    let mut controller = controller_of(profile);
    create_queues(&mut controller, 1, 64, 2);
    assert!(configure(&mut controller, 1, true).is_success());
    controller
}

fn set_feature(controller: &mut Controller, fid: u8, set: u32, cdw12: u32) -> StatusCode {
    let sqe = Sqe {
        opcode: opcode::SET_FEATURES,
        cdw10: u32::from(fid),
        cdw11: set,
        cdw12,
        ..Sqe::default()
    };
    controller.admin(&sqe, &mut CONFIG.encode()).status_code()
}

fn configure(controller: &mut Controller, set: u32, enable: bool) -> StatusCode {
    let fid = feature::PREDICTABLE_LATENCY_CONFIG;
    set_feature(controller, fid, set, u32::from(enable))
}

fn window(controller: &mut Controller, window: u32) -> StatusCode {
    set_feature(controller, feature::PREDICTABLE_LATENCY_WINDOW, 1, window)
}

fn log(controller: &mut Controller, retain: bool) -> PredictableLatencyLog {
    let get = GetLogPage {
        lid: 0x0A,
        retain,
        numd: 127,
        lsi: 1,
        offset: 0,
    };
    let mut data = [0; 512];
    let cqe = controller.admin(&get.encode(0), &mut data);
    assert!(cqe.status_code().is_success());
    PredictableLatencyLog::parse(&data)
}

fn read(controller: &mut Controller, slba: u64) {
    let read = ReadWrite {
        slba,
        ..ReadWrite::default()
    };
    assert!(io_status(controller, &read.encode(0x02, 1, 1), &[]).is_success());
}

#[test]
fn windows_are_features_of_a_set() {
    let mut controller = controller_of(&profile());
    assert_eq!(
        window(&mut controller, 1),
        StatusCode::COMMAND_SEQUENCE_ERROR
    );
    for set in [0, 2] {
        let refused = configure(&mut controller, set, true);
        assert_eq!(refused, StatusCode::INVALID_FIELD);
    }
    assert_eq!(log(&mut controller, true).status, 0);
    configure(&mut controller, 1, true);
    assert_eq!(window(&mut controller, 3), StatusCode::INVALID_FIELD);
    assert!(window(&mut controller, 1).is_success());
    let mut data = [0; 512];
    let mut get = |fid: u8| {
        let sqe = Sqe {
            opcode: opcode::GET_FEATURES,
            cdw10: u32::from(fid),
            cdw11: 1,
            ..Sqe::default()
        };
        let cqe = controller.admin(&sqe, &mut data);
        assert!(cqe.status_code().is_success());
        (cqe.dw0, PredictableLatencyConfig::parse(&data))
    };
    assert_eq!(get(feature::PREDICTABLE_LATENCY_CONFIG), (1, CONFIG));
    assert_eq!(get(feature::PREDICTABLE_LATENCY_WINDOW).0, 1);
}

#[test]
fn the_budget_of_a_window_is_spent_by_commands() {
    let mut controller = enabled(&profile());
    assert!(window(&mut controller, 1).is_success());
    for slba in 0..91 {
        read(&mut controller, slba);
    }
    let before = log(&mut controller, true);
    assert_eq!((before.status, before.dtwin_reads_estimate), (1, 9));
    assert_eq!(before.event_type, PredictableLatencyLog::READS_WARNING);
    let large = ReadWrite {
        nlb: 9,
        ..ReadWrite::default()
    };
    io_status(&mut controller, &large.encode(0x02, 1, 1), &[]);
    let after = log(&mut controller, false);
    assert_eq!(after.status, 2);
    let both = PredictableLatencyLog::READS_WARNING | PredictableLatencyLog::EXCEEDED;
    assert_eq!(after.event_type, both);
    assert_eq!(log(&mut controller, false).event_type, 0);
    assert_eq!(
        window(&mut controller, 1),
        StatusCode::COMMAND_SEQUENCE_ERROR
    );
}

#[test]
fn the_time_of_a_window_ends_it_without_any_command() {
    let mut controller = enabled(&profile());
    assert!(window(&mut controller, 1).is_success());
    controller.advance_to(Time::from_ms(39));
    let log_before = log(&mut controller, true);
    assert_eq!(
        (log_before.status, log_before.dtwin_time_estimate_ms),
        (1, 1)
    );
    controller.advance_to(Time::from_ms(45));
    assert_eq!(log(&mut controller, true).status, 2);
    // Half a window is earned by half the time, from its end at 40 ms.
    controller.advance_to(Time::from_ms(50));
    assert!(window(&mut controller, 1).is_success());
    assert_eq!(log(&mut controller, true).dtwin_reads_estimate, 50);
}

/// A small device that has to collect garbage all the time.
fn busy(profile: &mut Profile) {
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
fn tail(deterministic: bool) -> (Time, u64) {
    let mut profile = profile();
    profile.predictable_latency.dtwin_time = Time::from_ms(100_000);
    busy(&mut profile);
    let mut controller = enabled(&profile);
    let device = controller.device_mut();
    let pages = device.stats().capacity_pages;
    device
        .preload(NamespaceId(1), 0, pages, Directive::NONE)
        .unwrap();
    let mut random = 1u64;
    while controller.device().stats().gc_pages_moved == 0 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let write = ReadWrite {
            slba: (random >> 33) % pages,
            ..ReadWrite::default()
        };
        let status = io_status(&mut controller, &write.encode(0x01, 1, 1), &[]);
        assert!(status.is_success());
    }
    if deterministic {
        assert!(window(&mut controller, 1).is_success());
    }
    // What the host has written is programmed; what was being collected goes on, or stops.
    let flush = Sqe {
        opcode: 0,
        nsid: 1,
        ..Sqe::default()
    };
    assert!(io_status(&mut controller, &flush, &[]).is_success());
    let settled = controller.device().now() + Time::from_ms(20);
    controller.advance_to(settled);
    let before = controller.device().stats().gc_pages_moved;
    let mut slowest = Time::ZERO;
    for index in 0..100 {
        let read = ReadWrite {
            slba: index * 7 % pages,
            ..ReadWrite::default()
        };
        controller.submit(1, &read.encode(0x02, 2, 1), &[]).unwrap();
        assert!(controller.run_until_completion());
        let posted = controller.pop_completion(1).unwrap();
        slowest = slowest.max(posted.latency());
    }
    let expected = if deterministic { 1 } else { 2 };
    assert_eq!(log(&mut controller, true).status, expected);
    (slowest, controller.device().stats().gc_pages_moved - before)
}

#[test]
fn nothing_is_collected_in_the_deterministic_window_and_the_tail_is_shorter() {
    let (slowest, moved) = tail(false);
    let (predictable, none) = tail(true);
    assert!(moved > 0, "the test must be able to fail");
    assert_eq!(none, 0);
    assert!(
        predictable < Time::from_us(200),
        "one sense and one transfer"
    );
    assert!(slowest > Time::from_ms(1), "{slowest:?}: behind a program");
}

#[test]
fn a_host_that_writes_too_much_ends_the_window_by_an_excursion() {
    let mut profile = profile();
    profile.predictable_latency.dtwin_writes = 1_000_000;
    profile.predictable_latency.dtwin_time = Time::from_ms(100_000);
    busy(&mut profile);
    let mut controller = enabled(&profile);
    assert!(window(&mut controller, 1).is_success());
    let pages = controller.device().stats().capacity_pages;
    for index in 0..20 * pages / 64 {
        let write = ReadWrite {
            slba: index * 64 % (pages - 64),
            nlb: 63,
            ..ReadWrite::default()
        };
        let status = io_status(&mut controller, &write.encode(0x01, 1, 1), &[]);
        assert!(status.is_success(), "held back for ever");
        if log(&mut controller, true).status == 2 {
            break;
        }
    }
    let log = log(&mut controller, false);
    assert_eq!(log.status, 2);
    assert_ne!(log.event_type & PredictableLatencyLog::EXCURSION, 0);
}

#[test]
fn sets_that_alternate_take_turns_without_a_host() {
    let mut profile = profile();
    profile.predictable_latency.alternate = true;
    let mut controller = controller_of(&profile);
    create_queues(&mut controller, 1, 64, 2);
    let mut windows = Vec::new();
    for step in 0..14 {
        controller.advance_to(Time::from_ms(10 * step));
        read(&mut controller, step);
        windows.push(log(&mut controller, true).status);
    }
    // 40 ms in the window, at least 20 ms outside.
    assert_eq!(windows, [1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 2, 2, 1, 1]);
}
