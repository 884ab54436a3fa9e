//! `meldsim calibrate`: a profile for the user's own drive.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};
use clap::{ArgGroup, Args};
use meldsim_calibrate::{Calibrated, Calibration, Evaluation, Finding, Place, Progress, Request};
use meldsim_report::calibration_page;
use meldsim_workload::parse_bytes;
use serde::Serialize;

use crate::args::{Format, FormatArg, JobsArg};
use crate::error::BadInput;
use crate::output::{Ending, columns, footer, note, origin, to_json};
use crate::run::write_file;
use crate::{interrupt, profiles, progress};

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("measurements").required(true).multiple(true).args(["fio", "cells"]),
    after_help = "Examples:\n  \
    meldsim calibrate --fio measured --drive my-ssd --out my-ssd.toml\n  \
    meldsim calibrate --cells measured --drive my-ssd --capacity 960197124096 --given geometry.channels=16\n\n\
    Each parameter is fitted, or named as one that the cells do not tell. After an interruption, run the same command with the same --state to continue."
)]
pub(crate) struct CalibrateArgs {
    /// Folder of fio results in JSON (--output-format=json+), as workloads/calibrate/measure writes them
    #[arg(long, value_name = "FOLDER")]
    fio: Option<PathBuf>,
    /// Folder of measured cells as CSV, in the formats of experiment real-drives
    #[arg(long, value_name = "FOLDER")]
    cells: Option<PathBuf>,
    /// The drive's name, in the profile and in files with several drives
    #[arg(long, value_name = "NAME", default_value = "drive")]
    drive: String,
    /// Bytes that the host sees, as blockdev --getsize64 prints them [default: read from fio's folder]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    capacity: Option<u64>,
    /// A key of the profile that is known, such as geometry.channels=16; several times for several keys
    #[arg(long, value_name = "KEY=VALUE")]
    given: Vec<String>,
    /// Bytes to flash for each byte written, without collection: parity and metadata
    #[arg(long, value_name = "RATIO", default_value_t = 1.0)]
    overhead: f64,
    /// Seed of the second start of the search
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Simulate as much for each cell as the experiment real-drives does; takes some ten times as long
    #[arg(long)]
    full: bool,
    /// Only read the measurements, and say what they cannot tell
    #[arg(long, conflicts_with_all = ["out", "report", "state", "beside"])]
    check: bool,
    /// Write the profile to this file
    #[arg(long, value_name = "FILE.toml")]
    out: Option<String>,
    /// Also write parameters, errors and curves to this file, as a page that needs nothing else
    #[arg(long, value_name = "FILE.html")]
    report: Option<String>,
    /// Keep simulated cells in this file, and continue from it
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Also print this profile's error on the same cells
    #[arg(long, value_name = "PROFILE")]
    beside: Option<String>,
    #[command(flatten)]
    format: FormatArg,
    #[command(flatten)]
    jobs: JobsArg,
}

pub(crate) fn run(args: &CalibrateArgs) -> Result<(String, Ending)> {
    let request = request(args)?;
    let state = args.state.as_deref();
    let (known, file) = match state {
        Some(path) => open_state(path, &request)?,
        None => (Vec::new(), None),
    };
    let calibration = Calibration::new(request)?;
    if args.check {
        return Ok((checked(args, &calibration)?, Ending::Good));
    }
    let beside = match &args.beside {
        Some(name) => {
            let score = calibration.score(&profiles::load(name)?, args.jobs.get())?;
            Some((name, score))
        }
        None => None,
    };
    interrupt::watch();
    let shown = progress::Progress::new("calibrating").on_pipes();
    let failed = Mutex::new(None);
    let record = |evaluation: &Evaluation| {
        let line = serde_json::to_string(evaluation);
        let written = file.as_ref().map(|mut file| {
            let line = line.unwrap_or_default() + "\n";
            file.write_all(line.as_bytes())
        });
        if let (Some(Err(error)), Ok(mut failed)) = (written, failed.lock()) {
            failed.get_or_insert(error);
        }
    };
    let progress = |share| shown.flow(share);
    let place = Place::Here {
        jobs: args.jobs.get(),
        record: &record,
        progress: &progress,
    };
    let end = calibration.find(&known, &place)?;
    drop(shown);
    if let Some(error) = failed.into_inner().ok().flatten() {
        return Err(error).context("--state: cannot be written");
    }
    let Progress::Done(done) = end else {
        let again = match state {
            Some(path) => format!(
                "run the same command again to continue from {}",
                path.display()
            ),
            None => "with --state FILE the next run would have continued it".to_owned(),
        };
        note(&format!("interrupted; {again}"));
        return Ok((String::new(), Ending::Partial));
    };
    if let Some(path) = &args.out {
        write_file("--out", path, &done.text)?;
    }
    let name = &done.drive;
    let footer = footer(name, "simulated");
    if let Some(path) = &args.report {
        let settings = match args.full {
            true => "in full",
            false => "a part of each drive",
        };
        let origin = origin(name, &args.seed.to_string(), settings)?;
        write_file("--report", path, &calibration_page(&done, &origin, &footer))?;
    }
    let text = match args.format.format {
        Format::Json => to_json(name, "simulated", &*done)?,
        Format::Table => table(args, &done, beside) + &footer,
    };
    Ok((text, Ending::Good))
}

