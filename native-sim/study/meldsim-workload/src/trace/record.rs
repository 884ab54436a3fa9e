//! One recorded request, whatever the format it was recorded in.

use meldsim::Duration;
use meldsim::nvme::Pattern;

/// What a record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// Reading a range.
    Read,
    /// Writing a range.
    Write,
    /// Making what was written durable.
    Flush,
    /// Giving up a range of a volume.
    Trim,
    /// Giving up a whole block.
    Delete,
    /// Giving up what a block has from the offset on.
    Truncate,
    /// Handing a block's file to a reader whose reads are not recorded.
    Open,
}

impl Op {
    /// Whether it moves data.
    pub fn moves_data(self) -> bool {
        matches!(self, Op::Read | Op::Write)
    }
}

/// What a record's range lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extent {
    /// The volume itself.
    Volume,
    /// A block of HDFS with this identifier: it lies wherever the device has room.
    Block(u64),
}

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Since the first record of the trace.
    pub arrival: Duration,
    /// The volume, an index of [`TraceReader::volumes`](super::TraceReader::volumes).
    pub volume: usize,
    /// What the range lies in.
    pub extent: Extent,
    /// First byte of the range, from the extent's start.
    pub offset: u64,
    /// Bytes of the range; 0 where none is moved.
    pub length: u64,
    /// The operation.
    pub op: Op,
    /// How the data is said to be read; `None` where the trace does not say.
    pub pattern: Option<Pattern>,
    /// For whom, an index of [`TraceReader::clients`](super::TraceReader::clients); `None` where the trace does not say.
    pub client: Option<usize>,
    /// The directory of the block's file; 0 where the trace does not say.
    pub directory: u64,
}
