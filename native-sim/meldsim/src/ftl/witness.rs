//! What lies where, for tests only: follows each page's data from the write that brought it, so
//! that a test can ask what a read would return. The device itself carries no data.

use std::collections::HashMap;

use super::layer::Ftl;
use super::mapping::Entry;
use super::numbering::Ppn;
use super::stream::Stream;

/// Data by slot and by flash page; a piece of data is the tag of the write that brought it.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// The tag of the write at work.
    pub(crate) writing: u64,
    slots: HashMap<u32, u64>,
    /// Data of slots on their way to a die: writing to such a slot comes too late.
    sealed: HashMap<u32, u64>,
    pages: HashMap<Ppn, u64>,
}

impl Witness {
    pub(super) fn written(&mut self, slot: u32) {
        self.slots.insert(slot, self.writing);
    }

    pub(super) fn sealed(&mut self, slot: u32) {
        self.sealed.insert(slot, self.slots[&slot]);
    }

    pub(super) fn preloaded(&mut self, ppn: Ppn) {
        let before = self.pages.insert(ppn, self.writing);
        assert_eq!(before, None, "{ppn:?} is programmed twice");
    }

    pub(super) fn programmed(&mut self, slot: u32, ppn: Ppn) {
        self.slots.remove(&slot);
        let before = self.pages.insert(ppn, self.sealed[&slot]);
        assert_eq!(before, None, "{ppn:?} is programmed twice");
    }

    pub(super) fn collected(&mut self, ppn: Ppn, slot: u32) {
        self.slots.insert(slot, self.pages[&ppn]);
    }

    pub(super) fn moved(&mut self, from: Ppn, to: Ppn) {
        let data = self.pages[&from];
        let before = self.pages.insert(to, data);
        assert_eq!(before, None, "{to:?} is programmed twice");
    }
}

/// Stands for the data that a buffered page held when the power was cut.
pub(super) fn survivor(space: u32, page: u64) -> u64 {
    1 << 63 | u64::from(space) << 48 | page
}

impl Ftl {
    /// Tells a restored layer what the one before it held.
    pub(crate) fn witness_restored(&mut self, before: &Ftl) {
        self.witness.pages.clone_from(&before.witness.pages);
        let Witness { slots, sealed, .. } = &mut self.witness;
        for tag in slots.values_mut().chain(sealed.values_mut()) {
            let (space, page) = ((*tag << 1 >> 49) as u32, *tag & ((1 << 48) - 1));
            assert_eq!(*tag, survivor(space, page));
            *tag = before.data(space, page).unwrap();
        }
    }

    pub(super) fn witness_erased(&mut self, lane: u32, group: u32) {
        let numbering = &self.numbering;
        self.witness.pages.retain(|&ppn, _| {
            let slice = numbering.slice(ppn);
            (slice.lane, slice.group) != (lane, group)
        });
    }

    /// Streams of the host's that have been kept apart from the rest, in either layout and each lane.
    pub(crate) fn streams_used(&self) -> u64 {
        let streams = self
            .lanes
            .iter()
            .map(|lane| lane.streams().count() - Stream::FIXED);
        streams.sum::<usize>() as u64
    }

    /// The data a read of the page would return.
    pub(crate) fn data(&self, space: u32, page: u64) -> Option<u64> {
        match self.entry(space, page) {
            Entry::Unmapped => None,
            Entry::Buffered(slot) => Some(self.witness.slots[&slot]),
            Entry::Flash(ppn) => Some(self.witness.pages[&ppn]),
        }
    }
}
