//! `meldsim validate`: every claim, with its verdict.

use std::ops::ControlFlow;

use anyhow::Result;
use meldsim_lab::{
    Claim, Controls, Count, Experiment, Scale, Sensitivity, VARIED_PERCENT, Validation,
    claims_table,
};
use meldsim_stats::Table;

use crate::args::Format;
use crate::args_experiment::ValidateArgs;
use crate::error::BadInput;
use crate::experiments::EXPERIMENTS;
use crate::interrupt;
use crate::output::{Ending, columns, origin, to_json, to_partial_json, version_line};
use crate::progress::Progress;
use crate::run::write_file;

/// The result as text, and whether all claims hold.
pub(crate) fn run(args: &ValidateArgs) -> Result<(String, Ending)> {
    interrupt::watch();
    let chosen =
        EXPERIMENTS
            .iter()
            .copied()
            .filter(|experiment| match args.experiment.is_empty() {
                true => !experiment.takes_minutes,
                false => args.experiment.iter().any(|name| name == experiment.name),
            });
    match (args.controls, args.sensitivity) {
        (true, _) => controls(args, chosen),
        (_, true) => sensitivity(args, chosen),
        _ => verdicts(args, chosen),
    }
}

const DEVICES: &str = "each experiment's own";

fn verdicts(
    args: &ValidateArgs,
    chosen: impl Iterator<Item = &'static Experiment>,
) -> Result<(String, Ending)> {
    let progress = Progress::new("validating").on_pipes();
    let update = |share| progress.flow(share);
    let validation = Validation::run(chosen, args.jobs.get(), &update)?;
    drop(progress);
    let decides = |claim: &&Claim| !args.except.iter().any(|except| except == claim.id);
    let holds = validation
        .claims
        .iter()
        .filter(decides)
        .all(|claim| claim.holds);
    let is_whole = validation.experiments_left == 0;
    if let Some(unknown) = args.except.iter().filter(|_| is_whole).find(|except| {
        let mut ids = validation.claims.iter().map(|claim| claim.id);
        ids.all(|id| id != except.as_str())
    }) {
        let message =
            format!("--except: no claim is called \"{unknown}\"; --format json shows their ids");
        return Err(BadInput(message).into());
    }
    let ending = match validation.experiments_left {
        0 => Ending::of(holds),
        _ => Ending::Partial,
    };
    let text = match args.format.format {
        Format::Json => to_partial_json(DEVICES, "simulated", &validation, ending)?,
        Format::Table => to_text(&validation),
    };
    Ok((text, ending))
}

/// The claims of each experiment under the command that shows them.
fn to_text(validation: &Validation) -> String {
    let mut text = String::new();
    let (left, all) = (validation.experiments_left, validation.experiments);
    if left > 0 {
        text += &format!("partial: interrupted before {left} experiments were done\n\n");
    }
    for group in validation.claims.chunk_by(|a, b| a.command == b.command) {
        let (paper, command) = group
            .first()
            .map_or(("", ""), |claim| (claim.paper, claim.command.as_str()));
        let table = claims_table(group).within(columns());
        text += &format!("{paper}, shown by {command}\n{table}\n");
    }
    let (held, checked) = (validation.claims_held, validation.claims_checked);
    let verdict = match validation.holds {
        Some(true) => format!("verdict: holds, {held} of {checked} claims hold"),
        Some(false) => format!("verdict: DOES NOT HOLD, {held} of {checked} claims hold"),
        None => format!("no verdict: {} of {all} experiments were done", all - left),
    };
    let by_kind: Vec<String> = validation.by_kind.iter().map(Count::to_string).collect();
    text + &format!(
        "{verdict}\n{}\n{}",
        by_kind.join("; "),
        version_line("simulated")
    )
}

/// Each claim with the change that it names.
fn controls(
    args: &ValidateArgs,
    chosen: impl Iterator<Item = &'static Experiment>,
) -> Result<(String, Ending)> {
    let progress = Progress::new("changing devices").on_pipes();
    let update = |share| {
        progress.update(share);
        ControlFlow::Continue(())
    };
    let controls = Controls::run(chosen, args.jobs.get(), &update)?;
    drop(progress);
    let ending = Ending::of(controls.all_fail);
    if args.format.format == Format::Json {
        return Ok((to_json(DEVICES, "simulated", &controls)?, ending));
    }
    let mut table = Table::of("<verdict|<claim|<change|<as it is|<then");
    for control in &controls.controls {
        let verdict = ["DOES NOT FAIL", "fails"][usize::from(control.fails)];
        let (is, then) = (&control.measured, &control.measured_then);
        table.row([verdict, control.claim, &control.change, is, then]);
    }
    let mut text = table.within(columns()).to_string();
    for claim in &controls.without {
        text += &format!("NAMES NO CHANGE: {claim}\n");
    }
    Ok((text + &version_line("simulated"), ending))
}

/// Which claims depend on which constants.
fn sensitivity(
    args: &ValidateArgs,
    chosen: impl Iterator<Item = &'static Experiment>,
) -> Result<(String, Ending)> {
    let progress = Progress::new("varying constants").on_pipes();
    let update = |share| progress.flow(share);
    let (scale, extent) = match args.quick {
        true => (Scale::Quick, "quick"),
        false => (Scale::Full, "in full"),
    };
    let sensitivity = Sensitivity::run(chosen, scale, args.jobs.get(), &update)?;
    drop(progress);
    let Some(sensitivity) = sensitivity else {
        let text = "interrupted before all was done\n";
        return Ok((text.to_owned(), Ending::Partial));
    };
    if let Some(path) = &args.report {
        let settings = format!("constants by {VARIED_PERCENT} % down and up; {extent}");
        let origin = origin(DEVICES, "fixed by the experiments", &settings)?;
        let page = sensitivity.to_html(&origin, &version_line("simulated"));
        write_file("--report", path, &page)?;
    }
    let text = match args.format.format {
        Format::Json => to_json(DEVICES, "simulated", &sensitivity)?,
        Format::Table => sensitivity.to_text(columns()) + &version_line("simulated"),
    };
    Ok((text, Ending::Good))
}
