//! Queue entries: Submission Queue Entry and Completion Queue Entry.

use super::layout::layout;
use super::status::StatusCode;

layout! {
    /// Submission Queue Entry (Base specification, Common Command Format).
    pub struct Sqe, 64 bytes {
        /// Opcode (OPC), CDW0 bits 7:0.
        opcode: u8 = 0,
        /// Fused operation (FUSE), CDW0 bits 9:8, and PRP or SGL (PSDT), CDW0 bits 15:14.
        flags: u8 = 1,
        /// Command Identifier (CID), CDW0 bits 31:16.
        cid: u16 = 2,
        /// Namespace Identifier (NSID), bytes 7:4.
        nsid: u32 = 4,
        /// Command Dword 2, bytes 11:8.
        cdw2: u32 = 8,
        /// Command Dword 3, bytes 15:12.
        cdw3: u32 = 12,
        /// Metadata Pointer (MPTR), bytes 23:16.
        mptr: u64 = 16,
        /// Data Pointer (DPTR): PRP Entry 1, bytes 31:24.
        prp1: u64 = 24,
        /// Data Pointer (DPTR): PRP Entry 2, bytes 39:32.
        prp2: u64 = 32,
        /// Command Dword 10, bytes 43:40.
        cdw10: u32 = 40,
        /// Command Dword 11, bytes 47:44.
        cdw11: u32 = 44,
        /// Command Dword 12, bytes 51:48.
        cdw12: u32 = 48,
        /// Command Dword 13, bytes 55:52.
        cdw13: u32 = 52,
        /// Command Dword 14, bytes 59:56.
        cdw14: u32 = 56,
        /// Command Dword 15, bytes 63:60.
        cdw15: u32 = 60,
    }
}

layout! {
    /// Completion Queue Entry (Base specification, Common Completion Queue Entry Layout).
    pub struct Cqe, 16 bytes {
        /// Command specific, Dword 0.
        dw0: u32 = 0,
        /// Command specific, Dword 1.
        dw1: u32 = 4,
        /// SQ Head Pointer (SQHD), Dword 2 bits 15:0.
        sqhd: u16 = 8,
        /// SQ Identifier (SQID), Dword 2 bits 31:16.
        sqid: u16 = 10,
        /// Command Identifier (CID), Dword 3 bits 15:0.
        cid: u16 = 12,
        /// Phase Tag (P), Dword 3 bit 16, and Status, bits 31:17.
        status: u16 = 14,
    }
}

impl Sqe {
    /// Whether the entry is part of a fused operation: CDW0 bits 9:8.
    pub const fn is_fused(&self) -> bool {
        self.flags & 0x3 != 0
    }
}

impl Cqe {
    /// The status field's raw value for `code`; the phase tag is separate.
    pub const fn status_of(code: StatusCode, phase: bool) -> u16 {
        code.to_field() << 1 | phase as u16
    }

    /// Phase Tag (P), Dword 3 bit 16.
    pub const fn phase(&self) -> bool {
        self.status & 1 != 0
    }

    /// Status Code and Status Code Type: Dword 3 bits 24:17 and 27:25.
    pub const fn status_code(&self) -> StatusCode {
        StatusCode {
            sct: (self.status >> 9) as u8 & 0x7,
            sc: (self.status >> 1) as u8,
        }
    }

    /// Do Not Retry (DNR), Dword 3 bit 31.
    pub const fn do_not_retry(&self) -> bool {
        self.status & 1 << 15 != 0
    }
}
