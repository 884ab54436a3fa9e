//! `real-drives`: drives that were measured, cell by cell, and the same loads simulated.
//!
//! ```text
//!   CSV --rows--> kind: Task { questions, run } --simulated--> Cell { measured, simulated, error }
//!                  |                                              |
//!                  '--LeftOut, with the reason                    '--by drive and kind, bar--> sheets, claims
//! ```
//!
//! A kind is a file of rows, and here a file that says what is simulated for a row and which bar each column has.

pub(crate) mod csv;
mod data;
mod depth_writes;
mod drive;
mod figures;
mod judge;
mod mixed;
mod pattern;
mod permutation;
mod progress;
mod rates;
mod reads;
mod sequential;
mod series;
mod sheets;
mod sources;
mod steady;
mod task;
#[cfg(test)]
mod tests;
mod zones;

use super::burst::ExperimentError;
use super::plan::{self, Experiment, Options, Planned, Run, Scale};
use meldsim::profile::Profile;
use task::Tasks;

pub(crate) use csv::{Row, Table};
pub(crate) use data::{files, rows};
pub(crate) use drive::{Drive, reached_by};
pub(crate) use figures::charts;
pub(crate) use judge::{Bar, Cell, Question};
pub(crate) use task::{LeftOut, Task};

pub(super) const REAL_DRIVES: Experiment = Experiment {
    name: "real-drives",
    about: "Nine drives as they were measured, cell by cell, and simulated",
    paper: "Measurements of NVMe drives (SSD-iq, NVMeBenchmarks, ConfZNS++, WARP, ICPE'24)",
    profile: "7450-pro",
    beside: None,
    request_unit: None,
    options: Options::Measured,
    plan,
    timeline: None,
};

fn plan<'a>(run: &'a Run, cells: &mut plan::Cells<'a>) -> Planned<'a> {
    let are_own = run.measured.is_none();
    let tables = data::tables(run.measured.as_deref())?;
    let mut tasks = tasks(run, &tables, are_own)?;
    // Long ones first, so that none is left for one core at the end.
    tasks.tasks.sort_by_key(|task| std::cmp::Reverse(task.cost));
    let left_out = tasks.left_out;
    let answers = cells.each(tasks.tasks, |task: &Task| {
        let values = (task.answer)(&task.questions)?;
        let cells = task.questions.iter().cloned().zip(values);
        // What a run has no number for is wrong without bound.
        let cell = |(question, value): (_, Option<f64>)| {
            Cell::new(question, value.unwrap_or(f64::INFINITY))
        };
        Ok(cells.map(cell).collect::<Vec<Cell>>())
    });
    answers.then(move |cells| {
        let mut cells: Vec<Cell> = cells.into_iter().flatten().collect();
        let order = |cell: &Cell| {
            let file = tables
                .iter()
                .position(|table| table.file == cell.question.file);
            (file, cell.question.row)
        };
        cells.sort_by_key(order);
        Some(outcome(run, &cells, &left_out, are_own))
    })
}

fn tasks<'a>(run: &'a Run, tables: &[Table], are_own: bool) -> Result<Tasks<'a>, ExperimentError> {
    let mut tasks = Tasks {
        profile: &run.profile,
        scale: run.scale,
        only: None,
        are_own,
        tasks: Vec::new(),
        left_out: Vec::new(),
    };
    plan_kinds(tables, &mut tasks)?;
    for (file, reason) in data::NOT_SIMULATED {
        tasks.left_out.push(LeftOut {
            file: file.to_owned(),
            row: None,
            drive: "all".to_owned(),
            column: "all".to_owned(),
            reason,
        });
    }
    Ok(tasks)
}

/// The simulations that answer the rows of one drive, for which a profile is tried, and what is not simulated. Their number and
/// order depend on the rows alone.
pub(crate) fn tasks_of(
    drive: Drive,
    profile: &Profile,
    scale: Scale,
    tables: &[Table],
) -> Result<(Vec<Task>, Vec<LeftOut>), ExperimentError> {
    let mut tasks = Tasks {
        profile,
        scale,
        only: Some(drive),
        are_own: false,
        tasks: Vec::new(),
        left_out: Vec::new(),
    };
    plan_kinds(tables, &mut tasks)?;
    Ok((tasks.tasks, tasks.left_out))
}

fn plan_kinds(tables: &[Table], tasks: &mut Tasks<'_>) -> Result<(), ExperimentError> {
    type Kind = fn(&Table, &mut Tasks<'_>) -> Result<(), ExperimentError>;
    let kinds: [(&str, Kind); 7] = [
        ("read_latency_by_depth.csv", reads::plan),
        ("write_latency_by_depth.csv", depth_writes::plan),
        ("latency_by_offered_rate.csv", rates::plan),
        ("init_series.csv", series::plan),
        ("zone_overwrite.csv", zones::plan),
        ("waf_permutation_profile.csv", permutation::plan),
        ("mixed_read_write.csv", mixed::plan),
    ];
    for (file, plan) in kinds {
        if let Some(table) = data::of(tables, file) {
            plan(table, tasks)?;
        }
    }
    let [steady, fill] =
        ["steady_random_writes.csv", "waf_by_fill.csv"].map(|file| data::of(tables, file));
    steady::plan(steady, fill, tasks)?;
    match data::of(tables, sequential::FILE) {
        Some(table) => sequential::plan(table, tasks),
        None => Ok(()),
    }
}

fn outcome(run: &Run, cells: &[Cell], left_out: &[LeftOut], are_own: bool) -> super::Outcome {
    let about = format!(
        "{} cells measured on real drives and simulated, {} rows and columns left out. Errors count beyond the resolution of \
         the measurement. A curve, which is one drive, kind and column over a parameter, has one vote.",
        cells.len(),
        left_out.len()
    );
    let outcome = run
        .report(about)
        .published("the measured values; each file of data/drives names its source")
        .published("the links' rates, which are the sequential reads of the data sheets: an input, no cell is about them")
        .assumed("drives run at a part of their capacity, with as many dies, the same times and the same share of spare flash")
        .assumed("wordlines of three pages of 16 KiB, mapped by 4 KiB and programmed at once, in the time that gives the drive's bandwidth")
        .assumed("the host's path as host.path has it: SPDK, io_uring or libaio, as the source of the rows says");
    let outcome = match are_own {
        true => outcome.fitted(
            "the nine profiles, to the cells listed below as fitted; all other cells are predicted",
        ),
        false => outcome.fitted("nothing: all cells are predicted"),
    };
    let outcome = sheets::sheets(outcome, cells, left_out, are_own);
    figures::figures(outcome, cells)
}
