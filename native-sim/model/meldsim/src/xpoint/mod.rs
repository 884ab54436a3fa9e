//! 3D XPoint memory: dies interleaved by address, sector buffers, and the data path they share.
//!
//! ```text
//!   read   chunk --[sector buffer]--> die (FIFO) --read--> data path --> host
//!   write  chunk --[sector buffer]--> data path --> die (FIFO) --write--> done
//! ```
//!
//! There is no map, no log and no garbage: an address says where its data is, and a write goes there.
//! In: accesses of chunks. Out: accesses that have ended. Structure and parameters follow Wu,
//! Arpaci-Dusseau and Arpaci-Dusseau, "Towards an Unwritten Contract of Intel Optane SSD" (HotStorage'19).

mod array;
#[cfg(test)]
mod tests;

pub(crate) use array::{Access, Array};
