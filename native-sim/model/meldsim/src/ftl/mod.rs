//! The flash translation layer (FTL) of an NVM set.
//!
//! In come reads, writes, deallocations and flushes of logical pages, and what dies have finished; out
//! go operations of the flash.
//!
//! ```text
//!  write, deallocate (write.rs, layer.rs)                                      read (read.rs)
//!    |  page -> slot of the write buffer (buffer.rs)                             |
//!    v                                                                           |
//!  streams (stream.rs): host and garbage collection, normal and melded, NVMe's   |
//!    |  stripes and sequential runs -> wordlines                                 |
//!    v                                                                           |
//!  log 0..n (log.rs): an independent log                                       |
//!    |  dynamic allocation: one log over all units of the set                   |
//!    |  static: one log for each unit, and the logical page decides             |
//!    |  superblocks (blocks), filled by streams; garbage collection (gc.rs,     |
//!    |  victim.rs, reverse_map.rs)                                               |
//!    v                                                                           |
//!  programs: in one shot, or in shadow order (blocks/open.rs)                    |
//!    |                                                                           |
//!    +--> mapping: logical page -> nothing | slot | physical page number <-------+
//!
//!  number <-> log, superblock, position <-> unit, wordline, page (address.rs)
//!  unit of the set <-> unit of the device (region.rs)
//! ```
//!
//! How host and collection share the flash: pacing.rs. Changes of the mapping, where they go to flash: journal.rs
//!
//! Files use those below them only: `layer.rs` holds the parts, `read.rs` is the way of data from the flash,
//! `write.rs` and `gc.rs` are the two ways to it, and this file ties those together.

mod address;
mod blocks;
mod buffer;
mod gc;
mod history;
mod journal;
mod layer;
mod ledger;
mod log;
mod mapping;
mod oracle;
mod overwrite;
mod pacing;
mod preload;
mod read;
mod region;
mod reverse_map;
mod snapshot;
mod steady_state;
mod stream;
mod victim;
mod write;
mod zone;

pub(crate) use layer::Ftl;
pub(crate) use mapping::{Entry, MAX_NAMESPACE_PAGES, MapIndex};
pub(crate) use overwrite::{Overwriter, Overwritten};
pub(crate) use preload::Filled;
pub(crate) use region::Region;
pub(crate) use snapshot::SavedFtl;
pub(crate) use write::WriteError;

use std::ops::Range;

use self::stream::Layout;
use crate::engine::EventQueue;
use crate::event::Event;
use crate::nand::Flash;

impl Ftl {
    /// Whether anything may be able to move on.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        !self.ready.is_empty() || self.journal.is_some()
    }

    /// Moves everything on that can move: closed wordlines to dies, and garbage collection.
    pub(crate) fn dispatch(&mut self, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        self.write_due_journal();
        while let Some(log_id) = self.ready.pop() {
            self.program_queued(log_id, flash, queue);
            self.collect(log_id, flash, queue);
        }
    }

    /// Maps the pages to flash as if the host had written them in order and flushed. Nothing
    /// is counted. False when there is no room for all of them.
    pub(crate) fn preload(&mut self, space: u32, first: u64, end: u64, layout: Layout) -> bool {
        preload::in_order(self, space, first, end, layout).is_some()
    }

    /// Fills a layer that was never used. False when there is no room.
    pub(crate) fn precondition(&mut self, filled: &[Filled], of_map: &[Range<u64>]) -> bool {
        preload::precondition(self, filled, of_map).is_some()
    }

    /// What survives a power cut.
    pub(crate) fn save(&self) -> SavedFtl {
        SavedFtl::of(self)
    }

    /// Puts a layer that was never used into a saved state; says what is impossible about it.
    /// `spaces` is the pages of each of its spaces.
    pub(crate) fn load(&mut self, saved: &SavedFtl, spaces: &[u64]) -> Result<(), &'static str> {
        saved.load(self, spaces)
    }
}

#[cfg(test)]
impl Ftl {
    /// The data a read of the page would return.
    pub(crate) fn data(&self, space: u32, page: u64) -> Option<u64> {
        self.oracle.data(self.entry(space, page))
    }

    /// Tells the oracle of a restored layer what the one before it held.
    pub(crate) fn restore_oracle(&mut self, before: &Ftl) {
        let data = |space, page| before.data(space, page).unwrap();
        self.oracle.restore(&before.oracle, data);
    }

    /// Streams of the host's that have been kept apart from the rest, in either layout and each log.
    pub(crate) fn streams_used(&self) -> u64 {
        let logs = self.logs.iter();
        let used = logs.map(|log| log.streams().count() - stream::Stream::FIXED);
        used.sum::<usize>() as u64
    }
}
