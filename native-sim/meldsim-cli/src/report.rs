//! `meldsim report`: a page of what Spark jobs recorded.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use meldsim_hdfs::{JobsRequest, report_jobs};

use crate::error::BadInput;
use crate::output::{Ending, command_line};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    meldsim report target/suite --html suite.html --expect 'scan:melded/normal>=1.30'\n  \
    meldsim report demo.json --html demo.html\n\n\
    EXPR is JOB:VARIANT[/VARIANT][:FIGURE] RELATION NUMBER.")]
pub(crate) struct ReportArgs {
    /// Records of jobs (their --json), or folders that have some
    #[arg(required = true, value_name = "RECORD|FOLDER")]
    inputs: Vec<PathBuf>,
    /// Write the page there
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    html: PathBuf,
    /// Write medians and spread there, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// What must hold; several times for several
    #[arg(long, value_name = "EXPR")]
    expect: Vec<String>,
    /// The command that the page shows [default: this one]
    #[arg(long, value_name = "COMMAND")]
    made_by: Option<String>,
}

/// Compares the records, and writes the page.
pub(crate) fn run(args: &ReportArgs) -> Result<(String, Ending)> {
    let request = JobsRequest {
        inputs: args.inputs.clone(),
        expect: args.expect.clone(),
        html: Some(args.html.clone()),
        json: args.json.clone(),
        command: args.made_by.clone().unwrap_or_else(command_line),
    };
    let report = report_jobs(&request).map_err(BadInput)?;
    let text = format!("{}\nreport: {}\n", report.text, args.html.display());
    Ok((text, Ending::of(report.holds)))
}
