//! `meldsim advise`: which rules of a device a workload breaks, and at what cost.

use anyhow::Result;
use clap::{ArgGroup, Args};
use meldsim_advice::advise::advise;
use meldsim_workload::Job;
use meldsim_workload::sample::Sample;

use crate::args::{DEFAULT_PROFILE, Format, FormatArg};
use crate::output::{columns, devices, footer, to_json};
use crate::profiles;
use crate::run::JobSource;
use crate::trace::file::{self, TraceArgs};

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("workload").required(true).args(["job", "trace"]),
    after_help = "Examples:\n  \
    meldsim advise --profile optane-900p --job tiny-crowd.fio\n  \
    meldsim advise --profile flash-970pro --trace tpcc.trace --format json\n\n\
    The first 100000 requests, of jobs in turn, are simulated as they are, and once more for each rule that they break \
    with that rule kept. Jobs begin, wait and keep their depths and rates as when they run; what ends or adapts a job \
    before its requests are done, such as runtime or latency_target, does not count. A trace's requests arrive when they \
    did."
)]
pub(crate) struct AdviseArgs {
    /// Built-in profile, or path of a TOML file
    #[arg(long, default_value = DEFAULT_PROFILE)]
    pub(crate) profile: String,
    /// Job file of fio, - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) job: Option<String>,
    /// Recorded requests; plain or compressed by gzip, - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<String>,
    #[command(flatten)]
    pub(crate) source: TraceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArg,
}

pub(crate) fn run(args: &AdviseArgs) -> Result<String> {
    let profile = profiles::load(&args.profile)?;
    let sample = match &args.trace {
        Some(path) => {
            let (reader, _) = file::read("--trace", path, &args.source)?;
            Sample::of_trace(reader)?
        }
        None => {
            let path = args.job.as_deref().unwrap_or_default();
            let source = JobSource {
                path,
                before: "",
                sections: &[],
                options: &[],
                runtime: None,
            };
            Sample::of_jobs(&source.read(&Job::new("advise"), &profile)?.jobs)?
        }
    };
    let advice = advise(&profile, &sample)?;
    match args.format.format {
        Format::Json => to_json(&profile.name, "simulated", &advice),
        Format::Table => Ok(devices([&*profile.name])
            + &advice.to_text_within(columns())
            + &footer(&profile.name, "simulated")),
    }
}
