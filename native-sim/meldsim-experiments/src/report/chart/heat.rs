//! Heat maps: the deeper the colour, the greater the value.

use super::super::svg::{Anchor, LETTER_WIDTH, Svg, short};
use super::{TITLE_HEIGHT, WIDTH};

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
        let longest = self.rows.iter().map(|(label, _)| label.chars().count());
        let left = 10.0 + LETTER_WIDTH * longest.max().unwrap_or(0) as f64;
        let top = TITLE_HEIGHT + 18.0;
        let width = (WIDTH - left) / self.columns.len().max(1) as f64;
        let rows = self.rows.len().max(1) as f64;
        let height = TALLEST_CELL.min(TALLEST_MAP / rows);
        let bottom = top + rows * height;
        let gap = if width.min(height) > 6.0 { 1.0 } else { 0.0 };

        svg.text(0.0, top - 6.0, Anchor::Start, "soft", &self.y);
        let row_step = (TEXT_HEIGHT / height).ceil() as usize;
        for (row, (label, values)) in self.rows.iter().enumerate() {
            let y = top + row as f64 * height;
            if row % row_step == 0 {
                svg.text(
                    left - 6.0,
                    y + height / 2.0 + 4.0,
                    Anchor::End,
                    "soft",
                    label,
                );
            }
            for (column, value) in values.iter().enumerate().take(self.columns.len()) {
                let Some(value) = value.filter(|value| value.is_finite()) else {
                    continue;
                };
                let x = left + column as f64 * width;
                let (fill, opacity) = self.fill(value);
                let tip = format!(
                    "{} {}, {} {}: {}",
                    self.y,
                    label,
                    self.x,
                    self.columns[column],
                    short(value)
                );
                svg.rect([x, y, width - gap, height - gap], fill, opacity, &tip);
                if width >= TEXT_WIDTH && height >= TEXT_HEIGHT {
                    let (x, y) = (x + width / 2.0, y + height / 2.0 + 4.0);
                    // A cell has room for two digits after the point; its tip has all.
                    let rounded = (value * 100.0).round() / 100.0;
                    svg.text(x, y, Anchor::Middle, "", &short(rounded));
                }
            }
        }
        let widest = self.columns.iter().map(|label| label.chars().count());
        let label_width = 8.0 + LETTER_WIDTH * widest.max().unwrap_or(0) as f64;
        let step = (label_width / width).ceil().max(1.0) as usize;
        for (column, label) in self.columns.iter().enumerate().step_by(step) {
            let x = left + (column as f64 + 0.5) * width;
            svg.text(x, bottom + 15.0, Anchor::Middle, "soft", label);
        }
        svg.text(
            (left + WIDTH) / 2.0,
            bottom + 31.0,
            Anchor::Middle,
            "soft",
            &self.x,
        );
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
    fn nothing_and_zeros_make_no_broken_picture() {
        for values in [vec![], vec![Some(f64::NAN)], vec![Some(0.0)]] {
            let svg = map(values, HeatScale::Sequential(0.0));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
