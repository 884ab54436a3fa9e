//! How fast the simulator is and how much memory it takes, measured on this machine, against its bars.
//!
//! ```text
//!   SpeedTest, traces, devices --measured--> Figure --> Bench
//!   two programs, in turns ----their Bench----------> Comparison
//! ```
//!
//! What the memory of a process is measured by has a process of its own: `meldsim bench --alone NAME`, of the program that
//! calls. A [`Comparison`] is of programs that have `meldsim bench --quick --format json`.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod against;
mod figure;
mod generated;
mod measure;
mod speed;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use meldsim::Pattern;
use meldsim_stats::Table;
use serde::Serialize;

pub use against::{BadProgram, Comparison};
pub use figure::Figure;
pub use speed::{Counted, SpeedTest};

/// Requests when none are named.
const REQUESTS: u64 = 1_000_000;
/// What flatness is measured from and, in full, to.
const FEW_REQUESTS: u64 = 100_000;
const MANY_REQUESTS: u64 = 20_000_000;
const GB: u64 = 1_000_000_000;
const TB: u64 = 1_000 * GB;

/// What was measured.
#[derive(Serialize)]
pub struct Bench {
    machine: String,
    measurements: Vec<Figure>,
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// Speed alone.
    Quick,
    /// And memory.
    Usual,
    /// And what takes long.
    Full,
}

/// Measurements of memory: what earlier ones left to the allocator must not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "it would be the help text of an option")]
pub enum Alone {
    // Preconditioning half a terabyte.
    Precondition,
    // The same of eight.
    PreconditionLarge,
    // A terabyte written in blocks of HDFS.
    Sequential,
    // The same written at random.
    Random,
    // Replaying a trace of 100 MB.
    Trace,
    // The same of 10 GB.
    TraceLarge,
}

/// Measures this program.
///
/// # Errors
///
/// A workload cannot be simulated, or a figure cannot be had of this machine.
pub fn measure(
    requests: Option<u64>,
    extent: Extent,
    progress: &mut dyn FnMut(f64),
) -> Result<Bench> {
    let requests = requests.unwrap_or(REQUESTS);
    let mut figures = Vec::new();
    let speed_tests = [
        SpeedTest::random_reads(requests),
        SpeedTest::of_drive("7450-pro", requests),
        SpeedTest::of_drive("pm9a3", requests),
        SpeedTest::of_drive("dramless", requests),
        SpeedTest::scattered_reads(requests),
        SpeedTest::sequential_reads(requests * 2, Pattern::None),
        SpeedTest::sequential_reads(requests * 2, Pattern::Sequential),
        SpeedTest::overwrites(requests / 4),
        SpeedTest::mixed(requests / 2),
        SpeedTest::xpoint(requests),
        SpeedTest::firmware(requests),
    ];
    figures.extend(measure::speeds(&speed_tests, progress)?);
    let many = match extent {
        Extent::Full => MANY_REQUESTS,
        Extent::Quick | Extent::Usual => requests,
    };
    figures.push(measure::flatness(FEW_REQUESTS, many, progress)?);
    figures.push(measure::trace()?);
    figures.push(measure::hdfs_trace()?);
    if !matches!(extent, Extent::Quick) {
        figures.extend(measure::threads(requests / 4, progress)?);
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
    if matches!(extent, Extent::Full) {
        for alone in [Alone::PreconditionLarge, Alone::TraceLarge] {
            figures.extend(in_own_process(alone)?);
        }
    }
    Ok(Bench {
        machine: machine(),
        measurements: figures,
    })
}

/// One measurement of memory.
///
/// # Errors
///
/// As [`measure`].
pub fn measure_alone(alone: Alone) -> Result<Vec<Figure>> {
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
    /// The figures for people.
    pub fn to_text(&self) -> String {
        let mut table = Table::of("<what|<device|measured|bar|<verdict|CPU s|wall s");
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
