//! Groups of bars.

use super::{WIDTH, widest};
use crate::style::{Style, Styles};
use crate::svg::{Anchor, Key, LETTER_WIDTH, Svg, linear_ticks, short, short_apart, wrap};

const BAR_HEIGHT: f64 = 14.5;
const GROUP_GAP: f64 = 9.0;
const ROW: f64 = 15.0;
/// Labels that are wider have rows of their own above their bars.
const WIDEST_BESIDE: f64 = 150.0;

/// Groups of bars, one bar for each series.
#[derive(Clone, Debug)]
pub struct BarChart {
    /// What it shows.
    pub title: String,
    /// What the bars' lengths mean, with the unit.
    pub axis: String,
    /// Names of the series.
    pub series: Vec<String>,
    /// Groups from top to bottom: label, and a value for each series. Where there is none, there is no bar.
    pub groups: Vec<(String, Vec<Option<f64>>)>,
}

/// One bar: its series' name and look, its value.
struct Bar<'a>(&'a str, Style, f64);

impl BarChart {
    /// A group of bars for each of these rows: its label, and a value for each series.
    pub fn of<R, const N: usize>(
        title: impl Into<String>,
        axis: &str,
        series: [&str; N],
        rows: impl IntoIterator<Item = R>,
        group: impl Fn(R) -> (String, [f64; N]),
    ) -> BarChart {
        let groups = rows.into_iter().map(group);
        BarChart {
            title: title.into(),
            axis: axis.to_owned(),
            series: series.map(str::to_owned).into(),
            groups: groups
                .map(|(label, values)| (label, values.map(Some).into()))
                .collect(),
        }
    }

    /// The chart as an SVG element.
    pub fn to_svg(&self) -> String {
        self.draw(&mut Styles::default())
    }

    pub(super) fn draw(&self, styles: &mut Styles) -> String {
        let mut svg = Svg::new(&self.title, WIDTH);
        let looks: Vec<Style> = self.series.iter().map(|name| styles.of(name)).collect();
        let keys = self.series.iter().zip(&looks);
        svg.legend(keys.map(|(name, style)| (name.as_str(), *style, Key::Bar)));
        let groups: Vec<(&str, Vec<Bar<'_>>)> = self
            .groups
            .iter()
            .map(|(label, values)| {
                let series = self.series.iter().zip(&looks).zip(values);
                let bars = series.filter_map(|((name, style), value)| {
                    let value = value.filter(|value| value.is_finite())?;
                    Some(Bar(name, *style, value))
                });
                (label.as_str(), bars.collect())
            })
            .collect();
        let values: Vec<f64> = groups
            .iter()
            .flat_map(|(_, bars)| bars.iter().map(|Bar(.., value)| *value))
            .collect();
        let texts = short_apart(&values);
        let mut texts_left = texts.iter();

        let labels_width = 10.0 + widest(self.groups.iter().map(|(label, _)| label));
        let beside = labels_width <= WIDEST_BESIDE;
        let left = if beside { labels_width } else { 4.0 };
        let width = WIDTH - left - 6.0 - widest(&texts);
        let high = values.iter().copied().fold(0.0, f64::max);
        let low = values.iter().copied().fold(0.0, f64::min);
        let span = if high > low { high - low } else { 1.0 };
        let x = |value: f64| left + (value - low) / span * width;

        let rows = |label: &str| match beside {
            true => Vec::new(),
            false => wrap(label, (WIDTH / LETTER_WIDTH) as usize),
        };
        let height = |(label, bars): &(&str, Vec<Bar<'_>>)| {
            ROW * rows(label).len() as f64 + BAR_HEIGHT * bars.len().max(1) as f64 + GROUP_GAP
        };
        let top = svg.top() + 2.0;
        let bottom = top + groups.iter().map(height).sum::<f64>();
        // A label that would run into the one before is left out.
        let mut free_from = 0.0;
        for tick in linear_ticks(low, low + span, 4) {
            svg.line(x(tick), top, x(tick), bottom);
            let label = short(tick);
            let half = LETTER_WIDTH / 2.0 * label.chars().count() as f64;
            let centre = x(tick).max(half);
            if centre - half >= free_from {
                svg.label(centre, bottom + 15.0, Anchor::Middle, &label);
                free_from = centre + half + 4.0;
            }
        }
        let mut y = top;
        for group in &groups {
            let (label, bars) = group;
            let next = y + height(group);
            if beside {
                let middle = y + BAR_HEIGHT * bars.len() as f64 / 2.0 + 3.5;
                svg.label(left - 6.0, middle, Anchor::End, label);
            }
            for row in rows(label) {
                svg.label(0.0, y + 10.0, Anchor::Start, &row);
                y += ROW;
            }
            for Bar(name, style, value) in bars {
                let (from, to) = (x(value.min(0.0)), x(value.max(0.0)));
                let text = texts_left.next().map_or("", String::as_str);
                let at = [from, y, to - from, BAR_HEIGHT - 2.0];
                svg.bar(at, *style, &format!("{label}, {name}: {text}"));
                svg.label(to + 4.0, y + 10.5, Anchor::Start, text);
                y += BAR_HEIGHT;
            }
            y = next;
        }
        let middle = left + width / 2.0;
        let half = LETTER_WIDTH / 2.0 * self.axis.chars().count() as f64;
        let middle = middle.min(WIDTH - half).max(half);
        svg.label(middle, bottom + 31.0, Anchor::Middle, &self.axis);
        svg.finish(bottom + 37.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(svg: &str) -> Vec<f64> {
        svg.split("<rect class=\"bar\"")
            .skip(1)
            .filter_map(|rest| {
                rest.split("width=\"")
                    .nth(1)?
                    .split('"')
                    .next()?
                    .parse()
                    .ok()
            })
            .filter(|width| *width != 19.0) // the legend
            .collect()
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
        let widths = widths(&chart.to_svg());
        assert_eq!(widths.len(), 3);
        assert!((widths[2] / widths[0] - 4.0).abs() < 0.01, "{widths:?}");
    }

    #[test]
    fn what_is_missing_leaves_no_slot() {
        let chart = |values: Vec<Option<f64>>| BarChart {
            title: "t".to_owned(),
            axis: "us".to_owned(),
            series: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()],
            groups: vec![("one".to_owned(), values)],
        };
        let height = |svg: String| -> f64 {
            let view = svg.split("viewBox=\"").nth(1).unwrap();
            let view = view.split('"').next().unwrap();
            view.rsplit(' ').next().unwrap().parse().unwrap()
        };
        let three = height(chart(vec![Some(1.0); 3]).to_svg());
        let one = height(chart(vec![None, Some(1.0), None]).to_svg());
        // Heights are rounded to whole units.
        assert!(
            (three - one - 2.0 * BAR_HEIGHT).abs() <= 1.0,
            "{three} {one}"
        );
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
}
