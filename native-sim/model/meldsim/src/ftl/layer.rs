//! The translation layer of an NVM set: its parts, what it can tell, and what changes the mapping.

use std::ops::Range;

use super::address::{Addressing, LogAddr, Ppn};
use super::blocks::Blocks;
use super::buffer::{Place, Programs, WriteBuffer};
use super::history::ReadHistory;
use super::journal::Journal;
use super::ledger::{MeldedPages, Spot};
use super::log::{Log, ReadyList};
use super::mapping::{Entry, EntryRun, MapIndex, Mapping};
use super::oracle::Oracle;
use super::pacing::Pacer;
use super::region::Region;
use super::reverse_map::ReverseMap;
use super::stream::{Layout, RunPages, SequentialRuns, Stream, Token};
use super::victim::{Copyback, VictimSelection};
use crate::engine::{Instant, Slab};
use crate::nand::{Geometry, WordlineAddr};
use crate::nvme::fdp::FdpEvents;
use crate::policy::placement::{self, FRONTIERS};
use crate::policy::victim::Shape;
use crate::policy::wear::Wear;
use crate::profile::limits::gc_slots;
use crate::profile::map::MAP_STREAMS;
use crate::profile::{ByteSize, Profile, ProfileError};

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
    pub(crate) journal_pages_programmed: u64,
    pub(crate) map_pages_programmed: u64,
    pub(crate) levelling_pages_programmed: u64,
    pub(crate) merge_bytes: u64,
    pub(crate) filling_bytes: u64,
}

impl FtlStats {
    /// Pages programmed, for whatever.
    pub(crate) fn pages_programmed(&self) -> u64 {
        self.host_pages_programmed
            + self.gc_pages_programmed
            + self.padded_pages
            + self.journal_pages_programmed
            + self.map_pages_programmed
    }
}

/// The flash translation layer of one NVM set.
#[derive(Debug)]
pub(crate) struct Ftl {
    /// The number of the set.
    pub(super) set: u32,
    pub(super) addressing: Addressing,
    pub(super) mapping: Mapping,
    /// Pages of each space that lie on flash in the melded layout.
    pub(super) melded: MeldedPages,
    pub(super) logs: Vec<Log>,
    pub(super) ready: ReadyList,
    pub(super) buffer: WriteBuffer,
    /// Gathers data hinted as sequential; by the host's stream, as far as used.
    pub(super) runs: Vec<SequentialRuns>,
    pub(super) programs: Programs,
    /// Wordlines being copied inside their planes.
    pub(super) copybacks: Slab<Copyback>,
    pub(super) reverse_map: ReverseMap,
    pub(super) selection: VictimSelection,
    pub(super) pacing: Pacer,
    /// Kept when garbage collection re-decides the layout.
    pub(super) history: Option<ReadHistory>,
    /// Kept when changes of the mapping are journalled.
    pub(super) journal: Option<Journal>,
    /// The space of translation pages, where the mapping has some on flash.
    pub(super) map_space: Option<u32>,
    /// So many translation pages are to be written that what would change more of them waits.
    pub(super) is_map_behind: bool,
    /// Entries of the mapping whose pages have been programmed since that was asked, where anybody asks.
    pub(super) changed: Vec<MapIndex>,
    /// An idle host lets superblocks be collected.
    collects_in_background: bool,
    /// Events of reclaim units, of a device with handles.
    pub(crate) fdp: Option<FdpEvents>,
    pub(super) stats: FtlStats,
    pub(crate) oracle: Oracle,
    /// Reused by what replaces entries of the mapping.
    replaced: Vec<EntryRun>,
    /// What runs hand over. Reused.
    pub(super) gathered: Vec<RunPages>,
    /// The slots of pages that are written together. Reused.
    pub(super) taken: Vec<u32>,
    /// Entries of the mapping that a program changes, and their pages' new numbers. Reused.
    pub(super) indices: Vec<MapIndex>,
    pub(super) numbers: Vec<Ppn>,
    /// Programs that are handed to dies together, by token. Reused.
    pub(super) due: Vec<(u32, Place)>,
    /// Each page goes to the stream that it is written in, and all that are moved to the first.
    pub(super) follows_streams: bool,
    /// Streams of garbage collection's.
    pub(super) moved: u8,
    /// Stripes that are valid throughout are copied inside their planes.
    pub(super) copies_back: bool,
    can_meld: bool,
    /// Slots of the write buffer that are the host's.
    pub(super) host_slots: u32,
    open_runs: u32,
    /// Logical pages each log can hold.
    pub(super) log_capacity: u64,
}

