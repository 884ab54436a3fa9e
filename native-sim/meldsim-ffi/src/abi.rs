//! The entry points. Each checks its pointers, crosses the panic boundary, and leaves the work to the session.

use std::ffi::{CStr, c_char};

use meldsim_core::NamespaceId;

use crate::convert;
use crate::counters;
use crate::deadline::Deadline;
use crate::error::{self, Failure, MELDSIM_ERR_ABI};
use crate::fault::Fault;
use crate::handles;
use crate::panic::{boundary, catch};
use crate::session::{MELDSIM_MAX_OUTSTANDING, Session};

/// The version of this interface; give it to `meldsim_open`. It changes when a caller must be rebuilt.
pub const MELDSIM_ABI_VERSION: u32 = 1;

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

/// Mode of `meldsim_set_mode`: simulated time moves as far as waits require.
pub const MELDSIM_ACCOUNT: u32 = 0;
/// Mode of `meldsim_set_mode`: simulated time follows the wall clock, divided by the dilation.
pub const MELDSIM_REAL_TIME: u32 = 1;

/// Write directive: no hint.
pub const MELDSIM_DIRECTIVE_NONE: u32 = 0;
/// Write directive (`dtype << 16 | dspec`): will be read sequentially.
pub const MELDSIM_DIRECTIVE_SEQUENTIAL: u32 = 0x000F_0001;
/// Write directive (`dtype << 16 | dspec`): will be read at random.
pub const MELDSIM_DIRECTIVE_RANDOM: u32 = 0x000F_0002;

/// How many values `meldsim_namespace_info` knows.
pub const MELDSIM_NAMESPACE_INFO_COUNT: u32 = 5;

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
    /// Must be 0.
    pub reserved: u64,
}

const _: () = assert!(size_of::<meldsim_command>() == 32);

/// Version of the interface this library was built with. Thread-safe; cannot fail.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_abi_version() -> u32 {
    MELDSIM_ABI_VERSION
}

/// Copies the text of the calling thread's last failure into `buf`, NUL-terminated and cut to `len` bytes.
///
/// Returns the bytes that the whole text needs, its NUL included: 1 when nothing has failed on this thread. A null `buf`
/// with `len` 0 asks for the size only. The caller owns `buf`. Thread-safe: each thread has its own last error, and a
/// call that succeeds leaves it alone.
///
/// # Safety
/// `buf` is null, or points to `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_last_error(buf: *mut c_char, len: u64) -> i32 {
    boundary(|| {
        Ok(error::with_last(|text| {
            if !buf.is_null() && len > 0 {
                let room = usize::try_from(len - 1).unwrap_or(usize::MAX);
                let bytes = error::cut(text, room).as_bytes();
                // SAFETY: the caller gives `len` writable bytes at `buf`; at most `len - 1` and the NUL are written.
                unsafe {
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), buf.cast::<u8>(), bytes.len());
                    buf.add(bytes.len()).write(0);
                }
            }
            i32::try_from(text.len() + 1).unwrap_or(i32::MAX)
        }))
    })
}

/// Opens a device in account mode and stores its handle, always positive, in `*handle`.
///
/// `abi_version` is MELDSIM_ABI_VERSION as the caller was compiled with. `profile` is the name of a built-in profile or
/// the path of a TOML file; it is read before the call returns. Close the handle with `meldsim_close`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT (null, not UTF-8), MELDSIM_ERR_PROFILE (unknown name, unreadable file,
/// unknown key, impossible device), MELDSIM_ERR_CAPACITY (too many devices open). `*handle` is set on success only.
///
/// # Safety
/// `profile` is null or a NUL-terminated string; `handle` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_open(
    abi_version: u32,
    profile: *const c_char,
    handle: *mut i64,
) -> i32 {
    boundary(|| {
        if abi_version != MELDSIM_ABI_VERSION {
            return Err(Failure::new(
                MELDSIM_ERR_ABI,
                format!(
                    "the caller speaks ABI version {abi_version}, this library {MELDSIM_ABI_VERSION}; use matching versions"
                ),
            ));
        }
        if profile.is_null() || handle.is_null() {
            return Err(Failure::argument("profile or handle is null"));
        }
        // SAFETY: not null, and the caller vouches for a NUL-terminated string that lives through the call.
        let name = unsafe { CStr::from_ptr(profile) };
        let name = name
            .to_str()
            .map_err(|_| Failure::argument("the profile's name is not UTF-8"))?;
        let opened = handles::insert(Session::new(convert::device(name)?))?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { handle.write(opened) };
        Ok(error::MELDSIM_OK)
    })
}

/// Closes a device and frees it. Commands on it are abandoned; threads that wait return MELDSIM_ERR_CLOSED, as does any
/// later use of the handle, closing it again included. Thread-safe, also against calls in flight on other threads.
///
/// Errors: MELDSIM_ERR_ARGUMENT (never a handle), MELDSIM_ERR_CLOSED.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_close(handle: i64) -> i32 {
    boundary(|| {
        handles::remove(handle)?.close();
        Ok(error::MELDSIM_OK)
    })
}

