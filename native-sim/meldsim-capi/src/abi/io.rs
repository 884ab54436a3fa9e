//! Commands and their tickets, and the submission queues they go through.

use meldsim::nvme::{DsmByte, Priority, Status};
use meldsim::{Command, Device, NamespaceId, Opcode, QueueId};

use super::namespace::{MELDSIM_RANGES_MAX, directive_of, meldsim_range, range_of};
use super::zone::send_of;
use crate::clock::Deadline;
use crate::entry::{
    List, check_out, check_reserved, count, device, give, long, session, status, take, versioned,
};
use crate::error::{Failure, MELDSIM_ERR_UNSUPPORTED, remember};
use crate::session::{How, MELDSIM_MAX_OUTSTANDING, Session};

/// Opcode of `meldsim_submit`: everything buffered goes to the flash.
pub const MELDSIM_FLUSH: u32 = 0;
/// Opcode of `meldsim_submit`: write.
pub const MELDSIM_WRITE: u32 = 1;
/// Opcode of `meldsim_submit`: read.
pub const MELDSIM_READ: u32 = 2;
/// Opcode of `meldsim_submit`: the blocks hold nothing of value any more.
pub const MELDSIM_DEALLOCATE: u32 = 9;

/// Flag of `meldsim_submit`: nobody will wait; failures show in the statistics only.
pub const MELDSIM_DETACHED: u32 = 1;
/// Flag of `meldsim_submit`: in real-time mode, MELDSIM_ERR_TIMEOUT when there is no room, instead of blocking.
pub const MELDSIM_NO_WAIT: u32 = 2;

/// Flag of `meldsim_submit`: the ticket's outcome goes to the completion queue, for `meldsim_reap`.
pub const MELDSIM_POSTED: u32 = 4;

/// DSM field of a write: sequential, written seldom and read often; it will be read sequentially.
pub const MELDSIM_DSM_SEQUENTIAL_READS: u32 = 0x43;

/// Priority of `meldsim_queue_create`: before all others, under weighted round robin.
pub const MELDSIM_PRIORITY_URGENT: u32 = 0;
/// Priority of `meldsim_queue_create`.
pub const MELDSIM_PRIORITY_HIGH: u32 = 1;
/// Priority of `meldsim_queue_create`, and of queue 0.
pub const MELDSIM_PRIORITY_MEDIUM: u32 = 2;
/// Priority of `meldsim_queue_create`.
pub const MELDSIM_PRIORITY_LOW: u32 = 3;

/// One command of `meldsim_submit_batch`; fields as the arguments of `meldsim_submit`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct meldsim_command {
    /// sizeof(meldsim_command).
    pub size: u32,
    /// MELDSIM_FLUSH, MELDSIM_WRITE, MELDSIM_READ, MELDSIM_DEALLOCATE, MELDSIM_ZONE_MANAGE or MELDSIM_ZONE_APPEND.
    pub opcode: u32,
    /// Namespace, from `meldsim_namespace_create`.
    pub nsid: u32,
    /// Number of logical blocks; of MELDSIM_ZONE_MANAGE, the Zone Send Action.
    pub nlb: u32,
    /// First logical block.
    pub slba: u64,
    /// `dtype << 16 | dspec`; writes only.
    pub directive: u32,
    /// The DSM field of a read or a write (CDW13 7:0), such as MELDSIM_DSM_SEQUENTIAL_READS; 0 for no hint.
    pub dsm: u32,
    /// The submission queue, 0 or one of `meldsim_queue_create`.
    pub queue: u32,
    /// 0.
    pub reserved: u32,
}

/// How submission queues share the controller, of `meldsim_arbitration` and for `meldsim_set_arbitration`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct meldsim_queue_shares {
    /// sizeof(meldsim_queue_shares).
    pub size: u32,
    /// Arbitration burst: commands fetched from a queue before the next one of its priority; 0 for no limit.
    pub burst: u32,
    /// Weight of high priority.
    pub high: u32,
    /// Weight of medium priority.
    pub medium: u32,
    /// Weight of low priority.
    pub low: u32,
}

versioned! {
    meldsim_command: 40,
    meldsim_queue_shares: 20,
}

