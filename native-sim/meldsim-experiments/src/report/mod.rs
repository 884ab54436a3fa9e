//! Results for people and programs: latency histograms, human units, text tables, JSON, charts, pages.

pub mod chart;
mod document;
mod histogram;
mod human;
mod json;
mod page;
mod svg;
mod table;

pub use document::Document;
pub use histogram::{LatencyHistogram, LatencySummary};
pub use human::{bytes, count, duration, percent, percent_of, rate_mib_s};
pub use json::json;
pub use page::Page;
pub use svg::{escape, standalone};
pub use table::{Align, Table};
