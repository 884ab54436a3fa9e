//! The write buffer: slots of DRAM that hold pages until they are programmed.

use super::mapping::Place;
use crate::engine::{Slab, prefetch};

/// Whose slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// The host's, written in the stream with this number; 0 for none.
    Host(u8),
    Gc,
}

/// One buffered page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The page it holds; [`Place::NONE`] when overwritten or deallocated since.
    pub(crate) place: Place,
    /// The lane that will take it.
    pub(crate) lane: u32,
    pub(crate) user: User,
    /// The host's request that waits for its program, or [`NIL`](crate::engine::NIL).
    pub(crate) request: u32,
    /// Its wordline is complete and on its way to the die: it can no longer be overwritten.
    pub(crate) sealed: bool,
    /// The flush it belongs to, once sealed; garbage collection's belong to none.
    pub(crate) epoch: u64,
}

/// The slots. The host's are bounded by the profile; garbage collection bounds its own, so that it
/// can make room when the host has filled the buffer.
#[derive(Debug)]
pub(crate) struct Buffer {
    slots: Slab<Slot>,
    /// The host's.
    free: u32,
    /// The host's slots that are sealed: programs will free them.
    sealed: u32,
}

impl Buffer {
    pub(crate) fn new(host_slots: u32) -> Buffer {
        Buffer {
            slots: Slab::new(),
            free: host_slots,
            sealed: 0,
        }
    }

    /// Slots the host may take.
    pub(crate) fn free(&self) -> u32 {
        self.free
    }

    /// Whether programs on their way will free slots of the host's.
    pub(crate) fn will_be_freed(&self) -> bool {
        self.sealed > 0
    }

    /// Takes a free slot for the page at `place`.
    pub(crate) fn take(&mut self, user: User, place: Place, lane: u32, request: u32) -> u32 {
        if user != User::Gc {
            debug_assert!(self.free > 0, "no free slot");
            self.free -= 1;
        }
        self.slots.insert(Slot {
            place,
            lane,
            user,
            request,
            sealed: false,
            epoch: 0,
        })
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &Slot {
        &self.slots[slot]
    }

    /// The slot will be looked at soon.
    #[inline]
    pub(crate) fn prefetch(&self, slot: u32) {
        prefetch(&self.slots[slot]);
    }

    /// The slot's page has been overwritten or deallocated.
    pub(crate) fn abandon(&mut self, slot: u32) {
        self.slots[slot].place = Place::NONE;
    }

    pub(crate) fn seal(&mut self, slot: u32, epoch: u64) {
        let slot = &mut self.slots[slot];
        debug_assert!(!slot.sealed);
        slot.sealed = true;
        slot.epoch = epoch;
        self.sealed += u32::from(slot.user != User::Gc);
    }

    /// Frees the slot and returns what was in it.
    pub(crate) fn release(&mut self, slot: u32) -> Slot {
        let released = self.slots[slot];
        if released.user != User::Gc {
            self.free += 1;
            self.sealed -= u32::from(released.sealed);
        }
        self.slots.remove(slot);
        released
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        self.slots.memory()
    }
}
