//! A row of a sweep, as a line of CSV and of JSON. The figures are those of the Spark job `Sweep`, and some more.

use meldsim_stats::{csv_fields, csv_lines, csv_number};
use meldsim_workload::{Direction, JobResult, RunResult, Tally};
use serde_json::{Map, Value};

/// Columns of each direction, of all jobs together: rates are sums over those that run at a time, and means over the time of those
/// that run one after the other; latencies are those of all requests.
const OF_DIRECTION: [&str; 10] = [
    "requests",
    "failed",
    "iops",
    "mib_s",
    "mean_us",
    "p50_us",
    "p99_us",
    "p999_us",
    "p9999_us",
    "p99999_us",
];
const OF_DEVICE: [&str; 3] = [
    "write_amplification",
    "channels_busy_percent",
    "dies_busy_percent",
];
const DIRECTIONS: [(&str, Direction); 2] = [("read", Direction::Read), ("write", Direction::Write)];
const FIGURES: usize = DIRECTIONS.len() * OF_DIRECTION.len() + OF_DEVICE.len();
/// Columns after the figures.
const LAST: [&str; 4] = ["steady", "error", "command", "input"];

/// The values of a row in the order of its columns; a missing one is empty.
pub(super) type Row = Vec<String>;

/// The columns of a sweep.
pub(super) struct Columns {
    pub(super) names: Vec<String>,
    /// Keys that say where in the grid a cell is.
    places: usize,
}

/// The result of a cell.
pub(super) struct Outcome {
    pub(super) figures: Result<Vec<String>, String>,
    /// Whether what was measured would go on so: `yes`, `no`, or nothing where that cannot be told.
    pub(super) steady: &'static str,
    /// The command that repeats it.
    pub(super) command: String,
    /// The digest of all that it depends on.
    pub(super) input: String,
}

impl Columns {
    pub(super) fn new(places: Vec<String>) -> Columns {
        let count = places.len();
        let of =
            |(name, _): (&str, Direction)| OF_DIRECTION.map(|figure| format!("{name}_{figure}"));
        let mut names = vec!["cell".to_owned()];
        names.extend(places);
        names.extend(DIRECTIONS.into_iter().flat_map(of));
        names.extend(OF_DEVICE.into_iter().chain(LAST).map(str::to_owned));
        Columns {
            names,
            places: count,
        }
    }

    /// Where the column of that name is.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The row of a cell at that place.
    pub(super) fn row(&self, cell: usize, place: Vec<String>, outcome: Outcome) -> Row {
        let mut row = vec![cell.to_string()];
        row.extend(place);
        let error = match outcome.figures {
            Ok(figures) => {
                row.extend(figures);
                String::new()
            }
            Err(error) => {
                row.resize(row.len() + FIGURES, String::new());
                // A row is a line.
                error.split_whitespace().collect::<Vec<_>>().join(" ")
            }
        };
        row.extend([
            outcome.steady.to_owned(),
            error,
            outcome.command,
            outcome.input,
        ]);
        row
    }

    /// Identifies a row: the cell's number, its place, and the digest.
    pub(super) fn identity<'a>(&self, row: &'a Row) -> (&'a [String], Option<&'a String>) {
        (&row[..=self.places], row.last())
    }

    pub(super) fn error<'a>(&self, row: &'a Row) -> &'a str {
        &row[self.places + 2 + FIGURES]
    }

    fn is_number(&self, column: usize) -> bool {
        let figures = self.places + 1..self.places + 1 + FIGURES;
        column == 0 || figures.contains(&column)
    }

    pub(super) fn csv_header(&self) -> String {
        csv_lines([&self.names])
    }

    pub(super) fn to_csv(&self, row: &Row) -> String {
        csv_lines([row])
    }

    /// The row of a line of CSV; nothing of another line.
    pub(super) fn read_csv(&self, line: &str) -> Option<Row> {
        csv_fields(line).filter(|row| row.len() == self.names.len())
    }

    pub(super) fn to_json(&self, row: &Row) -> String {
        let value = |(column, text): (usize, &String)| match self.is_number(column) {
            true => text.parse().map_or(Value::Null, Value::Number),
            false if text.is_empty() && LAST[..2].contains(&&*self.names[column]) => Value::Null,
            false => Value::from(text.as_str()),
        };
        let values = row.iter().enumerate().map(value);
        Value::Object(self.names.iter().cloned().zip(values).collect()).to_string()
    }

    /// The row of an object of JSON; nothing of another text.
    pub(super) fn read_json(&self, text: &str) -> Option<Row> {
        let object: Map<String, Value> = serde_json::from_str(text).ok()?;
        let is_whole = object.keys().eq(self.names.iter());
        let values = object.into_iter().map(|(_, value)| match value {
            Value::Null => String::new(),
            Value::String(text) => text,
            number => csv_number(number.as_f64().unwrap_or_default()),
        });
        is_whole.then(|| values.collect())
    }
}

