//! How long cells take to be sensed, and whether that succeeds: `timing.cells`.

use std::fmt::Debug;

use crate::engine::{Duration, Instant};

/// The name of a model of cells.
pub type CellsPolicy = super::Name<dyn Cells>;

super::shelf! { dyn Cells, "timing.cells", Array:
    "ideal" in ideal, "always as `timing` says";
}

/// The flash that cells are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Array {
    /// Planes of the device; they are numbered from 0.
    pub planes: u32,
    /// Blocks of each.
    pub blocks: u32,
    /// Wordlines of a block.
    pub wordlines: u32,
}

impl Array {
    pub(crate) fn new(planes: u32, blocks: u32, wordlines: u32) -> Array {
        Array {
            planes,
            blocks,
            wordlines,
        }
    }
}

impl Default for Array {
    fn default() -> Array {
        Array::new(1, 64, 64)
    }
}

/// A block, or a wordline of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The plane.
    pub plane: u32,
    /// The block of the plane.
    pub block: u32,
    /// The wordline of the block; 0 of a whole block.
    pub wordline: u32,
}

impl Place {
    /// Of a row of a plane, where blocks have so many wordlines.
    pub(crate) fn new(plane: u32, row: u32, wordlines: u32) -> Place {
        Place {
            plane,
            block: row / wordlines,
            wordline: row % wordlines,
        }
    }
}

/// How a sense goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensed {
    /// What it takes, with all retries.
    pub time: Duration,
    /// Its data could not be corrected: the command ends with Unrecovered Read Error.
    pub fails: bool,
}

/// A model of cells. A device has one. Data that were there before its first command were programmed before it: nobody tells
/// of them.
pub trait Cells: Debug + Send {
    /// Whether all is as the profile's `timing` says: then nothing here is asked.
    fn are_ideal(&self) -> bool {
        false
    }

    /// The first page of a wordline, or all of it, is programmed.
    fn programmed(&mut self, _at: Place, _now: Instant) {}

    /// A block is erased.
    fn erased(&mut self, _block: Place, _now: Instant) {}

    /// A wordline is sensed from now on, one of its pages, or all at once without a number. By the profile that takes `time`.
    /// Several planes that are sensed together take as long as the slowest.
    fn sense(&mut self, at: Place, page: Option<u8>, time: Duration, now: Instant) -> Sensed;
}
