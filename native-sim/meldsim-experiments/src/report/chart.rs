//! Charts as inline SVG: lines, bars, heat maps. They scale with the page and follow its light or dark colours.
//!
//! ```
//! use meldsim_experiments::report::chart::{Axis, Line, LineChart};
//!
//! let chart = LineChart {
//!     title: "Latency".to_owned(),
//!     x: Axis::linear("offered load, k requests/s"),
//!     y: Axis::log("p99, us"),
//!     lines: vec![Line::new("CWDP", vec![(100.0, 81.0), (200.0, 350.0)])],
//! };
//! assert!(chart.to_svg().starts_with("<svg class=\"chart\""));
//! ```

use super::histogram::LatencyHistogram;
use super::svg::{Anchor, LETTER_WIDTH, Svg, colour, escape, linear_ticks, log_ticks, short};

/// Width of every chart in its own units; text of size 12 stays readable when this is shown on a telephone's width.
const WIDTH: f64 = 440.0;
/// Height of the title's row.
const TITLE_HEIGHT: f64 = 24.0;

const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
const PLOT_HEIGHT: f64 = 200.0;
const BELOW: f64 = 38.0;
/// More points than this are drawn without markers.
const MARKED_POINTS: usize = 40;

/// Room for the longest of the labels.
fn widest(labels: impl IntoIterator<Item = impl AsRef<str>>) -> f64 {
    let letters = labels
        .into_iter()
        .map(|label| label.as_ref().chars().count());
    LETTER_WIDTH * letters.max().unwrap_or(0) as f64
}

/// How values become distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences, equal distances.
    Linear,
    /// Equal ratios, equal distances; values that are not positive are left out.
    Log,
}

/// One axis of a chart.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows, with the unit.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// Where to put which text; round numbers when empty.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// A linear axis that begins at 0 or below.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis {
            label: label.into(),
            scale: Scale::Linear,
            ticks: Vec::new(),
        }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis {
            scale: Scale::Log,
            ..Axis::linear(label)
        }
    }

    fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// The least and the greatest value to show of `values`; never an empty range.
    fn range(&self, values: impl Iterator<Item = f64>) -> (f64, f64) {
        let shown = values.chain(self.ticks.iter().map(|(at, _)| *at));
        let (low, high) = shown
            .filter(|value| self.shows(*value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        match self.scale {
            _ if low > high => (1.0, 10.0),
            Scale::Linear => {
                let low = low.min(0.0);
                (low, if high > low { high * 1.04 } else { low + 1.0 })
            }
            Scale::Log => (low / 1.1, high * 1.1),
        }
    }

    /// Where `value` lies in `range`, 0 to 1.
    fn position(&self, value: f64, (low, high): (f64, f64)) -> f64 {
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => (value / low).ln() / (high / low).ln(),
        }
    }

    fn marks(&self, (low, high): (f64, f64), most: u32) -> Vec<(f64, String)> {
        if !self.ticks.is_empty() {
            return self.ticks.clone();
        }
        let ticks = match self.scale {
            Scale::Linear => linear_ticks(low, high, most),
            Scale::Log => log_ticks(low, high),
        };
        ticks.into_iter().map(|tick| (tick, short(tick))).collect()
    }
}

/// A named line through points.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in order of x.
    pub points: Vec<(f64, f64)>,
    /// Whether it is drawn dashed, as published values are beside simulated ones.
    pub dashed: bool,
}

impl Line {
    /// A solid line.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line {
            name: name.into(),
            points,
            dashed: false,
        }
    }
}

/// Lines over one pair of axes.
#[derive(Clone, Debug)]
pub struct LineChart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines; each has the next colour.
    pub lines: Vec<Line>,
}

impl LineChart {
    /// Distributions of latencies: the latency over its percentile, each nine as wide as the one before.
    pub fn of_latencies<'a>(
        title: impl Into<String>,
        named: impl IntoIterator<Item = (String, &'a LatencyHistogram)>,
    ) -> LineChart {
        let lines = named
            .into_iter()
            .map(|(name, latencies)| Line::new(name, latencies.over_percentiles()));
        let lines: Vec<Line> = lines.collect();
        let furthest = lines.iter().filter_map(|line| line.points.last());
        let furthest = furthest.map(|point| point.0).fold(10.0, f64::max);
        let ticks = [
            (1.0, "0"),
            (2.0, "50"),
            (10.0, "90"),
            (100.0, "99"),
            (1e3, "99.9"),
            (1e4, "99.99"),
            (1e5, "99.999"),
        ];
        let ticks = ticks.into_iter().filter(|(at, _)| *at <= furthest);
        LineChart {
            title: title.into(),
            x: Axis {
                ticks: ticks.map(|(at, text)| (at, text.to_owned())).collect(),
                ..Axis::log("percentile")
            },
            y: Axis::log("latency, us"),
            lines,
        }
    }

