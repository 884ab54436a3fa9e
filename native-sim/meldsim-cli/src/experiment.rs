//! `meldsim experiment`: published experiments, on the published devices or on others.

use anyhow::Result;
use meldsim::Profile;
use meldsim_lab::{BusSpeed, Run, Scale, Setup};
use meldsim_stats::bytes;
use meldsim_timeline::Timelines;

use crate::args_experiment::{CommonArgs, ExperimentArgs, OutputFormat, SetupArgs};
use crate::error::BadInput;
use crate::experiments::EXPERIMENTS;
use crate::output::{columns, footer, origin, to_json};
use crate::profiles;
use crate::progress::Progress;
use crate::run::write_file;

pub(crate) fn run(args: &ExperimentArgs) -> Result<String> {
    let command = &args.command;
    let args = &command.common;
    let named = args.profile.as_deref();
    let profile = profiles::load(named.unwrap_or(command.experiment.profile))?;
    let mut run = Run::new(command.experiment, profile)?;
    if command.scale.as_ref().is_some_and(|scale| scale.quick) {
        run.scale = Scale::Quick;
    }
    if let Some(measured) = &command.measured {
        run.measured.clone_from(&measured.cells);
    }
    if let Some(runs) = &command.runs {
        run.measured_runs.clone_from(&runs.measured);
    }
    if let Some(setups) = &command.setups {
        if named.is_some() {
            run.setups = vec![own_setup(&run.profile)];
        }
        run.setups = varied(setups, &run.setups);
    }
    if let Some(sizes) = command
        .sizes
        .as_ref()
        .filter(|sizes| !sizes.request_size.is_empty())
    {
        run.request_sizes.clone_from(&sizes.request_size);
    }
    if let Some(folder) = &args.figures {
        std::fs::create_dir_all(folder).map_err(|error| {
            BadInput(format!(
                "--figures: cannot make the folder \"{folder}\": {error}; give a path that can be written"
            ))
        })?;
    }
    let timelines = timelines(args, &run)?;
    let progress = Progress::new("simulating");
    let mut outcome = run.outcome(args.jobs.get(), &|share| progress.update(share))?;
    drop(progress);
    let name = &run.profile.name;
    let footer = footer(name, "simulated");
    if let Some(timelines) = timelines {
        run.timelines(&timelines)?;
        outcome.timelines = args.timeline.finish(&timelines)?.devices;
    }
    if args.report.is_some() || args.timeline.timeline.is_some() {
        let seed = "fixed by the experiment";
        let origin = origin(name, seed, &settings(&run))?;
        let title = format!("Experiment {}", outcome.experiment);
        let devices = &outcome.timelines;
        args.timeline
            .write_page(&title, devices, &origin, &footer)?;
        if let Some(path) = &args.report {
            let page = outcome.to_html(&origin, &footer);
            write_file("--report", path, &page)?;
        }
    }
    if let Some(folder) = &args.figures {
        for (index, figure) in outcome.figures().enumerate() {
            let path = format!("{folder}/{}-{}.svg", outcome.experiment, index + 1);
            write_file("--figures", &path, &figure)?;
        }
    }
    match args.format {
        OutputFormat::Table => Ok(outcome.to_text_within(columns()) + &footer),
        OutputFormat::Json => to_json(name, "simulated", &&outcome),
        OutputFormat::Csv => Ok(outcome.to_csv()),
    }
}

/// The timelines, if there are any and something shows them: a report always does, for they are small.
fn timelines(args: &CommonArgs, run: &Run) -> Result<Option<Timelines>> {
    if !run.has_timeline() {
        if args.timeline.timeline.is_some() {
            let with = EXPERIMENTS.iter().filter(|other| other.has_timeline());
            let with: Vec<&str> = with.map(|other| other.name).collect();
            let message = format!(
                "--timeline: experiment {} runs many devices and has no timeline of one; use {}, or meldsim run --profile {} --timeline",
                run.experiment.name,
                with.join(", "),
                run.profile.name
            );
            return Err(BadInput(message).into());
        }
        return Ok(None);
    }
    let wanted = args.report.is_some() || args.timeline.timeline.is_some();
    wanted
        .then(|| args.timeline.create(args.report.is_some()))
        .transpose()
}

/// The settings of a run beside its profile.
fn settings(run: &Run) -> String {
    let mut settings = match run.scale {
        Scale::Quick => vec!["quick".to_owned()],
        Scale::Full => vec!["in full".to_owned()],
    };
    settings.extend(run.setups.iter().map(Setup::to_string));
    if let Some(folder) = &run.measured {
        settings.push(format!("cells of {}", folder.display()));
    }
    settings.extend(
        run.measured_runs
            .iter()
            .map(|file| format!("measured: {}", file.display())),
    );
    if !run.request_sizes.is_empty() {
        let sizes = run.request_sizes.iter().map(|size| bytes(*size));
        settings.push(format!(
            "requests of {}",
            sizes.collect::<Vec<_>>().join(", ")
        ));
    }
    settings.join("; ")
}

fn own_setup(profile: &Profile) -> Setup {
    Setup {
        channels: profile.geometry.channels,
        dies_per_channel: profile.geometry.dies_per_channel,
        page_bytes: profile.geometry.page_size.0,
        bus: BusSpeed {
            mts: profile.bus.rate.0,
            bits: profile.bus.width_bits,
        },
    }
}

/// Every combination of the given values; `defaults` has the others.
fn varied(args: &SetupArgs, defaults: &[Setup]) -> Vec<Setup> {
    let mut setups = Vec::new();
    for default in defaults {
        for page_bytes in or(&args.page_size, default.page_bytes) {
            for bus in or(&args.bus, default.bus) {
                let setup = Setup {
                    channels: args.channels.unwrap_or(default.channels),
                    dies_per_channel: args.dies.unwrap_or(default.dies_per_channel),
                    page_bytes,
                    bus,
                };
                // Published devices that differ only in what is given fall together.
                if !setups.contains(&setup) {
                    setups.push(setup);
                }
            }
        }
    }
    setups.sort_by_key(|setup| setup.page_bytes);
    setups
}

fn or<T: Copy>(given: &[T], default: T) -> Vec<T> {
    if given.is_empty() {
        vec![default]
    } else {
        given.to_vec()
    }
}
