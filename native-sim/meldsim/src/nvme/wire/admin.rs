//! Admin commands: opcodes, features, logs, queue creation.

use super::entry::Sqe;

/// Opcodes of admin commands (Base specification, Opcodes for Admin Commands).
pub mod opcode {
    /// Delete I/O Submission Queue.
    pub const DELETE_IO_SQ: u8 = 0x00;
    /// Create I/O Submission Queue.
    pub const CREATE_IO_SQ: u8 = 0x01;
    /// Get Log Page.
    pub const GET_LOG_PAGE: u8 = 0x02;
    /// Delete I/O Completion Queue.
    pub const DELETE_IO_CQ: u8 = 0x04;
    /// Create I/O Completion Queue.
    pub const CREATE_IO_CQ: u8 = 0x05;
    /// Identify.
    pub const IDENTIFY: u8 = 0x06;
    /// Set Features.
    pub const SET_FEATURES: u8 = 0x09;
    /// Get Features.
    pub const GET_FEATURES: u8 = 0x0A;
    /// Directive Send.
    pub const DIRECTIVE_SEND: u8 = 0x19;
    /// Directive Receive.
    pub const DIRECTIVE_RECEIVE: u8 = 0x1A;
}

/// Feature identifiers (FID), CDW10 bits 7:0 of Set Features and Get Features.
pub mod feature {
    /// Arbitration.
    pub const ARBITRATION: u8 = 0x01;
    /// Number of Queues.
    pub const NUMBER_OF_QUEUES: u8 = 0x07;
    /// Predictable Latency Mode Config: NVM set in CDW11 bits 15:0, enable in CDW12 bit 0.
    pub const PREDICTABLE_LATENCY_CONFIG: u8 = 0x13;
    /// Predictable Latency Mode Window: NVM set in CDW11 bits 15:0, window in CDW12 bits 2:0.
    pub const PREDICTABLE_LATENCY_WINDOW: u8 = 0x14;
}

/// Log page identifiers (LID), CDW10 bits 7:0 of Get Log Page.
pub mod log {
    /// Endurance Group Information: the group in the Log Specific Identifier.
    pub const ENDURANCE_GROUP: u8 = 0x09;
    /// Predictable Latency Per NVM Set: the set in the Log Specific Identifier.
    pub const PREDICTABLE_LATENCY: u8 = 0x0A;
}

/// The dwords of Get Log Page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GetLogPage {
    /// Log Page Identifier (LID), CDW10 bits 7:0.
    pub lid: u8,
    /// Retain Asynchronous Event (RAE), CDW10 bit 15: what was reported stays to be reported.
    pub retain: bool,
    /// Number of Dwords, zero-based: NUMDL in CDW10 bits 31:16, NUMDU in CDW11 bits 15:0.
    pub numd: u32,
    /// Log Specific Identifier (LSI), CDW11 bits 31:16.
    pub lsi: u16,
    /// Log Page Offset, in bytes: LPOL in CDW12, LPOU in CDW13.
    pub offset: u64,
}

impl GetLogPage {
    /// The dwords of a command.
    pub const fn parse(sqe: &Sqe) -> GetLogPage {
        GetLogPage {
            lid: sqe.cdw10 as u8,
            retain: sqe.cdw10 & 1 << 15 != 0,
            numd: sqe.cdw10 >> 16 | sqe.cdw11 << 16,
            lsi: (sqe.cdw11 >> 16) as u16,
            offset: sqe.cdw12 as u64 | (sqe.cdw13 as u64) << 32,
        }
    }

    /// An entry with these dwords.
    pub fn encode(&self, cid: u16) -> Sqe {
        Sqe {
            opcode: opcode::GET_LOG_PAGE,
            cid,
            cdw10: u32::from(self.lid) | u32::from(self.retain) << 15 | self.numd << 16,
            cdw11: self.numd >> 16 | u32::from(self.lsi) << 16,
            cdw12: self.offset as u32,
            cdw13: (self.offset >> 32) as u32,
            ..Sqe::default()
        }
    }
}

/// Arbitration feature (Base specification, Feature 01h), CDW11 of Set Features, Dword 0 of Get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArbitrationFeature {
    /// Arbitration Burst (AB), bits 2:0: a power of two of commands; 7 no limit.
    pub burst: u8,
    /// Low Priority Weight (LPW), bits 15:8: zero-based.
    pub low: u8,
    /// Medium Priority Weight (MPW), bits 23:16: zero-based.
    pub medium: u8,
    /// High Priority Weight (HPW), bits 31:24: zero-based.
    pub high: u8,
}

impl ArbitrationFeature {
    /// No limit to the burst.
    pub const NO_LIMIT: u8 = 7;

    /// From the dword.
    pub const fn parse(dword: u32) -> ArbitrationFeature {
        ArbitrationFeature {
            burst: dword as u8 & 0x7,
            low: (dword >> 8) as u8,
            medium: (dword >> 16) as u8,
            high: (dword >> 24) as u8,
        }
    }

    /// The dword.
    pub const fn encode(&self) -> u32 {
        (self.burst & 0x7) as u32
            | (self.low as u32) << 8
            | (self.medium as u32) << 16
            | (self.high as u32) << 24
    }
}

/// The dwords of Create I/O Submission Queue and Create I/O Completion Queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreateQueue {
    /// Queue Identifier (QID), CDW10 bits 15:0.
    pub qid: u16,
    /// Queue Size (QSIZE), CDW10 bits 31:16: zero-based.
    pub qsize: u16,
    /// Physically Contiguous (PC), CDW11 bit 0.
    pub contiguous: bool,
    /// Submission queue: Queue Priority (QPRIO), CDW11 bits 2:1: 0 urgent, 1 high, 2 medium, 3 low.
    pub priority: u8,
    /// Submission queue: Completion Queue Identifier (CQID), CDW11 bits 31:16.
    pub cqid: u16,
}

impl CreateQueue {
    /// The dwords of a command.
    pub const fn parse(sqe: &Sqe) -> CreateQueue {
        CreateQueue {
            qid: sqe.cdw10 as u16,
            qsize: (sqe.cdw10 >> 16) as u16,
            contiguous: sqe.cdw11 & 1 != 0,
            priority: (sqe.cdw11 >> 1) as u8 & 0x3,
            cqid: (sqe.cdw11 >> 16) as u16,
        }
    }

    /// An entry with these dwords.
    pub fn encode(&self, opcode: u8, cid: u16) -> Sqe {
        Sqe {
            opcode,
            cid,
            cdw10: u32::from(self.qid) | u32::from(self.qsize) << 16,
            cdw11: u32::from(self.contiguous)
                | u32::from(self.priority & 0x3) << 1
                | u32::from(self.cqid) << 16,
            ..Sqe::default()
        }
    }
}
