//! The claims of several experiments: whether they hold, whether they can fail, and what they depend on.
//!
//! ```text
//!   Validation    each experiment as it is                                 claim --> holds or not
//!   Controls      once for each change that a claim names                  claim --> fails then, or not
//!   Sensitivity   once for each constant that is not published, +-20 %     constant x claim --> same, moves, turns
//! ```

mod controls;
mod sensitivity;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use serde::Serialize;

pub use controls::{Control, Controls};
pub use sensitivity::{Effect, Influence, NotVaried, Sensitivity, VARIED_PERCENT};

use super::burst::Result;
use super::claim::{Claim, Count, counts};
use super::plan::{Experiment, Run, outcomes};
use meldsim::profile::Profile;

/// The experiment in full on its own profile.
fn run_of(experiment: &'static Experiment) -> Result<Run> {
    Run::new(experiment, Profile::builtin(experiment.profile)?)
}

/// The claims of several experiments.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Validation {
    /// Claims checked.
    pub claims_checked: usize,
    /// Of these, the ones that hold.
    pub claims_held: usize,
    /// Of each kind.
    pub by_kind: Vec<Count>,
    /// Whether all hold; nothing when it was broken off.
    pub holds: Option<bool>,
    /// Experiments that were chosen.
    #[serde(skip)]
    pub experiments: usize,
    /// Of these, the ones that were not done, for it was broken off.
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
    ) -> Result<Validation> {
        let runs: Vec<Run> = experiments
            .into_iter()
            .map(run_of)
            .collect::<Result<_, _>>()?;
        let outcomes = outcomes(&runs, jobs, progress)?;
        let experiments_left = outcomes.iter().filter(|outcome| outcome.is_none()).count();
        let outcomes = outcomes.into_iter().flatten();
        let claims: Vec<Claim> = outcomes.flat_map(|outcome| outcome.claims).collect();
        let claims_held = claims.iter().filter(|claim| claim.holds).count();
        Ok(Validation {
            claims_checked: claims.len(),
            claims_held,
            by_kind: counts(&claims),
            holds: (experiments_left == 0)
                .then_some(claims_held == claims.len() && !claims.is_empty()),
            experiments: runs.len(),
            experiments_left,
            claims,
        })
    }
}
