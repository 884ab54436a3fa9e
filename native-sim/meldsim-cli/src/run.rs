//! `meldsim run`: a workload from a job file, from flags, or from a trace.

use std::io::Empty;

use anyhow::{Context, Result};
use meldsim::profile::Kind;
use meldsim::{Profile, Time};
use meldsim_experiments::workload::trace::{ReplayOptions, TraceReader};
use meldsim_experiments::workload::{Job, JobError, Run, RunResult, Workload, parse_job_file};

use crate::args::{RunArgs, RunFormat};
use crate::error::BadInput;
use crate::output::{NO_JSON, command_line, complain, footer};
use crate::profiles;
use crate::progress::Progress;
use crate::trace_file;

/// Interval over time when none is given.
const INTERVAL: Time = Time::from_us(100);

pub(crate) fn run(args: &RunArgs) -> Result<String> {
    let profile = profiles::load_with(&args.profile, &args.set)?;
    let name = profile.name.clone();
    let mut result = match &args.trace {
        Some(path) => replay(args, profile, path)?,
        None => run_jobs(args, profile)?,
    };
    if let (Some(path), Some(series)) = (&args.time_series, &result.series) {
        write_file("--time-series", path, &series.to_csv())?;
    }
    let footer = footer(&name, "simulated");
    if let Some(path) = &args.report {
        let title = match (&args.trace, &args.job) {
            (Some(file), _) | (None, Some(file)) => {
                let file_name = std::path::Path::new(file).file_name();
                let file_name =
                    file_name.map_or(file.as_str().into(), |name| name.to_string_lossy());
                format!("{file_name} on {name}")
            }
            (None, None) => format!("{} on {name}", args.rw),
        };
        write_file("--report", path, &result.to_html(&title, &footer))?;
    }
    match args.format {
        RunFormat::Json => {
            // Without an interval, nobody has asked for the series here.
            result.series = result.series.filter(|_| args.interval.is_some());
            result.to_json(&command_line(), &name).context(NO_JSON)
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

fn run_jobs(args: &RunArgs, profile: Profile) -> Result<RunResult> {
    if args.precondition.is_some() && profile.kind == Kind::Xpoint {
        complain("note: --precondition changes nothing: this device collects no garbage");
    }
    let run = Run::<Empty> {
        profile,
        workload: Workload::Jobs(jobs(args)?, args.precondition),
        interval: interval(args),
    };
    let progress = Progress::new("simulating");
    Ok(run.run(|share| progress.update(share.unwrap_or(0.0)))?)
}

fn replay(args: &RunArgs, profile: Profile, path: &str) -> Result<RunResult> {
    let options = ReplayOptions {
        mode: args.replay,
        iodepth: args.iodepth.unwrap_or(args.replay.default_iodepth()),
        speedup: args.speedup,
        beyond: args.beyond,
        read_pattern: args.read_pattern,
        override_pattern: None,
        precondition: args.precondition,
    };
    options.validate().map_err(bad_flag)?;
    let (input, share) = trace_file::open("--trace", path)?;
    let name = if path == "-" {
        "(standard input)"
    } else {
        path
    };
    let run = Run {
        profile,
        workload: Workload::Trace(TraceReader::new(name, input, args.trace_format)?, options),
        interval: interval(args),
    };
    let progress = Progress::new("replaying");
    Ok(run.run(|_| progress.update(share.get()))?)
}

/// An option of the library is a flag of the same name.
fn bad_flag(error: JobError) -> BadInput {
    BadInput(format!("--{error}"))
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
    job.validate().map_err(bad_flag)?;
    Ok(vec![job])
}
