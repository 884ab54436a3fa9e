//! The flash translation layer.
//!
//! ```text
//!   write -> write buffer -> write scheduler -> wordlines -> superblock of the stream -> program
//!               (slots)      stripes | runs      (pages)        (blocks)
//!   mapping: logical page -> nothing | slot | physical page
//! ```

#[allow(dead_code, reason = "the regions of the flash do not use it yet")]
mod allocation;
mod blocks;
mod buffer;
mod flush;
mod gc;
mod layer;
mod mapping;
mod preload;
mod read;
mod scheduler;
mod victim;
#[cfg(test)]
mod witness;

pub(crate) use blocks::OVER_PROVISIONED_SUPERBLOCKS;
pub(crate) use buffer::MAX_SLOTS;
pub(crate) use layer::{Ftl, Layout, WriteError};
pub(crate) use mapping::{Entry, MAPPING_BYTES_PER_PAGE, MAX_NAMESPACE_PAGES, PPA_LIMIT};
