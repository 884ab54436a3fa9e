//! Simulated time, the event queue, slabs and seeded random numbers: what the model runs on.

mod divisor;
mod prefetch;
mod queue;
mod random;
mod slab;
mod time;

pub(crate) use divisor::Divisor;
pub(crate) use prefetch::prefetch;
pub(crate) use queue::EventQueue;
pub use random::{Permutation, Random};
pub(crate) use slab::{NIL, Slab};
pub use time::{Duration, Instant};
