//! What of a layer survives a power cut: the mapping and the state of the blocks, which a device
//! keeps on flash, and the write buffer, which is protected.
//!
//! Programs on their way are lost with the places they were given; their pages are still buffered
//! and are written again. A group that was being collected or erased has to be collected anew.
//!
//! What is loaded may come from anywhere: a state in which a layer could not have been is refused.

use serde::{Deserialize, Serialize};

use super::blocks::SavedBlocks;
use super::buffer::User;
use super::layer::Ftl;
use super::mapping::Entry;
use super::numbering::{Ppn, Slice};
use super::stream::{Layout, Stream};
use crate::engine::NIL;
use crate::nvme::MAX_STREAMS;

/// A layer, as far as it survives.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedFtl {
    lanes: Vec<SavedBlocks>,
    runs: Vec<SavedRun>,
    buffered: Vec<SavedPage>,
}

/// Consecutive pages with consecutive numbers.
#[derive(Debug, Serialize, Deserialize)]
struct SavedRun {
    space: u32,
    page: u64,
    first: u32,
    pages: u32,
}

/// A page in the write buffer.
#[derive(Debug, Serialize, Deserialize)]
struct SavedPage {
    space: u32,
    page: u64,
    lane: u32,
    /// The host's stream it was written in, 0 for none; nothing when garbage collection moves it.
    stream: Option<u8>,
}

impl Ftl {
    pub(crate) fn save(&self) -> SavedFtl {
        let mut runs = Vec::new();
        let mut buffered = Vec::new();
        self.mapping.for_each_run(|place, run| {
            let (space, page) = match run.entry {
                Entry::Unmapped => return,
                _ => self.mapping.logical(place),
            };
            match run.entry {
                Entry::Unmapped => {}
                Entry::Flash(first) => runs.push(SavedRun {
                    space,
                    page,
                    first: first.0,
                    pages: run.pages,
                }),
                Entry::Buffered(slot) => {
                    let slot = self.buffer.get(slot);
                    buffered.push(SavedPage {
                        space,
                        page,
                        lane: slot.lane,
                        stream: match slot.user {
                            User::Host(stream) => Some(stream),
                            User::Gc => None,
                        },
                    });
                }
            }
        });
        SavedFtl {
            lanes: self.lanes.iter().map(|lane| lane.blocks.save()).collect(),
            runs,
            buffered,
        }
    }

