//! A ring of commands in memory that the caller shares with the library.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use meldsim::{Device, NamespaceId};

use super::io::{meldsim_command, send};
use super::namespace::directive_of;
use crate::entry::{check_out, long, session, status};
use crate::error::Failure;
use crate::ring::{Entry, Shared};
use crate::session::RingOp;

/// Words in front of the entries of a ring.
pub const MELDSIM_RING_HEADER_WORDS: u32 = 160;
/// Opcode in a ring: data that has been there for long, as `meldsim_preload`.
pub const MELDSIM_RING_PRELOAD: u32 = 256;
/// Opcode in a ring: in account mode, time moves until the ticket is done that the entry names.
pub const MELDSIM_RING_WAIT: u32 = 257;

const _: () = assert!(MELDSIM_RING_HEADER_WORDS as usize == crate::ring::HEADER);

/// The most entries, and the most slots.
const MOST: u32 = 1 << 20;

/// Gives a device a ring: memory in which the caller's threads put commands and find what has become of them, without a
/// call. One thread makes the calls, `meldsim_ring_run`. A device has one ring; a second one takes its place, once all commands
/// of the first are done.
///
/// `ring` points to MELDSIM_RING_HEADER_WORDS + 8 * (`entries` + `slots`) words of 64 bits, which begin a line of the cache
/// best, and are set here. Both numbers are powers of two up to 2^20; there are as many slots as entries or more. The page
/// of the interface says what each word is.
/// The memory must stay until `meldsim_close` has returned, and no other thread is in a call on the device.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, not aligned, numbers, commands of the first), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `ring` is null, or points to as many writable words, which only atomic operations touch from here on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_ring_attach(
    handle: i64,
    ring: *mut u64,
    entries: u32,
    slots: u32,
) -> i32 {
    status(handle, |session| {
        check_out(ring, "ring")?;
        let fits = |count: u32| count.is_power_of_two() && count <= MOST;
        if !fits(entries) || !fits(slots) || entries < 2 || slots < entries {
            return Err(Failure::argument(format!(
                "a ring of {entries} entries and {slots} slots; both must be powers of two from 2 to {MOST}, and slots not fewer"
            )));
        }
        let words = Shared::words(entries, slots);
        // SAFETY: not null, aligned, and the caller vouches for as many words for as long as the device is open.
        let words = unsafe { std::slice::from_raw_parts(ring.cast::<AtomicU64>(), words) };
        session.attach(|| Shared::new(words, entries, slots))
    })
}

/// Does what there is to do for the device's ring: takes all entries, moves time (in real-time mode, to the wall clock), and
/// writes what is done. Then it looks at the ring for `spin_ns` after something has happened, and while something is due
/// within that time; not in account mode. `now_ns` is the present time of a clock of the caller's. It returns after `max_ns` at the latest, but for the entries that it is at.
///
/// Returns wall nanoseconds until there is more to do: 0 for a call at once, INT64_MAX when nothing is scheduled. It returns
/// at once when it has posted something; a failed command is the last that a call posts, and `meldsim_last_error` has its
/// text. By one thread at a time.
///
/// Errors: MELDSIM_ERR_ARGUMENT (no ring), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC. The entry at the head is then what failed.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_ring_run(handle: i64, now_ns: u64, spin_ns: u64, max_ns: u64) -> i64 {
    session(handle, |session| {
        let (spin, longest) = (Duration::from_nanos(spin_ns), Duration::from_nanos(max_ns));
        let due = session.run_ring(now_ns, (spin, longest), op_of, perform)?;
        Ok(due.map_or(i64::MAX, |due| {
            long(u64::try_from(due.as_nanos()).unwrap_or(u64::MAX))
        }))
    })
}

/// What an entry asks for.
fn op_of(entry: &Entry) -> RingOp {
    match command_of(entry).opcode {
        MELDSIM_RING_WAIT => RingOp::Wait,
        MELDSIM_RING_PRELOAD => RingOp::Preload,
        _ => RingOp::Submit,
    }
}

/// Gives an entry's command to the device.
fn perform(device: &mut Device, entry: &Entry, tag: u64) -> Result<(), Failure> {
    let command = command_of(entry);
    if command.size as usize != size_of::<meldsim_command>() {
        return Err(Failure::argument(format!(
            "the size of a command in a ring is {}; set it to sizeof(meldsim_command)",
            command.size
        )));
    }
    if command.opcode != MELDSIM_RING_PRELOAD {
        return send(device, &command, tag);
    }
    let (nsid, directive) = (NamespaceId(command.nsid), directive_of(command.directive)?);
    Ok(device.preload(nsid, command.slba, command.nlb.into(), directive)?)
}

fn command_of(entry: &Entry) -> meldsim_command {
    // SAFETY: both are 40 bytes, and any bytes are a command.
    unsafe { std::mem::transmute(entry.command) }
}
