//! A write buffer that all NVM sets share (`sets.write_buffer = "global"`).
//!
//! The free slots are in a pool. A set has all of them while it takes writes, and gives back what is left. Sets whose
//! writes wait for slots have them in turn, as programs of any set free some.

use std::collections::VecDeque;

use super::{Map, NandMedium, NvmSet};
use crate::device::request::Requests;
use crate::engine::EventQueue;
use crate::event::Event;
use crate::ftl::Ftl;
use crate::nand::Owner;

/// The free slots of the buffer, and the sets that wait for some.
#[derive(Debug, Default)]
pub(super) struct SharedSlots {
    free: u32,
    waiting: VecDeque<u32>,
}

impl SharedSlots {
    /// Takes the slots that each set was built with.
    pub(super) fn of<M: Map>(sets: &mut [NvmSet<M>]) -> SharedSlots {
        let mut shared = SharedSlots::default();
        sets.iter_mut().for_each(|set| shared.reclaim(&mut set.ftl));
        shared
    }

    /// A set may fill all that is free.
    pub(super) fn lend(&mut self, ftl: &mut Ftl) {
        ftl.lend_slots(std::mem::take(&mut self.free));
    }

    /// A set gives back what it has not filled.
    pub(super) fn reclaim(&mut self, ftl: &mut Ftl) {
        self.free += ftl.reclaim_slots();
    }

    /// Writes of a set wait for slots.
    pub(super) fn wait(&mut self, set: u32) {
        if !self.waiting.contains(&set) {
            self.waiting.push_back(set);
        }
    }
}

impl<M: Map> NandMedium<M> {
    /// Where the buffer is shared: what has become free goes to the sets that wait, in turn.
    #[inline(always)]
    pub(super) fn share_slots(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests) {
        if self.shared_slots.is_some() {
            while self.give_slots(queue, requests) {}
        }
    }

    /// Returns whether there may be more to give.
    fn give_slots(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests) -> bool {
        for _ in 0..self.reclaim_all() {
            let Some(shared) = &mut self.shared_slots else {
                return false;
            };
            if shared.free == 0 {
                break;
            }
            if let Some(set) = shared.waiting.pop_front() {
                self.run_admissions(queue, requests, set);
            }
        }
        let is_waiting = |shared: &SharedSlots| shared.free == 0 && !shared.waiting.is_empty();
        if !self.shared_slots.as_ref().is_some_and(is_waiting)
            || !self.sets.iter().all(|set| set.ftl.is_stuck())
        {
            return false;
        }
        // All that is buffered waits for others of its wordline.
        for set in 0..self.sets.len() as u32 {
            self.sets[set as usize].ftl.make_progress();
            self.dispatch(queue, set, Owner::gc(set));
        }
        self.reclaim_all();
        let has_free = |shared: &SharedSlots| shared.free > 0;
        self.shared_slots.as_ref().is_some_and(has_free)
    }

    /// Takes what each set has free. Returns how many sets wait.
    fn reclaim_all(&mut self) -> usize {
        let Some(shared) = &mut self.shared_slots else {
            return 0;
        };
        for set in &mut self.sets {
            shared.reclaim(&mut set.ftl);
        }
        shared.waiting.len()
    }
}
