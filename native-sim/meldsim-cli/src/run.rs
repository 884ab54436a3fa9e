//! `meldsim run`: a workload from a job file, from flags, or from a trace.

use std::io::Empty;
use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context, Result};
use clap::{ArgGroup, Args, ValueEnum};
use meldsim::profile::{Kind, Sources};
use meldsim::timeline::Timeline;
use meldsim::{Duration, Pattern, Profile};
use meldsim_host::all_cores;
use meldsim_report::run_page;
use meldsim_timeline::Timelines;
use meldsim_workload::trace::{Beyond, ReplayMode, ReplayOptions, parse_speedup};
use meldsim_workload::{
    Amount, COMMAND_LINE, Job, JobError, JobFile, JobFileErrors, JobList, Past, ReadWrite, Run,
    RunResult, Runner, Workload, capacity_bytes, parse_bytes, parse_read_pattern, parse_time,
    reasons, write_requests,
};

use crate::args::DEFAULT_PROFILE;
use crate::error::{BadInput, several};
use crate::grid::{Axis, Cell, Grid, SEEDS};
use crate::interrupt;
use crate::output::{
    Ending, NO_JSON, columns, command_line, devices, file_name, footer, named, note, origin, stream,
};
use crate::plot::Plot;
use crate::profiles;
use crate::progress::Progress;
use crate::surroundings::{Around, read_text};
use crate::timeline::TimelineArgs;
use crate::trace::file::{self, TraceArgs};

