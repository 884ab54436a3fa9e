//! What an NVMe host asks of a device: commands, ranges, queues, directives, sets.

use crate::common::{SEQUENTIAL, drain};
use meldsim::nvme::{DsmByte, DsmRange, MAX_STREAMS, Priority};
use meldsim::policy::arbitration::ArbitrationPolicy;
use meldsim::profile::SetLayout;
use meldsim::{
    Command, Device, DeviceError, Directive, Duration, NamespaceId, Opcode, Pattern, Profile,
    QueueId,
};
use proptest::prelude::*;

/// Logical blocks of the namespace.
const LBAS: u64 = 1 << 18;
const NSID: NamespaceId = NamespaceId(1);
const QUEUE: QueueId = QueueId(0);

fn preset() -> Profile {
    Profile::builtin("melded-tlc-8x8").unwrap()
}

fn device_of(profile: &Profile) -> Device {
    let mut device = Device::new(profile).unwrap();
    assert_eq!(device.create_namespace(LBAS * 4096), Ok(NSID));
    device
}

fn device() -> Device {
    device_of(&preset())
}

fn four_sets() -> Profile {
    let mut profile = preset();
    profile.sets.layout = SetLayout::Vertical;
    profile.sets.count = 4;
    profile
}

/// Runs one command; its latency.
fn run(device: &mut Device, command: &Command) -> Duration {
    device.submit(command).unwrap();
    drain(device)
}

fn write(device: &mut Device, slba: u64, nlb: u32, directive: Directive) {
    run(device, &Command::write(NSID, slba, nlb, directive, 0));
}

/// Pages in the melded layout, once everything is on flash.
fn melded(device: &mut Device) -> u64 {
    run(device, &Command::flush(NSID, 0));
    device.stats().melded_mapped_pages
}

// Commands and ranges.

#[test]
fn data_written_can_be_read_and_is_flushed() {
    let mut device = device();
    write(&mut device, 5, 300, Directive::NONE);
    let flushed = run(&mut device, &Command::flush(NSID, 0));
    assert!(flushed.as_us() > 5001);
    run(&mut device, &Command::read(NSID, 5, 300, 0));
    let stats = device.stats();
    assert_eq!(stats.page_reads + stats.melded_pages_read, 300);
    assert_eq!(stats.host_written_bytes, 300 * 4096);
}

#[test]
fn what_is_refused_takes_no_time_and_counts_nothing() {
    let mut device = device();
    let read = Command::read(NSID, 0, 1, 0);
    let out_of_range = |slba, nlb| DeviceError::OutOfRange {
        nsid: NSID,
        slba,
        nlb,
        size_lbas: LBAS,
    };
    let nowhere = |nsid| DeviceError::UnknownNamespace { nsid };
    let unknown_type = Directive { dtype: 3, dspec: 0 };
    let directive = unknown_type.pattern().unwrap_err();
    let all = NamespaceId(u32::MAX);
    let cases = [
        (Command { slba: LBAS, ..read }, out_of_range(LBAS, 1)),
        (
            Command {
                slba: u64::MAX,
                ..read
            },
            out_of_range(u64::MAX, 1),
        ),
        (
            Command {
                slba: LBAS - 1,
                nlb: 2,
                ..read
            },
            out_of_range(LBAS - 1, 2),
        ),
        (Command { nsid: all, ..read }, nowhere(all)),
        (Command::flush(NamespaceId(0), 0), nowhere(NamespaceId(0))),
        (
            Command::write(NSID, 0, 1, unknown_type, 0),
            directive.into(),
        ),
        (
            Command {
                directive: SEQUENTIAL,
                ..read
            },
            DeviceError::DirectiveNotOnWrite,
        ),
    ];
    for (command, expected) in cases {
        assert_eq!(device.submit(&command), Err(expected), "{command:?}");
    }
    let unknown = DeviceError::UnknownQueue { queue: 7 };
    assert_eq!(device.submit_to(QueueId(7), &read), Err(unknown));
    assert_eq!(device.outstanding(), 0);
    let untouched = Device::new(&preset()).unwrap().stats();
    assert_eq!(device.stats(), untouched);
}

