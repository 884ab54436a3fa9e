//! Grids of runs: axes of keys with their values, as `--set` and a grid file name them, and the cells of their product.

use std::path::Path;
use std::str::FromStr;

use anyhow::Result;
use meldsim_workload::{Settings, is_job_option};

use crate::error::BadInput;
use crate::surroundings::read_text;

/// Beyond this a grid is a mistake; the Spark job has the same limit.
const CELLS_MAX: usize = 1_000_000;
/// Axes that are neither of the profile nor of a job: the device, and the job file.
const DEVICE: &str = "profile";
/// That of all that is random, as after `--seed`; and that of jobs, which draw other blocks by it only without `randrepeat`.
pub(crate) const SEEDS: [&str; 2] = ["seed", "job.randseed"];
const JOB_FILE: &str = "job";

/// Whether a key is a setting: of the profile, or of a job.
pub(crate) fn is_setting(key: &str) -> bool {
    ![DEVICE, JOB_FILE].contains(&key)
}

/// Keys, and the values that they take together at each point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    keys: Vec<String>,
    points: Vec<Vec<String>>,
}

impl FromStr for Axis {
    type Err = String;

    /// Reads `KEY=V1,V2` and `KEY1:KEY2=V1:W1,V2:W2`.
    fn from_str(text: &str) -> Result<Axis, String> {
        let (keys, values) = text.split_once('=').unwrap_or((text, ""));
        if ![DEVICE, "name", "description"].contains(&keys) && is_job_option(keys) {
            return Err(format!(
                "is \"{text}\", an option of jobs; write job.{text}"
            ));
        }
        let keys = split(keys, ':');
        let point = |point: String| {
            // A colon is part of the value where there is but one key.
            let values = match keys.len() {
                1 => vec![point],
                _ => split(&point, ':'),
            };
            match values.len() == keys.len() {
                true => Ok(values),
                false => Err(format!(
                    "has {} for {} keys in \"{text}\"; write as many values with colons between them",
                    values.join(":"),
                    keys.len()
                )),
            }
        };
        let points = split(values, ',').into_iter().map(point);
        let axis = Axis {
            points: points.collect::<Result<_, String>>()?,
            keys: keys.clone(),
        };
        // What is no setting is told before anything runs, in the words of a setting alone.
        for point in &axis.points {
            Cell::default()
                .put(&axis.keys, point)
                .map_err(|said| match axis.points.len() {
                    1 if keys.len() == 1 => said.replace(&one(&keys[0], &point[0]), text),
                    _ => said,
                })?;
        }
        Ok(axis)
    }
}

/// Splits outside of brackets and quotes: lists and tables are values, too.
fn split(text: &str, separator: char) -> Vec<String> {
    let (mut depth, mut quote, mut start) = (0u32, None, 0);
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) => quote = Some(open).filter(|open| *open != c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, _) if c == separator && depth == 0 => {
                parts.push(text[start..at].trim().to_owned());
                start = at + c.len_utf8();
            }
            (None, _) => {}
        }
    }
    parts.push(text[start..].trim().to_owned());
    parts
}

fn one(key: &str, value: &str) -> String {
    format!("{key}={value}")
}

/// One run of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    /// Where it is: the keys with their values, in the order of the axes.
    pub(crate) place: Vec<(String, String)>,
    /// The device, where an axis says it.
    pub(crate) profile: Option<String>,
    /// The job file, where an axis says it.
    pub(crate) job: Option<String>,
    /// As after `--seed`.
    pub(crate) seed: Option<u64>,
    /// Laid over both.
    pub(crate) settings: Settings,
}

impl Cell {
    fn put(&mut self, keys: &[String], values: &[String]) -> Result<(), String> {
        for (key, value) in keys.iter().zip(values) {
            match key.as_str() {
                DEVICE if !value.is_empty() => self.profile = Some(value.clone()),
                "seed" => {
                    let seed = value.parse();
                    let wrong = |_| format!("seed is \"{value}\"; use a whole number");
                    self.seed = Some(seed.map_err(wrong)?);
                }
                JOB_FILE if !value.is_empty() => self.job = Some(value.clone()),
                _ => self.settings.add(&one(key, value))?,
            }
            self.place.push((key.clone(), value.clone()));
        }
        Ok(())
    }

    /// Its settings as a command line has them.
    pub(crate) fn settings(&self) -> impl Iterator<Item = String> {
        let settings = self.place.iter().filter(|(key, _)| is_setting(key));
        let settings = settings.map(|(key, value)| one(key, value));
        let options = self.settings.job.iter();
        let own = options.map(|(key, value)| one(&format!("job.{key}"), value));
        let of_place: Vec<String> = settings.collect();
        let added =
            own.filter(|setting| setting == "job.randrepeat=0" && !of_place.contains(setting));
        added.collect::<Vec<_>>().into_iter().chain(of_place)
    }
}

/// The product of axes; the last one varies fastest.
#[derive(Debug)]
pub(crate) struct Grid {
    axes: Vec<Axis>,
}

impl Grid {
    /// Of the axes of a file, if one is named, and of these, in this order.
    pub(crate) fn of(file: Option<&str>, axes: &[Axis]) -> Result<Grid> {
        let mut all = file.map_or(Ok(Vec::new()), of_file)?;
        all.extend_from_slice(axes);
        let grid = Grid { axes: all };
        let lengths = grid.axes.iter().map(|axis| axis.points.len());
        let cells = lengths.fold(1, usize::saturating_mul);
        if cells > CELLS_MAX {
            let text = format!(
                "--set: is a grid of {cells} cells; {CELLS_MAX} at most, so sweep parts of it"
            );
            return Err(BadInput(text).into());
        }
        let keys = || grid.axes.iter().flat_map(|axis| axis.keys.iter());
        let twice = keys().find(|key| cells > 1 && keys().filter(|other| other == key).count() > 1);
        if let Some(key) = twice {
            let text =
                format!("--set: {key} is on two axes of a grid; put all of its values on one");
            return Err(BadInput(text).into());
        }
        Ok(grid)
    }