/// Submits one command; it reaches the device now, in simulated time.
///
/// `opcode` is MELDSIM_FLUSH, MELDSIM_WRITE, MELDSIM_READ, MELDSIM_DEALLOCATE, or of a zoned namespace also MELDSIM_ZONE_MANAGE
/// or MELDSIM_ZONE_APPEND; `slba` and `nlb` count logical blocks (0 and 0 for a flush); `directive` is `dtype << 16 | dspec` on a write, 0 for none; `flags` is 0 or a sum of
/// MELDSIM_DETACHED or MELDSIM_POSTED, and MELDSIM_NO_WAIT. A DSM field and a queue need `meldsim_submit_batch`.
///
/// Returns a ticket above 0, to be given to `meldsim_wait` or `meldsim_forget` once (with MELDSIM_POSTED, `meldsim_reap`
/// gives it back instead of a wait); 0 when detached; or an error. When
/// MELDSIM_MAX_OUTSTANDING commands are on the device, the engine runs (account mode) or the call blocks (real-time mode)
/// until there is room. With MELDSIM_NO_WAIT it never blocks: nothing is submitted and MELDSIM_ERR_TIMEOUT returned.
/// Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (flags), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_UNSUPPORTED (opcode,
/// directive), MELDSIM_ERR_CAPACITY (tickets), MELDSIM_ERR_TIMEOUT (no room), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_submit(
    handle: i64,
    opcode: u32,
    nsid: u32,
    slba: u64,
    nlb: u32,
    directive: u32,
    flags: u32,
) -> i64 {
    session(handle, |session| {
        let command = meldsim_command {
            opcode,
            nsid,
            slba,
            nlb,
            directive,
            ..Default::default()
        };
        submit(session, 1, flags, |device, _, tag| {
            send(device, &command, tag)
        })
    })
}

/// Submits `n` commands (1 to MELDSIM_MAX_OUTSTANDING) that reach the device in order at one instant, under one ticket.
///
/// Waiting gives the latency of the slowest. When the device refuses a command, the commands before it have been
/// submitted, detached; those after it have not. Else as `meldsim_submit`. The caller owns `cmds`, which is copied.
///
/// # Safety
/// `cmds` is null, or points to `n` commands whose sizes are set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_submit_batch(
    handle: i64,
    cmds: *const meldsim_command,
    n: u32,
    flags: u32,
) -> i64 {
    session(handle, |session| {
        // SAFETY: the contract of this function on `cmds` and `n`.
        let commands = unsafe { List::new(cmds, n, MELDSIM_MAX_OUTSTANDING) }?;
        submit(session, commands.len, flags, |device, at, tag| {
            send(device, &commands.get(at)?, tag)
        })
    })
}

/// Submits the deallocation of `n` ranges (1 to MELDSIM_RANGES_MAX) of a namespace as one command, to submission queue
/// `queue`; all of them or, on an error, none. Else as `meldsim_submit`.
///
/// # Safety
/// `ranges` is null, or points to `n` ranges whose sizes are set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_deallocate(
    handle: i64,
    nsid: u32,
    ranges: *const meldsim_range,
    n: u32,
    queue: u32,
    flags: u32,
) -> i64 {
    session(handle, |session| {
        let (queue, nsid) = (queue_of(queue)?, NamespaceId(nsid));
        // SAFETY: the contract of this function on `ranges` and `n`.
        let ranges = unsafe { List::new(ranges, n, MELDSIM_RANGES_MAX) }?;
        let ranges = ranges.iter().map(|range| {
            let range = range_of(range?)?;
            Ok((range.slba, range.length))
        });
        let ranges: Vec<(u64, u32)> = ranges.collect::<Result<_, Failure>>()?;
        submit(session, 1, flags, |device, _, tag| {
            Ok(device.deallocate(queue, nsid, &ranges, tag)?)
        })
    })
}

/// Waits for a ticket: the simulated latency of its slowest command in picoseconds, or an error.
///
/// `timeout_ns` is wall time; UINT64_MAX waits without limit. In account mode a wait runs the engine on the calling thread
/// and at least a little even when `timeout_ns` is 0. After MELDSIM_ERR_TIMEOUT the ticket stays valid; after anything
/// else it is used up. Thread-safe; of several threads that wait for one ticket, one gets the latency.
///
/// Errors: MELDSIM_ERR_TICKET, MELDSIM_ERR_TIMEOUT, MELDSIM_ERR_CAPACITY (a write found the device full), MELDSIM_ERR_ZONE (the
/// state of a zone), MELDSIM_ERR_ARGUMENT (not the first logical block of a zone), MELDSIM_ERR_UNSUPPORTED (of a zoned
/// namespace), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_wait(handle: i64, ticket: i64, timeout_ns: u64) -> i64 {
    session(handle, |session| {
        let ended = session.wait(ticket, Deadline::after_ns(timeout_ns))?;
        Ok(long(ended.latency_ps))
    })
}