#[test]
fn a_tag_means_nothing_to_the_device() {
    let mut device = device();
    for _ in 0..2 {
        device.submit(&Command::read(NSID, 0, 1, 5)).unwrap();
    }
    let mut tags = Vec::new();
    while device.run_until_completion() {
        tags.extend(device.pop_completion().map(|completion| completion.tag));
    }
    assert_eq!(tags, [5, 5]);
}

#[test]
fn ranges_are_deallocated_all_together_or_not_at_all() {
    let mut device = device();
    write(&mut device, 0, 1000, Directive::NONE);
    let beyond = device.deallocate(QUEUE, NSID, &[(0, 10), (LBAS - 1, 2)], 0);
    assert!(matches!(beyond, Err(DeviceError::OutOfRange { .. })));
    let empty = device.deallocate(QUEUE, NSID, &[(0, 10), (5, 0)], 0);
    assert!(matches!(empty, Err(DeviceError::OutOfRange { .. })));
    let none = device.deallocate(QUEUE, NSID, &[], 0);
    assert_eq!(none, Err(DeviceError::NoRanges));
    assert_eq!(device.stats().mapped_pages, 1000);

    let ranges: Vec<(u64, u32)> = (0..256).map(|index| (index * 3, 2)).collect();
    device.deallocate(QUEUE, NSID, &ranges, 9).unwrap();
    assert!(device.run_until_completion());
    let completion = device.pop_completion().unwrap();
    assert_eq!((completion.tag, completion.opcode), (9, Opcode::Deallocate));
    assert_eq!(completion.latency().as_us(), 10);
    let stats = device.stats();
    assert_eq!((stats.mapped_pages, stats.deallocate_commands), (488, 1));
}

#[test]
fn deallocated_ranges_lose_their_description() {
    let mut device = device();
    let attributes = DsmRange::attributes_of(3, 0, true, false, false, 255);
    for slba in [0, 1000, 2000] {
        let range = DsmRange {
            attributes,
            length: 300,
            slba,
        };
        device.describe(NSID, &range).unwrap();
    }
    device
        .deallocate(QUEUE, NSID, &[(0, 300), (2000, 1)], 0)
        .unwrap();
    drain(&mut device);
    for slba in [0, 1000, 2000] {
        write(&mut device, slba, 300, Directive::NONE);
    }
    assert_eq!(melded(&mut device), 300);
}

#[test]
fn hints_need_no_directive_and_reach_the_flash() {
    let mut device = device();
    let byte = DsmByte::new(DsmByte::AF_READ_MOSTLY, 0, true);
    let hinted = Command::write(NSID, 0, 300, Directive::NONE, 0).with_dsm(byte);
    run(&mut device, &hinted);
    assert_eq!(melded(&mut device), 300);
    let range = DsmRange {
        attributes: DsmRange::attributes_of(3, 0, true, false, false, 255),
        length: 600,
        slba: 1000,
    };
    device.describe(NSID, &range).unwrap();
    for slba in [1000, 1300, 2000] {
        write(&mut device, slba, 300, Directive::NONE);
    }
    assert_eq!(melded(&mut device), 900);
}

// Directives and streams.

#[test]
fn a_read_pattern_has_a_size_and_no_reserved_bits() {
    let mut device = device();
    let pattern = |dspec| Directive {
        dtype: Directive::READ_PATTERN,
        dspec,
    };
    write(&mut device, 0, 300, pattern(0x51));
    assert_eq!(melded(&mut device), 300);
    for dspec in [0x0003, 0x0101, 0x8001] {
        let refused = device.submit(&Command::write(NSID, 0, 1, pattern(dspec), 0));
        assert!(matches!(refused, Err(DeviceError::Directive(_))));
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(&format!("{dspec:#06x}")), "{text}");
    }
    for dtype in [2, 0x1F, 0xFF] {
        let unknown = Directive { dtype, dspec: 1 };
        let refused = device.submit(&Command::write(NSID, 0, 1, unknown, 0));
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(&format!("{dtype:#04x}")), "{text}");
    }
}