/// Chooses who moves simulated time: MELDSIM_ACCOUNT or MELDSIM_REAL_TIME, in which one simulated second takes
/// `time_dilation` wall seconds (0.001 to 1000000; ignored in account mode).
///
/// A switch between the modes first completes everything outstanding, at once. A new dilation in real-time mode goes on
/// from the present simulated time, with commands outstanding. Thread-safe; waiting threads go on by the new rules.
///
/// Errors: MELDSIM_ERR_ARGUMENT (mode or dilation), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_set_mode(handle: i64, mode: u32, time_dilation: f64) -> i32 {
    status(handle, |session| match mode {
        MELDSIM_ACCOUNT => session.set_account(),
        MELDSIM_REAL_TIME => session.set_real_time(time_dilation),
        other => Err(Failure::argument(format!(
            "mode {other} is unknown; use 0 (account) or 1 (real-time)"
        ))),
    })
}

/// Creates a namespace of `size_bytes`, a multiple of the logical block size, and stores its id in `*nsid`.
///
/// Namespaces are thin: their sizes may add up to more than the device holds. They live as long as the device.
/// Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC, MELDSIM_ERR_INJECTED. `*nsid` is set
/// on success only.
///
/// # Safety
/// `nsid` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_namespace_create(
    handle: i64,
    size_bytes: u64,
    nsid: *mut u32,
) -> i32 {
    status(handle, |session| {
        if nsid.is_null() {
            return Err(Failure::argument("nsid is null"));
        }
        let created = session.create_namespace(size_bytes)?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { nsid.write(created.0) };
        Ok(())
    })
}

/// Fills `out` with at most `n` of: bytes of a logical block, size in logical blocks, bytes of a flash page, bytes of a
/// wordline (the preferred unit of melded reads), physical capacity of the device in bytes.
///
/// Returns how many values there are (MELDSIM_NAMESPACE_INFO_COUNT). The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_namespace_info(
    handle: i64,
    nsid: u32,
    out: *mut u64,
    n: u32,
) -> i32 {
    boundary(|| {
        let session = handles::get(handle)?;
        let values = session
            .guard(|session| session.namespace(NamespaceId(nsid), convert::namespace_values))?;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, &values) }
    })
}

/// Submits one command; it reaches the device now, in simulated time.
///
/// `opcode` is MELDSIM_FLUSH, MELDSIM_WRITE, MELDSIM_READ or MELDSIM_DEALLOCATE; `slba` and `nlb` count logical blocks (0
/// and 0 for a flush); `directive` is `dtype << 16 | dspec` on a write, 0 for none; `flags` is 0 or a sum of
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
            reserved: 0,
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

/// Fills `out` with the first `n` counters of the device, all since it was opened (names in `_ps`: simulated picoseconds).
///
/// Returns how many counters there are, which may be more than `n` and grows from release to release; a null `out` with
/// `n` 0 asks for that only. `meldsim_stats_name` says what stands where: look a counter up by its name. In real-time mode
/// they are as of now. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_stats(handle: i64, out: *mut u64, n: u32) -> i32 {
    boundary(|| {
        let session = handles::get(handle)?;
        let stats = session.guard(Session::stats)?;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, &stats.to_array()) }
    })
}

/// The name of the counter at `index` of `meldsim_stats`, such as `read_commands`; null past the last one.
///
/// The text is NUL-terminated, belongs to the library and lives as long as it. Thread-safe; nothing else can go wrong.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_stats_name(index: u32) -> *const c_char {
    catch(|| counters::name(index)).unwrap_or(std::ptr::null())
}

/// What the counter at `index` of `meldsim_stats` counts, in one English sentence; else as `meldsim_stats_name`.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_stats_description(index: u32) -> *const c_char {
    catch(|| counters::description(index)).unwrap_or(std::ptr::null())
}

/// Test hook: after `after_calls` more calls of namespace_create, submit, submit_batch, wait or preload on this device,
/// the next one panics inside (`kind` 1: the device is out of service from then on, MELDSIM_ERR_PANIC) or fails, as does
/// every later one (`kind` 2: MELDSIM_ERR_INJECTED). `kind` 0 disarms. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (kind), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_inject_fault(handle: i64, kind: u32, after_calls: u64) -> i32 {
    status(handle, |session| {
        session.arm(Fault::parse(kind, after_calls)?)
    })
}

fn status(handle: i64, body: impl FnOnce(&Session) -> Result<(), Failure>) -> i32 {
    boundary(|| {
        handles::get(handle)?.guard(body)?;
        Ok(error::MELDSIM_OK)
    })
}

fn submit(handle: i64, commands: &[meldsim_command], flags: u32) -> Result<i64, Failure> {
    if flags & !(MELDSIM_DETACHED | MELDSIM_NO_WAIT) != 0 {
        return Err(Failure::argument(format!(
            "flags {flags:#x} has unknown bits; only 1 (detached) and 2 (no wait) are known"
        )));
    }
    let session = handles::get(handle)?;
    session.guard(|session| {
        let commands = commands.iter().map(convert::command);
        session.submit(
            commands,
            flags & MELDSIM_DETACHED != 0,
            flags & MELDSIM_NO_WAIT != 0,
        )
    })
}

/// Copies as many of `values` as fit to the caller and returns how many there are.
///
/// # Safety
/// `out` points to `n` writable values, or is null.
unsafe fn fill(out: *mut u64, n: u32, values: &[u64]) -> Result<i32, Failure> {
    let fit = values.len().min(n as usize);
    if fit > 0 {
        if out.is_null() || !out.is_aligned() {
            return Err(Failure::argument("out is null or not aligned"));
        }
        // SAFETY: not null, aligned, and the caller vouches for `n >= fit` writable values.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), out, fit) };
    }
    Ok(values.len() as i32)
}
