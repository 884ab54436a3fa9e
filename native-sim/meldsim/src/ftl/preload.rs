//! Data that was written long ago: the same layout, in no simulated time.

use super::blocks::{State, Stream};
use super::layer::{FillList, Ftl, Layout};
use super::mapping::{Entry, Place};
use super::scheduler::{Fill, Stripe};
use super::victim;
use crate::engine::NIL;
use crate::profile::GcVictim;

/// Wordlines placed at a time: bounds the memory of a large preload, and the room it needs before
/// what it replaces is given up.
const BATCH: u32 = 4096;

impl Ftl {
    /// Maps the pages to flash as if the host had written them in order and flushed. Nothing but
    /// padding is counted. False when there is no room for all of them.
    pub(crate) fn preload(&mut self, space: u32, first: u64, end: u64, layout: Layout) -> bool {
        if !self.has_room(space, first, end) {
            return false;
        }
        let (mut stripe, mut runs) = self.new_gatherers();
        let batch = self.geometry.wordlines_per_superblock().min(BATCH) as usize;
        let mut fills: Vec<Fill> = Vec::with_capacity(batch);
        for page in first..end {
            let Some(place) = self.mapping.find_or_make(space, page) else {
                return false;
            };
            match layout {
                Layout::Normal => fills.extend(stripe.push(place.0)),
                Layout::Melded => {
                    let mut complete = FillList::default();
                    runs.push(space, page, place.0, |fill| complete.push(fill));
                    fills.extend(complete.iter());
                }
            }
            if fills.len() >= batch && !self.place_now(&mut fills, Stream::Host(layout)) {
                return false;
            }
        }
        stripe.close(|fill| fills.push(fill));
        runs.close(|fill| fills.push(fill));
        self.place_now(&mut fills, Stream::Host(layout))
    }

    /// Gives each fill, whose pages are places in the mapping, a wordline.
    fn place_now(&mut self, fills: &mut Vec<Fill>, stream: Stream) -> bool {
        while self.blocks.available(stream) < fills.len() as u64 {
            if !self.collect_now() {
                return false;
            }
        }
        for fill in fills.drain(..) {
            let Some(wordline) = self.blocks.next_wordline(stream) else {
                debug_assert!(false, "wordlines were available");
                return false;
            };
            self.blocks.programmed(wordline);
            for index in 0..self.geometry.pages_per_wordline {
                let page = fill[index as usize];
                if page == NIL {
                    self.stats.padded_pages += 1;
                    continue;
                }
                let place = Place(page);
                let ppa = self.geometry.page(wordline, index);
                let before = self.mapping.get(place);
                #[cfg(test)]
                match (stream, before) {
                    (Stream::Gc(_), Entry::Flash(from)) => self.witness.moved(from, ppa),
                    _ => self.witness.preloaded(ppa),
                }
                self.forget(before);
                self.blocks.validate(ppa, place);
                self.mapping.set(place, Entry::Flash(ppa));
            }
        }
        true
    }

    /// Collects one superblock in no time. False when there is none to collect.
    fn collect_now(&mut self) -> bool {
        let pages = self.geometry.pages_per_superblock();
        let Some(victim) = victim::choose(GcVictim::Greedy, &self.blocks, pages) else {
            return false;
        };
        let block = self.blocks.get(victim);
        let (layout, valid) = (block.layout, block.valid);
        let stream = Stream::Gc(layout);
        let mut places: Vec<Place> = Vec::with_capacity(valid as usize);
        for n in 0..self.geometry.wordlines_per_superblock() {
            let wordline = self.geometry.wordline_at(victim, n);
            for index in 0..self.geometry.pages_per_wordline {
                let place = self.blocks.place(self.geometry.page(wordline, index));
                places.extend((place != Place::NONE).then_some(place));
            }
        }
        // The last stripe is made shorter, so that at most one wordline is padded.
        let pages_per_wordline = self.geometry.pages_per_wordline;
        let mut fills: Vec<Fill> = Vec::new();
        for stripe in places.chunks(match layout {
            Layout::Normal => self.geometry.pages_per_stripe() as usize,
            Layout::Melded => pages_per_wordline as usize,
        }) {
            let wordlines = (stripe.len() as u32).div_ceil(pages_per_wordline);
            let mut gatherer = Stripe::new(wordlines, pages_per_wordline);
            fills.extend(stripe.iter().filter_map(|place| gatherer.push(place.0)));
            gatherer.close(|fill| fills.push(fill));
        }
        let needed = fills.len() as u64;
        let per_superblock = u64::from(self.geometry.wordlines_per_superblock());
        if needed >= per_superblock || self.blocks.available(stream) < needed {
            return false; // padding would eat what collecting it gains
        }
        self.blocks.get_mut(victim).state = State::Collected;
        let placed = self.place_now(&mut fills, stream);
        self.blocks.erased(victim);
        #[cfg(test)]
        self.witness.erased(&self.geometry, victim);
        placed
    }
}
