//! The host's side: arbitration, commands in flight, the cost of a command, the link.

use crate::common::{self, SEQUENTIAL, device, drain};
use meldsim::nvme::Priority;
use meldsim::policy::arbitration::ArbitrationPolicy;
use meldsim::profile::DataRate;
use meldsim::{Command, Device, DeviceError, Duration, Instant, NamespaceId, Profile, QueueId};

const LBAS: u64 = 1 << 20;

fn profile() -> Profile {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.host.commands_in_flight = 8;
    profile
}

fn weighted(weights: [u32; 3]) -> Profile {
    let mut profile = profile();
    profile.host.arbitration = ArbitrationPolicy::named("weighted-round-robin");
    [
        profile.host.high_weight,
        profile.host.medium_weight,
        profile.host.low_weight,
    ] = weights;
    profile
}

/// A device with data and a queue of each priority.
fn with_queues(profile: &Profile, priorities: &[Priority]) -> (Device, NamespaceId, Vec<QueueId>) {
    let (mut device, nsid) = device(profile);
    device.preload(nsid, 0, LBAS, SEQUENTIAL).unwrap();
    let queues = priorities
        .iter()
        .map(|&priority| device.create_queue(64, priority).unwrap())
        .collect();
    (device, nsid, queues)
}

/// Keeps every queue full of reads until `commands` have completed; each queue's share of them.
fn shares(profile: &Profile, priorities: &[Priority], commands: u64) -> Vec<f64> {
    let (mut device, nsid, queues) = with_queues(profile, priorities);
    let mut done = vec![0u64; queues.len()];
    let mut next = 0u64;
    while done.iter().sum::<u64>() < commands {
        for (index, &queue) in queues.iter().enumerate() {
            while device.queued(queue) < 32 {
                next += 1;
                let slba = next.wrapping_mul(0x9E37_79B9_7F4A_7C15) % LBAS;
                let read = Command::read(nsid, slba, 1, index as u64);
                device.submit_to(queue, &read).unwrap();
            }
        }
        assert!(device.run_until_completion());
        while let Some(completion) = device.pop_completion() {
            done[completion.tag as usize] += 1;
        }
    }
    let total = done.iter().sum::<u64>() as f64;
    done.iter().map(|&count| count as f64 / total).collect()
}

fn assert_shares(shares: &[f64], expected: &[f64]) {
    for (share, expected) in shares.iter().zip(expected) {
        assert!((share - expected).abs() < 0.005, "{shares:?}");
    }
}

#[test]
fn weighted_queues_share_throughput_by_their_weights() {
    let priorities = [Priority::High, Priority::Medium, Priority::Low];
    let of = |weights| shares(&weighted(weights), &priorities, 20_000);
    assert_shares(&of([4, 2, 1]), &[4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0]);
    assert_shares(&of([1, 1, 8]), &[0.1, 0.1, 0.8]);
}

#[test]
fn round_robin_queues_share_throughput_evenly() {
    let priorities = [Priority::High, Priority::Medium, Priority::Low];
    assert_shares(&shares(&profile(), &priorities, 20_000), &[1.0 / 3.0; 3]);
}

#[test]
fn urgent_queues_starve_the_others() {
    let priorities = [Priority::Low, Priority::Urgent, Priority::High];
    assert_shares(
        &shares(&weighted([4, 2, 1]), &priorities, 5_000),
        &[0.0, 1.0, 0.0],
    );
}

/// The order in which two queues of eight commands each are served, one at a time.
fn order(mut profile: Profile, burst: u32) -> String {
    profile.host.commands_in_flight = 1;
    profile.host.arbitration_burst = burst;
    let (mut device, nsid, queues) = with_queues(&profile, &[Priority::Medium; 2]);
    // The first command is taken at once: it is the default queue's.
    device.submit(&Command::read(nsid, 0, 1, 2)).unwrap();
    for index in 0..8 {
        for (tag, &queue) in queues.iter().enumerate() {
            let read = Command::read(nsid, index * 100, 1, tag as u64);
            device.submit_to(queue, &read).unwrap();
        }
    }
    let mut order = String::new();
    while device.run_until_completion() {
        while let Some(completion) = device.pop_completion() {
            order.push(['a', 'b', '-'][completion.tag as usize]);
        }
    }
    order
}

