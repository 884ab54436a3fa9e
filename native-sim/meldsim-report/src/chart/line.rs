//! Lines over one pair of axes.

use super::WIDTH;
use super::axis::{Axis, Scale};
use crate::style::{Style, Styles};
use crate::svg::{Anchor, Key, LETTER_WIDTH, Svg, escape, short};
use meldsim_stats::LatencyHistogram;

const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
const PLOT_HEIGHT: f64 = 200.0;
const BELOW: f64 = 38.0;
/// With more points than this only some are marked.
const MARKED_POINTS: usize = 24;
/// Marks on a line with more points.
const MARKS: usize = 7;
/// A line with more points than this is drawn as medians within a band.
const DRAWN_POINTS: usize = 120;
/// Medians of such a line, at most.
const MEDIANS: usize = 60;

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

    /// A solid line through the points of these rows, as far as they have one.
    pub fn over<R, P: Into<Option<(f64, f64)>>>(
        name: impl Into<String>,
        rows: impl IntoIterator<Item = R>,
        point: impl Fn(R) -> P,
    ) -> Line {
        let points = rows.into_iter().filter_map(|row| point(row).into());
        Line::new(name, points.collect())
    }

    /// The same, dashed.
    pub fn dashed(self) -> Line {
        Line {
            dashed: true,
            ..self
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
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line as it is drawn: all of its points, or medians of them with the first and the third quartile.
struct Drawn {
    points: Vec<(f64, f64)>,
    quartiles: Vec<(f64, [f64; 2])>,
}

impl LineChart {
    /// Lines over two linear axes.
    pub fn linear(
        title: impl Into<String>,
        x: &str,
        y: &str,
        lines: impl IntoIterator<Item = Line>,
    ) -> LineChart {
        LineChart {
            title: title.into(),
            x: Axis::linear(x),
            y: Axis::linear(y),
            lines: lines.into_iter().collect(),
        }
    }

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
        self.draw(&mut Styles::default())
    }

    pub(super) fn draw(&self, styles: &mut Styles) -> String {
        self.draw_with(styles, &self.y, false)
    }

    /// The other view of the values and its name: all of them, on an axis that is neither bent nor clipped.
    pub(super) fn other_view(&self, styles: &mut Styles) -> Option<(&'static str, String)> {
        let name = match self.y.scale {
            Scale::Log if self.y.ticks.is_empty() => "linear axis",
            Scale::Linear if self.has_medians() || self.clip().is_some() => "every value",
            _ => return None,
        };
        let y = Axis {
            scale: Scale::Linear,
            ..self.y.clone()
        };
        Some((name, self.draw_with(styles, &y, true)))
    }

    /// What a reader has to know of the lines.
    pub(super) fn note(&self) -> Option<String> {
        let most = self.lines.iter().map(|line| line.points.len()).max()?;
        self.has_medians().then(|| {
            let each = most.div_ceil(MEDIANS);
            format!("Lines are medians of {each} values each, bands hold the middle half of them.")
        })
    }

    fn has_medians(&self) -> bool {
        self.lines
            .iter()
            .any(|line| line.points.len() > DRAWN_POINTS)
    }

    /// Where the axis ends before all values: medians have no outliers.
    fn clip(&self) -> Option<f64> {
        let values = self.lines.iter().flat_map(|line| &line.points);
        let values = values.map(|point| point.1);
        self.y.clip(values).filter(|_| !self.has_medians())
    }

    /// With `every` value, or those that show what is usual.
    fn draw_with(&self, styles: &mut Styles, y_axis: &Axis, every: bool) -> String {
        let clip = self.clip().filter(|_| !every);
        let mut svg = Svg::new(&self.title, WIDTH);
        let keys = self.lines.iter().map(|line| {
            let dashed = line.dashed;
            (
                line.name.as_str(),
                styles.of(&line.name),
                Key::Line { dashed },
            )
        });
        let keys: Vec<_> = keys.collect();
        let looks: Vec<Style> = keys.iter().map(|(_, style, _)| *style).collect();
        svg.legend(keys.into_iter());
        let top = svg.top() + 18.0;
        let bottom = top + PLOT_HEIGHT;
        let drawn = self.lines.iter().map(|line| {
            let points = line.points.iter().copied();
            let points: Vec<(f64, f64)> = points
                .filter(|(at, value)| self.x.shows(*at) && y_axis.shows(*value))
                .collect();
            match every || points.len() <= DRAWN_POINTS {
                true => Drawn {
                    points,
                    quartiles: Vec::new(),
                },
                false => medians(&points),
            }
        });
        let drawn: Vec<Drawn> = drawn.collect();
        let points = || drawn.iter().flat_map(|line| &line.points);
        let quartiles = drawn.iter().flat_map(|line| &line.quartiles);
        let quartiles = quartiles.flat_map(|(_, both)| both).copied();
        let within = |value: &f64| clip.is_none_or(|clip| *value <= clip);
        let x_range = self.x.range(points().map(|point| point.0));
        let values = points().map(|point| point.1).filter(within);
        let y_range = y_axis.range(values.chain(quartiles).chain(clip));
        let x = |value| LEFT + self.x.position(value, x_range) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| {
            let value = clip.map_or(value, |clip| value.min(clip));
            bottom - y_axis.position(value, y_range) * PLOT_HEIGHT
        };

        for (tick, label) in y_axis.marks(y_range, 5) {
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
        svg.label(0.0, top - 7.0, Anchor::Start, &y_axis.label);
        for (order, ((line, drawn), style)) in self.lines.iter().zip(&drawn).zip(looks).enumerate()
        {
            svg.raw("<g class=\"series\">");
            let upper = drawn.quartiles.iter().map(|(at, both)| (*at, both[1]));
            let lower = drawn
                .quartiles
                .iter()
                .rev()
                .map(|(at, both)| (*at, both[0]));
            let path = |points: &mut dyn Iterator<Item = (f64, f64)>| {
                let points = points.map(|(at, value)| format!("{:.1},{:.1}", x(at), y(value)));
                points.collect::<Vec<_>>().join(" ")
            };
            if !drawn.quartiles.is_empty() {
                let (fill, corners) = (style.colour(), path(&mut upper.chain(lower)));
                svg.raw(&format!(
                    "<polygon class=\"band\" fill=\"{fill}\" points=\"{corners}\"/>"
                ));
            }
            let drawn = &drawn.points;
            svg.stroke(&path(&mut drawn.iter().copied()), style, line.dashed);
            // Marks of several long lines are not in the same places.
            let (step, first) = match drawn.len() {
                few if few <= MARKED_POINTS => (1, 0),
                many => {
                    let step = many.div_ceil(MARKS);
                    (step, step * (2 * order + 1) / (2 * self.lines.len()))
                }
            };
            for &(at, value) in drawn.iter().skip(first).step_by(step) {
                let tip = format!("{}: {}, {}", line.name, short(at), short(value));
                svg.mark([x(at), y(value)], style, line.dashed, &tip);
            }
            for &(at, value) in drawn.iter().filter(|(_, value)| !within(value)) {
                let (tip, x) = (
                    format!("{}: {}, {}", line.name, short(at), short(value)),
                    x(at),
                );
                svg.raw(&format!(
                    "<path class=\"clipped\" d=\"M{:.1},{top:.1}h8l-4,-7z\"><title>{}</title></path>",
                    x - 4.0,
                    escape(&tip)
                ));
            }
            svg.raw("</g>");
        }
        if clip.is_some() {
            let beyond = || points().map(|point| point.1).filter(|value| !within(value));
            let (count, most) = (beyond().count(), beyond().fold(0.0, f64::max));
            let text = format!("\u{25b2} {count} above, up to {}", short(most));
            svg.label(WIDTH - RIGHT, top - 7.0, Anchor::End, &text);
        }
        svg.finish(bottom + BELOW)
    }
}

/// Runs of points as their medians and quartiles.
fn medians(points: &[(f64, f64)]) -> Drawn {
    let runs = points.chunks(points.len().div_ceil(MEDIANS)).map(|run| {
        let mut values: Vec<f64> = run.iter().map(|(_, value)| *value).collect();
        values.sort_by(f64::total_cmp);
        let quartile = |number: usize| values[(values.len() - 1) * number / 4];
        let x = run[run.len() / 2].0;
        ((x, quartile(2)), (x, [quartile(1), quartile(3)]))
    });
    let (points, quartiles) = runs.unzip();
    Drawn { points, quartiles }
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

    /// The first line's points in the picture.
    fn drawn(svg: &str) -> Vec<(f64, f64)> {
        let points = svg.split("points=\"").nth(1).unwrap().split('"').next();
        let points = points.unwrap().split(' ');
        points
            .map(|point| point.split_once(',').unwrap())
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect()
    }

    #[test]
    fn higher_values_are_drawn_higher_and_all_within_the_picture() {
        let points = drawn(&chart(vec![(0.0, 1.0), (1.0, 10.0), (2.0, 100.0)]).to_svg());
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
    fn an_outlier_is_marked_and_the_other_view_has_it_in_range() {
        let points = (0..50).map(|n| (f64::from(n), if n == 7 { 9e3 } else { 10.0 }));
        let chart = LineChart {
            y: Axis::linear("y"),
            ..chart(points.collect())
        };
        let svg = chart.to_svg();
        assert_eq!(svg.matches("class=\"clipped\"").count(), 1);
        assert!(svg.contains("1 above, up to 9k"), "{svg}");
        let heights = drawn(&svg).into_iter().map(|point| point.1);
        let (low, high) = heights.fold((f64::MAX, 0.0), |(low, high): (f64, f64), y| {
            (low.min(y), high.max(y))
        });
        assert!(high - low < 60.0, "the others are flattened: {low} {high}");
        let (name, whole) = chart.other_view(&mut Styles::default()).unwrap();
        assert_eq!(name, "every value");
        assert!(
            !whole.contains("class=\"clipped\"") && whole.contains("8k"),
            "{whole}"
        );
    }

    #[test]
    fn many_points_are_medians_in_a_band() {
        let hash = (0..600).map(|n| (f64::from(n), f64::from(n % 10)));
        let chart = LineChart {
            y: Axis::linear("y"),
            ..chart(hash.collect())
        };
        let svg = chart.to_svg();
        assert_eq!(svg.matches("class=\"band\"").count(), 1);
        let line = svg.split("class=\"line\"").nth(1).unwrap();
        let line = drawn(&format!("<polyline{line}"));
        assert_eq!(line.len(), MEDIANS);
        assert!(line.iter().all(|point| point.1 == line[0].1), "{line:?}");
        assert!(chart.note().unwrap().contains("medians of 10 values"));
        let (_, every) = chart.other_view(&mut Styles::default()).unwrap();
        assert!(!every.contains("class=\"band\""));
        assert_eq!(drawn(&every).len(), 600);
    }
}
