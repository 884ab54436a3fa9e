//! The search: least squares with differences of simulations in place of derivatives, as a robust Levenberg-Marquardt; and one
//! after the other for what is chosen among a few values.
//!
//! Parameters are looked at as logarithms. A step simulates each free parameter a little lower and a little higher, solves for
//! where the errors would be least, and simulates some points on the way there. All points of a step are independent.

use super::linear::{Symmetric, gradient};
use super::model::{Asked, Unit, residual};
use super::parameter::{Key, Load};
use super::simulations::{Simulations, Stop};

/// How far a parameter is moved to see what depends on it.
const STEP: f64 = 0.08;
/// The longest way of a parameter in a step.
const FARTHEST: f64 = 0.5;
/// Shares of the diagonal that damp a step: short ways are tried beside the long one.
const DAMPING: [f64; 4] = [1e-3, 0.03, 0.3, 3.0];
/// A step that wins less of the error than this is the last.
const LEAST_GAIN: f64 = 0.003;

/// A part of the search: which cells it looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage<'a> {
    pub(super) loads: &'a [Load],
    pub(super) free: &'a [Key],
    pub(super) steps: usize,
}

/// Errors of the cells at a point, in bars, and their derivatives by the free parameters.
#[derive(Clone, Debug)]
pub(super) struct Slopes {
    pub(super) residuals: Vec<f64>,
    /// For each cell, by each free parameter's logarithm.
    pub(super) rows: Vec<Vec<f64>>,
}

/// A point and its error.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) point: Vec<f64>,
    pub(super) error: f64,
}

/// The search, with the simulations that it asks for.
pub(super) struct Search<'a, 'b> {
    pub(super) simulations: &'b mut Simulations<'a>,
}

impl Search<'_, '_> {
    /// The errors in bars at each point: of all cells, 0 where the stage does not look.
    pub(super) fn residuals(
        &mut self,
        points: &[Vec<f64>],
        loads: &[Load],
        all: bool,
    ) -> Result<Vec<Vec<f64>>, Stop> {
        let model = self.simulations.model;
        let tasks: Vec<usize> = model
            .numbers(all)
            .filter(|task| loads.contains(&model.load(*task)))
            .collect();
        let unit = |point: &Vec<f64>, task: usize| Unit {
            point: point.clone(),
            task,
        };
        let units = points
            .iter()
            .flat_map(|point| tasks.iter().map(move |task| unit(point, *task)));
        let values = self.simulations.values(&units.collect::<Vec<_>>())?;
        let residuals = values.chunks(tasks.len().max(1)).map(|values| {
            let of_cell = |cell: &Asked| {
                let number = tasks.iter().position(|task| *task == cell.task);
                number.map_or(0.0, |number| residual(cell, cell.of(&values[number])))
            };
            model.cells.iter().map(of_cell).collect()
        });
        let residuals: Vec<Vec<f64>> = residuals.collect();
        Ok(match residuals.is_empty() {
            true => vec![vec![0.0; model.cells.len()]; points.len()],
            false => residuals,
        })
    }

    /// What every cell has at a point, those that nothing is fitted to as well.
    pub(super) fn simulated(&mut self, point: &[f64]) -> Result<Vec<f64>, Stop> {
        let model = self.simulations.model;
        let units = model.numbers(true).map(|task| Unit {
            point: point.to_vec(),
            task,
        });
        let values = self.simulations.values(&units.collect::<Vec<_>>())?;
        let cells = model.cells.iter();
        Ok(cells.map(|cell| cell.of(&values[cell.task])).collect())
    }

    /// The error of residuals, so that no cell decides alone.
    pub(super) fn error(&self, residuals: &[f64]) -> f64 {
        let cells = self.simulations.model.cells.iter().zip(residuals);
        cells
            .map(|(cell, residual)| cell.weight * robust(*residual))
            .sum()
    }