#[test]
fn a_burst_serves_one_queue_at_a_time() {
    assert_eq!(order(profile(), 1), "-abababababababab");
    assert_eq!(order(profile(), 4), "-aaaabbbbaaaabbbb");
    assert_eq!(order(profile(), 0), "-aaaaaaaabbbbbbbb");
    assert_eq!(order(weighted([1, 1, 1]), 4), "-aaaabbbbaaaabbbb");
}

#[test]
fn first_come_serves_in_the_order_of_arrival_whatever_the_queue() {
    let mut profile = profile();
    profile.host.commands_in_flight = 1;
    profile.host.arbitration = ArbitrationPolicy::named("first-come");
    let (mut device, nsid, queues) = with_queues(&profile, &[Priority::Urgent, Priority::Low]);
    let arrivals = [1, 1, 1, 0, 1, 0, 0];
    for (tag, queue) in arrivals.into_iter().enumerate() {
        let read = Command::read(nsid, 0, 1, tag as u64);
        device.submit_to(queues[queue], &read).unwrap();
    }
    let mut order = Vec::new();
    while device.run_until_completion() {
        order.extend(device.pop_completion().map(|completion| completion.tag));
    }
    assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
}

/// More writes than the buffer holds, and a read in another queue behind them: when each write completed, and the read, which takes
/// the controller's latency from when it was fetched.
fn read_behind_writes(in_flight: u32, arbitration: &str) -> (Vec<Instant>, Instant) {
    const WRITES: u64 = 1_000;
    let mut profile = common::small_profile();
    profile.host.commands_in_flight = in_flight;
    profile.host.arbitration = ArbitrationPolicy::named(arbitration);
    let (mut device, nsid) = device(&profile);
    let [writes, reads] = [0, 1].map(|_| device.create_queue(2_048, Priority::Medium).unwrap());
    for tag in 0..WRITES {
        let write = Command::write(nsid, tag, 1, SEQUENTIAL, tag);
        device.submit_to(writes, &write).unwrap();
    }
    // Of a page that was never written: it waits for no die.
    let read = Command::read(nsid, WRITES, 1, WRITES);
    device.submit_to(reads, &read).unwrap();
    let (mut written, mut read) = (Vec::new(), Instant::START);
    while device.run_until_completion() {
        while let Some(completion) = device.pop_completion() {
            match completion.tag {
                WRITES => read = completion.completed,
                _ => written.push(completion.completed),
            }
        }
    }
    assert_eq!(written.len() as u64, WRITES);
    (written, read)
}

#[test]
fn a_read_waits_behind_as_many_writes_as_do_not_fit_into_the_controller() {
    let latency = common::small_profile().controller.latency;
    let program = common::small_profile().timing.program;
    // The read is the 1,001st command: it is fetched when all but those in flight have completed.
    for in_flight in [1, 100, 500, 900] {
        let (written, read) = read_behind_writes(in_flight, "first-come");
        let before = written[1_000 - in_flight as usize];
        assert_eq!(read, before + latency, "{in_flight} in flight");
        if in_flight < 500 {
            assert!(read.since_start() > program, "the buffer had room");
        }
    }
    // Without a limit it passes all of them, and in a queue of its own it takes the first place that becomes free.
    let (_, read) = read_behind_writes(0, "first-come");
    assert_eq!(read, Instant::START + latency);
    let (written, read) = read_behind_writes(100, "round-robin");
    assert_eq!(read, written[0] + latency);
}

#[test]
fn arbitration_can_change_while_the_device_runs() {
    let mut profile = weighted([1, 1, 1]);
    profile.host.commands_in_flight = 1;
    let (mut device, nsid, queues) = with_queues(&profile, &[Priority::High, Priority::Low]);
    device.set_arbitration(1, [3, 1, 1]);
    for _ in 0..6 {
        for (tag, &queue) in queues.iter().enumerate() {
            let read = Command::read(nsid, 0, 1, tag as u64);
            device.submit_to(queue, &read).unwrap();
        }
    }
    let mut order = Vec::new();
    while device.run_until_completion() {
        order.extend(device.pop_completion().map(|completion| completion.tag));
    }
    // The first one was fetched, and used the turn up, as it was submitted.
    assert_eq!(order, [0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1]);
}