impl Ftl {
    pub(crate) fn new(
        profile: &Profile,
        geometry: &Geometry,
        set: u32,
        region: Region,
    ) -> Result<Ftl, ProfileError> {
        let sets = u64::from(profile.sets.count);
        let host_slots = (profile.controller.write_buffer.0 / sets / geometry.page_bytes) as u32;
        let addressing = Addressing::new(profile, geometry, region);
        let spare = profile.spare_blocks_per_plane();
        let (logs, superblocks) = (
            addressing.logs,
            addressing.superblocks.saturating_sub(spare),
        );
        let pages = addressing.pages_per_wordline;
        let flash_pages = addressing.flash_pages_per_wordline;
        let log = placement::Shape::new(addressing.superblocks, addressing.pages_per_superblock);
        let placements = (0..logs).map(|_| profile.make(profile.ftl.placement, &log));
        let placements = placements.collect::<Result<Vec<_>, _>>()?;
        let moved = placements[0].moved().clamp(1, FRONTIERS[1]);
        let follows_streams = placements[0].follows_streams();
        // Each stream of collection's may wait for the rest of its stripe.
        let slots = gc_slots(addressing.units, pages, flash_pages, addressing.is_shadow());
        let map_streams = if profile.has_map_pages() { 1 } else { 0 };
        let map_slots = map_streams * logs * slots;
        let others = u32::from(moved - 1) + map_streams;
        let gc_slots = slots + others * (addressing.units + 1) * pages;
        let pacing = Pacer::new(profile, &addressing, (gc_slots, moved > 1))?;
        let reserve = pacing.host_reserve(None, 0);
        let flash_pages =
            u64::from(addressing.superblocks) * u64::from(addressing.pages_per_superblock);
        let all_pages = flash_pages * u64::from(logs);
        let most_leaves = match map_streams {
            0 => u64::MAX,
            _ => Profile::map_leaves(all_pages),
        };
        let shape = Shape {
            superblocks: addressing.superblocks,
            pages_per_superblock: addressing.pages_per_superblock,
            window: profile.gc.window,
        };
        let make = |(number, placement)| {
            let wear = Wear::new(profile.gc.wear_threshold);
            let wear = profile.make(profile.gc.wear_levelling, &wear)?;
            let victims = profile.make(profile.gc.victim, &shape)?;
            let mut blocks = Blocks::new(&addressing, wear, victims, placement, reserve);
            blocks.isolates = profile.fdp.handles > 0;
            blocks.map_pool = profile.map_blocks_per_plane();
            Ok(Log::new(
                number,
                blocks,
                profile.layouts(),
                spare - MAP_STREAMS * map_streams,
            ))
        };
        Ok(Ftl {
            set,
            mapping: Mapping::new(profile.ftl.mapping_memory.0 / sets, most_leaves, all_pages),
            melded: MeldedPages::default(),
            logs: (0..).zip(placements).map(make).collect::<Result<_, _>>()?,
            ready: ReadyList::new(logs),
            buffer: WriteBuffer::new((host_slots, map_slots), gc_slots, logs),
            runs: Vec::new(),
            programs: Programs::new(),
            copybacks: Slab::new(),
            reverse_map: ReverseMap::default(),
            selection: VictimSelection::new(profile),
            pacing,
            history: profile.gc.relayout.then(ReadHistory::default),
            journal: Journal::new(profile),
            map_space: None,
            is_map_behind: false,
            changed: Vec::new(),
            collects_in_background: profile.gc.background,
            fdp: (profile.fdp.handles > 0).then(FdpEvents::default),
            stats: FtlStats::default(),
            oracle: Oracle::default(),
            replaced: Vec::new(),
            gathered: Vec::new(),
            taken: Vec::new(),
            indices: Vec::new(),
            numbers: Vec::new(),
            due: Vec::new(),
            // Where what is moved goes to several streams, a stripe is no stripe of one of them.
            copies_back: profile.commands.copyback && moved == 1,
            follows_streams,
            moved,
            can_meld: profile.timing.melded_read.is_some(),
            host_slots,
            open_runs: profile.ftl.open_runs,
            log_capacity: match profile.controller.capacity {
                ByteSize(0) => u64::from(superblocks) * u64::from(addressing.pages_per_superblock),
                ByteSize(bytes) => bytes / sets / geometry.page_bytes / u64::from(logs),
            },
            addressing,
        })
    }

