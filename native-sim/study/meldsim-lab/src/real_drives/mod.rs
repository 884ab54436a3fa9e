//! `real-drives`: drives that were measured, cell by cell, and simulated.

mod sheets;
#[cfg(test)]
mod tests;

use super::plan::{self, Experiment, Options, Planned, Run};
use meldsim_measured::{
    Cell, LeftOut, MeasureError, Mechanism, Task, tables, tasks, tasks_left_out,
};
use meldsim_report::{MEASURED_CAPTION, measured_charts};

pub(super) const REAL_DRIVES: Experiment = Experiment {
    name: "real-drives",
    about: "Drives on sale as they were measured, cell by cell, and simulated",
    paper: "Measurements of NVMe drives (SSD-iq, NVMeBenchmarks, ConfZNS++, WARP, ICPE'24)",
    profile: "7450-pro",
    request_unit: None,
    options: Options::Measured,
    takes_minutes: true,
    plan,
    ..Experiment::DEFAULT
};

fn plan<'a>(run: &'a Run, cells: &mut plan::Cells<'a>) -> Planned<'a> {
    let are_own = run.measured.is_none();
    let tables = tables(run.measured.as_deref()).map_err(MeasureError::from)?;
    let (own, left_out) = tasks(&run.profile, run.scale, &tables, are_own)?;
    let others = tasks_left_out(&run.profile, run.scale, &tables)?;
    let own = own.into_iter().map(|task| (Mechanism::Own, task));
    let others = others.into_iter().map(|task| (Mechanism::Others, task));
    let mut tasks: Vec<(Mechanism, Task)> = own.chain(others).collect();
    // Long ones first, so that none is left for one core at the end.
    tasks.sort_by_key(|(_, task)| std::cmp::Reverse(task.cost));
    let answers = cells.each(tasks, |(mechanism, task): &(Mechanism, Task)| {
        let values = (task.answer)(&task.questions)?;
        let cells = task.questions.iter().cloned().zip(values);
        // What a run has no number for is wrong without bound.
        let cell = |(question, value): (_, Option<f64>)| {
            Cell::new(question, value.unwrap_or(f64::INFINITY))
        };
        Ok((*mechanism, cells.map(cell).collect::<Vec<Cell>>()))
    });
    answers.then(move |answers| {
        let mut cells = Judged::default();
        for (mechanism, of_task) in answers {
            match mechanism {
                Mechanism::Own => cells.own.extend(of_task),
                Mechanism::Others => cells.left_out.extend(of_task),
            }
        }
        let order = |cell: &Cell| {
            let file = tables
                .iter()
                .position(|table| table.file == cell.question.file);
            (file, cell.question.row)
        };
        cells.own.sort_by_key(order);
        Some(outcome(run, &cells, &left_out, are_own))
    })
}

/// Cells that were simulated.
#[derive(Default)]
struct Judged {
    own: Vec<Cell>,
    /// Of reads beside writes, each drive with the others' mechanism.
    left_out: Vec<Cell>,
}

fn outcome(run: &Run, cells: &Judged, left_out: &[LeftOut], are_own: bool) -> super::Outcome {
    let about = format!(
        "{} cells measured on real drives and simulated, {} rows and columns left out. Errors count beyond the resolution of \
         the measurement. A curve, which is one drive, kind and column over a parameter, has one vote. Left out: with what the \
         rows of reads beside writes tell taken from the other drives.",
        cells.own.len(),
        left_out.len()
    );
    let outcome = run
        .report(about)
        .published("the measured values; each file of data/drives names its source")
        .published("the links' rates are the sequential reads of the data sheets: an input that no cell measures")
        .assumed("drives run at a part of their capacity, with the same dies, times and share of spare flash")
        .assumed("wordlines of three pages of 16 KiB, mapped by 4 KiB and programmed at once, in the time that gives the drive's bandwidth")
        .assumed("the host's path (host.path) is SPDK, io_uring or libaio, as the rows' source says");
    let outcome = match are_own {
        true => outcome.fitted(
            "the profiles of drives on sale, to the cells listed below as fitted; all other cells are predicted",
        ),
        false => outcome.fitted("nothing: all cells are predicted"),
    };
    let outcome = sheets::sheets(outcome, cells, left_out, are_own);
    let charts = measured_charts(&cells.own).into_iter();
    charts.fold(outcome, |outcome, chart| {
        outcome.figure(chart, MEASURED_CAPTION)
    })
}
