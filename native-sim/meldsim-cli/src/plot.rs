//! `--plot`: a chart of the rows of a sweep.

use std::collections::BTreeMap;
use std::str::FromStr;

use meldsim_report::chart::{Axis, Line, LineChart, Scale};
use meldsim_workload::parse_bytes;

use crate::error::BadInput;

/// With at most so many values each is a tick.
const TICKS: usize = 10;
/// An axis is logarithmic when its values differ by this factor or more: one of keys, one of figures.
const WIDE_X: f64 = 16.0;
const WIDE_Y: f64 = 50.0;

/// The columns of a figure's axes, and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plot {
    x: String,
    y: String,
    by: Vec<String>,
    /// A file whose name ends in `.svg` or `.html`.
    pub(crate) file: String,
}

impl FromStr for Plot {
    type Err = String;

    fn from_str(text: &str) -> Result<Plot, String> {
        let wrong = || {
            format!(
                "is \"{text}\"; write x=KEY,y=COLUMN,by=KEY,file=FIGURE.svg or .html, such as x=job.iodepth,y=read_iops"
            )
        };
        let mut parts = BTreeMap::new();
        for part in text.split(',') {
            let (key, value) = part.split_once('=').ok_or_else(wrong)?;
            let is_new = parts.insert(key.trim(), value.trim()).is_none();
            if !is_new || value.trim().is_empty() {
                return Err(wrong());
            }
        }
        let (x, y) = parts.remove("x").zip(parts.remove("y")).ok_or_else(wrong)?;
        let by = parts.remove("by").unwrap_or_default();
        let file = parts.remove("file").map(str::to_owned);
        let file = file.unwrap_or_else(|| format!("{y}.svg"));
        let is_known = file.ends_with(".svg") || file.ends_with(".html");
        match parts.is_empty() && is_known {
            true => Ok(Plot {
                x: x.to_owned(),
                y: y.to_owned(),
                by: by
                    .split('+')
                    .filter(|key| !key.is_empty())
                    .map(str::to_owned)
                    .collect(),
                file,
            }),
            false => Err(wrong()),
        }
    }
}

/// The rows of a sweep, as texts.
pub(crate) struct Rows<'a> {
    /// The columns' names.
    pub(crate) names: &'a [String],
    /// Of the keys that vary, the number of the axis and the name.
    pub(crate) axes: &'a [(usize, String)],
    /// A figure that is not there is empty.
    pub(crate) rows: &'a [Vec<String>],
}

impl Rows<'_> {
    /// The column of that name, or of that last part of a name where only one has it.
    fn column(&self, flag: &str, name: &str) -> Result<usize, BadInput> {
        if let Some(column) = self.names.iter().position(|known| known == name) {
            return Ok(column);
        }
        let ends = |known: &String| known.rsplit_once('.').is_some_and(|(_, last)| last == name);
        let mut all = self
            .names
            .iter()
            .enumerate()
            .filter(|(_, known)| ends(known));
        match (all.next(), all.next()) {
            (Some((column, _)), None) => Ok(column),
            _ => Err(BadInput(format!(
                "--plot: {flag}: {name} is no column; use one of {}",
                self.names.join(", ")
            ))),
        }
    }

    fn axis(&self, column: usize) -> Option<usize> {
        let name = &self.names[column];
        let axis = self.axes.iter().find(|(_, key)| key == name);
        axis.map(|(axis, _)| *axis)
    }
}

impl Plot {
    /// The chart of these rows; those with an error are left out.
    ///
    /// A line has the rows that are alike in `by`. Over a key, every other key that varies must be in it; over a figure, as
    /// latencies over throughput, a line goes through its rows in their order.
    pub(crate) fn chart(&self, of: &Rows) -> Result<LineChart, BadInput> {
        let (x, y) = (of.column("x", &self.x)?, of.column("y", &self.y)?);
        let by = self.by.iter().map(|name| of.column("by", name));
        let by: Vec<usize> = by.collect::<Result<_, _>>()?;
        let drawn: Vec<Option<usize>> = by.iter().chain([&x]).map(|at| of.axis(*at)).collect();
        let other = of
            .axes
            .iter()
            .find(|(axis, _)| !drawn.contains(&Some(*axis)));
        if let (Some((_, key)), Some(_)) = (other, of.axis(x)) {
            let by: Vec<&str> = self.by.iter().map(String::as_str).chain([&**key]).collect();
            let text = format!("--plot: {key} varies, too; name it: by={}", by.join("+"));
            return Err(BadInput(text));
        }
        let scale = Values::of(of, x)?;
        let mut lines: Vec<Line> = Vec::new();
        let mut line_of: BTreeMap<String, usize> = BTreeMap::new();
        for row in of.rows {
            let names = by.iter().map(|at| named(&of.names[*at], &row[*at]));
            let name = names.collect::<Vec<_>>().join(" ");
            if row[y].is_empty() || row[x].is_empty() {
                continue;
            }
            let value: f64 = row[y].parse().map_err(|_| {
                let text = format!(
                    "--plot: y: {} is no figure; use one such as read_iops",
                    self.y
                );
                BadInput(text)
            })?;
            let point = (scale.place(&row[x]), value);
            match line_of.get(&name) {
                Some(line) => lines[*line].points.push(point),
                None => {
                    line_of.insert(name.clone(), lines.len());
                    lines.push(Line::new(name, vec![point]));
                }
            }
        }
        if of.axis(x).is_some() {
            for line in &mut lines {
                line.points.sort_by(|one, other| one.0.total_cmp(&other.0));
            }
        }
        let values = lines.iter().flat_map(|line| line.points.iter());
        let y = heading(&of.names[y]);
        Ok(LineChart {
            title: format!("{y} over {}", heading(&of.names[x])),
            y: Axis {
                scale: scale_of(values.map(|(_, value)| *value), WIDE_Y),
                ..Axis::linear(y + " (simulated)")
            },
            x: scale.axis(&of.names[x]),
            lines,
        })
    }
}

