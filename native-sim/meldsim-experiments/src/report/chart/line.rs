//! Lines over a plane with linear or logarithmic axes.

use super::super::svg::{Anchor, LETTER_WIDTH, Svg, colour, linear_ticks, log_ticks, short};
use super::{TITLE_HEIGHT, WIDTH};

const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
const PLOT_HEIGHT: f64 = 200.0;
const BELOW: f64 = 38.0;
/// More points than this are drawn without markers.
const MARKED_POINTS: usize = 40;

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
            svg.text(LEFT - 5.0, y(tick) + 4.0, Anchor::End, "soft", &label);
        }
        // Labels that would run into the one before are left out.
        let mut free_from = 0.0;
        for (tick, label) in self.x.marks(x_range, 6) {
            svg.line(x(tick), top, x(tick), bottom);
            let half = LETTER_WIDTH / 2.0 * label.chars().count() as f64;
            let centre = x(tick).min(WIDTH - half);
            if centre - half >= free_from {
                svg.text(centre, bottom + 16.0, Anchor::Middle, "soft", &label);
                free_from = centre + half + 5.0;
            }
        }
        svg.text(
            (LEFT + WIDTH - RIGHT) / 2.0,
            bottom + 32.0,
            Anchor::Middle,
            "soft",
            &self.x.label,
        );
        svg.text(0.0, top - 6.0, Anchor::Start, "soft", &self.y.label);
        for (index, line) in self.lines.iter().enumerate() {
            let shown: Vec<(f64, f64)> = line
                .points
                .iter()
                .filter(|(at, value)| self.x.shows(*at) && self.y.shows(*value))
                .copied()
                .collect();
            let path: Vec<String> = shown
                .iter()
                .map(|(at, value)| format!("{:.1},{:.1}", x(*at), y(*value)))
                .collect();
            let (colour, path) = (colour(index), path.join(" "));
            let class = if line.dashed { "line dashed" } else { "line" };
            svg.raw(&format!(
                "<polyline class=\"{class}\" stroke=\"{colour}\" points=\"{path}\"/>"
            ));
            if shown.len() > MARKED_POINTS {
                continue;
            }
            for (at, value) in shown {
                let tip = format!("{}: {}, {}", line.name, short(at), short(value));
                let tip = super::super::svg::escape(&tip);
                svg.raw(&format!(
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\" fill=\"{colour}\"><title>{tip}</title></circle>",
                    x(at),
                    y(value)
                ));
            }
        }
        svg.finish(bottom + BELOW)
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
    fn nothing_and_impossible_values_make_no_broken_picture() {
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
}
