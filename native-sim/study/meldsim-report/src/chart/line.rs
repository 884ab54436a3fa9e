//! Lines over one pair of axes.

use super::axis::{Axis, Scale};
use super::{WIDTH, distinct, widest};
use crate::style::{Style, Styles};
use crate::svg::{Anchor, LETTER_WIDTH, Svg, escape, short, wrap};
use meldsim_stats::LatencyHistogram;

const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
/// Letters of a row of a name at its line's end; longer names are in a legend.
const NAME_LETTERS: usize = 13;
/// Rows of such a name.
const NAME_ROWS: usize = 3;
const NAME_ROW: f64 = 13.0;
/// Room for a line's mark before its name.
const NAME_LEFT: f64 = 12.0;
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
    /// Its points, in order of x. Where a value is NaN, the line is broken.
    pub points: Vec<(f64, f64)>,
    /// Whether it is drawn dashed, as published values are beside simulated ones.
    pub dashed: bool,
    /// Whether each value holds until the next one.
    pub steps: bool,
    /// The mean over its whole length, where that says more than its last value does.
    pub mean: Option<f64>,
}

impl Line {
    /// A solid line.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line {
            name: name.into(),
            points,
            dashed: false,
            steps: false,
            mean: None,
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

    /// The same, each value until the next one.
    pub fn in_steps(self) -> Line {
        Line {
            steps: true,
            ..self
        }
    }

