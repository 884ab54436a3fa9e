//! What the threads share: the commands, the index lock and the burst buffer.

use meldsim::policy::firmware::{Action, Fetched, Outbox};
use meldsim::profile::Firmware;
use meldsim::{Instant, Opcode};

use super::buffer::BurstBuffer;
use super::command::{Command, Commands, Counted, NIL};
use super::lock::IndexLock;
#[cfg(test)]
use super::tests::Record;

/// What tests record of the tables' use: nothing otherwise.
#[cfg(not(test))]
#[derive(Debug, Default)]
pub(super) struct Record {}

#[cfg(not(test))]
impl Record {
    #[inline(always)]
    fn lock(&mut self, _request: u32) {}
    #[inline(always)]
    fn lookup<T>(&mut self, _request: u32, _pages: T, _buffer: &BurstBuffer) {}
}

/// The tables, and the counters of their use.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) commands: Commands,
    pub(super) index: IndexLock,
    pub(super) buffer: BurstBuffer,
    pub(super) counted: Counted,
    pub(super) section: Firmware,
    /// Reused by every unlock.
    pub(super) granted: Vec<u32>,
    pub(super) record: Record,
}

impl Tables {
    pub(super) fn new(firmware: &Firmware) -> Tables {
        Tables {
            commands: Commands::default(),
            index: IndexLock::default(),
            buffer: BurstBuffer::new(firmware.cache_pages),
            counted: Counted::default(),
            section: firmware.clone(),
            granted: Vec::new(),
            record: Record::default(),
        }
    }

    /// The controller has fetched a command.
    #[inline]
    pub(super) fn insert(&mut self, fetched: Fetched) {
        self.buffer.allocate();
        let (number, commands) = (fetched.request as usize, &mut self.commands.0);
        let command = Command {
            fetched,
            ..Command::default()
        };
        match commands.get_mut(number) {
            Some(free) => *free = command,
            None => commands.resize(number + 1, command),
        }
    }

    /// Locks the command's range. False when it overlaps another's: then it waits for that one, and
    /// is among those granted when the range is unlocked.
    #[inline]
    pub(super) fn lock(&mut self, now: Instant, request: u32) -> bool {
        let is_locked = self.acquire(request);
        if !is_locked {
            self.commands[request].waits_since = now;
            self.counted.usage.lock_conflicts += 1;
        }
        is_locked
    }

    #[inline]
    fn acquire(&mut self, request: u32) -> bool {
        let is_locked = self.index.acquire(&mut self.commands, request);
        if is_locked {
            self.commands[request].is_locked = true;
            self.record.lock(request);
        }
        is_locked
    }

    /// Unlocks the command's range, and completes the command if its end waited for this. Commands
    /// that wait for the range try again, in their order. Returns those that succeed, in the list `granted`, to be given back.
    #[inline]
    pub(super) fn unlock(&mut self, outbox: &mut Outbox, request: u32) -> Vec<u32> {
        let command = &mut self.commands[request];
        debug_assert!(command.is_locked, "unlocked twice");
        command.is_locked = false;
        if command.is_done {
            outbox.actions.push(Action::Complete(request));
        }
        let mut next = self.index.release(&command.fetched.pages);
        let mut granted = std::mem::take(&mut self.granted);
        while next != NIL {
            let waiter = next;
            next = self.commands[waiter].next_waiter;
            if self.acquire(waiter) {
                let waited = outbox.now - self.commands[waiter].waits_since;
                self.counted.usage.lock_wait += waited;
                granted.push(waiter);
            }
        }
        granted
    }

    /// Whether the burst buffer serves a read: it has all of its pages.
    #[inline]
    pub(super) fn serve(&mut self, outbox: &mut Outbox, request: u32) -> bool {
        let pages = self.commands[request].fetched.pages;
        self.record.lookup(request, &pages, &self.buffer);
        let is_hit = self.buffer.holds(&pages);
        if is_hit {
            self.counted.usage.cache_hits += 1;
            outbox.actions.push(Action::Serve(request));
        }
        is_hit
    }

    /// Puts what a read has brought into the burst buffer.
    pub(super) fn fill(&mut self, request: u32) {
        let pages = self.commands[request].fetched.pages;
        for page in pages.first..pages.end {
            self.buffer.fill(pages.volume, page, request);
        }
    }

    /// Changes the burst buffer as a write or a deallocation says.
    #[inline]
    pub(super) fn change(&mut self, request: u32) {
        let command = &mut self.commands[request];
        let Fetched { opcode, pages, .. } = command.fetched;
        if opcode != Opcode::Write || command.fetched.is_partial {
            // What is in transit may not have reached the medium: no read before this is through.
            self.buffer.forget(&pages);
            command.keeps_lock = true;
            return;
        }
        for page in pages.first..pages.end {
            let has_room = self.buffer.write(pages.volume, page, request);
            command.keeps_lock |= !has_room;
        }
    }

    /// The command begins on the medium. True when its range may be unlocked.
    #[inline]
    pub(super) fn start(&self, outbox: &mut Outbox, request: u32) -> bool {
        outbox.actions.push(Action::Start(request));
        let command = &self.commands[request];
        command.is_locked && !command.keeps_lock
    }

    /// The medium is through with the command.
    #[inline]
    pub(super) fn end(&mut self, request: u32) {
        let Fetched { opcode, pages, .. } = self.commands[request].fetched;
        if opcode == Opcode::Write {
            self.buffer.written(&pages, request);
        }
    }

    /// Completes the command, now or when its range is unlocked.
    #[inline]
    pub(super) fn complete(&mut self, outbox: &mut Outbox, request: u32) {
        let command = &mut self.commands[request];
        command.is_done = command.is_locked;
        if !command.is_locked {
            outbox.actions.push(Action::Complete(request));
        }
    }
}
