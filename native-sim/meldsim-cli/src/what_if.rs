//! `meldsim what-if`: a recorded trace on several devices.

use std::sync::Mutex;

use anyhow::Result;
use meldsim::Profile;
use meldsim_experiments::parallel::try_map;
use meldsim_experiments::workload::Job;
use meldsim_experiments::workload::trace::{Replay, ReplayMode, ReplayOptions, TraceReader};
use meldsim_experiments::workload::what_if::{Layout, Outcome, WhatIf};

use crate::args::{RunFormat, WhatIfArgs};
use crate::error::BadInput;
use crate::output::{to_json, version_line};
use crate::progress::Progress;
use crate::run::write_file;
use crate::{profiles, trace_file};

/// One device of each kind that the built-in ones have.
const DEFAULT_PROFILES: [&str; 5] = [
    "melded-tlc-8x8",
    "melded-tlc-16x4",
    "melded-qlc-8x8",
    "flash-970pro",
    "optane-900p",
];
/// Requests outstanding in a closed loop when no number is given.
const CLOSED_DEPTH: u32 = 16;

pub(crate) fn run(args: &WhatIfArgs) -> Result<String> {
    if args.trace == "-" {
        let message = "TRACE: standard input can be read only once; save the trace in a file and give its path";
        return Err(BadInput(message.to_owned()).into());
    }
    let options = options(args)?;
    let profiles = profiles(args)?;
    let runs: Vec<(usize, &Profile, Layout)> = profiles
        .iter()
        .flat_map(|profile| {
            Layout::of(profile)
                .iter()
                .map(move |layout| (profile, *layout))
        })
        .enumerate()
        .map(|(number, (profile, layout))| (number, profile, layout))
        .collect();
    let progress = Progress::new("replaying");
    let shares = Mutex::new(vec![0.0; runs.len()]);
    let outcomes = try_map(args.jobs.get(), &runs, |(number, profile, layout)| {
        let (input, share) = trace_file::open("TRACE", &args.trace)?;
        let reader = TraceReader::new(&args.trace, input, args.trace_format)?;
        let options = ReplayOptions {
            override_pattern: layout.read_pattern(),
            ..options.clone()
        };
        let run = Replay::new(profile, reader, options)?.run(|| {
            // When another thread has the lock, the share is updated the next time.
            if let Ok(mut shares) = shares.try_lock() {
                shares[*number] = share.get();
                progress.update(shares.iter().sum::<f64>() / shares.len() as f64);
            }
        })?;
        Ok::<_, anyhow::Error>(Outcome::new(profile, *layout, &run))
    })?;
    drop(progress);
    let what_if = WhatIf::new(options.mode, outcomes);
    let footer = version_line("simulated");
    if let Some(path) = &args.report {
        let name = std::path::Path::new(&args.trace).file_name();
        let name = name.map_or(args.trace.as_str().into(), |name| name.to_string_lossy());
        let page = what_if.to_html(&format!("What if: {name}"), &footer);
        write_file("--report", path, &page)?;
    }
    match args.format {
        RunFormat::Json => {
            let names: Vec<&str> = profiles
                .iter()
                .map(|profile| profile.name.as_str())
                .collect();
            to_json(&names.join(","), "simulated", what_if)
        }
        RunFormat::Csv => Ok(what_if.to_csv()),
        RunFormat::Table => Ok(what_if.to_text() + &footer),
    }
}

fn options(args: &WhatIfArgs) -> Result<ReplayOptions> {
    let iodepth = args.iodepth.unwrap_or(CLOSED_DEPTH);
    if !(1..=Job::IODEPTH_MAX).contains(&iodepth) {
        let message = format!("--iodepth: is {iodepth}; use 1 to {}", Job::IODEPTH_MAX);
        return Err(BadInput(message).into());
    }
    let open = ReplayOptions {
        speedup: args.speedup,
        ..ReplayOptions::default()
    };
    Ok(if args.closed {
        ReplayOptions {
            mode: ReplayMode::Closed,
            iodepth,
            ..open
        }
    } else {
        open
    })
}

fn profiles(args: &WhatIfArgs) -> Result<Vec<Profile>> {
    if args.profile.is_empty() {
        DEFAULT_PROFILES.into_iter().map(profiles::load).collect()
    } else {
        args.profile
            .iter()
            .map(|name| profiles::load(name))
            .collect()
    }
}
