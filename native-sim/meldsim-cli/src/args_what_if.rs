//! The flags of `meldsim what-if`.

use clap::Args;
use meldsim_experiments::workload::trace::{TraceFormat, parse_speedup};

use crate::args::JobsArg;
use crate::args_run::RunFormat;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    meldsim what-if native-sim/workloads/two-scans.meld\n  \
    meldsim what-if my-trace.csv.gz --profile melded-tlc-8x8 --profile my.toml --closed --iodepth 16 --report what-if.html\n\n\
    The trace is replayed once on each device as it was recorded, and where the device can meld pages also with all data\n\
    melded and with none. Each run starts with a fresh device; all volumes of the trace share it. What the trace reads\n\
    and never wrote is put in place before its first read. native-sim/workloads/README.md describes traces.")]
pub(crate) struct WhatIfArgs {
    /// Recorded requests; plain or compressed by gzip
    #[arg(value_name = "TRACE")]
    pub(crate) trace: String,
    /// mqsim, msr or meld [default: as its first line tells]
    #[arg(long, value_name = "FORMAT", value_parser = str::parse::<TraceFormat>)]
    pub(crate) trace_format: Option<TraceFormat>,
    /// Built-in profile, or path of a TOML file; several times for several devices [default: melded-tlc-8x8,
    /// melded-tlc-16x4, melded-qlc-8x8, flash-970pro and optane-900p]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Vec<String>,
    /// Requests arrive when one before them has completed, not when they were recorded
    #[arg(long)]
    pub(crate) closed: bool,
    /// Requests outstanding with --closed [default: 16]
    #[arg(long, value_name = "N", requires = "closed")]
    pub(crate) iodepth: Option<u32>,
    /// Requests arrive that much faster; what --time-dilation slowed down is sped up by the same
    #[arg(long, value_name = "FACTOR", default_value = "1", conflicts_with = "closed", value_parser = parse_speedup)]
    pub(crate) speedup: u64,
    /// Form of the result: a table for people, JSON, or CSV with a row for each device and layout
    #[arg(long, value_enum, default_value = "table", value_name = "FORM")]
    pub(crate) format: RunFormat,
    /// Also write a page with charts, HTML that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<String>,
    #[command(flatten)]
    pub(crate) jobs: JobsArg,
}
