//! Runs, grouped by job and variant.

use std::collections::BTreeMap;

use meldsim_stats::Table;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::figure::{FIGURES, Figure, Spread};
use super::record::{number, text};

const JOBS: [&str; 6] = ["scan", "query", "lookup", "mixed", "sort", "churn"];
const VARIANTS: [&str; 5] = ["stock", "normal", "melded", "auto", "sets-baseline"];

/// Whether an expectation holds.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) expression: String,
    pub(super) holds: bool,
    /// Nothing where it could not be had.
    pub(super) value: Option<f64>,
    /// The value, or why there is none.
    pub(super) message: String,
}

/// Jobs by name; variants with those first that others are compared with.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) groups: Vec<Group>,
}

/// The rounds of one job on one variant.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) job: String,
    /// With a label `window`: `melded@16m`.
    pub(super) variant: String,
    pub(super) figures: Vec<(&'static Figure, Spread)>,
    /// Records by rounds.
    pub(super) runs: Vec<Value>,
}

/// Those that are known first, in their order; the others by name.
fn rank(known: &[&str], name: &str) -> (usize, String) {
    let place = known.iter().position(|known| *known == name);
    (place.unwrap_or(known.len()), name.to_owned())
}

impl Suite {
    pub(super) fn of(records: Vec<Value>) -> Suite {
        let mut groups = BTreeMap::<_, Vec<Value>>::new();
        for run in records {
            let command = text(&run, "/command").rsplit('.').next();
            let command = command.unwrap_or_default().to_lowercase();
            let label = |name: &str| run["labels"][name].as_str();
            let job = label("job").unwrap_or(&command);
            let variant = label("variant").unwrap_or("default");
            let window = label("window").filter(|window| !window.is_empty());
            let variant = variant.to_owned() + &window.map_or(String::new(), |at| format!("@{at}"));
            let key = (rank(&JOBS, job), rank(&VARIANTS, &variant));
            groups.entry(key).or_default().push(run);
        }
        let groups = groups
            .into_iter()
            .map(|(((_, job), (_, variant)), mut runs)| {
                runs.sort_by_key(|run| text(run, "/labels/round").parse::<u64>().unwrap_or(0));
                let figures = FIGURES.iter().filter_map(|figure| {
                    let values = runs.iter().filter_map(|run| figure.of(&job, run));
                    Some((figure, Spread::of(values)?))
                });
                Group {
                    figures: figures.collect(),
                    job,
                    variant,
                    runs,
                }
            });
        Suite {
            groups: groups.collect(),
        }
    }

    pub(super) fn jobs(&self) -> Vec<&str> {
        let mut jobs: Vec<&str> = self.groups.iter().map(|group| &*group.job).collect();
        jobs.dedup();
        jobs
    }

    pub(super) fn group(&self, job: &str, variant: &str) -> Option<&Group> {
        let mut groups = self.groups.iter();
        groups.find(|group| group.job == job && group.variant == variant)
    }

    /// Medians and spread, bottlenecks, and what was expected, for a terminal.
    pub(super) fn to_text(&self, outcomes: &[Outcome]) -> String {
        let mut out = self.table().to_string();
        for group in &self.groups {
            let (job, variant, bottleneck) = (&group.job, &group.variant, group.bottleneck());
            out += &format!("bottleneck of {job}, {variant}: {bottleneck}\n");
        }
        for outcome in outcomes {
            let verdict = if outcome.holds {
                "holds"
            } else {
                "DOES NOT HOLD"
            };
            out += &format!("{verdict:14} {}: {}\n", outcome.expression, outcome.message);
        }
        out
    }

