//! Simulated time, the event queue, slabs and seeded random numbers: what the model runs on.

mod prefetch;
mod queue;
mod random;
mod slab;
mod time;
mod timers;

pub(crate) use prefetch::prefetch;
pub(crate) use queue::EventQueue;
pub use random::{Permutation, Random};
pub(crate) use slab::{NIL, Slab};
pub use time::{Duration, Instant};

use crate::xpoint::Step;

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
    /// Something happens in an array of XPoint dies.
    Xpoint(Step),
    /// A core of the firmware has finished what it does.
    Firmware(u32),
}
