//! The command line of experiments and their validation.

use clap::{Args, Subcommand, ValueEnum};
use meldsim_experiments::experiment::BusSpeed;
use meldsim_experiments::workload::parse_bytes;

use crate::args::FormatArg;

#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    #[command(subcommand)]
    pub(crate) command: ExperimentCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExperimentCommand {
    /// Time to the last byte of one request, by its size: normal and melded layout
    #[command(after_help = "Examples:\n  \
        meldsim experiment melded-latency\n  \
        meldsim experiment melded-latency --channels 16 --dies 4 --request-size 1MiB,2MiB --format json")]
    MeldedLatency {
        /// Bytes of a request, several with commas [default: the published sizes, 4 KiB to 128 MiB]
        #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = parse_bytes)]
        request_size: Vec<u64>,
        #[command(flatten)]
        space: SpaceArgs,
    },
    /// Throughput of one 128 MiB read, by page size and bus: normal and melded layout
    #[command(after_help = "Examples:\n  \
        meldsim experiment melded-throughput\n  \
        meldsim experiment melded-throughput --channels 16 --dies 4 --page-size 8KiB --bus 1600x16 --format json")]
    MeldedThroughput {
        #[command(flatten)]
        space: SpaceArgs,
    },
    /// Gain of melding by the bytes that a reader of one 128 MiB block keeps outstanding
    MeldingWindow(PresetArgs),
    /// The 24 page allocations: throughput, latency, utilisation, advanced commands
    Palloc(LongArgs),
    /// The seven rules of an Optane SSD's unwritten contract, on it and on flash
    OptaneContract(LongArgs),
    /// How many dies consecutive chunks lie on, found from outside by strided reads
    InterleaveDetection(LongArgs),
    /// Reads of one NVM set beside a writer on another, under four layouts of the sets
    NoisyNeighbor(LongArgs),
    /// Reads of an NVM set after random writes, with and without a deterministic window
    LatencyWindows(PresetArgs),
    /// IOPS against the controller's cores, by four designs of its firmware
    FirmwareScaling(LongArgs),
    /// IOPS against the firmware's threads of one type: NVMQ, CACHE, TRANS
    FirmwareThreads(LongArgs),
    /// What garbage collection and the journal cost behind firmware
    FirmwareSteadyState(LongArgs),
    /// Energy of a request against the type of the controller's cores
    FirmwarePower(LongArgs),
    /// Melding the four pages of a QLC wordline, extrapolated from TLC
    QlcMelding(PresetArgs),
    /// Program times and orders on one die, and what a flush pads
    Programming(PresetArgs),
}

/// An experiment on a built-in profile.
#[derive(Debug, Args)]
pub(crate) struct PresetArgs {
    /// Built-in profile or path of a TOML file [default: the published device's]
    #[arg(long)]
    pub(crate) profile: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// An experiment that takes a while.
#[derive(Debug, Args)]
pub(crate) struct LongArgs {
    /// For a look within a second or so: simulate less than the claims are meant for
    #[arg(long)]
    pub(crate) quick: bool,
    #[command(flatten)]
    pub(crate) preset: PresetArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    Table,
    Json,
    Csv,
}

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Form of the result: for people, one object for programs, or comma-separated sheets
    #[arg(long, value_enum, default_value = "table", value_name = "FORM")]
    pub(crate) format: OutputFormat,
    /// Also write the result with its charts to this file, as a page that needs nothing else
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    meldsim validate\n  \
    meldsim validate --section 1 --format json\n\n\
    Exit code 0 when every claim holds that is not excepted, 1 otherwise. [P] published, [F] fitted to published numbers, [A] our assumption.")]
pub(crate) struct ValidateArgs {
    /// Only the claims of this section of the device model
    #[arg(long, value_name = "N")]
    pub(crate) section: Option<u32>,
    /// A claim by its id that is known not to hold: it is shown as such, and does not decide the exit code
    #[arg(long, value_name = "CLAIM")]
    pub(crate) except: Vec<String>,
    #[command(flatten)]
    pub(crate) format: FormatArg,
}

/// Without any of these, the published devices are simulated and compared.
#[derive(Debug, Args)]
pub(crate) struct SpaceArgs {
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
    /// Built-in profile or path of a TOML file to vary; when given, what is not asked for above is its own
    /// [default: melded-tlc-8x8]
    #[arg(long)]
    pub(crate) profile: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
