//! Simulated time, the event queue, slabs, memory in huge pages and seeded random numbers: what the model runs on.

mod block;
mod divisor;
mod memory;
mod prefetch;
mod queue;
mod random;
mod slab;
mod time;

pub(crate) use block::Block;
pub(crate) use divisor::Divisor;
pub use memory::available_memory;
pub(crate) use prefetch::prefetch;
pub(crate) use queue::{Alarm, EventQueue};
pub use random::{Permutation, Random, mix};
pub(crate) use slab::{NIL, Slab};
pub use time::{Duration, Instant, TotalTime};