#[test]
fn a_queue_holds_no_more_than_its_depth() {
    let mut profile = profile();
    profile.host.commands_in_flight = 1;
    let (mut device, nsid) = device(&profile);
    let queue = device.create_queue(2, Priority::Medium).unwrap();
    let read = Command::read(nsid, 0, 1, 0);
    for _ in 0..3 {
        device.submit_to(queue, &read).unwrap(); // one is fetched
    }
    let full = DeviceError::QueueFull { queue: queue.0 };
    assert_eq!(device.submit_to(queue, &read), Err(full));
    assert_eq!((device.queued(queue), device.outstanding()), (2, 3));
    let unknown = DeviceError::UnknownQueue { queue: 9 };
    assert_eq!(device.submit_to(QueueId(9), &read), Err(unknown));
    assert_eq!(
        device.create_queue(0, Priority::Low),
        Err(DeviceError::QueueDepth)
    );
    drain(&mut device);
    assert_eq!(device.submit_to(queue, &read), Ok(()));
    assert_eq!(device.stats().read_commands, 4);
    drain(&mut device);
}

/// When the last of `count` reads of unwritten pages ends; they take the controller 10 us.
fn unwritten_reads(profile: &Profile, count: u64, nlb: u32) -> Duration {
    let (mut device, nsid) = device(profile);
    for tag in 0..count {
        device.submit(&Command::read(nsid, 0, nlb, tag)).unwrap();
    }
    drain(&mut device);
    device.now().since_start()
}

#[test]
fn commands_in_flight_bound_what_overlaps() {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    assert_eq!(unwritten_reads(&profile, 100, 1), Duration::from_us(10));
    profile.host.commands_in_flight = 4;
    assert_eq!(unwritten_reads(&profile, 100, 1), Duration::from_us(250));
}

#[test]
fn waiting_and_transfers_are_counted() {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.host.commands_in_flight = 1;
    profile.host.link_rate = DataRate(4_096_000_000);
    let (mut device, nsid) = device(&profile);
    for _ in 0..3 {
        device.submit(&Command::read(nsid, 0, 2, 0)).unwrap();
    }
    device
        .submit(&Command::write(nsid, 0, 5, SEQUENTIAL, 0))
        .unwrap();
    device.advance_to(Instant::START + Duration::from_us(11));
    let half = device.stats();
    assert_eq!(
        (half.link_to_host_busy_ps, half.queue_wait_ps),
        (1_000_000, 0)
    );
    drain(&mut device);
    let stats = device.stats();
    // Each read takes the controller 10 us and the link 2 us.
    assert_eq!(stats.queue_wait_ps, (12 + 24 + 36) * 1_000_000);
    assert_eq!(stats.link_to_host_busy_ps, 6_000_000);
    assert_eq!(stats.link_to_device_busy_ps, 5_000_000);
}

#[test]
fn the_cost_of_a_command_bounds_their_rate() {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.host.command_cost = Duration::from_us(2);
    assert_eq!(unwritten_reads(&profile, 100, 1), Duration::from_us(210));
}

#[test]
fn the_link_serialises_what_goes_one_way() {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.host.link_rate = DataRate(4_096_000_000); // a page in 1 us
    assert_eq!(unwritten_reads(&profile, 100, 1), Duration::from_us(110));
    assert_eq!(unwritten_reads(&profile, 10, 10), Duration::from_us(110));

    let written = |writes, reads| {
        let (mut device, nsid) = device(&profile);
        for index in 0..writes {
            let write = Command::write(nsid, index * 10, 10, SEQUENTIAL, 0);
            device.submit(&write).unwrap();
        }
        for _ in 0..reads {
            device.submit(&Command::read(nsid, 5000, 10, 0)).unwrap();
        }
        drain(&mut device)
    };
    assert_eq!(
        written(10, 0),
        Duration::from_us(110),
        "data first, then admission"
    );
    assert_eq!(written(10, 10), Duration::from_us(110), "full duplex");
    assert_eq!(written(10, 20), Duration::from_us(210));
}

