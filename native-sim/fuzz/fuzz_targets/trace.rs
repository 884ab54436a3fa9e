//! libFuzzer on [`meldsim_fuzz::targets::trace`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| meldsim_fuzz::targets::trace::run(data));
