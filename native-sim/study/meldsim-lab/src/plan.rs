//! The frame of every experiment: what it is, what it is run with, and its cells, which are simulated on all cores.
//!
//! ```text
//!   Run { profile, scale, ... } --plan--> Cells (independent, in any order) --report--> Outcome
//! ```
//!
//! An experiment registers its cells and returns a function that makes its outcome of what they measured. So the cells of
//! several experiments are one list, and no core waits for the last cell of an experiment.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::burst::{ExperimentError, Result};
use super::claim::{Change, ChangeError};
use super::outcome::Outcome;
use super::setup::Setup;
use meldsim::profile::{Kind, Profile};
use meldsim_host::{LoadError, try_map};
use meldsim_measured::Scale;
use meldsim_timeline::Timelines;

/// An experiment, repeated by its name. Made of [`Experiment::DEFAULT`].
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// The paper of its device and of what is claimed of it.
    pub paper: &'static str,
    /// The built-in profile of the published device.
    pub profile: &'static str,
    /// The built-in profile of the device that it is held against.
    pub beside: Option<&'static str>,
    /// What else it can be run with.
    pub options: Options,
    /// Bytes that its requests are multiples of, where they are not of whole pages. The logical blocks of a device must not be
    /// larger than either. `None` where the experiment makes them no larger itself.
    pub request_unit: Option<u64>,
    /// Whether it takes minutes, so that a validation of all leaves it out.
    pub takes_minutes: bool,
    /// Registers what is simulated.
    pub plan: for<'a> fn(&'a Run, &mut Cells<'a>) -> Planned<'a>,
    /// Runs what shows on a timeline what the experiment is about, where a single device shows it.
    pub timeline: Option<RunTimelines>,
}

impl Experiment {
    /// What most are: of flash alone, in pages of 4 KiB, without options and without a timeline.
    pub const DEFAULT: Experiment = Experiment {
        name: "",
        about: "",
        paper: "",
        profile: "",
        beside: None,
        options: Options::None,
        request_unit: Some(4 << 10),
        takes_minutes: false,
        plan: |_, _| Ok(Box::new(|| None)),
        timeline: None,
    };

    /// Whether it has a timeline.
    pub fn has_timeline(&self) -> bool {
        self.timeline.is_some()
    }

    /// Refuses a device that cannot be asked for so little.
    fn check_logical_block(&self, profile: &Profile) -> Result<()> {
        let page_bytes = match profile.kind {
            Kind::Nand => profile.mapping_unit().0,
            Kind::Xpoint => u64::MAX,
        };
        let lba_bytes = profile.controller.lba_size.0;
        match self.request_unit.map(|bytes| bytes.min(page_bytes)) {
            Some(unit_bytes) if lba_bytes > unit_bytes => Err(ExperimentError::LogicalBlock {
                experiment: self.name,
                lba_bytes,
                unit_bytes,
            }),
            _ => Ok(()),
        }
    }
}

/// Runs devices that show on timelines what an experiment is about.
pub(super) type RunTimelines = fn(&Run, &Timelines) -> Result<()>;

/// What an experiment can be run with beside a profile.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Options {
    /// Nothing.
    None,
    /// A [`Scale`].
    Scale,
    /// A [`Scale`], and a folder of measured rows.
    Measured,
    /// Measured runs of the demo.
    Runs,
    /// Devices; these are the published ones.
    Setups(fn() -> Vec<Setup>),
    /// Devices, and sizes of requests; these are the published ones.
    SetupsAndSizes(fn() -> Vec<Setup>, fn() -> Vec<u64>),
}

/// An experiment with what it is run with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Run {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// The device.
    pub profile: Profile,
    /// How much is simulated.
    pub scale: Scale,
    /// The devices of an experiment that compares several, each a variant of the profile.
    pub setups: Vec<Setup>,
    /// The sizes of requests of an experiment that varies them.
    pub request_sizes: Vec<u64>,
    /// A folder of measured rows, in place of those that come with the experiment.
    pub measured: Option<PathBuf>,
    /// Results of measured runs of the demo, to be shown beside what is simulated.
    pub measured_runs: Vec<PathBuf>,
    /// What is changed of a built-in device, in `profile` already.
    change: Option<Change>,
}

