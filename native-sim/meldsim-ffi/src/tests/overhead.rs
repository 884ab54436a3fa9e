//! What the C ABI costs on top of the simulation itself.

use std::time::Instant;

use meldsim_core::{Command, Device, Directive, NamespaceId, Pattern, Profile};

use super::support::*;
use crate::*;

const CALLS: u64 = 400_000;
const PAGES: u64 = 16 * 256;

/// The commands of the measurement, straight on the model, in nanoseconds each.
fn model_ns(command: impl Fn(NamespaceId, u64) -> Command) -> f64 {
    let mut device = Device::new(&Profile::builtin(PROFILE).unwrap()).unwrap();
    let nsid = device.create_namespace(1 << 30).unwrap();
    let directive = Directive::read_pattern(Pattern::Sequential);
    device.preload(nsid, 0, PAGES, directive).unwrap();
    let begin = Instant::now();
    for at in 0..CALLS {
        device.submit(&command(nsid, at % PAGES)).unwrap();
        while device.pop_completion().is_none() {
            let next = device.next_event().unwrap();
            device.advance_to(next);
        }
    }
    begin.elapsed().as_nanos() as f64 / CALLS as f64
}

/// The same commands through submit and wait.
fn abi_ns(opcode: u32, directive: u32) -> f64 {
    let rig = Rig::preloaded(16);
    let begin = Instant::now();
    for at in 0..CALLS {
        let slba = at % PAGES;
        let ticket = meldsim_submit(rig.handle, opcode, rig.nsid, slba, 1, directive, 0);
        assert!(meldsim_wait(rig.handle, ticket, FOREVER) >= 0);
    }
    begin.elapsed().as_nanos() as f64 / CALLS as f64
}

#[test]
#[ignore = "a measurement: cargo test --release -p meldsim-ffi overhead -- --ignored --nocapture"]
fn submit_and_wait_add_less_than_half_a_microsecond() {
    // The least of several rounds: what is wanted is the cost, not the noise of the machine.
    let least = |measure: &dyn Fn() -> f64| (0..7).map(|_| measure()).fold(f64::MAX, f64::min);
    let model = least(&|| model_ns(|nsid, slba| Command::read(nsid, slba, 1, 0)));
    let abi = least(&|| abi_ns(MELDSIM_READ, 0));
    println!(
        "4 KiB read: model {model:.0} ns, submit + wait {abi:.0} ns, added {:.0} ns",
        abi - model
    );
    assert!(abi - model < 500.0);
}