    /// Pages that did not go to the frontier that the placement named, for one of two reasons.
    pub(crate) fn unplaced_pages(&self, reason: usize) -> u64 {
        self.logs.iter().map(|log| log.unplaced[reason]).sum()
    }

    /// Whether a log has superblocks to collect of which its policy names none.
    pub(crate) fn names_no_victim(&self) -> bool {
        self.logs.iter().any(|log| {
            let mut candidates: Vec<_> = log.blocks.candidates().collect();
            let are_there = !candidates.is_empty();
            log.blocks.rank(&mut candidates, 1);
            are_there && candidates.is_empty()
        })
    }

    /// Logical pages the set can hold.
    pub(crate) fn capacity(&self) -> u64 {
        self.log_capacity * u64::from(self.addressing.logs)
    }

    /// Logical pages so many spaces can hold in all, each filled from its start: those of each may
    /// end at any log.
    pub(crate) fn capacity_for(&self, spaces: u64) -> u64 {
        let uneven = spaces * u64::from(self.addressing.logs - 1);
        self.capacity().saturating_sub(uneven)
    }

    pub(crate) fn stats(&self) -> FtlStats {
        self.stats
    }

    /// Pages of the host's that hold data.
    pub(crate) fn mapped_pages(&self) -> u64 {
        self.mapping.mapped() - self.map_pages()
    }

    pub(crate) fn melded_mapped_pages(&self) -> u64 {
        self.melded.all()
    }

    /// Pages of a space that hold data, and those of them on flash in the melded layout.
    pub(crate) fn pages_of(&self, space: u32) -> (u64, u64) {
        (self.mapping.mapped_in(space), self.melded.of(space))
    }

    pub(crate) fn free_blocks(&self) -> u64 {
        self.free_superblocks() * u64::from(self.addressing.units)
    }

    /// Free superblocks of all logs.
    pub(crate) fn free_superblocks(&self) -> u64 {
        let superblocks = self.logs.iter().map(|log| u64::from(log.blocks.free()));
        superblocks.sum()
    }

    /// Gives the host so many slots of the write buffer more.
    pub(crate) fn lend_slots(&mut self, slots: u32) {
        self.host_slots += slots;
        self.buffer.lend(slots);
    }

    /// Takes away the host's free slots of the write buffer. Returns how many they were.
    pub(crate) fn reclaim_slots(&mut self) -> u32 {
        let slots = self.buffer.reclaim();
        self.host_slots -= slots;
        slots
    }

    /// Pages of the write buffer that hold data of the host's.
    pub(crate) fn buffered_pages(&self) -> u64 {
        u64::from(self.host_slots - self.buffer.free())
    }

    /// Pages that can be written until the superblock of the host's stream of this number is full.
    pub(crate) fn left_in_superblock(&self, number: u8) -> u64 {
        let stream = Stream::Host(number, Layout::Normal);
        let left = |log: &Log| u64::from(log.left_in_superblock(stream, &self.addressing));
        self.logs.iter().map(left).sum()
    }

