//! What charts are made of: escaped text, shapes, axis ticks, colours. Charts give coordinates, SVG elements come out.

use std::fmt::Write;

/// Colours of the charts, for light and dark surroundings. A page includes it once.
pub(super) const STYLE: &str = "\
:root{--ink:#1b1f24;--soft:#59636e;--grid:#d8dee4;--heat:#1f6feb;--cold:#d9480f;\
--c0:#1f6feb;--c1:#d9480f;--c2:#2b8a3e;--c3:#9c36b5;--c4:#b3780a;--c5:#0b7285;--c6:#c2255c;--c7:#59636e}\
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa5b1;--grid:#333b44;--heat:#58a6ff;--cold:#ff8f4a;\
--c0:#58a6ff;--c1:#ff8f4a;--c2:#56d364;--c3:#d2a8ff;--c4:#e3b341;--c5:#56d4dd;--c6:#ff7eb6;--c7:#9aa5b1}}\
svg.chart{width:100%;height:auto;font:12px system-ui,sans-serif}\
svg.chart text{fill:var(--ink)}svg.chart .soft{fill:var(--soft)}svg.chart .title{font-weight:600;font-size:13px}\
svg.chart .grid{stroke:var(--grid);fill:none}svg.chart .line{fill:none;stroke-width:2;stroke-linejoin:round}\
svg.chart .dashed{stroke-dasharray:5 4}";

/// Width of a letter at the charts' text size, on the generous side.
pub(super) const LETTER_WIDTH: f64 = 8.6;
/// Colours before they repeat.
const COLOURS: usize = 8;

/// The colour of series `index`, as a CSS value.
pub(super) fn colour(index: usize) -> String {
    format!("var(--c{})", index % COLOURS)
}

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

/// An SVG image that grows element by element.
#[derive(Debug)]
pub(super) struct Svg {
    body: String,
    title: String,
    width: f64,
}

/// Where a text is anchored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn new(title: &str, width: f64) -> Svg {
        let mut svg = Svg {
            body: String::new(),
            title: escape(title),
            width,
        };
        svg.text(0.0, 14.0, Anchor::Start, "title", title);
        svg
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
        // Writing to a string cannot fail.
        let _ = write!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>"
        );
    }

    /// Text that is less important than the data.
    pub(super) fn label(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.text(x, y, anchor, "soft", text);
    }

    pub(super) fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64) {
        let _ = write!(
            self.body,
            "<line class=\"grid\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        );
    }

    /// A rectangle of `fill` and `opacity` that shows `tip` when pointed at.
    pub(super) fn rect(&mut self, at: [f64; 4], fill: &str, opacity: f64, tip: &str) {
        let [x, y, width, height] = at;
        let tip = escape(tip);
        let _ = write!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\" fill-opacity=\"{opacity:.2}\"><title>{tip}</title></rect>"
        );
    }

    /// Names of series in rows from `y` on, where there is more than one; returns the height used.
    pub(super) fn legend<'a>(&mut self, y: f64, names: impl Iterator<Item = &'a str>) -> f64 {
        let names: Vec<&str> = names.collect();
        if names.len() < 2 {
            return 0.0;
        }
        let (mut x, mut row) = (0.0, 0.0);
        for (index, name) in names.into_iter().enumerate() {
            let width = 24.0 + LETTER_WIDTH * name.chars().count() as f64;
            if x > 0.0 && x + width > self.width {
                (x, row) = (0.0, row + 1.0);
            }
            let baseline = y + 12.0 + row * 17.0;
            self.rect([x, baseline - 9.0, 10.0, 10.0], &colour(index), 1.0, name);
            self.label(x + 14.0, baseline, Anchor::Start, name);
            x += width;
        }
        (row + 1.0) * 17.0 + 4.0
    }

    pub(super) fn finish(self, height: f64) -> String {
        format!(
            "<svg class=\"chart\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {:.0} {height:.0}\">{}</svg>",
            self.title, self.width, self.body
        )
    }
}

/// A number short enough for an axis: `1.5k`, `20M`, `0.25`.
pub(super) fn short(value: f64) -> String {
    let magnitude = value.abs();
    let (scaled, unit) = match magnitude {
        m if m >= 1e9 => (value / 1e9, "G"),
        m if m >= 1e6 => (value / 1e6, "M"),
        m if m >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = match scaled.abs() {
        s if s >= 100.0 => 0,
        s if s >= 10.0 => 1,
        s if s >= 1.0 => 2,
        _ => 4,
    };
    let text = format!("{scaled:.digits$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    let text = if text == "-0" { "0" } else { text };
    format!("{text}{unit}")
}

/// Round values from about `low` to about `high`, at most `most` + 1.
pub(super) fn linear_ticks(low: f64, high: f64, most: u32) -> Vec<f64> {
    let rough = (high - low) / f64::from(most.max(1));
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= rough)
        .unwrap_or(10.0);
    let step = factor * power;
    let first = (low / step).ceil() as i64;
    (first..)
        .map(|n| n as f64 * step)
        .take_while(|tick| *tick <= high + step * 1e-9)
        .take(most as usize + 2)
        .collect()
}

/// Powers of ten from `low` to `high`, with 2 and 5 between them where there is room.
pub(super) fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let factors: &[f64] = match last - first {
        ..=2 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let step = ((last - first) / 7).max(0) as usize + 1;
    (first..=last)
        .step_by(step)
        .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
        .filter(|tick| (low * 0.999..=high * 1.001).contains(tick))
        .collect()
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
        assert_eq!(log_ticks(1.0, 1000.0), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(log_ticks(60.0, 300.0), [100.0, 200.0]);
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
    fn text_cannot_break_out() {
        assert_eq!(
            escape("<a href=\"x\">&"),
            "&lt;a href=&quot;x&quot;&gt;&amp;"
        );
        let svg = Svg::new("<script>", 100.0).finish(10.0);
        assert!(!svg.contains("<script"));
    }
}
