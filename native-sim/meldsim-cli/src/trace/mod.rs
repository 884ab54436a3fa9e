//! `meldsim trace`: what is in a recorded trace, and the same in another format.

pub(crate) mod file;

use std::fs::File;
use std::io::{self, ErrorKind, Write};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use meldsim_stats::{SCHEMA_VERSION, clauses, json};
use meldsim_workload::trace::{Description, TraceFormat, TraceWriter, parse_speedup};
use serde::Serialize;

use self::file::TraceArgs;
use crate::args::{Format, FormatArg};
use crate::error::BadInput;
use crate::output::{NO_JSON, columns, command_line, named, note};
use crate::progress::Progress;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    meldsim trace describe hm_0.csv.gz\n  \
    meldsim trace convert mine.blktrace.bin --to mqsim > mine.trace\n\n\
    Traces are plain or compressed by gzip; - is standard input.")]
pub(crate) struct TraceCommandArgs {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, Subcommand)]
enum TraceCommand {
    /// Show the mix, sizes, rate, footprint and reuse of a trace
    Describe(DescribeArgs),
    /// Write a trace in another format
    Convert(ConvertArgs),
}

#[derive(Debug, Args)]
struct DescribeArgs {
    /// Recorded requests
    #[arg(value_name = "TRACE")]
    trace: String,
    #[command(flatten)]
    source: TraceArgs,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Debug, Args)]
struct ConvertArgs {
    /// Recorded requests
    #[arg(value_name = "TRACE")]
    trace: String,
    /// Format to write, of the same names as --trace-format
    #[arg(long, value_name = "FORMAT", value_parser = str::parse::<TraceFormat>)]
    to: TraceFormat,
    /// Where to [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
    /// Requests arrive this many times faster
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = parse_speedup)]
    speedup: u64,
    #[command(flatten)]
    source: TraceArgs,
}

pub(crate) fn run(args: &TraceCommandArgs) -> Result<String> {
    match &args.command {
        TraceCommand::Describe(args) => describe(args),
        TraceCommand::Convert(args) => convert(args),
    }
}

fn describe(args: &DescribeArgs) -> Result<String> {
    #[derive(Serialize)]
    struct Document {
        command: String,
        schema_version: u32,
        #[serde(flatten)]
        description: Description,
    }
    let (mut reader, share) = file::read("TRACE", &args.trace, &args.source)?;
    let progress = Progress::new("reading");
    let description = Description::of(&mut reader, || progress.update(share.get()))?;
    drop(progress);
    match args.format.format {
        Format::Table => Ok(description.to_text_within(columns())),
        Format::Json => json(&Document {
            command: command_line(),
            schema_version: SCHEMA_VERSION,
            description,
        })
        .context(NO_JSON),
    }
}

fn convert(args: &ConvertArgs) -> Result<String> {
    let (mut reader, share) = file::read("TRACE", &args.trace, &args.source)?;
    let unwritable = |error: io::Error| {
        let path = args.output.as_deref().unwrap_or("(standard output)");
        BadInput(format!(
            "--output: cannot write \"{path}\": {error}; give a path that can be written"
        ))
    };
    let out: Box<dyn Write> = match &args.output {
        None => Box::new(io::stdout().lock()),
        Some(path) => Box::new(File::create(path).map_err(unwritable)?),
    };
    // It writes 64 KiB at a time.
    let mut writer = TraceWriter::new(out, args.to);
    let progress = Progress::new("converting");
    let mut records = 0u64;
    while let Some(mut record) = reader.next_record()? {
        let ps = u128::from(record.arrival.as_ps()) * 1_000_000 / u128::from(args.speedup);
        record.arrival = meldsim::Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX));
        let client = record
            .client
            .map_or("trace", |client| &reader.clients()[client]);
        match writer.write(&record, &reader.volumes()[record.volume], client) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(String::new()),
            written => written.map_err(unwritable)?,
        }
        records += 1;
        if records % (1 << 16) == 0 {
            progress.update(share.get());
        }
    }
    drop(progress);
    let lost = match writer.finish() {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(String::new()),
        finished => finished.map_err(unwritable)?,
    };
    let passed_over = reader.passed_over();
    let besides = clauses(&[
        (passed_over.empty, "of no bytes left out"),
        (passed_over.others, "lines that are no request left out"),
        (lost.records, "that the format has no words for left out"),
        (lost.widened, "widened to sectors"),
    ]);
    if !besides.is_empty() {
        let path = named(&args.trace);
        note(&format!("note: {path}: {records} records, {besides}"));
    }
    Ok(String::new())
}
