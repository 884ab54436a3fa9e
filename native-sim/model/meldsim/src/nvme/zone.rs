//! Zones as the host sees them: states, actions, and what is told of them.
//!
//! Names and numbers are those of the NVM Express Zoned Namespace Command Set Specification 1.1, sections 2 and 3.

/// Zone State of a zone (ZS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ZoneState {
    /// Nothing is written (ZSE).
    Empty = 0x1,
    /// A write opened it (ZSIO).
    ImplicitlyOpen = 0x2,
    /// The host opened it (ZSEO).
    ExplicitlyOpen = 0x3,
    /// It may be written to, and is not open (ZSC).
    Closed = 0x4,
    /// It takes no more writes (ZSF).
    Full = 0xe,
}

impl ZoneState {
    /// All states, in the order of their numbers.
    pub const ALL: [ZoneState; 5] = [
        ZoneState::Empty,
        ZoneState::ImplicitlyOpen,
        ZoneState::ExplicitlyOpen,
        ZoneState::Closed,
        ZoneState::Full,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            ZoneState::Empty => "empty",
            ZoneState::ImplicitlyOpen => "implicitly_open",
            ZoneState::ExplicitlyOpen => "explicitly_open",
            ZoneState::Closed => "closed",
            ZoneState::Full => "full",
        }
    }

    /// Whether it holds an open resource.
    pub const fn is_open(self) -> bool {
        matches!(self, ZoneState::ImplicitlyOpen | ZoneState::ExplicitlyOpen)
    }

    /// Whether it holds an active resource.
    pub const fn is_active(self) -> bool {
        self.is_open() || matches!(self, ZoneState::Closed)
    }
}

/// Zone Send Action of Zone Management Send (ZSA).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ZoneAction {
    /// It is closed.
    Close = 0x1,
    /// It becomes full; what is not written is padded.
    Finish = 0x2,
    /// It is opened explicitly.
    Open = 0x3,
    /// What it holds is gone.
    Reset = 0x4,
    /// It is taken out of service, which only one that is read only can be: there is none.
    Offline = 0x5,
}

impl ZoneAction {
    /// The action with this number, if the device knows it.
    pub const fn from_u8(value: u8) -> Option<ZoneAction> {
        match value {
            0x1 => Some(ZoneAction::Close),
            0x2 => Some(ZoneAction::Finish),
            0x3 => Some(ZoneAction::Open),
            0x4 => Some(ZoneAction::Reset),
            0x5 => Some(ZoneAction::Offline),
            _ => None,
        }
    }

    /// Whether it is done to zones of a state when all are selected.
    pub const fn selects(self, state: ZoneState) -> bool {
        match self {
            ZoneAction::Close => state.is_open(),
            ZoneAction::Finish => state.is_active(),
            ZoneAction::Open => matches!(state, ZoneState::Closed),
            ZoneAction::Reset => !matches!(state, ZoneState::Empty),
            ZoneAction::Offline => false,
        }
    }
}

/// How the zones of a namespace are, as its Identify data tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneShape {
    /// Zone Size: logical blocks from the start of a zone to that of the next.
    pub size_lbas: u64,
    /// Zone Capacity: logical blocks of a zone that can be written, from its start.
    pub capacity_lbas: u64,
    /// Maximum Active Resources.
    pub max_active: u32,
    /// Maximum Open Resources.
    pub max_open: u32,
}

/// A zone, as Zone Management Receive reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Its state.
    pub state: ZoneState,
    /// Its first logical block.
    pub start_lba: u64,
    /// Logical blocks that were written; the write pointer is so far from the start.
    pub written_lbas: u64,
}

/// What was done to the zones of a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneCounts {
    /// Zone appends.
    pub appends: u64,
    /// Zones that were reset and were not empty.
    pub resets: u64,
    /// Zones that were finished and were not full.
    pub finishes: u64,
    /// Zones that were closed because another was opened.
    pub implicit_closes: u64,
}