#[test]
fn there_are_sixteen_streams() {
    let mut device = device();
    for stream in [0, 2, MAX_STREAMS] {
        write(&mut device, 0, 300, Directive::stream_of(stream));
    }
    let beyond = Command::write(NSID, 0, 1, Directive::stream_of(MAX_STREAMS + 1), 0);
    let refused = device.submit(&beyond);
    assert!(matches!(refused, Err(DeviceError::Directive(_))));
    for stream in [0, MAX_STREAMS + 1] {
        assert!(device.release_stream(NSID, stream).is_err());
    }
    assert!(device.release_stream(NamespaceId(9), 1).is_err());
}

#[test]
fn streams_of_one_number_share_blocks_among_namespaces() {
    let block = |device: &Device, nsid| match device.locate(nsid, 0).unwrap() {
        meldsim::Location::Flash { block, .. } => block,
        other => panic!("{other:?}"),
    };
    let blocks = |streams: [u16; 2]| {
        let mut device = device();
        let other = device.create_namespace(LBAS * 4096).unwrap();
        for (nsid, stream) in [NSID, other].into_iter().zip(streams) {
            let directive = Directive::stream_of(stream);
            run(&mut device, &Command::write(nsid, 0, 192, directive, 0));
        }
        run(&mut device, &Command::flush(NSID, 0));
        [block(&device, NSID), block(&device, other)]
    };
    let [one, same] = blocks([3, 3]);
    assert_eq!(one, same);
    let [one, another] = blocks([3, 4]);
    assert_ne!(one, another);
}

#[test]
fn a_stream_can_be_bound_to_a_pattern() {
    let mut device = device();
    device.bind_stream(NSID, 7, Pattern::Sequential).unwrap();
    for stream in [0, 17] {
        let refused = device.bind_stream(NSID, stream, Pattern::Sequential);
        assert!(matches!(refused, Err(DeviceError::Directive(_))));
    }
    let bound = device.bound_streams(NSID).unwrap();
    assert_eq!(bound.len(), 1 + usize::from(MAX_STREAMS));
    let sequential = |pattern: &&Pattern| **pattern == Pattern::Sequential;
    assert_eq!(bound.iter().filter(sequential).count(), 1);
    assert_eq!(bound[7], Pattern::Sequential);
    write(&mut device, 0, 300, Directive::stream_of(6));
    assert_eq!(melded(&mut device), 0);
    write(&mut device, 0, 300, Directive::stream_of(7));
    assert_eq!(melded(&mut device), 300);
}

// Queues.

fn one_at_a_time(arbitration: ArbitrationPolicy) -> Device {
    let mut profile = preset();
    profile.host.commands_in_flight = 1;
    profile.host.arbitration = arbitration;
    device_of(&profile)
}

#[test]
fn a_queue_is_filled_and_emptied_again_and_again() {
    let mut device = one_at_a_time(ArbitrationPolicy::named("round-robin"));
    let queue = device.create_queue(3, Priority::Medium).unwrap();
    for round in 0..4 {
        for tag in 0..4 {
            // The first one is fetched at once.
            let read = Command::read(NSID, 0, 1, round * 4 + tag);
            device.submit_to(queue, &read).unwrap();
        }
        assert_eq!(device.queued(queue), 3);
        let full = device.submit_to(queue, &Command::read(NSID, 0, 1, 99));
        assert_eq!(full, Err(DeviceError::QueueFull { queue: queue.0 }));
        for tag in 0..4 {
            assert!(device.run_until_completion());
            let completion = device.pop_completion().unwrap();
            assert_eq!(completion.tag, round * 4 + tag, "in order");
        }
    }
}

