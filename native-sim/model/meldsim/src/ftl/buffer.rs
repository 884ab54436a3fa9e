//! The write buffer: slots of DRAM that hold pages until they are programmed.
//!
//! In come pages of the host and of garbage collection, and what is handed to dies; out go the
//! requests that waited for pages to be programmed: writes without a cache, one by one, and flushes,
//! which wait for every page that was sealed before them.

use std::collections::VecDeque;

use super::mapping::{MapIndex, Mapping};
use super::stream::{Layout, WordlinePages};
use crate::engine::{NIL, Slab, prefetch};

/// Whose slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// The host's, written in the stream with this number, 0 for none, to be programmed in this layout.
    Host(u8, Layout),
    /// Garbage collection's, read from a superblock of this layout.
    Gc(Layout),
    /// The mapping's: a translation page. Flushes do not wait for it: the data tell what it would.
    Map,
    /// The journal's: no page of the mapping, and of the journal's own memory.
    Journal,
    /// Padding of a zone that the host finishes: no page of the mapping.
    Padding,
}

/// What of a buffered page its writer did not write. Parts that are written one after the other are taken for different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// So many bytes that hold nothing.
    Nothing(u32),
    /// So many bytes of an older copy of the page.
    Older(u32),
    /// All of it is moved, to level wear.
    Levelling,
}

impl Rest {
    pub(crate) const NONE: Rest = Rest::Nothing(0);

    /// More bytes of the page are written.
    fn less(self, bytes: u32) -> Rest {
        match self {
            Rest::Nothing(rest) => Rest::Nothing(rest.saturating_sub(bytes)),
            Rest::Older(rest) => Rest::Older(rest.saturating_sub(bytes)),
            Rest::Levelling => Rest::Levelling,
        }
    }
}

/// One buffered page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The page it holds; [`MapIndex::NONE`] when overwritten or deallocated since.
    pub(crate) index: MapIndex,
    /// The log that will take it.
    pub(crate) log_id: u32,
    pub(crate) user: User,
    /// The host's request that waits for its program, or [`NIL`].
    pub(crate) request: u32,
    /// Its wordline is complete and waits for its turn, or has had it: flushes wait for it.
    sealed: bool,
    /// Its wordline is on its way to the die: it can no longer be overwritten.
    pub(crate) started: bool,
    /// What of the page its writer did not write.
    pub(crate) rest: Rest,
    /// The flush it belongs to, once sealed.
    epoch: u64,
}

/// Where a page was before part of it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Before {
    Nothing,
    Flash,
    Slot(u32, Rest),
}

/// The slots. The host's are bounded by the profile; garbage collection has its own, so that it can
/// make room when the host has filled the buffer.
#[derive(Debug)]
pub(crate) struct WriteBuffer {
    slots: Slab<Slot>,
    /// The host's.
    free: u32,
    /// Those for translation pages.
    map_free: u32,
    /// Those garbage collection may still take, by log.
    gc_free: Box<[u32]>,
    /// The host's slots that are sealed: programs will free them.
    sealed: u32,
    /// By *epoch*, the time between two flushes, sealed pages that are not programmed, and the flush that
    /// waits for them; the last epoch is the present one.
    epochs: VecDeque<(u64, u32)>,
    /// Epochs that are over and done.
    epochs_done: u64,
    /// Requests that waited for a page's program, once for each page.
    written: Vec<u32>,
}

impl WriteBuffer {
    /// Slots for the host, for translation pages, and for garbage collection in each of some logs.
    pub(crate) fn new(
        (host_slots, map_slots): (u32, u32),
        gc_slots: u32,
        logs: u32,
    ) -> WriteBuffer {
        WriteBuffer {
            slots: Slab::new(),
            free: host_slots,
            map_free: map_slots,
            gc_free: vec![gc_slots; logs as usize].into_boxed_slice(),
            sealed: 0,
            epochs: VecDeque::from([(0, NIL)]),
            epochs_done: 0,
            written: Vec::new(),
        }
    }

    /// Slots the host may take.
    pub(crate) fn free(&self) -> u32 {
        self.free
    }

    /// Slots that translation pages may take.
    pub(crate) fn map_free(&self) -> u32 {
        self.map_free
    }

    /// Gives the host so many slots more.
    pub(crate) fn lend(&mut self, slots: u32) {
        self.free += slots;
    }

    /// Takes away the host's free slots. Returns how many they were.
    pub(crate) fn reclaim(&mut self) -> u32 {
        std::mem::take(&mut self.free)
    }

    /// Slots garbage collection may take in a log.
    pub(crate) fn gc_free(&self, log_id: u32) -> u32 {
        self.gc_free[log_id as usize]
    }

    /// Whether programs on their way will free slots of the host's.
    pub(crate) fn will_be_freed(&self) -> bool {
        self.sealed > 0
    }

