//! Tests through the entry points, as a C caller would use them, and what they need: a device to play
//! with, and shorter calls.

mod concurrency;
mod conservation;
mod header;
mod hints;
mod io;
mod lifecycle;
mod model;
mod ring;
mod ring_model;
mod sets;
mod structs;
mod timeline;
mod zones;

use std::ffi::{CStr, CString};
use std::time::Duration;

use crate::entry::Versioned;
use crate::*;

const PROFILE: &str = "melded-tlc-8x8";
const FOREVER: u64 = u64::MAX;
const MIB: u64 = 1 << 20;

/// An open device, closed when dropped.
struct Rig {
    handle: i64,
    nsid: u32,
    lba_bytes: u64,
}

impl Rig {
    /// A device in account mode with a namespace of 1 GiB, of which nothing is written.
    fn new() -> Rig {
        Rig::of(PROFILE)
    }

    /// As [`Rig::new`], of another profile.
    fn of(profile: &str) -> Rig {
        let handle = open(profile).unwrap();
        let mut nsid = 0;
        // SAFETY: `nsid` is writable.
        ok(unsafe { meldsim_namespace_create(handle, 1 << 30, &mut nsid) });
        let lba_bytes = info(handle, nsid).lba_bytes;
        Rig {
            handle,
            nsid,
            lba_bytes,
        }
    }

    /// As [`Rig::new`], with the first `mib` MiB hinted as sequential and on the flash.
    fn preloaded(mib: u64) -> Rig {
        let rig = Rig::new();
        ok(meldsim_preload(
            rig.handle,
            rig.nsid,
            0,
            rig.lbas(mib * MIB),
            MELDSIM_DIRECTIVE_SEQUENTIAL,
        ));
        rig
    }

    fn lbas(&self, bytes: u64) -> u64 {
        bytes / self.lba_bytes
    }

    fn submit(&self, opcode: u32, offset: u64, bytes: u64, flags: u32) -> i64 {
        meldsim_submit(
            self.handle,
            opcode,
            self.nsid,
            self.lbas(offset),
            self.lbas(bytes) as u32,
            0,
            flags,
        )
    }

    /// Reads and waits; the latency in simulated picoseconds.
    fn read(&self, offset: u64, bytes: u64) -> i64 {
        let ticket = self.submit(MELDSIM_READ, offset, bytes, 0);
        assert!(ticket > 0, "{}", last_error());
        let latency_ps = meldsim_wait(self.handle, ticket, FOREVER);
        assert!(latency_ps >= 0, "{}", last_error());
        latency_ps
    }

    /// Reaps at most `most`: tickets with what a wait would have returned, and the time until more may follow.
    fn reap(&self, most: usize) -> (Vec<(i64, i64)>, u64) {
        let (mut out, mut due_ns) = (vec![0; 2 * most], 0);
        // SAFETY: room for `most` pairs, and a writable time.
        let count =
            unsafe { meldsim_reap(self.handle, out.as_mut_ptr(), most as u32, &mut due_ns) };
        assert!(count >= 0, "{}", last_error());
        let pairs = out.chunks_exact(2).take(count as usize);
        (pairs.map(|pair| (pair[0], pair[1])).collect(), due_ns)
    }

    fn stat(&self, name: &str) -> u64 {
        stat(self.handle, name)
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        meldsim_close(self.handle);
    }
}

fn open(profile: &str) -> Result<i64, i32> {
    let name = CString::new(profile).unwrap();
    let mut handle = 0;
    // SAFETY: a NUL-terminated name and a writable handle.
    match unsafe { meldsim_open(MELDSIM_ABI_VERSION, name.as_ptr(), &mut handle) } {
        MELDSIM_OK => Ok(handle),
        code => Err(code),
    }
}

/// A struct with its size set, which the next call fills.
fn sized<T: Versioned>() -> T {
    // SAFETY: any bytes are a value of the type.
    let mut value: T = unsafe { std::mem::zeroed() };
    // SAFETY: its first field is the size.
    unsafe { (&raw mut value).cast::<u32>().write(size_of::<T>() as u32) };
    value
}

fn info(handle: i64, nsid: u32) -> meldsim_namespace {
    let mut info = sized();
    // SAFETY: its size is set.
    ok(unsafe { meldsim_namespace_info(handle, nsid, &mut info) });
    info
}

/// The counter of that name, found as a C caller finds it.
fn stat(handle: i64, name: &str) -> u64 {
    // SAFETY: no values are asked for.
    let count = unsafe { meldsim_stats(handle, std::ptr::null_mut(), 0) };
    assert!(count > 0, "{}", last_error());
    let mut values = vec![0; count as usize];
    // SAFETY: room for `count` values.
    unsafe { meldsim_stats(handle, values.as_mut_ptr(), count as u32) };
    let at = (0..count as u32).position(|at| text(meldsim_stats_name(at)) == name);
    values[at.unwrap_or_else(|| panic!("no counter {name}"))]
}

/// A string of the library.
fn text(string: *const std::ffi::c_char) -> &'static str {
    assert!(!string.is_null());
    // SAFETY: not null, and the library's strings are NUL-terminated and live for ever.
    unsafe { CStr::from_ptr(string) }.to_str().unwrap()
}

fn ok(code: i32) {
    assert_eq!(code, MELDSIM_OK, "{}", last_error());
}

fn last_error() -> String {
    let mut buffer = vec![0u8; 1024];
    // SAFETY: 1024 writable bytes.
    unsafe { meldsim_last_error(buffer.as_mut_ptr().cast(), 1024) };
    let end = buffer.iter().position(|byte| *byte == 0).unwrap();
    String::from_utf8(buffer[..end].to_vec()).unwrap()
}

/// Nanoseconds of wall time, as the ABI takes them.
fn ns(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}
