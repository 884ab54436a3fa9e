//! What claims depend on: each constant that is not published, a fifth less and a fifth more, one at a time.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use serde::Serialize;

use super::super::burst::Result;
use super::super::claim::{Change, ChangeError, Claim, constants};
use super::super::palloc;
use super::super::plan::{Experiment, outcomes};
use super::controls::claims_of;
use super::run_of;
use meldsim_measured::Scale;
use meldsim_report::chart::{HeatMap, HeatScale};
use meldsim_report::{Origin, Page};
use meldsim_stats::{Align, Table};

/// By how many percent each constant is varied, down and up.
pub const VARIED_PERCENT: i32 = 20;

/// What a change does to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Influence {
    /// Nothing: its simulated value is the same.
    Same,
    /// Its value is another one, its verdict is the same.
    Moves,
    /// Its verdict is the other one.
    Turns,
}

/// One change, and the claims of one experiment.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Effect {
    /// The experiment.
    pub experiment: &'static str,
    /// What was changed.
    pub change: Change,
    /// The changed key, or the settings.
    pub constant: String,
    /// Where its value comes from: `F` fitted, `A` assumed.
    pub tag: char,
    /// Each claim, with what the change does to it.
    pub claims: Vec<(&'static str, Influence)>,
}

/// A constant that was not varied.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct NotVaried {
    /// The experiment.
    pub experiment: &'static str,
    /// What would have been changed.
    pub change: String,
    /// Why not.
    pub reason: String,
}

/// The effects of all constants on all claims.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Sensitivity {
    /// In the order of experiments, profiles and keys; down before up.
    pub effects: Vec<Effect>,
    /// What cannot be varied by a fifth.
    pub not_varied: Vec<NotVaried>,
}

/// A change to be made of an experiment's devices.
struct Variation {
    constant: String,
    tag: char,
    change: Change,
}

/// The devices of an experiment, a fifth less and more of each constant that is not published.
fn variations(experiment: &Experiment) -> Vec<Variation> {
    let mut variations = Vec::new();
    for device in [Some(experiment.profile), experiment.beside]
        .into_iter()
        .flatten()
    {
        let constants = constants(device).into_iter();
        for constant in constants.filter(|constant| constant.tag != 'P') {
            for percent in [-VARIED_PERCENT, VARIED_PERCENT] {
                variations.push(Variation {
                    constant: match experiment.beside {
                        Some(_) => format!("{device}: {}", constant.key),
                        None => constant.key.clone(),
                    },
                    tag: constant.tag,
                    change: Change::Percent {
                        device,
                        key: Cow::Owned(constant.key.clone()),
                        percent,
                    },
                });
            }
        }
    }
    if experiment.name == palloc::PALLOC.name {
        variations.extend(palloc::RULES.map(|change| Variation {
            constant: "commands.issue".to_owned(),
            tag: 'F',
            change,
        }));
    }
    variations
}

