//! Commands and completions.

use super::wire::io::DsmByte;
use super::{Directive, NamespaceId};
use crate::engine::Time;

/// What a command asks for. Discriminants are the NVM command set's opcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// Closes every open wordline of the device and waits for its programs.
    Flush = 0x00,
    /// Writes a range.
    Write = 0x01,
    /// Reads a range.
    Read = 0x02,
    /// Dataset management with the deallocate attribute, one range.
    Deallocate = 0x09,
}

impl Opcode {
    /// The opcode with this number, if the device knows it.
    pub const fn from_u8(value: u8) -> Option<Opcode> {
        match value {
            0x00 => Some(Opcode::Flush),
            0x01 => Some(Opcode::Write),
            0x02 => Some(Opcode::Read),
            0x09 => Some(Opcode::Deallocate),
            _ => None,
        }
    }
}

/// One command, as parsed from its submission queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// What to do.
    pub opcode: Opcode,
    /// The namespace it addresses.
    pub nsid: NamespaceId,
    /// First logical block.
    pub slba: u64,
    /// Number of logical blocks: a count, not zero-based as on the wire. Ignored by a flush.
    pub nlb: u32,
    /// How the data will be read, or with what it belongs; only a write may carry one.
    pub directive: Directive,
    /// The DSM field of a read or a write: how the data will be used. On a write, sequential with
    /// [frequent reads](DsmByte::AF_READ_MOSTLY) is a read pattern.
    pub dsm: DsmByte,
    /// Returned in the completion; the device does not look at it.
    pub tag: u64,
}

impl Command {
    /// A read of `nlb` logical blocks from `slba`.
    pub const fn read(nsid: NamespaceId, slba: u64, nlb: u32, tag: u64) -> Command {
        Command {
            opcode: Opcode::Read,
            nsid,
            slba,
            nlb,
            directive: Directive::NONE,
            dsm: DsmByte(0),
            tag,
        }
    }

    /// A write of `nlb` logical blocks from `slba`.
    pub const fn write(
        nsid: NamespaceId,
        slba: u64,
        nlb: u32,
        directive: Directive,
        tag: u64,
    ) -> Command {
        Command {
            opcode: Opcode::Write,
            nsid,
            slba,
            nlb,
            directive,
            dsm: DsmByte(0),
            tag,
        }
    }

    /// The same command with a DSM field.
    pub const fn with_dsm(self, dsm: DsmByte) -> Command {
        Command { dsm, ..self }
    }

    /// A deallocation of `nlb` logical blocks from `slba`.
    pub const fn deallocate(nsid: NamespaceId, slba: u64, nlb: u32, tag: u64) -> Command {
        Command {
            opcode: Opcode::Deallocate,
            nsid,
            slba,
            nlb,
            directive: Directive::NONE,
            dsm: DsmByte(0),
            tag,
        }
    }

    /// A flush.
    pub const fn flush(nsid: NamespaceId, tag: u64) -> Command {
        Command {
            opcode: Opcode::Flush,
            nsid,
            slba: 0,
            nlb: 0,
            directive: Directive::NONE,
            dsm: DsmByte(0),
            tag,
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It did what it was asked to.
    Success,
    /// The device has no room for the pages the write would have mapped. Deallocating makes room.
    CapacityExceeded,
}

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The command's tag.
    pub tag: u64,
    /// What it did.
    pub opcode: Opcode,
    /// How it ended.
    pub status: Status,
    /// When it was submitted.
    pub submitted: Time,
    /// When it completed.
    pub completed: Time,
}

impl Completion {
    /// Time from submission to completion.
    pub fn latency(&self) -> Time {
        self.completed - self.submitted
    }
}
