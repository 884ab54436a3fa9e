//! Whether claims can fail: each is checked on the changed device that it names.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use serde::Serialize;

use super::super::burst::Result;
use super::super::claim::{Change, Claim};
use super::super::plan::{Experiment, Run, outcomes};
use super::run_of;

/// A claim on the changed device.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Control {
    /// The claim's id.
    pub claim: &'static str,
    /// What was changed of the device.
    pub change: String,
    /// The simulated value as it is.
    pub measured: String,
    /// The simulated value then.
    pub measured_then: String,
    /// Whether the claim does not hold then.
    pub fails: bool,
}

/// The controls of several experiments.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Controls {
    /// One for each claim that holds and names a change.
    pub controls: Vec<Control>,
    /// Fitted and predicted claims that hold, and name no change.
    pub without: Vec<&'static str>,
    /// Whether each claim fails with its change, and each that needs one names one.
    pub all_fail: bool,
}

impl Controls {
    /// Runs these experiments as they are, and once for each change that their claims name, on `jobs` threads.
    ///
    /// # Errors
    ///
    /// As of [`Validation::run`](super::Validation::run); or a change makes no possible device.
    pub fn run(
        experiments: impl IntoIterator<Item = &'static Experiment>,
        jobs: NonZeroUsize,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Controls> {
        let runs: Vec<Run> = experiments
            .into_iter()
            .map(run_of)
            .collect::<Result<_, _>>()?;
        let half = |from: f64| move |share| progress(from + share / 2.0);
        let bases: Vec<Vec<Claim>> = claims_of(outcomes(&runs, jobs, &half(0.0))?);
        // Claims that name the same change share a run.
        let mut changed: Vec<(usize, Change)> = Vec::new();
        for (index, claims) in bases.iter().enumerate() {
            for change in claims.iter().filter_map(named) {
                if !changed.contains(&(index, change.clone())) {
                    changed.push((index, change.clone()));
                }
            }
        }
        let then: Vec<Run> = changed
            .iter()
            .map(|(index, change)| Ok(runs[*index].clone().changed(change.clone())?))
            .collect::<Result<_>>()?;
        let then = claims_of(outcomes(&then, jobs, &half(0.5))?);
        let mut controls = Vec::new();
        for ((index, change), then) in changed.iter().zip(&then) {
            let of = bases[*index].iter().filter(|c| named(c) == Some(change));
            for claim in of {
                let then = then.iter().find(|then| then.id == claim.id);
                controls.push(Control {
                    claim: claim.id,
                    change: change.to_string(),
                    measured: claim.measured.clone(),
                    measured_then: then.map_or_else(String::new, |then| then.measured.clone()),
                    fails: then.is_some_and(|then| !then.holds),
                });
            }
        }
        let needs = |claim: &&Claim| claim.needs_change() && claim.fails_with.is_none();
        let without: Vec<&str> = bases.iter().flatten().filter(needs).map(|c| c.id).collect();
        Ok(Controls {
            all_fail: without.is_empty() && controls.iter().all(|control| control.fails),
            controls,
            without,
        })
    }
}

/// The change of a claim that holds; one that does not hold has failed already.
fn named(claim: &Claim) -> Option<&Change> {
    claim.fails_with.as_ref().filter(|_| claim.holds)
}

pub(super) fn claims_of(outcomes: Vec<Option<super::super::Outcome>>) -> Vec<Vec<Claim>> {
    let claims = |outcome: Option<super::super::Outcome>| outcome.map(|outcome| outcome.claims);
    outcomes
        .into_iter()
        .map(|outcome| claims(outcome).unwrap_or_default())
        .collect()
}
