//! What to do with each group of a trace's blocks. By the outcomes, each group has a layout and a device that serve it best;
//! the plan made of them is replayed, since groups share devices, and what that gave is what is advised.

use serde::Serialize;

use super::gain::{Gain, LEAST, LEAST_REQUESTS};
use super::melding::MOSTLY_PERCENT;
use super::outcome::{Layout, Outcome, group_costs, total_costs};
use meldsim_stats::{Table, bytes, count};
use meldsim_workload::Group;
use meldsim_workload::trace::{Assignment, ReplayMode};

/// How advice is followed.
pub(super) const NOTE: &str = "To set a hint: hdfs meld -setReadPattern HINT DIRECTORY. It counts for blocks written afterwards. In a trace recorded with \
     trace.directories=inode, DIRECTORY is /.reserved/.inodes/NUMBER. gain: relative to the first device as recorded, with a \
     90 % bootstrap interval. Simulated.";

/// What seems best, to be replayed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// For each group of the trace the outcome that serves it best.
    choices: Vec<usize>,
    /// The outcome that the gain counts from.
    baseline: usize,
    /// The outcomes that were chosen from.
    among: Vec<usize>,
    /// The devices, by their numbers, and what is laid out how on each.
    runs: Vec<(usize, Vec<Assignment>)>,
}

/// What to do, and what that gives. Every figure is simulated.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// In a sentence.
    pub summary: String,
    /// Over all groups.
    #[serde(flatten)]
    pub gain: Gain,
    /// What to do with each group of blocks.
    pub groups: Vec<Choice>,
}

/// What to do with one group of blocks.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The blocks of this directory or, where the trace names none, those that this client brought; or a volume.
    pub group: String,
    /// Their reads.
    pub reads: u64,
    /// Too few requests to say what serves them best.
    #[serde(skip)]
    is_too_small: bool,
    /// Share of the reads that are random.
    pub random_percent: f64,
    /// Bytes that a reader of one block had outstanding as recorded.
    pub window_bytes: f64,
    /// Where to put them.
    pub device: String,
    /// How to lay them out.
    pub layout: Layout,
    /// What to say of them; null: what is said now.
    pub hint: Option<&'static str>,
    /// Of their requests.
    #[serde(flatten)]
    pub gain: Gain,
}

/// The plans that the outcomes suggest: by layout alone, on the first device that can meld; and by device, where there are
/// several.
pub(super) fn plans(mode: ReplayMode, outcomes: &[Outcome]) -> Vec<Plan> {
    let all = || 0..outcomes.len();
    let of = |device| all().filter(|&at| outcomes[at].device == device).collect();
    let mut plans = Vec::new();
    if let Some(melds) = outcomes
        .iter()
        .find(|outcome| outcome.layout == Layout::AllMelded)
    {
        plans.push(Plan::new(mode, outcomes, of(melds.device)));
    }
    if outcomes.iter().any(|outcome| outcome.device > 0) {
        plans.push(Plan::new(mode, outcomes, all().collect()));
    }
    plans
}

impl Plan {
    fn new(mode: ReplayMode, outcomes: &[Outcome], mut among: Vec<usize>) -> Plan {
        let baseline = among[0];
        let least_failed = among.iter().map(|&at| outcomes[at].failed).min();
        among.retain(|&at| at == baseline || Some(outcomes[at].failed) == least_failed);
        if mode == ReplayMode::Closed {
            // One loop for all: it cannot be shared out over devices.
            let best = cheapest(&among, |at| sum(&outcomes[at].costs(mode)));
            among.retain(|&at| at == baseline || outcomes[at].device == outcomes[best].device);
        }
        let groups = outcomes[baseline].groups.len();
        let choices = (0..groups).map(|group| {
            let cost = |at: usize| sum(&group_costs(&outcomes[at].groups[group], mode));
            let candidates = match mode {
                ReplayMode::Open => among.clone(),
                ReplayMode::Closed => on_one_device(&among, outcomes),
            };
            if is_too_small(&outcomes[baseline].groups[group]) {
                let mut recorded = candidates.iter().copied();
                let recorded = recorded.find(|&at| outcomes[at].layout == Layout::AsRecorded);
                return recorded.unwrap_or(baseline);
            }
            let best = cheapest(&candidates, cost);
            let enough = cost(best) as f64 * LEAST < cost(baseline) as f64;
            match enough || !candidates.contains(&baseline) {
                true => best,
                false => baseline,
            }
        });
        let choices: Vec<usize> = choices.collect();
        let mut devices: Vec<usize> = Vec::new();
        for &choice in &choices {
            let device = outcomes[choice].device;
            if !devices.contains(&device) {
                devices.push(device);
            }
        }
        let runs = devices.into_iter().map(|device| {
            let assign = |&choice: &usize| match outcomes[choice].device == device {
                true => outcomes[choice].layout.assignment(),
                false => Assignment::Elsewhere,
            };
            (device, choices.iter().map(assign).collect())
        });
        Plan {
            runs: runs.collect(),
            choices,
            baseline,
            among,
        }
    }

    /// The replays that it takes: the device's number, and the plan for it.
    pub fn runs(&self) -> &[(usize, Vec<Assignment>)] {
        &self.runs
    }
}

/// Whether a group has too few requests to say what serves it best.
fn is_too_small(group: &Group) -> bool {
    group.reads + group.writes < LEAST_REQUESTS
}

/// Those on the device that serves everything best.
fn on_one_device(among: &[usize], outcomes: &[Outcome]) -> Vec<usize> {
    let last = among.last().map(|&at| outcomes[at].device);
    let same = among.iter().copied();
    same.filter(|&at| Some(outcomes[at].device) == last)
        .collect()
}

