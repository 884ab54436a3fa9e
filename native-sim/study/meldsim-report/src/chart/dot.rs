//! Rows of dots on one scale.

use super::{WIDTH, distinct, widest};
use crate::style::{Style, Styles};
use crate::svg::{Anchor, LETTER_WIDTH, Svg, linear_ticks, short, short_apart, wrap};

const ROW: f64 = 21.0;
const TEXT_ROW: f64 = 15.0;
/// Labels that are wider have rows of their own above their dots.
const WIDEST_BESIDE: f64 = 130.0;
/// Between a dot and its value.
const BESIDE: f64 = 7.0;

/// A value, and the least and the greatest of those that it is the median of.
#[derive(Clone, Copy, Debug)]
pub struct Dot {
    /// Where the dot is.
    pub value: f64,
    /// Where its whisker begins and ends.
    pub spread: Option<[f64; 2]>,
}

impl From<f64> for Dot {
    fn from(value: f64) -> Dot {
        let spread = None;
        Dot { value, spread }
    }
}

/// Rows of dots on one scale from 0, one dot for each series. A line joins the dots of a row; the outer ones have their values.
#[derive(Clone, Debug)]
pub struct DotPlot {
    /// What it shows.
    pub title: String,
    /// What the places mean, with the unit.
    pub axis: String,
    /// Names of the series.
    pub series: Vec<String>,
    /// Rows from top to bottom: label, and a dot for each series. Where there is none, there is no dot.
    pub rows: Vec<(String, Vec<Option<Dot>>)>,
}

impl DotPlot {
    /// A row of dots for each of these: its label, and a value for each series.
    pub fn of<R, const N: usize>(
        title: impl Into<String>,
        axis: &str,
        series: [&str; N],
        rows: impl IntoIterator<Item = R>,
        row: impl Fn(R) -> (String, [f64; N]),
    ) -> DotPlot {
        let rows = rows.into_iter().map(row);
        DotPlot {
            title: title.into(),
            axis: axis.to_owned(),
            series: series.map(str::to_owned).into(),
            rows: rows
                .map(|(label, values)| (label, values.map(|value| Some(value.into())).into()))
                .collect(),
        }
    }

    /// A row for each series, of its name.
    pub fn by_name(
        title: impl Into<String>,
        axis: &str,
        dots: impl IntoIterator<Item = (String, Dot)>,
    ) -> DotPlot {
        let (series, dots): (Vec<String>, Vec<Dot>) = dots.into_iter().unzip();
        let rows = dots.iter().enumerate().map(|(row, dot)| {
            let of_row = (0..series.len()).map(|other| (other == row).then_some(*dot));
            (series[row].clone(), of_row.collect())
        });
        DotPlot {
            title: title.into(),
            axis: axis.to_owned(),
            rows: rows.collect(),
            series,
        }
    }

    /// The dots with their row and series.
    fn dots(&self) -> impl Iterator<Item = (usize, usize, Dot)> {
        let rows = self.rows.iter().enumerate();
        rows.flat_map(|(row, (_, dots))| {
            let dots = dots.iter().take(self.series.len()).enumerate();
            dots.filter_map(move |(series, dot)| Some((row, series, (*dot)?)))
                .filter(|(.., dot)| dot.value.is_finite())
        })
    }

    /// The one value of all dots, if there is but one.
    pub(super) fn only_value(&self) -> Option<f64> {
        let all: Vec<f64> = self.dots().map(|(.., dot)| dot.value).collect();
        distinct(all.iter().copied())
    }

    /// A line for each dot.
    pub(super) fn csv(&self) -> Vec<Vec<String>> {
        let header = ["", "series", &self.axis, "least", "most"].map(str::to_owned);
        let lines = self.dots().map(|(row, series, dot)| {
            let [least, most] = dot.spread.unwrap_or([dot.value; 2]);
            let numbers = [dot.value, least, most].map(|value| value.to_string());
            let names = [self.rows[row].0.clone(), self.series[series].clone()];
            names.into_iter().chain(numbers).collect()
        });
        std::iter::once(header.into()).chain(lines).collect()
    }

    /// The chart as an SVG element.
    pub fn to_svg(&self) -> String {
        self.draw(&mut Styles::default())
    }

