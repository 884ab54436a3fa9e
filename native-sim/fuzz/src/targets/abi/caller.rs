//! Who makes the calls and checks what they give.

use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::sync::OnceLock;

use meldsim::policy::placement::PlacementPolicy;
use meldsim_capi_study::*;

use super::call::{Call, Number, Order, Ranges, Size, ZoneCall};
use super::zones::{ZONE_BLOCKS, report, zoned_profile};
use crate::targets::exercise::tiny_profile;

const ROOM: usize = 96;
/// No struct that is accepted is larger.
const STRUCT_BYTES: usize = 1024;
const UNTOUCHED: u64 = 0x7F7F_7F7F_7F7F_7F7F;
/// Of `Call::Precondition`: shares from here on, one each, are of these pasts.
const SKEWED: usize = 250;
const SKEWS: [&str; 4] = ["zipf:0.9", "zoned:90/10:10/90", "pareto:1", ""];
/// Of `Call::Open`: a plain device, one with reclaim unit handles, one with zones.
pub(super) const PLAIN: u8 = 0;
pub(super) const HANDLES: u8 = 0xC0;
pub(super) const ZONES: u8 = 0xA0;

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

    /// Whether the last call but one has opened a device, and the last made its namespace.
    pub(super) fn has_namespace(&self) -> bool {
        let devices = &self.devices;
        devices.len() == 1 && meldsim_namespaces(devices[0]) == 1
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
                size,
                null,
            } => {
                let (device, nsid) = (self.device(device), nsid.0 as u32);
                // SAFETY: null, or a struct whose size is set.
                filled(size, null, |out| unsafe {
                    meldsim_namespace_info(device, nsid, out)
                })
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
                size,
                flags,
            } => {
                let commands = list(&orders.map(Order::command), size);
                let (n, flags) = (u32::from(count % 5), flags.0 as u32);
                let device = self.device(device);
                // SAFETY: `n` is at most the number of commands, whose sizes are set.
                let ticket =
                    unsafe { meldsim_submit_batch(device, commands.as_ptr().cast(), n, flags) };
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
            Call::Reap { device, room } => {
                let (mut out, mut due_ns) = ([0i64; 2 * 255], 0);
                // SAFETY: room for `room` pairs, and a writable time.
                let reaped = unsafe {
                    meldsim_reap(
                        self.device(device),
                        out.as_mut_ptr(),
                        room.into(),
                        &mut due_ns,
                    )
                };
                assert!(reaped <= i32::from(room));
                reaped.into()
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
                let device = self.device(device);
                // SAFETY: null, or room for `n` values.
                let of_namespace =
                    unsafe { meldsim_namespace_stats(device, u32::from(room) % 4, out, n) };
                assert_ne!(of_namespace, MELDSIM_ERR_PANIC);
                // SAFETY: as above.
                unsafe { meldsim_stats(device, out, n) }.into()
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
                size,
                null,
            } => {
                let (device, set) = (self.device(device), set.0 as u32);
                assert!(meldsim_sets(device) != 0, "a device without sets");
                // SAFETY: null, or a struct whose size is set.
                filled(size, null, |out| unsafe {
                    meldsim_fdp_info(device, set, out)
                });
                // SAFETY: as above.
                filled(size, null, |out| unsafe {
                    meldsim_set_info(device, set, out)
                })
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
                let skew = SKEWS.get(usize::from(random).wrapping_sub(SKEWED));
                let (fill, random) = (u32::from(fill) % 110, u32::from(random) % 110);
                let device = self.device(device);
                match skew {
                    None => meldsim_precondition(device, fill, random),
                    Some(skew) => {
                        let past = format!("fill={fill},random={random},skew={skew}\0");
                        // SAFETY: a NUL-terminated string.
                        unsafe { meldsim_precondition_by(device, past.as_ptr().cast()) }
                    }
                }
                .into()
            }
            Call::StreamRelease {
                device,
                nsid,
                stream,
            } => {
                let (nsid, stream) = (nsid.0 as u32, stream.0 as u32);
                let device = self.device(device);
                meldsim_handle_update(device, nsid, stream);
                meldsim_stream_release(device, nsid, stream).into()
            }
            Call::StreamsBound {
                device,
                nsid,
                room,
                null,
            } => {
                let (out, n) = room_of(&mut values, room, null);
                let (device, nsid) = (self.device(device), nsid.0 as u32);
                // SAFETY: null, or room for `n` values.
                unsafe {
                    meldsim_handles(device, nsid, out, n);
                    meldsim_fdp_events(device, nsid % 2, nsid % 3, out, n);
                    meldsim_streams_bound(device, nsid, out, n)
                }
                .into()
            }
            Call::Describe { device, ranges } => {
                let ((all, n), nsid) = (given(ranges), ranges.nsid.0 as u32);
                let at = if ranges.null {
                    std::ptr::null()
                } else {
                    all.as_ptr()
                };
                // SAFETY: null, or at most as many as there are, with their sizes set.
                unsafe { meldsim_describe(self.device(device), nsid, at.cast(), n) }.into()
            }
            Call::Deallocate {
                device,
                ranges,
                queue,
                flags,
            } => {
                let ((all, n), nsid) = (given(ranges), ranges.nsid.0 as u32);
                let at = if ranges.null {
                    std::ptr::null()
                } else {
                    all.as_ptr()
                };
                let (device, queue, flags) = (self.device(device), queue.into(), flags.0 as u32);
                // SAFETY: null, or at most as many as there are, with their sizes set.
                let ticket =
                    unsafe { meldsim_deallocate(device, nsid, at.cast(), n, queue, flags) };
                self.tickets.push(ticket);
                ticket
            }
            Call::Locate {
                device,
                nsid,
                lba,
                size,
                null,
            } => {
                let (device, nsid) = (self.device(device), nsid.0 as u32);
                // SAFETY: null, or a struct whose size is set.
                filled(size, null, |out| unsafe {
                    meldsim_locate(device, nsid, lba.0, out)
                })
            }
            Call::Layout {
                device,
                order,
                size,
                null,
            } => {
                let (device, c) = (self.device(device), order.command());
                let nlb = u64::from(c.nlb);
                // SAFETY: null, or a struct whose size is set.
                filled(size, null, |out| unsafe {
                    meldsim_layout(device, c.nsid, c.slba, nlb, out)
                })
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
                size,
                null,
            } => {
                let device = self.device(device);
                let shares = meldsim_queue_shares {
                    burst: burst.0 as u32,
                    high: high.into(),
                    medium: medium.into(),
                    low: low.into(),
                    ..Default::default()
                };
                let shares = list(&[shares], size);
                // SAFETY: its size is set.
                let code = unsafe { meldsim_set_arbitration(device, shares.as_ptr().cast()) };
                assert!(code <= 0);
                // SAFETY: null, or a struct whose size is set.
                filled(size, null, |out| unsafe {
                    meldsim_arbitration(device, out)
                })
            }
            Call::WindowConfigure {
                device,
                set,
                enable,
                size,
                events,
                thresholds: [reads, writes, ms],
            } => {
                let config = meldsim_window_config {
                    enable: u32::from(enable) % 3,
                    events: events.0 as u32,
                    reads_threshold: reads.0,
                    writes_threshold: writes.0,
                    time_threshold_ms: ms.0,
                    ..Default::default()
                };
                let (device, config) = (self.device(device), list(&[config], size));
                let set = set.0 as u32 % 5;
                // SAFETY: its size is set.
                unsafe { meldsim_window_configure(device, set, config.as_ptr().cast()) }.into()
            }
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
                size,
                null,
            } => {
                let device = self.device(device);
                let (set, retain) = (set.0 as u32 % 5, u32::from(retain) % 3);
                // SAFETY: null, or a struct whose size is set.
                filled(size, null, |out| unsafe {
                    meldsim_window_info(device, set, retain, out)
                })
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
                // A device that paces time has gone on since it was asked.
                let needed = usize::try_from(code).ok();
                if needed.is_some_and(|needed| needed > room) {
                    let untouched = snapshot.iter().all(|byte| *byte == 0x7F);
                    assert!(untouched, "part of a snapshot");
                } else if let Some(needed) = needed {
                    snapshot.truncate(needed);
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
                for (name, description) in [
                    (meldsim_stats_name(index), meldsim_stats_description(index)),
                    (
                        meldsim_namespace_stats_name(index),
                        meldsim_namespace_stats_description(index),
                    ),
                ] {
                    assert_eq!(name.is_null(), description.is_null());
                    if !name.is_null() {
                        // SAFETY: not null, so a string of the library.
                        assert!(!unsafe { CStr::from_ptr(name) }.is_empty());
                    }
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
            Call::Zone(call) => self.manage(call),
        }
    }

    /// A command of a zone, after which the report must be possible.
    fn manage(&mut self, call: ZoneCall) -> i64 {
        let device = self.device(call.device);
        let zones = report(device);
        let zone = zones.get(call.zone()).copied().unwrap_or_default();
        let written = zone.pointer.saturating_sub(zone.start);
        let (opcode, offset, number) = call.order(written % ZONE_BLOCKS);
        let start = call.zone() as u64 * ZONE_BLOCKS;
        let slba = start + offset;
        let ticket = meldsim_submit(device, opcode, 1, slba, number, 0, 0);
        let mut code = ticket;
        if call.is_awaited && ticket > 0 {
            let mut result = 0;
            // SAFETY: a writable value.
            code = unsafe { meldsim_wait_result(device, ticket, u64::MAX, &mut result) };
            if code >= 0 && opcode == MELDSIM_ZONE_APPEND {
                assert!((start..start + zone.capacity).contains(&result), "{call:?}");
            }
        } else {
            self.tickets.push(ticket);
        }
        if code < 0 && (ticket < 0 || code == i64::from(MELDSIM_ERR_ZONE)) {
            let is_closed = code == i64::from(MELDSIM_ERR_CLOSED);
            let is_mine = zones.is_empty() || is_closed;
            assert!(is_mine || meldsim_last_status() > 0, "{}", last_error());
        }
        report(device);
        code
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

/// Memory of a struct of that size for `ask` to fill; nothing may be written past it.
fn filled<T>(size: Size, null: bool, ask: impl FnOnce(*mut T) -> i32) -> i64 {
    if null {
        return ask(std::ptr::null_mut()).into();
    }
    let mut memory = [UNTOUCHED; STRUCT_BYTES / 8 + 1];
    let at = memory.as_mut_ptr();
    let size = size.of::<T>();
    // SAFETY: within the memory.
    unsafe { at.cast::<u32>().write(size) };
    let code = ask(at.cast());
    let end = (size as usize).clamp(8, STRUCT_BYTES).div_ceil(8);
    assert!(
        memory[end..].iter().all(|&word| word == UNTOUCHED),
        "written past the end"
    );
    code.into()
}

/// Structs with their sizes set, and zeros behind them: as many as a caller of a newer header has.
fn list<T>(items: &[T], size: Size) -> Vec<u64> {
    let size = size.of::<T>();
    let mut memory = vec![0u64; items.len() * (STRUCT_BYTES + size_of::<T>()) / 8];
    let at = memory.as_mut_ptr().cast::<u8>();
    for (index, item) in items.iter().enumerate() {
        let offset = index * (size as usize).min(STRUCT_BYTES);
        // SAFETY: the item is within the memory, which no reference is to, and its bytes are integers.
        unsafe {
            let to = at.add(offset);
            std::ptr::copy_nonoverlapping((&raw const *item).cast(), to, size_of::<T>());
            to.cast::<u32>().write_unaligned(size);
        }
    }
    memory
}

fn given(ranges: Ranges) -> (Vec<u64>, u32) {
    let n = match ranges.null {
        true => ranges.count.into(),
        false => u32::from(ranges.count % 5),
    };
    (list(&ranges.all(), ranges.size), n)
}

fn profile_name(profile: u8) -> CString {
    let name = match profile {
        0..ZONES => tiny_profile_files()[0].to_string_lossy(),
        ZONES..HANDLES => tiny_profile_files()[2].to_string_lossy(),
        HANDLES..=0xDF => tiny_profile_files()[1].to_string_lossy(),
        0xE0..=0xEF => "no such profile".into(),
        0xF0..=0xFE => "".into(),
        _ => "melded-tlc-8x8".into(),
    };
    CString::new(name.as_bytes()).unwrap_or_default()
}

/// The tiny profile, one with reclaim unit handles and one with zones as files, written once a process.
fn tiny_profile_files() -> &'static [PathBuf; 3] {
    static FILES: OnceLock<[PathBuf; 3]> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut handles = tiny_profile();
        handles.ftl.over_provisioning_percent = 60;
        handles.ftl.placement = PlacementPolicy::named("isolated");
        handles.fdp.handles = 2;
        let files = [
            ("plain", tiny_profile()),
            ("handles", handles),
            ("zones", zoned_profile()),
        ];
        files.map(|(name, profile)| {
            let file = format!("meldsim-fuzz-{}-{name}.toml", std::process::id());
            let path = std::env::temp_dir().join(file);
            std::fs::write(&path, profile.to_toml())
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            path
        })
    })
}

fn last_error() -> String {
    let mut text = vec![0u8; 512];
    // SAFETY: 512 writable bytes.
    unsafe { meldsim_last_error(text.as_mut_ptr().cast(), text.len() as u64) };
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&text[..end]).into_owned()
}
