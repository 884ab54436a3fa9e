//! `meld-top`: what the simulated SSDs of a running HDFS do, in a terminal or as JSON.
//!
//! ```text
//!   datanode   asks a DataNode's web server for the plugin's beans: counters of devices and volumes
//!   usage      what two answers say of the time between them
//!   json       that, for scripts
//!   screen     that, as a table and one device in detail
//!   terminal   keys, and when to ask again
//! ```

mod datanode;
mod json;
mod screen;
mod terminal;
mod usage;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};

use crate::datanode::{Answer, DataNode};
use crate::usage::Usage;

/// What the simulated SSDs of a running HDFS do: throughput, latency, busy dies and channels, melded share, write
/// amplification, waiting readers.
#[derive(Debug, Parser)]
#[command(name = "meld-top", version)]
struct Arguments {
    /// DataNodes, by the address of their web server: HOST:9864.
    #[arg(required = true, value_name = "HOST:PORT")]
    datanodes: Vec<String>,
    /// Seconds from one look at the DataNodes to the next; 0.2 to 3600.
    #[arg(long, default_value_t = 2.0, value_parser = interval)]
    interval: f64,
    /// Looks twice, an interval apart, prints, and ends.
    #[arg(long)]
    once: bool,
    /// How `--once` prints.
    #[arg(long, value_enum, default_value_t = Format::Text, requires = "once")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The table.
    Text,
    /// One object: the DataNodes that did not answer, and the devices.
    Json,
}

fn interval(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.2..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("give seconds from 0.2 to 3600".to_owned()),
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("meld-top: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let interval = Duration::from_secs_f64(arguments.interval);
    let datanodes: Vec<DataNode> = arguments.datanodes.iter().map(DataNode::new).collect();
    if !arguments.once {
        return terminal::run(&datanodes, interval);
    }
    let before = Answer::of_all(&datanodes);
    std::thread::sleep(interval);
    let after = Answer::of_all(&datanodes);
    if after.iter().all(|answer| answer.error.is_some()) {
        let errors = after.iter().map(Answer::trouble).collect::<Vec<_>>();
        bail!("no DataNode answers\n{}", errors.join("\n"));
    }
    let usage = Usage::between(&before, &after);
    match arguments.format {
        Format::Text => print!("{}", screen::text(&usage)),
        Format::Json => println!("{}", json::of(&usage)?),
    }
    Ok(())
}
