//! Commands in account mode: time moves as far as waits require. Batches, queues, preconditioning.

use meldsim::policy::arbitration::ArbitrationPolicy;
use meldsim::{Duration, Profile};

use super::*;

#[test]
fn a_page_read_takes_the_time_of_the_model() {
    let rig = Rig::preloaded(4);
    let before_ps = rig.stat("now_ps");
    let latency_ps = rig.read(0, 4096) as u64;
    assert!(latency_ps >= 63_000_000, "{latency_ps}");
    assert_eq!(
        rig.stat("now_ps") - before_ps,
        latency_ps,
        "time stops at the completion"
    );
}

#[test]
fn submitting_alone_takes_no_simulated_time() {
    let rig = Rig::preloaded(4);
    let ticket = rig.submit(MELDSIM_READ, 0, 4096, 0);
    assert_eq!(rig.stat("now_ps"), 0);
    ok(meldsim_forget(rig.handle, ticket));
    assert_eq!(
        meldsim_wait(rig.handle, ticket, FOREVER),
        i64::from(MELDSIM_ERR_TICKET)
    );
}

#[test]
fn latencies_are_those_of_the_completed_commands() {
    let rig = Rig::preloaded(4);
    let read = |quantile| meldsim_latency(rig.handle, MELDSIM_READ, quantile);
    assert_eq!(read(0.5), 0, "nothing was read yet");
    let mut latencies: Vec<i64> = (1..=9).map(|n| rig.read(0, n * 64 * 1024)).collect();
    latencies.sort_unstable();
    let near = |found: i64, expected: i64| (found - expected).abs() <= expected / 1000;
    assert!(near(read(0.5), latencies[4]), "{} {latencies:?}", read(0.5));
    assert_eq!(read(1.0), latencies[8]);
    assert_eq!(meldsim_latency(rig.handle, MELDSIM_WRITE, 0.5), 0);
    for (opcode, quantile) in [
        (MELDSIM_FLUSH, 0.5),
        (MELDSIM_READ, 1.1),
        (MELDSIM_READ, f64::NAN),
    ] {
        assert_eq!(
            meldsim_latency(rig.handle, opcode, quantile),
            i64::from(MELDSIM_ERR_ARGUMENT)
        );
    }
    rig.submit(MELDSIM_READ, 0, 4096, MELDSIM_DETACHED);
    assert_eq!(rig.stat("outstanding_commands"), 1);
}

#[test]
fn a_ticket_is_good_for_one_wait() {
    let rig = Rig::preloaded(1);
    let ticket = rig.submit(MELDSIM_READ, 0, 4096, 0);
    assert!(meldsim_wait(rig.handle, ticket, FOREVER) > 0);
    assert_eq!(
        meldsim_wait(rig.handle, ticket, FOREVER),
        i64::from(MELDSIM_ERR_TICKET)
    );
    assert_eq!(meldsim_forget(rig.handle, ticket), MELDSIM_ERR_TICKET);
}

#[test]
fn posted_outcomes_are_reaped_in_the_order_of_their_completions() {
    let rig = Rig::preloaded(64);
    let timeout = i64::from(MELDSIM_ERR_TICKET);
    let long = rig.submit(MELDSIM_READ, 0, 16 * MIB, MELDSIM_POSTED);
    let given_up = rig.submit(MELDSIM_READ, 32 * MIB, 4096, MELDSIM_POSTED);
    let short = rig.submit(MELDSIM_READ, 32 * MIB, 4096, MELDSIM_POSTED);
    assert_eq!(meldsim_wait(rig.handle, short, FOREVER), timeout);
    assert!(last_error().contains("reaped"), "{}", last_error());
    assert_eq!(rig.reap(8), (vec![], u64::MAX), "no time has passed");
    ok(meldsim_forget(rig.handle, given_up));
    let waited = rig.submit(MELDSIM_READ, 0, 16 * MIB, 0);
    assert!(meldsim_wait(rig.handle, waited, FOREVER) > 0);

    let (first, _) = rig.reap(1);
    let (rest, _) = rig.reap(8);
    let mut tickets: Vec<i64> = first.iter().chain(&rest).map(|done| done.0).collect();
    // All were submitted at one time.
    assert!(first[0].1 > 0 && first[0].1 < rest[0].1);
    tickets.sort_unstable();
    assert_eq!(tickets, [long, short]);
    assert_eq!(rig.reap(8).0, []);
    assert_eq!(meldsim_forget(rig.handle, long), MELDSIM_ERR_TICKET);
}

