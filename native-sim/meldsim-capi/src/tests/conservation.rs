//! Through the ABI nothing is lost either, what the device has done does not depend on who moves its time,
//! and random calls with random arguments end in any outcome but a crash, a hang or a panic of the model.

use std::collections::BTreeSet;
use std::ffi::CString;

use meldsim::engine::Random;
use proptest::prelude::*;

use super::*;

/// Blocks that the commands touch; they fit the device many times over.
const BLOCKS: u64 = 20_000;
/// One simulated second in a wall millisecond: paced, but soon over.
const FAST: f64 = 0.001;

#[derive(Clone, Copy, Debug)]
struct Order {
    opcode: u32,
    slba: u64,
    nlb: u64,
    directive: u32,
    /// What becomes of its ticket.
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Wait,
    WaitLater,
    Forget,
    Detached,
}

fn order() -> impl Strategy<Value = Order> {
    let opcode = prop_oneof![
        4 => Just(MELDSIM_WRITE),
        4 => Just(MELDSIM_READ),
        1 => Just(MELDSIM_DEALLOCATE),
        1 => Just(MELDSIM_FLUSH)
    ];
    let end = prop_oneof![
        Just(End::Wait),
        Just(End::WaitLater),
        Just(End::Forget),
        Just(End::Detached)
    ];
    (opcode, 0..BLOCKS, 1..300u64, any::<bool>(), end).prop_map(
        |(opcode, slba, nlb, hinted, end)| {
            let (slba, nlb) = match opcode {
                MELDSIM_FLUSH => (0, 0),
                _ => (slba, nlb.min(BLOCKS - slba)),
            };
            let directive = match hinted && opcode == MELDSIM_WRITE {
                true => MELDSIM_DIRECTIVE_SEQUENTIAL,
                false => MELDSIM_DIRECTIVE_NONE,
            };
            Order {
                opcode,
                slba,
                nlb,
                directive,
                end,
            }
        },
    )
}

/// Counters that time has no say in.
const TIMELESS: [&str; 8] = [
    "read_commands",
    "write_commands",
    "deallocate_commands",
    "flush_commands",
    "failed_commands",
    "host_read_bytes",
    "host_written_bytes",
    "mapped_pages",
];

fn model(orders: &[Order], lba_bytes: u64) -> [u64; 8] {
    let mut counted = [0; 8];
    let mut mapped = BTreeSet::new();
    for order in orders {
        let blocks = order.slba..order.slba + order.nlb;
        match order.opcode {
            MELDSIM_READ => {
                counted[0] += 1;
                counted[5] += order.nlb * lba_bytes;
            }
            MELDSIM_WRITE => {
                counted[1] += 1;
                counted[6] += order.nlb * lba_bytes;
                mapped.extend(blocks);
            }
            MELDSIM_DEALLOCATE => {
                counted[2] += 1;
                mapped.retain(|block| !blocks.contains(block));
            }
            _ => counted[3] += 1,
        }
    }
    counted[7] = mapped.len() as u64;
    counted
}

/// Submits `orders` and ends each ticket as it says; then everything outstanding is completed.
fn run(orders: &[Order], real_time: bool) -> [u64; 8] {
    let rig = Rig::new();
    if real_time {
        ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, FAST));
    }
    let mut later = Vec::new();
    for order in orders {
        let flags = match order.end {
            End::Detached => MELDSIM_DETACHED,
            _ => 0,
        };
        let nlb = order.nlb as u32;
        let ticket = meldsim_submit(
            rig.handle,
            order.opcode,
            rig.nsid,
            order.slba,
            nlb,
            order.directive,
            flags,
        );
        assert_eq!(ticket > 0, order.end != End::Detached, "{}", last_error());
        match order.end {
            End::Wait => assert!(
                meldsim_wait(rig.handle, ticket, FOREVER) > 0,
                "{}",
                last_error()
            ),
            End::WaitLater => later.push(ticket),
            End::Forget => ok(meldsim_forget(rig.handle, ticket)),
            End::Detached => {}
        }
    }
    for ticket in later {
        assert!(
            meldsim_wait(rig.handle, ticket, FOREVER) > 0,
            "{}",
            last_error()
        );
        assert_eq!(
            meldsim_wait(rig.handle, ticket, 0),
            i64::from(MELDSIM_ERR_TICKET),
            "completed twice"
        );
    }
    // A switch completes what is outstanding.
    let other = if real_time {
        MELDSIM_ACCOUNT
    } else {
        MELDSIM_REAL_TIME
    };
    ok(meldsim_set_mode(rig.handle, other, FAST));
    TIMELESS.map(|name| rig.stat(name))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_goes_in_comes_out_by_either_executive(orders in prop::collection::vec(order(), 1..60)) {
        let expected = model(&orders, 4096);
        prop_assert_eq!(run(&orders, false), expected, "account");
        prop_assert_eq!(run(&orders, true), expected, "real-time");
    }

    /// What reaches an idle device at one instant takes the same simulated time by either executive.
    #[test]
    fn a_batch_takes_the_same_simulated_time_by_either_executive(orders in prop::collection::vec(order(), 1..60)) {
        let latency = |real_time: bool| {
            let rig = Rig::preloaded(64);
            if real_time {
                ok(meldsim_set_mode(rig.handle, MELDSIM_REAL_TIME, FAST));
            }
            let commands: Vec<_> = orders
                .iter()
                .map(|order| meldsim_command {
                    opcode: order.opcode,
                    nsid: rig.nsid,
                    slba: order.slba,
                    nlb: order.nlb as u32,
                    directive: order.directive,
                    ..sized()
                })
                .collect();
            // SAFETY: a vector is as long as it says.
            let ticket = unsafe { meldsim_submit_batch(rig.handle, commands.as_ptr(), commands.len() as u32, 0) };
            meldsim_wait(rig.handle, ticket, FOREVER)
        };
        let account_ps = latency(false);
        prop_assert!(account_ps > 0, "{}", last_error());
        prop_assert_eq!(latency(true), account_ps);
    }
}

