//! The figures of a run: what they are called, where they are in its record, and how they are shown.

use serde_json::Value;

use super::record::{list, number, text};

/// What is said of a run. Expectations, tables and JSON know it by its key.
#[derive(Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) key: &'static str,
    pub(super) unit: &'static str,
    /// Measured on the wall clock, or simulated.
    pub(super) kind: &'static str,
    pub(super) more_is_better: bool,
}

const fn figure(
    key: &'static str,
    unit: &'static str,
    kind: &'static str,
    more_is_better: bool,
) -> Figure {
    Figure {
        key,
        unit,
        kind,
        more_is_better,
    }
}

pub(super) static FIGURES: [Figure; 19] = [
    figure("throughput", "MiB/s", "measured", true),
    figure("queries-per-hour", "1/h", "measured", true),
    figure("seconds", "s", "measured", false),
    figure("q1", "s", "measured", false),
    figure("q6", "s", "measured", false),
    figure("reads", "1/s", "measured", true),
    figure("ratio", "p99 / p99", "measured", false),
    figure("p50", "ms", "measured", false),
    figure("p99", "ms", "measured", false),
    figure("p50-writer", "ms", "measured", false),
    figure("p99-writer", "ms", "measured", false),
    figure("ingest", "MiB/s", "measured", true),
    figure("amplification", "flash / host", "simulated", false),
    figure("host", "MiB", "simulated", true),
    figure("flash", "MiB", "simulated", false),
    figure("placed", "blocks", "measured", true),
    figure("wait", "%", "measured", true),
    figure("utilisation", "%", "simulated", true),
    figure("device", "MiB/s", "simulated", true),
];

/// Of a byte.
const MIB: f64 = 1.0 / (1 << 20) as f64;

/// Where figures are in a record: of which job, or of every one; place; what of the unit it is there.
const PLACES: [(&str, &str, &str, f64); 22] = [
    ("scan", "throughput", "/result/readMibPerSecond", 1.0),
    ("scan", "p50", "/result/latency/p50Us", 1e-3),
    ("scan", "p99", "/result/latency/p99Us", 1e-3),
    ("sort", "throughput", "/result/sortedMibPerSecond", 1.0),
    ("lookup", "reads", "/result/readsPerSecond", 1.0),
    ("lookup", "p50", "/result/latency/p50Us", 1e-3),
    ("lookup", "p99", "/result/latency/p99Us", 1e-3),
    ("mixed", "ratio", "/result/ratio/p99", 1.0),
    ("mixed", "p50", "/result/alone/latency/p50Us", 1e-3),
    ("mixed", "p99", "/result/alone/latency/p99Us", 1e-3),
    (
        "mixed",
        "p50-writer",
        "/result/withWriter/latency/p50Us",
        1e-3,
    ),
    (
        "mixed",
        "p99-writer",
        "/result/withWriter/latency/p99Us",
        1e-3,
    ),
    ("mixed", "throughput", "/result/alone/readMibPerSecond", 1.0),
    (
        "mixed",
        "ingest",
        "/result/withWriter/ingestMibPerSecond",
        1.0,
    ),
    ("churn", "throughput", "/result/writtenMibPerSecond", 1.0),
    (
        "churn",
        "amplification",
        "/simulator/writeAmplification",
        1.0,
    ),
    ("churn", "host", "/simulator/writtenBytes", MIB),
    ("churn", "flash", "/simulator/flashBytes", MIB),
    ("churn", "placed", "/simulator/lifetimeBlocks", 1.0),
    ("", "wait", "/simulator/readerWaitShare", 1.0),
    ("", "utilisation", "/simulator/utilisation", 1.0),
    ("", "device", "/simulator/readMibPerSecond", 1.0),
];

