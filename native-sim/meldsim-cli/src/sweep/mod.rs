//! `meldsim run` with several values of a key: a run for each cell of their product, and a row for each run.
//!
//! ```text
//!   --set, --grid --> Grid --> cells --all cores--> rows --in order--> file, table, CSV or JSON, charts
//! ```

mod row;
mod store;

use std::fmt::Debug;
use std::io::{BufRead, Read};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use meldsim::Profile;
use meldsim::profile::Sources;
use meldsim_host::{all_cores, try_map};
use meldsim_report::{Page, figure_file};
use meldsim_stats::{Align, SCHEMA_VERSION, Table, json};
use meldsim_workload::{Run, Workload};
use serde_json::json;

use crate::error::BadInput;
use crate::grid::{Cell, Grid, SEEDS, is_setting};
use crate::interrupt;
use crate::output::{
    Ending, NO_JSON, columns, command_line, command_without, note, origin, version_line,
};
use crate::plot::Rows;
use crate::profiles;
use crate::progress::Progress;
use crate::run::{RunArgs, RunFormat, jobs, replay_options, workload, write_file};
use crate::trace::file;
use row::{Columns, Outcome, Row, figures, runs_in_turn, steady};
use store::{Form, Store, other};

/// Flags of a sweep that are not of a run of one of its cells, and those that the result does not depend on.
const OF_SWEEP: [&str; 9] = [
    "--set",
    "--seed",
    "--grid",
    "--out",
    "--plot",
    "--format",
    "--threads",
    "--profile",
    "--jobs",
];
/// Columns of the table for people, besides the keys that vary.
const SHOWN: [(&str, &str); 14] = [
    ("read_iops", "read IOPS"),
    ("read_mib_s", "read MiB/s"),
    ("read_p50_us", "read p50 us"),
    ("read_p99_us", "read p99 us"),
    ("read_p9999_us", "read p99.99 us"),
    ("read_p99999_us", "read p99.999 us"),
    ("write_iops", "write IOPS"),
    ("write_mib_s", "write MiB/s"),
    ("write_p99_us", "write p99 us"),
    ("write_p9999_us", "write p99.99 us"),
    ("write_p99999_us", "write p99.999 us"),
    ("write_amplification", "WAF"),
    ("steady", "steady"),
    ("error", "error"),
];

/// Characters of a refusal that the table shows.
const ERROR_SHOWN: usize = 40;

/// A grid to run.
struct Sweep<'a> {
    args: &'a RunArgs,
    grid: Grid,
    columns: Columns,
    /// The digest of the trace's file.
    trace: Option<u64>,
}

pub(crate) fn run(args: &RunArgs, grid: Grid) -> Result<(String, Ending)> {
    interrupt::watch();
    of_one_run(args)?;
    let sweep = Sweep::new(args, grid)?;
    let about = json(&json!({
        "command": command_without(&["--threads", "--jobs"], &[]),
        "meldsim_version": env!("CARGO_PKG_VERSION"),
        "schema_version": SCHEMA_VERSION,
        "kind": "simulated",
        "cells": sweep.grid.len(),
    }))
    .context(NO_JSON)?;
    sweep.check_plots()?;
    let mut store = match &args.sweep.out {
        Some(path) => Store::read(path, &sweep.columns, &about)?,
        None => Store::without_file(&sweep.columns),
    };
    sweep.check_known(&store.rows)?;
    store.begin()?;
    sweep.simulate(&mut store)?;
    sweep.finish(&store.rows, &about)
}

/// Refuses flags that ask for more of a run than a row.
fn of_one_run(args: &RunArgs) -> Result<()> {
    let flags = [
        ("--requests", args.wants_requests()),
        ("--format terse", args.format == RunFormat::Terse),
        ("--time-series", args.time_series.is_some()),
        ("--interval", args.interval.is_some()),
        ("--report", args.report.is_some()),
        ("--timeline", args.timeline.timeline.is_some()),
    ];
    match flags.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => {
            let text = format!(
                "{flag}: is of one run, and several values with --set are a sweep; leave one of them out"
            );
            Err(BadInput(text).into())
        }
        None => Ok(()),
    }
}