    /// Erases of the block that was erased least, and of that erased most.
    pub(crate) fn erases(&self) -> (u64, u64) {
        let wear = || self.logs.iter().map(|log| log.blocks.erases());
        let least = wear().map(|(least, _)| least).min().unwrap_or(0);
        let most = wear().map(|(_, most)| most).max().unwrap_or(0);
        (u64::from(least), u64::from(most))
    }

    /// Bytes of memory that the mapping and what goes with it take.
    pub(crate) fn memory(&self) -> u64 {
        let logs = self.logs.iter().map(Log::memory).sum::<u64>();
        let runs = self.runs.iter().map(SequentialRuns::memory).sum::<u64>();
        logs + runs
            + self.mapping.memory()
            + self.reverse_map.memory()
            + self.buffer.memory()
            + self.programs.memory()
    }

    pub(crate) fn add_space(&mut self) -> u32 {
        self.melded.add_space();
        self.mapping.add_space()
    }

    /// Makes the space of translation pages, before any other.
    pub(crate) fn add_map_space(&mut self) {
        let space = self.add_space();
        self.map_space = Some(space);
        self.melded.set_map_space(space);
    }

    /// Translation pages that there are.
    #[inline]
    fn map_pages(&self) -> u64 {
        let space = self.map_space;
        space.map_or(0, |space| self.mapping.mapped_in(space))
    }

    /// Whether an entry is of a translation page.
    #[inline]
    pub(super) fn is_of_map(&self, index: MapIndex) -> bool {
        let space = self.map_space;
        space.is_some_and(|space| self.mapping.space_of(index) == space)
    }

    /// Whether a superblock's translation pages can be moved to others, whatever they are padded with.
    pub(super) fn has_map_room(&self, log_id: u32) -> bool {
        let available = self.logs[log_id as usize].blocks.available(Stream::MAP[1]);
        available >= 2 * u64::from(self.addressing.pages_per_superblock)
    }

    /// Entries of these translation pages are none any more.
    pub(crate) fn drop_map_pages(&mut self, pages: Range<u64>) {
        if let Some(space) = self.map_space {
            self.deallocate(space, pages.start, pages.end);
        }
    }

    /// Places translation pages that there are none of, as if written long since. False when there is no room.
    pub(crate) fn preload_map(&mut self, pages: Range<u64>) -> bool {
        let Some(space) = self.map_space else {
            return true;
        };
        let mut page = pages.start;
        while let Some(gap) = self.next_unmapped(space, page, pages.end) {
            if !self.preload(space, gap.start, gap.end, Layout::Normal) {
                return false;
            }
            page = gap.end;
        }
        true
    }

    /// Where a translation page is.
    pub(crate) fn map_entry(&self, page: u64) -> Entry {
        let space = self.map_space;
        space.map_or(Entry::Unmapped, |space| self.entry(space, page))
    }

    /// Hands over the pages, but for translation pages, that have been programmed since this was last called.
    pub(crate) fn for_each_changed(&mut self, mut changed: impl FnMut(u32, u64)) {
        for index in self.changed.drain(..) {
            let (space, page) = self.mapping.logical(index);
            if Some(space) != self.map_space {
                changed(space, page);
            }
        }
    }

    /// The layout for data hinted as sequential, or not.
    pub(crate) fn layout(&self, sequential: bool) -> Layout {
        Layout::new(sequential && self.can_meld)
    }

    pub(super) fn new_runs<P: Token>(&self) -> SequentialRuns<P> {
        let pages = self.addressing.pages_per_wordline;
        SequentialRuns::new(self.open_runs, pages, self.addressing.logs)
    }

    /// Where a page is.
    pub(crate) fn entry(&self, space: u32, page: u64) -> Entry {
        self.mapping.entry(space, page)
    }

    /// A page will be read or written in a while: fetches what leads to its entry, and returns which that is.
    #[inline]
    pub(crate) fn prefetch_leaf(&self, space: u32, page: u64) -> Option<MapIndex> {
        let index = self.mapping.find(space, page)?;
        self.mapping.prefetch_leaf(index);
        Some(index)
    }