#[test]
fn queue_priorities_decide_under_weighted_round_robin_only() {
    let order = |arbitration| {
        let mut device = one_at_a_time(arbitration);
        let queues = [Priority::Low, Priority::Urgent]
            .map(|priority| device.create_queue(16, priority).unwrap());
        for _ in 0..4 {
            for queue in queues {
                let read = Command::read(NSID, 0, 1, u64::from(queue.0));
                device.submit_to(queue, &read).unwrap();
            }
        }
        let mut order = Vec::new();
        while device.run_until_completion() {
            order.extend(device.pop_completion().map(|completion| completion.tag));
        }
        order
    };
    let taken_in_turns = [1, 2, 1, 2, 1, 2, 1, 2];
    assert_eq!(
        order(ArbitrationPolicy::named("round-robin")),
        taken_in_turns
    );
    let urgent_first = [1, 2, 2, 2, 2, 1, 1, 1];
    assert_eq!(
        order(ArbitrationPolicy::named("weighted-round-robin")),
        urgent_first
    );
}

#[test]
fn queues_are_numbered_with_sixteen_bits() {
    let mut device = device();
    for number in 1..=u16::MAX {
        assert_eq!(device.create_queue(1, Priority::Low), Ok(QueueId(number)));
    }
    let refused = device.create_queue(1, Priority::Low);
    assert_eq!(refused, Err(DeviceError::TooManyQueues));
    let read = Command::read(NSID, 0, 1, 0);
    device.submit_to(QueueId(u16::MAX), &read).unwrap();
    drain(&mut device);
}

#[test]
fn arbitration_is_what_it_was_set_to() {
    let mut device = device();
    assert_eq!(device.arbitration(), (1, [4, 2, 1]));
    for (burst, weights) in [(8, [2, 3, 4]), (0, [256, 1, 1])] {
        device.set_arbitration(burst, weights);
        assert_eq!(device.arbitration(), (burst, weights));
    }
    device.set_arbitration(1, [0, 2, 0]);
    assert_eq!(device.arbitration(), (1, [1, 2, 1]), "no class starves");
}

// Namespaces and sets.

#[test]
fn a_namespace_has_its_size_use_and_grain() {
    let mut device = device();
    let random = Directive::read_pattern(Pattern::Random);
    device.preload(NSID, 10, 100, random).unwrap();
    let namespace = device.namespace(NSID).unwrap();
    assert_eq!((namespace.size_lbas, namespace.lba_bytes), (LBAS, 4096));
    assert_eq!(namespace.page_bytes, 4096);
    assert_eq!(namespace.wordline_bytes, 3 * 4096);
    assert_eq!(device.allocated_lbas(NSID), 100);
    for nsid in [0, 2, u32::MAX].map(NamespaceId) {
        assert_eq!(device.namespace(nsid), None);
        assert_eq!(
            (device.set_of(nsid), device.allocated_lbas(nsid)),
            (None, 0)
        );
    }
}

#[test]
fn the_sets_share_the_device() {
    let device = Device::new(&four_sets()).unwrap();
    let whole = Device::new(&preset()).unwrap();
    assert_eq!((device.sets(), whole.sets()), (4, 1));
    let sum: u64 = (0..4).map(|set| device.set_capacity_bytes(set)).sum();
    assert_eq!(sum, device.stats().capacity_pages * 4096);
    assert_eq!(
        (device.set_info(4), device.set_capacity_bytes(4)),
        (None, 0)
    );
    assert_eq!(device.optimal_write_bytes(), 3 * 4096);
    // 10 byte-times and 81 us on average and a page on the bus.
    let typical = device.random_read_typical();
    assert_eq!(typical.as_ns().div_ceil(100), 868);
}

#[test]
fn namespaces_are_in_sets() {
    let mut device = device_of(&four_sets());
    for (set, nsid) in [(3, 2), (1, 3)] {
        let created = device.create_namespace_in(set, 1 << 30);
        assert_eq!(created, Ok(NamespaceId(nsid)));
    }
    let ids: Vec<u32> = device.namespaces().iter().map(|of| of.id.0).collect();
    assert_eq!(ids, [1, 2, 3]);
    let sets = [1, 2, 3].map(|nsid| device.set_of(NamespaceId(nsid)));
    assert_eq!(sets, [Some(0), Some(3), Some(1)]);
    let quarter = device.stats().capacity_pages * 4096 / 4;
    assert!((0..4).all(|set| device.set_capacity_bytes(set) == quarter));
}

