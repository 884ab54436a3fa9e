//! `libmeldsim_study`: the functions of `meldsim-capi-study`, as a C library: all of `libmeldsim`, and those of whole studies.

pub use meldsim_capi_study::*;
