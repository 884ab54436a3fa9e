//! Status codes, by number as the NVM Express Base Specification and the command sets have them.

/// How a command ended: the Status field of a completion queue entry, without its flags. Status code in the low byte, status
/// code type above it, as in the NVM Express Base Specification and the command sets'.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Status(pub u16);

impl Status {
    /// It did what it was asked to.
    pub const SUCCESS: Status = Status(0x000);
    /// A command that the namespace does not know.
    pub const INVALID_OPCODE: Status = Status(0x001);
    /// A field of the command has a value that is reserved or not supported.
    pub const INVALID_FIELD: Status = Status(0x002);
    /// There is no such namespace.
    pub const INVALID_NAMESPACE: Status = Status(0x00b);
    /// Flexible data placement of a device that has none.
    pub const FDP_DISABLED: Status = Status(0x029);
    /// A range that ends beyond its namespace.
    pub const LBA_OUT_OF_RANGE: Status = Status(0x080);
    /// The device has no room for the pages the write would have mapped. Deallocating makes room.
    pub const CAPACITY_EXCEEDED: Status = Status(0x081);
    /// A range that is in more than one zone, or beyond what can be written of one.
    pub const ZONE_BOUNDARY_ERROR: Status = Status(0x1b8);
    /// A write to a zone that is full.
    pub const ZONE_IS_FULL: Status = Status(0x1b9);
    /// A write that does not begin at its zone's write pointer.
    pub const ZONE_INVALID_WRITE: Status = Status(0x1bc);
    /// No active resource is left for another zone.
    pub const TOO_MANY_ACTIVE_ZONES: Status = Status(0x1bd);
    /// No open resource is left for another zone, and no zone is open implicitly.
    pub const TOO_MANY_OPEN_ZONES: Status = Status(0x1be);
    /// A zone's state does not allow what is asked for.
    pub const INVALID_ZONE_STATE_TRANSITION: Status = Status(0x1bf);
    /// Data of the range could not be read.
    pub const UNRECOVERED_READ_ERROR: Status = Status(0x281);

    /// Whether it did what it was asked to.
    pub const fn is_success(self) -> bool {
        self.0 == Status::SUCCESS.0
    }
}
