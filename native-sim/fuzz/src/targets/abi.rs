//! The C ABI: any calls with any arguments; a panic inside, a crash or a hang is a defect, an error is not.

use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::sync::OnceLock;

use arbitrary::{Arbitrary, Unstructured};
use meldsim_capi::*;

use super::exercise::tiny_profile;

const CALLS: usize = 200;
const ROOM: usize = 96;

/// A number of an argument: mostly small, and an index into what earlier calls gave; sometimes anything.
#[derive(Clone, Copy, Debug)]
struct Number(u64);

impl<'a> Arbitrary<'a> for Number {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Number> {
        let small = u.arbitrary::<u8>()?;
        Ok(Number(match small {
            0..=0xEF => u64::from(small),
            0xF0..=0xF7 => u64::MAX >> (small & 7),
            _ => u.arbitrary()?,
        }))
    }
}

/// Bounded so that one call ends soon: 4096 blocks, or a count that the device must refuse.
#[derive(Clone, Copy, Debug)]
struct Blocks(u64);

impl<'a> Arbitrary<'a> for Blocks {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Blocks> {
        let blocks = u64::from(u.arbitrary::<u16>()?);
        Ok(Blocks(match blocks >> 12 {
            0..15 => blocks & 0xFFF,
            _ => u64::MAX >> (blocks & 63),
        }))
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Order {
    opcode: Number,
    nsid: Number,
    slba: Blocks,
    nlb: Blocks,
    directive: Hint,
    dsm: u8,
    reserved: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Hint {
    None,
    Sequential,
    Random,
    Stream(u8),
    Any(u32),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Call {
    Open {
        profile: u8,
        version: Number,
    },
    Close {
        device: Number,
    },
    SetMode {
        device: Number,
        mode: Number,
        dilation: u8,
    },
    NamespaceCreate {
        device: Number,
        blocks: Blocks,
        odd: bool,
        null: bool,
    },
    NamespaceInfo {
        device: Number,
        nsid: Number,
        room: u8,
        null: bool,
    },
    Submit {
        device: Number,
        order: Order,
        flags: Number,
    },
    SubmitBatch {
        device: Number,
        orders: [Order; 4],
        count: u8,
        flags: Number,
    },
    Wait {
        device: Number,
        ticket: Number,
        timeout_us: u8,
    },
    Forget {
        device: Number,
        ticket: Number,
    },
    Preload {
        device: Number,
        order: Order,
    },
    Stats {
        device: Number,
        room: u8,
        null: bool,
    },
    Busy {
        device: Number,
        dies: bool,
        room: u8,
        null: bool,
    },
    SetInfo {
        device: Number,
        set: Number,
        room: u8,
        null: bool,
    },
    NamespaceCreateIn {
        device: Number,
        set: Number,
        blocks: Blocks,
    },
    StreamBind {
        device: Number,
        nsid: Number,
        stream: Number,
        hint: Hint,
    },
    Precondition {
        device: Number,
        fill: u8,
        random: u8,
    },
    StatsName {
        index: Number,
    },
    LastError {
        room: u8,
        null: bool,
    },
}

/// What the calls so far have given.
#[derive(Default)]
struct Caller {
    devices: Vec<i64>,
    tickets: Vec<i64>,
}

/// Reads `data` as calls and makes them.
pub fn run(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let mut caller = Caller::default();
    caller.make(Call::Open {
        profile: 0,
        version: Number(MELDSIM_ABI_VERSION.into()),
    });
    caller.make(Call::NamespaceCreate {
        device: Number(0),
        blocks: Blocks(4096),
        odd: false,
        null: false,
    });
    for _ in 0..CALLS {
        match input.arbitrary() {
            Ok(call) if !input.is_empty() => caller.make(call),
            _ => break,
        }
    }
    for device in caller.devices {
        meldsim_close(device);
    }
}

impl Caller {
    fn make(&mut self, call: Call) {
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

impl Hint {
    fn packed(self) -> u32 {
        match self {
            Hint::None => MELDSIM_DIRECTIVE_NONE,
            Hint::Sequential => MELDSIM_DIRECTIVE_SEQUENTIAL,
            Hint::Random => MELDSIM_DIRECTIVE_RANDOM,
            Hint::Stream(stream) => MELDSIM_DIRECTIVE_STREAM | u32::from(stream % 20),
            Hint::Any(packed) => packed,
        }
    }
}

impl Order {
    fn command(self) -> meldsim_command {
        meldsim_command {
            opcode: match self.opcode.0 {
                small @ 0..=0xEF => [
                    MELDSIM_WRITE,
                    MELDSIM_READ,
                    MELDSIM_DEALLOCATE,
                    MELDSIM_FLUSH,
                ][small as usize % 4],
                any => any as u32,
            },
            nsid: match self.nsid.0 {
                small @ 0..=0xEF => 1 + small as u32 / 80,
                any => any as u32,
            },
            slba: self.slba.0,
            nlb: u32::try_from(self.nlb.0).unwrap_or(u32::MAX),
            directive: self.directive.packed(),
            dsm: self.dsm.into(),
            reserved: self.reserved.into(),
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
