//! `meldsim experiment`: published experiments, on the published devices or on others.

use anyhow::{Context, Result};
use meldsim::Profile;
use meldsim::profile::Kind;
use meldsim_experiments::experiment::{
    BusSpeed, Effort, Experiment, LatencyReport, Outcome, Setup, melded_latency, melded_throughput,
};
use serde::Serialize;

use crate::args::DEFAULT_PROFILE;
use crate::args_experiment::{
    ExperimentArgs, ExperimentCommand, LongArgs, OutputArgs, OutputFormat, PresetArgs, SpaceArgs,
};
use crate::output::{command_line, footer, to_json};
use crate::profiles;
use crate::progress::Progress;

pub(crate) fn run(args: &ExperimentArgs) -> Result<String> {
    let mut progress = Progress::new("simulating");
    let mut progress = |share| progress.update(share);
    match &args.command {
        ExperimentCommand::MeldedLatency {
            request_size,
            space,
        } => {
            let base = base(space)?;
            let setups = setups(space, &base, &[Setup::PUBLISHED_LATENCY]);
            let sizes = match request_size.as_slice() {
                [] => LatencyReport::published_sizes().collect(),
                sizes => sizes.to_vec(),
            };
            let report = melded_latency(&base, &setups, &sizes, &mut progress)?;
            let outcome = || Ok(report.to_outcome(&base)?);
            render(&space.output, &base, &report, &report.to_text(), outcome)
        }
        ExperimentCommand::MeldedThroughput { space } => {
            let base = base(space)?;
            let published: Vec<Setup> = Setup::published_throughput().collect();
            let setups = setups(space, &base, &published);
            let report = melded_throughput(&base, &setups, &mut progress)?;
            let outcome = || Ok(report.to_outcome(&base));
            render(&space.output, &base, &report, &report.to_text(), outcome)
        }
        ExperimentCommand::MeldingWindow(args) => {
            preset("melding-window", args, Effort::Full, &mut progress)
        }
        ExperimentCommand::Palloc(args) => long("palloc", args, &mut progress),
        ExperimentCommand::OptaneContract(args) => long("optane-contract", args, &mut progress),
        ExperimentCommand::InterleaveDetection(args) => {
            long("interleave-detection", args, &mut progress)
        }
        ExperimentCommand::NoisyNeighbor(args) => long("noisy-neighbor", args, &mut progress),
        ExperimentCommand::LatencyWindows(args) => {
            preset("latency-windows", args, Effort::Full, &mut progress)
        }
        ExperimentCommand::FirmwareScaling(args) => long("firmware-scaling", args, &mut progress),
        ExperimentCommand::FirmwareThreads(args) => long("firmware-threads", args, &mut progress),
        ExperimentCommand::FirmwareSteadyState(args) => {
            long("firmware-steady-state", args, &mut progress)
        }
        ExperimentCommand::FirmwarePower(args) => long("firmware-power", args, &mut progress),
        ExperimentCommand::QlcMelding(args) => {
            preset("qlc-melding", args, Effort::Full, &mut progress)
        }
        ExperimentCommand::Programming(args) => {
            preset("programming", args, Effort::Full, &mut progress)
        }
    }
}

fn long(name: &str, args: &LongArgs, progress: &mut dyn FnMut(f64)) -> Result<String> {
    let effort = match args.quick {
        true => Effort::Quick,
        false => Effort::Full,
    };
    preset(name, &args.preset, effort, progress)
}

fn preset(
    name: &str,
    args: &PresetArgs,
    effort: Effort,
    progress: &mut dyn FnMut(f64),
) -> Result<String> {
    let experiment = Experiment::find(name).context("no such experiment")?;
    let profile = profiles::load(args.profile.as_deref().unwrap_or(experiment.profile))?;
    let outcome = experiment.run(&profile, effort, progress)?;
    render(&args.output, &profile, &outcome, &outcome.to_text(), || {
        Ok(outcome.clone())
    })
}

/// The result in the form asked for; the page, if asked for, goes to its file.
fn render<T: Serialize>(
    output: &OutputArgs,
    profile: &Profile,
    report: &T,
    text: &str,
    outcome: impl FnOnce() -> Result<Outcome>,
) -> Result<String> {
    let footer = footer(&profile.name, "simulated");
    let mut csv = String::new();
    if output.report.is_some() || output.format == OutputFormat::Csv {
        let outcome = outcome()?;
        if let Some(path) = &output.report {
            let page = outcome.to_html(&format!("{}; {}", command_line(), footer.trim_end()));
            std::fs::write(path, page).with_context(|| {
                format!("--report: cannot write \"{path}\"; give the path of a file that can be")
            })?;
        }
        csv = outcome.to_csv();
    }
    match output.format {
        OutputFormat::Table => Ok(text.to_owned() + &footer),
        OutputFormat::Json => to_json(&profile.name, "simulated", report),
        OutputFormat::Csv => Ok(csv),
    }
}

fn base(space: &SpaceArgs) -> Result<Profile> {
    let profile = profiles::load(space.profile.as_deref().unwrap_or(DEFAULT_PROFILE))?;
    profile.require(Kind::Nand)?;
    Ok(profile)
}

/// Every combination of what is asked for. What is not asked for is the profile's own when one was named, else what was
/// published.
fn setups(space: &SpaceArgs, base: &Profile, published: &[Setup]) -> Vec<Setup> {
    let own = [Setup {
        channels: base.geometry.channels,
        dies_per_channel: base.geometry.dies_per_channel,
        page_bytes: base.geometry.page_size.0,
        bus: BusSpeed {
            mts: base.bus.rate.0,
            bits: base.bus.width_bits,
        },
    }];
    let defaults = if space.profile.is_some() {
        &own
    } else {
        published
    };
    let mut setups = Vec::new();
    for default in defaults {
        for page_bytes in or(&space.page_size, default.page_bytes) {
            for bus in or(&space.bus, default.bus) {
                let setup = Setup {
                    channels: space.channels.unwrap_or(default.channels),
                    dies_per_channel: space.dies.unwrap_or(default.dies_per_channel),
                    page_bytes,
                    bus,
                };
                // Published devices that differ only in what was asked for fall together.
                if !setups.contains(&setup) {
                    setups.push(setup);
                }
            }
        }
    }
    setups.sort_by_key(|setup| setup.page_bytes);
    setups
}

fn or<T: Copy>(asked: &[T], default: T) -> Vec<T> {
    if asked.is_empty() {
        vec![default]
    } else {
        asked.to_vec()
    }
}
