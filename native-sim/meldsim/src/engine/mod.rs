//! Simulated time and the event queue.

mod time;

pub use time::Time;
