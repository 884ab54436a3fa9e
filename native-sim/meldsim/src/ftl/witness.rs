//! What lies where, for tests only: follows each page's data from the write that brought it, so
//! that a test can ask what a read would return. The device itself carries no data.

use std::collections::HashMap;

use super::layer::Ftl;
use super::mapping::Entry;
use crate::nand::{Geometry, Ppa};

/// Data by slot and by flash page; a piece of data is the tag of the write that brought it.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// The tag of the write at work.
    pub(crate) writing: u64,
    slots: HashMap<u32, u64>,
    /// Data of slots on their way to a die: writing to such a slot comes too late.
    sealed: HashMap<u32, u64>,
    pages: HashMap<Ppa, u64>,
}

impl Witness {
    pub(super) fn written(&mut self, slot: u32) {
        self.slots.insert(slot, self.writing);
    }

    pub(super) fn sealed(&mut self, slot: u32) {
        self.sealed.insert(slot, self.slots[&slot]);
    }

    pub(super) fn preloaded(&mut self, ppa: Ppa) {
        self.pages.insert(ppa, self.writing);
    }

    pub(super) fn programmed(&mut self, slot: u32, ppa: Ppa) {
        self.slots.remove(&slot);
        self.pages.insert(ppa, self.sealed[&slot]);
    }

    pub(super) fn collected(&mut self, ppa: Ppa, slot: u32) {
        self.slots.insert(slot, self.pages[&ppa]);
    }

    pub(super) fn moved(&mut self, from: Ppa, to: Ppa) {
        let data = self.pages[&from];
        self.pages.insert(to, data);
    }

    pub(super) fn erased(&mut self, geometry: &Geometry, superblock: u32) {
        self.pages.retain(|&ppa, _| {
            let (wordline, _) = geometry.wordline_of(ppa);
            geometry.superblock(wordline) != superblock
        });
    }
}

impl Ftl {
    /// The data a read of the page would return.
    pub(crate) fn data(&self, space: u32, page: u64) -> Option<u64> {
        match self.entry(space, page) {
            Entry::Unmapped => None,
            Entry::Buffered(slot) => Some(self.witness.slots[&slot]),
            Entry::Flash(ppa) => Some(self.witness.pages[&ppa]),
        }
    }
}
