//! What every experiment is written with: its frame, its claims, its sheets and charts.

pub(crate) use crate::burst::{ExperimentError, Layout, Result};
pub(crate) use crate::claim::{Bound, Change, Claim};
pub(crate) use crate::outcome::{Outcome, size_axis};
pub(crate) use crate::plan::{Cells, Experiment, Options, Planned, Run};
pub(crate) use meldsim_report::chart::{Axis, DotPlot, HeatMap, HeatScale, Line, LineChart};
pub(crate) use meldsim_stats::{Columns, Sheet, bytes};
