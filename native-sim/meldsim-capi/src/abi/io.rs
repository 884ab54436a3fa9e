//! Commands and their tickets.

use meldsim::{NamespaceId, Precondition};

use super::{check_flags, fill, status};
use crate::convert;
use crate::deadline::Deadline;
use crate::error::Failure;
use crate::handles;
use crate::panic::boundary;
use crate::session::MELDSIM_MAX_OUTSTANDING;

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

/// Write directive: no hint.
pub const MELDSIM_DIRECTIVE_NONE: u32 = 0;
/// Write directive (`dtype << 16 | dspec`): will be read sequentially.
pub const MELDSIM_DIRECTIVE_SEQUENTIAL: u32 = 0x000F_0001;
/// Write directive (`dtype << 16 | dspec`): will be read at random.
pub const MELDSIM_DIRECTIVE_RANDOM: u32 = 0x000F_0002;
/// Write directive: add a stream's number, 1 to 16. Data of one stream is kept together, and apart from that of others.
pub const MELDSIM_DIRECTIVE_STREAM: u32 = 0x0001_0000;

/// DSM field of a write: sequential, written seldom and read often; it will be read sequentially.
pub const MELDSIM_DSM_SEQUENTIAL_READS: u32 = 0x43;

/// One command of `meldsim_submit_batch`: 32 bytes without padding, fields as the arguments of `meldsim_submit`.
#[repr(C)]
#[allow(non_camel_case_types, reason = "the C name of the type")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct meldsim_command {
    /// MELDSIM_FLUSH, MELDSIM_WRITE, MELDSIM_READ or MELDSIM_DEALLOCATE.
    pub opcode: u32,
    /// Namespace, from `meldsim_namespace_create`.
    pub nsid: u32,
    /// First logical block.
    pub slba: u64,
    /// Number of logical blocks.
    pub nlb: u32,
    /// `dtype << 16 | dspec`; writes only.
    pub directive: u32,
    /// The DSM field of a read or a write (CDW13 7:0), such as MELDSIM_DSM_SEQUENTIAL_READS; 0 for no hint.
    pub dsm: u32,
    /// The submission queue, 0 or one of `meldsim_queue_create`.
    pub queue: u32,
}

const _: () = assert!(size_of::<meldsim_command>() == 32);

/// Submits one command; it reaches the device now, in simulated time.
///
/// `opcode` is MELDSIM_FLUSH, MELDSIM_WRITE, MELDSIM_READ or MELDSIM_DEALLOCATE; `slba` and `nlb` count logical blocks (0
/// and 0 for a flush); a DSM field and a queue need `meldsim_submit_batch`; `directive` is `dtype << 16 | dspec` on a write, 0 for none; `flags` is 0 or a sum of
/// MELDSIM_DETACHED and MELDSIM_NO_WAIT.
///
/// Returns a ticket above 0, to be given to `meldsim_wait` or `meldsim_forget` once; 0 when detached; or an error. When
/// MELDSIM_MAX_OUTSTANDING commands are on the device, the engine runs (account mode) or the call blocks (real-time mode)
/// until there is room. With MELDSIM_NO_WAIT it never blocks: nothing is submitted and MELDSIM_ERR_TIMEOUT returned.
/// Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (flags), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_UNSUPPORTED (opcode,
/// directive), MELDSIM_ERR_CAPACITY (tickets), MELDSIM_ERR_TIMEOUT (no room), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC,
/// MELDSIM_ERR_INJECTED.
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
    boundary(|| {
        let command = meldsim_command {
            opcode,
            nsid,
            slba,
            nlb,
            directive,
            dsm: 0,
            queue: 0,
        };
        submit(handle, std::slice::from_ref(&command), flags)
    })
}

/// Submits `n` commands (1 to MELDSIM_MAX_OUTSTANDING) that reach the device in order at one instant, under one ticket.
///
/// Waiting gives the latency of the slowest. When the device refuses a command, the commands before it have been
/// submitted, detached; those after it have not. Else as `meldsim_submit`. The caller owns `cmds`, which is copied.
///
/// # Safety
/// `cmds` is null, or points to `n` commands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_submit_batch(
    handle: i64,
    cmds: *const meldsim_command,
    n: u32,
    flags: u32,
) -> i64 {
    boundary(|| {
        if cmds.is_null() || !cmds.is_aligned() {
            return Err(Failure::argument("cmds is null or not aligned"));
        }
        if !(1..=MELDSIM_MAX_OUTSTANDING).contains(&n) {
            return Err(Failure::argument(format!(
                "a batch of {n} commands; must be 1 to {MELDSIM_MAX_OUTSTANDING}"
            )));
        }
        // SAFETY: not null, aligned, and the caller vouches for `n` commands that live through the call.
        let commands = unsafe { std::slice::from_raw_parts(cmds, n as usize) };
        submit(handle, commands, flags)
    })
}

