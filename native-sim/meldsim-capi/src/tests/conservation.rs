//! Through the ABI nothing is lost either, and what the device has done does not depend on who moves its time. Random calls with
//! random arguments are those of `meldsim-fuzz`.

use std::collections::BTreeSet;

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
