//! `meldsim what-if`: a recorded trace on several devices.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use anyhow::Result;
use clap::Args;
use meldsim::Profile;
use meldsim::profile::{Kind, Sources};
use meldsim_advice::what_if::{Layout, Outcome, WhatIf};
use meldsim_host::try_map;
use meldsim_workload::Limit;
use meldsim_workload::trace::{Replay, ReplayMode, ReplayOptions, parse_speedup};

use crate::args::{DEFAULT_PROFILE, JobsArg};
use crate::error::BadInput;
use crate::interrupt;
use crate::output::{self, Ending, columns, file_name, origin, to_partial_json, version_line};
use crate::profiles;
use crate::progress::Progress;
use crate::run::{RunFormat, bad_flag, write_file};
use crate::timeline::TimelineArgs;
use crate::trace::file::{self, TraceArgs};

/// The profiles when none is named: that of the other commands, and drives of other makers to compare it with.
const DEFAULT_PROFILES: [&str; 4] = [DEFAULT_PROFILE, "pm9a3", "p5520", "cm7-r"];
/// Requests outstanding in a closed loop when no number is given.
const CLOSED_DEPTH: u32 = 16;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    meldsim what-if scan.meld.gz\n  \
    meldsim what-if scan.meld.gz --closed --iodepth 16 --report what-if.html\n  \
    meldsim what-if scan.meld.gz --profile melded-tlc-8x8 --profile my.toml\n\n\
    The trace is replayed once on each device as it was recorded, and where the device can meld pages also with all data \
    melded and with none. Each run starts with a fresh device; all volumes of the trace share it. What the trace reads \
    and never wrote is put in place before its first read.")]
pub(crate) struct WhatIfArgs {
    /// Recorded requests; plain or compressed by gzip
    #[arg(value_name = "TRACE")]
    pub(crate) trace: String,
    #[command(flatten)]
    pub(crate) source: TraceArgs,
    /// Built-in profile, or path of a TOML file; several times for several devices [default: 7450-pro, pm9a3,
    /// p5520 and cm7-r]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Vec<String>,
    /// Requests arrive when one before them has completed, not when they were recorded
    #[arg(long)]
    pub(crate) closed: bool,
    /// Requests outstanding with --closed [default: 16]
    #[arg(long, value_name = "N", requires = "closed")]
    pub(crate) iodepth: Option<u32>,
    /// Requests arrive this many times faster; undoes the time dilation of a trace
    #[arg(long, value_name = "FACTOR", default_value = "1", conflicts_with = "closed", value_parser = parse_speedup)]
    pub(crate) speedup: u64,
    /// Form of the result: a table for people, JSON, or CSV with a row for each device and layout
    #[arg(long, value_enum, default_value = "table", value_name = "FORM")]
    pub(crate) format: RunFormat,
    /// Also write a page with charts, HTML that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<String>,
    #[command(flatten)]
    pub(crate) timeline: TimelineArgs,
    #[command(flatten)]
    pub(crate) jobs: JobsArg,
}

