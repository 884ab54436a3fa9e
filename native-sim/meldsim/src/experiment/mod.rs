//! Experiments: a workload on a device, held against published numbers.
//!
//! Both experiments here reproduce Arpith K, K. Gopinath: "A Case for Melded Pages" (HotStorage'20). They read one burst
//! from a fresh device, with the data laid out normally and melded:
//!
//! ```text
//!   Setup --> Profile --> fresh Device --preload(directive)--> one read at one instant --> time to the last byte
//! ```

mod burst;
mod latency;
mod published;
mod setup;
mod throughput;
mod verdict;

pub use burst::{ExperimentError, Layout, burst_read};
pub use latency::{LatencyCell, LatencyReport, PublishedLatency, melded_latency};
pub use published::SOURCE;
pub use setup::{BusSpeed, Setup};
pub use throughput::{PublishedThroughput, ThroughputCell, ThroughputReport, melded_throughput};
pub use verdict::Verdict;
