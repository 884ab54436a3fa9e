//! How series look: each has a colour, and for who cannot see it, a shape. A name looks the same in all charts of a page, and
//! nothing else looks like it. Some names mean the same on every page and have a colour of their own.

/// Colours without a meaning, and shapes, before one of them repeats.
const COLOURS: usize = 7;
/// Of these colours, those with less than three times the luminance of white paper below it; their lines get an outline.
const LIGHT: [bool; COLOURS] = [false, true, false, true, false, true, true];

/// Outlines of the marks about a point.
const SHAPES: [&str; 8] = [
    "m-3,0a3,3 0 1 0 6,0a3,3 0 1 0-6,0z",
    "m-2.7,-2.7h5.4v5.4h-5.4z",
    "m0,-3.8l3.6,6.4h-7.2z",
    "m0,-4l3.4,4l-3.4,4l-3.4,-4z",
    "m-1.2,-3.8h2.4v2.6h2.6v2.4h-2.6v2.6h-2.4v-2.6h-2.6v-2.4h2.6z",
    "m0,3.8l3.6,-6.4h-7.2z",
    "m0,-1.7l2,-2l1.7,1.7l-2,2l2,2l-1.7,1.7l-2,-2l-2,2l-1.7,-1.7l2,-2l-2,-2l1.7,-1.7z",
    "m-4,-1.6h8v3.2h-8z",
];

/// The colour of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    /// Data in the normal layout.
    Normal,
    /// Data in the melded layout.
    Melded,
    /// Published and measured values, beside which simulated ones stand.
    Reference,
    /// No meaning.
    Other(usize),
}

impl Colour {
    /// What a name means, if it means something.
    fn meaning(name: &str) -> Option<Colour> {
        let says = |what| name.split([' ', ',']).any(|word| word == what);
        match () {
            () if says("normal") || says("none") && says("melded") => Some(Colour::Normal),
            () if says("melded") => Some(Colour::Melded),
            () if says("published") || says("measured") => Some(Colour::Reference),
            () => None,
        }
    }

    /// Shape of the first series of this colour.
    fn first_shape(self) -> usize {
        match self {
            Colour::Normal => 0,
            Colour::Melded => 3,
            Colour::Reference => 2,
            // The colour repeats with another shape.
            Colour::Other(index) => index + 2 * (index / COLOURS),
        }
    }
}

/// The looks of a page's series, by their names.
#[derive(Debug, Default)]
pub(super) struct Styles {
    /// In the order in which they came.
    known: Vec<(String, Style)>,
}

impl Styles {
    /// The look of this series; a new name takes the next one.
    pub(super) fn of(&mut self, name: &str) -> Style {
        if let Some((_, style)) = self.known.iter().find(|(known, _)| known == name) {
            return *style;
        }
        let looks = self.known.iter().map(|(_, style)| style.colour);
        let style = match Colour::meaning(name) {
            Some(colour) => Style {
                colour,
                shape: colour.first_shape() + looks.filter(|other| *other == colour).count(),
            },
            None => {
                let others = looks.filter(|other| matches!(other, Colour::Other(_)));
                let colour = Colour::Other(others.count());
                Style {
                    colour,
                    shape: colour.first_shape(),
                }
            }
        };
        self.known.push((name.to_owned(), style));
        style
    }
}

/// The look of one series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    colour: Colour,
    shape: usize,
}

impl Style {
    /// The colour, as a CSS value.
    pub(super) fn colour(self) -> String {
        match self.colour {
            Colour::Normal => "var(--normal)".to_owned(),
            Colour::Melded => "var(--melded)".to_owned(),
            Colour::Reference => "var(--ink)".to_owned(),
            Colour::Other(index) => format!("var(--c{})", index % COLOURS),
        }
    }

    /// Whether lines of this colour are to be outlined.
    pub(super) fn is_light(self) -> bool {
        matches!(self.colour, Colour::Other(index) if LIGHT[index % COLOURS])
    }

    /// A mark about this point, as the data of an SVG path.
    pub(super) fn mark(self, x: f64, y: f64) -> String {
        format!("M{x:.1},{y:.1}{}", SHAPES[self.shape % SHAPES.len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_look_and_no_two_names_share_one() {
        let mut styles = Styles::default();
        let names = (0..40).map(|n| format!("{n}"));
        let meant = ["normal", "melded", "published", "melded write"].map(str::to_owned);
        let all: Vec<Style> = names.chain(meant).map(|name| styles.of(&name)).collect();
        assert_eq!(styles.of("7"), all[7]);
        let look = |style: &Style| (style.colour(), style.mark(0.0, 0.0));
        for (index, style) in all.iter().enumerate() {
            assert!(all[..index].iter().all(|other| look(other) != look(style)));
        }
    }

    #[test]
    fn names_that_mean_something_have_their_colour() {
        let colour = |name: &str| Styles::default().of(name).colour();
        for (name, is) in [
            ("normal", "var(--normal)"),
            ("normal, device 2", "var(--normal)"),
            ("none melded", "var(--normal)"),
            ("melded", "var(--melded)"),
            ("melded read", "var(--melded)"),
            ("all melded", "var(--melded)"),
            ("melded, published", "var(--melded)"),
            ("published, Optane", "var(--ink)"),
            ("melded-tlc-8x8", "var(--c0)"),
            ("reads", "var(--c0)"),
        ] {
            assert_eq!(colour(name), is, "{name}");
        }
    }

    #[test]
    fn neighbours_differ_in_shape() {
        let mut styles = Styles::default();
        let all: Vec<Style> = (0..41).map(|n| styles.of(&format!("{n}"))).collect();
        for pair in all.windows(2) {
            assert_ne!(pair[0].mark(0.0, 0.0), pair[1].mark(0.0, 0.0));
            assert_ne!(pair[0].colour(), pair[1].colour());
        }
    }
}