    /// How many cells there are.
    pub(crate) fn len(&self) -> usize {
        self.axes.iter().map(|axis| axis.points.len()).product()
    }

    /// The keys in the order of the axes, each after the number of its axis, and before whether it varies.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (usize, &str, bool)> {
        let axes = self.axes.iter().enumerate();
        axes.flat_map(|(number, axis)| {
            let keys = axis.keys.iter();
            keys.map(move |key| (number, key.as_str(), axis.points.len() > 1))
        })
    }

    /// The cell of that number.
    pub(crate) fn cell(&self, number: usize) -> Result<Cell> {
        let mut rest = number;
        let mut points = Vec::new();
        for axis in self.axes.iter().rev() {
            points.push(&axis.points[rest % axis.points.len()]);
            rest /= axis.points.len();
        }
        let mut cell = Cell::default();
        let is_seed = |(_, key, varies): &(usize, &str, bool)| *varies && *key == SEEDS[1];
        if self.keys().any(|key| is_seed(&key)) {
            // Cells of several seeds draw anew.
            let other = cell.settings.add("job.randrepeat=0");
            other.map_err(BadInput)?;
        }
        for (axis, point) in self.axes.iter().zip(points.into_iter().rev()) {
            let put = cell.put(&axis.keys, point);
            put.map_err(|said| BadInput(format!("--set: {said}")))?;
        }
        Ok(cell)
    }
}

/// The axes of a grid file: one on a line, as after `--set`; what follows `#` at a line's beginning is a comment.
fn of_file(path: &str) -> Result<Vec<Axis>> {
    let text = read_text(Path::new(path)).map_err(|error| {
        BadInput(format!(
            "--grid: cannot read \"{path}\": {error}; give the path of a file with an axis on each line"
        ))
    })?;
    let lines = text.lines().enumerate();
    let lines = lines.map(|(index, line)| (index + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let axes = lines.map(|(at, line)| {
        let axis: Result<Axis, String> = line.parse();
        axis.map_err(|said| BadInput(format!("--grid: {path}:{at}: {said}")).into())
    });
    axes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(axes: &[&str]) -> Grid {
        let axes: Vec<Axis> = axes.iter().map(|text| text.parse().unwrap()).collect();
        Grid::of(None, &axes).unwrap()
    }

    fn places(grid: &Grid) -> Vec<String> {
        let cells = (0..grid.len()).map(|number| grid.cell(number).unwrap());
        let place = |cell: Cell| {
            let place = cell.place.iter().map(|(key, value)| one(key, value));
            place.collect::<Vec<_>>().join(" ")
        };
        cells.map(place).collect()
    }

    #[test]
    fn a_grid_is_the_product_of_its_axes_and_the_last_varies_fastest() {
        let grid = grid(&["geometry.channels=4,8", "job.rw:job.bs=read:1m,randread:4k"]);
        let expected = [
            "geometry.channels=4 job.rw=read job.bs=1m",
            "geometry.channels=4 job.rw=randread job.bs=4k",
            "geometry.channels=8 job.rw=read job.bs=1m",
            "geometry.channels=8 job.rw=randread job.bs=4k",
        ];
        assert_eq!(places(&grid), expected);
        let last = grid.cell(3).unwrap();
        assert_eq!(last.settings.profile.len(), 1);
        assert_eq!(last.settings.job.len(), 2);
    }

    #[test]
    fn commas_in_lists_tables_and_quotes_are_of_the_value() {
        let points = |text: &str| text.parse::<Axis>().unwrap().points.concat();
        let lists = ["[\"60us\", \"70us\"]", "[\"50us\",\"60us\"]"];
        assert_eq!(
            points(&format!("timing.read={},{}", lists[0], lists[1])),
            lists
        );
        assert_eq!(points("job.bs=\"4k,16k\",8k"), ["\"4k,16k\"", "8k"]);
        assert_eq!(points("policy.x={a=1, b=2},{a=2, b=3}").len(), 2);
        assert_eq!(points("description='a, b'"), ["'a, b'"]);
        assert_eq!(
            points("profile=7450-pro, mine.toml"),
            ["7450-pro", "mine.toml"]
        );
        // A lone key may have colons in its values.
        assert_eq!(points("job.percentile_list=50:99"), ["50:99"]);
    }

    #[test]
    fn what_is_no_axis_is_named() {
        for (text, said) in [
            ("", "is no setting"),
            (
                "ftl.page_allocation",
                "is \"ftl.page_allocation\", which is no setting",
            ),
            (
                "geometry.channels=4,,8",
                "is \"geometry.channels=\", which is no setting",
            ),
            ("profile=", "is no setting"),
            ("a:b=1:2,3", "has 3 for 2 keys in \"a:b=1:2,3\""),
            ("job.=1", "write job.OPTION=VALUE"),
        ] {
            let error = text.parse::<Axis>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
        let twice: Vec<Axis> = ["a.b=1,2", "a.b=3"]
            .map(|text| text.parse().unwrap())
            .into();
        let error = Grid::of(None, &twice).unwrap_err().to_string();
        assert!(error.contains("a.b is on two axes"), "{error}");
        // Alone, a later setting goes before an earlier one, as ever.
        let plain: Vec<Axis> = ["a.b=1", "a.b=3"].map(|text| text.parse().unwrap()).into();
        assert_eq!(Grid::of(None, &plain).unwrap().len(), 1);
    }
}