    /// Puts a layer that was never used into a saved state; says what is impossible about it.
    /// `spaces` is the pages of each of its spaces.
    pub(crate) fn load(&mut self, saved: &SavedFtl, spaces: &[u64]) -> Result<(), &'static str> {
        if saved.lanes.len() != self.lanes.len() {
            return Err("its lanes are not the profile's");
        }
        for _ in spaces {
            self.mapping.add_space();
        }
        for (lane, saved) in self.lanes.iter_mut().zip(&saved.lanes) {
            lane.blocks.load(saved, &self.numbering)?;
            if !lane.resume_streams() {
                return Err("more streams are open than blocks can be spared for");
            }
        }
        let is_in = |space: u32, page: u64, pages: u32| {
            let end = page.checked_add(u64::from(pages));
            let size = spaces.get(space as usize);
            matches!((end, size), (Some(end), Some(&size)) if end <= size)
        };
        if !saved
            .runs
            .iter()
            .all(|run| is_in(run.space, run.page, run.pages))
        {
            return Err("a page is in no namespace");
        }
        check_numbers(&saved.runs)?;
        for run in &saved.runs {
            self.load_run(run)?;
        }
        for lane in &mut self.lanes {
            lane.blocks.find_empty();
        }
        for page in &saved.buffered {
            if !is_in(page.space, page.page, 1) {
                return Err("a buffered page is in no namespace");
            }
            #[cfg(test)]
            {
                self.witness.writing = super::witness::survivor(page.space, page.page);
            }
            match page.stream {
                None => self.load_moved(page)?,
                Some(stream) if u16::from(stream) > MAX_STREAMS => {
                    return Err("a buffered page is of no stream");
                }
                Some(stream) => {
                    let normal = self.numbering.lane_of(page.page, Layout::Normal) == page.lane;
                    let layout = if normal {
                        Layout::Normal
                    } else {
                        Layout::Melded
                    };
                    self.write(page.space, page.page, layout, stream, NIL)
                        .map_err(|_| "more is buffered than there is room for")?;
                }
            }
        }
        let capacity = self.lane_capacity();
        if self.lanes.iter().any(|lane| lane.live > capacity) {
            return Err("more is mapped than the device holds");
        }
        match self.lanes.iter().all(|lane| lane.blocks.can_collect()) {
            true => Ok(()),
            false => Err("no block is left to collect others into"),
        }
    }

    fn load_run(&mut self, run: &SavedRun) -> Result<(), &'static str> {
        let numbering = &self.numbering;
        let groups = u64::from(numbering.groups) * u64::from(numbering.lanes);
        let end = u64::from(run.first) + u64::from(run.pages);
        if end > groups * u64::from(numbering.pages_per_group) {
            return Err("a page is mapped to nowhere");
        }
        let mut done = 0;
        while done < run.pages {
            let Slice {
                lane,
                group,
                position,
            } = numbering.slice(Ppn(run.first + done));
            let pages = match numbering.lanes {
                1 => (run.pages - done).min(numbering.pages_per_group - position),
                _ => 1,
            };
            let lane = &mut self.lanes[lane as usize];
            if !lane
                .blocks
                .holds_data(group, position..position + pages, numbering)
            {
                return Err("a page is mapped to where nothing was written");
            }
            lane.blocks.validate(group, pages);
            lane.live += u64::from(pages);
            done += pages;
        }
        let mut done = 0;
        while done < run.pages {
            let (page, left) = (run.page + u64::from(done), u64::from(run.pages - done));
            let first = Some(Ppn(run.first + done));
            let mut replaced = std::mem::take(&mut self.replaced);
            let mapped = self
                .mapping
                .replace(run.space, page, left, first, &mut replaced);
            let was_mapped = replaced.iter().any(|run| run.entry != Entry::Unmapped);
            replaced.clear();
            self.replaced = replaced;
            if mapped == 0 {
                return Err("the mapping needs more memory than the profile gives it");
            }
            if was_mapped {
                return Err("a page is mapped twice");
            }
            done += mapped as u32;
        }
        Ok(())
    }

    /// A page that was being moved by garbage collection.
    fn load_moved(&mut self, page: &SavedPage) -> Result<(), &'static str> {
        let place = self.mapping.find_or_make(page.space, page.page);
        let place = place.ok_or("the mapping needs more memory than the profile gives it")?;
        if self.mapping.get(place) != Entry::Unmapped {
            return Err("a page that is being moved is mapped as well");
        }
        let lane = self
            .lanes
            .get_mut(page.lane as usize)
            .ok_or("a buffered page is on its way to no lane")?;
        lane.live += 1;
        lane.collector.free_slots = lane
            .collector
            .free_slots
            .checked_sub(1)
            .ok_or("more is being moved than there is room for")?;
        let slot = self.buffer.take(User::Gc, place, page.lane, NIL);
        #[cfg(test)]
        self.witness.written(slot);
        self.mapping.set(place, Entry::Buffered(slot));
        self.gather(page.lane, Stream::Gc(Layout::Normal), slot);
        Ok(())
    }
}

/// No physical page holds the data of two logical ones.
fn check_numbers(runs: &[SavedRun]) -> Result<(), &'static str> {
    let mut ends: Vec<(u32, u32)> = runs.iter().map(|run| (run.first, run.pages)).collect();
    ends.sort_unstable();
    let overlap =
        |pair: &[(u32, u32)]| u64::from(pair[0].0) + u64::from(pair[0].1) > pair[1].0.into();
    match ends.windows(2).any(overlap) {
        true => Err("two pages are mapped to one place"),
        false => Ok(()),
    }
}
