//! `libmeldsim`: the functions of `meldsim-capi`, as a C library. `meldsim.h` in that crate declares them.

pub use meldsim_capi::*;
