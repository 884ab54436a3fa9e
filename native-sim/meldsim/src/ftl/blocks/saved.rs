//! What of a lane's blocks survives a power cut. What is loaded is checked: it may come from anywhere.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Blocks, Candidate, Group, OpenGroup, State};
use crate::ftl::address::Addressing;
use crate::ftl::stream::{Layout, Stream};

/// Bounds of what a saved lane may say of its past: no device lives longer, and counts go on from there.
const CLOCK_MAX: u64 = 1 << 56;
const ERASES_MAX: u32 = 1 << 30;

/// The block groups of a lane, as far as they survive a power cut.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedBlocks {
    clock: u64,
    groups: Vec<SavedGroup>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedGroup {
    is_free: bool,
    is_melded: bool,
    erases: u32,
    closed_at: u64,
    /// Of an open group: the stream that fills it, and the next position.
    open: Option<(u32, u32)>,
}

impl Blocks {
    pub(crate) fn save(&self) -> SavedBlocks {
        let open = |number: u32| {
            let mut opened = (0..).zip(&self.open);
            opened.find_map(|(stream, open)| {
                let open = open.as_ref().filter(|open| open.group == number)?;
                // Wordlines of which some pages are programmed cannot be gone on with.
                let next = match open.wordlines {
                    Some(_) => self.pages_per_group,
                    None => open.next,
                };
                Some((stream, next))
            })
        };
        let groups = self.iter().map(|(number, group)| SavedGroup {
            is_free: group.state == State::Free,
            is_melded: group.layout == Layout::Melded,
            erases: group.erases,
            closed_at: group.closed_at,
            open: open(number),
        });
        SavedBlocks {
            clock: self.clock,
            groups: groups.collect(),
        }
    }

    /// Puts blocks that were never used into a saved state, but for the data they hold.
    pub(crate) fn load(
        &mut self,
        saved: &SavedBlocks,
        addressing: &Addressing,
    ) -> Result<(), &'static str> {
        if saved.groups.len() > self.count as usize {
            return Err("it has more blocks than the profile");
        }
        if saved.clock > CLOCK_MAX {
            return Err("more was written than can be");
        }
        self.clock = saved.clock;
        for (number, group) in (0..).zip(&saved.groups) {
            if group.erases > ERASES_MAX || group.closed_at > saved.clock {
                return Err("a block has a past that cannot be");
            }
            let state = match group.is_free {
                true => State::Free,
                false => State::Closed,
            };
            let layout = Layout::new(group.is_melded);
            let loaded = Group::new(state, layout, group.erases, group.closed_at);
            self.groups.push(loaded);
            self.wear.add(group.erases);
            if group.is_free {
                self.free_again(number);
            }
            let Some((stream, next)) = group.open.filter(|open| open.1 < self.pages_per_group)
            else {
                continue;
            };
            let index = stream as usize;
            if index >= Stream::COUNT
                || Stream::from_index(index).layout() != layout
                || next % addressing.pages_at_once(layout) != 0
                || group.is_free
            {
                return Err("an open block is not one of its stream's");
            }
            if self.open.len() <= index {
                self.open.resize_with(index + 1, || None);
            }
            if self.open[index].is_some() {
                return Err("a stream has two open blocks");
            }
            self.groups[number as usize].state = State::Open;
            self.open[index] = Some(OpenGroup {
                group: number,
                next,
                wordlines: None,
            });
        }
        Ok(())
    }

    /// Whether positions of a group may hold data: of an open one, those that its stream has filled.
    pub(crate) fn holds_data(
        &self,
        number: u32,
        positions: Range<u32>,
        addressing: &Addressing,
    ) -> bool {
        match self.groups.get(number as usize) {
            None => false,
            Some(group) if group.state == State::Open => {
                let mut open = self.open.iter().flatten();
                let next = open.find(|open| open.group == number).map(|open| open.next);
                let layout = group.layout;
                next.is_some_and(|next| {
                    positions
                        .into_iter()
                        .all(|at| addressing.is_filled(layout, at, next))
                })
            }
            Some(group) => group.state == State::Closed,
        }
    }

    /// Whether garbage collection has room to go on, if it has to.
    pub(crate) fn can_collect(&self) -> bool {
        let fits = |candidate: Candidate| {
            let stream = Stream::Gc(self.get(candidate.group).layout);
            u64::from(candidate.valid) <= self.available(stream)
        };
        self.free() > 0 || self.candidates().any(fits)
    }

    /// Looks for closed groups that hold nothing.
    pub(crate) fn find_empty(&mut self) {
        let empty = (0..).zip(&self.groups);
        let empty = empty.filter(|(_, group)| group.is_collectable() && group.valid == 0);
        self.empty = empty.map(|(number, _)| number).collect();
    }
}
