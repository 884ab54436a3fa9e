//! Charts and pages: of anything, of a run, of a calibration.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod calibration;
pub mod chart;
mod figure;
mod measured;
mod page;
mod run;
mod style;
mod svg;
mod timeline;

pub use calibration::calibration_page;
pub use figure::figure_file;
pub use measured::{MEASURED_CAPTION, measured_charts};
pub use page::{Fact, Origin, Page};
pub use run::run_page;
pub use timeline::FoundTimeline;
