//! Parts of reports: latency histograms, human units, text tables, CSV, JSON, charts, pages.
//!
//! Results come in as numbers; what goes out is text. Nothing here knows what was run.

pub mod chart;
mod figure;
mod page;
mod style;
mod svg;
mod timeline;

pub use figure::figure_file;
pub use page::{Origin, Page};
pub use timeline::FoundTimeline;