impl<'a> Sweep<'a> {
    fn new(args: &'a RunArgs, grid: Grid) -> Result<Sweep<'a>> {
        let keys = grid.keys().map(|(_, key, _)| key);
        let keys = keys.filter(|key| is_setting(key));
        let last = if args.trace.is_some() { "trace" } else { "job" };
        let places = std::iter::once("profile").chain(keys).chain([last]);
        let columns = Columns::new(places.map(str::to_owned).collect());
        let trace = args.trace.as_deref().map(digest_of_file).transpose()?;
        if args.reads_standard_input() {
            let text = "a sweep reads a workload for each of its cells, and standard input can be read but once; give a path";
            return Err(BadInput(text.to_owned()).into());
        }
        Ok(Sweep {
            args,
            grid,
            columns,
            trace,
        })
    }

    /// Where a cell is: its profile, its keys, its workload.
    fn place(&self, cell: &Cell) -> Vec<String> {
        let mut place = vec![self.args.profile(cell).to_owned()];
        let keys = cell.place.iter().filter(|(key, _)| is_setting(key));
        place.extend(keys.map(|(_, value)| value.clone()));
        place.push(
            self.args
                .workload_path(cell)
                .map_or_else(|| workload(self.args, cell), str::to_owned),
        );
        place
    }

    /// The command that repeats a cell.
    fn command(&self, cell: &Cell) -> String {
        let mut more = vec!["--profile".to_owned(), self.args.profile(cell).to_owned()];
        for setting in cell.settings() {
            more.extend(["--set".to_owned(), setting]);
        }
        if let Some(job) = &cell.job {
            more.extend(["--job".to_owned(), job.clone()]);
        }
        if let [seed] = self.args.seed.as_slice() {
            more.extend(["--seed".to_owned(), seed.to_string()]);
        }
        more.extend(["--format", "json"].map(str::to_owned));
        command_without(&OF_SWEEP, &more)
    }

    /// The inputs of a cell, and their digest: the version, the device, the workload and its files.
    fn prepare(&self, cell: &Cell) -> (Result<(Profile, Sources, Load)>, String) {
        let prepared = self.load(cell);
        let mut digest = Digest::default();
        digest.add(&(
            env!("CARGO_PKG_VERSION"),
            &self.args.precondition,
            self.trace,
            self.args.trace.is_some().then_some(&self.args.source),
        ));
        match &prepared {
            Ok((profile, sources, load)) => digest.add(&(profile, sources, load)),
            Err(error) => digest.add(&format!("{error:#}")),
        }
        (prepared, format!("{:016x}", digest.0))
    }

    fn load(&self, cell: &Cell) -> Result<(Profile, Sources, Load)> {
        let name = self.args.profile(cell);
        let (profile, sources) = profiles::load_sourced(name, &cell.settings.profile)?;
        let load = match &self.args.trace {
            Some(_) => Load::Trace(replay_options(self.args, cell)?),
            None => Load::Jobs(jobs(self.args, cell, &profile)?.jobs),
        };
        Ok((profile, sources, load))
    }

    fn check_known(&self, rows: &[Row]) -> Result<()> {
        let path = self.args.sweep.out.as_deref().unwrap_or_default();
        if rows.len() > self.grid.len() {
            return Err(other(path).into());
        }
        for (number, row) in rows.iter().enumerate() {
            let cell = self.grid.cell(number)?;
            let mut place = vec![number.to_string()];
            place.extend(self.place(&cell));
            let (_, input) = self.prepare(&cell);
            if self.columns.identity(row) != (&*place, Some(&input)) {
                return Err(other(path).into());
            }
        }
        if !rows.is_empty() {
            let (known, all) = (rows.len(), self.grid.len());
            note(&format!("note: {path}: {known} of {all} cells are there"));
        }
        Ok(())
    }

    /// Runs what is not there yet.
    fn simulate(&self, store: &mut Store) -> Result<()> {
        let first = store.rows.len();
        let cells: Vec<usize> = (first..self.grid.len()).collect();
        let progress = Progress::new("sweeping");
        let done = AtomicUsize::new(first);
        let all = Mutex::new(store);
        let lock = || all.lock().unwrap_or_else(PoisonError::into_inner);
        let threads = self.args.threads.unwrap_or_else(all_cores);
        try_map(threads, &cells, |number| -> Result<()> {
            if interrupt::flow().is_break() {
                return Ok(());
            }
            let Some(row) = self.cell(*number)? else {
                return Ok(());
            };
            lock().add(*number, row).context("--out: cannot write")?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress.update(done as f64 / self.grid.len() as f64);
            Ok(())
        })?;
        let mut store = lock();
        if store.rows.len() == self.grid.len() {
            store.finish().context("--out: cannot write")?;
        }
        Ok(())
    }

    /// The row of a cell, unless it is interrupted.
    fn cell(&self, number: usize) -> Result<Option<Row>> {
        let cell = self.grid.cell(number)?;
        let (prepared, input) = self.prepare(&cell);
        let result = prepared.and_then(|(profile, sources, load)| {
            let workload = match load {
                Load::Jobs(jobs) => Workload::Jobs(jobs, self.args.precondition.clone()),
                Load::Trace(options) => {
                    let path = self.args.trace.as_deref().unwrap_or_default();
                    let (reader, _) = file::read("--trace", path, &self.args.source)?;
                    Workload::Trace(Box::new(reader), options)
                }
            };
            let run: Run<Box<dyn BufRead>> = Run {
                profile,
                sources,
                workload,
                interval: None,
                timeline: None,
                threads: NonZeroUsize::MIN,
            };
            Ok(run.run(|_| interrupt::flow())?)
        });
        if result.as_ref().is_ok_and(|result| result.is_partial) {
            return Ok(None);
        }
        let jobs = result.as_ref().map_or(&[][..], |result| &result.jobs);
        let is_of_jobs = self.args.trace.is_none();
        if let ([first, .., last], 0, true) = (jobs, number, is_of_jobs) {
            note(&format!(
                "note: rows are of {} jobs together, {} to {}: latencies are those of all their requests, rates {}; --section NAME \
                 takes one job alone",
                jobs.len(),
                first.name,
                last.name,
                match runs_in_turn(jobs) {
                    true => "means over the time of all, for they run one after the other",
                    false => "sums",
                },
            ));
        }
        let outcome = Outcome {
            steady: result.as_ref().map_or("", steady),
            figures: match &result {
                Ok(result) => Ok(figures(result)),
                Err(error) => Err(format!("{error:#}")),
            },
            command: self.command(&cell),
            input,
        };
        Ok(Some(self.columns.row(number, self.place(&cell), outcome)))
    }

    /// Prints the rows, and draws the figure.
    fn finish(&self, rows: &[Row], about: &str) -> Result<(String, Ending)> {
        let refused = rows
            .iter()
            .filter(|row| !self.columns.error(row).is_empty());
        let (count, first) = (refused.clone().count(), refused.clone().next());
        if let Some(row) = first {
            let place: Vec<String> = self
                .varying()
                .iter()
                .map(|(_, key)| {
                    let column = self.columns.position(key);
                    format!("{key}={}", column.map_or("", |column| &row[column]))
                })
                .collect();
            let said = format!(
                "the first, {}: {}",
                place.join(" "),
                self.columns.error(row)
            );
            if count == rows.len() {
                return Err(BadInput(format!("no cell runs; {said}")).into());
            }
            note(&format!(
                "note: {count} of {} cells are refused; {said}",
                rows.len()
            ));
        }
        self.draw(rows)?;
        let form = match self.args.format {
            RunFormat::Json | RunFormat::JsonPlus => Some(Form::Json),
            RunFormat::Csv => Some(Form::Csv),
            RunFormat::Table | RunFormat::Terse => None,
        };
        let is_whole = rows.len() == self.grid.len();
        let text = match form {
            None => {
                let partial = match is_whole {
                    true => String::new(),
                    false => format!(
                        "partial: the first {} of {} cells\n",
                        rows.len(),
                        self.grid.len()
                    ),
                };
                let replicates = self.replicates(rows);
                let replicates = replicates.map_or(String::new(), |table| {
                    format!(
                        "\nmeans over seeds, with 95 % confidence intervals (Student's t):\n{}",
                        table.within(columns())
                    )
                });
                partial
                    + &self.table(rows).within(columns())
                    + &replicates
                    + &version_line("simulated")
            }
            Some(form) => {
                let lines = rows.iter().enumerate();
                let lines = lines.map(|(at, row)| form.line(&self.columns, row, at == 0));
                form.head(&self.columns, about) + &lines.collect::<String>() + form.end()
            }
        };
        let ending = match is_whole {
            true => Ending::Good,
            false => Ending::Partial,
        };
        Ok((text, ending))
    }

    /// Of the keys that vary, the axis and the name.
    fn varying(&self) -> Vec<(usize, String)> {
        let keys = self.grid.keys().filter(|(_, _, varies)| *varies);
        keys.map(|(axis, key, _)| (axis, key.to_owned())).collect()
    }

    fn table(&self, rows: &[Row]) -> Table {
        let column = |name: &str| self.columns.position(name);
        let varying = self.varying();
        let keys = varying
            .iter()
            .filter_map(|(_, key)| Some((column(key)?, &**key)));
        let has = |at: &usize| rows.iter().any(|row| !row[*at].is_empty());
        let figures = SHOWN
            .iter()
            .filter_map(|(name, heading)| column(name).filter(has).map(|at| (at, *heading)));
        let figures: Vec<(usize, &str)> = figures.collect();
        let keys: Vec<(usize, &str)> = keys.collect();
        let shown = keys.iter().map(|(_, name)| (*name, Align::Left));
        let mut table =
            Table::new(shown.chain(figures.iter().map(|(_, name)| (*name, Align::Right))));
        for row in rows {
            let figure = |at: usize| match row[at].parse::<f64>() {
                Ok(number) if self.columns.names[at].ends_with("iops") => {
                    meldsim_stats::count(number)
                }
                Ok(number) if self.columns.names[at] == "write_amplification" => {
                    format!("{number:.2}")
                }
                Ok(number) => format!("{number:.1}"),
                // The whole of the first is in the note.
                Err(_) if row[at].chars().count() > ERROR_SHOWN => {
                    row[at].chars().take(ERROR_SHOWN).collect::<String>() + "..."
                }
                Err(_) => row[at].clone(),
            };
            let keys = keys.iter().map(|(at, _)| row[*at].clone());
            table.row(keys.chain(figures.iter().map(|(at, _)| figure(*at))));
        }
        table
    }

    /// Of cells that differ in their seeds only: means and how far these may be off. Nothing without several seeds.
    fn replicates(&self, rows: &[Row]) -> Option<Table> {
        let (seeds, keys): (Vec<_>, Vec<_>) = self
            .varying()
            .into_iter()
            .partition(|(_, key)| SEEDS.contains(&&**key));
        if seeds.is_empty() {
            return None;
        }
        let column = |name: &str| self.columns.position(name);
        let keys: Vec<usize> = keys.iter().filter_map(|(_, key)| column(key)).collect();
        let place = |row: &Row| keys.iter().map(|at| row[*at].clone()).collect::<Vec<_>>();
        let mut places: Vec<Vec<String>> = Vec::new();
        for row in rows {
            if !places.contains(&place(row)) {
                places.push(place(row));
            }
        }
        let numbers = |at: usize, of: &[String]| {
            let rows = rows.iter().filter(|row| place(row) == of);
            let numbers = rows.filter_map(|row| row[at].parse::<f64>().ok());
            numbers.collect::<Vec<f64>>()
        };
        let figures = SHOWN
            .iter()
            .filter_map(|(name, heading)| Some((column(name)?, *heading)));
        let figures: Vec<_> = figures
            .filter(|(at, _)| places.iter().any(|of| numbers(*at, of).len() > 1))
            .collect();
        let names = keys
            .iter()
            .map(|at| (self.columns.names[*at].as_str(), Align::Left));
        let names = names.chain([("seeds", Align::Right)]);
        let mut table =
            Table::new(names.chain(figures.iter().map(|(_, name)| (*name, Align::Right))));
        for of in &places {
            let count = rows.iter().filter(|row| place(row) == *of).count();
            let figures = figures.iter().map(|(at, _)| interval(&numbers(*at, of)));
            table.row(of.iter().cloned().chain([count.to_string()]).chain(figures));
        }
        Some(table)
    }

    /// Refuses a figure that cannot be drawn, before anything is run.
    fn check_plots(&self) -> Result<()> {
        self.args.sweep.plot.iter().try_for_each(|plot| {
            plot.chart(&self.rows(&self.varying(), &[]))?;
            Ok(())
        })
    }

    fn rows<'r>(&'r self, axes: &'r [(usize, String)], rows: &'r [Row]) -> Rows<'r> {
        Rows {
            names: &self.columns.names,
            axes,
            rows,
        }
    }

    fn draw(&self, rows: &[Row]) -> Result<()> {
        let axes = self.varying();
        for plot in &self.args.sweep.plot {
            let chart = plot.chart(&self.rows(&axes, rows))?;
            let text = match plot.file.ends_with(".svg") {
                true => figure_file(&chart.to_svg()),
                false => {
                    let command = command_line();
                    let origin = origin("those of the table", "as the jobs say", &command)?;
                    let title = chart.title.clone();
                    let cells = format!("{} cells, simulated.", rows.len());
                    let mut page = Page::new(&title, &cells, &origin);
                    page.chart(chart, "Simulated.");
                    page.heading("Cells").table(&self.table(rows));
                    page.finish(&version_line("simulated"))
                }
            };
            write_file("--plot", &plot.file, &text)?;
        }
        Ok(())
    }
}

