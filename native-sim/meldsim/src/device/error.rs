//! Why the device refuses a call.

use thiserror::Error;

use crate::nvme::{DirectiveError, NamespaceId};

/// Why the device refuses a call. Nothing has changed when it does.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// No such namespace.
    #[error("namespace {nsid} does not exist; create it first")]
    UnknownNamespace {
        /// The identifier given.
        nsid: NamespaceId,
    },
    /// No such NVM set.
    #[error("NVM set {set} does not exist; the profile has {sets}, numbered from 0")]
    UnknownSet {
        /// The set given.
        set: u32,
        /// NVM sets of the device.
        sets: u32,
    },
    /// A namespace of impossible size.
    #[error(
        "namespace size {size_bytes} is impossible; use a multiple of {lba_bytes} up to {max_bytes}"
    )]
    NamespaceSize {
        /// The size asked for.
        size_bytes: u64,
        /// Bytes of a logical block.
        lba_bytes: u64,
        /// The largest size.
        max_bytes: u64,
    },
    /// A range that is empty or ends beyond the namespace.
    #[error(
        "range of {nlb} logical blocks from {slba} is not within the {size_lbas} of namespace {nsid}"
    )]
    OutOfRange {
        /// The namespace.
        nsid: NamespaceId,
        /// First logical block given.
        slba: u64,
        /// Logical blocks given.
        nlb: u64,
        /// Logical blocks of the namespace.
        size_lbas: u64,
    },
    /// A directive the device does not accept.
    #[error(transparent)]
    Directive(#[from] DirectiveError),
    /// A directive on a command that is not a write.
    #[error("only a write carries a directive; clear DTYPE and DSPEC")]
    DirectiveNotOnWrite,
    /// The device has run for longer than its clock can count.
    #[error("the device's simulated time is used up after 106 days; start with a new device")]
    EndOfTime,
    /// More data than the device has room for.
    #[error(
        "the data does not fit: {pages} pages asked for, {free} free; deallocate or use a larger profile"
    )]
    CapacityExceeded {
        /// Pages asked for.
        pages: u64,
        /// Pages free.
        free: u64,
    },
}
