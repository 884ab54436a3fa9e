//! `meldsim profiles`, and how every command finds its profile.

use std::path::Path;

use anyhow::Result;
use meldsim::profile::{Kind, Setting, Sources};
use meldsim::{Profile, ProfileError, ProfileErrors};
use meldsim_stats::{SCHEMA_VERSION, Table, bytes, json};
use serde::Serialize;

use crate::args::{Format, ProfilesArgs, ProfilesCommand};
use crate::error::{BadInput, several};
use crate::output::{columns, note};
use crate::surroundings::read_text;

/// The profile of that built-in name, or in the file of that path.
pub(crate) fn load(name: &str) -> Result<Profile> {
    load_with(name, &[])
}

/// As [`load`], with settings laid over what the profile says.
pub(crate) fn load_with(name: &str, settings: &[Setting]) -> Result<Profile> {
    Ok(load_sourced(name, settings)?.0)
}

/// As [`load_with`], and where the profile's numbers come from.
pub(crate) fn load_sourced(name: &str, settings: &[Setting]) -> Result<(Profile, Sources)> {
    let text = match Profile::builtin_text(name) {
        Some(text) => text.to_owned(),
        None => read_text(Path::new(name)).map_err(|error| {
            let remedy = ProfileError::not_built_in(name).remedy;
            BadInput(format!(
                "profile: \"{name}\" is neither built in nor a readable file ({error}); {remedy}"
            ))
        })?,
    };
    let profile =
        Profile::from_toml_with(&text, settings).map_err(|errors| in_file(name, &errors))?;
    profile
        .validate()
        .map_err(|errors| in_file(name, &errors))?;
    note_spare(&text, &profile, settings);
    Ok((profile, Sources::of(&text, settings)))
}

/// Tells what settings do to the spare flash of the drive that `text` describes, which keeps its capacity as sold when flash is
/// added.
fn note_spare(text: &str, profile: &Profile, settings: &[Setting]) {
    let sizes_flash = |setting: &&Setting| setting.key().starts_with("geometry.");
    let keys: Vec<_> = settings
        .iter()
        .filter(sizes_flash)
        .map(Setting::key)
        .collect();
    // A device that shows all but its over-provisioning has what it was given.
    if keys.is_empty() || profile.controller.capacity.0 == 0 {
        return;
    }
    let plain = Profile::from_toml(text).ok();
    let before = plain.and_then(|plain| plain.spare_percent());
    let (Some(before), Some(after)) = (before, profile.spare_percent()) else {
        return;
    };
    if (before - after).abs() < 1.0 {
        return;
    }
    note(&format!(
        "note: {}: spare flash goes from {before:.0} % to {after:.0} % of what the host sees, which changes write amplification; for the \
         same flash change another dimension as well, for a drive that shows all of it set controller.capacity=0B",
        keys.join(", "),
    ));
}

/// One mistake on the line of the message, several below it.
fn in_file(path: &str, ProfileErrors(errors): &ProfileErrors) -> BadInput {
    BadInput(match errors.as_slice() {
        [error] => format!("{path}: {error}"),
        errors => several(path, errors),
    })
}

pub(crate) fn run(args: &ProfilesArgs) -> Result<String> {
    match &args.command {
        None => list(args.format.format),
        Some(ProfilesCommand::Show { profile }) => match Profile::builtin_text(profile) {
            Some(text) => Ok(text.to_owned()),
            None => Ok(load(profile)?.to_toml()),
        },
        Some(ProfilesCommand::Policies) => policies(args.format.format),
        Some(ProfilesCommand::Check { profile }) => {
            load(profile)?;
            Ok(format!("{profile}: good\n"))
        }
    }
}

/// A policy that a profile can name.
#[derive(Serialize)]
struct ListedPolicy {
    key: &'static str,
    name: &'static str,
    about: &'static str,
}

#[derive(Serialize)]
struct Policies {
    schema_version: u32,
    policies: Vec<ListedPolicy>,
}

fn policies(format: Format) -> Result<String> {
    let listed = |policy: meldsim::policy::Listed| ListedPolicy {
        key: policy.key,
        name: policy.name,
        about: policy.about,
    };
    let policies: Vec<ListedPolicy> = meldsim::policy::all().into_iter().map(listed).collect();
    if format == Format::Json {
        return Ok(json(&Policies {
            schema_version: SCHEMA_VERSION,
            policies,
        })?);
    }
    let mut table = Table::of("<key|<policy|<what it does");
    for policy in policies {
        table.row([policy.key, policy.name, policy.about].map(str::to_owned));
    }
    Ok(table.within(columns()))
}

/// A built-in profile in the list.
#[derive(Serialize)]
struct ListedProfile {
    name: String,
    kind: Kind,
    /// Of XPoint memory, one array.
    channels: u32,
    dies_per_channel: u32,
    page_bytes: u64,
    /// XPoint dies have a data path instead.
    bus_mts: Option<u64>,
    bus_bits: Option<u32>,
    description: String,
}

#[derive(Serialize)]
struct Listing {
    schema_version: u32,
    profiles: Vec<ListedProfile>,
}

fn list(format: Format) -> Result<String> {
    let profiles = Profile::builtin_names()
        .map(|name| {
            let profile = Profile::builtin(name)?;
            let (geometry, bus, xpoint) = (&profile.geometry, &profile.bus, &profile.xpoint);
            let (channels, dies_per_channel, page_bytes) = match profile.kind {
                Kind::Nand => (
                    geometry.channels,
                    geometry.dies_per_channel,
                    geometry.page_size.0,
                ),
                Kind::Xpoint => (1, xpoint.dies, xpoint.chunk_size.0),
            };
            let is_nand = profile.kind == Kind::Nand;
            Ok(ListedProfile {
                name: name.to_owned(),
                kind: profile.kind,
                channels,
                dies_per_channel,
                page_bytes,
                bus_mts: is_nand.then_some(bus.rate.0),
                bus_bits: is_nand.then_some(bus.width_bits),
                description: profile.description,
            })
        })
        .collect::<Result<Vec<ListedProfile>>>()?;
    if format == Format::Json {
        return Ok(json(&Listing {
            schema_version: SCHEMA_VERSION,
            profiles,
        })?);
    }
    let mut table = Table::of("<name|<channels x dies|<page|<bus|<description");
    for entry in profiles {
        table.row([
            entry.name,
            format!("{} x {}", entry.channels, entry.dies_per_channel),
            bytes(entry.page_bytes),
            match (entry.bus_mts, entry.bus_bits) {
                (Some(mts), Some(bits)) => format!("{mts}x{bits}"),
                _ => "-".to_owned(),
            },
            entry.description,
        ]);
    }
    Ok(table.within(columns()))
}
