//! `meldsim bench`: how fast the simulator is and how much memory it takes, measured on this machine, against its bars.

use anyhow::Result;
use clap::Args;
use meldsim_bench::{Alone, Comparison, Extent, SpeedTest, measure, measure_alone};
use meldsim_stats::json;

use crate::args::{Format, FormatArg};
use crate::output::{Ending, footer, to_json};
use crate::progress::Progress;

const MEASURED: &str = "measured";

#[derive(Debug, Args)]
#[command(
    after_help = "Figures are measured: they differ between machines and runs. Speed is that of the fastest of \
    five runs, by CPU time of the one thread used where the system counts it; memory is what a process had in RAM at most."
)]
pub(crate) struct BenchArgs {
    /// Random reads to simulate; twice as many sequential pages, a quarter as many overwrites
    /// [default: 1000000, with --against 500000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1000..=100_000_000))]
    requests: Option<u64>,
    /// Also what takes minutes: 20 million requests, preconditioning 8 TB, and a trace of 10 GB
    #[arg(long)]
    full: bool,
    /// Only speed, on devices in use: nothing on start-up, preconditioning and memory
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Compare with another meldsim program: the median of the ratios of speeds in interleaved pairs of runs
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["full", "quick"])]
    against: Option<String>,
    /// Pairs of runs of this program and the other
    #[arg(long, default_value_t = 15, value_name = "N", requires = "against", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pairs: u32,
    /// Exit with 1 when a median is below: 0.97 lets this program be three hundredths slower
    #[arg(long, value_name = "RATIO", requires = "against")]
    bar: Option<f64>,
    /// One measurement in a process of its own, for the program itself
    #[arg(long, hide = true, value_enum)]
    alone: Option<Alone>,
    #[command(flatten)]
    format: FormatArg,
}

/// The result, and whether it passes the bar that was asked for.
pub(crate) fn run(args: &BenchArgs) -> Result<(String, Ending)> {
    if let Some(alone) = args.alone {
        return Ok((json(&measure_alone(alone)?)?, Ending::Good));
    }
    let profile = SpeedTest::profile().name;
    let form = args.format.format;
    let progress = Progress::new("measuring");
    let mut update = |share| progress.update(share);
    if let Some(other) = &args.against {
        let comparison =
            Comparison::measure(other, args.pairs, args.requests, args.bar, &mut update)?;
        let passes = comparison.passes();
        let text = match form {
            Format::Json => to_json(&profile, MEASURED, &comparison)?,
            Format::Table => comparison.to_text() + &footer(&profile, MEASURED),
        };
        return Ok((text, Ending::of(passes)));
    }
    let extent = match (args.quick, args.full) {
        (true, _) => Extent::Quick,
        (_, true) => Extent::Full,
        _ => Extent::Usual,
    };
    let bench = measure(args.requests, extent, &mut update)?;
    let text = match form {
        Format::Json => to_json(&profile, MEASURED, &bench)?,
        Format::Table => bench.to_text() + &footer(&profile, MEASURED),
    };
    Ok((text, Ending::Good))
}
