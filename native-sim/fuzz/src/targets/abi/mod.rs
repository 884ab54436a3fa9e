//! The C ABI: any calls with any arguments; a panic inside, a crash or a hang is a defect, an error is not.

mod call;
mod caller;
mod zones;

use arbitrary::Unstructured;
use meldsim_capi_study::*;

use self::call::{Blocks, Call, Number};
use self::caller::{Caller, HANDLES, PLAIN, ZONES};
use self::zones::ZONED_BLOCKS;

const CALLS: usize = 200;

/// Reads `data` as calls and makes them, first on a plain device.
pub fn run(data: &[u8]) {
    calls(data, PLAIN, 4096);
}

/// The same, first on a device with reclaim unit handles.
pub fn handles(data: &[u8]) {
    calls(data, HANDLES, 4096);
}

/// The same, first on a device with zones.
pub fn zones(data: &[u8]) {
    calls(data, ZONES, ZONED_BLOCKS);
}

fn calls(data: &[u8], profile: u8, blocks: u64) {
    let mut input = Unstructured::new(data);
    let mut caller = Caller::default();
    caller.make(Call::Open {
        profile,
        version: Number(MELDSIM_ABI_VERSION.into()),
    });
    caller.make(Call::NamespaceCreate {
        device: Number(0),
        blocks: Blocks(blocks),
        odd: false,
        null: false,
    });
    assert!(caller.has_namespace(), "profile {profile}");
    for _ in 0..CALLS {
        match input.arbitrary() {
            Ok(call) if !input.is_empty() => caller.make(call),
            _ => break,
        }
    }
    caller.close_all();
}
