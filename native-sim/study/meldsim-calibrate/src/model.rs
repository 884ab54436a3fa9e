//! The drive as it is tried: a profile for each point of the search, and what it gives for each measured cell.

use meldsim::profile::{ByteSize, Profile, Setting};
use serde::{Deserialize, Serialize};

use super::parameter::{Key, Load, MIB, planes};
use super::request::Request;
use meldsim_measured::{Bar, Drive, LeftOut, Question, Table, Task, tasks_of};
use meldsim_measured::{MeasureError, Scale};

const BASE: &str = include_str!("base.toml");
/// The name by which the drive and the profile that is tried know each other.
const TRIED: &str = "drive";
/// A superblock, unless zones tell it.
const SUPERBLOCK_MIB: f64 = 1_024.0;
/// Write buffer for each die: two rows of wordlines and more.
const BUFFER_A_DIE: f64 = 192.0 * 1_024.0;

/// A point of the search and one of the simulations that answer cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// The values of the parameters, in their order.
    pub point: Vec<f64>,
    /// The number of the simulation.
    pub task: usize,
}

/// A measured cell, and how much it weighs.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) question: Question,
    pub(super) load: Load,
    /// The number of its simulation, and its place there.
    pub(super) task: usize,
    pub(super) place: usize,
    /// What its error is held against: an error of so much counts 1.
    pub(super) bar: f64,
    /// 0: it is judged, and nothing is fitted to it.
    pub(super) weight: f64,
}

impl Asked {
    /// Its value among those of its simulation; not a number where there is none.
    pub(super) fn of(&self, values: &[f64]) -> f64 {
        values.get(self.place).copied().unwrap_or(f64::NAN)
    }

    /// Its kind, and what of it is measured.
    pub(super) fn class(&self) -> (&'static str, &'static str) {
        (self.question.class.kind, self.question.class.what)
    }
}

/// Which of the keys the user gives that otherwise follow from the number of dies.
struct Given {
    superblock: bool,
    flash: bool,
    buffer: bool,
}

/// What all cells of a simulation have in common.
struct Simulation {
    load: Load,
    /// Something is fitted to one of them.
    is_fitted: bool,
}

/// The drive.
pub(super) struct Model {
    pub(super) keys: Vec<Key>,
    pub(super) cells: Vec<Asked>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) capacity_bytes: f64,
    simulations: Vec<Simulation>,
    base: Profile,
    given: Given,
    drive: Drive,
    scale: Scale,
    tables: Vec<Table>,
}

impl Model {
    /// `keys` are looked for, the others have the values of `base`.
    pub(super) fn new(
        request: &Request,
        tables: Vec<Table>,
        base: Profile,
        mut keys: Vec<Key>,
    ) -> Result<Model, MeasureError> {
        keys.sort();
        let drive = Drive::tried(TRIED, request.capacity(), request.overhead);
        let scale = match request.full {
            true => Scale::Full,
            false => Scale::Quick,
        };
        let mut model = Model {
            keys,
            cells: Vec::new(),
            left_out: Vec::new(),
            capacity_bytes: request.capacity() as f64,
            simulations: Vec::new(),
            base,
            given: Given {
                superblock: request.gives(Key::Superblock),
                flash: request.gives(Key::Spare),
                buffer: request.gives_key("controller.write_buffer"),
            },
            drive,
            scale,
            tables,
        };
        let (tasks, left_out) = model.tasks(&model.base)?;
        model.left_out = left_out;
        for (number, task) in tasks.into_iter().enumerate() {
            // A task has questions, and of one kind.
            let kind = task.questions.first().map(|first| first.class.kind);
            let load = kind.map_or(Load::Mixed, Load::of);
            for (place, question) in task.questions.into_iter().enumerate() {
                model.cells.push(Asked {
                    load,
                    bar: bar(&question),
                    weight: 0.0,
                    task: number,
                    place,
                    question,
                });
            }
            model.simulations.push(Simulation {
                load,
                is_fitted: false,
            });
        }
        model.weigh();
        Ok(model)
    }

    /// Each kind and what of it is measured has one vote, which its cells share; what is only reported has a fifth.
    fn weigh(&mut self) {
        let fitted = self
            .cells
            .iter()
            .filter(|cell| can_be_fitted(&cell.question));
        let fitted: Vec<_> = fitted.map(Asked::class).collect();
        for cell in &mut self.cells {
            if can_be_fitted(&cell.question) {
                let cells = fitted.iter().filter(|of| **of == cell.class()).count();
                let vote = match cell.question.class.bar {
                    Bar::Reported => 0.2,
                    _ => 1.0,
                };
                cell.weight = vote / cells as f64;
                self.simulations[cell.task].is_fitted = true;
            }
        }
    }

    fn tasks(&self, profile: &Profile) -> Result<(Vec<Task>, Vec<LeftOut>), MeasureError> {
        tasks_of(self.drive, profile, self.scale, &self.tables)
    }

    /// The simulations, all or those that something is fitted to.
    pub(super) fn numbers(&self, all: bool) -> impl Iterator<Item = usize> {
        let simulations = self.simulations.iter().enumerate();
        simulations.filter_map(move |(number, of)| (all || of.is_fitted).then_some(number))
    }

