//! Commands, completions, and the namespaces they address.
//!
//! Numbers and names are those of the NVM Command Set specification 1.0; counts of logical blocks are
//! counts, where the wire has them zero-based.

use std::fmt;

use super::dataset::DsmByte;
use super::directive::Directive;
use super::status::Status;
use super::zone::ZoneAction;
use crate::engine::{Duration, Instant};
use crate::opcode::Opcode;

/// Identifies a namespace; the first one is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamespaceId(pub u32);

impl fmt::Display for NamespaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A namespace: a thin address space over the medium, with what Identify Namespace tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its identifier.
    pub id: NamespaceId,
    /// Bytes of one logical block.
    pub lba_bytes: u64,
    /// Size in logical blocks (NSZE). Thin provisioned: it may exceed the device's capacity.
    pub size_lbas: u64,
    /// Bytes of one flash page: the smallest write that needs no read-modify-write.
    pub page_bytes: u64,
    /// Bytes of one wordline: the preferred granularity of sequential reads and writes.
    pub wordline_bytes: u64,
}

impl Namespace {
    /// Its size in flash pages; the last may be covered in part.
    pub fn pages(&self) -> u64 {
        (self.size_lbas * self.lba_bytes).div_ceil(self.page_bytes)
    }
}

/// One command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// What to do.
    pub opcode: Opcode,
    /// The namespace it addresses.
    pub nsid: NamespaceId,
    /// First logical block; of its zone for what manages a zone or appends to one.
    pub slba: u64,
    /// Number of logical blocks: a count, not zero-based as on the wire. Ignored by a flush and by what manages a zone.
    pub nlb: u32,
    /// How the data will be read, or with what it belongs; only a write may carry one.
    pub directive: Directive,
    /// The DSM field of a read or a write: how the data will be used. On a write, sequential with
    /// [frequent reads](DsmByte::AF_READ_MOSTLY) is a read pattern.
    pub dsm: DsmByte,
    /// What Zone Management Send does; others have none.
    pub zone_action: Option<ZoneAction>,
    /// It does so to all zones that the action [selects](ZoneAction::selects), and has no logical block.
    pub select_all: bool,
    /// Returned in the completion; the device does not look at it.
    pub tag: u64,
}

impl Command {
    const fn new(opcode: Opcode, nsid: NamespaceId, slba: u64, nlb: u32, tag: u64) -> Command {
        Command {
            opcode,
            nsid,
            slba,
            nlb,
            directive: Directive::NONE,
            dsm: DsmByte(0),
            zone_action: None,
            select_all: false,
            tag,
        }
    }

    /// A read of `nlb` logical blocks from `slba`.
    pub const fn read(nsid: NamespaceId, slba: u64, nlb: u32, tag: u64) -> Command {
        Command::new(Opcode::Read, nsid, slba, nlb, tag)
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
            directive,
            ..Command::new(Opcode::Write, nsid, slba, nlb, tag)
        }
    }

    /// The same command with a DSM field.
    pub const fn with_dsm(self, dsm: DsmByte) -> Command {
        Command { dsm, ..self }
    }

    /// A deallocation of `nlb` logical blocks from `slba`.
    pub const fn deallocate(nsid: NamespaceId, slba: u64, nlb: u32, tag: u64) -> Command {
        Command::new(Opcode::Deallocate, nsid, slba, nlb, tag)
    }

    /// An append of `nlb` logical blocks to the zone that begins with `zslba`. Its completion returns where they are.
    pub const fn append(nsid: NamespaceId, zslba: u64, nlb: u32, tag: u64) -> Command {
        Command::new(Opcode::Append, nsid, zslba, nlb, tag)
    }

    /// Changes the state of the zone that begins with `zslba`.
    pub const fn manage_zone(
        nsid: NamespaceId,
        zslba: u64,
        action: ZoneAction,
        tag: u64,
    ) -> Command {
        Command {
            zone_action: Some(action),
            ..Command::new(Opcode::ManageZone, nsid, zslba, 0, tag)
        }
    }

    /// The same of all zones of the namespace whose state allows it.
    pub const fn manage_all_zones(nsid: NamespaceId, action: ZoneAction, tag: u64) -> Command {
        Command {
            select_all: true,
            ..Command::manage_zone(nsid, 0, action, tag)
        }
    }

    /// A flush.
    pub const fn flush(nsid: NamespaceId, tag: u64) -> Command {
        Command::new(Opcode::Flush, nsid, 0, 0, tag)
    }
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
    /// What it returns, where it returns anything: dwords 0 and 1 of the completion queue entry.
    pub result: u64,
    /// When it was submitted.
    pub submitted: Instant,
    /// When it completed.
    pub completed: Instant,
}

impl Completion {
    /// Time from submission to completion.
    pub fn latency(&self) -> Duration {
        self.completed - self.submitted
    }
}
