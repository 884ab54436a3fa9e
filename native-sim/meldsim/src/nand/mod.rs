//! The flash: dies that sense and program, channels that carry data.
//!
//! ```text
//!            command          sense              data out (round-robin among ready dies)
//!   die 0   |c|================================|####|
//!   die 1      |c|================================ ...|####|
//!   bus     |c |c|                             |####  |####|
//! ```
//!
//! A die is busy from its command until its last byte has left, unless it understands cache reads. A
//! melded read is one command, one sense and all pages of the wordline back to back in one bus grant.
//!
//! ```text
//!   interface      flash         reads, programs, erases, copybacks in; what has finished out
//!   composition    transactions  what the dies of a package do together, or in order
//!                  command       what the planes of a die do together; melded reads
//!   time           step          what ends and starts on a channel; suspend, timing
//!   state          die, channel, op, packages, counts
//! ```

mod channel;
mod command;
mod counts;
mod die;
mod flash;
mod geometry;
mod look;
mod op;
mod packages;
mod ring;
mod step;
mod suspend;
#[cfg(test)]
mod tests;
mod timing;
mod transactions;

pub(crate) use flash::{Finished, Flash, Owner};
pub(crate) use geometry::{Geometry, MAX_PAGES_PER_WORDLINE, Unit, WordlineAddr};
pub(crate) use timing::Timing;