impl Sensitivity {
    /// Runs these experiments as they are and with each change, on `jobs` threads. None when `progress` breaks off.
    ///
    /// # Errors
    ///
    /// As of [`Validation::run`](super::Validation::run).
    pub fn run(
        experiments: impl IntoIterator<Item = &'static Experiment>,
        scale: Scale,
        jobs: NonZeroUsize,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Option<Sensitivity>> {
        let (mut runs, mut effects, mut not_varied) = (Vec::new(), Vec::new(), Vec::new());
        for experiment in experiments {
            let mut base = run_of(experiment)?;
            base.scale = scale;
            for variation in variations(experiment) {
                let experiment = experiment.name;
                match base.clone().changed(variation.change.clone()) {
                    Ok(run) => {
                        effects.push((runs.len(), experiment, variation));
                        runs.push(run);
                    }
                    Err(error) => not_varied.push(NotVaried {
                        experiment,
                        change: variation.change.to_string(),
                        reason: reason(&error),
                    }),
                }
            }
            runs.push(base);
        }
        let outcomes = outcomes(&runs, jobs, progress)?;
        if outcomes.iter().any(Option::is_none) {
            return Ok(None);
        }
        let claims = claims_of(outcomes);
        // The run of an experiment as it is stands behind those with its changes.
        let base_of = |index: usize| {
            let further = runs[index..].iter().zip(&claims[index..]);
            let mut bases = further.filter(|(run, _)| run.is_unchanged());
            bases.next().map_or(&[][..], |(_, claims)| claims)
        };
        let effects = effects.into_iter().map(|(index, experiment, variation)| {
            let then = &claims[index];
            Effect {
                experiment,
                change: variation.change,
                constant: variation.constant,
                tag: variation.tag,
                claims: base_of(index)
                    .iter()
                    .map(|claim| (claim.id, influence(claim, then)))
                    .collect(),
            }
        });
        Ok(Some(Sensitivity {
            effects: effects.collect(),
            not_varied,
        }))
    }

    /// The effects of each experiment.
    fn by_experiment(&self) -> impl Iterator<Item = &[Effect]> {
        self.effects.chunk_by(|a, b| a.experiment == b.experiment)
    }

    /// A table for each experiment: its constants, with the claims that turn and those that move.
    pub fn to_text(&self, columns: usize) -> String {
        let mut text = String::new();
        for effects in self.by_experiment() {
            text += &format!(
                "{}\n{}\n",
                effects[0].experiment,
                table(effects).within(columns)
            );
        }
        text + &format!("not varied: {}\n", self.not_varied.len())
    }

    /// A page with a heat map for each experiment.
    pub fn to_html(&self, origin: &Origin, footer: &str) -> String {
        let turned = self
            .effects
            .iter()
            .filter(|effect| effect.strongest() == Influence::Turns);
        let verdict = format!(
            "{} changes of constants that are not published, each by {VARIED_PERCENT} %, one at a time; {} of them turn a claim.",
            self.effects.len(),
            turned.count()
        );
        let mut page = Page::new("Which claims depend on which constants", &verdict, origin);
        for effects in self.by_experiment() {
            page.chart(
                map(effects),
                "0: neither a fifth less nor a fifth more changes the claim's value. 1: its value moves. 2: its verdict turns.",
            );
            page.table(&table(effects));
        }
        page.heading("Not varied");
        let mut table = Table::new(["change", "why not"].map(|name| (name, Align::Left)));
        for left in &self.not_varied {
            table.row([&left.change, &left.reason]);
        }
        page.table(&table);
        page.finish(footer)
    }
}

impl Effect {
    fn strongest(&self) -> Influence {
        let influences = self.claims.iter().map(|(_, influence)| *influence);
        influences.max().unwrap_or(Influence::Same)
    }

    fn with(&self, influence: Influence) -> impl Iterator<Item = &'static str> {
        let claims = self.claims.iter().filter(move |claim| claim.1 == influence);
        claims.map(|claim| short(claim.0))
    }
}

/// The first line: what is wrong, without the remedy.
fn reason(error: &ChangeError) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

fn influence(base: &Claim, then: &[Claim]) -> Influence {
    match then.iter().find(|claim| claim.id == base.id) {
        Some(then) if then.holds != base.holds => Influence::Turns,
        Some(then) if then.measured == base.measured => Influence::Same,
        Some(_) => Influence::Moves,
        None => Influence::Turns,
    }
}

/// A claim's id without its experiment.
fn short(id: &'static str) -> &'static str {
    id.split_once('.').map_or(id, |(_, claim)| claim)
}

fn table(effects: &[Effect]) -> Table {
    let columns = ["change", "", "claims that turn", "claims that move"];
    let mut table = Table::new(columns.map(|name| (name, Align::Left)));
    for effect in effects {
        let list = |influence| effect.with(influence).collect::<Vec<_>>().join(", ");
        table.row([
            effect.change.to_string(),
            format!("[{}]", effect.tag),
            list(Influence::Turns),
            list(Influence::Moves),
        ]);
    }
    table
}

/// For each constant the stronger of its two effects on each claim.
fn map(effects: &[Effect]) -> HeatMap {
    let claims = &effects[0].claims;
    let row = |of: &[Effect]| {
        let strongest = |claim: usize| {
            let influences = of.iter().map(|effect| effect.claims[claim].1);
            influences.max().map(|influence| f64::from(influence as u8))
        };
        (
            of[0].constant.clone(),
            (0..claims.len()).map(strongest).collect(),
        )
    };
    HeatMap {
        title: format!("{}: 0 same, 1 moves, 2 turns", effects[0].experiment),
        x: "claim".to_owned(),
        y: "constant".to_owned(),
        columns: claims
            .iter()
            .map(|claim| short(claim.0).to_owned())
            .collect(),
        rows: effects
            .chunk_by(|a, b| a.constant == b.constant)
            .map(row)
            .collect(),
        scale: HeatScale::Sequential(2.0),
    }
}
