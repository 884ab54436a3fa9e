//! What is simulated for which cells: rows become tasks, each a device of its own, and what is left out has a reason.

use std::ops::ControlFlow;

use super::csv::{Row, Table};
use super::drive::{Drive, Smaller};
use super::error::MeasureError;
use super::judge::{Class, Question};
use super::order::of_key;
use super::others::with_others;
use super::pattern::Pattern;
use super::sources::{PAGE, SEED, run};
use meldsim::device::{Aging, Device, PastWrite, Precondition};
use meldsim::nvme::{Directive, NamespaceId};
use meldsim::profile::Profile;
use meldsim_host::{Measured, Source};

/// How much is simulated, where it takes long enough to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// For a first impression, and for tests: less than the claims are meant for.
    Quick,
    /// What the claims are about.
    #[default]
    Full,
}

impl Scale {
    /// One value for each scale.
    pub fn choose<T>(self, quick: T, full: T) -> T {
        match self {
            Scale::Quick => quick,
            Scale::Full => full,
        }
    }
}

/// From which drives' rows a profile has what rows of reads beside writes tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mechanism {
    /// From the drive's own.
    #[default]
    Own,
    /// From all others': the drive is left out. Only rows of reads beside writes are answered.
    Others,
}

/// What answers the questions of a task, in their order; `None` where the run has no such number.
pub type Answer = Box<dyn Fn(&[Question]) -> Result<Vec<Option<f64>>, MeasureError> + Send + Sync>;

/// A simulation, and the cells that it answers.
pub struct Task {
    /// The cells.
    pub questions: Vec<Question>,
    /// Pages written, about: long tasks go first.
    pub cost: u64,
    /// Simulates.
    pub answer: Answer,
}

/// A row or a column that is not simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Its file.
    pub file: String,
    /// The line of a row; of a column nothing.
    pub row: Option<u64>,
    /// The drive, as the row names it.
    pub drive: String,
    /// The column, or several.
    pub column: String,
    /// Why.
    pub reason: &'static str,
}

impl LeftOut {
    /// A whole file.
    pub(super) fn all(file: &str, reason: &'static str) -> LeftOut {
        LeftOut {
            file: file.to_owned(),
            row: None,
            drive: "all".to_owned(),
            column: "all".to_owned(),
            reason,
        }
    }
}

/// Tasks of all files, and what has none.
pub(super) struct Tasks<'a> {
    /// Stands for the drive of its name in place of the built-in profile.
    pub(super) profile: &'a Profile,
    pub(super) scale: Scale,
    /// The one drive of all rows, whatever they call it; otherwise each has the drive of its name.
    pub(super) only: Option<Drive>,
    /// The rows are those that the profiles were fitted to.
    pub(super) are_own: bool,
    pub(super) mechanism: Mechanism,
    pub(super) tasks: Vec<Task>,
    pub(super) left_out: Vec<LeftOut>,
}

impl Tasks<'_> {
    /// The drive of a row; without one the row is left out.
    pub(super) fn drive(&mut self, row: &Row) -> Result<Option<Drive>, String> {
        let drive = match self.only {
            Some(drive) => Some(drive),
            None => Drive::find(row.text("drive")?),
        };
        if drive.is_none() {
            self.leave_out(row, "no profile stands for the drive")?;
        }
        Ok(drive)
    }

    pub(super) fn leave_out(&mut self, row: &Row, reason: &'static str) -> Result<(), String> {
        self.left_out.push(LeftOut {
            row: Some(row.line),
            drive: row.text("drive")?.to_owned(),
            ..LeftOut::all(&row.file, reason)
        });
        Ok(())
    }

    /// Columns of a file that are not simulated.
    pub(super) fn leave_out_columns(
        &mut self,
        table: &Table,
        columns: &[&str],
        reason: &'static str,
    ) {
        self.left_out.push(LeftOut {
            column: columns.join(" "),
            ..LeftOut::all(&table.file, reason)
        });
    }

    /// The drive at its usual part: enough superblocks of enough rows for write amplification.
    pub(super) fn smaller(&self, drive: Drive) -> Result<Smaller, MeasureError> {
        self.smaller_of(drive, (1_680_000, 16))
    }

    /// The drive with so many pages of flash in superblocks of so many rows, an eighth and a fourth for a quick look.
    pub(super) fn smaller_of(
        &self,
        drive: Drive,
        (pages, rows): (u64, u64),
    ) -> Result<Smaller, MeasureError> {
        let part = self
            .scale
            .choose((pages / 8, (rows / 4).max(2)), (pages, rows));
        let own = drive.profile(self.profile)?;
        let profile = match self.mechanism {
            Mechanism::Own => own,
            Mechanism::Others => with_others(own)?,
        };
        Ok(drive.smaller(profile, part))
    }

    pub(super) fn add(&mut self, questions: Vec<Question>, cost: u64, answer: Answer) {
        if !questions.is_empty() {
            self.tasks.push(Task {
                questions,
                cost,
                answer,
            });
        }
    }

    /// What the rows of a table ask, and what is simulated for each; `ask` may leave a row out.
    pub(super) fn ask<S>(
        &mut self,
        table: &Table,
        ask: impl Fn(&mut Self, &Row, Drive) -> Result<Option<(S, Vec<Question>)>, String>,
    ) -> Result<Asked<S>, String> {
        let mut asked = Vec::new();
        for row in &table.rows {
            if let Some(drive) = self.drive(row)? {
                let of_row = ask(self, row, drive)?;
                asked.extend(of_row.map(|(spec, questions)| ((drive, spec), questions)));
            }
        }
        Ok(asked)
    }

    /// Rows with an equal specification are simulated once: its cost, and how.
    pub(super) fn each<S: PartialEq>(
        &mut self,
        asked: Asked<S>,
        task: impl Fn(&Self, Drive, S) -> Result<(u64, Answer), MeasureError>,
    ) -> Result<(), MeasureError> {
        let mut groups = Vec::new();
        for (spec, questions) in asked {
            of_key::<_, Vec<Question>>(&mut groups, spec).extend(questions);
        }
        for ((drive, spec), questions) in groups {
            let (cost, answer) = task(self, drive, spec)?;
            self.add(questions, cost, answer);
        }
        Ok(())
    }

    /// The same by runs of sources.
    pub(super) fn simulate<S: PartialEq>(
        &mut self,
        asked: Asked<S>,
        simulation: impl Fn(&Self, Drive, S) -> Result<Simulation, MeasureError>,
    ) -> Result<(), MeasureError> {
        self.each(asked, |tasks, drive, spec| {
            let simulation = simulation(tasks, drive, spec)?;
            let cost = simulation.cost;
            let answer = move |questions: &[Question]| simulation.answer(questions);
            Ok((cost, Box::new(answer)))
        })
    }
}

