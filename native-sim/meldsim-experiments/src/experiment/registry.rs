//! Every experiment, and the validation that runs them all.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use serde::Serialize;

use super::burst::ExperimentError;
use super::claim::Claim;
use super::plan::{Experiment, Run, outcomes};
use super::{
    contract, firmware, interleave, latency_windows, melded, noisy, palloc, programming, qlc,
    window,
};
use meldsim::profile::Profile;

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
    firmware::POWER,
    contract::OPTANE_CONTRACT,
    interleave::INTERLEAVE_DETECTION,
    window::MELDING_WINDOW,
];

impl Experiment {
    /// The experiment of that name.
    pub fn find(name: &str) -> Option<&'static Experiment> {
        EXPERIMENTS
            .iter()
            .find(|experiment| experiment.name == name)
    }
}

/// The claims of several experiments.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Validation {
    /// Claims checked.
    pub claims_checked: usize,
    /// Of these, the ones that hold.
    pub claims_held: usize,
    /// Whether all hold.
    pub holds: bool,
    /// Experiments that were not done, for it was broken off.
    #[serde(skip_serializing_if = "is_none")]
    pub experiments_left: usize,
    /// The claims.
    pub claims: Vec<Claim>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Validation {
    /// Runs these experiments, each in full on its own profile, on `jobs` threads, until `progress` breaks off.
    ///
    /// # Errors
    ///
    /// A device cannot be simulated or refuses a request: a defect of the model or of a built-in profile.
    pub fn run(
        experiments: impl IntoIterator<Item = &'static Experiment>,
        jobs: NonZeroUsize,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Validation, ExperimentError> {
        let runs: Vec<Run> = experiments
            .into_iter()
            .map(|experiment| Run::new(experiment, Profile::builtin(experiment.profile)?))
            .collect::<Result<_, ExperimentError>>()?;
        let outcomes = outcomes(&runs, jobs, progress)?;
        let experiments_left = outcomes.iter().filter(|outcome| outcome.is_none()).count();
        let outcomes = outcomes.into_iter().flatten();
        let claims: Vec<Claim> = outcomes.flat_map(|outcome| outcome.claims).collect();
        let claims_held = claims.iter().filter(|claim| claim.holds).count();
        Ok(Validation {
            claims_checked: claims.len(),
            claims_held,
            holds: claims_held == claims.len() && !claims.is_empty(),
            experiments_left,
            claims,
        })
    }
}
