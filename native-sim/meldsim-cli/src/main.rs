//! `meldsim`: the SSD simulator from a shell.
//!
//! Exit codes: 0 done, 1 the simulation failed, 2 bad usage or input. An error is one message on standard error that names
//! what is wrong and the remedy.

mod args;
mod bench;
mod error;
mod experiment;
mod output;
mod profiles;
mod progress;
mod run;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => {
            // Help and version come this way too. A reader that has gone is no failure.
            let _ = message.print();
            return ExitCode::from(message.exit_code() as u8);
        }
    };
    let outcome = match cli.command {
        Command::Profiles(args) => profiles::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Experiment(args) => experiment::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    match outcome.and_then(|text| output::print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // `{:#}` is the chain of causes in one line; anyhow's backtrace is for `{:?}` only.
            output::complain(&format!("error: {error:#}"));
            ExitCode::from(error::exit_code(&error))
        }
    }
}
