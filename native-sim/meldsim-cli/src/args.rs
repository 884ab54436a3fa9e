//! Flags that several commands have, and those of the small commands.

use std::num::NonZeroUsize;

use clap::{Args, Subcommand, ValueEnum};
use meldsim_host::all_cores;

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
    /// Devices to simulate at a time; the result does not depend on it [default: one on each core]
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
    /// List the policies that a profile can name
    Policies,
    /// Check a profile; say all that is wrong with it
    Check {
        /// Built-in name, or path of a TOML file
        profile: String,
    },
}
