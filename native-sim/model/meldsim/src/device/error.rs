//! Why the device refuses a call.

use thiserror::Error;

use crate::nvme::{DirectiveError, NamespaceId, Status};
use crate::profile::limits::one_decimal;

/// Why the device refuses a call. Nothing has changed when it does.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// No such namespace.
    #[error("namespace {nsid} does not exist; create it first")]
    UnknownNamespace {
        /// The identifier given.
        nsid: NamespaceId,
    },
    /// A timeline of XPoint memory.
    #[error("a device of kind \"xpoint\" has no timeline; use a profile of kind \"nand\"")]
    NoTimeline,
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
    /// Flexible data placement of a device that has none.
    #[error("the device has no reclaim unit handles; use a profile whose fdp.handles is not 0")]
    FdpDisabled,
    /// A command of zones to a namespace that has none.
    #[error("namespace {nsid} has no zones; use a profile whose zones.size is not 0")]
    NotZoned {
        /// The namespace.
        nsid: NamespaceId,
    },
    /// What manages a zone and does not say how.
    #[error("managing a zone needs an action: close, finish, open or reset")]
    NoZoneAction,
    /// A second zoned namespace.
    #[error("a zoned device has one namespace; make that one larger")]
    SecondZoned,
    /// Data from before in a zone that holds some.
    #[error("data from before fill whole zones that are empty; begin with such a zone")]
    ZonesNotEmpty,
    /// A past of overwrites of a zoned namespace.
    #[error(
        "a zoned device collects no garbage and has no such past; leave precondition out, and let a job with zonemode=zbd write the zones first"
    )]
    ZonedPast,
    /// A placement identifier that the device does not have.
    #[error("placement identifier {pid} does not exist; the device has {handles}, numbered from 0")]
    PlacementIdentifier {
        /// The identifier given.
        pid: u16,
        /// Reclaim unit handles of the device.
        handles: u16,
    },
    /// A policy of another crate that was made for this profile, and now is not.
    #[error(
        "the policy of the profile cannot be made a second time; it must depend on its options alone"
    )]
    Policy,
    /// No such submission queue.
    #[error("submission queue {queue} does not exist; create it first")]
    UnknownQueue {
        /// The identifier given.
        queue: u16,
    },
    /// A submission queue holds as many commands as it can.
    #[error("submission queue {queue} is full; run the device until commands are fetched")]
    QueueFull {
        /// The queue.
        queue: u16,
    },
    /// A deallocation of nothing.
    #[error("a deallocation needs at least one range")]
    NoRanges,
    /// A submission queue that could hold nothing.
    #[error("a submission queue needs a depth of at least 1")]
    QueueDepth,
    /// No identifier is left for another submission queue.
    #[error("there are 65536 submission queues already; use those")]
    TooManyQueues,
    /// Windows of a device whose latency nothing behind the host's back disturbs.
    #[error("this device collects no garbage and has no predictable latency mode; use it as it is")]
    WindowsUnsupported,
    /// A window of an NVM set that is not in predictable latency mode.
    #[error("predictable latency mode is not enabled for NVM set {set}; enable it first")]
    WindowsDisabled {
        /// The set.
        set: u32,
    },
    /// A deterministic window before the set has had time for what it puts off in it.
    #[error("NVM set {set} has not been long enough outside the deterministic window; see its log")]
    WindowNotEarned {
        /// The set.
        set: u32,
    },
    /// A directive on a command that is not a write.
    #[error("only a write carries a directive; clear DTYPE and DSPEC")]
    DirectiveNotOnWrite,
    /// The device has run for longer than its clock can count.
    #[error("the device's simulated time is used up after 106 days; start with a new device")]
    EndOfTime,
    /// Something that needs a device at rest.
    #[error("commands are outstanding; run the device until they have completed")]
    Busy,
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
    /// A state that takes more of the host's memory than there is.
    #[error(
        "needs about {} of memory, and this process can have {}; fill less, use a smaller profile or larger mapping units, \
         or raise the limit (ulimit -v, the container's)",
        one_decimal(*.needed), one_decimal(*.available)
    )]
    Memory {
        /// Bytes that it takes.
        needed: u64,
        /// Bytes that can be had.
        available: u64,
    },
}

impl DeviceError {
    /// The status with which a controller completes a command that it refuses for this reason.
    pub const fn status(&self) -> Status {
        match self {
            DeviceError::UnknownNamespace { .. } => Status::INVALID_NAMESPACE,
            DeviceError::OutOfRange { .. } => Status::LBA_OUT_OF_RANGE,
            DeviceError::CapacityExceeded { .. } => Status::CAPACITY_EXCEEDED,
            DeviceError::FdpDisabled => Status::FDP_DISABLED,
            DeviceError::NotZoned { .. } => Status::INVALID_OPCODE,
            _ => Status::INVALID_FIELD,
        }
    }
}