// Random calls.

/// Mostly plausible, sometimes at an edge, sometimes anything.
fn number(random: &mut Random, plausible: u64) -> u64 {
    match random.below(8) {
        0 => [
            0,
            1,
            u64::MAX,
            i64::MAX as u64,
            1 << 32,
            u64::from(u32::MAX),
        ][random.below(6) as usize],
        1 => random.next_u64(),
        _ => random.below(plausible),
    }
}

#[test]
fn random_calls_never_crash_and_never_panic_inside() {
    for seed in 0..40 {
        call_at_random(seed);
    }
}

fn call_at_random(seed: u64) {
    let mut random = Random::new(seed);
    let mut handles = vec![0, -1];
    let mut tickets = vec![0i64, -1];
    let names = [PROFILE, "melded-tlc-16x4", "", "/", "no such profile"];
    for _ in 0..400 {
        let handle = match random.below(12) {
            0 => random.next_u64() as i64,
            _ => handles[random.below(handles.len() as u64) as usize],
        };
        let ticket = match random.below(12) {
            0 => random.next_u64() as i64,
            _ => tickets[random.below(tickets.len() as u64) as usize],
        };
        let code = match random.below(16) {
            0 => {
                let name = CString::new(names[random.below(5) as usize]).unwrap();
                let mut opened = 0;
                // SAFETY: a NUL-terminated name and a writable handle.
                let code = unsafe { meldsim_open(MELDSIM_ABI_VERSION, name.as_ptr(), &mut opened) };
                if code == MELDSIM_OK {
                    handles.push(opened);
                }
                i64::from(code)
            }
            1 if random.below(4) == 0 => i64::from(meldsim_close(handle)),
            1 | 2 => {
                let dilation = [1.0, 0.001, 0.0, f64::NAN, -1.0][random.below(5) as usize];
                i64::from(meldsim_set_mode(
                    handle,
                    number(&mut random, 3) as u32,
                    dilation,
                ))
            }
            3 | 4 => {
                let mut nsid = 0;
                // SAFETY: `nsid` is writable.
                i64::from(unsafe {
                    meldsim_namespace_create(handle, number(&mut random, 1 << 30), &mut nsid)
                })
            }
            5 => {
                let mut info: meldsim_namespace = sized();
                let nsid = number(&mut random, 4) as u32;
                // SAFETY: its size is set.
                i64::from(unsafe { meldsim_namespace_info(handle, nsid, &mut info) })
            }
            6 => {
                let mut out = [0; 40];
                let n = random.below(41) as u32;
                // SAFETY: `n` is at most the length of `out`.
                i64::from(unsafe { meldsim_stats(handle, out.as_mut_ptr(), n) })
            }
            7 => i64::from(meldsim_forget(handle, ticket)),
            8 | 9 => meldsim_wait(handle, ticket, random.below(1_000_000)),
            10 => i64::from(meldsim_preload(
                handle,
                number(&mut random, 4) as u32,
                number(&mut random, 1 << 14),
                number(&mut random, 1 << 14),
                number(&mut random, 4) as u32 | 0x000F_0000,
            )),
            11 => {
                let commands: Vec<_> = (0..random.below(40))
                    .map(|_| command(&mut random))
                    .collect();
                let count = commands.len() as u32;
                // SAFETY: a slice is as long as it says.
                let got = unsafe {
                    meldsim_submit_batch(
                        handle,
                        commands.as_ptr(),
                        count,
                        number(&mut random, 2) as u32,
                    )
                };
                tickets.push(got);
                got
            }
            _ => {
                let c = command(&mut random);
                let flags = number(&mut random, 2) as u32;
                let got =
                    meldsim_submit(handle, c.opcode, c.nsid, c.slba, c.nlb, c.directive, flags);
                tickets.push(got);
                got
            }
        };
        assert_ne!(
            code,
            i64::from(MELDSIM_ERR_PANIC),
            "seed {seed}: {}",
            last_error()
        );
    }
    for handle in handles {
        meldsim_close(handle);
    }
}

fn command(random: &mut Random) -> meldsim_command {
    meldsim_command {
        opcode: [0, 1, 2, 9, number(random, 16) as u32][random.below(5) as usize],
        nsid: number(random, 4) as u32,
        slba: number(random, 1 << 14),
        nlb: number(random, 1 << 10) as u32,
        directive: [0, 0x000F_0001, 0x000F_0002, number(random, 1 << 22) as u32]
            [random.below(4) as usize],
        dsm: [0, 0x43, number(random, 256) as u32][random.below(3) as usize],
        queue: u32::from(random.below(20) == 0),
        ..sized()
    }
}
