//! Read, Write and Dataset Management: the command dwords of the NVM command set.

use super::entry::Sqe;
use super::layout::layout;
use super::status::StatusCode;

/// Opcodes of the NVM command set (NVM Command Set specification, Opcodes for NVM Commands).
pub mod opcode {
    /// Flush.
    pub const FLUSH: u8 = 0x00;
    /// Write.
    pub const WRITE: u8 = 0x01;
    /// Read.
    pub const READ: u8 = 0x02;
    /// Dataset Management.
    pub const DATASET_MANAGEMENT: u8 = 0x09;
}

/// The dwords of a Read or a Write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadWrite {
    /// Starting LBA (SLBA), CDW10 and CDW11.
    pub slba: u64,
    /// Number of Logical Blocks (NLB), CDW12 bits 15:0: zero-based.
    pub nlb: u16,
    /// Directive Type (DTYPE), CDW12 bits 23:20; Write only.
    pub dtype: u8,
    /// Protection Information (PRINFO), CDW12 bits 29:26.
    pub prinfo: u8,
    /// Force Unit Access (FUA), CDW12 bit 30.
    pub fua: bool,
    /// Limited Retry (LR), CDW12 bit 31.
    pub lr: bool,
    /// Dataset Management (DSM), CDW13 bits 7:0.
    pub dsm: DsmByte,
    /// Directive Specific (DSPEC), CDW13 bits 31:16; Write only.
    pub dspec: u16,
}

impl ReadWrite {
    /// The dwords of a command.
    pub const fn parse(sqe: &Sqe) -> ReadWrite {
        ReadWrite {
            slba: sqe.cdw10 as u64 | (sqe.cdw11 as u64) << 32,
            nlb: sqe.cdw12 as u16,
            dtype: (sqe.cdw12 >> 20) as u8 & 0xF,
            prinfo: (sqe.cdw12 >> 26) as u8 & 0xF,
            fua: sqe.cdw12 & 1 << 30 != 0,
            lr: sqe.cdw12 & 1 << 31 != 0,
            dsm: DsmByte(sqe.cdw13 as u8),
            dspec: (sqe.cdw13 >> 16) as u16,
        }
    }

    /// An entry with these dwords.
    pub fn encode(&self, opcode: u8, cid: u16, nsid: u32) -> Sqe {
        Sqe {
            opcode,
            cid,
            nsid,
            cdw10: self.slba as u32,
            cdw11: (self.slba >> 32) as u32,
            cdw12: u32::from(self.nlb)
                | u32::from(self.dtype & 0xF) << 20
                | u32::from(self.prinfo & 0xF) << 26
                | u32::from(self.fua) << 30
                | u32::from(self.lr) << 31,
            cdw13: u32::from(self.dsm.0) | u32::from(self.dspec) << 16,
            ..Sqe::default()
        }
    }
}

/// The DSM field of a Read or a Write, CDW13 bits 7:0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DsmByte(pub u8);

impl DsmByte {
    /// Access frequency 3h: infrequent writes, frequent reads.
    pub const AF_READ_MOSTLY: u8 = 3;

    /// From its fields: access frequency 3:0, access latency 5:4, sequential request 6.
    pub const fn new(frequency: u8, latency: u8, sequential: bool) -> DsmByte {
        DsmByte(frequency & 0xF | (latency & 0x3) << 4 | (sequential as u8) << 6)
    }

    /// Access Frequency, bits 3:0: 0 none, 1 typical, 2 infrequent both, 3 infrequent writes and
    /// frequent reads, 4 frequent writes and infrequent reads, 5 frequent both, 6 one-time read,
    /// 7 speculative read, 8 will be overwritten soon.
    pub const fn frequency(self) -> u8 {
        self.0 & 0xF
    }

    /// Access Latency, bits 5:4: 0 none, 1 longer is acceptable, 2 typical, 3 smallest possible.
    pub const fn latency(self) -> u8 {
        self.0 >> 4 & 0x3
    }

    /// Sequential Request, bit 6.
    pub const fn sequential(self) -> bool {
        self.0 & 1 << 6 != 0
    }

    /// Incompressible, bit 7.
    pub const fn incompressible(self) -> bool {
        self.0 & 1 << 7 != 0
    }
}

