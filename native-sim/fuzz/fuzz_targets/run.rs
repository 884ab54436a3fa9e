//! libFuzzer on [`meldsim_fuzz::targets::run`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| meldsim_fuzz::targets::run::run(data));
