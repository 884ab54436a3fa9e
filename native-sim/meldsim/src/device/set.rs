//! The NVM sets of a device: a medium that knows no sets is one.

use super::medium::Medium;
use super::request::SetUsage;
use super::{Device, DeviceError};
use crate::nvme::NamespaceId;

/// What an NVM set holds and has done, since the device was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetInfo {
    /// Logical pages that can hold data at one time.
    pub capacity_pages: u64,
    /// Logical pages that hold data.
    pub mapped_pages: u64,
    /// Erased blocks.
    pub free_blocks: u64,
    /// Pages programmed for the host.
    pub host_pages_programmed: u64,
    /// Pages moved by garbage collection.
    pub gc_pages_moved: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl Device {
    /// What an NVM set holds and has done, if it exists.
    pub fn set_info(&self, set: u32) -> Option<SetInfo> {
        match &self.medium {
            Medium::Nand(nand) => nand.set_info(set),
            Medium::Xpoint(xpoint) => (set == 0).then(|| xpoint.set_info()),
        }
    }

    /// NVM sets of the device; they are numbered from 0.
    pub fn sets(&self) -> u32 {
        self.front.usage.len() as u32
    }

    /// The NVM set a namespace is in, if it exists.
    pub fn set_of(&self, nsid: NamespaceId) -> Option<u32> {
        let home = self.front.homes.get((nsid.0 as usize).wrapping_sub(1));
        home.map(|&(set, _)| set)
    }

    pub(super) fn known_set(&self, set: u32) -> Result<(), DeviceError> {
        let sets = self.sets();
        match set < sets {
            true => Ok(()),
            false => Err(DeviceError::UnknownSet { set, sets }),
        }
    }

    /// Bytes the host can fill in an NVM set.
    pub fn set_capacity_bytes(&self, set: u32) -> u64 {
        let pages = self.set_info(set).map_or(0, |info| info.capacity_pages);
        pages * self.medium.page_bytes()
    }

    /// What an NVM set did; nothing for one that does not exist.
    pub fn set_usage(&self, set: u32) -> SetUsage {
        let Some(&usage) = self.front.usage.get(set as usize) else {
            return SetUsage::default();
        };
        let programmed_bytes = match &self.medium {
            Medium::Nand(nand) => nand.programmed_bytes(set),
            Medium::Xpoint(xpoint) => xpoint.written_bytes(),
        };
        SetUsage {
            programmed_bytes,
            ..usage
        }
    }

    /// Logical blocks of a namespace that hold data; in whole pages.
    pub fn allocated_lbas(&self, nsid: NamespaceId) -> u64 {
        let Some(namespace) = self.namespace(nsid) else {
            return 0;
        };
        let (size_lbas, lba_bytes) = (namespace.size_lbas, namespace.lba_bytes);
        let Ok((range, _)) = self.front.pages(nsid, 0, size_lbas) else {
            return 0;
        };
        let mapped = match &self.medium {
            Medium::Nand(nand) => nand.mapped_pages(range.set, range.space, range.end),
            Medium::Xpoint(_) => range.pages(),
        };
        (mapped * self.medium.page_bytes() / lba_bytes).min(size_lbas)
    }

    /// Bytes of memory that the medium's state takes: mapping, blocks, buffers.
    pub fn memory(&self) -> u64 {
        match &self.medium {
            Medium::Nand(nand) => nand.memory(),
            Medium::Xpoint(xpoint) => xpoint.memory(),
        }
    }
}