/// As `meldsim_wait`; `*result` becomes what the command returns, dwords 0 and 1 of its completion: of MELDSIM_ZONE_APPEND the
/// first logical block that it wrote, of others 0. Of several commands under one ticket it is the largest.
///
/// Errors: those of `meldsim_wait`, MELDSIM_ERR_ARGUMENT (null). `*result` is set on success only.
///
/// # Safety
/// `result` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_wait_result(
    handle: i64,
    ticket: i64,
    timeout_ns: u64,
    result: *mut u64,
) -> i64 {
    session(handle, |session| {
        check_out(result, "result")?;
        let ended = session.wait(ticket, Deadline::after_ns(timeout_ns))?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { result.write(ended.result) };
        Ok(long(ended.latency_ps))
    })
}

/// Takes outcomes from the completion queue, oldest first, `n` (1 to MELDSIM_MAX_OUTSTANDING) of them at most, and returns
/// how many. Never blocks; moves no time in account mode.
///
/// Each is two values in `out`: the ticket, of a submission with MELDSIM_POSTED, and what `meldsim_wait` would return for
/// it. In real-time mode `*due_ns` is the wall time until more may follow; else, or when nothing is scheduled, it is
/// UINT64_MAX. A command that is submitted meanwhile may be done before that. `meldsim_last_error` has the text of the last
/// that failed. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, `n`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` points to `2 * n` writable values, `due_ns` to one, or they are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_reap(handle: i64, out: *mut i64, n: u32, due_ns: *mut u64) -> i32 {
    session(handle, |session| {
        check_out(out, "out")?;
        check_out(due_ns, "due_ns")?;
        if !(1..=MELDSIM_MAX_OUTSTANDING).contains(&n) {
            return Err(Failure::argument(format!(
                "n is {n}; must be 1 to {MELDSIM_MAX_OUTSTANDING}"
            )));
        }
        let (taken, due) = session.reap(n as usize, |at, ticket, outcome| {
            let value = match outcome {
                Ok(ended) => long(ended.latency_ps),
                Err(status) => i64::from(remember(&Failure::of_command(status))),
            };
            // SAFETY: not null, and the caller vouches for `2 * n` writable values; `at` is below `n`.
            unsafe {
                out.add(2 * at).write(ticket);
                out.add(2 * at + 1).write(value);
            }
        })?;
        let due = due.map_or(u64::MAX, |due| {
            u64::try_from(due.as_nanos()).unwrap_or(u64::MAX)
        });
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { due_ns.write(due) };
        Ok(count(taken as u64))
    })
}

/// Gives a ticket up without waiting; its commands run on as if detached. Thread-safe.
///
/// Errors: MELDSIM_ERR_TICKET, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_forget(handle: i64, ticket: i64) -> i32 {
    status(handle, |session| session.forget(ticket))
}

/// Adds a submission queue that holds `depth` commands at most, and stores its number in `*queue`. Queues matter where the
/// profile's `[host]` limits what the controller works on; queue 0 is always there, without a limit. They live as long as
/// the device. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, depth 0, priority), MELDSIM_ERR_CAPACITY (65536 queues), MELDSIM_ERR_CLOSED,
/// MELDSIM_ERR_PANIC. `*queue` is set on success only.
///
/// # Safety
/// `queue` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_queue_create(
    handle: i64,
    depth: u32,
    priority: u32,
    queue: *mut u32,
) -> i32 {
    status(handle, |session| {
        check_out(queue, "queue")?;
        let priority = priority_of(priority)?;
        let created = session.with(|state| Ok(state.device.create_queue(depth, priority)?))?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { queue.write(created.0.into()) };
        Ok(())
    })
}

/// Commands that wait in a submission queue to be fetched; none in one that does not exist. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_queued(handle: i64, queue: u32) -> i32 {
    device(handle, |device| {
        Ok(count(device.queued(queue_of(queue)?) as u64))
    })
}