    /// Moves the free parameters to where the error is least, in some steps.
    pub(super) fn fit(&mut self, from: Vec<f64>, stage: &Stage<'_>) -> Result<Found, Stop> {
        let residuals = self.residuals(std::slice::from_ref(&from), stage.loads, false)?;
        let mut best = Found {
            error: self.error(&residuals[0]),
            point: from,
        };
        if stage.free.is_empty() {
            return Ok(best);
        }
        for _ in 0..stage.steps {
            let slopes = self.slopes(&best.point, stage)?;
            let ways = self.ways(&best.point, &slopes, stage.free);
            let residuals = self.residuals(&ways, stage.loads, false)?;
            let before = best.error;
            for (point, residuals) in ways.into_iter().zip(residuals) {
                let error = self.error(&residuals);
                if error < best.error {
                    best = Found { point, error };
                }
            }
            if best.error > before * (1.0 - LEAST_GAIN) {
                break;
            }
        }
        Ok(best)
    }

    /// Errors at a point and how they change with each free parameter.
    pub(super) fn slopes(&mut self, point: &[f64], stage: &Stage<'_>) -> Result<Slopes, Stop> {
        let mut points = vec![point.to_vec()];
        for key in stage.free {
            for step in [-STEP, STEP] {
                points.push(self.moved(point, &[(*key, step)]));
            }
        }
        let residuals = self.residuals(&points, stage.loads, false)?;
        let derivatives = stage.free.iter().enumerate().map(|(number, key)| {
            let (lower, upper) = (1 + 2 * number, 2 + 2 * number);
            let log = |at: usize| {
                self.place(*key)
                    .map_or(0.0, |place| libm::log(points[at][place]))
            };
            let distance = (log(upper) - log(lower)).max(1e-9);
            let pairs = residuals[upper].iter().zip(&residuals[lower]);
            pairs.map(move |(a, b)| (a - b) / distance).collect()
        });
        let columns: Vec<Vec<f64>> = derivatives.collect();
        let rows =
            (0..residuals[0].len()).map(|cell| columns.iter().map(|column| column[cell]).collect());
        Ok(Slopes {
            rows: rows.collect(),
            residuals: residuals[0].clone(),
        })
    }

    /// The weights of cells at their errors: what is far off pulls less.
    pub(super) fn weights(&self, residuals: &[f64]) -> Vec<f64> {
        let cells = self.simulations.model.cells.iter().zip(residuals);
        let weight = |(cell, residual): (&Asked, &f64)| cell.weight / (1.0 + residual * residual);
        cells.map(weight).collect()
    }

    /// Points on the way to where the errors would be least.
    fn ways(&self, point: &[f64], slopes: &Slopes, free: &[Key]) -> Vec<Vec<f64>> {
        let weights = self.weights(&slopes.residuals);
        let normal = Symmetric::normal(&slopes.rows, &weights, free.len());
        let gradient = gradient(&slopes.rows, &weights, &slopes.residuals, free.len());
        let ways = DAMPING.iter().filter_map(|share| {
            let way = normal.damped(*share).solve(&gradient)?;
            let steps = free.iter().zip(way);
            let steps: Vec<(Key, f64)> = steps
                .map(|(key, step)| (*key, (-step).clamp(-FARTHEST, FARTHEST)))
                .collect();
            Some(self.moved(point, &steps))
        });
        ways.collect()
    }

    /// The point with some parameters moved by logarithms, within their ranges.
    pub(super) fn moved(&self, point: &[f64], steps: &[(Key, f64)]) -> Vec<f64> {
        let mut moved = point.to_vec();
        for (key, step) in steps {
            if let Some(place) = self.place(*key) {
                let (least, most) = key.range();
                moved[place] = (moved[place] * libm::exp(*step)).clamp(least, most);
            }
        }
        moved
    }

    pub(super) fn place(&self, key: Key) -> Option<usize> {
        let keys = &self.simulations.model.keys;
        keys.iter().position(|known| *known == key)
    }
}

/// Cauchy's: squares near 0, and what is far off hardly counts more when it is farther.
fn robust(residual: f64) -> f64 {
    libm::log1p(residual * residual)
}