/// Interval over time when none is given.
const INTERVAL: Duration = Duration::from_us(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunFormat {
    // No help texts here: they would spread every option's help over several lines.
    Table,
    Json,
    #[value(name = "json+")]
    JsonPlus,
    Csv,
    Terse,
}

const JOB_FILE: &str = "job file";

/// Groups of the help.
const DEVICE: &str = "Device";
const WORKLOAD: &str = "Workload";
const TRACE: &str = "Trace";
const OUTPUT: &str = "Output";

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new(JOB_FILE)
        .args(["jobs", "job", "name"])
        .multiple(true)
        .conflicts_with_all(["rw", "bs", "iodepth", "size", "rwmixread", "read_pattern"]),
    after_help = "Examples:\n  \
    meldsim run --rw read --bs 1m --iodepth 16 --size 4g\n  \
    meldsim run mine.fio\n  \
    meldsim run --name=a --rw=randread --bs=4k --iodepth=32 --ioengine=libaio --direct=1 --size=1g\n  \
    meldsim run --profile my.toml --rw randrw --size 1g --runtime 500ms\n  \
    meldsim run --job scan.fio --format json\n  \
    meldsim run --set ftl.page_allocation=PDWC --job scan.fio\n  \
    meldsim run --rw randread --set profile=7450-pro,pm9a3 --set job.iodepth=1,8,64 --out sweep.csv\n  \
    meldsim run --trace tpcc.trace --report tpcc.html\n\n\
    What a job reads is in place when it starts, laid out as its read pattern says; what a trace reads and never wrote \
    is put in place before its first read.\n\n\
    Job files are fio's. Options that mean nothing on a simulated device, as direct and ioengine=libaio, are passed over \
    with a note; others that it does not have are refused by name. Without a size, a job with a filename has the whole \
    device."
)]
pub(crate) struct RunArgs {
    /// Built-in profile, or path of a TOML file
    #[arg(long, default_value = DEFAULT_PROFILE, help_heading = DEVICE)]
    pub(crate) profile: String,
    /// Change a key of the profile, such as sets.count=4, or an option of all jobs, such as job.iodepth=8; several times for
    /// several. Several values, KEY=V1,V2, make a sweep
    #[arg(long, value_name = "KEY=VALUE", value_parser = str::parse::<Axis>, help_heading = DEVICE)]
    pub(crate) set: Vec<Axis>,
    /// Job file of fio; - is standard input
    #[arg(value_name = "FILE")]
    jobs: Option<String>,
    /// The same, as a flag
    #[arg(long, value_name = "FILE", help_heading = WORKLOAD, conflicts_with = "jobs")]
    job: Option<String>,
    /// Begins a job, as on fio's command line: options of fio's jobs before the first are of all, those after it of this one.
    /// Beside a file, options of jobs are what its jobs have unless it says otherwise
    #[arg(long, value_name = "NAME", help_heading = WORKLOAD)]
    name: Option<String>,
    /// Only this section of the job file; several times for several sections
    #[arg(long, value_name = "NAME", requires = JOB_FILE, help_heading = WORKLOAD)]
    pub(crate) section: Vec<String>,
    /// Recorded requests to replay, plain or compressed by gzip; - is standard input
    #[arg(long, value_name = "FILE", help_heading = TRACE, conflicts_with_all = [JOB_FILE, "rw", "bs", "size", "rwmixread", "seed"])]
    pub(crate) trace: Option<String>,
    #[command(flatten)]
    pub(crate) source: TraceArgs,
    /// open: requests arrive when they did in the trace; closed: when one before them has completed
    #[arg(long, value_name = "LOOP", default_value = "open", requires = "trace", help_heading = TRACE, value_parser = str::parse::<ReplayMode>)]
    pub(crate) replay: ReplayMode,
    /// Requests of the trace arrive this many times faster
    #[arg(long, help_heading = TRACE, hide_short_help = true, value_name = "FACTOR", default_value = "1", requires = "trace", value_parser = parse_speedup)]
    pub(crate) speedup: u64,
    /// Requests of the trace beyond the end of the device: wrap moves them, refuse ends the run
    #[arg(long, help_heading = TRACE, hide_short_help = true, value_name = "WHAT", default_value = "wrap", requires = "trace", value_parser = str::parse::<Beyond>)]
    pub(crate) beyond: Beyond,
    /// read, write, trim, rw or trimwrite; the same with rand before it
    #[arg(long, default_value = "read", value_name = "KIND", help_heading = WORKLOAD)]
    pub(crate) rw: ReadWrite,
    /// Bytes of a request
    #[arg(long, default_value = "4KiB", value_name = "SIZE", value_parser = parse_bytes, help_heading = WORKLOAD)]
    pub(crate) bs: u64,
    /// Queue depth; with --replay open an upper limit [default: 1, or 65536]
    #[arg(long, value_name = "N", help_heading = WORKLOAD)]
    pub(crate) iodepth: Option<u32>,
    /// Bytes to transfer, which is the size of the namespace, too; 100% is all that the device holds
    #[arg(long, default_value = "256MiB", value_name = "SIZE", value_parser = str::parse::<Amount>, help_heading = WORKLOAD)]
    pub(crate) size: Amount,
    /// End all jobs, or the trace, after this much simulated time
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = WORKLOAD)]
    pub(crate) runtime: Option<Duration>,
    /// Percentage of reads with rw and randrw
    #[arg(long, default_value_t = 50, value_name = "PERCENT", help_heading = WORKLOAD)]
    pub(crate) rwmixread: u32,
    /// State of the device before the run, such as fill=100,random=100,skew=zipf:0.9. fill: percent of every namespace that
    /// holds data; random: percent of that which was overwritten at random until the steady state; both are 100 if left out.
    /// skew: how often each block was overwritten, as random_distribution of a job [default: skew=random, all alike]
    #[arg(long, value_name = "STATE", value_parser = str::parse::<Past>, help_heading = DEVICE)]
    pub(crate) precondition: Option<Past>,
    /// How the host says the data will be read: sequential, random or none
    #[arg(long, default_value = "none", value_name = "PATTERN", value_parser = parse_read_pattern, help_heading = WORKLOAD)]
    pub(crate) read_pattern: Pattern,
    /// Seed of random order, mix and sizes, for jobs that set no randseed; several, as 1,2,3, make a sweep [default: fio's, with
    /// randrepeat]
    #[arg(long, value_name = "N", help_heading = WORKLOAD, hide_short_help = true, value_delimiter = ',')]
    pub(crate) seed: Vec<u64>,
    /// Print the jobs' requests and simulate nothing: CSV with a row for each, job by job, in the order of each job. A number
    /// is the most of a job, which one that is time_based needs
    #[arg(long, value_name = "MOST", help_heading = OUTPUT, num_args = 0..=1, default_missing_value = "18446744073709551615", conflicts_with_all = ["trace", "format", "report", "time_series", "timeline"])]
    requests: Option<u64>,
    /// Form of the result: a table for people, JSON in fio's shape, CSV with a row for each job and direction, or fio's terse
    /// lines, version 3
    #[arg(long, value_enum, default_value = "table", value_name = "FORM", help_heading = OUTPUT)]
    pub(crate) format: RunFormat,
    /// Write the result to this file, and not to standard output
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<String>,
    /// Only check the jobs, as fio's --parse-only
    #[arg(long, hide = true)]
    parse_only: bool,
    /// Also write rates and latencies over time, as CSV with a row for each interval, job and direction
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) time_series: Option<String>,
    /// Length of an interval in simulated time; a run of more than 1024 doubles it. With this flag JSON has the time series,
    /// too [default: 100us]
    #[arg(long, help_heading = OUTPUT, hide_short_help = true, value_name = "TIME", value_parser = parse_interval)]
    pub(crate) interval: Option<Duration>,
    /// Also write a page with charts, HTML that needs nothing else
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) report: Option<String>,
    /// Threads for NVM sets that share nothing; the result does not depend on it [default: one on each core]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) timeline: TimelineArgs,
    #[command(flatten)]
    pub(crate) sweep: SweepArgs,
}

