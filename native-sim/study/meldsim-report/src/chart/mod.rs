//! Charts as inline SVG: lines, dots, heat maps. They scale with the page and follow its light or dark colours.
//!
//! ```
//! use meldsim_report::chart::{Axis, Line, LineChart};
//!
//! let chart = LineChart {
//!     title: "Latency".to_owned(),
//!     x: Axis::linear("offered load, k requests/s"),
//!     y: Axis::log("p99, us"),
//!     lines: vec![Line::new("CWDP", vec![(100.0, 81.0), (200.0, 350.0)])],
//! };
//! assert!(chart.to_svg().starts_with("<svg class=\"chart\""));
//! ```

mod axis;
mod dot;
mod heat;
mod line;

pub use axis::{Axis, Scale};
pub use dot::{Dot, DotPlot};
pub use heat::{HeatMap, HeatScale};
pub use line::{Line, LineChart};

use super::style::Styles;
use super::svg::{LETTER_WIDTH, short};
use meldsim_stats::csv_lines;

/// Width of every chart in its own units; text of size 12 stays readable when this is shown on a telephone's width.
const WIDTH: f64 = 400.0;

/// Room for the longest of the labels.
fn widest(labels: impl IntoIterator<Item = impl AsRef<str>>) -> f64 {
    let letters = labels
        .into_iter()
        .map(|label| label.as_ref().chars().count());
    LETTER_WIDTH * letters.max().unwrap_or(0) as f64
}

/// The one value of these, if there is but one; people see no difference of a thousandth.
fn distinct(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let values = values.filter(|value| value.is_finite());
    let first = values.clone().next()?;
    let mut all = values;
    all.all(|value| (value - first).abs() <= 1e-3 * first.abs())
        .then_some(first)
}

/// A chart of any kind.
#[derive(Clone, Debug)]
pub enum Chart {
    /// Lines.
    Line(LineChart),
    /// Dots.
    Dot(DotPlot),
    /// A grid of values.
    Heat(HeatMap),
}

impl Chart {
    /// The chart as an SVG element, alone.
    pub fn to_svg(&self) -> String {
        self.draw(&mut Styles::default())
    }

    /// The chart as an SVG element of a page whose series have these looks.
    pub(super) fn draw(&self, styles: &mut Styles) -> String {
        match self {
            Chart::Line(chart) => chart.draw(styles),
            Chart::Dot(chart) => chart.draw(styles),
            Chart::Heat(chart) => chart.to_svg(),
        }
    }

    /// What it says, where that is one value for all, and needs no picture; nothing where there is none.
    pub(super) fn in_words(&self) -> Option<String> {
        let (title, unit, lines, only) = match self {
            Chart::Line(chart) => (
                &chart.title,
                &*chart.y.label,
                chart.csv(),
                chart.only_value(),
            ),
            Chart::Dot(chart) => (&chart.title, &*chart.axis, chart.csv(), chart.only_value()),
            Chart::Heat(chart) => (&chart.title, "", chart.csv(), chart.only_value()),
        };
        match (lines.len(), only) {
            (..=1, _) | (_, Some(0.0)) => Some(String::new()),
            (2, _) => None,
            (_, only) => {
                let value = format!("{title}: {} {unit}", short(only?));
                Some(value.trim_end().to_owned() + " everywhere.")
            }
        }
    }

    /// The values, a line each below a header.
    pub(super) fn to_csv(&self) -> String {
        csv_lines(match self {
            Chart::Line(chart) => chart.csv(),
            Chart::Dot(chart) => chart.csv(),
            Chart::Heat(chart) => chart.csv(),
        })
    }

    /// Another view of the same values, with its name, where one can help.
    pub(super) fn other_view(&self, styles: &mut Styles) -> Option<(&'static str, String)> {
        match self {
            Chart::Line(chart) => chart.other_view(styles),
            Chart::Dot(_) | Chart::Heat(_) => None,
        }
    }

    /// What a reader has to know to read it.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Chart::Line(chart) => chart.note(),
            Chart::Dot(_) | Chart::Heat(_) => None,
        }
    }
}

impl From<LineChart> for Chart {
    fn from(chart: LineChart) -> Chart {
        Chart::Line(chart)
    }
}

impl From<DotPlot> for Chart {
    fn from(chart: DotPlot) -> Chart {
        Chart::Dot(chart)
    }
}

impl From<HeatMap> for Chart {
    fn from(chart: HeatMap) -> Chart {
        Chart::Heat(chart)
    }
}