    pub(super) fn load(&self, task: usize) -> Load {
        self.simulations.get(task).map_or(Load::Mixed, |of| of.load)
    }

    /// Makes a profile that of the drive.
    pub(super) fn name(&self, profile: &mut Profile) {
        TRIED.clone_into(&mut profile.name);
    }

    /// The profile at a point.
    pub(super) fn profile(&self, point: &[f64]) -> Profile {
        let mut profile = self.base.clone();
        let capacity = self.capacity_bytes;
        let spare = Key::Spare.of(&profile, capacity);
        for (key, value) in self.keys.iter().zip(point) {
            key.set(&mut profile, capacity, *value);
            // The superblock and the flash stay what they are when dies are added, unless their keys are given.
            if *key == Key::Dies && !self.given.superblock {
                Key::Superblock.set(&mut profile, capacity, SUPERBLOCK_MIB);
            }
        }
        if !self.keys.contains(&Key::Spare) && !self.given.flash {
            Key::Spare.set(&mut profile, capacity, spare);
        }
        if !self.given.buffer {
            profile.controller.write_buffer = write_buffer(&profile);
        }
        profile
    }

    /// What a simulation gives for its cells; not a number where it gives none.
    pub(super) fn simulate(&self, unit: &Unit) -> Result<Vec<f64>, MeasureError> {
        self.answer(&self.profile(&unit.point), unit.task)
    }

    /// The same with another profile in the drive's place.
    pub(super) fn answer(&self, profile: &Profile, task: usize) -> Result<Vec<f64>, MeasureError> {
        let (tasks, _) = self.tasks(profile)?;
        let Some(task) = tasks.get(task) else {
            return Err(MeasureError::Rows(format!(
                "there is no simulation {task}; take one below {}",
                tasks.len()
            )));
        };
        let values = (task.answer)(&task.questions)?;
        Ok(values
            .into_iter()
            .map(|value| value.unwrap_or(f64::NAN))
            .collect())
    }
}

/// A write buffer for the dies.
pub(super) fn write_buffer(profile: &Profile) -> ByteSize {
    let bytes = (planes(profile) * BUFFER_A_DIE).max(2.0 * MIB);
    ByteSize((bytes / MIB).ceil() as u64 * MIB as u64)
}

/// The profile of which nothing is known but what the user gives.
pub(super) fn base(request: &Request) -> Result<Profile, String> {
    let settings: Result<Vec<Setting>, String> = request
        .given
        .iter()
        .map(|text| text.parse().map_err(|error| format!("given: {error}")))
        .collect();
    let given = |error| format!("given: {error}");
    let mut profile = Profile::from_toml_with(BASE, &settings?).map_err(given)?;
    profile.name = TRIED.to_owned();
    let capacity = request.capacity() as f64;
    if !request.gives(Key::Superblock) {
        Key::Superblock.set(&mut profile, capacity, SUPERBLOCK_MIB);
    }
    if !request.gives(Key::Spare) {
        const SPARE: f64 = 0.12;
        Key::Spare.set(&mut profile, capacity, SPARE);
    }
    profile.validate().map_err(given)?;
    Ok(profile)
}

impl Request {
    /// Whether the user gives the key.
    pub(super) fn gives(&self, key: Key) -> bool {
        let name = key.name();
        self.gives_key(name.split('[').next().unwrap_or_default())
    }
}

/// How much is asked of a cell; of those that are only reported, this.
const REPORTED: f64 = 0.5;

fn bar(question: &Question) -> f64 {
    match question.class.bar {
        Bar::Within(bar) | Bar::MedianAndMost(_, bar) => bar,
        Bar::Factor(factor) => libm::log(factor),
        Bar::Absolute(bar) => bar / question.measured.abs().max(bar),
        Bar::Reported => REPORTED,
    }
}

/// Whether the search sees it: it is simulated soon, is no tail of which little is simulated, and not what any model meets.
fn can_be_fitted(question: &Question) -> bool {
    let class = question.class;
    let is_slow = matches!(class.kind, "init_series")
        || class.kind == "steady_random_writes" && class.what != "uniform";
    let is_tail = ["p99_9_us", "p99_99_us", "min_us", "p1_us", "mean_us"]
        .iter()
        .any(|tail| question.column.ends_with(tail))
        && !matches!(class.what, "mean" | "read mean");
    let is_open = class.is_given && question.column.starts_with("achieved");
    let is_step = question.column == "knee_step" || question.column.starts_with("onset");
    !(is_slow || is_tail || is_open || is_step)
}

/// The error of a cell in bars, with its sign, beyond what the measurement resolves.
pub(super) fn residual(cell: &Asked, simulated: f64) -> f64 {
    /// Of a simulation without such a number.
    const NONE: f64 = 10.0;
    let question = &cell.question;
    let (measured, resolution) = (question.measured, question.resolution);
    let off = simulated - measured;
    if !simulated.is_finite() || simulated <= 0.0 || measured <= 0.0 {
        return match off == 0.0 {
            true => 0.0,
            false => NONE,
        };
    }
    let nearest = measured + off.clamp(-resolution, resolution);
    if nearest <= 0.0 {
        return 0.0;
    }
    (libm::log(simulated / nearest) / cell.bar).clamp(-NONE, NONE)
}