#[test]
fn a_flush_does_not_overtake_the_data_of_a_write() {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.host.link_rate = DataRate(1_000_000);
    let (mut device, nsid) = device(&profile);
    device
        .submit(&Command::write(nsid, 0, 1, SEQUENTIAL, 0))
        .unwrap();
    device.submit(&Command::deallocate(nsid, 0, 1, 1)).unwrap();
    device
        .submit(&Command::write(nsid, 1, 1, SEQUENTIAL, 2))
        .unwrap();
    device.submit(&Command::flush(nsid, 3)).unwrap();
    let latency = drain(&mut device);
    assert!(latency > Duration::from_us(2 * 4096 + 5001), "{latency:?}");
    let stats = device.stats();
    assert_eq!((stats.mapped_pages, stats.programs), (1, 1));
}

/// As on a drive: who wants the data of a write waits for its completion.
#[test]
fn a_read_overtakes_a_write_that_crosses_the_link() {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.host.link_rate = DataRate(4_096_000_000); // a page in 1 us
    let (mut device, nsid) = device(&profile);
    let write = Command::write(nsid, 0, 16, SEQUENTIAL, 0);
    device.submit(&write).unwrap();
    device.submit(&Command::read(nsid, 0, 1, 1)).unwrap();
    drain(&mut device);
    assert_eq!(device.stats().unmapped_page_reads, 1);
    device.submit(&Command::read(nsid, 0, 1, 2)).unwrap();
    drain(&mut device);
    assert_eq!(device.stats().unmapped_page_reads, 1);
}

#[test]
fn a_fast_link_pipelines_the_pages_of_a_read() {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    let unlimited = common::burst(&profile, 32 << 20, SEQUENTIAL);
    profile.host.link_rate = DataRate(16_000_000_000);
    let fast = common::burst(&profile, 32 << 20, SEQUENTIAL);
    assert!(unlimited < fast && fast < unlimited + Duration::from_us(10));
    profile.host.link_rate = DataRate(1_000_000_000);
    let slow = common::burst(&profile, 32 << 20, SEQUENTIAL).as_secs_f64();
    let ideal = f64::from(32 << 20) / 1e9;
    assert!(ideal < slow && slow < 1.01 * ideal, "{slow} {ideal}");
}

#[test]
fn everything_submitted_completes_whatever_limits_there_are() {
    let mut profile = common::small_profile();
    profile.host.commands_in_flight = 3;
    profile.host.command_cost = Duration::from_ns(700);
    profile.host.link_rate = DataRate(2_000_000_000);
    profile.host.arbitration = ArbitrationPolicy::named("weighted-round-robin");
    let (mut device, nsid) = device(&profile);
    let priorities = [
        Priority::Urgent,
        Priority::High,
        Priority::Medium,
        Priority::Low,
    ];
    let queues = priorities.map(|priority| device.create_queue(1000, priority).unwrap());
    let mut seen = vec![false; 2000];
    for tag in 0..2000u64 {
        let slba = tag * 7 % 300;
        let command = match tag % 7 {
            0..=2 => Command::write(nsid, slba, 3, SEQUENTIAL, tag),
            3 => Command::deallocate(nsid, slba, 2, tag),
            4 => Command::flush(nsid, tag),
            _ => Command::read(nsid, slba, 5, tag),
        };
        let queue = queues[(tag % 4) as usize];
        device.submit_to(queue, &command).unwrap();
        if tag % 5 == 0 {
            device.advance_to(device.now() + Duration::from_us(30));
        }
    }
    while device.run_until_completion() {
        while let Some(completion) = device.pop_completion() {
            assert!(!std::mem::replace(&mut seen[completion.tag as usize], true));
        }
    }
    assert!(seen.iter().all(|&done| done));
    assert_eq!(device.outstanding(), 0);
}
