//! Flags that several commands have, and those of the small commands.

use std::num::NonZeroUsize;

use clap::{Args, Subcommand, ValueEnum};
use meldsim_drive::all_cores;

/// The profile when none is named: a drive that one can buy.
pub(crate) const DEFAULT_PROFILE: &str = "7450-pro";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    // No help texts here: they would spread every option's help over several lines.
    Table,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct FormatArg {
    /// Form of the result: for people, or one object for programs
    #[arg(long, value_enum, default_value = "table", value_name = "FORM")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct JobsArg {
    /// Simulate so many devices at a time; the result does not depend on it [default: one on each core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

impl JobsArg {
    pub(crate) fn get(&self) -> NonZeroUsize {
        self.jobs.unwrap_or_else(all_cores)
    }
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ProfilesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ProfilesCommand>,
    #[command(flatten)]
    pub(crate) format: FormatArg,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesCommand {
    /// Print a profile as TOML, every key with its value: a start for your own
    Show {
        /// Built-in name, or path of a TOML file
        profile: String,
    },
    /// Check a profile; say all that is wrong with it
    Check {
        /// Built-in name, or path of a TOML file
        profile: String,
    },
}

/// Measurements of memory: what earlier ones left to the allocator must not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Alone {
    Precondition,
    PreconditionLarge,
    Sequential,
    Random,
    Trace,
    TraceLarge,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Figures are measured: they differ between machines and runs. Speed is that of the fastest of \
    five runs, by CPU time of the one thread used where the system counts it; memory is what a process had in RAM at most."
)]
pub(crate) struct BenchArgs {
    /// Random reads to simulate; twice as many sequential pages, a quarter as many overwrites
    /// [default: 1000000, with --against 500000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1000..=100_000_000))]
    pub(crate) requests: Option<u64>,
    /// Also what takes minutes: 20 million requests, preconditioning 8 TB, and a trace of 10 GB
    #[arg(long)]
    pub(crate) full: bool,
    /// Only speed, on devices in use: nothing on start-up, preconditioning and memory
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Compare with another meldsim program: the median of the ratios of speeds in interleaved pairs of runs
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["full", "quick"])]
    pub(crate) against: Option<String>,
    /// Pairs of runs of this program and the other
    #[arg(long, default_value_t = 15, value_name = "N", requires = "against", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) pairs: u32,
    /// Exit with 1 when a median is below: 0.97 lets this program be three hundredths slower
    #[arg(long, value_name = "RATIO", requires = "against")]
    pub(crate) bar: Option<f64>,
    /// One measurement in a process of its own, for the program itself
    #[arg(long, hide = true, value_enum)]
    pub(crate) alone: Option<Alone>,
    #[command(flatten)]
    pub(crate) format: FormatArg,
}