impl Figure {
    /// The figure of that key.
    pub(super) fn of_key(key: &str) -> Option<&'static Figure> {
        FIGURES.iter().find(|figure| figure.key == key)
    }

    /// What a job is known by.
    pub(super) fn headline(job: &str) -> &'static str {
        match job {
            "query" => "queries-per-hour",
            "lookup" => "reads",
            "mixed" => "ratio",
            "churn" => "amplification",
            _ => "throughput",
        }
    }

    /// The figure of a run of this job, if its record has it.
    pub(super) fn of(&self, job: &str, run: &Value) -> Option<f64> {
        if job == "query" && ["s", "1/h"].contains(&self.unit) {
            return self.of_queries(list(run, "/result/queries"));
        }
        let mut places = PLACES.iter();
        let (.., place, unit) =
            places.find(|(of, key, ..)| (*of == job || of.is_empty()) && *key == self.key)?;
        let value = number(run, place)? * unit;
        // A device that read nothing has no speed.
        (self.key != "device" || value > 0.0).then_some(value)
    }

    fn of_queries(&self, queries: &[Value]) -> Option<f64> {
        let seconds = |query: &Value| {
            let runs = list(query, "/runs").iter();
            Spread::of(runs.filter_map(|run| number(run, "/wallSeconds")))
                .map(|spread| spread.median)
        };
        let all: f64 = queries.iter().filter_map(seconds).sum();
        match self.key {
            "seconds" => Some(all),
            "queries-per-hour" => Some(3600.0 * queries.len() as f64 / all),
            key => {
                let named = |query: &&Value| text(query, "/query").eq_ignore_ascii_case(key);
                queries.iter().find(named).and_then(seconds)
            }
        }
        .filter(|value| all > 0.0 && value.is_finite())
    }

    /// A value with its unit, for people.
    pub(super) fn text(&self, value: f64) -> String {
        match self.unit {
            "p99 / p99" => self.number(value) + "×",
            unit => format!("{} {unit}", self.number(value)),
        }
    }

    /// A value for people; shares are 0 to 1 and shown in percent.
    pub(super) fn number(&self, value: f64) -> String {
        let shown = self.shown(value);
        let digits = match shown.abs() {
            1000.0.. => 0,
            100.0.. => 1,
            _ => 2,
        };
        grouped(shown, digits)
    }

    /// A value in the unit in which it is shown.
    pub(super) fn shown(&self, value: f64) -> f64 {
        match self.unit {
            "%" => 100.0 * value,
            _ => value,
        }
    }
}

/// A number with so many decimals, its thousands apart.
pub(super) fn grouped(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let whole = text.split('.').next().unwrap_or_default().len();
    let mut grouped = String::new();
    for (place, letter) in text.chars().enumerate() {
        let left = whole.saturating_sub(place);
        if place > 0 && left > 0 && left % 3 == 0 && !grouped.ends_with('-') {
            grouped.push(',');
        }
        grouped.push(letter);
    }
    grouped
}

/// Values of several rounds.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    /// In the order of the rounds.
    pub(super) values: Vec<f64>,
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    /// Interpolated linearly; fewer than four values have none.
    pub(super) quartiles: Option<[f64; 2]>,
}

impl Spread {
    /// Of these values, if there are any.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Option<Spread> {
        let values: Vec<f64> = values.collect();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let at = share * (sorted.len() - 1) as f64;
            let (below, above) = (at.floor() as usize, at.ceil() as usize);
            sorted[below] + at.fract() * (sorted[above] - sorted[below])
        };
        Some(Spread {
            least: *sorted.first()?,
            most: *sorted.last()?,
            median: quantile(0.5),
            quartiles: (sorted.len() >= 4).then(|| [quantile(0.25), quantile(0.75)]),
            values,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quartiles_are_interpolated() {
        let spread = |values: &[f64]| Spread::of(values.iter().copied());
        assert!(spread(&[]).is_none());
        let three = spread(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((three.least, three.median, three.most), (1.0, 2.0, 3.0));
        assert_eq!(three.quartiles, None);
        let four = spread(&[4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!((four.median, four.quartiles), (2.5, Some([1.75, 3.25])));
    }

    #[test]
    fn thousands_are_apart() {
        for (value, digits, text) in [
            (0.0, 0, "0"),
            (999.0, 0, "999"),
            (1234.5, 1, "1,234.5"),
            (-1234567.0, 2, "-1,234,567.00"),
        ] {
            assert_eq!(grouped(value, digits), text);
        }
    }
}
