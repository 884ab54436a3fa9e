//! With which data a page goes: `ftl.placement`.
//!
//! ```text
//!   a write of the host's --of_write--> a frontier of the host's          \  each fills superblocks
//!   a page that is moved  --of_move---> a frontier of collection's        /  of its own
//! ```

use std::fmt::Debug;

/// The name of a placement policy.
pub type PlacementPolicy = super::Name<dyn Placement>;

super::shelf! { dyn Placement, "ftl.placement", Shape:
    "streams" in streams, "each host stream by itself; moved pages together";
    "isolated" in isolated, "each host stream by itself; moved pages of streams 1 to 7, too";
    "sepbit" in sepbit, "by when it will probably be overwritten (Wang and others, FAST 2022)";
}

/// Frontiers that policies tell apart, of the host's and of collection's: they are numbered from 0.
pub const FRONTIERS: [u8; 2] = [17, 8];

/// The log that a policy is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// Superblocks of the log; they are numbered from 0.
    pub superblocks: u32,
    /// Pages of each.
    pub pages_per_superblock: u32,
}

impl Shape {
    pub(crate) fn new(superblocks: u32, pages_per_superblock: u32) -> Shape {
        Shape {
            superblocks,
            pages_per_superblock,
        }
    }
}

impl Default for Shape {
    fn default() -> Shape {
        Shape::new(64, 1024)
    }
}

/// Where a log is written: a write frontier, with a superblock open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Frontier {
    /// Of the host's.
    Host(u8),
    /// Of collection's.
    Collection(u8),
}

impl Frontier {
    /// Whether it is the one that is always there.
    pub(crate) const fn is_first(self) -> bool {
        matches!(self, Frontier::Host(0) | Frontier::Collection(0))
    }
}

/// A logical page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Page {
    /// Its namespace, counted from 0 in the NVM set.
    pub space: u32,
    /// Its number in it.
    pub number: u64,
}

/// A placement policy. Each log has its own.
///
/// A log with little over-provisioning has superblocks for some frontiers only, and data of the others goes with that of
/// frontier 0. What a frontier gathers may wait in DRAM for a whole wordline. After a power cut a policy begins anew.
pub trait Placement: Debug + Send {
    /// Whether each page simply goes to the frontier of its stream, and to frontier 0 when it is moved: then nothing else
    /// here is asked, and writes are taken many at a time.
    fn follows_streams(&self) -> bool {
        false
    }

    /// Frontiers of collection's.
    fn moved(&self) -> u8 {
        1
    }

    /// The frontier of the host's to which a page goes that was written in a stream, 0 for none.
    fn of_write(&mut self, page: Page, stream: u8) -> u8;

    /// The frontier of collection's, below [`moved`](Placement::moved), to which a page goes that was written at a frontier.
    fn of_move(&mut self, page: Page, from: Frontier) -> u8;

    /// A superblock has been opened.
    fn opened(&mut self, _superblock: u32, _at: Frontier) {}

    /// A superblock is collected from now on.
    fn collected(&mut self, _superblock: u32, _written_at: Frontier) {}
}
