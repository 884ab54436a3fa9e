//! What of a layer survives a power cut: the mapping and the state of the blocks, which a device
//! keeps on flash, and the write buffer, which is protected.
//!
//! Programs on their way are lost with the positions they were given; their pages are still buffered
//! and are written again. A superblock that was being collected or erased has to be collected anew.
//!
//! In comes a layer, out goes its saved state, and back. What is loaded may come from anywhere: a state
//! in which a layer could not have been is refused.

use serde::{Deserialize, Serialize};

use super::address::{Addressing, Ppn};
use super::blocks::{Blocks, OpenSuperblock, State, Superblock};
use super::buffer::User;
use super::layer::Ftl;
use super::ledger::Spot;
use super::mapping::Entry;
use super::stream::{Layout, Stream};
use crate::engine::NIL;
use crate::nvme::MAX_STREAMS;

/// Bounds of what a saved log may say of its past: no device lives longer, and counts go on from there.
const CLOCK_MAX: u64 = 1 << 56;
const ERASES_MAX: u32 = 1 << 30;

/// A layer, as far as it survives.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedFtl {
    logs: Vec<SavedBlocks>,
    runs: Vec<SavedRun>,
    buffered: Vec<SavedPage>,
}

/// The superblocks of a log, as far as they survive a power cut.
#[derive(Debug, Serialize, Deserialize)]
struct SavedBlocks {
    clock: u64,
    superblocks: Vec<SavedSuperblock>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedSuperblock {
    is_free: bool,
    is_melded: bool,
    erases: u32,
    closed_at: u64,
    /// Of an open superblock, the stream that fills it, and the next position; of one that was closed by a stream that is not
    /// always there, that stream, and the position after the last.
    open: Option<(u32, u32)>,
}

/// Consecutive pages with consecutive numbers.
#[derive(Debug, Serialize, Deserialize)]
struct SavedRun {
    space: u32,
    page: u64,
    first: u64,
    pages: u32,
}

/// A page in the write buffer.
#[derive(Debug, Serialize, Deserialize)]
struct SavedPage {
    space: u32,
    page: u64,
    log_id: u32,
    /// The host's stream it was written in, 0 for none; nothing when garbage collection moves it.
    stream: Option<u8>,
    is_melded: bool,
}

impl SavedFtl {
    pub(crate) fn of(ftl: &Ftl) -> SavedFtl {
        let mut runs = Vec::new();
        let mut buffered = Vec::new();
        ftl.mapping.for_each_run(|index, run| {
            if run.entry == Entry::Unmapped {
                return;
            }
            let (space, page) = ftl.mapping.logical(index);
            match run.entry {
                Entry::Unmapped => {}
                Entry::Flash(first) => runs.push(SavedRun {
                    space,
                    page,
                    first: first.0,
                    pages: run.pages,
                }),
                Entry::Buffered(slot) => {
                    let slot = ftl.buffer.get(slot);
                    let (stream, layout) = match slot.user {
                        User::Host(stream, layout) => (Some(stream), layout),
                        User::Gc(layout) => (None, layout),
                        User::Map => (Some(0), Layout::Normal),
                        User::Journal | User::Padding => return, // no page of the mapping
                    };
                    buffered.push(SavedPage {
                        space,
                        page,
                        log_id: slot.log_id,
                        stream,
                        is_melded: layout == Layout::Melded,
                    });
                }
            }
        });
        SavedFtl {
            logs: ftl
                .logs
                .iter()
                .map(|log| SavedBlocks::of(&log.blocks))
                .collect(),
            runs,
            buffered,
        }
    }

