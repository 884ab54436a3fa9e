//! How series look: each has a colour, and for who cannot see it, a shape on lines and a pattern on bars. A name looks the
//! same in all charts of a page, and nothing else looks like it.

use std::fmt::Write;

/// Colours, shapes and patterns before one of them repeats.
const STYLES: usize = 8;
/// Colours with less than three times the luminance of white paper below it; their lines get an outline.
const LIGHT: [bool; STYLES] = [false, true, false, true, false, true, false, true];
/// Between the strokes of a pattern.
const PITCH: f64 = 5.0;

/// Outlines of the marks about a point.
const SHAPES: [&str; STYLES] = [
    "m-3,0a3,3 0 1 0 6,0a3,3 0 1 0-6,0z",
    "m-2.7,-2.7h5.4v5.4h-5.4z",
    "m0,-3.8l3.6,6.4h-7.2z",
    "m0,-4l3.4,4l-3.4,4l-3.4,-4z",
    "m-1.2,-3.8h2.4v2.6h2.6v2.4h-2.6v2.6h-2.4v-2.6h-2.6v-2.4h2.6z",
    "m0,3.8l3.6,-6.4h-7.2z",
    "m0,-1.7l2,-2l1.7,1.7l-2,2l2,2l-1.7,1.7l-2,-2l-2,2l-1.7,-1.7l2,-2l-2,-2l1.7,-1.7z",
    "m-4,-1.6h8v3.2h-8z",
];

/// The looks of a page's series, by their names.
#[derive(Debug, Default)]
pub(super) struct Styles {
    /// In the order in which they came.
    names: Vec<String>,
}

impl Styles {
    /// The look of this series; a new name takes the next one.
    pub(super) fn of(&mut self, name: &str) -> Style {
        let known = self.names.iter().position(|known| known == name);
        Style(known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        }))
    }
}

/// The look of one series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style(usize);

impl Style {
    /// The colour, as a CSS value.
    pub(super) fn colour(self) -> String {
        format!("var(--c{})", self.0 % STYLES)
    }

    /// Colour of a pattern's strokes on this colour.
    pub(super) fn hatch_colour(self) -> String {
        format!("var(--h{})", self.0 % STYLES)
    }

    /// Whether lines of this colour are to be outlined.
    pub(super) fn is_light(self) -> bool {
        LIGHT[self.0 % STYLES]
    }

    /// The colour repeats after eight series, with another shape and pattern.
    fn form(self) -> usize {
        (self.0 + self.0 / STYLES) % STYLES
    }

    /// A mark about this point, as the data of an SVG path.
    pub(super) fn mark(self, x: f64, y: f64) -> String {
        format!("M{x:.1},{y:.1}{}", SHAPES[self.form()])
    }

    /// The pattern's strokes within a rectangle, as the data of an SVG path; empty for a plain one.
    pub(super) fn hatch(self, [x, y, width, height]: [f64; 4]) -> String {
        let mut path = String::new();
        let mut stroke = |x1: f64, y1: f64, x2: f64, y2: f64| {
            // Writing to a string cannot fail.
            let _ = write!(
                path,
                "M{:.1},{:.1}L{:.1},{:.1}",
                x + x1,
                y + y1,
                x + x2,
                y + y2
            );
        };
        let steps = |length: f64| {
            let count = (length / PITCH).floor() as usize;
            (1..=count).map(|step| step as f64 * PITCH)
        };
        let form = self.form();
        if matches!(form, 1 | 6) {
            for at in steps(width + height) {
                stroke(
                    (at - height).max(0.0),
                    at.min(height),
                    at.min(width),
                    (at - width).max(0.0),
                );
            }
        }
        if matches!(form, 3 | 6) {
            for at in steps(width + height) {
                let (left, right) = ((at - height).max(0.0), at.min(width));
                stroke(
                    left,
                    (height - at).max(0.0),
                    right,
                    (height - at + right).min(height),
                );
            }
        }
        if matches!(form, 2 | 7) {
            for at in steps(width) {
                stroke(at, 0.0, at, height);
            }
        }
        if matches!(form, 5 | 7) {
            stroke(0.0, height / 2.0, width, height / 2.0);
        }
        if form == 4 {
            for at in steps(width) {
                stroke(at - 2.0, height / 2.0, at, height / 2.0);
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_look_and_no_two_names_share_one() {
        let mut styles = Styles::default();
        let first = styles.of("a");
        let others: Vec<Style> = (0..40).map(|n| styles.of(&format!("{n}"))).collect();
        assert_eq!(styles.of("a"), first);
        let look = |style: &Style| (style.colour(), style.mark(0.0, 0.0));
        for (index, style) in others.iter().enumerate() {
            assert!(
                others[..index]
                    .iter()
                    .all(|other| look(other) != look(style))
            );
        }
    }

    #[test]
    fn neighbours_differ_in_shape_and_pattern() {
        let rect = [0.0, 0.0, 60.0, 10.0];
        for slot in 0..40 {
            let (one, next) = (Style(slot), Style(slot + 1));
            assert_ne!(one.mark(0.0, 0.0), next.mark(0.0, 0.0));
            assert_ne!(one.hatch(rect), next.hatch(rect));
            assert_ne!(one.colour(), next.colour());
        }
    }

    #[test]
    fn patterns_stay_within_their_bar() {
        for slot in 0..8 {
            for width in [0.0, 3.0, 60.0] {
                let path = Style(slot).hatch([10.0, 20.0, width, 10.0]);
                for point in path.split(['M', 'L']).filter(|point| !point.is_empty()) {
                    let (x, y) = point.split_once(',').unwrap();
                    let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                    assert!((9.9..=10.1 + width.max(1.0)).contains(&x), "{slot} {path}");
                    assert!((19.9..=30.1).contains(&y), "{slot} {path}");
                }
            }
        }
    }
}