pub(crate) fn run(args: &WhatIfArgs) -> Result<(String, Ending)> {
    if args.trace == "-" {
        let message = "TRACE: standard input can be read only once; save the trace in a file and give its path";
        return Err(BadInput(message.to_owned()).into());
    }
    let options = options(args)?;
    let (profiles, sources): (Vec<Profile>, Vec<Sources>) = profiles(args)?.into_iter().unzip();
    let layouts = |(device, profile)| {
        let layouts = Layout::of(profile).iter();
        layouts.map(move |layout| (device, *layout))
    };
    let runs = profiles.iter().enumerate().flat_map(layouts).enumerate();
    let runs: Vec<(usize, (usize, Layout))> = runs.collect();
    let wanted = args.timeline.timeline.as_ref();
    let timelines = wanted.map(|_| args.timeline.create(args.report.is_some()));
    let timelines = timelines.transpose()?;
    // Devices write their timelines one after the other, so that the same command writes the same file.
    let jobs = match timelines {
        Some(_) => NonZeroUsize::MIN,
        None => args.jobs.get(),
    };
    let replay =
        |share: &dyn Fn(f64), device: usize, layout, options: ReplayOptions, name: Option<&str>| {
            let profile = &profiles[device];
            let (reader, read) = file::read("TRACE", &args.trace, &args.source)?;
            let mut replay = Replay::new(profile, reader, options.clone())?.with_groups();
            if let (Some(timelines), Some(name), Kind::Nand) = (&timelines, name, profile.kind) {
                replay = replay.with_timeline(args.timeline.begin(timelines, profile, name)?)?;
            }
            let mut run = replay.run_until(|_| {
                share(read.get());
                interrupt::flow()
            })?;
            let stats = &run.device.run;
            run.limit = Some(Limit::of(stats, options.load(), profile, &sources[device]));
            let outcome = || Outcome::new(&profiles, device, layout, &run);
            Ok::<_, anyhow::Error>((!run.is_partial).then(outcome))
        };
    interrupt::watch();
    let progress = Progress::new("replaying");
    let shares = Mutex::new(vec![0.0; runs.len()]);
    // What is interrupted cannot be compared, and what comes after is not begun.
    let outcomes = try_map(jobs, &runs, |(number, (device, layout))| {
        if interrupt::flow().is_break() {
            return Ok(None);
        }
        let options = ReplayOptions {
            override_pattern: layout.read_pattern(),
            ..options.clone()
        };
        let share = |share| {
            // When another thread has the lock, the share is updated the next time.
            if let Ok(mut shares) = shares.try_lock() {
                shares[*number] = share;
                progress.update(shares.iter().sum::<f64>() / shares.len() as f64);
            }
        };
        let name = format!("{}, {}", profiles[*device].name, layout.name());
        replay(&share, *device, *layout, options, Some(&name))
    })?;
    let names: Vec<&str> = profiles.iter().map(|profile| &*profile.name).collect();
    let outcomes: Vec<Outcome> = outcomes.into_iter().map_while(|outcome| outcome).collect();
    let (done, all) = (outcomes.len(), runs.len());
    let mut note = format!("partial: interrupted after {done} of {all} replays");
    if outcomes.is_empty() {
        let text = output::devices(names) + &note + "\n";
        return Ok((text, Ending::Partial));
    }
    let mut ending = match done == all {
        true => Ending::Good,
        false => Ending::Partial,
    };
    let mut what_if = WhatIf::new(options.mode, &profiles, outcomes)?;
    for plan in what_if.plans() {
        if ending == Ending::Partial {
            break;
        }
        let replayed = try_map(args.jobs.get(), plan.runs(), |(device, plan)| {
            let options = ReplayOptions {
                plan: plan.clone(),
                ..options.clone()
            };
            replay(&|_| {}, *device, Layout::AsRecorded, options, None)
        })?;
        // Advice of which not all was replayed is none.
        match replayed.into_iter().collect::<Option<Vec<Outcome>>>() {
            Some(replayed) => what_if.advise(&plan, &replayed),
            None => {
                ending = Ending::Partial;
                "partial: interrupted before all advice was replayed".clone_into(&mut note);
            }
        }
    }
    drop(progress);
    if let Some(timelines) = &timelines {
        what_if.timelines = args.timeline.finish(timelines)?.devices;
        if let Some(without) = profiles.iter().find(|profile| profile.kind != Kind::Nand) {
            let name = &without.name;
            output::note(&format!("note: {name} has no timeline: it is no flash"));
        }
    }
    let footer = version_line("simulated");
    if args.report.is_some() || timelines.is_some() {
        let mut title = format!("What if: {}", file_name(&args.trace));
        if ending == Ending::Partial {
            title += &format!(" ({note})");
        }
        let settings = format!(
            "{} loop; iodepth {}; speedup {}",
            options.mode.name(),
            options.iodepth,
            options.speedup as f64 / 1e6
        );
        let seed = "none: the trace has the requests";
        let origin = origin(&names.join(", "), seed, &settings)?;
        let devices = &what_if.timelines;
        args.timeline
            .write_page(&title, devices, &origin, &footer)?;
        if let Some(path) = &args.report {
            let page = what_if.to_html(&title, &origin, &footer);
            write_file("--report", path, &page)?;
        }
    }
    let text = match args.format {
        RunFormat::Json | RunFormat::JsonPlus => {
            to_partial_json(&names.join(","), "simulated", &what_if, ending)?
        }
        RunFormat::Csv => what_if.to_csv(),
        RunFormat::Terse => {
            let text = "--format: terse is of the jobs of one run; use table, json or csv";
            return Err(BadInput(text.to_owned()).into());
        }
        RunFormat::Table => {
            let note = match ending {
                Ending::Partial => note + "\n",
                _ => String::new(),
            };
            output::devices(names) + &note + &what_if.to_text_within(columns()) + &footer
        }
    };
    Ok((text, ending))
}

fn options(args: &WhatIfArgs) -> Result<ReplayOptions> {
    let (mode, iodepth) = match args.closed {
        true => (ReplayMode::Closed, args.iodepth.unwrap_or(CLOSED_DEPTH)),
        false => (ReplayMode::Open, ReplayMode::Open.default_iodepth()),
    };
    let options = ReplayOptions {
        mode,
        iodepth,
        speedup: args.speedup,
        ..ReplayOptions::default()
    };
    options.validate().map_err(bad_flag)?;
    Ok(options)
}

fn profiles(args: &WhatIfArgs) -> Result<Vec<(Profile, Sources)>> {
    let load = |name| profiles::load_sourced(name, &[]);
    if args.profile.is_empty() {
        return DEFAULT_PROFILES.into_iter().map(load).collect();
    }
    let mut loaded = args.profile.iter().map(|name| load(name));
    let mut loaded = loaded.by_ref().collect::<Result<Vec<_>>>()?;
    // Two files may have one name, as a copy in which a key was changed.
    let names: Vec<String> = loaded
        .iter()
        .map(|(profile, _)| profile.name.clone())
        .collect();
    for ((profile, _), file) in loaded.iter_mut().zip(&args.profile) {
        let same = names.iter().filter(|name| **name == profile.name).count();
        if same > 1 && profile.name != *file {
            profile.name = format!("{} ({file})", profile.name);
        }
    }
    Ok(loaded)
}
