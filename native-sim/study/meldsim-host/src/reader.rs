//! One reader of one block, front to back, with so many bytes outstanding.

use super::{LoadError, Source, Tally, Until, WarmUp};
use meldsim::device::Device;
use meldsim::nvme::{Command, Directive};

/// An HDFS packet: a request of the sliding reader.
const PACKET_BYTES: u64 = 64 << 10;

/// How a reader keeps its window outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// It asks for the next window when all of one has come.
    Waiting,
    /// It asks for the next packet whenever one has come.
    Sliding,
}

impl Reader {
    /// Bytes of a request of the sliding reader.
    pub const PACKET_BYTES: u64 = PACKET_BYTES;

    /// Reads a block that lies on a fresh device as `directive` says. The window is of whole packets.
    pub fn read_block(
        self,
        device: &mut Device,
        directive: Directive,
        block_bytes: u64,
        window_bytes: u64,
    ) -> Result<Tally, LoadError> {
        let profile = device.profile();
        let lba_bytes = profile.controller.lba_size.0;
        let wordline_bytes = profile.geometry.page_size.0 * profile.timing.read.len() as u64;
        let data_bytes = block_bytes.next_multiple_of(wordline_bytes);
        let nsid = device.create_namespace(data_bytes)?;
        device.preload(nsid, 0, data_bytes / lba_bytes, directive)?;
        let (request_bytes, depth) = match self {
            Reader::Waiting => (window_bytes, 1),
            Reader::Sliding => (PACKET_BYTES, window_bytes / PACKET_BYTES),
        };
        let nlb = request_bytes / lba_bytes;
        let read = |n| Command::read(nsid, n * nlb, nlb as u32, 0);
        let block = Source::new(depth, (0..block_bytes / request_bytes).map(read));
        block.measure(device, WarmUp::NONE, Until::End)
    }
}