/// Says how the data of a stream will be read, where its writes do not say it themselves: `directive` is
/// MELDSIM_DIRECTIVE_SEQUENTIAL or MELDSIM_DIRECTIVE_RANDOM, or MELDSIM_DIRECTIVE_NONE to take it back. `stream` is 1 to 16,
/// of this namespace. For writes submitted from now on. Thread-safe.
///
/// Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (stream, directive), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC,
/// MELDSIM_ERR_INJECTED.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_stream_bind(handle: i64, nsid: u32, stream: u32, directive: u32) -> i32 {
    status(handle, |session| {
        let stream = u16::try_from(stream).unwrap_or(u16::MAX);
        session.bind_stream(NamespaceId(nsid), stream, convert::directive(directive)?)
    })
}

/// Releases a stream, when nothing will be written to it any more: what it still gathers is programmed, with padding, and its
/// blocks are closed, so that another stream may have blocks. A later write opens it again; it stays bound. Thread-safe.
///
/// Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (stream), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_stream_release(handle: i64, nsid: u32, stream: u32) -> i32 {
    status(handle, |session| {
        let stream = u16::try_from(stream).unwrap_or(u16::MAX);
        session.on_device(|device| {
            let released = device.release_stream(NamespaceId(nsid), stream);
            released.map_err(convert::refused)
        })
    })
}

/// Fills `out` with what the first `n` streams of a namespace are bound to, from stream 0, which is none: 0 nothing, 1
/// sequential, 2 random.
///
/// Returns how many there are. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_streams_bound(
    handle: i64,
    nsid: u32,
    out: *mut u64,
    n: u32,
) -> i32 {
    boundary(|| {
        let bound: Vec<u64> = handles::get(handle)?.guard(|session| {
            session.on_device(|device| {
                let bound = device.bound_streams(NamespaceId(nsid));
                let bound = bound.map_err(convert::refused)?;
                Ok(bound.iter().map(|&pattern| pattern as u64).collect())
            })
        })?;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, bound.into_iter()) }
    })
}

/// Waits for a ticket: the simulated latency of its slowest command in picoseconds, or an error.
///
/// `timeout_ns` is wall time; UINT64_MAX waits without limit. In account mode a wait runs the engine on the calling thread
/// and at least a little even when `timeout_ns` is 0. After MELDSIM_ERR_TIMEOUT the ticket stays valid; after anything
/// else it is used up. Thread-safe; of several threads that wait for one ticket, one gets the latency.
///
/// Errors: MELDSIM_ERR_TICKET, MELDSIM_ERR_TIMEOUT, MELDSIM_ERR_CAPACITY (a write found the device full),
/// MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC, MELDSIM_ERR_INJECTED.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_wait(handle: i64, ticket: i64, timeout_ns: u64) -> i64 {
    boundary(|| {
        let session = handles::get(handle)?;
        let latency_ps =
            session.guard(|session| session.wait(ticket, Deadline::after_ns(timeout_ns)))?;
        Ok(i64::try_from(latency_ps).unwrap_or(i64::MAX))
    })
}

/// Gives a ticket up without waiting; its commands run on as if detached. Thread-safe.
///
/// Errors: MELDSIM_ERR_TICKET, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_forget(handle: i64, ticket: i64) -> i32 {
    status(handle, |session| session.forget(ticket))
}

/// Places data as if it had been written long ago with `directive`; takes no simulated time. Thread-safe.
///
/// Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CAPACITY, MELDSIM_ERR_UNSUPPORTED (directive),
/// MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC, MELDSIM_ERR_INJECTED.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_preload(
    handle: i64,
    nsid: u32,
    slba: u64,
    nlb: u64,
    directive: u32,
) -> i32 {
    status(handle, |session| {
        session.preload(NamespaceId(nsid), slba, nlb, convert::directive(directive)?)
    })
}

/// Puts the device into the state of one that has been used for long: every namespace filled to `fill_percent` (1 to 100)
/// from its start, of which the first `random_percent` (0 to 100) was overwritten at random until garbage collection came
/// to its steady state. What the namespaces held before is gone.
///
/// First completes everything outstanding, at once. The state itself is computed, in no simulated time. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (a share), MELDSIM_ERR_CAPACITY, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC, MELDSIM_ERR_INJECTED.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_precondition(handle: i64, fill_percent: u32, random_percent: u32) -> i32 {
    status(handle, |session| {
        if !(1..=100).contains(&fill_percent) || random_percent > 100 {
            return Err(Failure::argument(format!(
                "fill {fill_percent} % and random {random_percent} %: use 1 to 100 and 0 to 100"
            )));
        }
        session.precondition(&Precondition {
            fill_percent,
            random_percent,
        })
    })
}

fn submit(handle: i64, commands: &[meldsim_command], flags: u32) -> Result<i64, Failure> {
    check_flags(flags)?;
    let session = handles::get(handle)?;
    session.guard(|session| {
        session.submit(
            commands.len(),
            flags & MELDSIM_DETACHED != 0,
            flags & MELDSIM_NO_WAIT != 0,
            |device, at, tag| {
                let command = convert::command(&commands[at], tag)?;
                let submitted = match commands[at].queue {
                    0 => device.submit(&command),
                    queue => device.submit_to(convert::queue(queue)?, &command),
                };
                submitted.map_err(convert::refused)
            },
        )
    })
}