    /// The chart as an SVG element.
    pub fn to_svg(&self) -> String {
        let mut svg = Svg::new(&self.title, WIDTH);
        let names = self.lines.iter().map(|line| line.name.as_str());
        let legend = svg.legend(TITLE_HEIGHT, names);
        let top = TITLE_HEIGHT + legend + 20.0;
        let bottom = top + PLOT_HEIGHT;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x_range = self.x.range(points().map(|point| point.0));
        let y_range = self.y.range(points().map(|point| point.1));
        let x = |value| LEFT + self.x.position(value, x_range) * (WIDTH - LEFT - RIGHT);
        let y = |value| bottom - self.y.position(value, y_range) * PLOT_HEIGHT;

        for (tick, label) in self.y.marks(y_range, 5) {
            svg.line(LEFT, y(tick), WIDTH - RIGHT, y(tick));
            svg.label(LEFT - 5.0, y(tick) + 4.0, Anchor::End, &label);
        }
        // Labels that would run into the one before are left out.
        let mut free_from = 0.0;
        for (tick, label) in self.x.marks(x_range, 6) {
            svg.line(x(tick), top, x(tick), bottom);
            let half = LETTER_WIDTH / 2.0 * label.chars().count() as f64;
            let centre = x(tick).min(WIDTH - half);
            if centre - half >= free_from {
                svg.label(centre, bottom + 16.0, Anchor::Middle, &label);
                free_from = centre + half + 5.0;
            }
        }
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        svg.label(middle, bottom + 32.0, Anchor::Middle, &self.x.label);
        svg.label(0.0, top - 6.0, Anchor::Start, &self.y.label);
        for (index, line) in self.lines.iter().enumerate() {
            let points = line.points.iter().copied();
            let shown: Vec<(f64, f64)> = points
                .filter(|(at, value)| self.x.shows(*at) && self.y.shows(*value))
                .collect();
            let path = shown
                .iter()
                .map(|(at, value)| format!("{:.1},{:.1}", x(*at), y(*value)));
            let (colour, path) = (colour(index), path.collect::<Vec<_>>().join(" "));
            let class = if line.dashed { "line dashed" } else { "line" };
            svg.raw(&format!(
                "<polyline class=\"{class}\" stroke=\"{colour}\" points=\"{path}\"/>"
            ));
            if shown.len() > MARKED_POINTS {
                continue;
            }
            for (at, value) in shown {
                let tip = format!("{}: {}, {}", line.name, short(at), short(value));
                let (x, y, tip) = (x(at), y(value), escape(&tip));
                svg.raw(&format!(
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"{colour}\"><title>{tip}</title></circle>"
                ));
            }
        }
        svg.finish(bottom + BELOW)
    }
}

const BAR_HEIGHT: f64 = 12.0;
const GROUP_GAP: f64 = 7.0;
const VALUE_WIDTH: f64 = 42.0;
/// Labels longer than this are cut.
const LABEL_CHARS: usize = 28;

/// Groups of bars, one bar for each series.
#[derive(Clone, Debug)]
pub struct BarChart {
    /// What it shows.
    pub title: String,
    /// What the bars' lengths mean, with the unit.
    pub axis: String,
    /// Names of the series; each has the next colour.
    pub series: Vec<String>,
    /// Groups from top to bottom: label, and a value for each series.
    pub groups: Vec<(String, Vec<Option<f64>>)>,
}

