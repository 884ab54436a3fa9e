//! What of a layer survives a power cut: the mapping and the state of the blocks, which a device
//! keeps on flash, and the write buffer, which is protected.
//!
//! Programs on their way are lost with the places they were given; their pages are still buffered
//! and are written again. A group that was being collected or erased has to be collected anew.

use serde::{Deserialize, Serialize};

use super::blocks::SavedBlocks;
use super::buffer::User;
use super::layer::Ftl;
use super::mapping::Entry;
use super::numbering::{Ppn, Slice};
use super::stream::{Layout, Stream};
use crate::engine::NIL;

/// A layer, as far as it survives.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedFtl {
    spaces: u32,
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
    is_moved: bool,
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
                        is_moved: slot.user == User::Gc,
                    });
                }
            }
        });
        SavedFtl {
            spaces: self.mapping.spaces(),
            lanes: self.lanes.iter().map(|lane| lane.blocks.save()).collect(),
            runs,
            buffered,
        }
    }

    /// Puts a layer that was never used into a saved state; says what is impossible about it.
    pub(crate) fn load(&mut self, saved: &SavedFtl) -> Result<(), &'static str> {
        if saved.lanes.len() != self.lanes.len() {
            return Err("its lanes are not the profile's");
        }
        for _ in 0..saved.spaces {
            self.mapping.add_space();
        }
        for (lane, saved) in self.lanes.iter_mut().zip(&saved.lanes) {
            lane.blocks.load(saved, &self.numbering)?;
            lane.recall_host_streams();
        }
        for run in &saved.runs {
            self.load_run(run, saved.spaces)?;
        }
        for lane in &mut self.lanes {
            lane.blocks.find_empty();
        }
        for page in &saved.buffered {
            if page.space >= saved.spaces {
                return Err("a buffered page is in no namespace");
            }
            #[cfg(test)]
            {
                self.witness.writing = super::witness::survivor(page.space, page.page);
            }
            match page.is_moved {
                true => self.load_moved(page)?,
                false => {
                    let normal = self.numbering.lane_of(page.page, Layout::Normal) == page.lane;
                    let layout = if normal {
                        Layout::Normal
                    } else {
                        Layout::Melded
                    };
                    self.write(page.space, page.page, layout, 0, NIL)
                        .map_err(|_| "more is buffered than there is room for")?;
                }
            }
        }
        Ok(())
    }

    fn load_run(&mut self, run: &SavedRun, spaces: u32) -> Result<(), &'static str> {
        let numbering = &self.numbering;
        let groups = u64::from(numbering.groups) * u64::from(numbering.lanes);
        let end = u64::from(run.first) + u64::from(run.pages);
        if run.space >= spaces || end > groups * u64::from(numbering.pages_per_group) {
            return Err("a page is mapped to nowhere");
        }
        for index in 0..run.pages {
            let Slice { lane, group, .. } = numbering.slice(Ppn(run.first + index));
            let lane = &mut self.lanes[lane as usize];
            if !lane.blocks.holds_data(group) {
                return Err("a page is mapped to a free block");
            }
            lane.blocks.validate(group, 1);
            lane.live += 1;
        }
        let mut done = 0;
        while done < run.pages {
            let (page, left) = (run.page + u64::from(done), u64::from(run.pages - done));
            let first = Some(Ppn(run.first + done));
            let mut replaced = std::mem::take(&mut self.replaced);
            let mapped = self
                .mapping
                .replace(run.space, page, left, first, &mut replaced);
            replaced.clear();
            self.replaced = replaced;
            if mapped == 0 {
                return Err("the mapping needs more memory than the profile gives it");
            }
            done += mapped as u32;
        }
        Ok(())
    }

    /// A page that was being moved by garbage collection.
    fn load_moved(&mut self, page: &SavedPage) -> Result<(), &'static str> {
        let place = self.mapping.find_or_make(page.space, page.page);
        let place = place.ok_or("the mapping needs more memory than the profile gives it")?;
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