/// The values of a column in their order, and where they are on an axis.
struct Values {
    /// The text of each, and its place.
    places: Vec<(String, f64)>,
    /// Where in that list a text is.
    index: BTreeMap<String, usize>,
    /// Of all, where they are numbers with one.
    unit: String,
    is_to_scale: bool,
}

impl Values {
    fn of(of: &Rows, column: usize) -> Result<Values, BadInput> {
        let mut texts: Vec<&str> = Vec::new();
        let mut index = BTreeMap::new();
        for row in of.rows.iter().filter(|row| !row[column].is_empty()) {
            index.entry(row[column].clone()).or_insert_with(|| {
                texts.push(&row[column]);
                texts.len() - 1
            });
        }
        let amounts: Option<Vec<(f64, &str)>> = texts.iter().map(|text| amount(text)).collect();
        let unit = amounts.as_ref().and_then(|all| Some(all.first()?.1));
        let alike = amounts.filter(|all| all.iter().all(|(_, other)| Some(*other) == unit));
        let in_bytes = || {
            let sizes = texts.iter().map(|text| parse_bytes(text).ok());
            sizes
                .map(|size| Some(size? as f64))
                .collect::<Option<Vec<f64>>>()
        };
        let (numbers, unit) = match alike {
            Some(all) => (
                Some(all.into_iter().map(|(number, _)| number).collect()),
                unit.unwrap_or_default(),
            ),
            None => (in_bytes(), ""),
        };
        let is_to_scale = numbers.is_some();
        let in_order = || (0..texts.len()).map(|index| index as f64).collect();
        let places: Vec<f64> = numbers.unwrap_or_else(in_order);
        Ok(Values {
            unit: unit.to_owned(),
            is_to_scale,
            places: texts.into_iter().map(str::to_owned).zip(places).collect(),
            index,
        })
    }

    fn place(&self, text: &str) -> f64 {
        let at = self.index.get(text);
        at.map_or(f64::NAN, |at| self.places[*at].1)
    }

    fn axis(&self, name: &str) -> Axis {
        let heading = heading(name);
        let label = match self.unit.as_str() {
            "" => heading,
            unit => format!("{heading}, {unit}"),
        };
        let places = || self.places.iter().map(|(_, place)| *place);
        let ticks = self.places.iter().map(|(text, place)| {
            let text = text.strip_suffix(&self.unit).unwrap_or(text).trim();
            (*place, text.to_owned())
        });
        Axis {
            ticks: match self.places.len() <= TICKS || !self.is_to_scale {
                true => ticks.collect(),
                false => Vec::new(),
            },
            scale: match self.is_to_scale {
                true => scale_of(places(), WIDE_X),
                false => Scale::Linear,
            },
            ..Axis::linear(label)
        }
    }
}

/// A value of a key in the name of a line: a number alone says nothing.
fn named(key: &str, value: &str) -> String {
    match amount(value) {
        Some(_) => format!("{} {value}", heading(key)),
        None => value.to_owned(),
    }
}

/// A number and the unit after it.
fn amount(text: &str) -> Option<(f64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, text[end..].trim()))
}

fn scale_of(values: impl Iterator<Item = f64>, wide: f64) -> Scale {
    let (least, most) = values.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), value| {
        (least.min(value), most.max(value))
    });
    match least > 0.0 && least.is_finite() && most >= wide * least {
        true => Scale::Log,
        false => Scale::Linear,
    }
}