/// The cells that were read, as text or JSON.
fn checked(args: &CalibrateArgs, calibration: &Calibration) -> Result<String> {
    #[derive(Serialize)]
    struct Checked<'a> {
        kinds: Vec<(&'static str, usize)>,
        findings: &'a [Finding],
    }
    let (kinds, findings) = (calibration.kinds(), calibration.findings());
    if args.format.format == Format::Json {
        return to_json(&args.drive, "measured", &Checked { kinds, findings });
    }
    let mut text = String::new();
    for (kind, cells) in kinds {
        text += &format!("{cells:5} cells of {kind}\n");
    }
    for finding in findings {
        text += &finding.to_text();
    }
    Ok(text)
}

fn table(args: &CalibrateArgs, done: &Calibrated, beside: Option<(&String, f64)>) -> String {
    let mut text = done.to_text_within(columns());
    text += &format!(
        "\n{}: mean error {:.0} % of the tolerance\n",
        done.drive,
        100.0 * done.score
    );
    if let Some((name, score)) = beside {
        text += &format!(
            "{name}: mean error {:.0} % of the tolerance\n",
            100.0 * score
        );
    }
    if args.out.is_none() {
        text += "--out FILE.toml writes the profile.\n";
    }
    text
}

fn request(args: &CalibrateArgs) -> Result<Request> {
    Ok(Request {
        drive: args.drive.clone(),
        tables: texts("--cells", args.cells.as_deref(), "csv")?,
        fio: texts("--fio", args.fio.as_deref(), "json")?,
        capacity_bytes: args.capacity,
        overhead: args.overhead,
        given: args.given.clone(),
        seed: args.seed,
        full: args.full,
    })
}

/// Names and texts of the files of a folder that end so, by name.
fn texts(flag: &str, folder: Option<&Path>, ending: &str) -> Result<Vec<(String, String)>> {
    let Some(folder) = folder else {
        return Ok(Vec::new());
    };
    let bad = |what: String| BadInput(format!("{flag}: {}: {what}", folder.display()));
    let entries = fs::read_dir(folder)
        .map_err(|error| bad(format!("cannot be read: {error}; give a folder")))?;
    let mut texts = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == ending) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let text = fs::read_to_string(&path)
                .map_err(|error| bad(format!("{name}: cannot be read: {error}")))?;
            texts.push((name.into_owned(), text));
        }
    }
    texts.sort();
    match texts.is_empty() {
        false => Ok(texts),
        true => Err(bad(format!(
            "has no file that ends in .{ending}; give the folder with the measurements"
        ))
        .into()),
    }
}

/// The evaluations in a state file, and the file to append to. Its first line is the request that it belongs to.
fn open_state(path: &Path, request: &Request) -> Result<(Vec<Evaluation>, Option<File>)> {
    let bad = |what: &str| BadInput(format!("--state: {}: {what}", path.display()));
    let own = serde_json::to_string(request)?;
    let mut known = Vec::new();
    let mut is_new = true;
    if let Ok(file) = File::open(path) {
        let mut lines = BufReader::new(file).lines();
        if let Some(first) = lines.next() {
            is_new = false;
            if first? != own {
                return Err(bad("is of other cells or settings; name another file").into());
            }
        }
        for line in lines {
            // The last may be cut off.
            if let Ok(evaluation) = serde_json::from_str(&line?) {
                known.push(evaluation);
            }
        }
    }
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| bad(&format!("cannot be written: {error}")))?;
    let start = match is_new {
        true => own + "\n",
        false => "\n".to_owned(),
    };
    file.write_all(start.as_bytes())?;
    Ok((known, Some(file)))
}
