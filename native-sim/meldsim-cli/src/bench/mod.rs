//! `meldsim bench`: how fast the simulator is and how much memory it takes, measured on this machine, against its bars.

mod against;
mod figure;
mod generated;
mod measure;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use meldsim::Pattern;
use meldsim_experiments::workload::SpeedTest;
use meldsim_stats::{Align, Table};
use serde::Serialize;

use self::against::Comparison;
use self::figure::Figure;
use crate::args::{Alone, BenchArgs, Format};
use crate::output::{Ending, footer, to_json};
use crate::progress::Progress;

const MEASURED: &str = "measured";
/// Requests when none are named.
const REQUESTS: u64 = 1_000_000;
/// What flatness is measured from and, in full, to.
const FEW_REQUESTS: u64 = 100_000;
const MANY_REQUESTS: u64 = 20_000_000;
const GB: u64 = 1_000_000_000;
const TB: u64 = 1_000 * GB;

#[derive(Serialize)]
struct Bench {
    machine: String,
    measurements: Vec<Figure>,
}

/// The result, and whether it passes the bar that was asked for.
pub(crate) fn run(args: &BenchArgs) -> Result<(String, Ending)> {
    if let Some(alone) = args.alone {
        let figures = meldsim_stats::json(&measure_alone(alone)?)?;
        return Ok((figures, Ending::Good));
    }
    let profile = SpeedTest::profile().name;
    let form = args.format.format;
    if let Some(other) = &args.against {
        let comparison = Comparison::measure(other, args)?;
        let passes = comparison.passes();
        let text = match form {
            Format::Json => to_json(&profile, MEASURED, &comparison)?,
            Format::Table => comparison.to_text() + &footer(&profile, MEASURED),
        };
        return Ok((text, Ending::of(passes)));
    }
    let bench = measure(args)?;
    let text = match form {
        Format::Json => to_json(&profile, MEASURED, &bench)?,
        Format::Table => bench.to_text() + &footer(&profile, MEASURED),
    };
    Ok((text, Ending::Good))
}

fn measure(args: &BenchArgs) -> Result<Bench> {
    let requests = args.requests.unwrap_or(REQUESTS);
    let mut progress = Progress::new("measuring");
    let mut figures = Vec::new();
    let speed_tests = [
        SpeedTest::random_reads(requests),
        SpeedTest::scattered_reads(requests),
        SpeedTest::sequential_reads(requests * 2, Pattern::None),
        SpeedTest::sequential_reads(requests * 2, Pattern::Sequential),
        SpeedTest::overwrites(requests / 4),
        SpeedTest::mixed(requests / 2),
        SpeedTest::xpoint(requests),
        SpeedTest::firmware(requests),
    ];
    figures.extend(measure::speeds(&speed_tests, &mut progress)?);
    let many = if args.full { MANY_REQUESTS } else { requests };
    figures.push(measure::flatness(FEW_REQUESTS, many, &mut progress)?);
    figures.push(measure::trace()?);
    figures.push(measure::hdfs_trace()?);
    if !args.quick {
        figures.extend(measure::threads(requests / 4, &mut progress)?);
        figures.push(measure::start_up(8 * TB)?);
        for alone in [
            Alone::Precondition,
            Alone::Sequential,
            Alone::Random,
            Alone::Trace,
        ] {
            figures.extend(in_own_process(alone)?);
        }
    }
    if args.full {
        for alone in [Alone::PreconditionLarge, Alone::TraceLarge] {
            figures.extend(in_own_process(alone)?);
        }
    }
    drop(progress);
    Ok(Bench {
        machine: machine(),
        measurements: figures,
    })
}

/// One measurement of memory.
fn measure_alone(alone: Alone) -> Result<Vec<Figure>> {
    match alone {
        Alone::Precondition => measure::precondition(TB / 2, 2.0, Some(0.7)),
        Alone::PreconditionLarge => measure::precondition(8 * TB, 20.0, None),
        Alone::Sequential => Ok(vec![measure::sequential_memory(TB, 64.0)?]),
        Alone::Random => Ok(vec![measure::random_memory(TB, 1.3 * 1024.0)?]),
        Alone::Trace => Ok(vec![measure::trace_memory(GB / 10)?]),
        Alone::TraceLarge => Ok(vec![measure::trace_memory(10 * GB)?]),
    }
}

fn in_own_process(alone: Alone) -> Result<Vec<Figure>> {
    let value = alone.to_possible_value();
    let name = value.as_ref().map_or("", |value| value.get_name());
    let program = std::env::current_exe().context("cannot find this program")?;
    let output = std::process::Command::new(program)
        .args(["bench", "--alone", name])
        .output()
        .with_context(|| format!("cannot start measurement {name} as a process of its own"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("measurement {name} failed: {}", message.trim());
    }
    serde_json::from_slice(&output.stdout)
        .with_context(|| format!("measurement {name} gave no figures"))
}

impl Bench {
    fn to_text(&self) -> String {
        let columns = [
            ("what", Align::Left),
            ("measured", Align::Right),
            ("bar", Align::Right),
            ("verdict", Align::Left),
            ("CPU s", Align::Right),
            ("wall s", Align::Right),
        ];
        let mut table = Table::new(columns);
        for figure in &self.measurements {
            table.row(figure.cells());
        }
        let failed = self.measurements.iter().filter(|figure| !figure.passes);
        let verdict = match failed.count() {
            0 => "all bars passed".to_owned(),
            failed => format!("{failed} of {} bars FAILED", self.measurements.len()),
        };
        format!("{table}{verdict}\nmachine: {}\n", self.machine)
    }
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "{} {}, {cores} cores, one used unless a line says otherwise",
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}
