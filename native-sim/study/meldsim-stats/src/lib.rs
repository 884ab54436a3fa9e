//! Numbers, and how they are shown: latency histograms, units, tables, sheets, CSV, JSON.
//!
//! Results come in as numbers; what goes out is text. Nothing here knows what was run.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod document;
mod histogram;
mod sheet;
mod text;

pub use document::{SCHEMA_VERSION, document, json};
pub use histogram::{LatencyHistogram, LatencySummary, bucket, bucket_values};
pub use sheet::{Cell, Columns, Sheet};
pub use text::{
    Align, Table, bytes, clauses, count, csv, csv_fields, csv_lines, csv_number, duration, percent,
    percent_of, rate_mib_s,
};
