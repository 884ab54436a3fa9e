//! Simulated time, the event queue and slabs: what the model runs on.

mod queue;
mod slab;
mod time;

pub(crate) use queue::EventQueue;
pub(crate) use slab::{NIL, Slab};
pub use time::Time;

/// Everything that can happen in a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A channel has something to decide or to finish.
    Channel(u32),
    /// The controller's fixed latency has passed for a request.
    Controller(u32),
}