#[test]
fn a_set_counts_what_the_host_did_in_it() {
    let mut device = device();
    for index in 0..3 {
        write(&mut device, index * 1000, 1000, Directive::NONE);
    }
    run(&mut device, &Command::flush(NSID, 0));
    let usage = device.set_usage(0);
    assert_eq!((usage.write_commands, usage.read_commands), (3, 0));
    let bytes = 3000 * 4096;
    assert_eq!((usage.written_bytes, usage.read_bytes), (bytes, 0));
    assert!(usage.programmed_bytes >= bytes);
    assert_eq!(device.set_usage(1), Default::default(), "no such set");
}

// Anything.

#[derive(Clone, Copy, Debug)]
struct Step {
    opcode: u8,
    slba: u64,
    nlb: u32,
    directive: Directive,
    dsm: u8,
    nsid: u32,
    queue: u16,
    advance_us: Option<u64>,
}

fn step() -> impl Strategy<Value = Step> {
    let directive = prop_oneof![
        Just(Directive::NONE),
        Just(SEQUENTIAL),
        (0..20u16).prop_map(Directive::stream_of),
        (any::<u8>(), any::<u16>()).prop_map(|(dtype, dspec)| Directive { dtype, dspec }),
    ];
    let slba = prop_oneof![9 => 0..LBAS, 1 => any::<u64>()];
    let nlb = prop_oneof![9 => 1..40u32, 1 => any::<u32>()];
    let place = (slba, nlb, 0..3u32, 0..5u16);
    let kind = (
        prop::sample::select(vec![0u8, 1, 2, 9, 7]),
        directive,
        any::<u8>(),
    );
    (place, kind, prop::option::of(0..3000u64)).prop_map(
        |((slba, nlb, nsid, queue), (opcode, directive, dsm), advance_us)| Step {
            opcode,
            slba,
            nlb,
            directive,
            dsm,
            nsid,
            queue,
            advance_us,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever is accepted completes once, whatever is refused never, and nothing panics.
    #[test]
    fn any_commands_in_any_queues_are_answered(steps in prop::collection::vec(step(), 1..80), limit in 0..4u32) {
        let mut profile = preset();
        profile.host.commands_in_flight = limit;
        profile.host.arbitration = ArbitrationPolicy::named("weighted-round-robin");
        let mut device = device_of(&profile);
        for priority in [Priority::Urgent, Priority::High, Priority::Low] {
            device.create_queue(4, priority).unwrap();
        }
        let (mut accepted, mut completed) = (Vec::new(), Vec::new());
        for (tag, step) in steps.iter().enumerate() {
            let tag = tag as u64;
            if let Some(opcode) = Opcode::from_u8(step.opcode) {
                let command = Command {
                    opcode,
                    nsid: NamespaceId(step.nsid),
                    slba: step.slba,
                    nlb: step.nlb,
                    directive: step.directive,
                    dsm: DsmByte(step.dsm),
                    zone_action: None,
                    select_all: false,
                    tag,
                };
                if device.submit_to(QueueId(step.queue), &command).is_ok() {
                    accepted.push(tag);
                }
            } else {
                let ranges = [(step.slba, step.nlb), (0, 4)];
                let nsid = NamespaceId(step.nsid);
                if device.deallocate(QueueId(step.queue), nsid, &ranges, tag).is_ok() {
                    accepted.push(tag);
                }
            }
            if let Some(us) = step.advance_us {
                let until = device.now() + Duration::from_us(us);
                device.advance_to(until);
            }
        }
        while device.run_until_completion() {
            while let Some(completion) = device.pop_completion() {
                prop_assert!(completion.submitted <= completion.completed);
                completed.push(completion.tag);
            }
        }
        completed.sort_unstable();
        prop_assert_eq!(&completed, &accepted);
        prop_assert_eq!(device.outstanding(), 0);
        let stats = device.stats();
        let counted = stats.read_commands
            + stats.write_commands
            + stats.deallocate_commands
            + stats.flush_commands;
        prop_assert_eq!(counted, accepted.len() as u64);
    }
}
