//! A profile is fitted to what was measured on a drive.
//!
//! ```text
//!   fio's JSON, CSV --> tables --doubts--> findings, or refused
//!                         |
//!                       Start (reckoned) --stages--> points --Simulations--> errors of cells --> Solved
//!                                                      |                                           |
//!                                           cores, Spark, a file of lines          intervals, errors left out --> Calibrated
//! ```
//!
//! A [`Unit`] is one simulation at one point of the search: independent of all others, and the same wherever it is done. So
//! cores and executors share them out, and a search that was interrupted finds in its file what it has asked before.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
// A test may look at a hash map in any order.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::iter_over_hash_type))]

mod doubt;
mod finding;
mod fio;
mod identify;
mod linear;
mod message;
mod model;
mod parameter;
mod quantile;
mod request;
mod result;
mod search;
mod simulations;
mod stages;
mod start;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use meldsim::policy::pacing::PacingPolicy;
use meldsim::profile::Profile;
use meldsim_host::try_map;
use meldsim_measured::{MeasureError, of_key};
use model::Model;
use result::Parts;
use search::Search;
use simulations::{Here, Simulations, Stop};
use start::Start;

pub use finding::Finding;
pub use message::Message;
pub use model::Unit;
pub use request::Request;
pub use result::{Calibrated, FAR_OFF};

/// Why there is no calibration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrateError {
    /// The input is wrong: where, why, and the remedy.
    #[error("{0}")]
    Input(String),
    /// A device cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] MeasureError),
}

/// A simulation that was done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Evaluation {
    /// What was simulated.
    pub unit: Unit,
    /// What it gave for the cells that it answers; nothing where it gives no number.
    pub values: Vec<Option<f64>>,
}

/// How far a search is.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress {
    /// It is at its end.
    Done(Box<Calibrated>),
    /// These are to be simulated, anywhere, before it goes on.
    Simulate(Vec<Unit>),
    /// It was broken off.
    Interrupted,
}

/// Where simulations are done.
#[non_exhaustive]
pub enum Place<'a> {
    /// On so many cores of this machine.
    Here {
        /// Threads.
        jobs: NonZeroUsize,
        /// Gets each simulation that was done.
        record: &'a (dyn Fn(&Evaluation) + Sync),
        /// Gets the share that is done, about; breaks off.
        progress: &'a (dyn Fn(f64) -> ControlFlow<()> + Sync),
    },
    /// By the caller.
    Elsewhere,
}

/// A calibration.
pub struct Calibration {
    request: Request,
    model: Model,
    start: Start,
    findings: Vec<Finding>,
}

impl Calibration {
    /// Reads what was measured.
    ///
    /// # Errors
    ///
    /// It cannot be read, or contradicts itself.
    pub fn new(mut request: Request) -> Result<Calibration, CalibrateError> {
        let measured = request.read().map_err(CalibrateError::Input)?;
        request.capacity_bytes = Some(measured.capacity_bytes);
        let tables = measured.tables;
        let doubts =
            doubt::doubts(&request, &tables, &measured.idle).map_err(CalibrateError::Input)?;
        let mut findings = doubts.findings;
        findings.extend(measured.notes);
        let mut base = model::base(&request).map_err(CalibrateError::Input)?;
        let mut start = Start::of(&request, &tables, &base).map_err(CalibrateError::Input)?;
        if let Some(rate) = doubts.held_iops {
            base.gc.pacing = PacingPolicy::named("throttle");
            base.gc.throttle_iops = rate.round().clamp(1.0, 1e8) as u32;
            start.hold();
        }
        let keys = start.0.iter().map(|(key, _)| *key).collect();
        let model = Model::new(&request, tables, base, keys).map_err(|error| match error {
            MeasureError::Rows(text) => CalibrateError::Input(text),
            error => error.into(),
        })?;
        if model.numbers(false).next().is_none() {
            let text =
                "no row can be simulated; measure random reads over depth, or steady random writes";
            return Err(CalibrateError::Input(text.to_owned()));
        }
        Ok(Calibration {
            request,
            model,
            start,
            findings,
        })
    }

