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
#[allow(dead_code, reason = "collection does not use it yet")]
mod history;
mod layer;
mod mapping;
#[allow(dead_code, reason = "collection does not use it yet")]
mod policy;
mod preload;
mod read;
mod scheduler;
#[allow(dead_code, reason = "preconditioning does not use it yet")]
mod steady;
mod victim;
#[allow(dead_code, reason = "blocks do not use it yet")]
mod wear;
#[cfg(test)]
mod witness;

pub(crate) use blocks::OVER_PROVISIONED_SUPERBLOCKS;
pub(crate) use buffer::MAX_SLOTS;
pub(crate) use layer::{Ftl, Layout, WriteError};
pub(crate) use mapping::{Entry, MAPPING_BYTES_PER_PAGE, MAX_NAMESPACE_PAGES, PPA_LIMIT};
