//! `meldsim experiment`: published experiments, on the published devices or on others.

use anyhow::Result;
use meldsim::Profile;
use meldsim::experiment::{BusSpeed, LatencyReport, Setup, melded_latency, melded_throughput};

use crate::args::{DEFAULT_PROFILE, ExperimentArgs, ExperimentCommand, Format, SpaceArgs};
use crate::output::{Document, footer};
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
            match space.format.format {
                Format::Json => Document::new(&base.name, "simulated", report).to_json(),
                Format::Table => Ok(report.to_text() + &footer(&base.name, "simulated")),
            }
        }
        ExperimentCommand::MeldedThroughput { space } => {
            let base = base(space)?;
            let published: Vec<Setup> = Setup::published_throughput().collect();
            let setups = setups(space, &base, &published);
            let report = melded_throughput(&base, &setups, &mut progress)?;
            match space.format.format {
                Format::Json => Document::new(&base.name, "simulated", report).to_json(),
                Format::Table => Ok(report.to_text() + &footer(&base.name, "simulated")),
            }
        }
    }
}

fn base(space: &SpaceArgs) -> Result<Profile> {
    profiles::load(space.profile.as_deref().unwrap_or(DEFAULT_PROFILE))
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