    pub(crate) fn load(&self, ftl: &mut Ftl, spaces: &[u64]) -> Result<(), &'static str> {
        if self.logs.len() != ftl.logs.len() {
            return Err("its logs are not the profile's");
        }
        let own = usize::from(ftl.map_space.is_some());
        for _ in &spaces[own..] {
            ftl.add_space();
        }
        for (log, saved) in ftl.logs.iter_mut().zip(&self.logs) {
            saved.load(&mut log.blocks, &ftl.addressing)?;
            if !log.resume_streams() {
                return Err("more streams are open than blocks can be spared for");
            }
        }
        let is_in = |space: u32, page: u64, pages: u32| {
            let end = page.checked_add(u64::from(pages));
            let size = spaces.get(space as usize);
            matches!((end, size), (Some(end), Some(&size)) if end <= size)
        };
        let mut runs = self.runs.iter();
        if !runs.all(|run| is_in(run.space, run.page, run.pages)) {
            return Err("a page is in no namespace");
        }
        check_numbers(&self.runs)?;
        for run in &self.runs {
            run.load(ftl)?;
        }
        for log in &mut ftl.logs {
            log.blocks.restored();
        }
        // Its memory is protected, too: what was taken was journalled with the cut, and need not be again.
        let journal = ftl.journal.take();
        for page in &self.buffered {
            if !is_in(page.space, page.page, 1) {
                return Err("a buffered page is in no namespace");
            }
            page.load(ftl)?;
        }
        ftl.journal = journal;
        if ftl
            .logs
            .iter()
            .any(|log| log.blocks.host_pages() > ftl.log_capacity)
        {
            return Err("more is mapped than the device holds");
        }
        match ftl.logs.iter().all(|log| log.blocks.can_collect()) {
            true => Ok(()),
            false => Err("no block is left to collect others into"),
        }
    }
}

impl SavedBlocks {
    fn of(blocks: &Blocks) -> SavedBlocks {
        let superblocks = blocks.superblocks.iter();
        let superblocks = superblocks
            .map(|superblock| SavedSuperblock::of(superblock, blocks.pages_per_superblock));
        let mut superblocks: Vec<SavedSuperblock> = superblocks.collect();
        for (stream, open) in (0..).zip(&blocks.open) {
            if let Some(open) = open {
                // Wordlines of which some pages are programmed cannot be gone on with.
                let next = match open.wordlines {
                    Some(_) => blocks.pages_per_superblock,
                    None => open.next,
                };
                superblocks[open.superblock as usize].open = Some((stream, next));
            }
        }
        SavedBlocks {
            clock: blocks.clock,
            superblocks,
        }
    }

    /// Puts blocks that were never used into the saved state, but for the data they hold.
    fn load(&self, blocks: &mut Blocks, addressing: &Addressing) -> Result<(), &'static str> {
        if self.superblocks.len() > blocks.count as usize {
            return Err("it has more blocks than the profile");
        }
        if self.clock > CLOCK_MAX {
            return Err("more was written than can be");
        }
        blocks.clock = self.clock;
        for (number, superblock) in (0..).zip(&self.superblocks) {
            if superblock.erases > ERASES_MAX || superblock.closed_at > self.clock {
                return Err("a block has a past that cannot be");
            }
            let layout = Layout::new(superblock.is_melded);
            let state = match superblock.is_free {
                true => State::Free,
                false => State::Closed,
            };
            let mut loaded =
                Superblock::new(state, layout, superblock.erases, superblock.closed_at);
            if let Some((stream, next)) = superblock.open {
                let index = stream as usize;
                if index >= Stream::COUNT
                    || Stream::from_index(index).layout() != layout
                    || next % addressing.pages_at_once(layout) != 0
                    || superblock.is_free
                {
                    return Err("an open block is not one of its stream's");
                }
                loaded.stream = index as u8;
                if next < blocks.pages_per_superblock {
                    let open = OpenSuperblock {
                        superblock: number,
                        next,
                        wordlines: None,
                    };
                    if blocks.filled_by(index).replace(open).is_some() {
                        return Err("a stream has two open blocks");
                    }
                    loaded.state = State::Open;
                }
            }
            blocks.superblocks.push(loaded);
            if superblock.is_free {
                blocks.free_again(number);
            }
        }
        Ok(())
    }
}

impl SavedSuperblock {
    fn of(superblock: &Superblock, pages: u32) -> SavedSuperblock {
        let stream = superblock.stream();
        let is_told_apart = (stream.is_of_map() || !stream.frontier().is_first())
            && superblock.state != State::Free;
        SavedSuperblock {
            is_free: superblock.state == State::Free,
            is_melded: superblock.layout == Layout::Melded,
            erases: superblock.erases,
            closed_at: superblock.closed_at,
            open: is_told_apart.then(|| (superblock.stream().index() as u32, pages)),
        }
    }
}

