//! Charts as inline SVG: lines, bars, heat maps. They scale with the page and follow its light or dark colours.
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
mod bar;
mod heat;
mod line;

pub use axis::{Axis, Scale};
pub use bar::BarChart;
pub use heat::{HeatMap, HeatScale};
pub use line::{Line, LineChart};

use super::style::Styles;
use super::svg::LETTER_WIDTH;

/// Width of every chart in its own units; text of size 12 stays readable when this is shown on a telephone's width.
const WIDTH: f64 = 400.0;

/// Room for the longest of the labels.
fn widest(labels: impl IntoIterator<Item = impl AsRef<str>>) -> f64 {
    let letters = labels
        .into_iter()
        .map(|label| label.as_ref().chars().count());
    LETTER_WIDTH * letters.max().unwrap_or(0) as f64
}

/// A chart of any kind.
#[derive(Clone, Debug)]
pub enum Chart {
    /// Lines.
    Line(LineChart),
    /// Bars.
    Bar(BarChart),
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
            Chart::Bar(chart) => chart.draw(styles),
            Chart::Heat(chart) => chart.to_svg(),
        }
    }

    /// Another view of the same values, with its name, where one can help.
    pub(super) fn other_view(&self, styles: &mut Styles) -> Option<(&'static str, String)> {
        match self {
            Chart::Line(chart) => chart.other_view(styles),
            Chart::Bar(_) | Chart::Heat(_) => None,
        }
    }

    /// What a reader has to know to read it.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Chart::Line(chart) => chart.note(),
            Chart::Bar(_) | Chart::Heat(_) => None,
        }
    }
}

impl From<LineChart> for Chart {
    fn from(chart: LineChart) -> Chart {
        Chart::Line(chart)
    }
}

impl From<BarChart> for Chart {
    fn from(chart: BarChart) -> Chart {
        Chart::Bar(chart)
    }
}

impl From<HeatMap> for Chart {
    fn from(chart: HeatMap) -> Chart {
        Chart::Heat(chart)
    }
}