    /// Takes a free slot for a page.
    pub(crate) fn take(&mut self, user: User, index: MapIndex, log_id: u32, request: u32) -> u32 {
        let free = match user {
            User::Host(..) | User::Padding => Some(&mut self.free),
            User::Map => Some(&mut self.map_free),
            User::Gc(_) => Some(&mut self.gc_free[log_id as usize]),
            User::Journal => None,
        };
        if let Some(free) = free {
            debug_assert!(*free > 0, "no free slot");
            *free -= 1;
        }
        self.slots.insert(Slot {
            index,
            log_id,
            user,
            request,
            sealed: false,
            started: false,
            rest: Rest::NONE,
            epoch: 0,
        })
    }

    pub(crate) fn get(&self, slot: u32) -> &Slot {
        &self.slots[slot]
    }

    /// The slot will be used soon.
    pub(crate) fn prefetch(&self, slot: u32) {
        prefetch(&self.slots[slot]);
    }

    /// All of the slot's page is written once more.
    pub(crate) fn rewrite(&mut self, slot: u32) {
        self.slots[slot].rest = Rest::NONE;
    }

    /// Only so many bytes of the slot's page, which is as large as that, are written; the rest is as in `before`.
    pub(crate) fn write_part(&mut self, slot: u32, bytes: u32, page_bytes: u32, before: Before) {
        self.slots[slot].rest = match before {
            Before::Nothing => Rest::Nothing(page_bytes - bytes),
            Before::Slot(same, rest) if same == slot => rest.less(bytes),
            Before::Slot(..) | Before::Flash => Rest::Older(page_bytes - bytes),
        };
    }

    /// A request of the host's waits for the slot's program.
    pub(crate) fn wait(&mut self, slot: u32, request: u32) {
        self.slots[slot].request = request;
    }

    /// The slot's page is moved to level wear.
    pub(crate) fn levels(&mut self, slot: u32) {
        self.slots[slot].rest = Rest::Levelling;
    }

    /// The slot's page has been overwritten or deallocated.
    pub(crate) fn abandon(&mut self, slot: u32) {
        self.slots[slot].index = MapIndex::NONE;
    }

    /// The slot's wordline is handed to a die.
    pub(crate) fn start(&mut self, slot: u32) {
        self.slots[slot].started = true;
    }

    /// The slot's wordline is complete.
    pub(crate) fn seal(&mut self, slot: u32) {
        let slot = &mut self.slots[slot];
        debug_assert!(!slot.sealed);
        slot.sealed = true;
        if !matches!(slot.user, User::Gc(_) | User::Map) {
            let present = self.epochs.len() - 1;
            slot.epoch = self.epochs_done + present as u64;
            self.epochs[present].0 += 1;
            self.sealed += u32::from(slot.user != User::Journal);
        }
    }

    /// Frees the slot, whose page is programmed or need not be, and returns what was in it.
    pub(crate) fn release(&mut self, slot: u32) -> Slot {
        let released = self.slots[slot];
        match released.user {
            User::Gc(_) => self.gc_free[released.log_id as usize] += 1,
            User::Map => self.map_free += 1,
            User::Host(..) | User::Padding => {
                self.free += 1;
                if released.sealed {
                    self.sealed -= 1;
                    self.epochs[(released.epoch - self.epochs_done) as usize].0 -= 1;
                }
            }
            User::Journal => self.epochs[(released.epoch - self.epochs_done) as usize].0 -= 1,
        }
        if released.request != NIL {
            self.written.push(released.request);
        }
        self.slots.remove(slot);
        released
    }

    /// The next request one of whose pages is programmed, or needs no program any more.
    #[inline]
    pub(crate) fn pop_written(&mut self) -> Option<u32> {
        self.written.pop()
    }

    /// A flush waits for everything sealed so far.
    pub(crate) fn flush(&mut self, request: u32) {
        if let Some((_, waiting)) = self.epochs.back_mut() {
            *waiting = request;
        }
        self.epochs.push_back((0, NIL));
    }

    /// The next flush that need not wait any longer.
    pub(crate) fn pop_flushed(&mut self) -> Option<u32> {
        if self.epochs.len() == 1 || self.epochs[0].0 > 0 {
            return None;
        }
        self.epochs_done += 1;
        self.epochs.pop_front().map(|(_, request)| request)
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        self.slots.memory()
    }
}

/// Where pages are programmed together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) log_id: u32,
    pub(crate) superblock: u32,
    /// The position of the first page, and the step from each flash page to the next.
    pub(crate) position: u32,
    pub(crate) step: u32,
    pub(crate) pages: u8,
}

impl Place {
    const NONE: Place = Place {
        log_id: 0,
        superblock: 0,
        position: 0,
        step: 0,
        pages: 0,
    };
}

