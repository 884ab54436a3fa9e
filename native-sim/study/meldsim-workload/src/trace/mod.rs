//! Recorded requests: the block traces that papers use, what fio and Linux record, and hdfs-meld's own.
//!
//! ```text
//!   file --decompressed--> Head: format, unit --> lines --TraceReader--> Records --Replay, Volume--> host --> Device
//!                                                                           +----TraceWriter--> another format
//!                                                                           +----Description--> what there is in it
//! ```
//!
//! A trace is read line by line and never held: memory does not grow with its length.

mod describe;
mod footprint;
mod formats;
mod groups;
mod head;
mod options;
mod place;
mod reader;
mod record;
mod replay;
mod text;
mod time;
mod volumes;
mod write;

pub use super::error::TraceError;
pub use describe::{Description, Direction, SizeShare, VolumeShare};
pub use footprint::Footprint;
pub use formats::{Columns, HEADER as MELD_HEADER, PassedOver, TraceFormat};
pub use options::{Assignment, Beyond, ReplayMode, ReplayOptions, parse_speedup};
pub use reader::TraceReader;
pub use record::{Extent, Op, Record};
pub use replay::Replay;
pub use text::decompressed;
pub use time::TimeUnit;
pub use write::{Lost, TraceWriter};
