//! Recorded requests: MQSim's traces, those of Microsoft Research Cambridge, and hdfs-meld's own.
//!
//! A trace is read line by line and never held: memory does not grow with its length. [`TraceReader`] gives [`Record`]s,
//! [`Replay`] runs them on a device.
//!
//! | format | a line |
//! | --- | --- |
//! | `mqsim` | `arrival-ns device first-sector sectors op`, with op 0 for a write and 1 for a read; sectors of 512 B |
//! | `msr` | `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, timestamps in 100 ns, Type Read or Write |
//! | `meld` | `time_ns,volume,block,offset,length,op,pattern,client` after the lines `# meld-trace 2` and of the columns' names |

mod compressed;
mod error;
mod fields;
mod line;
mod meld;
mod mqsim;
mod msr;
mod options;
mod place;
mod reader;
mod replay;

pub use compressed::decompressed;
pub use error::TraceError;
pub use meld::HEADER as MELD_HEADER;
pub use options::{Beyond, ReplayMode, ReplayOptions, parse_speedup};
pub use reader::TraceReader;
pub use replay::Replay;

use super::result::TraceSummary;
use meldsim::engine::Time;
use meldsim::nvme::Pattern;

/// The formats of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// MQSim's.
    Mqsim,
    /// Microsoft Research Cambridge's.
    Msr,
    /// hdfs-meld's.
    Meld,
}

/// What a record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Reading a range.
    Read,
    /// Writing a range.
    Write,
    /// Making what was written durable.
    Flush,
    /// Giving up a whole block.
    Delete,
    /// Giving up what a block has from the offset on.
    Truncate,
    /// Handing a block's file to a reader that nobody sees.
    Open,
}

impl TraceSummary {
    /// Counts a record that moves no data.
    fn count(&mut self, op: Op) {
        match op {
            Op::Read | Op::Write => {}
            Op::Flush => self.flushes += 1,
            Op::Delete => self.deletions += 1,
            Op::Truncate => self.truncations += 1,
            Op::Open => self.opens += 1,
        }
    }
}

/// What a record's range lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The volume itself.
    Volume,
    /// A block of HDFS with this identifier: it lies wherever the device has room.
    Block(u64),
}

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Since the first record of the trace.
    pub arrival: Time,
    /// The volume, an index of [`TraceReader::volumes`].
    pub volume: usize,
    /// What the range lies in.
    pub extent: Extent,
    /// First byte of the range, from the extent's start.
    pub offset: u64,
    /// Bytes of the range; 0 where none is moved.
    pub length: u64,
    /// What is asked for.
    pub op: Op,
    /// How the data is said to be read; `None` where the trace does not say.
    pub pattern: Option<Pattern>,
}
