//! libFuzzer on [`meldsim_fuzz::targets::profile`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| meldsim_fuzz::targets::profile::run(data));
