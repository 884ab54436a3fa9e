//! `meldsim`: the SSD simulator from a shell.
//!
//! Exit codes: 0 done, 1 the simulation failed, a validated claim does not hold or a bar of `bench --against` is missed,
//! 2 bad usage or input. An error is one message on standard error that names what is wrong and the remedy.

mod advise;
mod args;
mod args_advise;
mod args_experiment;
mod args_run;
mod args_what_if;
mod bench;
mod error;
mod experiment;
mod output;
mod profiles;
mod progress;
mod run;
mod trace_file;
mod validate;
mod what_if;

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
    let only_text = |text| (text, true);
    let outcome = match cli.command {
        Command::Profiles(args) => profiles::run(&args).map(only_text),
        Command::Run(args) => run::run(&args).map(only_text),
        Command::Advise(args) => advise::run(&args).map(only_text),
        Command::WhatIf(args) => what_if::run(&args).map(only_text),
        Command::Experiment(args) => experiment::run(&args).map(only_text),
        Command::Validate(args) => validate::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    match outcome.and_then(|(text, holds)| output::print(&text).map(|()| holds)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(error::RUNTIME_FAILURE),
        Err(error) => {
            // `{:#}` is the chain of causes in one line; anyhow's backtrace is for `{:?}` only.
            output::complain(&format!("error: {error:#}"));
            ExitCode::from(error::exit_code(&error))
        }
    }
}
