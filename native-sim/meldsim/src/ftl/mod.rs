//! The flash translation layer of an NVM set.
//!
//! ```text
//!  write, deallocate (write.rs)                                                 read (read.rs)
//!    |  page -> slot of the write buffer (buffer.rs)                              |
//!    v                                                                            |
//!  write scheduler (scheduler.rs): stripes, runs -> wordlines                     |
//!    |  of a stream (stream.rs): host and garbage collection, normal and melded,  |
//!    |  NVMe streams                                                              |
//!    v                                                                            |
//!  lane 0..n (lane.rs): an independent log                                        |
//!    |  dynamic allocation: one lane over all units of the set                    |
//!    |  static: one lane for each unit, and the logical page decides              |
//!    |  block groups (blocks.rs) filled by streams; garbage collection (gc.rs)    |
//!    v                                                                            |
//!  program (program.rs): in one shot, or in shadow order (order.rs)               |
//!    |                                                                            |
//!    +--> mapping: logical page -> nothing | slot | number of a physical page <---+
//!         (mapping/; inverted for garbage collection: invert.rs)
//!
//!  number <-> lane, group, position <-> unit, wordline, page (numbering.rs)
//!  unit of the set <-> unit of the device (region.rs), ordered by the page allocation (allocation.rs)
//! ```

#[allow(dead_code, reason = "the inverse is for its tests")]
mod allocation;
mod blocks;
mod buffer;
mod copyback;
mod deal;
mod flush;
mod gc;
mod history;
mod invert;
mod lane;
mod layer;
mod mapping;
mod numbering;
mod order;
mod policy;
mod precondition;
mod preload;
mod program;
mod read;
mod region;
mod scheduler;
mod snapshot;
mod steady;
mod stream;
mod victim;
mod wear;
#[cfg(test)]
mod witness;
mod write;

pub(crate) use blocks::OVER_PROVISIONED_GROUPS;
pub(crate) use buffer::MAX_SLOTS;
pub(crate) use gc::slots as gc_slots;
pub(crate) use layer::{Ftl, capacity_pages};
pub(crate) use mapping::{Entry, MAPPING_BYTES_PER_PAGE, MAX_NAMESPACE_PAGES, PPN_LIMIT};
pub(crate) use precondition::Filled;
pub(crate) use region::Region;
pub(crate) use snapshot::SavedFtl;
pub(crate) use write::WriteError;