    /// The page of an entry will be read or written soon.
    #[inline]
    pub(crate) fn prefetch(&self, index: MapIndex) {
        self.mapping.prefetch(index);
    }

    /// The same of a page.
    #[inline]
    pub(crate) fn prefetch_page(&self, space: u32, page: u64) {
        if let Some(index) = self.mapping.find(space, page) {
            self.mapping.prefetch(index);
        }
    }

    /// Whether a physical page shares its wordline with the pages that follow it.
    pub(crate) fn is_melded(&self, ppn: Ppn) -> bool {
        self.layout_of(self.addressing.log_addr(ppn)) == Layout::Melded
    }

    /// The wordline of a physical page, and which of its pages it is.
    pub(crate) fn locate(&self, ppn: Ppn) -> (WordlineAddr, u32) {
        let at = self.addressing.log_addr(ppn);
        let page = self.addressing.page_addr(self.layout_of(at), at.position);
        let wordline = self.addressing.wordline(at.log_id, at.superblock, page);
        (wordline, page.page)
    }

    #[inline(always)]
    pub(super) fn layout_of(&self, at: LogAddr) -> Layout {
        self.logs[at.log_id as usize]
            .blocks
            .get(at.superblock)
            .layout
    }

    /// The host is idle or no longer: whether superblocks are collected and the journal is written in the background.
    pub(crate) fn set_idle(&mut self, is_idle: bool) {
        let journal = self.journal.as_mut();
        if journal.is_some_and(|journal| journal.set_idle(is_idle)) {
            self.write_journal(true);
        }
        let collects = is_idle && self.collects_in_background;
        if std::mem::replace(&mut self.selection.is_idle, collects) != collects {
            self.all_ready();
        }
    }

    /// Whether a write of so many pages has to wait before the buffer.
    #[inline]
    pub(crate) fn holds(&mut self, pages: u64, now: Instant, report: impl FnOnce(Instant)) -> bool {
        if !self.pacing.holds_writes {
            return false;
        }
        let logs = self.logs.iter().map(|log| &log.pace);
        self.pacing.holds(logs, pages, now, report)
    }

    /// The time has come until which a write is held before the buffer.
    pub(crate) fn end_hold(&mut self) {
        self.pacing.end_hold();
    }

    /// In a deterministic window nothing is collected as long as the host can go on without.
    pub(crate) fn set_deterministic(&mut self, is_deterministic: bool) {
        self.selection.is_deterministic = is_deterministic;
        self.all_ready();
    }

    /// Whether something had to be collected in a deterministic window, since this was last asked.
    pub(crate) fn take_excursion(&mut self) -> bool {
        std::mem::take(&mut self.selection.had_excursion)
    }

    /// Whether so many translation pages are to be written that what would change more of them waits.
    pub(crate) fn set_map_behind(&mut self, is_behind: bool) {
        if std::mem::replace(&mut self.is_map_behind, is_behind) && !is_behind {
            self.all_ready();
        }
    }

    fn all_ready(&mut self) {
        for log_id in 0..self.addressing.logs {
            self.ready.push(log_id);
        }
    }

    /// The log a mapped page's data is in or on its way to.
    fn log_of_entry(&self, entry: Entry) -> Option<u32> {
        match entry {
            Entry::Unmapped => None,
            Entry::Buffered(slot) => Some(self.buffer.get(slot).log_id),
            Entry::Flash(ppn) => Some(self.addressing.log_addr(ppn).log_id),
        }
    }

    /// Whether a log can take a page that was mapped so.
    pub(super) fn log_has_room(&self, log_id: u32, entry: Entry) -> bool {
        self.logs[log_id as usize].blocks.host_pages() < self.log_capacity
            || self.log_of_entry(entry) == Some(log_id)
    }

