//! `meldsim advise`: which rules of a device a workload breaks, and at what cost.

use anyhow::Result;
use meldsim_experiments::workload::advise::{Flow, advise};
use meldsim_experiments::workload::trace::TraceReader;
use meldsim_experiments::workload::{Job, parse_job_file};

use crate::args::Format;
use crate::args_advise::AdviseArgs;
use crate::error::BadInput;
use crate::output::{footer, to_json};
use crate::{profiles, trace_file};

pub(crate) fn run(args: &AdviseArgs) -> Result<String> {
    let profile = profiles::load(&args.profile)?;
    let advice = advise(&profile, &flow(args)?)?;
    match args.format.format {
        Format::Json => to_json(&profile.name, "simulated", advice),
        Format::Table => Ok(advice.to_text() + &footer(&profile.name, "simulated")),
    }
}

fn flow(args: &AdviseArgs) -> Result<Flow> {
    if let Some(path) = &args.trace {
        let (input, _) = trace_file::open("--trace", path)?;
        let reader = TraceReader::new(path, input, args.trace_format)?;
        return Ok(Flow::of_trace(reader)?);
    }
    let path = args.job.as_deref().unwrap_or_default();
    let text = std::fs::read_to_string(path).map_err(|error| {
        BadInput(format!(
            "--job: cannot read \"{path}\": {error}; give the path of a job file"
        ))
    })?;
    let jobs = parse_job_file(path, &text, &Job::new("advise"))?;
    Ok(Flow::of_jobs(&jobs))
}
