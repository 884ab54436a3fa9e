//! Results for people and programs: latency histograms, human units, text tables, JSON.

mod histogram;
mod human;
mod json;
mod table;

pub use histogram::{LatencyHistogram, LatencySummary};
pub use human::{bytes, count, duration, percent, rate_mib_s};
pub use json::json;
pub use table::{Align, Table};