/// The figures of a run.
pub(super) fn figures(result: &RunResult) -> Vec<String> {
    let mut figures = Vec::new();
    for (_, direction) in DIRECTIONS {
        let jobs = result.jobs.iter();
        let jobs = jobs.filter_map(|job| Some((job, job.tally(direction)?)));
        figures.extend(of_direction(jobs.collect()));
    }
    let device = &result.device;
    let amplification = device.flash().and_then(|flash| flash.write_amplification);
    figures.push(amplification.map_or(String::new(), csv_number));
    for busy in [device.channels_busy_percent(), device.dies_busy_percent()] {
        let mean = busy.iter().sum::<f64>() / (busy.len() as f64).max(1.0);
        figures.push(csv_number(mean));
    }
    figures
}

/// Jobs that run at a time, as lists of them in the order in which these begin.
fn at_a_time<T>(mut jobs: Vec<(&JobResult, T)>) -> Vec<Vec<(&JobResult, T)>> {
    jobs.sort_by(|(one, _), (other, _)| one.start_us.total_cmp(&other.start_us));
    let (mut all, mut end): (Vec<Vec<_>>, _) = (Vec::new(), f64::NEG_INFINITY);
    for (job, tally) in jobs {
        let is_later = job.start_us >= end;
        end = end.max(job.start_us + job.duration_us);
        match all.last_mut() {
            Some(last) if !is_later => last.push((job, tally)),
            _ => all.push(vec![(job, tally)]),
        }
    }
    all
}

/// Whether some of the jobs run after others.
pub(super) fn runs_in_turn(jobs: &[JobResult]) -> bool {
    at_a_time(jobs.iter().map(|job| (job, ())).collect()).len() > 1
}

fn of_direction(jobs: Vec<(&JobResult, &Tally)>) -> Vec<String> {
    let mut all = Tally::default();
    jobs.iter().for_each(|(_, tally)| all.merge(tally));
    let Some(l) = all.latencies().summary() else {
        return vec![String::new(); OF_DIRECTION.len()];
    };
    let together = at_a_time(jobs);
    let us = |jobs: &[(&JobResult, &Tally)]| {
        jobs.iter()
            .map(|(job, _)| job.duration_us)
            .fold(0.0, f64::max)
    };
    let time: f64 = together.iter().map(|jobs| us(jobs)).sum();
    let mean = |rate: fn(&Tally) -> Option<f64>| {
        let of = |jobs: &Vec<(&JobResult, &Tally)>| {
            let sum: f64 = jobs.iter().filter_map(|(_, tally)| rate(tally)).sum();
            match together.len() {
                1 => sum,
                _ => sum * us(jobs) / time,
            }
        };
        csv_number(together.iter().map(of).sum::<f64>())
    };
    let mut texts = vec![all.requests.to_string(), all.failed.to_string()];
    texts.extend([mean(Tally::iops), mean(Tally::bandwidth_mib_s)]);
    texts.extend([l.mean_us, l.p50_us, l.p99_us, l.p99_9_us].map(csv_number));
    texts.extend(l.tails_us().map(|us| us.map_or(String::new(), csv_number)));
    texts
}

/// Whether all jobs are steady, where that can be told of one.
pub(super) fn steady(result: &RunResult) -> &'static str {
    let windows = result
        .jobs
        .iter()
        .filter_map(|job| job.window.as_ref()?.is_steady);
    match windows.reduce(|one, other| one && other) {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_from_their_lines() {
        let columns = Columns::new(vec!["profile".to_owned(), "timing.read".to_owned()]);
        let place = vec!["x".to_owned(), "[\"1us\", \"2us\"]".to_owned()];
        let outcome = |figures| Outcome {
            figures,
            steady: "no",
            command: "meldsim run --set 'a=\"b, c\"'".to_owned(),
            input: "00ff".to_owned(),
        };
        let mut numbers = vec!["0.5".to_owned(), "123456789.000001".to_owned()];
        numbers.resize(FIGURES, String::new());
        for figures in [Ok(numbers), Err("two\nlines, \"quoted\"".to_owned())] {
            let row = columns.row(7, place.clone(), outcome(figures));
            assert_eq!(row.len(), columns.names.len());
            let (csv, json) = (columns.to_csv(&row), columns.to_json(&row));
            assert_eq!(columns.read_csv(&csv), Some(row.clone()));
            assert_eq!(columns.read_json(&json), Some(row));
            for (cut, _) in csv.char_indices().skip(1).step_by(7) {
                assert_ne!(
                    columns.read_csv(&csv[..cut]),
                    columns.read_csv(&csv),
                    "{cut}"
                );
            }
            assert_eq!(columns.read_json(&json[..json.len() - 1]), None);
        }
    }
}
