//! Every experiment.

use super::plan::Experiment;
use super::{
    contract, firmware, ftl_policies, interleave, latency_windows, melded, noisy, palloc,
    programming, qlc, real_drives, window,
};

/// All experiments, by paper.
pub const EXPERIMENTS: &[Experiment] = &[
    melded::LATENCY,
    melded::THROUGHPUT,
    qlc::QLC_MELDING,
    programming::PROGRAMMING,
    palloc::PALLOC,
    noisy::NOISY_NEIGHBOR,
    latency_windows::LATENCY_WINDOWS,
    firmware::SCALING,
    firmware::THREADS,
    firmware::STEADY_STATE,
    firmware::FLASH,
    firmware::POWER,
    contract::OPTANE_CONTRACT,
    interleave::INTERLEAVE_DETECTION,
    window::MELDING_WINDOW,
    ftl_policies::FTL_POLICIES,
    real_drives::REAL_DRIVES,
];