/// Changes the arbitration burst and the weights of the priorities below urgent, as NVMe's Feature 01h does. A weight of 0
/// counts as 1. `shares` is copied. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `shares` is null, or points to a struct whose size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_set_arbitration(
    handle: i64,
    shares: *const meldsim_queue_shares,
) -> i32 {
    status(handle, |session| {
        // SAFETY: the contract of this function on `shares`.
        let shares = unsafe { take(shares) }?;
        let weights = [shares.high, shares.medium, shares.low];
        session.with(|state| {
            state.device.set_arbitration(shares.burst, weights);
            Ok(())
        })
    })
}

/// Fills `*out` with the arbitration burst and the weights. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null, or points to a struct whose size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_arbitration(handle: i64, out: *mut meldsim_queue_shares) -> i32 {
    device(handle, |device| {
        let (burst, [high, medium, low]) = device.arbitration();
        let value = meldsim_queue_shares {
            size: 0,
            burst,
            high,
            medium,
            low,
        };
        // SAFETY: the contract of this function on `out`.
        unsafe { give(out, value) }
    })
}

/// Submits `commands` commands under one ticket.
fn submit(
    session: &Session,
    commands: usize,
    flags: u32,
    send: impl FnMut(&mut Device, usize, u64) -> Result<(), Failure>,
) -> Result<i64, Failure> {
    if flags & !(MELDSIM_DETACHED | MELDSIM_NO_WAIT | MELDSIM_POSTED) != 0 {
        return Err(Failure::argument(format!(
            "flags {flags:#x} has unknown bits; only 1 (detached), 2 (no wait) and 4 (posted) are known"
        )));
    }
    let how = How {
        detached: flags & MELDSIM_DETACHED != 0,
        posted: flags & MELDSIM_POSTED != 0,
        no_wait: flags & MELDSIM_NO_WAIT != 0,
    };
    if how.detached && how.posted {
        return Err(Failure::argument(
            "flags 1 (detached) and 4 (posted) exclude each other",
        ));
    }
    session.submit(commands, how, send)
}

pub(super) fn send(
    device: &mut Device,
    command: &meldsim_command,
    tag: u64,
) -> Result<(), Failure> {
    check_reserved::<meldsim_command>(command.reserved)?;
    let opcode = u8::try_from(command.opcode).ok();
    let opcode = opcode.and_then(Opcode::from_u8).ok_or_else(|| {
        Failure::new(
            MELDSIM_ERR_UNSUPPORTED,
            format!(
                "opcode {:#x} is unknown; use 0 (flush), 1 (write), 2 (read), 9 (deallocate), 0x79 (manage zones) or 0x7d (append)",
                command.opcode
            ),
        )
        .with_status(Status::INVALID_OPCODE)
    })?;
    let dsm = u8::try_from(command.dsm).map_err(|_| {
        Failure::argument(format!("the DSM field {:#x} is above 0xff", command.dsm))
    })?;
    let (nlb, zone_action, select_all) = match opcode {
        Opcode::ManageZone => {
            let (action, select_all) = send_of(command.nlb)?;
            (0, Some(action), select_all)
        }
        _ => (command.nlb, None, false),
    };
    let of_model = Command {
        opcode,
        nsid: NamespaceId(command.nsid),
        slba: command.slba,
        nlb,
        zone_action,
        select_all,
        directive: directive_of(command.directive)?,
        dsm: DsmByte(dsm),
        tag,
    };
    match command.queue {
        0 => device.submit(&of_model)?,
        queue => device.submit_to(queue_of(queue)?, &of_model)?,
    }
    Ok(())
}

fn queue_of(number: u32) -> Result<QueueId, Failure> {
    let queue = u16::try_from(number).map(QueueId);
    queue.map_err(|_| Failure::argument(format!("submission queue {number} is above 65535")))
}

fn priority_of(number: u32) -> Result<Priority, Failure> {
    match number {
        MELDSIM_PRIORITY_URGENT => Ok(Priority::Urgent),
        MELDSIM_PRIORITY_HIGH => Ok(Priority::High),
        MELDSIM_PRIORITY_MEDIUM => Ok(Priority::Medium),
        MELDSIM_PRIORITY_LOW => Ok(Priority::Low),
        other => Err(Failure::argument(format!(
            "priority {other} is unknown; use 0 (urgent), 1 (high), 2 (medium) or 3 (low)"
        ))),
    }
}