/// The mean of some numbers and half of its 95 % confidence interval: `93512.4 +- 120.5`.
fn interval(numbers: &[f64]) -> String {
    // Student's t for 1 to 10 degrees of freedom; above, what is a little more.
    const T: [f64; 10] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    ];
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count.max(1.0);
    let squares = numbers
        .iter()
        .map(|number| (number - mean) * (number - mean));
    let Some(freedom) = numbers.len().checked_sub(2) else {
        return numbers
            .first()
            .map_or(String::new(), |one| format!("{one:.2}"));
    };
    let deviation = (squares.sum::<f64>() / (count - 1.0)).sqrt();
    let t = T.get(freedom).copied().unwrap_or(2.201);
    format!("{mean:.2} +- {:.2}", t * deviation / count.sqrt())
}

/// The workload of a cell.
#[derive(Debug)]
enum Load {
    Jobs(Vec<meldsim_workload::Job>),
    Trace(meldsim_workload::trace::ReplayOptions),
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo): the same on every machine.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn add(&mut self, value: &impl Debug) {
        self.bytes(format!("{value:?}").as_bytes());
    }
}

fn digest_of_file(path: &str) -> Result<u64> {
    let unreadable = |error: std::io::Error| {
        BadInput(format!(
            "--trace: cannot read \"{path}\": {error}; give the path of a trace"
        ))
    };
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    let mut digest = Digest::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(unreadable)? {
            0 => return Ok(digest.0),
            bytes => digest.bytes(&buffer[..bytes]),
        }
    }
}