/// A run for each combination of values.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sweep")]
pub(crate) struct SweepArgs {
    /// File with an axis of the sweep on each line, as after --set
    #[arg(long, value_name = "FILE")]
    pub(crate) grid: Option<String>,
    /// Also write a row for each cell as soon as it is there: JSON if the name ends in .json, else CSV. Of a file that has
    /// some of the rows, only the others are run
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<String>,
    /// Also draw a figure: x=KEY,y=COLUMN,by=KEY,file=FIGURE.svg, or .html; several times for several. Keys are those of --set,
    /// columns those of --format csv
    #[arg(long, value_name = "WHAT", value_parser = str::parse::<Plot>)]
    pub(crate) plot: Vec<Plot>,
}

impl RunArgs {
    /// The grid that the flags describe; of one cell if they are of one run.
    pub(crate) fn grid(&self) -> Result<Grid> {
        let mut axes = self.set.clone();
        if self.seed.len() > 1 {
            let seeds: Vec<String> = self.seed.iter().map(u64::to_string).collect();
            let axis = format!("{}={}", SEEDS[0], seeds.join(","));
            axes.push(axis.parse().map_err(BadInput)?);
        }
        Grid::of(self.sweep.grid.as_deref(), &axes)
    }

    fn job_file<'a>(&'a self, cell: &'a Cell) -> Option<&'a str> {
        let named = self.jobs.as_deref().or(self.job.as_deref());
        cell.job.as_deref().or(named)
    }

    /// The path of the job file or the trace, if there is one.
    pub(crate) fn workload_path<'a>(&'a self, cell: &'a Cell) -> Option<&'a str> {
        self.trace.as_deref().or(self.job_file(cell))
    }

    pub(crate) fn reads_standard_input(&self) -> bool {
        self.workload_path(&Cell::default()) == Some("-")
    }

    pub(crate) fn wants_requests(&self) -> bool {
        self.requests.is_some()
    }

    /// The device.
    pub(crate) fn profile<'a>(&'a self, cell: &'a Cell) -> &'a str {
        cell.profile.as_deref().unwrap_or(&self.profile)
    }
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    match parse_time(text)? {
        Duration::ZERO => Err("is 0; use a time such as 100us".to_owned()),
        interval => Ok(interval),
    }
}

