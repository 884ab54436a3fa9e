//! `meld-top`: what the simulated SSDs of a running HDFS do, in a terminal, as JSON or as a page.
//!
//! ```text
//!   datanode   asks a DataNode's web server for the plugin's beans: counters of devices and volumes
//!   usage      what two answers say of the time between them
//!   json       that, for scripts
//!   screen     that, as a table and one device in detail
//!   terminal   keys, and when to ask again
//!   watch      a thread that asks again while somebody wants to know, and waits for no DataNode
//!   server     that, as JSON and as a page, over HTTP
//! ```

mod datanode;
mod json;
mod screen;
mod server;
mod terminal;
mod usage;
mod watch;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};

use crate::datanode::{Answer, DataNode};
use crate::usage::Usage;
use crate::watch::Looks;

/// Watches the simulated SSDs of a running HDFS: throughput, latency, busy dies and channels, melded share, write
/// amplification, waiting readers.
#[derive(Debug, Parser)]
#[command(name = "meld-top", version)]
struct Arguments {
    /// DataNodes, by the address of their web server: HOST:9864.
    #[arg(required_unless_present = "each", value_name = "HOST:PORT")]
    datanodes: Vec<String>,
    /// Seconds from one look at the DataNodes to the next, 0.2 to 3600 [default: 2; with --listen 1].
    #[arg(long, value_parser = interval)]
    interval: Option<f64>,
    /// Looks twice, an interval apart, prints, and ends.
    #[arg(long)]
    once: bool,
    /// How `--once` prints.
    #[arg(long, value_enum, default_value_t = Format::Text, requires = "once")]
    format: Format,
    /// Serves a page at this address, and at /devices.json what `--once --format json` prints.
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "once")]
    listen: Option<String>,
    /// With `--listen`: every DataNode that has this name, as it is looked up again and again; there may be none.
    #[arg(long, value_name = "NAME:PORT", requires = "listen", value_parser = name)]
    each: Vec<String>,
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

fn name(text: &str) -> Result<String, String> {
    let port = text.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
    match port {
        Some(Ok(_)) => Ok(text.to_owned()),
        _ => Err("give a name and a port, such as datanode:9864".to_owned()),
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
    let seconds = match arguments.listen {
        Some(_) => 1.0,
        None => 2.0,
    };
    let interval = Duration::from_secs_f64(arguments.interval.unwrap_or(seconds));
    let datanodes: Vec<DataNode> = arguments.datanodes.iter().map(DataNode::new).collect();
    if let Some(address) = &arguments.listen {
        return server::run(address, Looks::new(datanodes, &arguments.each), interval);
    }
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
