//! `meldsim`: the SSD simulator from a shell.
//!
//! Exit codes: 0 done, 1 the simulation failed, a validated claim does not hold or a bar of `bench --against` is missed,
//! 2 bad usage or input, 130 interrupted. An error is one message on standard error that names what is wrong and the remedy.

mod advise;
mod args;
mod args_experiment;
mod bench;
mod calibrate;
mod documents;
mod error;
mod experiment;
mod experiments;
mod fio_line;
mod grid;
mod import;
mod interrupt;
mod output;
mod plot;
mod profiles;
mod progress;
mod report;
mod run;
mod surroundings;
mod sweep;
mod timeline;
mod trace;
mod validate;
mod what_if;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use meldsim::policy;

use crate::advise::AdviseArgs;
use crate::args::ProfilesArgs;
use crate::args_experiment::{ExperimentArgs, ValidateArgs};
use crate::bench::BenchArgs;
use crate::calibrate::CalibrateArgs;
use crate::documents::{CompletionsArgs, ManArgs};
use crate::import::ImportArgs;
use crate::output::Ending;
use crate::report::ReportArgs;
use crate::run::RunArgs;
use crate::timeline::TimelineCommandArgs;
use crate::trace::TraceCommandArgs;
use crate::what_if::WhatIfArgs;

/// Runs fio jobs and I/O traces on a simulated SSD that a text file describes.
#[derive(Debug, Parser)]
#[command(
    name = "meldsim",
    version = env!("MELDSIM_VERSION"),
    propagate_version = true,
    // Longer lines are hard to read.
    max_term_width = 100,
    after_help = "Examples:\n  \
        meldsim run --profile pm9a3 --rw randread --bs 4k --iodepth 32 --size 1g\n  \
        meldsim run mine.fio --report mine.html\n  \
        meldsim what-if trace.meld.gz --profile pm9a3 --profile my.toml\n  \
        meldsim profiles show pm9a3 > my.toml\n\n\
        Sizes are powers of 1024: 4KiB, 4KB and 4k are 4096 bytes. Times take ns, us, ms, s.\n\n\
        Exit codes: 0 done, 1 the simulation failed, a validated claim does not hold or a bar is missed, 2 bad usage or \
        input, 130 interrupted."
)]
struct Cli {
    /// Print results and errors only: no progress, no notes
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a fio job, a trace or flags on a simulated device
    Run(Box<RunArgs>),
    /// Replay a trace on several devices and compare them
    WhatIf(WhatIfArgs),
    /// Describe a trace, or write it in another format
    Trace(TraceCommandArgs),
    /// Make a profile and jobs from another simulator's files
    Import(ImportArgs),
    /// List the device profiles that ship, or show one as TOML
    Profiles(ProfilesArgs),
    /// Say which rules of a device a workload breaks, and what each costs
    Advise(AdviseArgs),
    /// Fit a profile to a drive that was measured with fio
    Calibrate(Box<CalibrateArgs>),
    /// Make one timeline of several: two runs compared, or a cluster down to its flash
    Timeline(TimelineCommandArgs),
    /// Draw a page of what Spark jobs or the demo of hdfs-meld recorded
    Report(ReportArgs),
    /// Repeat a published experiment and compare
    Experiment(ExperimentArgs),
    /// Run every experiment and say claim by claim whether it holds
    Validate(ValidateArgs),
    /// Measure how fast the simulator is on this machine
    Bench(BenchArgs),
    /// Print a script that completes commands and options in a shell
    Completions(CompletionsArgs),
    /// Write man pages
    Man(ManArgs),
}

/// One run, or a run for each cell of a grid.
fn one_or_all(args: &RunArgs) -> anyhow::Result<(String, Ending)> {
    let grid = args.grid()?;
    let is_sweep = grid.len() > 1 || args.sweep.out.is_some() || !args.sweep.plot.is_empty();
    match is_sweep {
        true => sweep::run(args, grid),
        false => run::run(args, &grid.cell(0)?),
    }
}

/// Does what the command line of the process says.
///
/// A program of its own can register policies first (`meldsim::policy::register`) and is meldsim with these.
pub fn main() -> ExitCode {
    meldsim_firmware::register();
    // What is not text is told by clap.
    let arguments: Option<Vec<String>> =
        std::env::args_os().map(|a| a.into_string().ok()).collect();
    let parsed = match arguments {
        Some(arguments) => Cli::try_parse_from(fio_line::translated(arguments, &Cli::command)),
        None => Cli::try_parse(),
    };
    let cli = match parsed {
        Ok(cli) => cli,
        Err(message) => {
            let message = fio_line::with_tip(message);
            // Help and version come this way too. A reader that has gone is no failure.
            let _ = message.print();
            return ExitCode::from(message.exit_code() as u8);
        }
    };
    output::be_quiet(cli.quiet);
    let only_text = |text| (text, Ending::Good);
    let file = match &cli.command {
        Command::Run(args) => args.output.clone(),
        _ => None,
    };
    let outcome = policy::caught(|| match cli.command {
        Command::Profiles(args) => profiles::run(&args).map(only_text),
        Command::Run(args) => one_or_all(&args),
        Command::Advise(args) => advise::run(&args).map(only_text),
        Command::WhatIf(args) => what_if::run(&args),
        Command::Trace(args) => trace::run(&args).map(only_text),
        Command::Import(args) => import::run(&args).map(only_text),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Experiment(args) => experiment::run(&args).map(only_text),
        Command::Validate(args) => validate::run(&args),
        Command::Timeline(args) => timeline::timeline(&args).map(only_text),
        Command::Report(args) => report::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Completions(args) => documents::completions(&args, Cli::command()).map(only_text),
        Command::Man(args) => documents::man(&args, Cli::command()).map(only_text),
    });
    let outcome = outcome.unwrap_or_else(|fault| Err(fault.into()));
    let written = |text: &str| match &file {
        Some(path) => run::write_file("--output", path, text),
        None => output::print(text),
    };
    match outcome.and_then(|(text, ending)| written(&text).map(|()| ending)) {
        Ok(Ending::Good) => ExitCode::SUCCESS,
        Ok(Ending::Fails) => ExitCode::from(error::RUNTIME_FAILURE),
        Ok(Ending::Partial) => ExitCode::from(interrupt::EXIT_CODE),
        Err(error) => {
            // `{:#}` is the chain of causes in one line; anyhow's backtrace is for `{:?}` only.
            output::complain(&format!("error: {error:#}"));
            ExitCode::from(error::exit_code(&error))
        }
    }
}
