//! Simulations that are done once: on all cores of this machine, or elsewhere. What is known is a file of lines, from which a
//! search that was interrupted goes on.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::model::{Model, Unit};
use meldsim_host::try_map;
use meldsim_measured::MeasureError;

/// Why a search has not come to its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// These are to be simulated first.
    Missing(Vec<Unit>),
    /// It was interrupted.
    Interrupted,
    /// A device cannot be simulated.
    Failed(MeasureError),
}

/// What is known of a unit: its simulation, and the values of the parameters that matter there.
type Known = (usize, Vec<u64>);

/// Values of units, and who finds the others.
pub(super) struct Simulations<'a> {
    pub(super) model: &'a Model,
    known: HashMap<Known, Vec<f64>>,
    finder: Finder<'a>,
}

/// Who simulates what is not known.
enum Finder<'a> {
    /// This machine.
    Here(Here<'a>),
    /// The caller, who comes again with the values.
    Elsewhere,
}

/// How this machine simulates.
pub(super) struct Here<'a> {
    pub(super) jobs: NonZeroUsize,
    /// Gets each unit with its values, once it is simulated.
    pub(super) record: &'a (dyn Fn(&Unit, &[f64]) + Sync),
    /// Gets the number of simulations done; breaks off.
    pub(super) progress: &'a (dyn Fn(usize) -> ControlFlow<()> + Sync),
}

impl<'a> Simulations<'a> {
    pub(super) fn here(model: &'a Model, here: Here<'a>) -> Simulations<'a> {
        Simulations {
            model,
            known: HashMap::new(),
            finder: Finder::Here(here),
        }
    }

    pub(super) fn elsewhere(model: &'a Model) -> Simulations<'a> {
        Simulations {
            model,
            known: HashMap::new(),
            finder: Finder::Elsewhere,
        }
    }

    /// Takes what was simulated before.
    pub(super) fn know(&mut self, unit: &Unit, values: Vec<f64>) {
        let key = self.key(unit);
        self.known.insert(key, values);
    }

    fn key(&self, unit: &Unit) -> Known {
        let load = self.model.load(unit.task);
        let values = self.model.keys.iter().zip(&unit.point);
        let values = values.filter(|(key, _)| key.matters(load));
        (
            unit.task,
            values.map(|(_, value)| value.to_bits()).collect(),
        )
    }

    /// The values of units, in their order.
    pub(super) fn values(&mut self, units: &[Unit]) -> Result<Vec<Vec<f64>>, Stop> {
        let mut missing: Vec<(Known, &Unit)> = Vec::new();
        for unit in units {
            let key = self.key(unit);
            if !self.known.contains_key(&key) && !missing.iter().any(|(known, _)| *known == key) {
                missing.push((key, unit));
            }
        }
        if !missing.is_empty() {
            let units: Vec<&Unit> = missing.iter().map(|(_, unit)| *unit).collect();
            let found = match &self.finder {
                Finder::Here(here) => simulate(self.model, here, &units)?,
                Finder::Elsewhere => {
                    return Err(Stop::Missing(units.into_iter().cloned().collect()));
                }
            };
            let keys = missing.into_iter().map(|(key, _)| key);
            self.known.extend(keys.zip(found));
        }
        let values = units.iter().map(|unit| {
            let known = self.known.get(&self.key(unit));
            known.cloned().unwrap_or_default()
        });
        Ok(values.collect())
    }
}

fn simulate(model: &Model, here: &Here<'_>, units: &[&Unit]) -> Result<Vec<Vec<f64>>, Stop> {
    let broken_off = AtomicBool::new(false);
    // A line at a time, whatever the threads.
    let line = Mutex::new(());
    let done = AtomicUsize::new(0);
    let run = |unit: &&Unit| {
        if broken_off.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let values = model.simulate(unit)?;
        if let Ok(_line) = line.lock() {
            (here.record)(unit, &values);
        }
        done.fetch_add(1, Ordering::Relaxed);
        broken_off.fetch_or((here.progress)(1).is_break(), Ordering::Relaxed);
        Ok::<Vec<f64>, MeasureError>(values)
    };
    let values = try_map(here.jobs, units, run).map_err(Stop::Failed)?;
    match broken_off.into_inner() && done.into_inner() < units.len() {
        true => Err(Stop::Interrupted),
        false => Ok(values),
    }
}