layout! {
    /// One range of a Dataset Management command (NVM Command Set specification, Range Definition).
    pub struct DsmRange, 16 bytes {
        /// Context Attributes, bytes 3:0.
        attributes: u32 = 0,
        /// Length in Logical Blocks, bytes 7:4: a count, not zero-based.
        length: u32 = 4,
        /// Starting LBA, bytes 15:8.
        slba: u64 = 8,
    }
}

impl DsmRange {
    /// Context attributes: access frequency 3:0, access latency 5:4, sequential read range 8,
    /// sequential write range 9, write prepare 10, command access size 31:24.
    pub const fn attributes_of(
        frequency: u8,
        latency: u8,
        sequential_read: bool,
        sequential_write: bool,
        write_prepare: bool,
        access_lbas: u8,
    ) -> u32 {
        (frequency & 0xF) as u32
            | ((latency & 0x3) as u32) << 4
            | (sequential_read as u32) << 8
            | (sequential_write as u32) << 9
            | (write_prepare as u32) << 10
            | (access_lbas as u32) << 24
    }

    /// Access Frequency (AF), bits 3:0.
    pub const fn frequency(&self) -> u8 {
        self.attributes as u8 & 0xF
    }

    /// Access Latency (AL), bits 5:4.
    pub const fn latency(&self) -> u8 {
        self.attributes as u8 >> 4 & 0x3
    }

    /// Sequential Read Range (SR), bit 8.
    pub const fn sequential_read(&self) -> bool {
        self.attributes & 1 << 8 != 0
    }

    /// Sequential Write Range (SW), bit 9.
    pub const fn sequential_write(&self) -> bool {
        self.attributes & 1 << 9 != 0
    }

    /// Write Prepare (WP), bit 10.
    pub const fn write_prepare(&self) -> bool {
        self.attributes & 1 << 10 != 0
    }

    /// Command Access Size, bits 31:24: logical blocks of one command; zero says nothing.
    pub const fn access_lbas(&self) -> u8 {
        (self.attributes >> 24) as u8
    }
}

/// The dwords and the ranges of a Dataset Management command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetManagement {
    /// Attribute – Integral Dataset for Read (IDR), CDW11 bit 0.
    pub idr: bool,
    /// Attribute – Integral Dataset for Write (IDW), CDW11 bit 1.
    pub idw: bool,
    /// Attribute – Deallocate (AD), CDW11 bit 2.
    pub ad: bool,
    /// The ranges: 1 to [`DatasetManagement::MAX_RANGES`].
    pub ranges: Vec<DsmRange>,
}

impl DatasetManagement {
    /// Number of Ranges (NR), CDW10 bits 7:0, is zero-based.
    pub const MAX_RANGES: usize = 256;

    /// The dwords of `sqe` with its data; a buffer too short for the ranges is refused.
    pub fn parse(sqe: &Sqe, data: &[u8]) -> Result<DatasetManagement, StatusCode> {
        let count = (sqe.cdw10 & 0xFF) as usize + 1;
        let data = data.get(..count * DsmRange::BYTES);
        let ranges = data.ok_or(StatusCode::DATA_TRANSFER_ERROR)?;
        Ok(DatasetManagement {
            idr: sqe.cdw11 & 1 != 0,
            idw: sqe.cdw11 & 1 << 1 != 0,
            ad: sqe.cdw11 & 1 << 2 != 0,
            ranges: ranges
                .chunks_exact(DsmRange::BYTES)
                .filter_map(|range| range.first_chunk().map(DsmRange::parse))
                .collect(),
        })
    }

    /// The entry and its data. At most [`DatasetManagement::MAX_RANGES`] ranges, at least one.
    pub fn encode(&self, cid: u16, nsid: u32) -> (Sqe, Vec<u8>) {
        let ranges = &self.ranges[..self.ranges.len().min(DatasetManagement::MAX_RANGES)];
        let sqe = Sqe {
            opcode: opcode::DATASET_MANAGEMENT,
            cid,
            nsid,
            cdw10: ranges.len().saturating_sub(1) as u32,
            cdw11: u32::from(self.idr) | u32::from(self.idw) << 1 | u32::from(self.ad) << 2,
            ..Sqe::default()
        };
        (sqe, ranges.iter().flat_map(DsmRange::encode).collect())
    }
}
