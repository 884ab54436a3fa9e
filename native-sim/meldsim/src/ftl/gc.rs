//! Garbage collection: in the foreground, one superblock at a time.
//!
//! The valid pages of a victim are read into slots of the collector's own and written by its own
//! streams, in the layout they had, so that melded data stays melded. Once all of them are in
//! DRAM, which is protected against power loss, the victim is erased. A read the host had queued
//! on it before may find the erase before it; the model lets it through, with the time it takes.

use super::blocks::{State, Stream};
use super::buffer::User;
use super::layer::{Ftl, Layout};
use super::mapping::{Entry, Place};
use super::scheduler::{Runs, Stripe};
use super::victim;
use crate::engine::{Event, EventQueue, NIL};
use crate::nand::{Flash, Geometry, MAX_PAGES_PER_WORDLINE, Owner, Ppa, Wordline, WordlineAddr};
use crate::profile::GcVictim;

#[derive(Debug)]
struct Victim {
    superblock: u32,
    layout: Layout,
    /// Next to look at: wordlines in the melded layout, pages in the normal one, each in the order
    /// in which they were filled.
    cursor: u32,
    /// Pages that are being read.
    reading: u32,
    /// Blocks still to be erased; none before all pages are out.
    erasing: u32,
}

#[derive(Debug)]
pub(crate) struct Collector {
    policy: GcVictim,
    victim: Option<Victim>,
    stripe: Stripe,
    /// Packs pages whose wordline has lost others; whole wordlines move as they are.
    packer: Runs,
}

impl Collector {
    pub(crate) fn new(policy: GcVictim, geometry: &Geometry) -> Collector {
        Collector {
            policy,
            victim: None,
            stripe: Stripe::new(geometry.dies, geometry.pages_per_wordline),
            packer: Runs::new(1, geometry.pages_per_wordline),
        }
    }

    /// Slots it needs: an open stripe, one being programmed, one being read, and a packed wordline.
    pub(crate) fn slots(geometry: &Geometry) -> u32 {
        3 * geometry.pages_per_stripe() + geometry.pages_per_wordline
    }
}

impl Ftl {
    /// Starts a collection when erased blocks run low, and moves the present one on.
    pub(super) fn collect(&mut self, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        if self.collector.victim.is_none() {
            if !self.blocks.is_low() {
                return;
            }
            let pages = self.geometry.pages_per_superblock();
            let Some(superblock) = victim::choose(self.collector.policy, &self.blocks, pages)
            else {
                return;
            };
            let block = self.blocks.get_mut(superblock);
            block.state = State::Collected;
            let layout = block.layout;
            self.collector.victim = Some(Victim {
                superblock,
                layout,
                cursor: 0,
                reading: 0,
                erasing: 0,
            });
        }
        self.read_victim(flash, queue);
        self.erase_victim(flash, queue);
    }

    fn read_victim(&mut self, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let geometry = &self.geometry;
        let Some(victim) = &mut self.collector.victim else {
            return;
        };
        let units = match victim.layout {
            Layout::Melded => geometry.wordlines_per_superblock(),
            Layout::Normal => geometry.pages_per_superblock(),
        };
        let in_flight = geometry.pages_per_stripe();
        while victim.cursor < units
            && victim.reading + geometry.pages_per_wordline <= in_flight
            && victim.reading + geometry.pages_per_wordline <= self.buffer.free(User::Gc)
        {
            let (wordline, mask) = unit(geometry, victim);
            victim.cursor += 1;
            let pages = self.blocks.valid_pages(wordline) & mask;
            if pages != 0 {
                victim.reading += pages.count_ones();
                let melded = victim.layout == Layout::Melded;
                flash.read(
                    queue,
                    geometry.locate(wordline),
                    pages,
                    melded,
                    Owner::gc(0),
                );
            }
        }
    }

    fn erase_victim(&mut self, flash: &mut Flash, queue: &mut EventQueue<Event>) {
        let Some(victim) = &mut self.collector.victim else {
            return;
        };
        let emptied = self.blocks.get(victim.superblock).valid == 0 && victim.reading == 0;
        if emptied && victim.erasing == 0 {
            victim.erasing = self.geometry.dies;
            for die in 0..self.geometry.dies {
                let (unit, block) = self.geometry.block_of(die, victim.superblock);
                flash.erase(queue, unit, block, victim.superblock);
            }
        }
    }

    /// Pages of the victim have arrived in the controller.
    pub(crate) fn gc_read(&mut self, at: WordlineAddr, pages: u8) {
        let wordline = self.geometry.wordline(at);
        let Some(victim) = &mut self.collector.victim else {
            debug_assert!(false, "read for no victim");
            return;
        };
        victim.reading -= pages.count_ones();
        let layout = victim.layout;
        let stream = Stream::Gc(layout);
        let all = (1u8 << self.geometry.pages_per_wordline) - 1;
        let whole =
            layout == Layout::Melded && pages == all && self.blocks.valid_pages(wordline) == all;
        let mut moved = [NIL; MAX_PAGES_PER_WORDLINE];
        for index in 0..self.geometry.pages_per_wordline {
            let ppa = self.geometry.page(wordline, index);
            if pages & (1 << index) == 0 {
                continue;
            }
            let Some(slot) = self.move_to_buffer(ppa) else {
                continue;
            };
            moved[index as usize] = slot;
            if !whole {
                let fill = match layout {
                    Layout::Normal => self.collector.stripe.push(slot),
                    Layout::Melded => self.collector.packer.push_leftover(slot),
                };
                if let Some(fill) = fill {
                    self.close(stream, fill);
                }
            }
        }
        if whole {
            self.close(stream, moved);
        }
    }

    /// Moves a page into a slot; nothing when it was overwritten or deallocated while being read.
    fn move_to_buffer(&mut self, ppa: Ppa) -> Option<u32> {
        let place = self.blocks.place(ppa);
        if place == Place::NONE {
            return None;
        }
        self.blocks.invalidate(ppa);
        let slot = self.buffer.take(User::Gc, place);
        #[cfg(test)]
        self.witness.collected(ppa, slot);
        self.mapping.set(place, Entry::Buffered(slot));
        self.stats.gc_pages_moved += 1;
        Some(slot)
    }

    /// One block of the victim is erased; with the last one it is free.
    pub(crate) fn erased(&mut self, superblock: u32) {
        self.stats.erases += 1;
        let Some(victim) = &mut self.collector.victim else {
            debug_assert!(false, "erased no victim");
            return;
        };
        victim.erasing -= 1;
        if victim.erasing == 0 {
            self.collector.victim = None;
            self.blocks.erased(superblock);
            #[cfg(test)]
            self.witness.erased(&self.geometry, superblock);
        }
    }
}

/// What the cursor points at: a wordline, and which of its pages.
fn unit(geometry: &Geometry, victim: &Victim) -> (Wordline, u8) {
    match victim.layout {
        Layout::Melded => (
            geometry.wordline_at(victim.superblock, victim.cursor),
            u8::MAX,
        ),
        Layout::Normal => {
            let stripe = victim.cursor / geometry.pages_per_stripe();
            let page = victim.cursor % geometry.pages_per_stripe();
            let wordline = stripe * geometry.dies + page % geometry.dies;
            (
                geometry.wordline_at(victim.superblock, wordline),
                1 << (page / geometry.dies),
            )
        }
    }
}
