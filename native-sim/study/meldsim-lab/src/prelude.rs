//! What every experiment is written with: its frame, its claims, its sheets and charts.

pub use crate::burst::{ExperimentError, Layout, Result};
pub use crate::claim::{Bound, Change, Claim};
pub use crate::outcome::{Outcome, size_axis};
pub use crate::plan::{Cells, Experiment, Options, Planned, Run};
pub use meldsim_report::chart::{Axis, DotPlot, HeatMap, HeatScale, Line, LineChart};
pub use meldsim_stats::{Columns, Sheet, bytes};
