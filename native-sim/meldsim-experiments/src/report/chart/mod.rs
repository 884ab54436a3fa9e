//! Charts as inline SVG: lines, bars, heat maps. They scale with the page and follow its light or dark colours.
//!
//! ```
//! use meldsim_experiments::report::chart::{Axis, Line, LineChart};
//!
//! let chart = LineChart {
//!     title: "Latency".to_owned(),
//!     x: Axis::linear("offered load, k requests/s"),
//!     y: Axis::log("p99, us"),
//!     lines: vec![Line::new("CWDP", vec![(100.0, 81.0), (200.0, 350.0)])],
//! };
//! assert!(chart.to_svg().starts_with("<svg class=\"chart\""));
//! ```

mod bar;
mod heat;
mod line;

pub use bar::BarChart;
pub use heat::{HeatMap, HeatScale};
pub use line::{Axis, Line, LineChart, Scale};

/// Width of every chart in its own units; text of size 12 stays readable when this is shown on a telephone's width.
const WIDTH: f64 = 440.0;
/// Height of the title's row.
const TITLE_HEIGHT: f64 = 24.0;
