//! The write buffer: slots of DRAM that hold pages until they are programmed.

use super::mapping::Place;
use crate::engine::Slab;

/// Slots at most, of the host and of garbage collection together.
pub(crate) const MAX_SLOTS: u32 = 1 << 21;

/// Whose slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    Host,
    Gc,
}

/// One buffered page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The page it holds; [`Place::NONE`] when overwritten or deallocated since.
    pub(crate) place: Place,
    pub(crate) user: User,
    /// Its wordline is complete and on its way to the die: it can no longer be overwritten.
    pub(crate) sealed: bool,
}

/// The slots. The host's are bounded by the profile; garbage collection has its own, so that it
/// can make room when the host has filled the buffer.
#[derive(Debug)]
pub(crate) struct Buffer {
    slots: Slab<Slot>,
    free: [u32; 2],
}

impl Buffer {
    pub(crate) fn new(host: u32, gc: u32) -> Buffer {
        Buffer {
            slots: Slab::new(),
            free: [host, gc],
        }
    }

    pub(crate) fn free(&self, user: User) -> u32 {
        self.free[user as usize]
    }

    /// Takes a free slot for the page at `place`.
    pub(crate) fn take(&mut self, user: User, place: Place) -> u32 {
        debug_assert!(self.free(user) > 0, "no free slot");
        self.free[user as usize] -= 1;
        self.slots.insert(Slot {
            place,
            user,
            sealed: false,
        })
    }

    pub(crate) fn get(&self, slot: u32) -> Slot {
        self.slots[slot]
    }

    /// The slot's page has been overwritten or deallocated.
    pub(crate) fn abandon(&mut self, slot: u32) {
        self.slots[slot].place = Place::NONE;
    }

    pub(crate) fn seal(&mut self, slot: u32) {
        self.slots[slot].sealed = true;
    }

    /// Frees the slot and returns what was in it.
    pub(crate) fn release(&mut self, slot: u32) -> Slot {
        let released = self.slots[slot];
        self.free[released.user as usize] += 1;
        self.slots.remove(slot);
        released
    }
}
