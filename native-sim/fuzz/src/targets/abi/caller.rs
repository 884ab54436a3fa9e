//! Who makes the calls and checks what they give.

use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::sync::OnceLock;

use meldsim_capi::*;

use super::call::{Call, Number, Order};
use crate::targets::exercise::tiny_profile;

const ROOM: usize = 96;

/// What the calls so far have given.
#[derive(Default)]
pub(super) struct Caller {
    devices: Vec<i64>,
    tickets: Vec<i64>,
    /// The last snapshot.
    snapshot: Vec<u8>,
}

impl Caller {
    pub(super) fn make(&mut self, call: Call) {
        let code = self.code_of(call);
        assert_ne!(
            code,
            i64::from(MELDSIM_ERR_PANIC),
            "{call:?}: {}",
            last_error()
        );
        if code < 0 {
            assert!(!last_error().is_empty(), "{call:?} fails without a text");
        }
    }

    pub(super) fn close_all(self) {
        for device in self.devices {
            meldsim_close(device);
        }
    }

    fn device(&self, number: Number) -> i64 {
        pick(&self.devices, number)
    }

    fn code_of(&mut self, call: Call) -> i64 {
        let mut values = [0u64; ROOM];
        match call {
            Call::Open { profile, version } => {
                let mut handle = 0;
                let name = profile_name(profile);
                // SAFETY: a NUL-terminated name and a writable handle.
                let code = unsafe { meldsim_open(version.0 as u32, name.as_ptr(), &mut handle) };
                if code == MELDSIM_OK {
                    assert!(handle > 0);
                    self.devices.push(handle);
                }
                code.into()
            }
            Call::Close { device } => meldsim_close(self.device(device)).into(),
            Call::SetMode {
                device,
                mode,
                dilation,
            } => {
                let dilation =
                    [1.0, 0.001, 0.0, -1.0, f64::NAN, f64::INFINITY][dilation as usize % 6];
                meldsim_set_mode(self.device(device), mode.0 as u32, dilation).into()
            }
            Call::NamespaceCreate {
                device,
                blocks,
                odd,
                null,
            } => {
                let mut nsid = 0;
                let nsid = if null {
                    std::ptr::null_mut()
                } else {
                    &raw mut nsid
                };
                let size = blocks.0.wrapping_mul(4096) + u64::from(odd);
                // SAFETY: null by contract, or writable.
                unsafe { meldsim_namespace_create(self.device(device), size, nsid) }.into()
            }
            Call::NamespaceInfo {
                device,
                nsid,
                room,
                null,
            } => {
                let (out, n) = room_of(&mut values, room, null);
                // SAFETY: null, or room for `n` values.
                unsafe { meldsim_namespace_info(self.device(device), nsid.0 as u32, out, n) }.into()
            }
            Call::Submit {
                device,
                order,
                flags,
            } => {
                let c = order.command();
                let flags = flags.0 as u32;
                let ticket = meldsim_submit(
                    self.device(device),
                    c.opcode,
                    c.nsid,
                    c.slba,
                    c.nlb,
                    c.directive,
                    flags,
                );
                self.tickets.push(ticket);
                ticket
            }
            Call::SubmitBatch {
                device,
                orders,
                count,
                flags,
            } => {
                let commands = orders.map(Order::command);
                let n = u32::from(count % 5);
                // SAFETY: `n` is at most the number of commands.
                let ticket = unsafe {
                    meldsim_submit_batch(self.device(device), commands.as_ptr(), n, flags.0 as u32)
                };
                self.tickets.push(ticket);
                ticket
            }
            Call::Wait {
                device,
                ticket,
                timeout_us,
            } => {
                let ticket = pick(&self.tickets, ticket);
                meldsim_wait(self.device(device), ticket, u64::from(timeout_us) * 1000)
            }
            Call::Forget { device, ticket } => {
                meldsim_forget(self.device(device), pick(&self.tickets, ticket)).into()
            }
            Call::Preload { device, order } => {
                let c = order.command();
                meldsim_preload(
                    self.device(device),
                    c.nsid,
                    c.slba,
                    order.nlb.0,
                    c.directive,
                )
                .into()
            }
            Call::Stats { device, room, null } => {
                let (out, n) = room_of(&mut values, room, null);
                // SAFETY: null, or room for `n` values.
                unsafe { meldsim_stats(self.device(device), out, n) }.into()
            }
            Call::Busy {
                device,
                dies,
                room,
                null,
            } => {
                let (out, n) = room_of(&mut values, room, null);
                let device = self.device(device);
                // SAFETY: null, or room for `n` values.
                match dies {
                    true => unsafe { meldsim_dies_busy_ps(device, out, n) },
                    false => unsafe { meldsim_channels_busy_ps(device, out, n) },
                }
                .into()
            }
            Call::SetInfo {
                device,
                set,
                room,
                null,
            } => {
                let (out, n) = room_of(&mut values, room, null);
                let device = self.device(device);
                assert!(meldsim_sets(device) != 0, "a device without sets");
                // SAFETY: null, or room for `n` values.
                unsafe { meldsim_set_info(device, set.0 as u32, out, n) }.into()
            }
            Call::NamespaceCreateIn {
                device,
                set,
                blocks,
            } => {
                let (mut nsid, size) = (0, blocks.0.wrapping_mul(4096));
                let set = set.0 as u32 % 7;
                // SAFETY: writable.
                unsafe { meldsim_namespace_create_in(self.device(device), set, size, &mut nsid) }
                    .into()
            }
            Call::StreamBind {
                device,
                nsid,
                stream,
                hint,
            } => meldsim_stream_bind(
                self.device(device),
                nsid.0 as u32,
                stream.0 as u32,
                hint.packed(),
            )
            .into(),
            Call::Precondition {
                device,
                fill,
                random,
            } => {
                let (fill, random) = (u32::from(fill) % 110, u32::from(random) % 110);
                meldsim_precondition(self.device(device), fill, random).into()
            }
            Call::StreamRelease {
                device,
                nsid,
                stream,
            } => {
                let (nsid, stream) = (nsid.0 as u32, stream.0 as u32);
                meldsim_stream_release(self.device(device), nsid, stream).into()
            }
            Call::StreamsBound {
                device,
                nsid,
                room,
                null,
            } => {
                let (out, n) = room_of(&mut values, room, null);
                // SAFETY: null, or room for `n` values.
                unsafe { meldsim_streams_bound(self.device(device), nsid.0 as u32, out, n) }.into()
            }
            Call::Describe { device, ranges } => {
                let all = ranges.all();
                let ((given, n), nsid) = (ranges.given(&all), ranges.nsid.0 as u32);
                // SAFETY: null, or at most as many as there are.
                unsafe { meldsim_describe(self.device(device), nsid, given, n) }.into()
            }
            Call::Deallocate {
                device,
                ranges,
                queue,
                flags,
            } => {
                let all = ranges.all();
                let ((given, n), nsid) = (ranges.given(&all), ranges.nsid.0 as u32);
                let (device, queue, flags) = (self.device(device), queue.into(), flags.0 as u32);
                // SAFETY: null, or at most as many as there are.
                let ticket = unsafe { meldsim_deallocate(device, nsid, given, n, queue, flags) };
                self.tickets.push(ticket);
                ticket
            }
            Call::Locate {
                device,
                nsid,
                lba,
                room,
                null,
            } => {
                let (out, n) = room_of(&mut values, room, null);
                let device = self.device(device);
                // SAFETY: null, or room for `n` values.
                unsafe { meldsim_locate(device, nsid.0 as u32, lba.0, out, n) }.into()
            }
            Call::QueueCreate {
                device,
                depth,
                priority,
                null,
            } => {
                let mut queue = 0;
                let queue = if null {
                    std::ptr::null_mut()
                } else {
                    &raw mut queue
                };
                let (device, depth) = (self.device(device), depth.0 as u32);
                // SAFETY: null by contract, or writable.
                unsafe { meldsim_queue_create(device, depth, u32::from(priority) % 5, queue) }
                    .into()
            }
            Call::Queued { device, queue } => {
                meldsim_queued(self.device(device), queue.0 as u32).into()
            }
            Call::Arbitration {
                device,
                burst,
                weights: [high, medium, low],
                room,
                null,
            } => {
                let device = self.device(device);
                let (high, medium, low) = (high.into(), medium.into(), low.into());
                let code = meldsim_set_arbitration(device, burst.0 as u32, high, medium, low);
                assert!(code <= 0);
                let (out, n) = room_of(&mut values, room, null);
                // SAFETY: null, or room for `n` values.
                unsafe { meldsim_arbitration(device, out, n) }.into()
            }
            Call::WindowConfigure {
                device,
                set,
                enable,
                events,
                thresholds: [reads, writes, ms],
            } => meldsim_window_configure(
                self.device(device),
                set.0 as u32 % 5,
                u32::from(enable) % 3,
                events.0 as u32,
                reads.0,
                writes.0,
                ms.0,
            )
            .into(),
            Call::WindowEnter {
                device,
                set,
                window,
            } => {
                let (set, window) = (set.0 as u32 % 5, u32::from(window) % 4);
                meldsim_window_enter(self.device(device), set, window).into()
            }
            Call::WindowInfo {
                device,
                set,
                retain,
                room,
                null,
            } => {
                let (out, n) = room_of(&mut values, room, null);
                let (set, retain) = (set.0 as u32 % 5, u32::from(retain) % 3);
                // SAFETY: null, or room for `n` values.
                unsafe { meldsim_window_info(self.device(device), set, retain, out, n) }.into()
            }
            Call::Advance { device, us } => {
                // At most a second: what a device does by itself in it is bounded.
                let ps = us.0.min(1_000_000) * 1_000_000;
                meldsim_advance(self.device(device), ps).into()
            }
            Call::Snapshot { device, less, null } => {
                let device = self.device(device);
                // SAFETY: nothing is asked for.
                let size = unsafe { meldsim_snapshot(device, std::ptr::null_mut(), 0) };
                let Ok(bytes) = usize::try_from(size) else {
                    return size;
                };
                let mut snapshot = vec![0x7F; bytes];
                let room = bytes.saturating_sub(less.into());
                let out = if null {
                    std::ptr::null_mut()
                } else {
                    snapshot.as_mut_ptr()
                };
                // SAFETY: null, or room for so many bytes.
                let code = unsafe { meldsim_snapshot(device, out, room as u64) };
                if code >= 0 && room < bytes {
                    let untouched = snapshot.iter().all(|byte| *byte == 0x7F);
                    assert!(untouched, "part of a snapshot");
                } else if code >= 0 {
                    self.snapshot = snapshot;
                }
                code
            }
            Call::Restore {
                version,
                less,
                change: (at, xor),
            } => {
                let mut bytes = self.snapshot.clone();
                bytes.truncate(bytes.len().saturating_sub(less.into()));
                let at = usize::from(at) % bytes.len().max(1);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= xor);
                let (version, mut handle) = (version.0 as u32, 0);
                let (out, n) = (&raw mut handle, bytes.len() as u64);
                // SAFETY: as many bytes as it says, and a writable handle.
                let code = unsafe { meldsim_restore(version, bytes.as_ptr(), n, out) };
                if code == MELDSIM_OK {
                    assert!(
                        handle > 0 && less == 0 && xor == 0,
                        "damage was not noticed"
                    );
                    self.devices.push(handle);
                }
                code.into()
            }
            Call::About { device, room, null } => {
                let mut text = [0x7F; ROOM];
                let room = if null { 0 } else { usize::from(room) % ROOM };
                let out = if null {
                    std::ptr::null_mut()
                } else {
                    text.as_mut_ptr()
                };
                let device = self.device(device);
                assert_ne!(meldsim_memory_bytes(device), i64::from(MELDSIM_ERR_PANIC));
                assert!(meldsim_namespaces(device) < 1000);
                // SAFETY: null with 0, or room for `room` bytes.
                let needed = unsafe { meldsim_profile(device, out, room as u64) };
                assert!(
                    text[room..].iter().all(|byte| *byte == 0x7F),
                    "written past the end"
                );
                needed.into()
            }
            Call::StatsName { index } => {
                let index = index.0 as u32;
                let (name, description) =
                    (meldsim_stats_name(index), meldsim_stats_description(index));
                assert_eq!(name.is_null(), description.is_null());
                if !name.is_null() {
                    // SAFETY: not null, so a string of the library.
                    assert!(!unsafe { CStr::from_ptr(name) }.is_empty());
                }
                0
            }
            Call::LastError { room, null } => {
                let mut text = [0x7F; ROOM];
                let room = if null { 0 } else { usize::from(room) % ROOM };
                let out = if null {
                    std::ptr::null_mut()
                } else {
                    text.as_mut_ptr()
                };
                // SAFETY: null with 0, or room for `room` bytes.
                let needed = unsafe { meldsim_last_error(out, room as u64) };
                assert!(
                    text[room..].iter().all(|byte| *byte == 0x7F),
                    "written past the end"
                );
                needed.into()
            }
        }
    }
}

