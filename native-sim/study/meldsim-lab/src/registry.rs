//! Every experiment.

use super::plan::Experiment;
use super::{
    contract, end_to_end, firmware, ftl_policies, hdfs_lifetimes, interleave, latency_windows,
    melded, noisy, palloc, programming, qlc, real_drives, window,
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
    end_to_end::END_TO_END,
    ftl_policies::FTL_POLICIES,
    hdfs_lifetimes::HDFS_LIFETIMES,
    real_drives::REAL_DRIVES,
];

impl Experiment {
    /// The experiment of that name.
    pub fn find(name: &str) -> Option<&'static Experiment> {
        EXPERIMENTS
            .iter()
            .find(|experiment| experiment.name == name)
    }

    /// Whether it takes minutes, so that a validation of all leaves it out.
    pub fn takes_minutes(&self) -> bool {
        [real_drives::REAL_DRIVES, hdfs_lifetimes::HDFS_LIFETIMES]
            .iter()
            .any(|long| long.name == self.name)
    }
}