#[test]
fn a_posted_outcome_that_is_done_can_be_given_up() {
    let rig = Rig::preloaded(4);
    let posted = rig.submit(MELDSIM_READ, 0, 4096, MELDSIM_POSTED);
    rig.read(0, MIB);
    ok(meldsim_forget(rig.handle, posted));
    assert_eq!(meldsim_forget(rig.handle, posted), MELDSIM_ERR_TICKET);
    assert_eq!(rig.reap(8).0, []);
}

#[test]
fn reaping_checks_its_arguments() {
    let rig = Rig::new();
    let both = MELDSIM_POSTED | MELDSIM_DETACHED;
    let argument = i64::from(MELDSIM_ERR_ARGUMENT);
    assert_eq!(rig.submit(MELDSIM_READ, 0, 4096, both), argument);
    let (mut out, mut due_ns) = ([0i64; 2], 0u64);
    for n in [0, MELDSIM_MAX_OUTSTANDING + 1] {
        // SAFETY: nothing is written where `n` is refused.
        let code = unsafe { meldsim_reap(rig.handle, out.as_mut_ptr(), n, &mut due_ns) };
        assert_eq!(code, MELDSIM_ERR_ARGUMENT);
    }
    // SAFETY: nulls are refused.
    let code = unsafe { meldsim_reap(rig.handle, std::ptr::null_mut(), 1, &mut due_ns) };
    assert_eq!(code, MELDSIM_ERR_ARGUMENT);
    // SAFETY: as above.
    let code = unsafe { meldsim_reap(rig.handle, out.as_mut_ptr(), 1, std::ptr::null_mut()) };
    assert_eq!(code, MELDSIM_ERR_ARGUMENT);
}

#[test]
fn polling_with_no_timeout_makes_progress() {
    let rig = Rig::preloaded(64);
    for at in 0..500 {
        rig.submit(MELDSIM_READ, at * 4096, 4096, MELDSIM_DETACHED);
    }
    let ticket = rig.submit(MELDSIM_READ, 0, 64 * MIB, 0);
    let timeout = i64::from(MELDSIM_ERR_TIMEOUT);
    let polls = (0..10_000)
        .take_while(|_| meldsim_wait(rig.handle, ticket, 0) == timeout)
        .count();
    assert!((1..100).contains(&polls), "{polls}");
}

#[test]
fn outstanding_commands_are_bounded() {
    let rig = Rig::preloaded(64);
    let many = 3 * u64::from(MELDSIM_MAX_OUTSTANDING);
    for at in 0..many {
        let ticket = rig.submit(MELDSIM_READ, at * 4096, 4096, MELDSIM_DETACHED);
        assert_eq!(ticket, 0, "{}", last_error());
    }
    assert!(rig.stat("now_ps") > 0, "the engine ran to make room");
    // A switch completes the rest.
    ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, 1.0));
    assert_eq!(
        rig.stat("host_read_bytes"),
        many * 4096,
        "all bytes were read"
    );
}

#[test]
fn writes_and_reads_back_with_a_directive() {
    let rig = Rig::new();
    let chunk = MIB;
    for at in 0..24 {
        let ticket = meldsim_submit(
            rig.handle,
            MELDSIM_WRITE,
            rig.nsid,
            rig.lbas(at * chunk),
            rig.lbas(chunk) as u32,
            MELDSIM_DIRECTIVE_SEQUENTIAL,
            MELDSIM_DETACHED,
        );
        assert_eq!(ticket, 0, "{}", last_error());
    }
    let flush = meldsim_submit(rig.handle, MELDSIM_FLUSH, rig.nsid, 0, 0, 0, 0);
    assert!(
        meldsim_wait(rig.handle, flush, FOREVER) > 0,
        "{}",
        last_error()
    );
    rig.read(0, 16 * MIB);
    assert!(
        rig.stat("melded_reads") > 1000,
        "melded reads: {}",
        rig.stat("melded_reads")
    );
}