fn pick(of: &[i64], number: Number) -> i64 {
    match of.len() {
        len @ 1.. if number.0 < 0xF0 => of[number.0 as usize % len],
        _ => number.0 as i64,
    }
}

fn room_of(values: &mut [u64; ROOM], room: u8, null: bool) -> (*mut u64, u32) {
    let n = usize::from(room) % ROOM;
    let out = if null {
        std::ptr::null_mut()
    } else {
        values.as_mut_ptr()
    };
    (out, n as u32)
}

fn profile_name(profile: u8) -> CString {
    let name = match profile {
        0..=0xDF => tiny_profile_file().to_string_lossy(),
        0xE0..=0xEF => "no such profile".into(),
        0xF0..=0xFE => "".into(),
        _ => "melded-tlc-8x8".into(),
    };
    CString::new(name.as_bytes()).unwrap_or_default()
}

/// The tiny profile as a file, written once a process.
fn tiny_profile_file() -> &'static PathBuf {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("meldsim-fuzz-{}.toml", std::process::id()));
        std::fs::write(&path, tiny_profile().to_toml())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    })
}

fn last_error() -> String {
    let mut text = vec![0u8; 512];
    // SAFETY: 512 writable bytes.
    unsafe { meldsim_last_error(text.as_mut_ptr().cast(), text.len() as u64) };
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&text[..end]).into_owned()
}
