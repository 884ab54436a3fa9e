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
//! melded read is one command, one sense and all pages of the wordline back to back in one bus grant
//! (Arpith and Gopinath, "A Case for Melded Pages", HotStorage'20). What dies understand beyond single
//! operations follows ONFI.
//!
//! The way of an operation, and the files in that order:
//!
//! ```text
//!   flash         submit: the operation joins its die's queue, and its channel's event is set
//!   transactions  before that, if dies of a package work together or in order: it waits for them
//!   context       a die that can go on enters the ready list, or waits with data for a program
//!   channel       arbitration: the bus goes to a command or to data
//!   dispatch      a granted command is composed from the queue (operation) and starts the die
//!   step          the channel's event: senses, transfers, programs and erases end; finished
//!   page_read     the same in one go, of single dies of which only pages are read
//! ```
//!
//! Beneath them: `geometry` and `timing` of the device, `operation` (kinds, queues, commands), `die`
//! (state, suspension), `counts`.

mod cells;
mod channel;
mod context;
mod counts;
mod die;
mod dispatch;
mod flash;
mod geometry;
mod operation;
mod page_read;
mod step;
#[cfg(test)]
mod tests;
mod timing;
mod transactions;

pub(crate) use flash::Flash;
pub(crate) use geometry::{
    Geometry, MAX_FLASH_PAGES_PER_WORDLINE, MAX_PAGES_PER_WORDLINE, PageSet, Unit, WordlineAddr,
};
pub(crate) use operation::{Finished, Owner, Sense};
pub(crate) use page_read::PageRead;
pub(crate) use timing::Timing;