/// Rows by their drive and what is simulated for them.
pub(super) type Asked<S> = Vec<((Drive, S), Vec<Question>)>;

/// The value of a column.
type Value = dyn Fn(&Measured, &str) -> Option<f64> + Send + Sync;

/// One run of a device.
pub(super) struct Simulation {
    pub(super) smaller: Smaller,
    /// Of the namespace.
    pub(super) bytes: u64,
    pub(super) past: Past,
    pub(super) sources: Box<dyn Fn(NamespaceId) -> Vec<Source<'static>> + Send + Sync>,
    /// Requests completed before anything is counted, and those that are.
    pub(super) warm_up: u64,
    pub(super) counted: u64,
    pub(super) cost: u64,
    pub(super) value: Box<Value>,
}

impl Simulation {
    fn answer(&self, questions: &[Question]) -> Result<Vec<Option<f64>>, MeasureError> {
        let (mut device, nsid) = device(&self.smaller, self.bytes, self.past)?;
        let measured = run(
            &mut device,
            (self.sources)(nsid),
            (self.warm_up, self.counted),
        )?;
        let columns = questions.iter().map(|question| question.column.as_str());
        Ok(columns
            .map(|column| (self.value)(&measured, column))
            .collect())
    }
}

/// The cells of a row.
pub(super) struct Cells<'a> {
    pub(super) row: &'a Row,
    pub(super) drive: Drive,
    pub(super) curve: String,
    pub(super) at: String,
    /// The same as a number.
    pub(super) x: f64,
    pub(super) is_fitted: bool,
}

impl Cells<'_> {
    /// Questions of those columns that were measured; each has a class, and what the measurement resolves.
    pub(super) fn questions<'c>(
        &self,
        columns: impl IntoIterator<Item = (&'c str, Class, f64)>,
    ) -> Result<Vec<Question>, String> {
        let mut questions = Vec::new();
        for (column, class, resolution) in columns {
            self.ask(&mut questions, column, class, resolution)?;
        }
        Ok(questions)
    }

    /// A question, if the column was measured.
    pub(super) fn ask(
        &self,
        questions: &mut Vec<Question>,
        column: &str,
        class: Class,
        resolution: f64,
    ) -> Result<(), String> {
        if let Some(measured) = self.row.measured(column)? {
            questions.push(self.question(column, class, measured, resolution));
        }
        Ok(())
    }

    pub(super) fn question(
        &self,
        column: &str,
        class: Class,
        measured: f64,
        resolution: f64,
    ) -> Question {
        Question {
            class,
            file: self.row.file.clone(),
            row: self.row.line,
            drive: self.drive.name,
            column: column.to_owned(),
            curve: self.curve.clone(),
            at: self.at.clone(),
            x: self.x,
            measured,
            resolution,
            is_fitted: self.is_fitted,
        }
    }
}

/// What a drive holds before a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Past {
    /// Nothing.
    Empty,
    /// Everything, written once in order.
    Filled,
    /// Everything, overwritten for long in this pattern.
    Overwritten(Pattern),
}

/// A device with a namespace of so many bytes.
pub(super) fn device(
    smaller: &Smaller,
    bytes: u64,
    past: Past,
) -> Result<(Device, NamespaceId), MeasureError> {
    let mut device = Device::new(&smaller.profile)?;
    let nsid = device.create_namespace(bytes)?;
    match past {
        Past::Empty => {}
        Past::Filled => {
            let lbas = bytes / smaller.profile.controller.lba_size.0;
            device.preload(nsid, 0, lbas, Directive::NONE)?;
        }
        Past::Overwritten(Pattern::Uniform) => device.precondition(&Precondition::default())?,
        Past::Overwritten(pattern) => {
            let mut draws = pattern.draws_before(bytes / PAGE, SEED);
            let mut writes = std::iter::repeat_with(|| PastWrite {
                nsid,
                slba: draws.next(),
                nlb: 1,
            });
            let precondition = Precondition::default();
            let goes_on = &mut |_: &Aging| ControlFlow::Continue(());
            device.precondition_by(&precondition, &mut writes, goes_on)?;
        }
    }
    Ok((device, nsid))
}
