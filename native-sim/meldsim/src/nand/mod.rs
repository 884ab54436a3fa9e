//! The flash: dies that sense and program, channels that carry data.
//!
//! ```text
//!            command          sense              data out (round-robin among ready dies)
//!   die 0   |c|================================|####|
//!   die 1      |c|================================ ...|####|
//!   bus     |c |c|                             |####  |####|
//! ```
//!
//! A die is busy from its command until its last byte has left: there is no cache read. A melded
//! read is one command, one sense and all pages of the wordline back to back in one bus grant.

mod channel;
mod die;
mod flash;
mod geometry;
mod timing;

pub(crate) use flash::{Finished, Flash, Owner};
pub(crate) use geometry::{Geometry, MAX_PAGES_PER_WORDLINE, Unit, WordlineAddr};
pub(crate) use timing::Timing;
