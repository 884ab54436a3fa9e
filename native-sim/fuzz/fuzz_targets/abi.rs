//! libFuzzer on [`meldsim_fuzz::targets::abi`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| meldsim_fuzz::targets::abi::run(data));
