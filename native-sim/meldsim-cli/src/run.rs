//! `meldsim run`: a workload from a job file, from flags, or from a trace.

use anyhow::Result;
use meldsim::profile::Kind;
use meldsim::workload::trace::{Replay, ReplayMode, ReplayOptions, TraceReader};
use meldsim::workload::{Job, RunResult, Runner, parse_job_file};
use meldsim::{Profile, Time};

use crate::args::{RunArgs, RunFormat};
use crate::error::BadInput;
use crate::output::{Document, complain, footer};
use crate::profiles;
use crate::progress::Progress;
use crate::trace_file;

/// Interval over time when none is given.
const INTERVAL: Time = Time::from_us(100);
/// Requests of an open trace outstanding when no bound is given.
const OPEN_DEPTH: u32 = Job::IODEPTH_MAX;

pub(crate) fn run(args: &RunArgs) -> Result<String> {
    let profile = profiles::load(&args.profile)?;
    let result = match &args.trace {
        Some(path) => replay(args, &profile, path)?,
        None => run_jobs(args, &profile)?,
    };
    if let (Some(path), Some(series)) = (&args.time_series, &result.series) {
        write_file("--time-series", path, &series.to_csv())?;
    }
    let footer = footer(&profile.name, "simulated");
    if let Some(path) = &args.report {
        let title = match (&args.trace, &args.job) {
            (Some(file), _) | (None, Some(file)) => {
                let name = std::path::Path::new(file).file_name();
                let name = name.map_or(file.as_str().into(), |name| name.to_string_lossy());
                format!("{name} on {}", profile.name)
            }
            (None, None) => format!("{} on {}", args.rw, profile.name),
        };
        write_file("--report", path, &result.to_html(&title, &footer))?;
    }
    match args.format {
        RunFormat::Json => {
            let mut body = result.to_fio_json();
            // Without an interval, nobody has asked for the series here.
            if let (None, Some(object)) = (args.interval, body.as_object_mut()) {
                object.shift_remove("time_series");
            }
            Document::new(&profile.name, "simulated", body).to_json()
        }
        RunFormat::Csv => Ok(result.to_csv()),
        RunFormat::Table => Ok(result.to_text() + &footer),
    }
}

/// The interval over time, if anything will show it.
fn interval(args: &RunArgs) -> Option<Time> {
    let wanted = args.time_series.is_some() || args.report.is_some() || args.interval.is_some();
    wanted.then(|| args.interval.unwrap_or(INTERVAL))
}

fn run_jobs(args: &RunArgs, profile: &Profile) -> Result<RunResult> {
    let jobs = jobs(args)?;
    let mut runner = Runner::new(profile, &jobs)?;
    if let Some(precondition) = &args.precondition {
        if profile.kind == Kind::Xpoint {
            complain("note: --precondition changes nothing: this device collects no garbage");
        }
        runner = runner.precondition(precondition)?;
    }
    if let Some(interval) = interval(args) {
        runner = runner.with_time_series(interval);
    }
    let mut progress = Progress::new("simulating");
    Ok(runner.run(|share| progress.update(share))?)
}

fn replay(args: &RunArgs, profile: &Profile, path: &str) -> Result<RunResult> {
    let default_depth = match args.replay {
        ReplayMode::Open => OPEN_DEPTH,
        ReplayMode::Closed => 1,
    };
    let options = ReplayOptions {
        mode: args.replay,
        iodepth: args.iodepth.unwrap_or(default_depth),
        speedup: args.speedup,
        beyond: args.beyond,
        read_pattern: args.read_pattern,
        override_pattern: None,
        precondition: args.precondition,
    };
    if !(1..=Job::IODEPTH_MAX).contains(&options.iodepth) {
        let message = format!("--iodepth: is {}; use 1 to 65536", options.iodepth);
        return Err(BadInput(message).into());
    }
    let (input, share) = trace_file::open("--trace", path)?;
    let name = if path == "-" {
        "(standard input)"
    } else {
        path
    };
    let reader = TraceReader::new(name, input, args.trace_format)?;
    let mut replay = Replay::new(profile, reader, options)?;
    if let Some(interval) = interval(args) {
        replay = replay.with_time_series(interval);
    }
    let mut progress = Progress::new("replaying");
    Ok(replay.run(|| progress.update(share.get()))?)
}

pub(crate) fn write_file(flag: &str, path: &str, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| {
        let message =
            format!("{flag}: cannot write \"{path}\": {error}; give a path that can be written");
        BadInput(message).into()
    })
}

fn jobs(args: &RunArgs) -> Result<Vec<Job>> {
    let defaults = Job {
        seed: args.seed,
        ..Job::new(args.rw.to_string())
    };
    if let Some(path) = &args.job {
        let text = std::fs::read_to_string(path).map_err(|error| {
            BadInput(format!(
                "--job: cannot read \"{path}\": {error}; give the path of a job file"
            ))
        })?;
        return Ok(parse_job_file(path, &text, &defaults)?);
    }
    let job = Job {
        rw: args.rw,
        block_bytes: args.bs,
        iodepth: args.iodepth.unwrap_or(1),
        size_bytes: args.size,
        runtime: args.runtime,
        rwmixread: args.rwmixread,
        read_pattern: args.read_pattern,
        ..defaults
    };
    job.validate()
        .map_err(|error| BadInput(format!("--{error}")))?;
    Ok(vec![job])
}