    pub(super) fn draw(&self, styles: &mut Styles) -> String {
        let mut svg = Svg::new(&self.title, WIDTH);
        let looks: Vec<Style> = self.series.iter().map(|name| styles.of(name)).collect();
        let keys = self.series.iter().zip(&looks);
        let keys: Vec<_> = keys.map(|(name, look)| (&**name, *look, None)).collect();
        let is_named = |(label, _): &(String, _)| self.series.contains(label);
        if keys.len() > 1 && !self.rows.iter().all(is_named) {
            svg.legend(&keys);
        }
        let dots: Vec<(usize, usize, Dot)> = self.dots().collect();
        let values: Vec<f64> = dots.iter().map(|(.., dot)| dot.value).collect();
        let texts = short_apart(&values);

        let labels_width = 10.0 + widest(self.rows.iter().map(|(label, _)| label));
        let beside = labels_width <= WIDEST_BESIDE;
        let left = if beside { labels_width } else { 4.0 };
        // Values stand on both sides of a row's dots, or on the right of its one.
        let room = BESIDE + 3.0 + widest(&texts);
        let both = self
            .rows
            .iter()
            .any(|(_, dots)| dots.iter().flatten().count() > 1);
        let (from, to) = (left + if both { room } else { 6.0 }, WIDTH - room);
        let ends = dots
            .iter()
            .flat_map(|(.., dot)| dot.spread.unwrap_or([dot.value; 2]));
        let (low, high) = ends.fold((0.0, 0.0), |(low, high): (f64, f64), end| {
            (low.min(end), high.max(end))
        });
        let span = if high > low { high - low } else { 1.0 };
        let x = |value: f64| from + (value - low) / span * (to - from);

        let labels = |label: &str| match beside {
            true => Vec::new(),
            false => wrap(label, (WIDTH / LETTER_WIDTH) as usize),
        };
        let height = |label: &str| ROW + TEXT_ROW * labels(label).len() as f64;
        let top = svg.top() + 2.0;
        let bottom = top
            + self
                .rows
                .iter()
                .map(|(label, _)| height(label))
                .sum::<f64>();
        // A tick's text that would run into the one before is left out.
        let mut free_from = 0.0;
        for tick in linear_ticks(low, low + span, 4) {
            svg.line(x(tick), top, x(tick), bottom);
            let text = short(tick);
            let half = widest([&text]) / 2.0;
            let centre = x(tick).max(half);
            if centre - half >= free_from {
                svg.label(centre, bottom + 15.0, Anchor::Middle, &text);
                free_from = centre + half + 4.0;
            }
        }
        let mut y = top;
        let mut all = dots.iter().zip(&texts).peekable();
        for (row, (label, _)) in self.rows.iter().enumerate() {
            for text in labels(label) {
                svg.label(0.0, y + 11.0, Anchor::Start, &text);
                y += TEXT_ROW;
            }
            let middle = y + ROW / 2.0;
            if beside {
                svg.label(left - 6.0, middle + 4.0, Anchor::End, label);
            }
            let mut of_row: Vec<(usize, Dot, &str)> = Vec::new();
            while let Some(((_, series, dot), text)) = all.next_if(|((at, ..), _)| *at == row) {
                of_row.push((*series, *dot, text));
            }
            of_row.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
            if let [(_, first, text), .., (_, last, other)] = of_row[..] {
                svg.join([x(first.value), x(last.value)], middle);
                if text != other {
                    svg.text(x(first.value) - BESIDE, middle + 4.0, Anchor::End, "", text);
                }
            }
            for (series, dot, text) in &of_row {
                if let Some([least, most]) = dot.spread {
                    svg.join([x(least), x(most)], middle);
                }
                let tip = format!("{label}, {}: {text}", self.series[*series]);
                svg.mark([x(dot.value), middle], looks[*series], false, &tip);
            }
            if let Some((_, dot, text)) = of_row.last() {
                let end = dot.spread.map_or(dot.value, |[_, most]| most);
                svg.text(x(end) + BESIDE, middle + 4.0, Anchor::Start, "", text);
            }
            y += ROW;
        }
        let half = widest([&self.axis]) / 2.0;
        let middle = ((from + to) / 2.0).min(WIDTH - half).max(half);
        svg.label(middle, bottom + 31.0, Anchor::Middle, &self.axis);
        svg.finish(bottom + 37.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(rows: Vec<(&str, Vec<Option<f64>>)>) -> DotPlot {
        let row = |(label, values): (&str, Vec<Option<f64>>)| {
            let dots = values.into_iter().map(|value| value.map(Dot::from));
            (label.to_owned(), dots.collect())
        };
        DotPlot {
            title: "t".to_owned(),
            axis: "k IOPS".to_owned(),
            series: vec!["normal".to_owned(), "melded".to_owned()],
            rows: rows.into_iter().map(row).collect(),
        }
    }

    /// Where the dots of rows are, without the legend's.
    fn places(svg: &str) -> Vec<f64> {
        let marks = svg.split("class=\"mark\"").skip(3);
        marks
            .filter_map(|rest| rest.split("d=\"M").nth(1)?.split(',').next()?.parse().ok())
            .collect()
    }

    #[test]
    fn dots_are_as_far_as_their_values() {
        let svg = plot(vec![
            ("one", vec![Some(1.0), Some(2.0)]),
            ("two", vec![Some(4.0), None]),
        ])
        .to_svg();
        let places = places(&svg);
        assert_eq!(places.len(), 3);
        let steps = [places[1] - places[0], places[2] - places[1]];
        assert!((steps[1] / steps[0] - 2.0).abs() < 0.02, "{places:?}");
        for text in [">1</text>", ">2</text>", ">4</text>"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn dots_of_nothing_and_zeros_make_no_broken_picture() {
        for rows in [
            vec![],
            vec![("a", vec![Some(0.0), Some(f64::NAN)])],
            vec![("a", vec![None])],
        ] {
            let svg = plot(rows).to_svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn a_chart_of_one_value_says_so() {
        let rows = |value| {
            plot(vec![
                ("a", vec![Some(67.7), None]),
                ("b", vec![Some(value)]),
            ])
        };
        assert_eq!(rows(67.7).only_value(), Some(67.7));
        assert_eq!(rows(67.8).only_value(), None);
    }
}
