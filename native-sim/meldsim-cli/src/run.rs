//! `meldsim run`: a workload from a job file or from flags.

use anyhow::Result;
use meldsim::workload::{Job, Runner, parse_job_file};

use crate::args::{Format, RunArgs};
use crate::error::BadInput;
use crate::output::{Document, footer};
use crate::profiles;
use crate::progress::Progress;

pub(crate) fn run(args: &RunArgs) -> Result<String> {
    let profile = profiles::load(&args.profile)?;
    let jobs = jobs(args)?;
    let runner = Runner::new(&profile, &jobs)?;
    let mut progress = Progress::new("simulating");
    let result = runner.run(|share| progress.update(share))?;
    drop(progress);
    match args.format.format {
        Format::Json => Document::new(&profile.name, "simulated", result).to_json(),
        Format::Table => Ok(result.to_text() + &footer(&profile.name, "simulated")),
    }
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
        iodepth: args.iodepth,
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
