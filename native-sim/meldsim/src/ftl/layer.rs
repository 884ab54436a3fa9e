//! The layer itself: what it is made of, and what it tells.

use super::blocks::OVER_PROVISIONED_GROUPS;
use super::buffer::Buffer;
use super::copyback::Copy;
use super::flush::FlushBarrier;
use super::history::ReadHistory;
use super::invert::Inversion;
use super::lane::Lane;
use super::mapping::{Entry, Mapping, Run};
use super::numbering::{Numbering, Ppn};
use super::program::Program;
use super::region::Region;
use super::scheduler::{Gathered, Runs};
use super::stream::Layout;
use super::victim::Settings;
use super::wear::Wear;
use crate::engine::{NIL, Slab};
use crate::nand::{Geometry, WordlineAddr};
use crate::profile::Profile;

/// What the layer counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FtlStats {
    pub(crate) programs: u64,
    pub(crate) host_pages_programmed: u64,
    pub(crate) padded_pages: u64,
    pub(crate) melded_wordlines_programmed: u64,
    pub(crate) erases: u64,
    pub(crate) gc_pages_read: u64,
    pub(crate) gc_pages_moved: u64,
    pub(crate) gc_pages_relaid: u64,
    pub(crate) gc_pages_programmed: u64,
    pub(crate) collections: u64,
    pub(crate) background_collections: u64,
    pub(crate) levelling_collections: u64,
}

/// The flash translation layer of one NVM set.
#[derive(Debug)]
pub(crate) struct Ftl {
    /// The number of the set.
    pub(super) set: u32,
    pub(super) numbering: Numbering,
    pub(super) mapping: Mapping,
    pub(super) lanes: Vec<Lane>,
    pub(super) buffer: Buffer,
    /// Gathers data hinted as sequential; by the host's stream, as far as used.
    pub(super) runs: Vec<Runs>,
    pub(super) programs: Slab<Program>,
    /// The last one that was handed over, or [`NIL`].
    pub(super) last_program: u32,
    /// Wordlines being copied inside their planes.
    pub(super) copies: Slab<Copy>,
    pub(super) barrier: FlushBarrier,
    pub(super) inversion: Inversion,
    pub(super) gc: Settings,
    /// Kept when garbage collection re-decides the layout.
    pub(super) history: Option<ReadHistory>,
    pub(super) stats: FtlStats,
    /// Requests that waited for a page's program, once for each page.
    pub(super) written: Vec<u32>,
    /// Lanes that may be able to go on.
    pub(super) stirred: Vec<u32>,
    /// Reused by what replaces mappings.
    pub(super) replaced: Vec<Run>,
    /// What the page written last made its runs hand over: its own wordline, and the unfinished one of
    /// a run it displaced. Reused.
    pub(super) gathered: Vec<Gathered>,
    /// The slots of pages that are written together. Reused.
    pub(super) taken: Vec<u32>,
    #[cfg(test)]
    pub(crate) witness: super::witness::Witness,
    can_meld: bool,
    open_runs: u32,
    lane_capacity: u64,
}

impl Ftl {
    pub(crate) fn new(profile: &Profile, geometry: &Geometry, set: u32, region: Region) -> Ftl {
        let sets = u64::from(profile.sets.count);
        let host_slots = (profile.controller.write_buffer.0 / sets / geometry.page_bytes) as u32;
        let numbering = Numbering::new(profile, geometry, region);
        let spare = spare_groups(profile);
        let lane = |_| Lane::new(&numbering, &profile.gc, spare);
        Ftl {
            set,
            mapping: Mapping::new(profile.ftl.mapping_memory.0 / sets),
            lanes: (0..numbering.lanes).map(lane).collect(),
            buffer: Buffer::new(host_slots),
            runs: Vec::new(),
            programs: Slab::new(),
            last_program: NIL,
            copies: Slab::new(),
            barrier: FlushBarrier::new(),
            inversion: Inversion::default(),
            gc: Settings::new(profile),
            history: profile.gc.relayout.then(ReadHistory::default),
            stats: FtlStats::default(),
            written: Vec::new(),
            stirred: Vec::new(),
            replaced: Vec::new(),
            gathered: Vec::new(),
            taken: Vec::new(),
            #[cfg(test)]
            witness: Default::default(),
            can_meld: profile.timing.melded_read.is_some(),
            open_runs: profile.ftl.open_runs,
            lane_capacity: u64::from(numbering.groups.saturating_sub(spare))
                * u64::from(numbering.pages_per_group),
            numbering,
        }
    }

    /// Logical pages the set can hold.
    pub(crate) fn capacity(&self) -> u64 {
        self.lane_capacity * u64::from(self.numbering.lanes)
    }

    /// Logical pages so many spaces can hold in all, each filled from its start: those of each may
    /// end at any lane.
    pub(crate) fn capacity_for(&self, spaces: u64) -> u64 {
        let uneven = spaces * u64::from(self.numbering.lanes - 1);
        self.capacity().saturating_sub(uneven)
    }