impl Run {
    /// The experiment in full, with what was published beside the profile.
    ///
    /// # Errors
    ///
    /// The profile is of another kind than the experiment needs, or has logical blocks larger than its requests.
    pub fn new(experiment: &'static Experiment, profile: Profile) -> Result<Run> {
        // An experiment on flash relies on how flash is organised; those on 3D XPoint see any device from outside.
        if Profile::builtin(experiment.profile)?.kind == Kind::Nand {
            profile.require(Kind::Nand)?;
        }
        experiment.check_logical_block(&profile)?;
        let (setups, request_sizes) = match experiment.options {
            Options::None | Options::Scale | Options::Measured | Options::Runs => {
                (Vec::new(), Vec::new())
            }
            Options::Setups(setups) => (setups(), Vec::new()),
            Options::SetupsAndSizes(setups, sizes) => (setups(), sizes()),
        };
        Ok(Run {
            experiment,
            profile,
            scale: Scale::Full,
            setups,
            request_sizes,
            measured: None,
            measured_runs: Vec::new(),
            change: None,
        })
    }

    /// The same on built-in devices one of which is changed.
    ///
    /// # Errors
    ///
    /// The change is none, or makes an impossible device.
    pub fn changed(mut self, change: Change) -> Result<Run, ChangeError> {
        // Here it is refused, and not when it is run.
        change.made(&Profile::builtin(change.device())?)?;
        self.profile = change.made(&self.profile)?;
        self.change = Some(change);
        Ok(self)
    }

    /// Whether nothing is changed of the devices.
    pub fn is_unchanged(&self) -> bool {
        self.change.is_none()
    }

    /// A variant of the profile that the experiment made, with the run's change, which goes above what the experiment sets.
    pub fn vary(&self, profile: Profile) -> Result<Profile> {
        match &self.change {
            Some(change) => Ok(change.made(&profile)?),
            None => Ok(profile),
        }
    }

    /// The device that the experiment holds its own against.
    pub fn beside(&self) -> Result<Profile> {
        let name = self.experiment.beside.unwrap_or(self.experiment.profile);
        self.vary(Profile::builtin(name)?)
    }

    /// Simulates it on `jobs` threads. `progress` gets the share of the work that is done, 0 to 1.
    ///
    /// # Errors
    ///
    /// A profile cannot be simulated, or a device refuses a request.
    pub fn outcome(&self, jobs: NonZeroUsize, progress: &(dyn Fn(f64) + Sync)) -> Result<Outcome> {
        let progress = |share| {
            progress(share);
            ControlFlow::Continue(())
        };
        let outcomes = outcomes(std::slice::from_ref(self), jobs, &progress)?;
        let outcome = outcomes.into_iter().flatten().next();
        Ok(outcome.ok_or(LoadError::Incomplete(None))?)
    }

    /// Whether it has a timeline.
    pub fn has_timeline(&self) -> bool {
        self.experiment.has_timeline()
    }

    /// Runs what the experiment is about once more, each device with its timeline; nothing if it has none.
    ///
    /// # Errors
    ///
    /// As for the outcome, and those of the output.
    pub fn timelines(&self, timelines: &Timelines) -> Result<()> {
        self.experiment
            .timeline
            .map_or(Ok(()), |run| run(self, timelines))
    }

    /// An outcome to be filled; `about` is what was done, in a sentence or two.
    pub fn report(&self, about: impl Into<String>) -> Outcome {
        let note = self.scale.choose(
            " A quick look: less is simulated than the claims are meant for.",
            "",
        );
        Outcome::new(
            self.experiment.name,
            &self.profile.name,
            about.into() + note,
        )
    }
}