    /// The same, with its mean at its end instead of its last value.
    pub fn with_mean(self, mean: f64) -> Line {
        Line {
            mean: Some(mean),
            ..self
        }
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

    fn points(&self) -> impl Iterator<Item = (&Line, f64, f64)> + Clone {
        let lines = self.lines.iter();
        lines.flat_map(|line| {
            line.points
                .iter()
                .map(move |&(at, value)| (line, at, value))
        })
    }

    /// The one value of all points, if there is but one.
    pub(super) fn only_value(&self) -> Option<f64> {
        distinct(self.points().map(|(.., value)| value))
    }

    /// A line for each point.
    pub(super) fn csv(&self) -> Vec<Vec<String>> {
        let header = ["series", &self.x.label, &self.y.label].map(str::to_owned);
        let points = self.points().filter(|(.., value)| value.is_finite());
        let lines = points
            .map(|(line, at, value)| vec![line.name.clone(), at.to_string(), value.to_string()]);
        std::iter::once(header.into()).chain(lines).collect()
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
        let looks: Vec<Style> = self
            .lines
            .iter()
            .map(|line| styles.of(&line.name))
            .collect();
        let names = self.names(y_axis);
        let right = match &names {
            Some(names) => NAME_LEFT + 8.0 + widest(names.iter().flat_map(|(_, rows)| rows)),
            None => RIGHT,
        };
        if names.is_none() {
            let keys = self.lines.iter().zip(&looks);
            let keys: Vec<_> = keys
                .map(|(line, style)| (&*line.name, *style, Some(line.dashed)))
                .collect();
            svg.legend(&keys);
        }
        let top = svg.top() + 18.0;
        let bottom = top + PLOT_HEIGHT;
        let drawn = self.lines.iter().map(|line| {
            let points = line.points.iter().copied();
            let points: Vec<(f64, f64)> = points
                .filter(|(at, value)| self.x.shows(*at) && (y_axis.shows(*value) || value.is_nan()))
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
        let points = || {
            let points = drawn.iter().flat_map(|line| &line.points);
            points.filter(|(_, value)| value.is_finite())
        };
        let quartiles = drawn.iter().flat_map(|line| &line.quartiles);
        let quartiles = quartiles.flat_map(|(_, both)| both).copied();
        let within = |value: &f64| clip.is_none_or(|clip| *value <= clip);
        let x_range = self.x.range(points().map(|point| point.0));
        let values = points().map(|point| point.1).filter(within);
        let y_range = y_axis.range(values.chain(quartiles).chain(clip));
        let x = |value| LEFT + self.x.position(value, x_range) * (WIDTH - LEFT - right);
        let y = |value: f64| {
            let value = clip.map_or(value, |clip| value.min(clip));
            bottom - y_axis.position(value, y_range) * PLOT_HEIGHT
        };

        for (tick, label) in y_axis.marks(y_range, 5) {
            svg.line(LEFT, y(tick), WIDTH - right, y(tick));
            svg.label(LEFT - 5.0, y(tick) + 4.0, Anchor::End, &label);
        }
        // Labels that would run into the one before are left out.
        let mut free_from = 0.0;
        for (tick, label) in self.x.marks(x_range, 6) {
            svg.line(x(tick), top, x(tick), bottom);
            let half = LETTER_WIDTH / 2.0 * label.chars().count() as f64;
            let centre = x(tick).min(WIDTH - half).max(half);
            if centre - half >= free_from {
                svg.label(centre, bottom + 16.0, Anchor::Middle, &label);
                free_from = centre + half + 5.0;
            }
        }
        let middle = (LEFT + WIDTH - right) / 2.0;
        let half = widest([&self.x.label]) / 2.0;
        let middle = middle.min(WIDTH - half).max(half);
        svg.label(middle, bottom + 32.0, Anchor::Middle, &self.x.label);
        svg.label(0.0, top - 7.0, Anchor::Start, &y_axis.label);
        for (order, ((line, drawn), style)) in self.lines.iter().zip(&drawn).zip(&looks).enumerate()
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
            for run in drawn.split(|(_, value)| value.is_nan()) {
                let corners = run.iter().enumerate().flat_map(|(index, &(at, value))| {
                    let before = index.checked_sub(1).filter(|_| line.steps);
                    let before = before.map(|before| (at, run[before].1));
                    before.into_iter().chain([(at, value)])
                });
                if run.len() > 1 {
                    svg.stroke(&path(&mut { corners }), *style, line.dashed);
                }
            }
            let drawn: Vec<(f64, f64)> = drawn
                .iter()
                .copied()
                .filter(|at| at.1.is_finite())
                .collect();
            // Steps have no corners to mark.
            let marked = if line.steps {
                &drawn[..drawn.len().min(1)]
            } else {
                &drawn
            };
            // Marks of several long lines are not in the same places.
            let (step, first) = match marked.len() {
                few if few <= MARKED_POINTS => (1, 0),
                many => {
                    let step = many.div_ceil(MARKS);
                    (step, step * (2 * order + 1) / (2 * self.lines.len()))
                }
            };
            for &(at, value) in marked.iter().skip(first).step_by(step) {
                let tip = format!("{}: {}, {}", line.name, short(at), short(value));
                svg.mark([x(at), y(value)], *style, line.dashed, &tip);
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
        if let Some(names) = names {
            let ends = names.iter().map(|(line, rows)| {
                let end = drawn[*line]
                    .points
                    .iter()
                    .rev()
                    .find(|(_, value)| value.is_finite());
                (y(end.map_or(0.0, |end| end.1)), *line, rows)
            });
            self.write_names(&mut svg, ends.collect(), (&looks, WIDTH - right, top));
        }
        if clip.is_some() {
            let beyond = || points().map(|point| point.1).filter(|value| !within(value));
            let (count, most) = (beyond().count(), beyond().fold(0.0, f64::max));
            let text = format!("\u{25b2} {count} above, up to {}", short(most));
            svg.label(WIDTH - right, top - 7.0, Anchor::End, &text);
        }
        svg.finish(bottom + BELOW)
    }
}

/// Names at the lines' ends.
impl LineChart {
    /// The rows of each line's name with its mean or its last value, if all have room at the lines' ends.
    fn names(&self, y_axis: &Axis) -> Option<Vec<(usize, Vec<String>)>> {
        let lines = self.lines.iter().enumerate().filter_map(|(index, line)| {
            let shown = |(_, value): &&(f64, f64)| y_axis.shows(*value);
            let (_, last) = line.points.iter().rev().find(shown)?;
            // A chart of one line says in its title what it is.
            let name = if self.lines.len() > 1 {
                &*line.name
            } else {
                ""
            };
            let name = match line.mean {
                Some(mean) => format!("{name} mean {}", short(mean)),
                None => format!("{name} last {}", short(*last)),
            };
            Some((index, wrap(name.trim_start(), NAME_LETTERS)))
        });
        let names: Vec<(usize, Vec<String>)> = lines.collect();
        let fits = |(_, rows): &(usize, Vec<String>)| {
            let letters = rows.iter().map(|row| row.chars().count());
            rows.len() <= NAME_ROWS && letters.max() <= Some(NAME_LETTERS)
        };
        let rows: usize = names.iter().map(|(_, rows)| rows.len()).sum();
        (names.iter().all(fits) && rows as f64 * NAME_ROW <= PLOT_HEIGHT).then_some(names)
    }

    /// Writes names beside the ends of their lines, moved so that none is on another.
    fn write_names(
        &self,
        svg: &mut Svg,
        mut ends: Vec<(f64, usize, &Vec<String>)>,
        (looks, left, top): (&[Style], f64, f64),
    ) {
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut below = top + PLOT_HEIGHT;
        for (y, _, rows) in ends.iter_mut().rev() {
            let height = NAME_ROW * rows.len() as f64;
            *y = (*y - NAME_ROW / 2.0).min(below - height);
            below = *y;
        }
        let mut above = top;
        for (y, line, rows) in ends {
            let y = y.max(above);
            above = y + NAME_ROW * rows.len() as f64;
            let (style, dashed) = (looks[line], self.lines[line].dashed);
            if self.lines.len() > 1 {
                svg.mark(
                    [left + NAME_LEFT / 2.0, y + 6.5],
                    style,
                    dashed,
                    &self.lines[line].name,
                );
            }
            for (row, text) in rows.iter().enumerate() {
                let y = y + NAME_ROW * row as f64 + 10.5;
                svg.text(left + NAME_LEFT, y, Anchor::Start, "", text);
            }
        }
    }
}

/// Runs of points as their medians and quartiles. A line stays broken where it is, and has no band then.
fn medians(points: &[(f64, f64)]) -> Drawn {
    let pieces: Vec<&[(f64, f64)]> = points
        .split(|(_, value)| value.is_nan())
        .filter(|piece| !piece.is_empty())
        .collect();
    let all: usize = pieces.iter().map(|piece| piece.len()).sum();
    let (mut points, mut quartiles) = (Vec::new(), Vec::new());
    for (index, piece) in pieces.iter().enumerate() {
        if index > 0 {
            points.push((piece[0].0, f64::NAN));
        }
        for run in piece.chunks(all.div_ceil(MEDIANS)) {
            let mut values: Vec<f64> = run.iter().map(|(_, value)| *value).collect();
            values.sort_by(f64::total_cmp);
            let quartile = |number: usize| values[(values.len() - 1) * number / 4];
            let x = run[run.len() / 2].0;
            points.push((x, quartile(2)));
            quartiles.push((x, [quartile(1), quartile(3)]));
        }
    }
    if pieces.len() > 1 {
        quartiles.clear();
    }
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
    fn a_broken_line_stays_broken() {
        for count in [6, 600] {
            let value = |n: i32| {
                if n * 3 / count == 1 {
                    f64::NAN
                } else {
                    f64::from(n + 1)
                }
            };
            let points = (0..count).map(|n| (f64::from(n), value(n)));
            let svg = chart(points.collect()).to_svg();
            assert_eq!(svg.matches("class=\"line\"").count(), 2, "{svg}");
            assert!(!svg.contains("NaN"), "{svg}");
        }
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
