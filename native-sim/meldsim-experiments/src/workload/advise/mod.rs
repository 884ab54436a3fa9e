//! Advice: which rules of a device a workload breaks, how often, and what each costs.
//!
//! The workload is simulated as it is, and once more for each broken rule with that rule kept.

mod flow;
mod rules;

use serde::Serialize;

pub use self::flow::{Flow, Outcome};
use self::flow::{Seen, simulate};
use self::rules::RULES;
use super::error::RunError;
use crate::report::{Align, Table};
use meldsim::profile::{Kind, Profile};

/// Share of the bandwidth that counts as nearly all.
const NEARLY: f64 = 0.95;
/// Deepest that is tried for requests that arrive when they did.
const MOST_DEPTH: u32 = 256;

/// A rule that the workload breaks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BrokenRule {
    /// The rule's number in the unwritten contract.
    pub rule: u32,
    /// The rule.
    pub name: &'static str,
    /// Requests that break it.
    pub requests: u64,
    /// Their share of all, in percent.
    pub percent: f64,
    /// The workload with this rule kept.
    pub kept: Outcome,
    /// Mean latency as it is, against that with the rule kept.
    pub latency_cost: f64,
    /// Bandwidth with the rule kept, against that as it is.
    pub bandwidth_cost: f64,
    /// What to change.
    pub advice: String,
}

/// What is said of a workload on a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// Requests looked at.
    pub requests: u64,
    /// What the device does with them as they are.
    pub as_is: Outcome,
    /// Rules that were looked at, by number.
    pub rules_checked: Vec<u32>,
    /// The broken ones, the costliest first.
    pub broken: Vec<BrokenRule>,
}

/// What a rule is checked with.
struct Context<'a> {
    flow: &'a Flow,
    seen: &'a Seen,
    chunk_bytes: u64,
    /// Requests of this workload that fill the device; more only wait.
    enough: u32,
}

/// Checks the rules of the profile's kind of device.
pub fn advise(profile: &Profile, flow: &Flow) -> Result<Advice, RunError> {
    let chunk_bytes = match profile.kind {
        Kind::Xpoint => profile.xpoint.chunk_size.0,
        Kind::Nand => profile.geometry.page_size.0,
    };
    let (as_is, seen) = simulate(profile, flow, chunk_bytes)?;
    let requests = flow.requests.len() as u64;
    let context = Context {
        flow,
        seen: &seen,
        chunk_bytes,
        enough: enough(profile, flow, as_is, chunk_bytes)?,
    };
    let rules = RULES
        .iter()
        .filter(|rule| rule.kinds.contains(&profile.kind));
    let mut broken = Vec::new();
    for rule in rules.clone() {
        let breaking = (0..flow.requests.len())
            .filter(|&index| (rule.breaks)(&context, index))
            .count() as u64;
        if breaking == 0 {
            continue;
        }
        let (kept, _) = simulate(profile, &(rule.keep)(&context), chunk_bytes)?;
        broken.push(BrokenRule {
            rule: rule.number,
            name: rule.name,
            requests: breaking,
            percent: 100.0 * breaking as f64 / requests as f64,
            latency_cost: as_is.mean_us / kept.mean_us,
            bandwidth_cost: kept.mb_s / as_is.mb_s,
            kept,
            advice: (rule.advice)(&context),
        });
    }
    let cost = |rule: &BrokenRule| rule.latency_cost.max(rule.bandwidth_cost);
    broken.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    Ok(Advice {
        requests,
        as_is,
        rules_checked: rules.map(|rule| rule.number).collect(),
        broken,
    })
}

/// The least depth, by doubling, that moves nearly as many bytes a second as the workload does as it is.
fn enough(
    profile: &Profile,
    flow: &Flow,
    as_is: Outcome,
    chunk_bytes: u64,
) -> Result<u32, RunError> {
    let most = flow.depth.unwrap_or(MOST_DEPTH);
    let mut depth = 1;
    while depth < most {
        let shallow = Flow {
            depth: Some(depth),
            ..flow.clone()
        };
        let (outcome, _) = simulate(profile, &shallow, chunk_bytes)?;
        if outcome.mb_s >= NEARLY * as_is.mb_s {
            break;
        }
        depth *= 2;
    }
    Ok(depth)
}

impl Advice {
    /// The advice as text.
    pub fn to_text(&self) -> String {
        let checked: Vec<String> = self.rules_checked.iter().map(u32::to_string).collect();
        let mut text = format!(
            "{} requests: mean {:.1} us, {:.1} MB/s; rules checked: {}\n",
            self.requests,
            self.as_is.mean_us,
            self.as_is.mb_s,
            checked.join(", ")
        );
        if self.broken.is_empty() {
            return text + "no rule is broken\n";
        }
        let mut table = Table::new([
            ("rule", Align::Left),
            ("broken by", Align::Right),
            ("of all", Align::Right),
            ("kept: mean us", Align::Right),
            ("kept: MB/s", Align::Right),
            ("costs", Align::Left),
        ]);
        for broken in &self.broken {
            table.row([
                format!("{} {}", broken.rule, broken.name),
                broken.requests.to_string(),
                format!("{:.1} %", broken.percent),
                format!("{:.1}", broken.kept.mean_us),
                format!("{:.1}", broken.kept.mb_s),
                format!(
                    "x{:.2} latency, x{:.2} bandwidth",
                    broken.latency_cost, broken.bandwidth_cost
                ),
            ]);
        }
        text += &table.to_string();
        for broken in &self.broken {
            text += &format!("{}: {}\n", broken.rule, broken.advice);
        }
        text
    }
}