impl BarChart {
    /// The chart as an SVG element.
    pub fn to_svg(&self) -> String {
        let mut svg = Svg::new(&self.title, WIDTH);
        let legend = svg.legend(TITLE_HEIGHT, self.series.iter().map(String::as_str));
        let cut = |label: &str| label.chars().take(LABEL_CHARS).collect::<String>();
        let left = 10.0 + widest(self.groups.iter().map(|(label, _)| cut(label)));
        let width = WIDTH - left - VALUE_WIDTH;
        let values = || {
            let values = self.groups.iter().flat_map(|(_, values)| values).flatten();
            values.copied().filter(|value| value.is_finite())
        };
        let high = values().fold(0.0, f64::max);
        let low = values().fold(0.0, f64::min);
        let span = if high > low { high - low } else { 1.0 };
        let x = |value: f64| left + (value - low) / span * width;

        let top = TITLE_HEIGHT + legend + 4.0;
        let group_height = BAR_HEIGHT * self.series.len().max(1) as f64 + GROUP_GAP;
        let bottom = top + group_height * self.groups.len() as f64;
        for tick in linear_ticks(low, low + span, 4) {
            svg.line(x(tick), top, x(tick), bottom);
            svg.label(x(tick), bottom + 15.0, Anchor::Middle, &short(tick));
        }
        for (row, (label, values)) in self.groups.iter().enumerate() {
            let group_top = top + row as f64 * group_height;
            let middle = group_top + (group_height - GROUP_GAP) / 2.0 + 4.0;
            svg.label(left - 6.0, middle, Anchor::End, &cut(label));
            for (index, value) in values.iter().enumerate().take(self.series.len()) {
                let Some(value) = value.filter(|value| value.is_finite()) else {
                    continue;
                };
                let y = group_top + index as f64 * BAR_HEIGHT;
                let (from, to) = (x(value.min(0.0)), x(value.max(0.0)));
                let tip = format!("{label}, {}: {}", self.series[index], short(value));
                let at = [from, y, to - from, BAR_HEIGHT - 2.0];
                svg.rect(at, &colour(index), 1.0, &tip);
                svg.label(to + 4.0, y + 9.5, Anchor::Start, &short(value));
            }
        }
        let middle = left + width / 2.0;
        svg.label(middle, bottom + 31.0, Anchor::Middle, &self.axis);
        svg.finish(bottom + 37.0)
    }
}

/// Cells at least this wide and high show their value.
const TEXT_WIDTH: f64 = 26.0;
const TEXT_HEIGHT: f64 = 14.0;
const TALLEST_CELL: f64 = 26.0;
const TALLEST_MAP: f64 = 420.0;

/// Which value has the deepest colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HeatScale {
    /// From 0, no colour, to this value.
    Sequential(f64),
    /// From minus this value to this value, in two colours, with none at 0.
    Diverging(f64),
}

/// A grid of values.
#[derive(Clone, Debug)]
pub struct HeatMap {
    /// What it shows, with the unit.
    pub title: String,
    /// What the columns are.
    pub x: String,
    /// What the rows are.
    pub y: String,
    /// Labels of the columns, from left to right.
    pub columns: Vec<String>,
    /// Labels of the rows, from top to bottom, each with a value for each column.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
    /// The range of the colours.
    pub scale: HeatScale,
}

impl HeatMap {
    /// The map as an SVG element.
    pub fn to_svg(&self) -> String {
        let mut svg = Svg::new(&self.title, WIDTH);
        let left = 10.0 + widest(self.rows.iter().map(|(label, _)| label));
        let top = TITLE_HEIGHT + 18.0;
        let width = (WIDTH - left) / self.columns.len().max(1) as f64;
        let rows = self.rows.len().max(1) as f64;
        let height = TALLEST_CELL.min(TALLEST_MAP / rows);
        let bottom = top + rows * height;
        let gap = if width.min(height) > 6.0 { 1.0 } else { 0.0 };

        svg.label(0.0, top - 6.0, Anchor::Start, &self.y);
        let row_step = (TEXT_HEIGHT / height).ceil() as usize;
        for (row, (label, values)) in self.rows.iter().enumerate() {
            let y = top + row as f64 * height;
            if row % row_step == 0 {
                svg.label(left - 6.0, y + height / 2.0 + 4.0, Anchor::End, label);
            }
            for (column, value) in values.iter().enumerate().take(self.columns.len()) {
                let Some(value) = value.filter(|value| value.is_finite()) else {
                    continue;
                };
                let x = left + column as f64 * width;
                let (fill, opacity) = self.fill(value);
                let column = format!("{} {}", self.x, self.columns[column]);
                let tip = format!("{} {label}, {column}: {}", self.y, short(value));
                svg.rect([x, y, width - gap, height - gap], fill, opacity, &tip);
                if width >= TEXT_WIDTH && height >= TEXT_HEIGHT {
                    let (x, y) = (x + width / 2.0, y + height / 2.0 + 4.0);
                    // A cell has room for two digits after the point; its tip has all.
                    let rounded = (value * 100.0).round() / 100.0;
                    svg.text(x, y, Anchor::Middle, "", &short(rounded));
                }
            }
        }
        let label_width = 8.0 + widest(&self.columns);
        let step = (label_width / width).ceil().max(1.0) as usize;
        for (column, label) in self.columns.iter().enumerate().step_by(step) {
            let x = left + (column as f64 + 0.5) * width;
            svg.label(x, bottom + 15.0, Anchor::Middle, label);
        }
        svg.label((left + WIDTH) / 2.0, bottom + 31.0, Anchor::Middle, &self.x);
        svg.finish(bottom + 37.0)
    }

