//! Horizontal bars in groups: labels of any length stay readable on a narrow page.

use super::super::svg::{Anchor, LETTER_WIDTH, Svg, colour, linear_ticks, short};
use super::{TITLE_HEIGHT, WIDTH};

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
        let longest = self
            .groups
            .iter()
            .map(|(label, _)| cut(label).chars().count());
        let left = 10.0 + LETTER_WIDTH * longest.max().unwrap_or(0) as f64;
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
            svg.text(x(tick), bottom + 15.0, Anchor::Middle, "soft", &short(tick));
        }
        for (row, (label, values)) in self.groups.iter().enumerate() {
            let group_top = top + row as f64 * group_height;
            let middle = group_top + (group_height - GROUP_GAP) / 2.0 + 4.0;
            svg.text(left - 6.0, middle, Anchor::End, "soft", &cut(label));
            for (index, value) in values.iter().enumerate().take(self.series.len()) {
                let Some(value) = value.filter(|value| value.is_finite()) else {
                    continue;
                };
                let y = group_top + index as f64 * BAR_HEIGHT;
                let (from, to) = (x(value.min(0.0)), x(value.max(0.0)));
                let tip = format!("{label}, {}: {}", self.series[index], short(value));
                svg.rect(
                    [from, y, to - from, BAR_HEIGHT - 2.0],
                    &colour(index),
                    1.0,
                    &tip,
                );
                svg.text(to + 4.0, y + 9.5, Anchor::Start, "soft", &short(value));
            }
        }
        svg.text(
            left + width / 2.0,
            bottom + 31.0,
            Anchor::Middle,
            "soft",
            &self.axis,
        );
        svg.finish(bottom + 37.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn nothing_and_zeros_make_no_broken_picture() {
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
