//! The stages of the search: what reads alone tell, what writes alone tell, what both tell beside each other; then everything
//! at once, from there.

use meldsim::engine::Random;

use super::parameter::{Key, Load, planes};
use super::search::{Found, Search, Slopes, Stage};
use super::simulations::Stop;
use super::start::{Start, transfer_us};

/// What was tried of a parameter that is chosen among a few values.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub(super) key: Key,
    pub(super) value: f64,
    /// The least error with it, in squares of bars.
    pub(super) error: f64,
}

/// The end of the search.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    pub(super) point: Vec<f64>,
    pub(super) tried: Vec<Tried>,
    /// The parameters that are continuous, and what cells depend on them at the point.
    pub(super) free: Vec<Key>,
    pub(super) slopes: Slopes,
}

/// Simulations of a search, about, for a share of what is done: as many steps as there are at most.
pub(super) fn simulations_at_most(search: &Search<'_, '_>) -> usize {
    let model = search.simulations.model;
    let of = |load: Load| {
        let tasks = model
            .numbers(false)
            .filter(|task| model.load(*task) == load);
        tasks.count()
    };
    let free = free(&model.keys, |_| true).len();
    let step = 2 * free + 5;
    of(Load::Reads) * (18 + 24 * step)
        + of(Load::Writes) * 10 * step
        + of(Load::Mixed) * (25 + 18 * step)
}

fn free(keys: &[Key], takes: impl Fn(Key) -> bool) -> Vec<Key> {
    let free = keys.iter().copied();
    free.filter(|key| key.options().is_empty() && takes(*key))
        .collect()
}

impl Search<'_, '_> {
    /// From the reckoned values to those with the least error.
    pub(super) fn solve(&mut self, start: &Start, seed: u64) -> Result<Solved, Stop> {
        let keys = self.simulations.model.keys.clone();
        let has = |load: Load| {
            let model = self.simulations.model;
            model.numbers(false).any(|task| model.load(task) == load)
        };
        let (has_reads, has_writes, has_mixed) =
            (has(Load::Reads), has(Load::Writes), has(Load::Mixed));
        let mut point: Vec<f64> = start.0.iter().map(|(_, value)| *value).collect();
        let mut tried = Vec::new();

        if has_reads {
            point = self.reads(point, &mut tried)?;
        }
        // What reads do without is not looked for any more.
        let keys: Vec<Key> = keys
            .into_iter()
            .filter(|key| {
                self.place(*key)
                    .is_some_and(|place| point[place] > 0.0 || !key.options().is_empty())
            })
            .collect();
        if has_writes {
            let own = free(&keys, |key| {
                matches!(
                    key,
                    Key::Latency | Key::Program | Key::Spare | Key::Superblock
                )
            });
            let stage = Stage {
                loads: &[Load::Writes],
                free: &own,
                steps: 3,
            };
            point = self.fit(point, &stage)?.point;
        }
        if has_mixed {
            let own = free(&keys, |key| {
                matches!(key, Key::Latency | Key::Phase | Key::Resume)
                    || !has_reads && matches!(key, Key::Read(_))
                    || !has_writes && key == Key::Program
            });
            let mixed = |steps| Stage {
                loads: &[Load::Mixed],
                free: &own,
                steps,
            };
            point = self.fit(point, &mixed(2))?.point;
            point = self
                .choose(point, Key::Burst, 2, &mixed(1), &mut tried)?
                .point;
            if !has_reads {
                let every = free(&keys, |key| key != Key::Superblock);
                let stage = Stage {
                    loads: &[Load::Writes, Load::Mixed],
                    free: &every,
                    steps: 2,
                };
                point = self.choose(point, Key::Dies, 3, &stage, &mut tried)?.point;
            }
            point = self
                .choose(point, Key::ReadsFirst, 2, &mixed(2), &mut tried)?
                .point;
            point = self.also_from_elsewhere(point, &mixed(2), seed)?;
        }
        let every = free(&keys, |_| true);
        let stage = |steps| Stage {
            loads: &[Load::Reads, Load::Writes, Load::Mixed],
            free: &every,
            steps,
        };
        point = self.fit(point, &stage(3))?.point;
        if has_mixed {
            // What was chosen far from here is chosen once more.
            for key in [Key::Burst, Key::ReadsFirst] {
                tried.retain(|tried| tried.key != key);
                point = self.choose(point, key, 2, &stage(1), &mut tried)?.point;
            }
            point = self.fit(point, &stage(2))?.point;
        }
        let stage = stage(0);
        let slopes = self.slopes(&point, &stage)?;
        Ok(Solved {
            point,
            tried,
            free: every,
            slopes,
        })
    }

