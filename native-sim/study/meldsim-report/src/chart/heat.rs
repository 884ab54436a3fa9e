//! A grid of values.

use super::{WIDTH, distinct, widest};
use crate::svg::{Anchor, Svg, short, short_apart};

/// Cells at least this wide and high show their value.
const TEXT_WIDTH: f64 = 26.0;
const TEXT_HEIGHT: f64 = 14.0;
const TALLEST_CELL: f64 = 26.0;
const TALLEST_MAP: f64 = 420.0;
/// Cells of the strip that shows what the colours mean, where cells are too small for their values.
const STRIP: u32 = 5;

/// Which value has the deepest colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HeatScale {
    /// From 0, no colour, to this value.
    Sequential(f64),
    /// From minus this value to this value, in two colours, with none at 0; below 0 there is a stroke, too.
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
    fn values(&self) -> impl Iterator<Item = (&str, &str, f64)> + Clone {
        self.rows.iter().flat_map(|(row, values)| {
            let values = self.columns.iter().zip(values);
            values.filter_map(move |(column, value)| Some((&**row, &**column, (*value)?)))
        })
    }

    /// The one value of all cells, if there is but one.
    pub(super) fn only_value(&self) -> Option<f64> {
        distinct(self.values().map(|(.., value)| value))
    }

    /// A line for each cell.
    pub(super) fn csv(&self) -> Vec<Vec<String>> {
        let header = [&self.y, &self.x, &self.title].map(String::clone);
        let lines = self
            .values()
            .map(|(row, column, value)| vec![row.to_owned(), column.to_owned(), value.to_string()]);
        std::iter::once(header.into()).chain(lines).collect()
    }

    /// The map as an SVG element.
    pub fn to_svg(&self) -> String {
        let mut svg = Svg::new(&self.title, WIDTH);
        let left = 10.0 + widest(self.rows.iter().map(|(label, _)| label));
        let top = svg.top() + 16.0;
        let width = (WIDTH - left) / self.columns.len().max(1) as f64;
        let rows = self.rows.len().max(1) as f64;
        let height = TALLEST_CELL.min(TALLEST_MAP / rows);
        let bottom = top + rows * height;
        let gap = if width.min(height) > 6.0 { 1.0 } else { 0.0 };

        // The digits that tell the values apart, as far as they have room; two behind the point are always enough.
        let rounded = |value: f64| (value * 100.0).round() / 100.0;
        let values = self.rows.iter().flat_map(|(_, values)| values).flatten();
        let values: Vec<f64> = values
            .copied()
            .filter(|value| value.is_finite())
            .map(rounded)
            .collect();
        let mut texts = short_apart(&values);
        if widest(&texts) > width - gap {
            texts = values.iter().map(|value| short(*value)).collect();
        }
        let mut texts = texts.into_iter();
        let shows_text = width >= TEXT_WIDTH && height >= TEXT_HEIGHT;

        svg.label(0.0, top - 6.0, Anchor::Start, &self.y);
        if !shows_text {
            self.strip(&mut svg, top - 16.0);
        }
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
                let column = format!("{} {}", self.x, self.columns[column]);
                let tip = format!("{} {label}, {column}: {}", self.y, short(value));
                let text = texts.next().unwrap_or_default();
                self.cell(&mut svg, [x, y, width - gap, height - gap], value, &tip);
                if shows_text {
                    let (x, y) = (x + width / 2.0, y + height / 2.0 + 4.0);
                    svg.text(x, y, Anchor::Middle, "", &text);
                }
            }
        }
        // Of numbers some can be left out; names that are too long for their columns take turns in two rows.
        let step = ((8.0 + widest(&self.columns)) / width).ceil().max(1.0) as usize;
        let numbers = self
            .columns
            .iter()
            .all(|label| label.starts_with(|c: char| c.is_ascii_digit()));
        let (step, rows) = match step {
            2.. if !numbers => (1, 2),
            step => (step, 1),
        };
        for (column, label) in self.columns.iter().enumerate().step_by(step) {
            let x = left + (column as f64 + 0.5) * width;
            let half = widest([label]) / 2.0;
            let row = (column % rows) as f64 * TEXT_HEIGHT;
            svg.label(
                x.min(WIDTH - half),
                bottom + 15.0 + row,
                Anchor::Middle,
                label,
            );
        }
        let bottom = bottom + (rows - 1) as f64 * TEXT_HEIGHT;
        svg.label((left + WIDTH) / 2.0, bottom + 31.0, Anchor::Middle, &self.x);
        svg.finish(bottom + 37.0)
    }

    fn cell(&self, svg: &mut Svg, at: [f64; 4], value: f64, tip: &str) {
        let (fill, opacity) = self.fill(value);
        svg.rect(at, fill, opacity, tip);
        let [x, y, width, height] = at;
        if value < 0.0 {
            svg.line(
                x,
                y + height,
                x + width.min(height),
                y + height - width.min(height),
            );
        }
    }

    /// What the colours mean, at the right end of a row.
    fn strip(&self, svg: &mut Svg, y: f64) {
        let (low, high) = match self.scale {
            HeatScale::Sequential(most) => (0.0, most),
            HeatScale::Diverging(most) => (-most, most),
        };
        let (ends, cell) = (60.0, 14.0);
        let from = WIDTH - ends - f64::from(STRIP) * cell;
        svg.label(from - 4.0, y + 10.0, Anchor::End, &short(low));
        for step in 0..STRIP {
            let value = low + (high - low) * f64::from(step) / f64::from(STRIP - 1);
            let at = [from + f64::from(step) * cell, y, cell - 1.0, 11.0];
            self.cell(svg, at, value, &short(value));
        }
        svg.label(WIDTH - ends + 4.0, y + 10.0, Anchor::Start, &short(high));
    }

    /// Colour and opacity: opacity is the scale, so that the page's background is its zero, light or dark.
    fn fill(&self, value: f64) -> (&'static str, f64) {
        let (colour, most) = match self.scale {
            HeatScale::Sequential(most) => ("var(--more)", most),
            HeatScale::Diverging(most) if value < 0.0 => ("var(--less)", most),
            HeatScale::Diverging(most) => ("var(--more)", most),
        };
        let share = if most > 0.0 { value.abs() / most } else { 0.0 };
        // Deeper would make the ink unreadable.
        (colour, 0.06 + 0.5 * share.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(opacities(&svg), ["0.06", "0.31", "0.56"]);
        let svg = map(vec![Some(-2.0), Some(2.0)], HeatScale::Diverging(2.0));
        assert!(svg.contains("var(--less)") && svg.contains("var(--more)"));
        assert_eq!(opacities(&svg), ["0.56", "0.56"]);
        assert_eq!(
            svg.matches("<line").count(),
            1,
            "the cell below 0 has a stroke"
        );
    }

    #[test]
    fn no_name_of_a_column_is_left_out() {
        let names = ["none", "planes", "interleaved dies", "both of them"];
        let map = HeatMap {
            title: String::new(),
            x: "x".to_owned(),
            y: "y".to_owned(),
            columns: names.map(str::to_owned).into(),
            rows: vec![("a".to_owned(), vec![Some(1.0); 4])],
            scale: HeatScale::Sequential(1.0),
        };
        let svg = map.to_svg();
        for name in names {
            assert!(svg.contains(&format!(">{name}</text>")), "{name}");
        }
    }

    #[test]
    fn small_cells_come_with_a_scale() {
        let svg = map(vec![Some(50.0); 40], HeatScale::Sequential(100.0));
        assert_eq!(opacities(&svg).len(), 40 + STRIP as usize);
        assert!(svg.contains(">100</text>"));
    }

    #[test]
    fn maps_of_nothing_and_zeros_make_no_broken_picture() {
        for values in [vec![], vec![Some(f64::NAN)], vec![Some(0.0)]] {
            let svg = map(values, HeatScale::Sequential(0.0));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