/// A column's name for people: `read_p99_us` is the 99th percentile of reads' latency.
fn heading(name: &str) -> String {
    let of = |figure: &str, ops: &str| {
        let figure = match figure {
            "iops" => "IOPS",
            "mib_s" => "MiB/s",
            "mean_us" => "mean latency, us,",
            "p50_us" => "median latency, us,",
            "p99_us" => "p99 latency, us,",
            "p999_us" => "p99.9 latency, us,",
            other => other,
        };
        format!("{figure} of {ops}")
    };
    match name.split_once('_') {
        Some(("read", figure)) => of(figure, "reads"),
        Some(("write", figure)) if figure != "amplification" => of(figure, "writes"),
        _ => name
            .rsplit_once('.')
            .map_or(name, |(_, last)| last)
            .replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(plot: &str, axes: &[(usize, &str)], rows: &[&[&str]]) -> Result<LineChart, String> {
        let names = ["profile", "job.bs", "job.iodepth", "read_iops", "error"];
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|&text| text.to_owned()).collect())
            .collect();
        let axes: Vec<_> = axes
            .iter()
            .map(|(at, key)| (*at, (*key).to_owned()))
            .collect();
        let of = Rows {
            names: &names.map(str::to_owned),
            axes: &axes,
            rows: &rows,
        };
        plot.parse::<Plot>()
            .unwrap()
            .chart(&of)
            .map_err(|error| error.0)
    }

    const ROWS: &[&[&str]] = &[
        &["a", "4k", "16", "40", ""],
        &["a", "4k", "1", "10", ""],
        &["b", "4k", "16", "", "refused"],
        &["b", "4k", "1", "5.5", ""],
    ];

    #[test]
    fn rows_alike_are_a_line_in_the_order_of_x() {
        let axes = [(0, "profile"), (1, "job.iodepth")];
        let drawn = chart("x=iodepth,y=read_iops,by=profile", &axes, ROWS).unwrap();
        let lines: Vec<_> = drawn
            .lines
            .iter()
            .map(|line| (&*line.name, &*line.points))
            .collect();
        assert_eq!(
            lines,
            [
                ("a", &[(1.0, 10.0), (16.0, 40.0)][..]),
                ("b", &[(1.0, 5.5)][..])
            ]
        );
        assert_eq!((drawn.x.scale, drawn.y.scale), (Scale::Log, Scale::Linear));
        assert_eq!(drawn.x.label, "iodepth");
        let drawn = chart("x=read_iops,y=read_iops,by=iodepth", &axes, ROWS).unwrap();
        assert_eq!(drawn.lines[0].name, "iodepth 16");
        // Over a figure the other keys need not be named.
        let drawn = chart("x=read_iops,y=iodepth", &axes, ROWS).unwrap();
        assert_eq!(
            drawn.lines[0].points,
            [(40.0, 16.0), (10.0, 1.0), (5.5, 1.0)]
        );
    }

    #[test]
    fn values_with_units_are_to_scale_and_others_in_order() {
        let axis = |texts: &[&str]| {
            let rows: Vec<Vec<&str>> = texts
                .iter()
                .map(|text| vec!["a", text, "1", "1", ""])
                .collect();
            let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
            let drawn = chart("x=bs,y=read_iops", &[(0, "job.bs")], &rows).unwrap();
            let places: Vec<f64> = drawn.lines[0].points.iter().map(|point| point.0).collect();
            (drawn.x.label, places)
        };
        assert_eq!(
            axis(&["400MT/s", "1200MT/s"]),
            ("bs, MT/s".to_owned(), vec![400.0, 1200.0])
        );
        assert_eq!(
            axis(&["4k", "1m"]),
            ("bs".to_owned(), vec![4096.0, 1_048_576.0])
        );
        assert_eq!(
            axis(&["greedy", "cost-benefit"]),
            ("bs".to_owned(), vec![0.0, 1.0])
        );
    }

    #[test]
    fn what_cannot_be_drawn_is_named() {
        for text in [
            "",
            "x=a",
            "x=a,y=b,z=c",
            "x=a,y=b,x=c",
            "x=a,y=b,file=c.png",
            "x=,y=b",
        ] {
            let error = text.parse::<Plot>().unwrap_err();
            assert!(error.contains("write x=KEY"), "{text}: {error}");
        }
        let axes = [(0, "profile"), (1, "job.iodepth")];
        for (plot, said) in [
            (
                "x=iodepth,y=read_iops",
                "profile varies, too; name it: by=profile",
            ),
            (
                "x=depth,y=read_iops",
                "x: depth is no column; use one of profile, job.bs",
            ),
            ("x=iodepth,y=bs,by=profile", "y: bs is no figure"),
        ] {
            let error = chart(plot, &axes, ROWS).unwrap_err();
            assert!(error.contains(said), "{plot}: {error}");
        }
    }
}
