//! Flexible Data Placement (FDP): what an endurance group, which is an NVM set here, says of its reclaim units.
//!
//! A write names a reclaim unit handle by its placement identifier (directive type 02h). A reclaim unit is a superblock: data
//! of different handles are written to different ones. NVM Express Base Specification 2.1, Flexible Data Placement.

use std::collections::VecDeque;

use super::command::NamespaceId;
use crate::engine::Instant;

/// Events that each of the two logs keeps: those that fit its page of 4 KiB. Of more, the last ones.
pub const MAX_EVENTS: usize = 63;

/// The FDP Statistics log page (22h). There is no metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FdpStatistics {
    /// Host Bytes with Metadata Written.
    pub host_bytes_written: u64,
    /// Media Bytes with Metadata Written.
    pub media_bytes_written: u64,
    /// Media Bytes Erased.
    pub media_bytes_erased: u64,
}

/// Event Type of an FDP event. Of the others that the standard has, the device gives no occasion: no time limit is set, a
/// controller reset leaves handles as they are, and no reclaim unit is changed before it is full unless the host asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FdpEventType {
    /// The host had a handle refer to another reclaim unit before the last one was full.
    NotFullyWritten = 0x00,
    /// A write named a placement identifier that does not exist; its data went to handle 0.
    InvalidPlacementIdentifier = 0x03,
    /// Data of a reclaim unit were moved to another.
    MediaReallocated = 0x80,
}

impl FdpEventType {
    /// All that the device logs, in the order of their numbers.
    pub const ALL: [FdpEventType; 3] = [
        FdpEventType::NotFullyWritten,
        FdpEventType::InvalidPlacementIdentifier,
        FdpEventType::MediaReallocated,
    ];

    /// Whether it is a host event, or else a controller event.
    pub const fn is_host(self) -> bool {
        (self as u8) < 0x80
    }

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            FdpEventType::NotFullyWritten => "reclaim_unit_not_fully_written",
            FdpEventType::InvalidPlacementIdentifier => "invalid_placement_identifier",
            FdpEventType::MediaReallocated => "media_reallocated",
        }
    }
}

/// An entry of the FDP Events log page (23h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FdpEvent {
    /// What happened.
    pub kind: FdpEventType,
    /// When.
    pub time: Instant,
    /// The placement identifier, where there is one: data that was moved before belongs to none.
    pub pid: Option<u16>,
    /// The namespace, of an event of a command.
    pub nsid: Option<NamespaceId>,
    /// Logical pages: moved, or left unwritten.
    pub pages: u64,
}

/// Both events logs of an endurance group.
#[derive(Clone, Debug, Default)]
pub(crate) struct FdpEvents {
    logs: [VecDeque<FdpEvent>; 2],
    counts: [u64; FdpEventType::ALL.len()],
}

impl FdpEvents {
    pub(crate) fn note(&mut self, event: FdpEvent) {
        let log = &mut self.logs[usize::from(event.kind.is_host())];
        if log.len() == MAX_EVENTS {
            log.pop_front();
        }
        log.push_back(event);
        let kinds = self.counts.iter_mut().zip(FdpEventType::ALL);
        kinds
            .filter(|(_, kind)| *kind == event.kind)
            .for_each(|(count, _)| *count += 1);
    }

    /// The host's events, or the controller's, the oldest first.
    pub(crate) fn log(&self, host: bool) -> impl Iterator<Item = &FdpEvent> {
        self.logs[usize::from(host)].iter()
    }

    /// How many there were of each type, those that the logs have lost too.
    pub(crate) fn counts(&self) -> [u64; FdpEventType::ALL.len()] {
        self.counts
    }
}

/// A reclaim unit handle of a namespace (Reclaim Unit Handle Status).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleStatus {
    /// Its placement identifier.
    pub pid: u16,
    /// Whether what is moved of its data stays apart from that of other handles (persistently isolated), or else goes with
    /// theirs (initially isolated).
    pub is_persistently_isolated: bool,
    /// Reclaim Unit Available Media Writes: logical blocks until its reclaim unit is full.
    pub available_lbas: u64,
}
