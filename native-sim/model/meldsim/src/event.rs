//! The events of a device: its parts schedule them in the engine's queue, and the device hands them back to the parts.

use crate::engine::Alarm;

/// Everything that can happen in a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A channel of flash has something to decide or to finish.
    Channel(u32),
    /// The controller's fixed latency has passed for a request.
    Controller(u32),
    /// The controller has fetched a command.
    Fetched,
    /// Data of a write have crossed the link to the device.
    Arrived,
    /// The time of a deterministic window of an NVM set may be up.
    Window(u32),
    /// Parts of a read have crossed the link to the host.
    Sent { request: u32, parts: u16 },
    /// An NVM set may have been idle for long enough.
    Idle(u32),
    /// A write that the pacing of an NVM set holds may enter the write buffer.
    Throttle(u32),
    /// The firmware has worked on a write or an append to a zone.
    ZoneUnit(u32),
    /// What a zone of an NVM set held is forgotten.
    Zone(u32),
    /// Something happens in an array of XPoint dies.
    Xpoint(XpointStep),
    /// A core of the firmware has finished what it does.
    Firmware(u32),
}

/// The timers are the channels'.
impl Alarm for Event {
    #[inline(always)]
    fn of_timer(timer: u32) -> Event {
        Event::Channel(timer)
    }
}

/// What can happen in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum XpointStep {
    /// An access is the next of its command.
    Issue(u32),
    /// A die can take the first access that waits for it.
    Die(u32),
    /// A die has done an access.
    Done(u32),
    /// An access has passed the data path.
    Passed(u32),
}