    /// What reads alone tell. A ceiling may be the dies' own: the fetching of commands and the link limit reads only where dies
    /// alone fit much worse.
    fn reads(&mut self, from: Vec<f64>, tried: &mut Vec<Tried>) -> Result<Vec<f64>, Stop> {
        /// The simpler drive is taken unless the other has an error below this share of its own.
        const MUCH: f64 = 0.7;
        let is_ceiling = |key: &Key| matches!(key, Key::CommandCost | Key::LinkRate);
        let keys = self.simulations.model.keys.clone();
        let all = free(&keys, |key| key.matters(Load::Reads) && key != Key::Latency);
        let dies: Vec<Key> = all.iter().copied().filter(|key| !is_ceiling(key)).collect();
        let stage = |free| Stage {
            loads: &[Load::Reads],
            free,
            steps: 3,
        };
        let mut without = from.clone();
        for (value, key) in without.iter_mut().zip(&keys) {
            if is_ceiling(key) {
                *value = 0.0;
            }
        }
        let mut tried_without = Vec::new();
        let without = self.choose(without, Key::Dies, 4, &stage(&dies), &mut tried_without)?;
        if dies.len() == all.len() {
            tried.append(&mut tried_without);
            return Ok(without.point);
        }
        let mut tried_with = Vec::new();
        let with = self.choose(from, Key::Dies, 4, &stage(&all), &mut tried_with)?;
        Ok(match with.error < MUCH * without.error {
            true => {
                tried.append(&mut tried_with);
                with.point
            }
            false => {
                tried.append(&mut tried_without);
                without.point
            }
        })
    }

    /// The value of a parameter with which the error is least: all are tried as they are, and the best few are fitted.
    fn choose(
        &mut self,
        from: Vec<f64>,
        key: Key,
        fitted: usize,
        stage: &Stage<'_>,
        tried: &mut Vec<Tried>,
    ) -> Result<Found, Stop> {
        let Some(place) = self.place(key) else {
            return self.fit(from, stage);
        };
        let points: Vec<Vec<f64>> = key
            .options()
            .iter()
            .map(|value| self.with(&from, place, *value))
            .collect();
        let residuals = self.residuals(&points, stage.loads, false)?;
        let errors = residuals.iter().map(|residuals| self.error(residuals));
        let found = errors
            .zip(points)
            .map(|(error, point)| Found { point, error });
        let mut found: Vec<Found> = found.collect();
        found.sort_by(|a, b| a.error.total_cmp(&b.error));
        if stage.steps > 0 {
            for found in found.iter_mut().take(fitted) {
                *found = self.fit(found.point.clone(), stage)?;
            }
            found.sort_by(|a, b| a.error.total_cmp(&b.error));
        }
        tried.extend(found.iter().map(|found| Tried {
            key,
            value: found.point[place],
            error: found.error,
        }));
        Ok(found.swap_remove(0))
    }

    /// The point with another value. With other dies the programs take as long as the same rate needs.
    fn with(&self, point: &[f64], place: usize, value: f64) -> Vec<f64> {
        let mut with = point.to_vec();
        with[place] = value;
        let program = self.place(Key::Program);
        if let (Key::Dies, Some(program)) = (self.simulations.model.keys[place], program) {
            let model = self.simulations.model;
            let (old, new) = (model.profile(point), model.profile(&with));
            let transfer = transfer_us(&old);
            let scaled = (point[program] + transfer) * planes(&new) / planes(&old) - transfer;
            let (least, most) = Key::Program.range();
            with[program] = scaled.clamp(least, most);
        }
        with
    }

    /// Fits once more from a place nearby, and takes the better end: errors over waits have more than one valley.
    fn also_from_elsewhere(
        &mut self,
        point: Vec<f64>,
        stage: &Stage<'_>,
        seed: u64,
    ) -> Result<Vec<f64>, Stop> {
        /// How far away it is, as a logarithm.
        const FAR: f64 = 0.7;
        let mut random = Random::new(seed ^ 0x9e37_79b9_7f4a_7c15);
        let steps = stage
            .free
            .iter()
            .filter(|key| matches!(key, Key::Phase | Key::Resume));
        let steps: Vec<(Key, f64)> = steps
            .map(|key| (*key, FAR * (2.0 * random.unit() - 1.0)))
            .collect();
        let elsewhere = self.moved(&point, &steps);
        let here = self.residuals(std::slice::from_ref(&point), stage.loads, false)?;
        let here = self.error(&here[0]);
        let other = self.fit(elsewhere, stage)?;
        Ok(match other.error < here {
            true => other.point,
            false => point,
        })
    }
}
