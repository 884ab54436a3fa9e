//! Where data is: for tools and tests, not for the data path.

use super::medium::Medium;
use super::{Device, DeviceError};
use crate::nvme::NamespaceId;

/// Where the page that holds a logical block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// Nowhere: never written, or deallocated.
    Unmapped,
    /// In the write buffer.
    Buffered,
    /// On flash.
    Flash {
        /// The channel.
        channel: u32,
        /// The die's number on its channel (its way).
        die: u32,
        /// The plane of the die.
        plane: u32,
        /// The block of the plane.
        block: u32,
        /// The wordline of the block.
        wordline: u32,
        /// The page of the wordline: 0 for LSB, 1 for CSB, 2 for MSB.
        page: u32,
    },
    /// In XPoint memory, where its address says, written or not.
    Xpoint {
        /// The die.
        die: u32,
        /// The chunk of the device.
        chunk: u64,
    },
}

/// How the pages of a range are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutCount {
    /// Pages that hold data.
    pub mapped: u64,
    /// Of those, the ones in the write buffer, which have no layout yet.
    pub buffered: u64,
    /// Of those, the ones that share their wordline with what follows them.
    pub melded: u64,
}

impl Device {
    /// Where the page that holds logical block `lba` is.
    pub fn locate(&self, nsid: NamespaceId, lba: u64) -> Result<Location, DeviceError> {
        let (range, _) = self.front.pages(nsid, lba, 1)?;
        Ok(match &self.medium {
            Medium::Nand(nand) => nand.locate(range),
            Medium::Xpoint(xpoint) => xpoint.locate(range),
        })
    }

    /// How the pages are laid out that a range of logical blocks lies in. Takes time in proportion to the range. Memory
    /// without pages has no layout.
    pub fn layout(
        &self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
    ) -> Result<LayoutCount, DeviceError> {
        let (range, _) = self.front.pages(nsid, slba, nlb)?;
        Ok(match &self.medium {
            Medium::Nand(nand) => nand.layout(range),
            Medium::Xpoint(_) => LayoutCount::default(),
        })
    }
}
