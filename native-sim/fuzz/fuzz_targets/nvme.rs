//! libFuzzer on [`meldsim_fuzz::targets::nvme`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| meldsim_fuzz::targets::nvme::run(data));