/// One run, with the settings of `cell`.
pub(crate) fn run(args: &RunArgs, cell: &Cell) -> Result<(String, Ending)> {
    interrupt::watch();
    let (profile, sources) = profiles::load_sourced(args.profile(cell), &cell.settings.profile)?;
    if args.parse_only && args.trace.is_none() {
        return jobs(args, cell, &profile).map(|_| (String::new(), Ending::Good));
    }
    if let Some(most) = args.requests {
        let jobs = jobs(args, cell, &profile)?.jobs;
        return print_requests(&profile, &jobs, most).map(|()| (String::new(), Ending::Good));
    }
    let name = profile.name.clone();
    let mut result = match &args.trace {
        Some(path) => replay(args, cell, profile, sources, path)?,
        None => run_jobs(args, cell, profile, sources)?,
    };
    if let (Some(path), Some(series)) = (&args.time_series, &result.series) {
        write_file("--time-series", path, &series.to_csv())?;
    }
    let footer = footer(&name, "simulated");
    if args.report.is_some() || args.timeline.timeline.is_some() {
        let partial = if result.is_partial { " (partial)" } else { "" };
        let title = format!("{} on {name}{partial}", workload(args, cell));
        let (seed, settings) = provenance(args, cell, &result);
        let origin = origin(&name, &seed, &settings)?;
        let devices = &result.timelines;
        args.timeline
            .write_page(&title, devices, &origin, &footer)?;
        if let Some(path) = &args.report {
            let page = run_page(&result, &title, &origin, &footer);
            write_file("--report", path, &page)?;
        }
    }
    let ending = match result.is_partial {
        true => Ending::Partial,
        false => Ending::of(result.failures().is_none()),
    };
    let text = match args.format {
        RunFormat::Json | RunFormat::JsonPlus => {
            result.has_bins = args.format == RunFormat::JsonPlus;
            // Without an interval, the series is only for the page and the CSV file.
            result.series = result.series.filter(|_| args.interval.is_some());
            result.to_json(&command_line(), &name).context(NO_JSON)?
        }
        RunFormat::Csv => result.to_csv(),
        RunFormat::Terse => result.to_terse(&command_line(), &name).context(NO_JSON)?,
        RunFormat::Table => devices([&*name]) + &result.to_text_within(columns()) + &footer,
    };
    Ok((text, ending))
}

/// Writes the requests of jobs as they are drawn: there may be very many.
fn print_requests(profile: &Profile, jobs: &[Job], most: u64) -> Result<()> {
    let endless = jobs.iter().find(|job| job.time_based && most == u64::MAX);
    if let Some(job) = endless {
        let name = &job.name;
        let text = format!(
            "--requests: [{name}] is time_based and has no last request; give a number, such as --requests 1000"
        );
        return Err(BadInput(text).into());
    }
    if profile.has_zones() {
        // What is wrong with a job is said before anything is written.
        Runner::new(profile, jobs)?;
    }
    stream(|out| write_requests(profile, jobs, most, out))
}

/// The workload's name: its file, or its kind.
pub(crate) fn workload(args: &RunArgs, cell: &Cell) -> String {
    match (args.workload_path(cell), &args.name) {
        (Some(file), _) => file_name(file),
        (None, Some(_)) => COMMAND_LINE.to_owned(),
        (None, None) => args.rw.to_string(),
    }
}

/// The timelines, if they are asked for, and what the device tells its records.
fn timelines(
    args: &RunArgs,
    cell: &Cell,
    profile: &Profile,
) -> Result<Option<(Timelines, Box<dyn Timeline>)>> {
    if args.timeline.timeline.is_none() {
        return Ok(None);
    }
    let timelines = args.timeline.create(args.report.is_some())?;
    let name = format!("{} on {}", workload(args, cell), profile.name);
    let device = args.timeline.begin(&timelines, profile, &name)?;
    Ok(Some((timelines, device)))
}

/// Ends the timelines, and puts into the result what it shows of them.
fn finish(args: &RunArgs, timelines: Option<Timelines>, result: &mut RunResult) -> Result<()> {
    if let Some(timelines) = timelines {
        let written = args.timeline.finish(&timelines)?;
        result.timelines = written.devices;
        result.waits = written.waits;
    }
    Ok(())
}