#[test]
fn what_the_device_refuses_has_its_code() {
    let rig = Rig::new();
    let submit = |opcode, nsid, slba, nlb, directive| {
        meldsim_submit(rig.handle, opcode, nsid, slba, nlb, directive, 0)
    };
    let beyond = rig.lbas(1 << 30);
    let cases = [
        (submit(MELDSIM_READ, 99, 0, 1, 0), MELDSIM_ERR_NAMESPACE),
        (
            submit(MELDSIM_READ, rig.nsid, beyond, 1, 0),
            MELDSIM_ERR_RANGE,
        ),
        (
            submit(MELDSIM_READ, rig.nsid, u64::MAX, u32::MAX, 0),
            MELDSIM_ERR_RANGE,
        ),
        (submit(3, rig.nsid, 0, 1, 0), MELDSIM_ERR_UNSUPPORTED),
        (submit(0x102, rig.nsid, 0, 1, 0), MELDSIM_ERR_UNSUPPORTED),
        (
            submit(MELDSIM_WRITE, rig.nsid, 0, 1, 0x000F_0101),
            MELDSIM_ERR_UNSUPPORTED,
        ),
        (
            submit(MELDSIM_WRITE, rig.nsid, 0, 1, 0x0100_0001),
            MELDSIM_ERR_UNSUPPORTED,
        ),
    ];
    for (at, (outcome, code)) in cases.into_iter().enumerate() {
        assert_eq!(outcome, i64::from(code), "case {at}: {}", last_error());
    }
    let flags = meldsim_submit(rig.handle, MELDSIM_READ, rig.nsid, 0, 1, 0, 8);
    assert_eq!(flags, i64::from(MELDSIM_ERR_ARGUMENT));
    assert_eq!(
        meldsim_preload(rig.handle, rig.nsid, 0, beyond + 1, 0),
        MELDSIM_ERR_RANGE
    );
}

// Batches.

fn read_of(rig: &Rig, offset: u64, bytes: u64) -> meldsim_command {
    meldsim_command {
        opcode: MELDSIM_READ,
        nsid: rig.nsid,
        slba: rig.lbas(offset),
        nlb: rig.lbas(bytes) as u32,
        ..sized()
    }
}

fn submit(rig: &Rig, commands: &[meldsim_command]) -> i64 {
    // SAFETY: a slice is as long as it says.
    unsafe { meldsim_submit_batch(rig.handle, commands.as_ptr(), commands.len() as u32, 0) }
}

#[test]
fn a_batch_takes_as_long_as_one_request_of_the_same_pages() {
    let (split, whole) = (Rig::preloaded(24), Rig::preloaded(24));
    let commands: Vec<_> = (0..16).map(|at| read_of(&split, at * MIB, MIB)).collect();
    let ticket = submit(&split, &commands);
    assert!(ticket > 0, "{}", last_error());
    let split_ps = meldsim_wait(split.handle, ticket, FOREVER);
    assert_eq!(split_ps, whole.read(0, 16 * MIB));
}

#[test]
fn a_refused_command_fails_the_batch_and_leaves_no_ticket_behind() {
    let rig = Rig::preloaded(1);
    let mut commands = vec![read_of(&rig, 0, 4096); 3];
    commands[2].nsid = 99;
    assert_eq!(submit(&rig, &commands), i64::from(MELDSIM_ERR_NAMESPACE));
    commands[2] = read_of(&rig, 4096, 4096);
    commands[1].queue = 1;
    assert_eq!(submit(&rig, &commands), i64::from(MELDSIM_ERR_ARGUMENT));
    assert_eq!(submit(&rig, &[]), i64::from(MELDSIM_ERR_ARGUMENT));
    let too_many = vec![read_of(&rig, 0, 4096); MELDSIM_MAX_OUTSTANDING as usize + 1];
    assert_eq!(submit(&rig, &too_many), i64::from(MELDSIM_ERR_ARGUMENT));
    rig.read(0, 4096);
}

#[test]
fn the_largest_batch_fits_behind_outstanding_work() {
    let rig = Rig::preloaded(16);
    let commands = vec![read_of(&rig, 0, 4096); MELDSIM_MAX_OUTSTANDING as usize];
    let first = submit(&rig, &commands);
    let second = submit(&rig, &commands);
    assert!(first > 0 && second > 0 && first != second);
    assert!(meldsim_wait(rig.handle, second, FOREVER) > 0);
    assert!(meldsim_wait(rig.handle, first, FOREVER) > 0);
}

// Queues.

/// A device that fetches a command each 10 us and arbitrates by priority.
fn slow() -> (i64, u32) {
    let mut profile = Profile::builtin(PROFILE).unwrap();
    profile.host.command_cost = Duration::from_us(10);
    profile.host.arbitration = ArbitrationPolicy::named("weighted-round-robin");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), profile.to_toml()).unwrap();
    let handle = open(file.path().to_str().unwrap()).unwrap();
    let mut nsid = 0;
    // SAFETY: `nsid` is writable.
    ok(unsafe { meldsim_namespace_create(handle, 1 << 30, &mut nsid) });
    (handle, nsid)
}

