//! Account mode: time moves as far as waits require.

use super::support::*;
use crate::*;

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
    let flags = meldsim_submit(rig.handle, MELDSIM_READ, rig.nsid, 0, 1, 0, 4);
    assert_eq!(flags, i64::from(MELDSIM_ERR_ARGUMENT));
    assert_eq!(
        meldsim_preload(rig.handle, rig.nsid, 0, beyond + 1, 0),
        MELDSIM_ERR_RANGE
    );
}
