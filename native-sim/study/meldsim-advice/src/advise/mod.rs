//! Advice: which rules of a device a workload breaks, how often, and what each costs.
//!
//! The workload is simulated as it is, and once more for each broken rule with that rule kept.

mod simulation;

use serde::Serialize;

pub use self::simulation::Outcome;
use self::simulation::{Seen, simulate};
use meldsim::profile::{Kind, Profile};
use meldsim_stats::{Table, bytes};
use meldsim_workload::RunError;
use meldsim_workload::sample::{Io, Sample, Source};

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

/// The rules of a device that a workload breaks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// Requests checked.
    pub requests: u64,
    /// How the device serves them as they are.
    pub as_is: Outcome,
    /// Rules that were checked, by number.
    pub rules_checked: Vec<u32>,
    /// The broken ones, the costliest first.
    pub broken: Vec<BrokenRule>,
}

/// What a rule is checked with.
struct Context<'a> {
    sample: &'a Sample,
    chunk_bytes: u64,
    /// Requests of this workload that fill the device; more only wait.
    enough: u32,
}

/// Checks the rules of the profile's kind of device.
///
/// # Errors
///
/// When the workload cannot run on such a device.
pub fn advise(profile: &Profile, sample: &Sample) -> Result<Advice, RunError> {
    let chunk_bytes = match profile.kind {
        Kind::Xpoint => profile.xpoint.chunk_size.0,
        Kind::Nand => profile.mapping_unit().0,
    };
    let (as_is, seen) = simulate(profile, sample, chunk_bytes)?;
    let requests = sample.count() as u64;
    let context = Context {
        sample,
        chunk_bytes,
        enough: enough(profile, sample, as_is, chunk_bytes)?,
    };
    let rules = RULES
        .iter()
        .filter(|rule| rule.kinds.contains(&profile.kind));
    let mut broken = Vec::new();
    for rule in rules.clone() {
        let breaking = |(source, seen): (&Source, &Vec<Seen>)| {
            let seen = seen.iter().enumerate();
            seen.filter(|(index, seen)| (rule.breaks)(&context, &source.requests, *index, **seen))
                .count() as u64
        };
        let breaking: u64 = sample.sources.iter().zip(&seen).map(breaking).sum();
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
    sample: &Sample,
    as_is: Outcome,
    chunk_bytes: u64,
) -> Result<u32, RunError> {
    let depths = sample.sources.iter().map(|source| source.depth);
    let most = depths.fold(0, u64::saturating_add);
    let most = u32::try_from(most).unwrap_or(MOST_DEPTH);
    let mut depth = 1;
    while depth < most {
        let (outcome, _) = simulate(profile, &sample.with_depth(depth), chunk_bytes)?;
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
        self.to_text_within(usize::MAX)
    }

    /// The advice as text, its table within so many columns of a terminal.
    pub fn to_text_within(&self, columns: usize) -> String {
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
        let mut table = Table::of("<rule|broken by|of all|kept: mean us|kept: MB/s|<costs");
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
        text += &table.within(columns);
        for broken in &self.broken {
            text += &format!("{}: {}\n", broken.rule, broken.advice);
        }
        text
    }
}

/// Requests outstanding beyond what fills the device, before rule 1 counts as broken.
const SLACK: u32 = 2;

/// A rule.
struct Rule {
    number: u32,
    name: &'static str,
    /// The devices it is a rule of.
    kinds: &'static [Kind],
    /// Whether the request at an index of its source's breaks it, by what it saw.
    breaks: fn(&Context<'_>, &[Io], usize, Seen) -> bool,
    /// The workload with the rule kept.
    keep: fn(&Context<'_>) -> Sample,
    advice: fn(&Context<'_>) -> String,
}

const BOTH: &[Kind] = &[Kind::Nand, Kind::Xpoint];

/// Rules 2, 4 and 7 of an Optane SSD say what need not be heeded; of flash it must.
const RULES: [Rule; 6] = [
    Rule {
        number: 1,
        name: "access with low request scale",
        kinds: &[Kind::Xpoint],
        breaks: |context, _, _, seen| seen.outstanding >= context.enough * SLACK,
        keep: |context| context.sample.with_depth(context.enough),
        advice: |context| {
            format!(
                "keep {} requests outstanding: more only wait",
                context.enough
            )
        },
    },
    Rule {
        number: 2,
        name: "random is not OK on flash",
        kinds: &[Kind::Nand],
        breaks: |_, requests, index, _| jumps(requests, index, false),
        keep: |context| in_order(context, false),
        advice: |_| "read in order what lies in order".to_owned(),
    },
    Rule {
        number: 3,
        name: "avoid crowded accesses",
        kinds: BOTH,
        breaks: |_, _, _, seen| seen.is_crowded,
        keep: |context| {
            // Each goes where none has been, with the same alignment.
            let mut next = 0;
            changed(context, |io| {
                let within = io.offset % context.chunk_bytes;
                io.offset = next + within;
                next = io.end().next_multiple_of(context.chunk_bytes);
            })
        },
        advice: |context| {
            let chunk = bytes(context.chunk_bytes);
            format!(
                "do not access one {chunk} in parallel: keep it in memory, or spread requests that are outstanding together"
            )
        },
    },
    Rule {
        number: 5,
        name: "avoid tiny accesses",
        kinds: BOTH,
        breaks: |context, requests, index, _| requests[index].bytes < context.chunk_bytes,
        keep: |context| {
            let mut sample = context.sample.clone();
            for source in &mut sample.sources {
                source.requests = gathered(&source.requests, context.chunk_bytes);
            }
            sample
        },
        advice: |context| format!("gather requests to whole {}", bytes(context.chunk_bytes)),
    },
    Rule {
        number: 6,
        name: "align to chunks",
        kinds: BOTH,
        breaks: |context, requests, index, _| {
            let io = &requests[index];
            let touched = io.chunks(context.chunk_bytes);
            touched.end - touched.start > io.bytes.div_ceil(context.chunk_bytes)
        },
        keep: |context| changed(context, |io| io.offset -= io.offset % context.chunk_bytes),
        advice: |context| {
            format!(
                "begin requests at multiples of {}",
                bytes(context.chunk_bytes)
            )
        },
    },
    Rule {
        number: 7,
        name: "do not forget garbage collection of flash",
        kinds: &[Kind::Nand],
        breaks: |_, requests, index, _| jumps(requests, index, true),
        keep: |context| in_order(context, true),
        advice: |_| {
            "write in order, as a log; random overwrites cost garbage collection later".to_owned()
        },
    },
];

/// Whether a request of that direction does not begin where the one before it ended.
fn jumps(requests: &[Io], index: usize, is_write: bool) -> bool {
    let io = &requests[index];
    let before = index.checked_sub(1).map(|before| &requests[before]);
    io.is_write == is_write && before.is_some_and(|before| before.end() != io.offset)
}

/// The requests of that direction one after the other.
fn in_order(context: &Context<'_>, is_write: bool) -> Sample {
    let mut next = 0;
    changed(context, |io| {
        if io.is_write == is_write {
            io.offset = next;
            next += io.bytes;
        }
    })
}

/// Changes all requests, source by source.
fn changed(context: &Context<'_>, mut change: impl FnMut(&mut Io)) -> Sample {
    let mut sample = context.sample.clone();
    for source in &mut sample.sources {
        source.requests.iter_mut().for_each(&mut change);
    }
    sample
}

/// Tiny requests of one direction, as many of them together as fill a chunk: the chunk of the first.
fn gathered(requests: &[Io], chunk_bytes: u64) -> Vec<Io> {
    let mut whole_ones = Vec::new();
    let mut gathered: [Option<Io>; 2] = [None, None];
    for io in requests {
        if io.bytes >= chunk_bytes {
            whole_ones.push(*io);
            continue;
        }
        let so_far = gathered[usize::from(io.is_write)].get_or_insert(Io { bytes: 0, ..*io });
        so_far.bytes += io.bytes;
        if so_far.bytes >= chunk_bytes {
            whole_ones.push(whole(*so_far, chunk_bytes));
            gathered[usize::from(io.is_write)] = None;
        }
    }
    let left = gathered.into_iter().flatten();
    whole_ones.extend(left.map(|io| whole(io, chunk_bytes)));
    whole_ones.sort_by_key(|io| io.arrival);
    whole_ones
}

fn whole(io: Io, chunk_bytes: u64) -> Io {
    Io {
        offset: io.offset - io.offset % chunk_bytes,
        bytes: chunk_bytes,
        ..io
    }
}
