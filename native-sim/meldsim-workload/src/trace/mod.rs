//! Recorded requests: MQSim's traces, those of Microsoft Research Cambridge, and hdfs-meld's own.
//!
//! ```text
//!   file --decompressed--> lines --TraceReader--> Records --Replay, Volume--> load driver --> Device
//! ```
//!
//! A trace is read line by line and never held: memory does not grow with its length.

mod formats;
mod groups;
mod options;
mod place;
mod reader;
mod replay;
mod text;

pub use super::error::TraceError;
pub use formats::{Extent, HEADER as MELD_HEADER, Op, Record, TraceFormat};
pub use options::{Assignment, Beyond, ReplayMode, ReplayOptions, parse_speedup};
pub use reader::TraceReader;
pub use replay::Replay;
pub use text::decompressed;
