//! `meldsim validate`: every claim, with its verdict.

use anyhow::Result;
use meldsim_experiments::experiment::{Claim, EXPERIMENTS, Validation, claims_table};

use crate::args::Format;
use crate::args_experiment::ValidateArgs;
use crate::error::BadInput;
use crate::interrupt;
use crate::output::{Ending, columns, to_partial_json, version_line};
use crate::progress::Progress;

/// The result as text, and whether all claims hold.
pub(crate) fn run(args: &ValidateArgs) -> Result<(String, Ending)> {
    interrupt::watch();
    let progress = Progress::new("validating").on_pipes();
    let update = |share| {
        progress.update(share);
        interrupt::flow()
    };
    let chosen = EXPERIMENTS.iter().filter(|experiment| {
        args.experiment.is_empty() || args.experiment.iter().any(|name| name == experiment.name)
    });
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
        Format::Json => to_partial_json("each experiment's own", "simulated", &validation, ending)?,
        Format::Table => to_text(&validation),
    };
    Ok((text, ending))
}

/// The claims of each experiment under the command that shows them.
fn to_text(validation: &Validation) -> String {
    let mut text = String::new();
    let left = validation.experiments_left;
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
    let verdict = if validation.holds {
        "holds"
    } else {
        "DOES NOT HOLD"
    };
    text + &format!(
        "verdict: {verdict}, {held} of {checked} claims hold; [P] published, [F] fitted, [A] our assumption\n{}",
        version_line("simulated")
    )
}