/// The first of those that cost least.
fn cheapest(among: &[usize], cost: impl Fn(usize) -> u128) -> usize {
    among
        .iter()
        .copied()
        .min_by_key(|&at| cost(at))
        .unwrap_or(0)
}

fn sum(costs: &[u128]) -> u128 {
    costs.iter().sum()
}

/// A plan with what its replays gave; or, where a layout of everything gives more, that.
pub(super) struct Confirmed<'a> {
    mode: ReplayMode,
    outcomes: &'a [Outcome],
    baseline: &'a Outcome,
    choices: Vec<usize>,
    groups: Vec<&'a Group>,
}

impl<'a> Confirmed<'a> {
    pub(super) fn new(
        mode: ReplayMode,
        outcomes: &'a [Outcome],
        plan: &Plan,
        replayed: &'a [Outcome],
    ) -> Confirmed<'a> {
        let choices = plan.choices.iter().enumerate();
        let groups = choices.map(|(group, &choice)| {
            let device = outcomes[choice].device;
            let replay = replayed.iter().find(|replay| replay.device == device);
            &replay.unwrap_or(&outcomes[choice]).groups[group]
        });
        let groups: Vec<&Group> = groups.collect();
        let planned: Vec<Group> = groups.iter().map(|group| (*group).clone()).collect();
        let planned = sum(&total_costs(&planned, mode));
        let best = cheapest(&plan.among, |at| sum(&outcomes[at].costs(mode)));
        let confirmed = Confirmed {
            mode,
            outcomes,
            baseline: &outcomes[plan.baseline],
            choices: plan.choices.clone(),
            groups,
        };
        match sum(&outcomes[best].costs(mode)) < planned {
            false => confirmed,
            true => Confirmed {
                choices: vec![best; plan.choices.len()],
                groups: outcomes[best].groups.iter().collect(),
                ..confirmed
            },
        }
    }

    pub(super) fn advice(&self) -> Advice {
        let all: Vec<Group> = self.groups.iter().map(|group| (*group).clone()).collect();
        let after = total_costs(&all, self.mode);
        let gain = Gain::of(&self.baseline.costs(self.mode), &after);
        let groups = self.choices.iter().enumerate();
        let groups: Vec<Choice> = groups
            .map(|(at, &choice)| self.choice(at, choice))
            .collect();
        Advice {
            summary: self.summary(&gain, &groups),
            gain,
            groups,
        }
    }

    fn choice(&self, at: usize, choice: usize) -> Choice {
        let before = &self.baseline.groups[at];
        let chosen = &self.outcomes[choice];
        let hint = match self.layout(at, choice) {
            _ if is_too_small(before) => None,
            Layout::AsRecorded => None,
            Layout::AllMelded => Some("sequential"),
            Layout::NoneMelded if before.random_percent() >= MOSTLY_PERCENT => Some("random"),
            Layout::NoneMelded => Some("none"),
        };
        Choice {
            group: before.name.clone(),
            reads: before.reads,
            is_too_small: is_too_small(before),
            random_percent: before.random_percent(),
            window_bytes: before.window_bytes(),
            device: chosen.profile.clone(),
            layout: self.layout(at, choice),
            hint: hint.filter(|_| self.melds(chosen.device)),
            gain: Gain::of(
                &group_costs(before, self.mode),
                &group_costs(self.groups[at], self.mode),
            ),
        }
    }

    /// The layout of a group; what is recorded of it, where that is one layout.
    fn layout(&self, at: usize, choice: usize) -> Layout {
        let group = &self.baseline.groups[at];
        let chosen = &self.outcomes[choice];
        match chosen.layout {
            Layout::AsRecorded if !self.melds(chosen.device) => Layout::NoneMelded,
            Layout::AsRecorded if group.sequential_hints == 0 => Layout::NoneMelded,
            Layout::AsRecorded if group.sequential_hints == group.reads + group.writes => {
                Layout::AllMelded
            }
            layout => layout,
        }
    }

    fn melds(&self, device: usize) -> bool {
        let mut outcomes = self.outcomes.iter();
        outcomes.any(|outcome| outcome.device == device && outcome.layout == Layout::AllMelded)
    }

    fn summary(&self, gain: &Gain, groups: &[Choice]) -> String {
        let mut devices: Vec<&str> = groups.iter().map(|choice| choice.device.as_str()).collect();
        devices.dedup();
        devices.sort_unstable();
        devices.dedup();
        let first = &self.baseline.profile;
        let measure = match self.mode {
            ReplayMode::Open if self.baseline.read.is_some() => "in mean read latency",
            ReplayMode::Open => "in mean write latency",
            ReplayMode::Closed => "in throughput",
        };
        let devices = devices.join(" and ");
        match gain.wins() {
            true => format!(
                "Advice for {devices}: lay blocks out as follows. It gains {} {measure} against {first} as recorded.",
                gain.text()
            ),
            false => format!(
                "Advice for {devices}: no layout gains anything against {first} as recorded."
            ),
        }
    }
}

impl Advice {
    pub(super) fn table(&self) -> Table {
        let mut table = Table::of("<blocks of|reads|random|window|<device|<layout|<hint|<gain")
            .with_least("reads|random|window");
        for choice in &self.groups {
            table.row([
                choice.group.clone(),
                count(choice.reads as f64),
                format!("{:.0} %", choice.random_percent),
                bytes(choice.window_bytes as u64),
                choice.device.clone(),
                choice.layout.brief().to_owned(),
                choice.hint.unwrap_or("-").to_owned(),
                match choice.is_too_small {
                    true => "too few requests to say".to_owned(),
                    false => choice.gain.text(),
                },
            ]);
        }
        table
    }
}
