//! libFuzzer on the target whose name is in `MELDSIM_FUZZ_TARGET`; see `run`.
#![no_main]

use std::sync::OnceLock;

use meldsim_fuzz::{TARGETS, Target};

fn target() -> &'static Target {
    static TARGET: OnceLock<&Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let name = std::env::var("MELDSIM_FUZZ_TARGET").unwrap_or_default();
        let found = TARGETS.iter().find(|target| target.name == name);
        found.unwrap_or_else(|| panic!("MELDSIM_FUZZ_TARGET is {name:?}, which is no target"))
    })
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| (target().run)(data));
