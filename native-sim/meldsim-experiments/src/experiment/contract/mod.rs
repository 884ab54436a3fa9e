//! `optane-contract`: the seven rules of the unwritten contract of an Optane SSD, each kept and broken, on it and on flash.

mod claims;
mod heat;
mod published;
pub(crate) mod rules;
mod show;
pub(crate) mod subject;

use self::heat::Cell;
pub(crate) use self::published::SOURCE;
use self::rules::Rules;
use self::subject::Subject;
use super::burst::ExperimentError;
use super::effort::Effort;
use super::outcome::{Grounds, Outcome};
use meldsim::profile::Profile;

pub(super) const SECTION: u32 = 5;
/// The flash that Optane is held against.
pub(super) const FLASH: &str = "flash-970pro";

/// Everything measured.
struct Contract {
    reads: Vec<Cell>,
    writes: Vec<Cell>,
    optane: Rules,
    flash: Rules,
}

/// Requests of 4 KiB that one number is the mean of.
fn requests(effort: Effort) -> u64 {
    match effort {
        Effort::Quick => 500,
        Effort::Full => 4000,
    }
}

/// Placements of the flash's data over which the heat map of reads is averaged: a single one moves a cell by some percent.
fn placements(effort: Effort) -> u64 {
    match effort {
        Effort::Quick => 1,
        Effort::Full => 8,
    }
}

/// Runs the experiment: `profile` is the Optane device.
pub(super) fn optane_contract(
    profile: &Profile,
    effort: Effort,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let requests = requests(effort);
    let optane = Subject {
        profile: profile.clone(),
    };
    let flash = Subject {
        profile: Profile::builtin(FLASH)?,
    };
    let part = |from: f64, length: f64| {
        move |share: f64, progress: &mut dyn FnMut(f64)| progress(from + length * share)
    };
    let (reads_part, writes_part) = (part(0.0, 0.3), part(0.3, 0.3));
    let (optane_part, flash_part) = (part(0.6, 0.1), part(0.7, 0.3));
    let contract = Contract {
        reads: heat::reads(
            &optane,
            &flash,
            placements(effort),
            requests,
            &mut |share| {
                reads_part(share, progress);
            },
        )?,
        writes: heat::writes(&optane, &flash, requests, &mut |share| {
            writes_part(share, progress);
        })?,
        optane: Rules::measure(&optane, requests, &mut |share| optane_part(share, progress))?,
        flash: Rules::measure(&flash, requests, &mut |share| flash_part(share, progress))?,
    };
    Ok(Outcome {
        experiment: "optane-contract",
        profile: profile.name.clone(),
        about: format!(
            "The seven rules, kept and broken, on {} and on {FLASH}. T is by which share the slower device's mean latency is \
             above the faster one's, negative where Optane is the slower one.{}",
            profile.name,
            effort.note()
        ),
        grounds: grounds(effort),
        sheets: show::sheets(&contract),
        figures: show::figures(&contract),
        claims: claims::claims(&contract),
    })
}

fn grounds(effort: Effort) -> Grounds {
    Grounds {
        published: vec![format!(
            "{SOURCE}: the heat map of T, 4.6x for crowded sectors, 5x for tiny requests, 1.2x for a sector off, degree 7 in chunks of 4 KiB"
        )],
        fitted: vec![
            "the times and rates of both profiles, one set for all rules, by the heat map and the ratios of rules 3, 5 and 6".to_owned(),
            "that the flash reads 128 KiB in two halves beside one to five other commands, by the cells of 128 KiB at depths 2 and 4, and by nothing else".to_owned(),
        ],
        assumed: vec![
            format!(
                "the heat maps' flash was overwritten at random before, so that its data lies all over the dies, and its reads are averaged over {} GiB of it, each elsewhere; other reads are of data written in order",
                placements(effort)
            ),
            "rule 3: eight readers of a sector each, of one chunk or of consecutive ones; rule 6: at depth 1".to_owned(),
            "rules 4 and 7 run on a smaller device of the same kind and dies, full, so that garbage collection has its steady state".to_owned(),
        ],
    }
}
