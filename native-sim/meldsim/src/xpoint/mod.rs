//! 3D XPoint memory: dies interleaved by address, sector buffers, and the data path they share.
//!
//! ```text
//!   read   chunk --[sector buffer]--> die (FIFO) --read--> data path --> host
//!   write  chunk --[sector buffer]--> data path --> die (FIFO) --write--> done
//! ```
//!
//! There is no map, no log and no garbage: an address says where its data is, and a write goes there.

mod array;
mod die;
mod path;
#[cfg(test)]
mod tests;

pub(crate) use array::{Access, Array, Step};