    /// Logical pages each lane can hold.
    pub(super) fn lane_capacity(&self) -> u64 {
        self.lane_capacity
    }

    pub(crate) fn stats(&self) -> FtlStats {
        self.stats
    }

    pub(crate) fn mapped_pages(&self) -> u64 {
        self.mapping.mapped()
    }

    pub(crate) fn melded_mapped_pages(&self) -> u64 {
        self.lanes
            .iter()
            .map(|lane| lane.blocks.melded_valid())
            .sum()
    }

    pub(crate) fn free_blocks(&self) -> u64 {
        let groups = self.lanes.iter().map(|lane| u64::from(lane.blocks.free()));
        groups.sum::<u64>() * u64::from(self.numbering.units)
    }

    /// Erases of the block that was erased least, and of that erased most.
    pub(crate) fn erases(&self) -> (u64, u64) {
        let wear = || self.lanes.iter().map(|lane| lane.blocks.wear());
        let least = wear().map(Wear::least).min().unwrap_or(0);
        let most = wear().map(Wear::most).max().unwrap_or(0);
        (u64::from(least), u64::from(most))
    }

    /// Bytes of memory that the mapping and what goes with it take.
    pub(crate) fn memory(&self) -> u64 {
        let lanes = self.lanes.iter().map(Lane::memory).sum::<u64>();
        let runs = self.runs.iter().map(Runs::memory).sum::<u64>();
        lanes
            + runs
            + self.mapping.memory()
            + self.inversion.memory()
            + self.buffer.memory()
            + self.programs.memory()
    }

    pub(crate) fn add_space(&mut self) -> u32 {
        self.mapping.add_space()
    }

    /// The layout for data hinted as sequential, or not.
    pub(crate) fn layout(&self, sequential: bool) -> Layout {
        if sequential && self.can_meld {
            Layout::Melded
        } else {
            Layout::Normal
        }
    }

    pub(super) fn new_runs(&self) -> Runs {
        let Numbering {
            pages_per_wordline,
            lanes,
            ..
        } = self.numbering;
        Runs::new(self.open_runs, pages_per_wordline, lanes)
    }

    /// Where a page is.
    pub(crate) fn entry(&self, space: u32, page: u64) -> Entry {
        self.mapping
            .find(space, page)
            .map_or(Entry::Unmapped, |place| self.mapping.get(place))
    }

    /// A page will be written in a while: fetches what leads to its entry.
    #[inline]
    pub(crate) fn prefetch_leaf(&self, space: u32, page: u64) {
        if let Some(place) = self.mapping.find(space, page) {
            self.mapping.prefetch_leaf(place);
        }
    }

    /// A page will be written soon.
    #[inline]
    pub(crate) fn prefetch(&self, space: u32, page: u64) {
        if let Some(place) = self.mapping.find(space, page) {
            self.mapping.prefetch(place);
        }
    }

    /// Whether a physical page shares its wordline with the pages that follow it.
    pub(crate) fn is_melded(&self, ppn: Ppn) -> bool {
        let slice = self.numbering.slice(ppn);
        let blocks = &self.lanes[slice.lane as usize].blocks;
        blocks.get(slice.group).layout == Layout::Melded
    }

    /// Where a physical page lies: its wordline, and which of its pages it is.
    #[inline]
    pub(crate) fn locate(&self, ppn: Ppn) -> (WordlineAddr, u32) {
        let slice = self.numbering.slice(ppn);
        let layout = self.lanes[slice.lane as usize]
            .blocks
            .get(slice.group)
            .layout;
        let spot = self.numbering.spot(layout, slice.position);
        let at = self
            .numbering
            .address(slice.lane, slice.group, spot.unit, spot.wordline);
        (at, spot.page)
    }

    /// The lane a mapped page's data is in or on its way to.
    pub(super) fn lane_of_entry(&self, entry: Entry) -> Option<u32> {
        match entry {
            Entry::Unmapped => None,
            Entry::Buffered(slot) => Some(self.buffer.get(slot).lane),
            Entry::Flash(ppn) => Some(self.numbering.slice(ppn).lane),
        }
    }

    /// Something happened that may let the lane go on.
    pub(super) fn stir(&mut self, lane: u32) {
        let stirred = &mut self.lanes[lane as usize].is_stirred;
        if !std::mem::replace(stirred, true) {
            self.stirred.push(lane);
        }
    }
}

/// Groups of each lane that the host cannot fill: whole ones, so that over-provisioning is never
/// less than what garbage collection needs.
fn spare_groups(profile: &Profile) -> u32 {
    let groups = u64::from(profile.geometry.blocks_per_plane);
    let spare = (groups * u64::from(profile.ftl.over_provisioning_percent)).div_ceil(100);
    (spare as u32).max(OVER_PROVISIONED_GROUPS)
}

/// Logical pages a device can hold.
pub(crate) fn capacity_pages(profile: &Profile, geometry: &Geometry) -> u64 {
    let groups = profile.geometry.blocks_per_plane;
    u64::from(groups.saturating_sub(spare_groups(profile))) * geometry.pages_per_block_row()
}