    /// Whether all of the pages could be mapped.
    pub(crate) fn has_room(&self, space: u32, first: u64, end: u64, layout: Layout) -> bool {
        if Some(space) == self.map_space {
            return true; // besides what the host fills
        }
        if self.addressing.logs == 1 {
            let room = self.log_capacity.saturating_sub(self.mapped_pages());
            return end - first <= room || self.unmapped_pages(space, first, end) <= room;
        }
        let logs = u64::from(self.addressing.logs);
        // No log takes more than its turn of each round, and melded pages come in wordlines.
        let most = (end - first).div_ceil(logs) + u64::from(self.addressing.pages_per_wordline);
        let fullest = self
            .logs
            .iter()
            .map(|log| log.blocks.host_pages())
            .max()
            .unwrap_or(0);
        if fullest + most <= self.log_capacity {
            return true;
        }
        if end - first > self.capacity() {
            return false;
        }
        let live = self.logs.iter().map(|log| log.blocks.host_pages());
        let mut live: Vec<u64> = live.collect();
        for page in first..end {
            let log_id = self.addressing.log_of(page, layout);
            let before = self.log_of_entry(self.mapping.entry(space, page));
            if before == Some(log_id) {
                continue;
            }
            // At no time in between either.
            if live[log_id as usize] >= self.log_capacity {
                return false;
            }
            live[log_id as usize] += 1;
            if let Some(before) = before {
                live[before as usize] -= 1;
            }
        }
        true
    }

    /// The first pages from `first` on, one after the other, that hold nothing.
    pub(crate) fn next_unmapped(&self, space: u32, first: u64, end: u64) -> Option<Range<u64>> {
        self.mapping.next_unmapped(space, first, end)
    }

    pub(crate) fn unmapped_pages(&self, space: u32, first: u64, end: u64) -> u64 {
        let mut unmapped = 0;
        self.mapping
            .for_each_run_in(space, first, end, |entry, pages| match entry {
                Entry::Unmapped => unmapped += pages,
                Entry::Buffered(_) | Entry::Flash(_) => {}
            });
        unmapped
    }

    /// Unmaps pages.
    pub(crate) fn deallocate(&mut self, space: u32, first: u64, end: u64) {
        if let Some(journal) = &mut self.journal {
            journal.record(1);
        }
        let mut page = first;
        while let Some(present) = self.mapping.next_present(space, page, end) {
            let leaf = self.mapping.find(space, present).map(MapIndex::leaf);
            page = present + self.remap(space, present, end - present, None);
            if let (Some(history), Some(leaf)) = (&mut self.history, leaf) {
                if self.mapping.find(space, present).is_none() {
                    history.forget(leaf);
                }
            }
        }
    }

    /// Maps consecutive pages to consecutive numbers or to nothing, as far as one leaf of the
    /// mapping reaches. Returns how many pages were done; none when the mapping's memory is used up.
    pub(super) fn remap(&mut self, space: u32, page: u64, pages: u64, first: Option<Ppn>) -> u64 {
        let mut replaced = std::mem::take(&mut self.replaced);
        let done = self
            .mapping
            .replace(space, page, pages, first, &mut replaced);
        for run in replaced.drain(..) {
            self.invalidate(space, run);
        }
        self.replaced = replaced;
        done
    }

    /// What these entries of a space led to is no longer current.
    pub(super) fn invalidate(&mut self, space: u32, run: EntryRun) {
        match run.entry {
            Entry::Unmapped => {}
            Entry::Buffered(slot) => {
                let log = &mut self.logs[self.buffer.get(slot).log_id as usize];
                log.blocks.leave(&mut self.melded, space, 1, Spot::Buffer);
                self.buffer.abandon(slot);
            }
            Entry::Flash(first) => {
                for (at, pages) in self.addressing.pieces(first, run.pages) {
                    let log = &mut self.logs[at.log_id as usize];
                    log.blocks
                        .leave(&mut self.melded, space, pages, Spot::Flash(at.superblock));
                    if let Some(victim) = log.victim_in(at.superblock) {
                        victim.invalidated(at.position, pages);
                    }
                    if log.blocks.is_low() {
                        self.ready.push(at.log_id);
                    }
                }
            }
        }
    }
}
