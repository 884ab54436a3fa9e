//! What goes into the firmware, and what comes out of it.

use crate::nvme::Opcode;

/// A range of logical pages of a volume (a namespace's space in an NVM set).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pages {
    pub(crate) volume: u32,
    pub(crate) first: u64,
    pub(crate) end: u64,
}

impl Pages {
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.end - self.first
    }
}

/// A command that the controller has fetched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) request: u32,
    pub(crate) opcode: Opcode,
    /// Every page that it touches; of several ranges, from the first to the last. Empty for a flush.
    pub(crate) pages: Pages,
    /// Whether it covers its first or its last page only in part.
    pub(crate) is_partial: bool,
    /// The submission queue it came from.
    pub(crate) queue: u32,
}

/// What the firmware wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The command begins on the medium.
    Start(u32),
    /// The data of a read come from the burst buffer; as with [`Action::Start`], its end is reported.
    Serve(u32),
    /// The command is complete: the host may know.
    Complete(u32),
}