/// Simulates several experiments on `jobs` threads, and returns their outcomes in the order of `runs`; none of those that were
/// not done when `progress` broke off.
pub(super) fn outcomes(
    runs: &[Run],
    jobs: NonZeroUsize,
    progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
) -> Result<Vec<Option<Outcome>>> {
    let mut cells = Cells::default();
    let planned: Result<Vec<Plan>, _> = runs
        .iter()
        .map(|run| (run.experiment.plan)(run, &mut cells))
        .collect();
    let planned = planned?;
    let is_whole = cells.simulate(jobs, progress)?.is_continue();
    let outcomes = planned.into_iter().zip(runs).map(|(report, run)| {
        let Some(mut outcome) = report() else {
            return match is_whole {
                true => Err(LoadError::Incomplete(None).into()),
                false => Ok(None),
            };
        };
        for claim in &mut outcome.claims {
            claim.paper = run.experiment.paper;
        }
        Ok(Some(outcome))
    });
    outcomes.collect()
}

/// Makes the outcome, once the cells are simulated.
pub(super) type Plan<'a> = Box<dyn FnOnce() -> Option<Outcome> + 'a>;
/// The same, or why there is none.
pub type Planned<'a> = Result<Plan<'a>>;

type Simulate<'a> = Box<dyn Fn() -> Result<()> + Send + Sync + 'a>;

/// Lists of cells to be simulated: each on a device of its own, so that their order does not matter.
#[derive(Default)]
pub struct Cells<'a>(Vec<Vec<Simulate<'a>>>);

/// What cells have measured, in their order.
pub struct Measured<T>(Vec<Arc<OnceLock<T>>>);

impl<'a> Cells<'a> {
    /// Adds a cell for each item.
    pub fn each<I, T>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        measure: impl Fn(&I) -> Result<T> + Send + Sync + 'a,
    ) -> Measured<T>
    where
        I: Send + Sync + 'a,
        T: Send + Sync + 'a,
    {
        let measure = Arc::new(measure);
        let (slots, cells) = items
            .into_iter()
            .map(|item| {
                let slot = Arc::new(OnceLock::new());
                let (measure, filled) = (Arc::clone(&measure), Arc::clone(&slot));
                let simulate: Simulate<'a> = Box::new(move || {
                    let value = measure(&item)?;
                    filled.get_or_init(|| value);
                    Ok(())
                });
                (slot, simulate)
            })
            .unzip();
        self.0.push(cells);
        Measured(slots)
    }

    /// Adds one cell.
    pub fn one<T: Send + Sync + 'a>(
        &mut self,
        measure: impl Fn() -> Result<T> + Send + Sync + 'a,
    ) -> Measured<T> {
        self.each([()], move |()| measure())
    }

    fn simulate(
        mut self,
        jobs: NonZeroUsize,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<ControlFlow<()>> {
        // The cells of short lists are the long ones. They go first, so that none is left for one core at the end.
        self.0.sort_by_key(Vec::len);
        let cells: Vec<Simulate<'_>> = self.0.into_iter().flatten().collect();
        let done = AtomicUsize::new(0);
        let broken_off = AtomicBool::new(false);
        let simulate = |cell: &Simulate<'_>| {
            if broken_off.load(Ordering::Relaxed) {
                return Ok::<(), ExperimentError>(());
            }
            cell()?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            let flow = progress(done as f64 / cells.len() as f64);
            if done < cells.len() {
                broken_off.fetch_or(flow.is_break(), Ordering::Relaxed);
            }
            Ok(())
        };
        // The cells are dropped at the end, and leave what they have measured to its one owner.
        let _: Vec<()> = try_map(jobs, &cells, simulate)?;
        Ok(match broken_off.into_inner() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }
}

/// Nothing is here before the cells are simulated.
impl<T> Measured<T> {
    /// What was measured.
    pub fn take(self) -> Option<Vec<T>> {
        let slots = self.0.into_iter();
        slots
            .map(|slot| Arc::into_inner(slot)?.into_inner())
            .collect()
    }

    /// What was measured in one cell.
    pub fn single(self) -> Option<T> {
        self.take()?.pop()
    }

    /// The plan of an experiment whose outcome is made of these alone.
    pub fn then<'a>(self, report: impl FnOnce(Vec<T>) -> Option<Outcome> + 'a) -> Planned<'a>
    where
        T: 'a,
    {
        Ok(Box::new(move || report(self.take()?)))
    }
}
