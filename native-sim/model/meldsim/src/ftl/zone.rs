//! Zones on flash: each fills superblocks of its own, through the stream of its frontier.
//!
//! In come zones that end; out go programs of what is gathered of them, and of padding. There is one log.

use super::buffer::User;
use super::layer::Ftl;
use super::log::Queued;
use super::mapping::MapIndex;
use super::stream::{Layout, Stream, WordlinePages};

impl Ftl {
    /// Programs what the zone at a frontier has gathered, with padding. Returns for how many programs the request waits.
    pub(crate) fn close_zone(&mut self, slot: u8, request: u32) -> u64 {
        let stream = Stream::Host(slot, Layout::Normal);
        let gatherer = &mut self.logs[0].stream(stream).gatherer;
        let mut programs = 0;
        for pages in gatherer.close() {
            let is_current = |slot: &&u32| self.buffer.get(**slot).index != MapIndex::NONE;
            if let Some(&last) = pages.as_slice().iter().rfind(is_current) {
                self.buffer.wait(last, request);
                programs += 1;
            }
            self.close(0, stream, pages);
        }
        programs
    }

    /// Whether anything of the zone at a frontier has left the write buffer or is about to.
    pub(crate) fn has_zone_begun(&mut self, slot: u8) -> bool {
        let stream = Stream::Host(slot, Layout::Normal);
        self.logs[0].filled_wordlines(stream, &self.addressing) > 0
    }

    /// Wordlines that the superblock of the zone at a frontier has left.
    pub(crate) fn zone_rest(&mut self, slot: u8) -> u32 {
        let (log, addressing) = (&mut self.logs[0], &self.addressing);
        let filled = log.filled_wordlines(Stream::Host(slot, Layout::Normal), addressing);
        let all = addressing.pages_per_superblock / addressing.pages_per_wordline;
        all.saturating_sub(filled)
    }

    /// Wordlines of padding that are on their way at most: half of what the write buffer holds.
    pub(crate) fn padding_at_once(&self) -> u32 {
        (self.host_slots / self.addressing.pages_per_wordline / 2).max(1)
    }

    /// Programs a wordline of padding, for which the request waits. False when the write buffer has no room.
    pub(crate) fn pad_zone(&mut self, slot: u8, request: u32) -> bool {
        if self.buffer.free() == 0 {
            return false;
        }
        let padding = self.buffer.take(User::Padding, MapIndex::NONE, 0, request);
        self.oracle.buffered(padding);
        self.buffer.seal(padding);
        let mut wordline = WordlinePages::NONE;
        wordline.push(padding);
        let token = self.programs.add(wordline);
        self.enqueue(0, Stream::Host(slot, Layout::Normal), Queued::Pages(token));
        true
    }
}
