//! The C ABI: any calls with any arguments; a panic inside, a crash or a hang is a defect, an error is not.

mod call;
mod caller;

use arbitrary::Unstructured;
use meldsim_capi::*;

use self::call::{Blocks, Call, Number};
use self::caller::Caller;

const CALLS: usize = 200;

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
    caller.close_all();
}
