//! `meldsim bench --against PROGRAM`: this program's speed relative to another version's.
//!
//! Both run `bench --quick` in processes of their own, in pairs, and take turns at being first. The
//! result is the median of the ratios of the pairs: what disturbs the machine for a while disturbs
//! both programs of a pair.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use meldsim_stats::Table;
use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::machine;

/// Requests of a run when none are named: fifteen pairs take some minutes.
const REQUESTS: u64 = 500_000;

/// The other program cannot be compared with; the text names it and the remedy.
#[derive(Debug)]
pub struct BadProgram(String);

impl std::fmt::Display for BadProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadProgram {}

/// How this program's speed relates to the other's.
#[derive(Serialize)]
pub struct Comparison {
    against: String,
    pairs: usize,
    requests: u64,
    machine: String,
    /// What a median must be at least, if that is asked for.
    bar: Option<f64>,
    figures: Vec<Ratio>,
    /// Figures that only one of the programs has.
    not_compared: Vec<String>,
}

/// One figure, over all pairs.
#[derive(Debug, PartialEq, Serialize)]
struct Ratio {
    what: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    device: String,
    unit: String,
    /// Medians of what the programs measured.
    this: f64,
    other: f64,
    /// Of this program's speed to the other's, of each pair: more than 1 is faster.
    median: f64,
    min: f64,
    max: f64,
    passes: Option<bool>,
}

/// What both programs measured, one right after the other.
struct Pair {
    this: Vec<Figure>,
    other: Vec<Figure>,
}

/// What a program prints of its figures.
#[derive(Deserialize)]
struct Printed {
    measurements: Vec<Figure>,
}

impl Comparison {
    /// Measures so many pairs. No median may be below the bar.
    ///
    /// # Errors
    ///
    /// A [`BadProgram`], or this one fails.
    pub fn measure(
        other: &str,
        pairs: u32,
        requests: Option<u64>,
        bar: Option<f64>,
        mut progress: impl FnMut(f64),
    ) -> Result<Comparison> {
        let this = std::env::current_exe().context("cannot find this program")?;
        let requests = requests.unwrap_or(REQUESTS);
        let mut measured = Vec::new();
        for pair in 0..pairs {
            measured.push(Pair::measure(&this, other, requests, pair % 2 == 0)?);
            progress(f64::from(pair + 1) / f64::from(pairs));
        }
        Ok(Comparison::of(other, requests, bar, &measured))
    }

    fn of(other: &str, requests: u64, bar: Option<f64>, pairs: &[Pair]) -> Comparison {
        let first = pairs.iter().take(1);
        let names: Vec<&str> = first
            .flat_map(|pair| pair.this.iter().chain(&pair.other))
            .map(|figure| figure.what.as_str())
            .collect();
        let mut comparison = Comparison {
            against: other.to_owned(),
            pairs: pairs.len(),
            requests,
            machine: machine(),
            bar,
            figures: Vec::new(),
            not_compared: Vec::new(),
        };
        for (index, &what) in names.iter().enumerate() {
            match Ratio::of(what, pairs, bar) {
                _ if names[..index].contains(&what) => {}
                Some(ratio) => comparison.figures.push(ratio),
                None => comparison.not_compared.push(what.to_owned()),
            }
        }
        comparison
    }

    /// Whether no median is below the bar.
    pub fn passes(&self) -> bool {
        self.figures.iter().all(|ratio| ratio.passes != Some(false))
    }

    /// The figures for people.
    pub fn to_text(&self) -> String {
        let verdict = self.bar.map_or("", |_| "|<verdict");
        let columns = format!("<what|<device|<unit|this|other|speed, median|min|max{verdict}");
        let mut table = Table::of(&columns);
        for ratio in &self.figures {
            let mut cells = vec![
                ratio.what.clone(),
                ratio.device.clone(),
                ratio.unit.clone(),
                Figure::number(ratio.this),
                Figure::number(ratio.other),
            ];
            cells.extend([ratio.median, ratio.min, ratio.max].map(|times| format!("{times:.3}")));
            let verdict = |passes| if passes { "passes" } else { "FAILS" }.to_owned();
            cells.extend(ratio.passes.map(verdict));
            table.row(cells);
        }
        let mut text = format!(
            "{table}speed relative to {}, {} pairs of {} requests; more than 1 is faster\n",
            self.against, self.pairs, self.requests
        );
        if !self.not_compared.is_empty() {
            let names = self.not_compared.join(", ");
            text += &format!("not compared, for only one program has it: {names}\n");
        }
        if let Some(bar) = self.bar {
            let failed = self
                .figures
                .iter()
                .filter(|ratio| ratio.passes == Some(false));
            text += &match failed.count() {
                0 => format!("every median is at least {bar}\n"),
                failed => format!(
                    "{failed} of {} medians are below {bar}\n",
                    self.figures.len()
                ),
            };
        }
        text + &format!("machine: {}\n", self.machine)
    }
}

/// What a program measures of itself.
fn figures_of(program: &Path, requests: u64) -> Result<Vec<Figure>> {
    let output = Command::new(program)
        .args(["bench", "--quick", "--format", "json", "--requests"])
        .arg(requests.to_string())
        .output()
        .context("it cannot be started")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        anyhow::bail!("its `bench` failed ({}): {}", output.status, message.trim());
    }
    let printed: Printed =
        serde_json::from_slice(&output.stdout).context("its `bench` gave no figures")?;
    Ok(printed.measurements)
}