fn create_queue(handle: i64, depth: u32, priority: u32) -> Result<u32, i32> {
    let mut queue = 0;
    // SAFETY: `queue` is writable.
    match unsafe { meldsim_queue_create(handle, depth, priority, &mut queue) } {
        MELDSIM_OK => Ok(queue),
        code => Err(code),
    }
}

fn read_from(handle: i64, nsid: u32, queue: u32) -> i64 {
    let read = meldsim_command {
        opcode: MELDSIM_READ,
        nsid,
        nlb: 1,
        queue,
        ..sized()
    };
    // SAFETY: one command.
    unsafe { meldsim_submit_batch(handle, &read, 1, 0) }
}

#[test]
fn an_urgent_queue_overtakes() {
    let (handle, nsid) = slow();
    let low = create_queue(handle, 8, MELDSIM_PRIORITY_LOW).unwrap();
    let urgent = create_queue(handle, 8, MELDSIM_PRIORITY_URGENT).unwrap();
    assert_eq!((low, urgent), (1, 2));
    let waiting: Vec<i64> = (0..8).map(|_| read_from(handle, nsid, low)).collect();
    assert_eq!(meldsim_queued(handle, low), 7, "one is being fetched");
    read_from(handle, nsid, low);
    assert_eq!(
        read_from(handle, nsid, low),
        i64::from(MELDSIM_ERR_CAPACITY)
    );
    let overtaking = read_from(handle, nsid, urgent);
    let overtaking_ps = meldsim_wait(handle, overtaking, FOREVER);
    let last_ps = meldsim_wait(handle, waiting[7], FOREVER);
    assert!(overtaking_ps > 0 && overtaking_ps + 40_000_000 < last_ps);
    assert_eq!(read_from(handle, nsid, 3), i64::from(MELDSIM_ERR_ARGUMENT));
    assert_eq!(
        read_from(handle, nsid, 1 << 16),
        i64::from(MELDSIM_ERR_ARGUMENT)
    );
    ok(meldsim_close(handle));
}

#[test]
fn queues_and_weights_are_checked_and_read_back() {
    let rig = Rig::new();
    assert_eq!(create_queue(rig.handle, 0, 0), Err(MELDSIM_ERR_ARGUMENT));
    assert_eq!(create_queue(rig.handle, 1, 4), Err(MELDSIM_ERR_ARGUMENT));
    // SAFETY: null is the error under test.
    let null = unsafe { meldsim_queue_create(rig.handle, 1, 0, std::ptr::null_mut()) };
    assert_eq!(null, MELDSIM_ERR_ARGUMENT);
    assert_eq!(meldsim_queued(rig.handle, 9), 0);
    let shares = meldsim_queue_shares {
        burst: 4,
        high: 8,
        low: 2,
        ..sized()
    };
    // SAFETY: its size is set.
    ok(unsafe { meldsim_set_arbitration(rig.handle, &shares) });
    let mut set = sized();
    // SAFETY: its size is set.
    ok(unsafe { meldsim_arbitration(rig.handle, &mut set) });
    assert_eq!(
        set,
        meldsim_queue_shares {
            medium: 1,
            ..shares
        }
    );
}

// Preconditioning.

#[test]
fn a_used_device_is_full_and_collects_at_once() {
    let rig = Rig::new();
    let lost = rig.submit(MELDSIM_READ, 0, MIB, 0);
    ok(meldsim_precondition(rig.handle, 100, 100));
    assert!(
        meldsim_wait(rig.handle, lost, FOREVER) > 0,
        "completed before"
    );
    assert_eq!(rig.stat("mapped_pages"), (1 << 30) / 4096);
    let before_ps = rig.stat("now_ps");
    ok(meldsim_precondition(rig.handle, 50, 0));
    assert_eq!(rig.stat("mapped_pages"), (1 << 29) / 4096);
    assert_eq!(rig.stat("now_ps"), before_ps, "takes no simulated time");
    rig.read(0, MIB);
}

#[test]
fn shares_beyond_the_whole_are_refused() {
    let rig = Rig::new();
    for (fill, random) in [(0, 0), (101, 0), (50, 101), (u32::MAX, u32::MAX)] {
        let outcome = meldsim_precondition(rig.handle, fill, random);
        assert_eq!(outcome, MELDSIM_ERR_ARGUMENT, "{fill} {random}");
    }
}