impl SavedRun {
    fn load(&self, ftl: &mut Ftl) -> Result<(), &'static str> {
        let addressing = &ftl.addressing;
        let superblocks = u64::from(addressing.superblocks) * u64::from(addressing.logs);
        let end = self.first.checked_add(u64::from(self.pages));
        if end.is_none_or(|end| end > superblocks * u64::from(addressing.pages_per_superblock)) {
            return Err("a page is mapped to nowhere");
        }
        for (at, pages) in addressing.pieces(Ppn(self.first), self.pages) {
            let log = &mut ftl.logs[at.log_id as usize];
            let positions = at.position..at.position + pages;
            if !log.blocks.holds_data(at.superblock, positions, addressing) {
                return Err("a page is mapped to where nothing was written");
            }
            log.blocks.place(
                &mut ftl.melded,
                self.space,
                pages,
                Spot::Flash(at.superblock),
            );
        }
        let mut pages = u64::from(self.pages);
        if ftl.unmapped_pages(self.space, self.page, self.page + pages) < pages {
            return Err("a page is mapped twice");
        }
        let (mut page, mut first) = (self.page, self.first);
        while pages > 0 {
            let done = ftl.remap(self.space, page, pages, Some(Ppn(first)));
            if done == 0 {
                return Err("the mapping needs more memory than the profile gives it");
            }
            (page, first, pages) = (page + done, first + done, pages - done);
        }
        Ok(())
    }
}

impl SavedPage {
    fn load(&self, ftl: &mut Ftl) -> Result<(), &'static str> {
        ftl.oracle.begin_restored(self.space, self.page);
        let Some(stream) = self.stream else {
            return self.load_moved(ftl);
        };
        if u16::from(stream) > MAX_STREAMS {
            return Err("a buffered page is of no stream");
        }
        if Some(self.space) == ftl.map_space {
            return ftl
                .write_map(self.page)
                .map_err(|_| "more is buffered than there is room for");
        }
        let layout = Layout::new(self.is_melded);
        ftl.write(self.space, self.page, layout, stream, NIL)
            .map_err(|_| "more is buffered than there is room for")
    }

    /// A page that was being moved by garbage collection.
    fn load_moved(&self, ftl: &mut Ftl) -> Result<(), &'static str> {
        let index = ftl.mapping.find_or_make(self.space, self.page);
        let index = index.ok_or("the mapping needs more memory than the profile gives it")?;
        if ftl.mapping.get(index) != Entry::Unmapped {
            return Err("a page that is being moved is mapped as well");
        }
        let log = ftl.logs.get_mut(self.log_id as usize);
        let log = log.ok_or("a buffered page is on its way to no log")?;
        log.blocks
            .place(&mut ftl.melded, self.space, 1, Spot::Buffer);
        if ftl.buffer.gc_free(self.log_id) == 0 {
            return Err("more is being moved than there is room for");
        }
        let layout = Layout::new(self.is_melded);
        let slot = ftl.buffer.take(User::Gc(layout), index, self.log_id, NIL);
        ftl.oracle.buffered(slot);
        ftl.mapping.set(index, Entry::Buffered(slot));
        match layout {
            _ if ftl.is_of_map(index) => ftl.gather(self.log_id, Stream::MAP[1], slot),
            Layout::Normal => ftl.gather(self.log_id, Stream::Gc(0, layout), slot),
            Layout::Melded => ftl.gather_leftover(self.log_id, Stream::Gc(0, layout), slot),
        }
        Ok(())
    }
}

/// No physical page holds the data of two logical ones.
fn check_numbers(runs: &[SavedRun]) -> Result<(), &'static str> {
    let mut ends: Vec<(u64, u32)> = runs.iter().map(|run| (run.first, run.pages)).collect();
    ends.sort_unstable();
    let overlap = |pair: &[(u64, u32)]| pair[0].0.saturating_add(pair[0].1.into()) > pair[1].0;
    match ends.windows(2).any(overlap) {
        true => Err("two pages are mapped to one place"),
        false => Ok(()),
    }
}