impl Pair {
    /// Runs both; the other one first shows at once when it cannot be run.
    fn measure(this: &Path, other: &str, requests: u64, other_first: bool) -> Result<Pair> {
        let run_other = || {
            figures_of(Path::new(other), requests).map_err(|error| {
                BadProgram(format!(
                    "--against {other}: {error:#}; give the path of a meldsim program"
                ))
            })
        };
        let run_this = || figures_of(this, requests).context("this program");
        if other_first {
            let other = run_other()?;
            let this = run_this()?;
            return Ok(Pair { this, other });
        }
        Ok(Pair {
            this: run_this()?,
            other: run_other()?,
        })
    }
}

impl Ratio {
    /// The figure over all pairs, where both programs have it.
    fn of(what: &str, pairs: &[Pair], bar: Option<f64>) -> Option<Ratio> {
        let (mut unit, mut device) = (None, "");
        let (mut these, mut others, mut speeds) = (Vec::new(), Vec::new(), Vec::new());
        for pair in pairs {
            let this = pair.this.iter().find(|figure| figure.what == what)?;
            let other = pair.other.iter().find(|figure| figure.what == what)?;
            these.push(this.value);
            others.push(other.value);
            speeds.push(match this.is_better_when_more() {
                true => this.value / other.value,
                false => other.value / this.value,
            });
            unit = Some(this.unit.clone());
            device = &this.device;
        }
        let unit = unit?;
        let median_speed = median(&mut speeds);
        Some(Ratio {
            what: what.to_owned(),
            device: device.to_owned(),
            unit,
            this: median(&mut these),
            other: median(&mut others),
            median: median_speed,
            min: speeds[0],
            max: speeds[speeds.len() - 1],
            passes: bar.map(|bar| median_speed >= bar),
        })
    }
}

/// The middle value, or the mean of the two in the middle; sorts them.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::Spent;
    use super::*;

    fn rate(what: &str, per_s: f64) -> Figure {
        let spent = Spent::default();
        Figure::at_least(what.to_owned(), per_s, "requests/s", 1.0, spent).of("pm9a3")
    }

    fn time(what: &str, s: f64) -> Figure {
        Figure::at_most(what.to_owned(), s, "s", 1.0, Spent::default())
    }

    #[test]
    fn the_median_of_the_ratios_counts_and_less_time_is_faster() {
        let pairs = [(90.0, 2.0), (300.0, 1.0), (110.0, 1.0)].map(|(per_s, s)| Pair {
            this: vec![rate("reads", per_s), time("replay", s), rate("new", 1.0)],
            other: vec![rate("reads", 100.0), time("replay", 1.5), rate("old", 1.0)],
        });
        let comparison = Comparison::of("old", 1_000, Some(1.2), &pairs);
        let [reads, replay] = comparison.figures.as_slice() else {
            panic!("{:?}", comparison.figures);
        };
        assert_eq!((reads.median, reads.min, reads.max), (1.1, 0.9, 3.0));
        assert_eq!((reads.this, reads.other), (110.0, 100.0));
        assert_eq!((replay.median, replay.min, replay.max), (1.5, 0.75, 1.5));
        assert_eq!((reads.passes, replay.passes), (Some(false), Some(true)));
        assert_eq!(comparison.not_compared, ["new", "old"]);
        assert!(!comparison.passes());
        let text = comparison.to_text();
        for said in [
            "3 pairs",
            "FAILS",
            "1 of 2 medians are below 1.2",
            "pm9a3",
            "new, old",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        let lower = Comparison::of("old", 1_000, Some(1.1), &pairs);
        assert!(lower.passes() && lower.to_text().contains("at least 1.1"));
        assert!(Comparison::of("old", 1_000, None, &pairs).passes());
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_run_and_failing_ones_are_named() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let program = |name: &str, lines: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&path, mode).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let figures = serde_json::json!({ "measurements": [rate("reads", 5.0)] });
        let check = "[ \"$*\" = \"bench --quick --format json --requests 1000\" ] || exit 3";
        let good = program("good", &format!("{check}\necho '{figures}'"));
        let pair = Pair::measure(Path::new(&good), &good, 1_000, false).unwrap();
        assert_eq!((pair.this[0].value, pair.other.len()), (5.0, 1));

        let failing = program("failing", "echo no such option >&2; exit 2");
        let silent = program("silent", "true");
        let nowhere = folder.path().join("nowhere").to_str().unwrap().to_owned();
        for (other, said) in [
            (
                &failing,
                "its `bench` failed (exit status: 2): no such option",
            ),
            (&silent, "its `bench` gave no figures"),
            (&nowhere, "it cannot be started"),
        ] {
            let error = Pair::measure(Path::new(&good), other, 1_000, true)
                .err()
                .unwrap();
            let text = format!("{error:#}");
            assert!(text.contains(other) && text.contains(said), "{text}");
            assert!(error.is::<BadProgram>());
        }
        let error = Pair::measure(Path::new(&failing), &good, 1_000, true);
        let error = format!("{:#}", error.err().unwrap());
        assert!(
            error.starts_with("this program: its `bench` failed"),
            "{error}"
        );
    }
}
