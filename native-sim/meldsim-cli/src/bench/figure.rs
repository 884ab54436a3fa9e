//! One measured figure and its bar.

use meldsim_experiments::report::count;
use serde::{Deserialize, Serialize};

use super::usage::Spent;

#[derive(Deserialize, Serialize)]
pub(super) struct Figure {
    what: String,
    value: f64,
    unit: String,
    bar: f64,
    /// Whether the value must be at least the bar, or at most.
    bar_is: String,
    pub(super) passes: bool,
    cpu_s: f64,
    wall_s: f64,
}

impl Figure {
    /// A figure that must be at least `bar`.
    pub(super) fn at_least(what: String, value: f64, unit: &str, bar: f64, spent: Spent) -> Figure {
        Figure {
            passes: value >= bar,
            bar_is: "at least".to_owned(),
            ..Figure::at_most(what, value, unit, bar, spent)
        }
    }

    /// A figure that must be at most `bar`.
    pub(super) fn at_most(what: String, value: f64, unit: &str, bar: f64, spent: Spent) -> Figure {
        Figure {
            what,
            value,
            unit: unit.to_owned(),
            bar,
            bar_is: "at most".to_owned(),
            passes: value <= bar,
            cpu_s: spent.cpu_s,
            wall_s: spent.wall_s,
        }
    }

    pub(super) fn cells(&self) -> Vec<String> {
        let number = |value: f64| match value {
            value if value >= 1e4 => count(value),
            value if value >= 10.0 => format!("{value:.0}"),
            value => format!("{value:.3}"),
        };
        vec![
            self.what.clone(),
            format!("{} {}", number(self.value), self.unit),
            format!("{} {}", self.bar_is, number(self.bar)),
            if self.passes { "passes" } else { "FAILS" }.to_owned(),
            format!("{:.2}", self.cpu_s),
            format!("{:.2}", self.wall_s),
        ]
    }
}