/// The seeds of a run, and what was chosen for it.
fn provenance(args: &RunArgs, cell: &Cell, result: &RunResult) -> (String, String) {
    const SEED: &str = "randseed";
    let mut settings: Vec<String> = cell.settings().collect();
    if let Some(past) = &args.precondition {
        settings.push(format!("precondition {past}"));
    }
    if args.trace.is_some() {
        settings.push(format!("{} loop", args.replay.name()));
        settings.push(format!(
            "iodepth {}",
            args.iodepth.unwrap_or(args.replay.default_iodepth())
        ));
        settings.push(format!("speedup {}", args.speedup as f64 / 1e6));
        return (
            "none: the trace has the requests".to_owned(),
            settings.join("; "),
        );
    }
    let mut seeds = Vec::new();
    for job in &result.jobs {
        let (seed, others): (Vec<_>, Vec<_>) =
            job.options.iter().partition(|(key, _)| *key == SEED);
        let seed = seed.first().map_or("", |(_, value)| value);
        if !seeds.contains(&seed) {
            seeds.push(seed);
        }
        let others = others.iter().map(|(key, value)| format!("{key}={value}"));
        settings.push(format!(
            "{}: {}",
            job.name,
            others.collect::<Vec<_>>().join(" ")
        ));
    }
    (seeds.join(", "), settings.join("; "))
}

/// The interval over time, if anything will show it.
fn interval(args: &RunArgs) -> Option<Duration> {
    let wanted = args.time_series.is_some() || args.report.is_some() || args.interval.is_some();
    wanted.then(|| args.interval.unwrap_or(INTERVAL))
}

fn run_jobs(args: &RunArgs, cell: &Cell, profile: Profile, sources: Sources) -> Result<RunResult> {
    if args.precondition.is_some() && profile.kind == Kind::Xpoint {
        note("note: --precondition changes nothing: this device collects no garbage");
    }
    let JobList { jobs, passed_over } = jobs(args, cell, &profile)?;
    let (timelines, timeline) = timelines(args, cell, &profile)?.unzip();
    let run = Run::<Empty> {
        profile,
        sources,
        workload: Workload::Jobs(jobs, args.precondition.clone()),
        interval: interval(args),
        timeline,
        threads: args.threads.unwrap_or_else(all_cores),
    };
    let progress = Progress::new("simulating");
    let mut result = run.run(|reached| progress.of_run(reached, 0.0))?;
    finish(args, timelines, &mut result)?;
    result.passed_over = passed_over;
    Ok(result)
}

fn replay(
    args: &RunArgs,
    cell: &Cell,
    profile: Profile,
    sources: Sources,
    path: &str,
) -> Result<RunResult> {
    let options = replay_options(args, cell)?;
    let (reader, share) = file::read("--trace", path, &args.source)?;
    let (timelines, timeline) = timelines(args, cell, &profile)?.unzip();
    let run = Run {
        profile,
        sources,
        workload: Workload::Trace(Box::new(reader), options),
        interval: interval(args),
        timeline,
        threads: NonZeroUsize::MIN,
    };
    let progress = Progress::new("replaying");
    let mut result = run.run(|reached| progress.of_run(reached, share.get()))?;
    finish(args, timelines, &mut result)?;
    Ok(result)
}

/// How the trace is replayed.
pub(crate) fn replay_options(args: &RunArgs, cell: &Cell) -> Result<ReplayOptions> {
    if let Some((option, _)) = cell.settings.job.first() {
        let text = format!("--set: job.{option} is of jobs, and a trace has none; remove it");
        return Err(BadInput(text).into());
    }
    if cell.job.is_some() {
        return Err(BadInput("--set: job is a job file; give it or --trace".to_owned()).into());
    }
    let options = ReplayOptions {
        mode: args.replay,
        iodepth: args.iodepth.unwrap_or(args.replay.default_iodepth()),
        speedup: args.speedup,
        beyond: args.beyond,
        read_pattern: args.read_pattern,
        override_pattern: None,
        plan: Vec::new(),
        runtime: args.runtime,
        precondition: args.precondition.clone(),
    };
    options.validate().map_err(bad_flag)?;
    Ok(options)
}