/// Pages that are programmed together, from when they are complete until the program has ended.
#[derive(Clone, Copy, Debug)]
struct Program {
    slots: WordlinePages,
    /// Once a die was given it.
    place: Place,
    /// The one that a die was given next and that will most likely end next, or [`NIL`].
    next: u32,
}

/// The programs that wait for positions or for their dies; each has a token.
#[derive(Debug)]
pub(crate) struct Programs {
    slab: Slab<Program>,
    /// The one started last, or [`NIL`].
    last: u32,
}

impl Programs {
    pub(crate) fn new() -> Programs {
        Programs {
            slab: Slab::new(),
            last: NIL,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slab.len() == 0
    }

    /// Pages are complete; returns their token.
    pub(crate) fn add(&mut self, slots: WordlinePages) -> u32 {
        self.slab.insert(Program {
            slots,
            place: Place::NONE,
            next: NIL,
        })
    }

    /// The slots it programs; those of one that has ended until the next is added.
    #[inline]
    pub(crate) fn slots(&self, token: u32) -> &[u32] {
        self.slab[token].slots.as_slice()
    }

    /// What is programmed in another way.
    pub(crate) fn take(&mut self, token: u32) -> WordlinePages {
        self.slab.remove(token);
        self.slab[token].slots
    }

    /// A die is given a program.
    pub(crate) fn start(&mut self, token: u32, place: Place) {
        self.slab[token].place = place;
        if self.last != NIL {
            self.slab[self.last].next = token;
        }
        self.last = token;
    }

    /// A program has ended; returns where it was. Fetches what the end of the next one will use, and what leads there of those
    /// after it, a step for each: between two programs of a die the write buffer goes round once, so all of it has long left the
    /// processor's caches. What ended out of turn leads nowhere in particular, which costs no more than the fetch.
    pub(crate) fn end(&mut self, token: u32, buffer: &WriteBuffer, mapping: &Mapping) -> Place {
        let Program { place, next, .. } = self.slab[token];
        self.slab.remove(token);
        let mut ahead = next;
        let steps: [fn(&WriteBuffer, &Mapping, u32); 3] = [
            |buffer, mapping, slot| mapping.prefetch(buffer.get(slot).index),
            |buffer, mapping, slot| mapping.prefetch_leaf(buffer.get(slot).index),
            |buffer, _, slot| buffer.prefetch(slot),
        ];
        for step in steps {
            if ahead == NIL {
                return place;
            }
            let Program { slots, next, .. } = &self.slab[ahead];
            for &slot in slots.as_slice() {
                step(buffer, mapping, slot);
            }
            ahead = *next;
        }
        if ahead != NIL {
            prefetch(&self.slab[ahead]);
        }
        place
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        self.slab.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer of the host's with sealed slots.
    fn sealed(buffer: &mut WriteBuffer, count: usize) -> Vec<u32> {
        let take = |_| {
            let slot = buffer.take(User::Host(0, Layout::Normal), MapIndex::NONE, 0, NIL);
            buffer.seal(slot);
            slot
        };
        (0..count).map(take).collect()
    }

    #[test]
    fn a_flush_waits_for_what_was_sealed_before_it() {
        let mut buffer = WriteBuffer::new((8, 0), 1, 1);
        let before = sealed(&mut buffer, 2);
        buffer.flush(7);
        let after = sealed(&mut buffer, 1);
        buffer.flush(8);
        buffer.flush(9);
        buffer.release(after[0]);
        assert_eq!(buffer.pop_flushed(), None, "the first flush is not done");
        buffer.release(before[1]);
        assert_eq!(buffer.pop_flushed(), None);
        buffer.release(before[0]);
        let done: Vec<u32> = std::iter::from_fn(|| buffer.pop_flushed()).collect();
        assert_eq!(done, [7, 8, 9]);
        buffer.flush(10);
        assert_eq!(buffer.pop_flushed(), Some(10), "nothing to wait for");
    }

    #[test]
    fn slots_of_garbage_collection_are_its_own() {
        let mut buffer = WriteBuffer::new((1, 0), 2, 2);
        let moved = buffer.take(User::Gc(Layout::Normal), MapIndex::NONE, 1, NIL);
        assert_eq!(
            (buffer.free(), buffer.gc_free(0), buffer.gc_free(1)),
            (1, 2, 1)
        );
        let written = buffer.take(User::Host(0, Layout::Normal), MapIndex::NONE, 0, 5);
        assert_eq!((buffer.free(), buffer.will_be_freed()), (0, false));
        buffer.seal(written);
        buffer.flush(6);
        buffer.seal(moved);
        assert!(buffer.will_be_freed());
        buffer.release(written);
        assert_eq!(
            (buffer.pop_written(), buffer.pop_flushed()),
            (Some(5), Some(6))
        );
        buffer.release(moved);
        assert_eq!((buffer.free(), buffer.gc_free(1)), (1, 2));
    }
}