    /// How many cells of each kind there are.
    pub fn kinds(&self) -> Vec<(&'static str, usize)> {
        let mut kinds = Vec::new();
        for cell in &self.model.cells {
            *of_key(&mut kinds, cell.question.class.kind) += 1;
        }
        kinds
    }

    /// What the cells do not tell.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Simulates a unit.
    ///
    /// # Errors
    ///
    /// There is no such unit, or its device cannot be simulated.
    pub fn simulate(&self, unit: &Unit) -> Result<Evaluation, CalibrateError> {
        if unit.point.len() != self.model.keys.len() {
            let text = format!(
                "the point has {} values; give one for each of the {} parameters",
                unit.point.len(),
                self.model.keys.len()
            );
            return Err(CalibrateError::Input(text));
        }
        Ok(Evaluation::new(unit, &self.model.simulate(unit)?))
    }

    /// How far another profile is off, as [`Calibrated::score`] counts it.
    ///
    /// # Errors
    ///
    /// It cannot be simulated.
    pub fn score(&self, profile: &Profile, jobs: NonZeroUsize) -> Result<f64, CalibrateError> {
        let mut profile = profile.clone();
        self.model.name(&mut profile);
        let tasks: Vec<usize> = self.model.numbers(true).collect();
        let values = try_map(jobs, &tasks, |task| self.model.answer(&profile, *task))?;
        let cells = self.model.cells.iter();
        let simulated: Vec<f64> = cells.map(|cell| cell.of(&values[cell.task])).collect();
        Ok(result::score(&self.model, &simulated))
    }

    /// Searches, from what is known to the end, or as far as it comes.
    ///
    /// # Errors
    ///
    /// A device cannot be simulated.
    pub fn find(
        &self,
        known: &[Evaluation],
        place: &Place<'_>,
    ) -> Result<Progress, CalibrateError> {
        let done = AtomicUsize::new(known.len());
        let most = AtomicUsize::new(1);
        let report;
        let record;
        let mut simulations = match place {
            Place::Here {
                jobs,
                record: to,
                progress,
            } => {
                record = move |unit: &Unit, values: &[f64]| to(&Evaluation::new(unit, values));
                report = |more: usize| {
                    let done = done.fetch_add(more, Ordering::Relaxed) + more;
                    let most = most.load(Ordering::Relaxed).max(1);
                    progress((done as f64 / most as f64).min(0.99))
                };
                let here = Here {
                    jobs: *jobs,
                    record: &record,
                    progress: &report,
                };
                Simulations::here(&self.model, here)
            }
            Place::Elsewhere => Simulations::elsewhere(&self.model),
        };
        for evaluation in known {
            let values = evaluation
                .values
                .iter()
                .map(|value| value.unwrap_or(f64::NAN));
            simulations.know(&evaluation.unit, values.collect());
        }
        let mut search = Search {
            simulations: &mut simulations,
        };
        most.store(stages::simulations_at_most(&search), Ordering::Relaxed);
        match self.solve(&mut search) {
            Ok(done) => Ok(Progress::Done(Box::new(done))),
            Err(Stop::Missing(units)) => Ok(Progress::Simulate(units)),
            Err(Stop::Interrupted) => Ok(Progress::Interrupted),
            Err(Stop::Failed(error)) => Err(error.into()),
        }
    }

    fn solve(&self, search: &mut Search<'_, '_>) -> Result<Calibrated, Stop> {
        let solved = search.solve(&self.start, self.request.seed)?;
        let (estimates, without) = identify::identify(search, &solved);
        let simulated = search.simulated(&solved.point)?;
        Ok(Calibrated::new(Parts {
            request: &self.request,
            model: &self.model,
            point: &solved.point,
            estimates: &estimates,
            simulated: &simulated,
            without: &without,
            findings: self.findings.clone(),
        }))
    }
}

impl Evaluation {
    fn new(unit: &Unit, values: &[f64]) -> Evaluation {
        let values = values
            .iter()
            .map(|value| Some(*value).filter(|value| value.is_finite()));
        Evaluation {
            unit: unit.clone(),
            values: values.collect(),
        }
    }
}
