//! What the threads share: the index lock, the burst buffer, and the actions that are due.

use super::buffer::BurstBuffer;
use super::command::{Action, Commands, FirmwareUsage};
use super::lock::IndexLock;
#[cfg(test)]
use super::tests::Record;
use crate::engine::{Instant, NIL};
use crate::nvme::Opcode;

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
    fn lookup(&mut self, _request: u32, _pages: &super::command::Pages, _buffer: &BurstBuffer) {}
}

/// The tables, and the counters of their use.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) index: IndexLock,
    pub(super) buffer: BurstBuffer,
    /// What is due on the medium or for the host, in order.
    pub(super) actions: Vec<Action>,
    pub(super) usage: FirmwareUsage,
    pub(super) record: Record,
}

impl Tables {
    pub(super) fn new(cache_pages: u32) -> Tables {
        Tables {
            index: IndexLock::default(),
            buffer: BurstBuffer::new(cache_pages),
            actions: Vec::new(),
            usage: FirmwareUsage::default(),
            record: Record::new(),
        }
    }

    /// Locks the command's range. False when it overlaps another's: then it waits for that one, and
    /// is among those granted when the range is unlocked.
    #[inline]
    pub(super) fn lock(
        &mut self,
        now: Instant,
        commands: &mut impl Commands,
        request: u32,
    ) -> bool {
        let is_locked = self.acquire(commands, request);
        if !is_locked {
            commands.state(request).waits_since = now;
            self.usage.lock_conflicts += 1;
        }
        is_locked
    }

    #[inline]
    fn acquire(&mut self, commands: &mut impl Commands, request: u32) -> bool {
        let is_locked = self.index.acquire(commands, request);
        if is_locked {
            commands.state(request).is_locked = true;
            self.record.lock(request);
        }
        is_locked
    }

    /// Unlocks the command's range, and completes the command if its end waited for this. Commands
    /// that wait for the range try again, in their order; those that succeed are added to `granted`.
    #[inline]
    pub(super) fn unlock(
        &mut self,
        now: Instant,
        commands: &mut impl Commands,
        request: u32,
        granted: &mut Vec<u32>,
    ) {
        let state = commands.state(request);
        debug_assert!(state.is_locked, "unlocked twice");
        state.is_locked = false;
        if state.is_done {
            self.actions.push(Action::Complete(request));
        }
        let mut next = self.index.release(&commands.pages(request));
        while next != NIL {
            let waiter = next;
            next = commands.state(waiter).next_waiter;
            if self.acquire(commands, waiter) {
                self.usage.lock_wait += now - commands.state(waiter).waits_since;
                granted.push(waiter);
            }
        }
    }

    /// Whether the burst buffer serves a read: it has all of its pages.
    #[inline]
    pub(super) fn serve(&mut self, commands: &impl Commands, request: u32) -> bool {
        let pages = commands.pages(request);
        self.record.lookup(request, &pages, &self.buffer);
        let is_hit = self.buffer.holds(&pages);
        if is_hit {
            self.usage.cache_hits += 1;
            self.actions.push(Action::Serve(request));
        }
        is_hit
    }

    /// Puts what a read has brought into the burst buffer.
    pub(super) fn fill(&mut self, commands: &impl Commands, request: u32) {
        let pages = commands.pages(request);
        for page in pages.first..pages.end {
            self.buffer.fill(pages.volume, page, request);
        }
    }

    /// Changes the burst buffer as a write or a deallocation says.
    #[inline]
    pub(super) fn change(&mut self, commands: &mut impl Commands, request: u32) {
        let pages = commands.pages(request);
        let is_kept = commands.opcode(request) == Opcode::Write && !commands.is_partial(request);
        let state = commands.state(request);
        if !is_kept {
            // What is in transit may not have reached the medium: no read before this is through.
            self.buffer.forget(&pages);
            state.keeps_lock = true;
            return;
        }
        for page in pages.first..pages.end {
            let has_room = self.buffer.write(pages.volume, page, request);
            state.keeps_lock |= !has_room;
        }
    }

    /// The command begins on the medium. True when its range may be unlocked.
    #[inline]
    pub(super) fn start(&mut self, commands: &mut impl Commands, request: u32) -> bool {
        self.actions.push(Action::Start(request));
        let state = commands.state(request);
        state.is_locked && !state.keeps_lock
    }

    /// The medium is through with the command.
    #[inline]
    pub(super) fn end(&mut self, commands: &impl Commands, request: u32) {
        if commands.opcode(request) == Opcode::Write {
            self.buffer.written(&commands.pages(request), request);
        }
    }

    /// Completes the command, now or when its range is unlocked.
    #[inline]
    pub(super) fn complete(&mut self, commands: &mut impl Commands, request: u32) {
        let state = commands.state(request);
        state.is_done = state.is_locked;
        if !state.is_locked {
            self.actions.push(Action::Complete(request));
        }
    }
}
