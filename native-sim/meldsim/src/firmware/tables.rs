//! What the threads share: the commands in flight, the index lock, the burst buffer, and the actions
//! that are due.

use super::buffer::BurstBuffer;
use super::command::{Action, Arrival, FirmwareUsage, Pages};
use super::lock::IndexLock;
#[cfg(test)]
use super::tests::Record;
use crate::engine::Instant;
use crate::nvme::Opcode;

/// A command in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) opcode: Opcode,
    pub(super) pages: Pages,
    is_partial: bool,
    /// The thread that completes it.
    pub(super) thread: u32,
    /// Parts of it that are still to be composed.
    pub(super) parts: u32,
    /// Its range stays locked until the medium is through with it.
    pub(super) keeps_lock: bool,
    /// Its range is locked.
    pub(super) is_locked: bool,
    /// It waits only for its range to be unlocked.
    is_done: bool,
    /// Which write it is: stands for its data.
    data: u64,
    waits_since: Instant,
}

impl Flight {
    /// Pages that take work.
    #[inline]
    pub(super) fn work(&self) -> u32 {
        match self.opcode {
            Opcode::Read | Opcode::Write => self.pages.count() as u32,
            Opcode::Deallocate | Opcode::Flush => 1,
        }
    }
}

/// What tests record of the tables' use: nothing otherwise.
#[cfg(not(test))]
#[derive(Debug)]
pub(super) struct Record;

#[cfg(not(test))]
impl Record {
    fn new() -> Record {
        Record
    }
    #[inline(always)]
    fn lock(&mut self, _request: u32) {}
    #[inline(always)]
    fn lookup(&mut self, _request: u32, _pages: &Pages, _buffer: &BurstBuffer) {}
}

/// The tables, and the counters of their use.
#[derive(Debug)]
pub(super) struct Tables {
    /// By request.
    flights: Vec<Flight>,
    pub(super) index: IndexLock,
    pub(super) buffer: BurstBuffer,
    /// What is due on the medium or for the host, in order.
    pub(super) actions: Vec<Action>,
    pub(super) usage: FirmwareUsage,
    writes: u64,
    pub(super) record: Record,
}

impl Tables {
    pub(super) fn new(cache_pages: u32) -> Tables {
        Tables {
            flights: Vec::new(),
            index: IndexLock::default(),
            buffer: BurstBuffer::new(cache_pages),
            actions: Vec::new(),
            usage: FirmwareUsage::default(),
            writes: 0,
            record: Record::new(),
        }
    }

    pub(super) fn arrive(&mut self, arrival: &Arrival) {
        let flight = Flight {
            opcode: arrival.opcode,
            pages: arrival.pages,
            is_partial: arrival.is_partial,
            thread: 0,
            parts: 0,
            keeps_lock: false,
            is_locked: false,
            is_done: false,
            data: 0,
            waits_since: Instant::START,
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

    /// Locks the command's range. False when it overlaps another's: then it waits for that one, and
    /// is among those granted when the range is unlocked.
    #[inline]
    pub(super) fn lock(&mut self, now: Instant, request: u32) -> bool {
        let flight = &mut self.flights[request as usize];
        match self.index.acquire(&flight.pages, request) {
            Ok(()) => {
                flight.is_locked = true;
                self.record.lock(request);
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

    /// Unlocks the command's range, and completes the command if its end waited for this. Commands
    /// that wait for the range try again, in their order; those that succeed are added to `granted`.
    #[inline]
    pub(super) fn unlock(&mut self, now: Instant, request: u32, granted: &mut Vec<u32>) {
        let flight = &mut self.flights[request as usize];
        debug_assert!(flight.is_locked, "unlocked twice");
        flight.is_locked = false;
        if flight.is_done {
            self.actions.push(Action::Complete(request));
        }
        let mut next = self.index.release(&flight.pages, request);
        while let Some(waiter) = next {
            next = self.index.next_waiter(waiter);
            let flight = &mut self.flights[waiter as usize];
            match self.index.acquire(&flight.pages, waiter) {
                Ok(()) => {
                    flight.is_locked = true;
                    self.usage.lock_wait += now - flight.waits_since;
                    self.record.lock(waiter);
                    granted.push(waiter);
                }
                Err(owner) => self.index.wait(waiter, owner),
            }
        }
    }

    /// Whether the burst buffer serves a read: it has all of its pages.
    #[inline]
    pub(super) fn serve(&mut self, request: u32) -> bool {
        let pages = &self.flights[request as usize].pages;
        self.record.lookup(request, pages, &self.buffer);
        let is_hit = self.buffer.holds(pages);
        if is_hit {
            self.usage.cache_hits += 1;
            self.actions.push(Action::Serve(request));
        }
        is_hit
    }

    /// Changes the burst buffer as a write or a deallocation says.
    #[inline]
    pub(super) fn change(&mut self, request: u32) {
        let flight = &mut self.flights[request as usize];
        let pages = flight.pages;
        if flight.opcode != Opcode::Write || flight.is_partial {
            // What is in transit may not have reached the medium: no read before this is through.
            self.buffer.forget(&pages);
            flight.keeps_lock = true;
            return;
        }
        self.writes += 1;
        flight.data = self.writes;
        for page in pages.first..pages.end {
            let has_room = self.buffer.write(pages.volume, page, flight.data, request);
            flight.keeps_lock |= !has_room;
        }
    }

    /// The command begins on the medium. True when its range may be unlocked.
    #[inline]
    pub(super) fn start(&mut self, request: u32) -> bool {
        self.actions.push(Action::Start(request));
        let flight = &self.flights[request as usize];
        flight.is_locked && !flight.keeps_lock
    }

    /// The medium is through with the command.
    #[inline]
    pub(super) fn end(&mut self, request: u32) -> Flight {
        let flight = self.flights[request as usize];
        if flight.opcode == Opcode::Write {
            self.buffer.written(&flight.pages, request);
        }
        flight
    }

    /// Completes the command, now or when its range is unlocked.
    #[inline]
    pub(super) fn complete(&mut self, request: u32) {
        let flight = &mut self.flights[request as usize];
        flight.is_done = flight.is_locked;
        if !flight.is_locked {
            self.actions.push(Action::Complete(request));
        }
    }
}

#[cfg(test)]
impl Tables {
    /// Which write it is, once it is in the buffer.
    pub(super) fn data(&self, request: u32) -> u64 {
        self.flights[request as usize].data
    }
}
