//! The NVM sets of a NAND medium.

use std::collections::VecDeque;

use super::NandMedium;
use super::admission::Admission;
use crate::device::set::SetInfo;
use crate::ftl::{Ftl, Region};
use crate::nand::Geometry;
use crate::nvme::Windows;
use crate::profile::Profile;

/// An NVM set: a translation layer over planes of its own, and the commands that wait for it. What
/// waits for one set does not delay another's.
#[derive(Debug)]
pub(in crate::device) struct NvmSet {
    pub(in crate::device) ftl: Ftl,
    /// Writes, deallocations and flushes that wait for the buffer, in order.
    pub(super) admissions: VecDeque<Admission>,
    pub(super) windows: Windows,
}

/// Builds the sets of a device, and says whose each unit is.
pub(super) fn build(profile: &Profile, geometry: &Geometry) -> (Vec<NvmSet>, Box<[u16]>) {
    let mut units = vec![0; geometry.units() as usize];
    let mut sets = Vec::new();
    for (set, region) in (0..).zip(Region::all(profile, geometry)) {
        for unit in region.iter() {
            units[unit.0 as usize] = set;
        }
        sets.push(NvmSet {
            ftl: Ftl::new(profile, geometry, u32::from(set), region),
            admissions: VecDeque::new(),
            windows: Windows::new(&profile.predictable_latency),
        });
    }
    (sets, units.into_boxed_slice())
}

impl NandMedium {
    pub(in crate::device) fn set_info(&self, set: u32) -> Option<SetInfo> {
        let ftl = &self.sets.get(set as usize)?.ftl;
        let stats = ftl.stats();
        Some(SetInfo {
            capacity_pages: ftl.capacity(),
            mapped_pages: ftl.mapped_pages(),
            free_blocks: ftl.free_blocks(),
            host_pages_programmed: stats.host_pages_programmed,
            gc_pages_moved: stats.gc_pages_moved,
            erases: stats.erases,
        })
    }

    /// Bytes programmed in a set, for the host and for garbage collection.
    pub(in crate::device) fn programmed_bytes(&self, set: u32) -> u64 {
        let stats = self.sets[set as usize].ftl.stats();
        let pages = stats.host_pages_programmed + stats.gc_pages_moved + stats.padded_pages;
        pages * self.geometry.page_bytes
    }

    /// Pages of a space of a set that hold data, up to page `end`.
    pub(in crate::device) fn mapped_pages(&self, set: u32, space: u32, end: u64) -> u64 {
        end - self.sets[set as usize].ftl.unmapped_pages(space, 0, end)
    }

    /// Bytes of memory that the translation layers take: mapping, blocks, buffers.
    pub(in crate::device) fn memory(&self) -> u64 {
        self.sets.iter().map(|set| set.ftl.memory()).sum()
    }
}