/// An option of the library is a flag of the same name.
pub(crate) fn bad_flag(error: JobError) -> BadInput {
    BadInput(format!("--{error}"))
}

pub(crate) fn write_file(flag: &str, path: &str, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| {
        let message =
            format!("{flag}: cannot write \"{path}\": {error}; give a path that can be written");
        BadInput(message).into()
    })
}

/// The jobs of a job file, or of standard input for `-`, with what is laid over them and kept of them.
pub(crate) struct JobSource<'a> {
    pub(crate) path: &'a str,
    pub(crate) before: &'a str,
    pub(crate) sections: &'a [String],
    pub(crate) options: &'a [(String, String)],
    pub(crate) runtime: Option<Duration>,
}

impl JobSource<'_> {
    pub(crate) fn read(&self, defaults: &Job, profile: &Profile) -> Result<JobList> {
        let name = named(self.path);
        let text = read_text(Path::new(self.path)).map_err(|error| {
            BadInput(format!(
                "--job: cannot read \"{name}\": {error}; give the path of a job file in UTF-8"
            ))
        })?;
        self.parse_aloud(name, &text, defaults, profile)
    }

    /// Notes what was passed over.
    fn parse_aloud(
        &self,
        name: &str,
        text: &str,
        defaults: &Job,
        profile: &Profile,
    ) -> Result<JobList> {
        let list = self.parse(name, text, defaults, profile)?;
        if !list.passed_over.is_empty() {
            let reasons = reasons(&list.passed_over).into_iter();
            let reasons =
                reasons.map(|(reason, options)| format!("{} ({reason})", options.join(", ")));
            let reasons = reasons.collect::<Vec<_>>().join("; ");
            note(&format!("note: {name}: passed over: {reasons}"));
        }
        Ok(list)
    }

    fn parse(&self, name: &str, text: &str, defaults: &Job, profile: &Profile) -> Result<JobList> {
        let file = JobFile {
            name,
            text,
            defaults,
            before: self.before,
            sections: self.sections,
            options: self.options,
            runtime: self.runtime,
            surroundings: &Around::new(self.path, profile),
        };
        Ok(file.parse().map_err(|errors| all(name, errors))?)
    }
}

/// One mistake on the line of the message, several below it.
fn all(path: &str, JobFileErrors(errors): JobFileErrors) -> BadInput {
    BadInput(match errors.as_slice() {
        [error] => error.to_string(),
        errors => several(path, errors),
    })
}

pub(crate) fn jobs(args: &RunArgs, cell: &Cell, profile: &Profile) -> Result<JobList> {
    let defaults =
        Job::new(args.rw.to_string()).with_seed(cell.seed.or(args.seed.first().copied()));
    let options = cell.settings.job.as_slice();
    let source = |path, before| JobSource {
        path,
        before,
        sections: &args.section,
        options,
        runtime: args.runtime,
    };
    let before = args.name.as_deref();
    if let Some(path) = args.job_file(cell) {
        return source(path, before.unwrap_or_default()).read(&defaults, profile);
    }
    if let Some(text) = before {
        return source("", "").parse_aloud(COMMAND_LINE, text, &defaults, profile);
    }
    let job = Job {
        rw: args.rw,
        block_bytes: args.bs,
        iodepth: args.iodepth.unwrap_or(1),
        size_bytes: match args.size {
            Amount::Bytes(bytes) => bytes,
            part => part.of(capacity_bytes(profile)?),
        },
        runtime: args.runtime,
        rwmixread: args.rwmixread,
        read_pattern: args.read_pattern,
        ..defaults
    };
    if !options.is_empty() {
        let rw = options.iter().rfind(|(key, _)| key == "rw");
        let name = rw.map_or(&job.name, |(_, rw)| rw);
        return source("", "").parse("--set", &format!("[{name}]\n"), &job, profile);
    }
    job.validate().map_err(bad_flag)?;
    Ok(JobList {
        jobs: vec![job],
        passed_over: Vec::new(),
    })
}
