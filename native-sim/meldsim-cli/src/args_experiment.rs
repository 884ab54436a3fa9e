//! The command line of experiments and their validation.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand, ValueEnum};
use meldsim_lab::{BusSpeed, Experiment, Options};
use meldsim_workload::parse_bytes;

use crate::args::{FormatArg, JobsArg};
use crate::experiments::{self, EXPERIMENTS};
use crate::timeline::TimelineArgs;

#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    #[command(subcommand)]
    pub(crate) command: ExperimentCommand,
}

/// A subcommand for each experiment, with the flags that it has.
#[derive(Debug)]
pub(crate) struct ExperimentCommand {
    pub(crate) experiment: &'static Experiment,
    pub(crate) scale: Option<ScaleArgs>,
    pub(crate) setups: Option<SetupArgs>,
    pub(crate) sizes: Option<SizeArgs>,
    pub(crate) measured: Option<MeasuredArgs>,
    pub(crate) runs: Option<RunsArgs>,
    pub(crate) common: CommonArgs,
}

impl Subcommand for ExperimentCommand {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(EXPERIMENTS.iter().map(|experiment| {
            let name = experiment.name;
            let of_setups = format!(
                "Examples:\n  \
                 meldsim experiment {name}\n  \
                 meldsim experiment {name} --channels 16 --dies 4 --bus 1600x16\n\n\
                 What is not given is as published, or as in the profile when one is named."
            );
            let command = Command::new(name).about(experiment.about);
            let command = match experiment.options {
                Options::Scale => ScaleArgs::augment_args(command),
                Options::Measured => ScaleArgs::augment_args(MeasuredArgs::augment_args(command)),
                Options::Runs => RunsArgs::augment_args(command),
                Options::Setups(_) => SetupArgs::augment_args(command).after_help(of_setups),
                Options::SetupsAndSizes(..) => {
                    SetupArgs::augment_args(SizeArgs::augment_args(command)).after_help(of_setups)
                }
                _ => command,
            };
            CommonArgs::augment_args(command)
        }))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        experiments::find(name).is_some()
    }
}

/// The flags of an experiment that has them.
fn given<A: FromArgMatches>(has: bool, matches: &ArgMatches) -> Result<Option<A>, Error> {
    has.then(|| A::from_arg_matches(matches)).transpose()
}

impl FromArgMatches for ExperimentCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ExperimentCommand, Error> {
        let found = matches.subcommand();
        let found = found.and_then(|(name, matches)| Some((experiments::find(name)?, matches)));
        let (experiment, matches) =
            found.ok_or_else(|| Error::new(clap::error::ErrorKind::MissingSubcommand))?;
        let options = &experiment.options;
        let has_sizes = matches!(options, Options::SetupsAndSizes(..));
        let has_setups = has_sizes || matches!(options, Options::Setups(_));
        let has_measured = matches!(options, Options::Measured);
        let has_scale = has_measured || matches!(options, Options::Scale);
        Ok(ExperimentCommand {
            experiment,
            scale: given(has_scale, matches)?,
            setups: given(has_setups, matches)?,
            sizes: given(has_sizes, matches)?,
            measured: given(has_measured, matches)?,
            runs: given(matches!(options, Options::Runs), matches)?,
            common: CommonArgs::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = ExperimentCommand::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct CommonArgs {
    /// Built-in profile or path of a TOML file [default: the published device's]
    #[arg(long)]
    pub(crate) profile: Option<String>,
    /// Form of the result: for people, one object for programs, or comma-separated sheets
    #[arg(long, value_enum, default_value = "table", value_name = "FORM")]
    pub(crate) format: OutputFormat,
    /// Also write the result with its charts to this file, as a page that needs nothing else
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<String>,
    /// Also write the charts to this folder, as NAME-1.svg, NAME-2.svg and so on
    #[arg(long, value_name = "FOLDER")]
    pub(crate) figures: Option<String>,
    #[command(flatten)]
    pub(crate) timeline: TimelineArgs,
    #[command(flatten)]
    pub(crate) jobs: JobsArg,
}

#[derive(Debug, Args)]
pub(crate) struct ScaleArgs {
    /// For a first impression within a second or so: simulate less than the claims are meant for
    #[arg(long)]
    pub(crate) quick: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MeasuredArgs {
    /// Judge the CSV files of this folder, in the formats of those that come with the experiment; nothing is fitted to them
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cells: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Also show what a run of HDFS measured: the file that hdfs-meld's demo writes with --json; several times for several runs
    #[arg(long, value_name = "FILE.json")]
    pub(crate) measured: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SizeArgs {
    /// Bytes of a request, several with commas [default: the published sizes, 4 KiB to 128 MiB]
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = parse_bytes)]
    pub(crate) request_size: Vec<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// Channels
    #[arg(long, value_name = "N")]
    pub(crate) channels: Option<u32>,
    /// Dies that share a channel
    #[arg(long, value_name = "N")]
    pub(crate) dies: Option<u32>,
    /// Data bytes of a page, several with commas
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = parse_bytes)]
    pub(crate) page_size: Vec<u64>,
    /// Bus of a channel in MT/s x bits, several with commas, such as 800x8,1600x16
    #[arg(long, value_name = "BUS", value_delimiter = ',')]
    pub(crate) bus: Vec<BusSpeed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    Table,
    Json,
    Csv,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    meldsim validate\n  \
    meldsim validate --experiment optane-contract --format json\n  \
    meldsim validate --controls\n  \
    meldsim validate --sensitivity --quick --report sensitivity.html\n\n\
    Exit code 0 when every claim holds that is not excepted, 1 otherwise. A claim's kind says what was known before: input, put in; \
    construction, follows from how the device is built; fitted, constants were fitted to it; predicted, nothing of it was used.")]
pub(crate) struct ValidateArgs {
    /// Only the claims of this experiment; several times for several experiments [default: all but real-drives,
    /// which takes minutes]
    #[arg(long, value_name = "NAME", value_parser = names(), hide_possible_values = true)]
    pub(crate) experiment: Vec<String>,
    /// A claim by its id that is known not to hold: it is shown as such, and does not decide the exit code
    #[arg(long, value_name = "CLAIM")]
    pub(crate) except: Vec<String>,
    /// Whether claims can fail: make the change of the device that each fitted or predicted claim names, and check that it fails then
    #[arg(long, conflicts_with_all = ["except", "sensitivity"])]
    pub(crate) controls: bool,
    /// What claims depend on: vary each assumed and fitted constant by 20 % down and up, one at a time
    #[arg(long, conflicts_with = "except")]
    pub(crate) sensitivity: bool,
    /// With --sensitivity: simulate less than the claims are meant for
    #[arg(long, requires = "sensitivity")]
    pub(crate) quick: bool,
    /// With --sensitivity: also write heat maps of constants and claims to this file, as a page that needs nothing else
    #[arg(long, requires = "sensitivity", value_name = "FILE.html")]
    pub(crate) report: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatArg,
    #[command(flatten)]
    pub(crate) jobs: JobsArg,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(EXPERIMENTS.iter().map(|experiment| experiment.name))
}