    /// Colour and opacity: opacity is the scale, so that the page's background is its zero, light or dark.
    fn fill(&self, value: f64) -> (&'static str, f64) {
        let (colour, most) = match self.scale {
            HeatScale::Sequential(most) => ("var(--heat)", most),
            HeatScale::Diverging(most) if value < 0.0 => ("var(--cold)", most),
            HeatScale::Diverging(most) => ("var(--heat)", most),
        };
        let share = if most > 0.0 { value.abs() / most } else { 0.0 };
        // Deeper would make the ink unreadable.
        (colour, 0.06 + 0.64 * share.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> LineChart {
        LineChart {
            title: "t".to_owned(),
            x: Axis::linear("x"),
            y: Axis::log("y"),
            lines: vec![Line::new("a", points)],
        }
    }

    #[test]
    fn higher_values_are_drawn_higher_and_all_within_the_picture() {
        let svg = chart(vec![(0.0, 1.0), (1.0, 10.0), (2.0, 100.0)]).to_svg();
        let points = svg.split("points=\"").nth(1).unwrap().split('"').next();
        let points: Vec<(f64, f64)> = points
            .unwrap()
            .split(' ')
            .map(|point| point.split_once(',').unwrap())
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect();
        assert_eq!(points.len(), 3);
        assert!(
            points.is_sorted_by(|a, b| a.0 < b.0 && a.1 > b.1),
            "{points:?}"
        );
        assert!(
            points
                .iter()
                .all(|(x, y)| (0.0..=WIDTH).contains(x) && (0.0..=300.0).contains(y))
        );
    }

    #[test]
    fn lines_of_nothing_and_impossible_values_make_no_broken_picture() {
        for points in [
            vec![],
            vec![(0.0, 0.0)],
            vec![(1.0, f64::NAN), (2.0, f64::INFINITY)],
            vec![(5.0, 5.0)],
        ] {
            let svg = chart(points).to_svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let chart = BarChart {
            title: "t".to_owned(),
            axis: "k IOPS".to_owned(),
            series: vec!["normal".to_owned(), "melded".to_owned()],
            groups: vec![
                ("one".to_owned(), vec![Some(1.0), Some(2.0)]),
                ("two".to_owned(), vec![Some(4.0), None]),
            ],
        };
        let svg = chart.to_svg();
        let widths: Vec<f64> = svg
            .split("width=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next()?.parse().ok())
            .filter(|width| *width != 10.0) // the legend
            .collect();
        assert_eq!(widths.len(), 3);
        assert!((widths[2] / widths[0] - 4.0).abs() < 0.01, "{widths:?}");
    }

    #[test]
    fn bars_of_nothing_and_zeros_make_no_broken_picture() {
        for groups in [
            vec![],
            vec![("a".to_owned(), vec![Some(0.0), Some(f64::NAN)])],
        ] {
            let chart = BarChart {
                title: String::new(),
                axis: String::new(),
                series: vec!["s".to_owned(), "t".to_owned()],
                groups,
            };
            let svg = chart.to_svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    fn map(values: Vec<Option<f64>>, scale: HeatScale) -> String {
        HeatMap {
            title: "t".to_owned(),
            x: "channel".to_owned(),
            y: "die".to_owned(),
            columns: (0..values.len()).map(|n| n.to_string()).collect(),
            rows: vec![("0".to_owned(), values)],
            scale,
        }
        .to_svg()
    }

    fn opacities(svg: &str) -> Vec<&str> {
        let parts = svg.split("fill-opacity=\"").skip(1);
        parts.filter_map(|rest| rest.split('"').next()).collect()
    }

    #[test]
    fn deeper_is_more_and_signs_differ() {
        let svg = map(
            vec![Some(0.0), Some(50.0), Some(100.0), None],
            HeatScale::Sequential(100.0),
        );
        assert_eq!(opacities(&svg), ["0.06", "0.38", "0.70"]);
        let svg = map(vec![Some(-2.0), Some(2.0)], HeatScale::Diverging(2.0));
        assert!(svg.contains("var(--cold)") && svg.contains("var(--heat)"));
        assert_eq!(opacities(&svg), ["0.70", "0.70"]);
    }

    #[test]
    fn maps_of_nothing_and_zeros_make_no_broken_picture() {
        for values in [vec![], vec![Some(f64::NAN)], vec![Some(0.0)]] {
            let svg = map(values, HeatScale::Sequential(0.0));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
