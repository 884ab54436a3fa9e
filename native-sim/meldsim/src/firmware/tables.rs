//! What the threads share: the commands on their way, the index lock, the burst buffer.

use super::arrival::{Arrival, Pages};
use super::buffer::BurstBuffer;
use super::lock::IndexLock;
use super::usage::FirmwareUsage;
use crate::engine::Time;
use crate::nvme::Opcode;

/// A command on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) opcode: Opcode,
    pub(super) pages: Pages,
    pub(super) is_partial: bool,
    /// The thread that completes it.
    pub(super) thread: u32,
    /// Parts of it that are still to be composed.
    pub(super) parts: u32,
    /// Its range stays locked until the medium is through with it.
    pub(super) holds: bool,
    /// Its range is locked.
    pub(super) is_locked: bool,
    /// It waits only for its range to be unlocked.
    is_done: bool,
    /// Which write it is: stands for its data.
    data: u64,
    waits_since: Time,
}

impl Flight {
    /// Pages that somebody has to work for.
    #[inline]
    pub(super) fn work(&self) -> u32 {
        match self.opcode {
            Opcode::Read | Opcode::Write => self.pages.count() as u32,
            Opcode::Deallocate | Opcode::Flush => 1,
        }
    }
}

/// The tables, and the counters of those who use them.
#[derive(Debug)]
pub(super) struct Tables {
    /// By request.
    flights: Vec<Flight>,
    pub(super) index: IndexLock,
    pub(super) buffer: BurstBuffer,
    pub(super) usage: FirmwareUsage,
    writes: u64,
    /// What reads found in the buffer: request, page, data.
    #[cfg(test)]
    pub(super) found: Vec<(u32, u64, u64)>,
    /// Requests in the order in which they got their ranges.
    #[cfg(test)]
    pub(super) order: Vec<u32>,
}

impl Tables {
    pub(super) fn new(cache_pages: u32) -> Tables {
        Tables {
            flights: Vec::new(),
            index: IndexLock::default(),
            buffer: BurstBuffer::new(cache_pages),
            usage: FirmwareUsage::default(),
            writes: 0,
            #[cfg(test)]
            found: Vec::new(),
            #[cfg(test)]
            order: Vec::new(),
        }
    }

    pub(super) fn arrive(&mut self, arrival: &Arrival) {
        let flight = Flight {
            opcode: arrival.opcode,
            pages: arrival.pages,
            is_partial: arrival.is_partial,
            thread: 0,
            parts: 0,
            holds: false,
            is_locked: false,
            is_done: false,
            data: 0,
            waits_since: Time::ZERO,
        };
        let index = arrival.request as usize;
        if index >= self.flights.len() {
            self.flights.resize(index + 1, flight);
        }
        self.flights[index] = flight;
    }

    #[inline]
    pub(super) fn flight(&self, request: u32) -> &Flight {
        &self.flights[request as usize]
    }

    #[inline]
    pub(super) fn flight_mut(&mut self, request: u32) -> &mut Flight {
        &mut self.flights[request as usize]
    }

    /// Whether the host may know of the command's end; else it may when its range is unlocked.
    #[inline]
    pub(super) fn complete(&mut self, request: u32) -> bool {
        let flight = &mut self.flights[request as usize];
        flight.is_done = flight.is_locked;
        !flight.is_locked
    }

    /// Locks the command's range. False when it overlaps another's: then it waits for that one, and
    /// is among those granted when the range is unlocked.
    #[inline]
    pub(super) fn lock(&mut self, now: Time, request: u32) -> bool {
        let flight = &mut self.flights[request as usize];
        match self.index.acquire(&flight.pages, request) {
            Ok(()) => {
                flight.is_locked = true;
                #[cfg(test)]
                self.order.push(request);
                true
            }
            Err(owner) => {
                flight.waits_since = now;
                self.usage.lock_conflicts += 1;
                self.index.wait(request, owner);
                false
            }
        }
    }

    /// Unlocks the command's range. Those who waited for it try again, in their order; the ones that
    /// succeed are added to `granted`. True when the command's end waited for this.
    #[inline]
    pub(super) fn unlock(&mut self, now: Time, request: u32, granted: &mut Vec<u32>) -> bool {
        let flight = &mut self.flights[request as usize];
        debug_assert!(flight.is_locked, "unlocked twice");
        flight.is_locked = false;
        let is_done = flight.is_done;
        let mut next = self.index.release(&flight.pages, request);
        while let Some(waiter) = next {
            next = self.index.next_waiter(waiter);
            let flight = &mut self.flights[waiter as usize];
            match self.index.acquire(&flight.pages, waiter) {
                Ok(()) => {
                    flight.is_locked = true;
                    self.usage.lock_wait += now - flight.waits_since;
                    granted.push(waiter);
                    #[cfg(test)]
                    self.order.push(waiter);
                }
                Err(owner) => self.index.wait(waiter, owner),
            }
        }
        is_done
    }

    /// Whether the burst buffer has all that a read asks for.
    #[inline]
    pub(super) fn look(&mut self, request: u32) -> bool {
        let pages = self.flights[request as usize].pages;
        #[cfg(test)]
        for page in pages.first..pages.end {
            let data = self.buffer.read(pages.volume, page);
            self.found.extend(data.map(|data| (request, page, data)));
        }
        let is_hit = self.buffer.holds(&pages);
        self.usage.cache_hits += u64::from(is_hit);
        is_hit
    }

    /// Changes the burst buffer as a write or a deallocation says.
    #[inline]
    pub(super) fn change(&mut self, request: u32) {
        let flight = &mut self.flights[request as usize];
        let pages = flight.pages;
        if flight.opcode != Opcode::Write || flight.is_partial {
            // What is in transit may not have reached the medium: nobody reads before this is through.
            self.buffer.forget(&pages);
            flight.holds = true;
            return;
        }
        self.writes += 1;
        flight.data = self.writes;
        for page in pages.first..pages.end {
            let has_room = self.buffer.write(pages.volume, page, flight.data, request);
            flight.holds |= !has_room;
        }
    }

    /// The medium is through with the command.
    #[inline]
    pub(super) fn end(&mut self, request: u32) {
        let flight = &self.flights[request as usize];
        if flight.opcode == Opcode::Write {
            self.buffer.written(&flight.pages, request);
        }
    }

    /// Which write it is, once it is in the buffer.
    #[cfg(test)]
    pub(super) fn data(&self, request: u32) -> u64 {
        self.flights[request as usize].data
    }

    /// Ranges locked now.
    #[cfg(test)]
    pub(super) fn locked(&self) -> usize {
        self.index.len()
    }
}
