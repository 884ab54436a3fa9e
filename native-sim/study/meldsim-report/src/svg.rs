//! What charts are made of: escaped text, shapes, axis ticks, numbers. Charts give coordinates, SVG elements come out.

use super::style::Style;

/// Colours and strokes of the charts, for light and dark surroundings. A page includes it once.
pub(super) const STYLE: &str = include_str!("chart.css");

/// Width of a letter at the charts' text size, on the generous side.
pub(super) const LETTER_WIDTH: f64 = 8.2;
/// Height of a row of text.
const ROW: f64 = 17.0;

/// `text` with the characters that XML and HTML give a meaning replaced.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            c => escaped.push(c),
        }
    }
    escaped
}

/// The text that was escaped.
pub(super) fn unescape(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"").replace("&amp;", "&")
}

/// An SVG image that grows element by element.
#[derive(Debug)]
pub(super) struct Svg {
    body: String,
    title: String,
    width: f64,
    top: f64,
}

/// Where a text is anchored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// An image with its title; a long one takes several rows.
    pub(super) fn new(title: &str, width: f64) -> Svg {
        let mut svg = Svg {
            body: String::new(),
            title: escape(title),
            width,
            top: 8.0,
        };
        // The title's letters are larger.
        for row in wrap(title, (width / LETTER_WIDTH / 1.1) as usize) {
            svg.text(0.0, svg.top + 6.0, Anchor::Start, "title", &row);
            svg.top += ROW;
        }
        svg
    }

    /// Where the next rows begin: below title and legend.
    pub(super) fn top(&self) -> f64 {
        self.top
    }

    /// Adds elements as they are.
    pub(super) fn raw(&mut self, element: &str) {
        self.body += element;
    }

    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(text);
        self.raw(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>"));
    }

    /// Text that is less important than the data.
    pub(super) fn label(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.text(x, y, anchor, "soft", text);
    }

    pub(super) fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64) {
        self.raw(&format!(
            "<line class=\"grid\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    /// A line between two values of a row.
    pub(super) fn join(&mut self, [from, to]: [f64; 2], y: f64) {
        self.raw(&format!(
            "<line class=\"join\" x1=\"{from:.1}\" y1=\"{y:.1}\" x2=\"{to:.1}\" y2=\"{y:.1}\"/>"
        ));
    }

    /// A rectangle of `fill` and `opacity` that shows `tip` when pointed at.
    pub(super) fn rect(&mut self, at: [f64; 4], fill: &str, opacity: f64, tip: &str) {
        let [x, y, width, height] = at;
        let tip = escape(tip);
        self.raw(&format!("<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\" fill-opacity=\"{opacity:.2}\"><title>{tip}</title></rect>"));
    }

    /// A mark of a series; a hollow one on a dashed line.
    pub(super) fn mark(&mut self, [x, y]: [f64; 2], style: Style, hollow: bool, tip: &str) {
        let (tip, fill, path) = (escape(tip), style.colour(), style.mark(x, y));
        let class = if hollow { "mark hollow" } else { "mark" };
        self.raw(&format!(
            "<path class=\"{class}\" fill=\"{fill}\" d=\"{path}\"><title>{tip}</title></path>"
        ));
    }

    /// Names of series in rows below the title: of points, or of lines, solid or dashed.
    pub(super) fn legend(&mut self, entries: &[(&str, Style, Option<bool>)]) {
        let mut x = 0.0;
        for &(name, style, dashed) in entries {
            let width = 34.0 + LETTER_WIDTH * name.chars().count() as f64;
            if x > 0.0 && x + width > self.width {
                (x, self.top) = (0.0, self.top + ROW);
            }
            let middle = self.top + 4.0;
            if let Some(dashed) = dashed {
                let ends = format!("{x:.1},{middle:.1} {:.1},{middle:.1}", x + 20.0);
                self.stroke(&ends, style, dashed);
            }
            self.mark([x + 10.0, middle], style, dashed == Some(true), name);
            self.label(x + 24.0, middle + 4.0, Anchor::Start, name);
            x += width;
        }
        self.top += ROW;
    }

    /// A series' line through points, outlined where its colour is light.
    pub(super) fn stroke(&mut self, points: &str, style: Style, dashed: bool) {
        let (colour, dashed) = (style.colour(), if dashed { " dashed" } else { "" });
        if style.is_light() {
            self.raw(&format!(
                "<polyline class=\"edge{dashed}\" points=\"{points}\"/>"
            ));
        }
        self.raw(&format!(
            "<polyline class=\"line{dashed}\" stroke=\"{colour}\" points=\"{points}\"/>"
        ));
    }

    pub(super) fn finish(self, height: f64) -> String {
        format!(
            "<svg class=\"chart\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {:.0} {height:.0}\">{}</svg>",
            self.title, self.width, self.body
        )
    }
}

/// Rows of at most `most` letters, broken between words; a longer word has a row of its own.
pub(super) fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split(' ') {
        let letters = |text: &str| text.chars().count();
        match rows.last_mut() {
            Some(row) if row.is_empty() => *row = word.to_owned(),
            Some(row) if letters(row) + 1 + letters(word) <= most => *row += &format!(" {word}"),
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}

/// A number short enough for an axis: `1.5k`, `20M`, `0.25`.
pub(super) fn short(value: f64) -> String {
    short_to(value, 3)
}

/// Numbers as short as they can be while those that differ look different.
pub(super) fn short_apart(values: &[f64]) -> Vec<String> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Nearer than that they are the same to people.
    let differ = |a: f64, b: f64| (b - a).abs() > 1e-5 * b.abs();
    let told_apart = |digits: i32| {
        let mut pairs = sorted.windows(2).filter(|pair| differ(pair[0], pair[1]));
        pairs.all(|pair| short_to(pair[0], digits) != short_to(pair[1], digits))
    };
    let digits = (3..6).find(|digits| told_apart(*digits)).unwrap_or(6);
    values
        .iter()
        .map(|value| short_to(*value, digits))
        .collect()
}

/// A number to so many significant digits.
fn short_to(value: f64, significant: i32) -> String {
    let (scaled, unit) = match value.abs() {
        m if m >= 1e9 => (value / 1e9, "G"),
        m if m >= 1e6 => (value / 1e6, "M"),
        m if m >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let before_point = match scaled.abs() {
        s if s >= 100.0 => 3,
        s if s >= 10.0 => 2,
        s if s >= 1.0 => 1,
        _ => -1,
    };
    let digits = (significant - before_point).max(0) as usize;
    let text = format!("{scaled:.digits$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    let text = if text == "-0" { "0" } else { text };
    format!("{text}{unit}")
}

/// Fewer ticks than this do not tell a scale.
const FEWEST_TICKS: usize = 3;
/// More than this are a wall.
const MOST_TICKS: usize = 7;

/// Round values from about `low` to about `high`, about `most` of them.
pub(super) fn linear_ticks(low: f64, high: f64, most: u32) -> Vec<f64> {
    let most = most.max(1);
    let rough = (high - low) / f64::from(most);
    let power = libm::pow(10.0, libm::log10(rough).floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= rough)
        .unwrap_or(10.0);
    let step = factor * power;
    let first = (low / step).ceil() as i64;
    let ticks: Vec<f64> = (first..)
        .map(|n| n as f64 * step)
        .take_while(|tick| *tick <= high + step * 1e-9)
        .take(most as usize + 2)
        .collect();
    match ticks.len() {
        0..FEWEST_TICKS if most < 20 => linear_ticks(low, high, most * 2),
        _ => ticks,
    }
}

/// Powers of ten from `low` to `high`; with 2 and 5, or more between them, where these are few.
pub(super) fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (
        libm::log10(low).floor() as i32,
        libm::log10(high).ceil() as i32,
    );
    let step = ((last - first) / 7).max(0) as usize + 1;
    let between = |factors: &[f64]| -> Vec<f64> {
        let powers = (first..=last).step_by(step);
        let ticks = powers.flat_map(|power| {
            let unit = libm::pow(10.0, power.into());
            factors.iter().map(move |factor| factor * unit)
        });
        ticks
            .filter(|tick| (low * 0.999..=high * 1.001).contains(tick))
            .collect()
    };
    let denser: [&[f64]; 2] = [&[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]];
    let mut ticks = between(&[1.0]);
    for factors in denser {
        let more = between(factors);
        if ticks.len() < FEWEST_TICKS || more.len() <= MOST_TICKS && factors.len() == 3 {
            ticks = more;
        }
    }
    match ticks.len() {
        0..FEWEST_TICKS => linear_ticks(low, high, 4),
        _ => ticks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_range() {
        assert_eq!(linear_ticks(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(
            linear_ticks(0.0, 0.7, 4),
            [0.0, 0.2, 0.4, 0.6000000000000001]
        );
        assert_eq!(log_ticks(1.0, 1e4), [1.0, 10.0, 100.0, 1000.0, 1e4]);
        assert_eq!(log_ticks(60.0, 300.0), [70.0, 100.0, 150.0, 200.0, 300.0]);
    }

    #[test]
    fn every_scale_has_three_ticks_and_no_wall_of_them() {
        for low in [1e-3, 0.7, 3.9, 88.0, 4100.0] {
            for ratio in [1.05, 1.3, 2.0, 7.0, 60.0, 1e4, 1e7] {
                let high = low * ratio;
                for ticks in [log_ticks(low, high), linear_ticks(0.0, high, 4)] {
                    assert!((3..=8).contains(&ticks.len()), "{low} {high}: {ticks:?}");
                    assert!(ticks.is_sorted(), "{ticks:?}");
                }
            }
        }
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (63.02, "63"),
            (1500.0, "1.5k"),
            (20e6, "20M"),
            (-2000.0, "-2k"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn numbers_that_differ_look_different() {
        assert_eq!(
            short_apart(&[2879.4, 2881.0, 5.0]),
            ["2.879k", "2.881k", "5"]
        );
        assert_eq!(short_apart(&[1.5, 1.5, 20.0]), ["1.5", "1.5", "20"]);
        assert_eq!(short_apart(&[]), Vec::<String>::new());
    }

    #[test]
    fn rows_break_between_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(
            wrap("incomprehensibilities are", 8),
            ["incomprehensibilities", "are"]
        );
    }

    #[test]
    fn text_cannot_break_out() {
        assert_eq!(
            escape("<a href=\"x\">&"),
            "&lt;a href=&quot;x&quot;&gt;&amp;"
        );
        let svg = Svg::new("<script>", 100.0).finish(10.0);
        assert!(!svg.contains("<script"));
    }
}