    /// Every figure of every group.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::of(
            "<job|<variant|rounds|<figure|<unit|<kind|median|min|max|quartile 1|quartile 3",
        );
        for group in &self.groups {
            for (figure, spread) in &group.figures {
                let quartile = |which: usize| {
                    let quartiles = spread.quartiles;
                    quartiles.map_or_else(|| "-".to_owned(), |both| figure.number(both[which]))
                };
                table.row([
                    group.job.clone(),
                    group.variant.clone(),
                    spread.values.len().to_string(),
                    figure.key.to_owned(),
                    figure.unit.to_owned(),
                    figure.kind.to_owned(),
                    figure.number(spread.median),
                    figure.number(spread.least),
                    figure.number(spread.most),
                    quartile(0),
                    quartile(1),
                ]);
            }
        }
        table
    }

    /// The same for programs; shares are 0 to 1.
    pub(super) fn to_json(&self, outcomes: &[Outcome]) -> String {
        let groups = self.groups.iter().map(|group| {
            let figures = group.figures.iter().map(|(figure, spread)| {
                let value = json!({
                    "unit": if figure.unit == "%" { "share" } else { figure.unit },
                    "kind": figure.kind,
                    "median": spread.median,
                    "min": spread.least,
                    "max": spread.most,
                    "firstQuartile": spread.quartiles.map(|both| both[0]),
                    "thirdQuartile": spread.quartiles.map(|both| both[1]),
                    "values": spread.values,
                });
                (figure.key.to_owned(), value)
            });
            json!({
                "job": group.job,
                "variant": group.variant,
                "rounds": group.runs.len(),
                "bottleneck": group.bottleneck(),
                "figures": figures.collect::<Map<String, Value>>(),
            })
        });
        let document = json!({
            "tool": "hdfs-meld",
            "version": env!("CARGO_PKG_VERSION"),
            "groups": groups.collect::<Vec<Value>>(),
            "expectations": outcomes,
        });
        format!("{document:#}\n")
    }
}

impl Group {
    pub(super) fn figure(&self, key: &str) -> Option<&Spread> {
        let mut figures = self.figures.iter();
        figures
            .find(|(figure, _)| figure.key == key)
            .map(|(_, spread)| spread)
    }

    /// What the job is known by.
    pub(super) fn headline(&self) -> Option<&Spread> {
        self.figure(Figure::headline(&self.job))
    }

    /// Device or host; both, if rounds differ; unknown without figures of devices.
    fn bottleneck(&self) -> String {
        let of_runs = self
            .runs
            .iter()
            .map(|run| match text(run, "/simulator/bottleneck") {
                "" => "unknown",
                known => known,
            });
        let mut all: Vec<&str> = of_runs.collect();
        all.sort_unstable();
        all.dedup();
        all.join("/")
    }

    /// The run whose headline is the median, or next below it.
    pub(super) fn typical_run(&self) -> &Value {
        let figure = Figure::of_key(Figure::headline(&self.job)).unwrap_or(&FIGURES[0]);
        let values = self
            .runs
            .iter()
            .filter_map(|run| Some((figure.of(&self.job, run)?, run)));
        let mut values: Vec<(f64, &Value)> = values.collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let middle = values.len().saturating_sub(1) / 2;
        values.get(middle).map_or(&self.runs[0], |(_, run)| *run)
    }

    /// The variant without the reader's window, and the window.
    pub(super) fn window(&self) -> (&str, Option<&str>) {
        match self.variant.split_once('@') {
            Some((variant, window)) => (variant, Some(window)),
            None => (&self.variant, None),
        }
    }

    /// The simulated devices of a run: address of the DataNode, device.
    pub(super) fn devices(run: &Value) -> impl Iterator<Item = (&str, &Value)> {
        let nodes = super::record::list(run, "/simulator/dataNodes").iter();
        nodes.flat_map(|node| {
            let devices = super::record::list(node, "/devices").iter();
            devices.map(move |device| (text(node, "/address"), device))
        })
    }

    /// Whether a device did anything.
    pub(super) fn did_something(device: &Value) -> bool {
        let commands = ["/readCommands", "/writeCommands"];
        commands
            .iter()
            .any(|place| number(device, place) > Some(0.0))
    }
}
