//! Directive Send and Directive Receive.

use super::entry::Sqe;
use super::identify::IDENTIFY_BYTES;
use super::layout::{Field, layout};

/// Directive types (Base specification, Directive Types).
pub mod dtype {
    /// Identify.
    pub const IDENTIFY: u8 = 0x00;
    /// Streams.
    pub const STREAMS: u8 = 0x01;
    /// Vendor specific: the read-pattern directive of this device.
    pub const READ_PATTERN: u8 = 0x0F;
}

/// Directive operations (DOPER), CDW11 bits 7:0.
pub mod doper {
    /// Identify, Receive: Return Parameters.
    pub const IDENTIFY_PARAMETERS: u8 = 0x01;
    /// Identify, Send: Enable Directive.
    pub const IDENTIFY_ENABLE: u8 = 0x01;
    /// Streams, Receive: Return Parameters.
    pub const STREAMS_PARAMETERS: u8 = 0x01;
    /// Streams, Receive: Get Status.
    pub const STREAMS_STATUS: u8 = 0x02;
    /// Streams, Receive: Allocate Resources.
    pub const STREAMS_ALLOCATE: u8 = 0x03;
    /// Streams, Send: Release Identifier.
    pub const STREAMS_RELEASE_IDENTIFIER: u8 = 0x01;
    /// Streams, Send: Release Resources.
    pub const STREAMS_RELEASE_RESOURCES: u8 = 0x02;
    /// Read pattern, Send: binds the stream in DSPEC to the pattern in CDW12 bits 15:0.
    pub const PATTERN_BIND_STREAM: u8 = 0x01;
    /// Read pattern, Receive: the pattern of every stream, one byte each, from stream 0.
    pub const PATTERN_PARAMETERS: u8 = 0x01;
}

/// The dwords of a Directive Send or a Directive Receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectiveCommand {
    /// Number of Dwords (NUMD), CDW10: zero-based.
    pub numd: u32,
    /// Directive Operation (DOPER), CDW11 bits 7:0.
    pub doper: u8,
    /// Directive Type (DTYPE), CDW11 bits 15:8.
    pub dtype: u8,
    /// Directive Specific (DSPEC), CDW11 bits 31:16.
    pub dspec: u16,
    /// Command Dword 12: the operation's own.
    pub cdw12: u32,
}

impl DirectiveCommand {
    /// The dwords of a command.
    pub const fn parse(sqe: &Sqe) -> DirectiveCommand {
        DirectiveCommand {
            numd: sqe.cdw10,
            doper: sqe.cdw11 as u8,
            dtype: (sqe.cdw11 >> 8) as u8,
            dspec: (sqe.cdw11 >> 16) as u16,
            cdw12: sqe.cdw12,
        }
    }

    /// An entry with these dwords.
    pub fn encode(&self, opcode: u8, cid: u16, nsid: u32) -> Sqe {
        Sqe {
            opcode,
            cid,
            nsid,
            cdw10: self.numd,
            cdw11: u32::from(self.doper) | u32::from(self.dtype) << 8 | u32::from(self.dspec) << 16,
            cdw12: self.cdw12,
            ..Sqe::default()
        }
    }

    /// Identify, Send, Enable Directive: Enable (ENDIR), CDW12 bit 0.
    pub const fn endir(&self) -> bool {
        self.cdw12 & 1 != 0
    }

    /// Identify, Send, Enable Directive: Directive Type (TDTYPE), CDW12 bits 15:8.
    pub const fn tdtype(&self) -> u8 {
        (self.cdw12 >> 8) as u8
    }

    /// Streams, Receive, Allocate Resources: Namespace Streams Requested (NSR), CDW12 bits 15:0.
    pub const fn nsr(&self) -> u16 {
        self.cdw12 as u16
    }
}

layout! {
    /// Identify directive: Return Parameters data structure (Base specification). One bit for each
    /// directive type.
    pub struct DirectiveParameters, 4096 bytes {
        /// Directives Supported, bytes 31:0.
        supported: [u8; 32] = 0,
        /// Directives Enabled, bytes 63:32.
        enabled: [u8; 32] = 32,
        /// Directives Persistent Across Controller Level Resets, bytes 95:64.
        persistent: [u8; 32] = 64,
    }
}

layout! {
    /// Streams directive: Return Parameters data structure (Base specification).
    pub struct StreamsParameters, 32 bytes {
        /// Max Streams Limit (MSL), bytes 1:0.
        msl: u16 = 0,
        /// NVM Subsystem Streams Available (NSSA), bytes 3:2.
        nssa: u16 = 2,
        /// NVM Subsystem Streams Open (NSSO), bytes 5:4.
        nsso: u16 = 4,
        /// NVM Subsystem Stream Capability (NSSC), byte 6.
        nssc: u8 = 6,
        /// Stream Write Size (SWS), bytes 19:16, in logical blocks.
        sws: u32 = 16,
        /// Stream Granularity Size (SGS), bytes 21:20, in units of SWS.
        sgs: u16 = 20,
        /// Namespace Streams Allocated (NSA), bytes 23:22.
        nsa: u16 = 22,
        /// Namespace Streams Open (NSO), bytes 25:24.
        nso: u16 = 24,
    }
}

/// Streams directive: Get Status data structure (Base specification): the Open Stream Count, then
/// the identifiers of the open streams, 16 bits each.
pub fn streams_status(open: impl Iterator<Item = u16>) -> [u8; IDENTIFY_BYTES] {
    let mut bytes = [0; IDENTIFY_BYTES];
    let mut count = 0u16;
    for (id, place) in open.zip(bytes[2..].chunks_exact_mut(2)) {
        id.put(place);
        count += 1;
    }
    count.put(&mut bytes);
    bytes
}
