//! The pipeline of threads by type (DeepFlash); many-layered firmware is one of two stages.
//!
//! ```text
//!  queue-gather                trans-apply            flash-scatter
//!  NVMQ --> NVMQ --> ILOCK --> NVMQ --> CACHE --> TRANS --> FCMD --> medium --> NVMQ
//!  fetch    parse    lock      dispatch  buffer   translate compose             complete
//!
//!  BGC: pages that garbage collection has moved          LOG: the journal of each write
//! ```
//!
//! In: fetched commands, finished jobs of the cores, what the medium is through with. Out: messages
//! between threads, and the actions in the tables. The functions below are in the order of the path.

use super::command::{Commands, Costs, Events, Job, Step};
use super::tables::Tables;
use super::threads::{Groups, Threads};
use crate::engine::Duration;
use crate::nvme::Opcode;
use crate::profile::{Firmware, FirmwareDesign};

/// Threads that send messages.
#[derive(Debug)]
pub(crate) struct Pipeline {
    threads: Threads,
    costs: Costs,
    groups: Groups,
    pub(super) tables: Tables,
    is_layered: bool,
    /// Any NVMQ thread parses what one has fetched.
    splits: bool,
    /// A command that has to wait for a range is passed on, and threads unlock ranges themselves.
    forwards: bool,
    /// NVMQ reads the buffer's table.
    bypasses: bool,
    /// What a read brings is put into the buffer.
    fills: bool,
    journals: bool,
    /// Reused by every unlock.
    granted: Vec<u32>,
}

impl Pipeline {
    pub(super) fn new(firmware: &Firmware, program_pages: u64) -> Pipeline {
        let is_layered = firmware.design == FirmwareDesign::ManyLayered;
        let costs = Costs::new(firmware, program_pages);
        let (groups, threads) = Groups::new(firmware, &costs);
        Pipeline {
            threads,
            costs,
            groups,
            tables: Tables::new(firmware.cache_pages),
            is_layered,
            splits: firmware.dynamic_serialization && !is_layered,
            forwards: firmware.lock_forwarding || is_layered,
            bypasses: firmware.cache_bypass && !is_layered,
            fills: firmware.cache_fill && !firmware.cache_bypass && !is_layered,
            journals: firmware.journal,
            granted: Vec::new(),
        }
    }

    /// Sends a thread a message: its next job.
    #[inline]
    fn send(&mut self, queue: &mut Events, thread: u32, job: Job) {
        self.tables.usage.messages += 1;
        self.threads.post(queue, &self.costs, thread, job);
    }

    /// NVMQ: a submission queue is one thread's to fetch from.
    pub(super) fn accept(
        &mut self,
        queue: &mut Events,
        commands: &mut impl Commands,
        request: u32,
    ) {
        let thread = self.groups.nvmq.of(u64::from(commands.queue(request)));
        commands.state(request).thread = thread;
        let job = Step::Fetch.of(request, 0);
        self.threads.post(queue, &self.costs, thread, job);
    }

    /// What a core does.
    pub(super) fn running(&self, core: u32) -> Option<(u32, &'static str, Duration)> {
        let (thread, job, time) = self.threads.running(core, &self.costs)?;
        let time = time.max(Duration::from_ps(1));
        Some((thread, job.step.thread_type().name(), time))
    }

    /// A core has finished its job, or a thread has its message.
    pub(super) fn step(&mut self, queue: &mut Events, commands: &mut impl Commands, event: u32) {
        let usage = &mut self.tables.usage;
        let now = queue.now();
        let (core, finished) = self.threads.finish(event, &self.costs, usage, now);
        if let Some((thread, job)) = finished {
            self.after(queue, commands, thread, job);
        }
        self.threads.run(queue, &self.costs, core);
    }

    /// What follows a job of a thread.
    fn after(&mut self, queue: &mut Events, commands: &mut impl Commands, thread: u32, job: Job) {
        let request = job.request;
        match job.step {
            Step::Fetch if self.splits => {
                let thread = self.threads.least_loaded(self.groups.nvmq);
                commands.state(request).thread = thread;
                self.send(queue, thread, Step::Parse.of(request, 0));
            }
            Step::Fetch | Step::Parse => self.parsed(queue, commands, thread, request),
            Step::Lock => self.lock(queue, commands, request),
            Step::Dispatch => self.dispatched(queue, commands, request),
            Step::Buffer => self.buffer(queue, commands, request),
            Step::Translate => self.translated(queue, commands, thread, job),
            Step::Compose | Step::ComposeWrite | Step::Layer => {
                self.composed(queue, commands, request);
            }
            Step::Fill => {
                self.tables.fill(commands, request);
                self.finish(queue, commands, request);
            }
            Step::Unlock => self.unlock(queue, commands, request),
            Step::Complete => self.tables.complete(commands, request),
            Step::Collect | Step::Journal => {}
        }
    }

    /// NVMQ: to ILOCK, or straight to FCMD without a range to lock.
    fn parsed(
        &mut self,
        queue: &mut Events,
        commands: &mut impl Commands,
        thread: u32,
        request: u32,
    ) {
        if commands.pages(request).count() == 0 {
            self.scatter(queue, commands, request, 0);
        } else if self.is_layered {
            if self.tables.lock(queue.now(), commands, request) {
                self.locked(queue, commands, request);
            }
        } else {
            if !self.forwards {
                self.threads.block(thread);
            }
            let ilock = self.groups.ilock.first;
            self.send(queue, ilock, Step::Lock.of(request, 0));
        }
    }

    /// ILOCK.
    fn lock(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        if self.tables.lock(queue.now(), commands, request) {
            self.locked(queue, commands, request);
        } else {
            // Forwarding is a message to the owner's thread, which has the command wait.
            self.tables.usage.messages += u64::from(self.forwards);
        }
    }

    /// The command owns its range: back to NVMQ.
    fn locked(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        if self.is_layered {
            return self.buffer(queue, commands, request);
        }
        let pages = match self.bypasses && commands.opcode(request) == Opcode::Read {
            true => commands.work(request),
            false => 0,
        };
        let thread = commands.state(request).thread;
        let job = Step::Dispatch.of(request, pages);
        if self.forwards {
            self.send(queue, thread, job);
        } else {
            self.tables.usage.messages += 1;
            self.threads.answer(queue, &self.costs, thread, job);
        }
    }

    /// NVMQ: to CACHE, unless it has looked the pages up itself.
    fn dispatched(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        if self.bypasses && commands.opcode(request) == Opcode::Read {
            self.tables.usage.cache_bypasses += 1;
            return self.buffer(queue, commands, request);
        }
        self.send_to_cache(queue, commands, request, Step::Buffer);
    }

    /// To a CACHE thread by the address, in commands of this size: aligned ones would all have the same by the page.
    fn send_to_cache(
        &mut self,
        queue: &mut Events,
        commands: &impl Commands,
        request: u32,
        step: Step,
    ) {
        let pages = commands.work(request);
        let number = commands.pages(request).first / pages;
        let thread = self.groups.cache.of(number);
        self.send(queue, thread, step.of(request, pages));
    }

    /// CACHE, or NVMQ in its place: a read is served or goes to the medium, all else changes the buffer.
    fn buffer(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        if commands.opcode(request) != Opcode::Read {
            self.tables.change(commands, request);
        } else if self.tables.serve(commands, request) {
            return self.release(queue, commands, request);
        } else if self.fills {
            // What is put into the buffer then is not older than what is written meanwhile.
            let state = commands.state(request);
            (state.keeps_lock, state.fills) = (true, true);
        }
        let pages = commands.work(request);
        self.scatter(queue, commands, request, pages);
    }

    /// To the TRANS threads whose addresses the pages are. What has no pages needs no translation.
    fn scatter(
        &mut self,
        queue: &mut Events,
        commands: &mut impl Commands,
        request: u32,
        pages: u64,
    ) {
        let first = commands.pages(request).first;
        let (group, step) = match pages {
            _ if self.is_layered => (self.groups.trans, Step::Layer),
            0 => (self.groups.fcmd, Step::Compose),
            _ => (self.groups.trans, Step::Translate),
        };
        let parts = u64::from(group.count).min(pages.max(1));
        commands.state(request).parts = parts as u32;
        for part in 0..parts {
            // Every `group.count`-th page, from this one on.
            let share = (pages + u64::from(group.count) - 1 - part) / u64::from(group.count);
            self.send(queue, group.of(first + part), step.of(request, share));
        }
    }

    /// TRANS: to the FCMD thread of the first of its pages that are this thread's.
    fn translated(&mut self, queue: &mut Events, commands: &impl Commands, thread: u32, job: Job) {
        let first = commands.pages(job.request).first;
        let page = first + self.groups.trans.distance(first, thread);
        let step = match commands.opcode(job.request) {
            Opcode::Write => Step::ComposeWrite,
            _ => Step::Compose,
        };
        let job = step.of(job.request, job.pages);
        self.send(queue, self.groups.fcmd.of(page), job);
    }

    /// FCMD: a part is composed; with the last one the command begins on the medium.
    fn composed(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        let state = commands.state(request);
        state.parts -= 1;
        if state.parts == 0 && self.tables.start(commands, request) {
            self.release(queue, commands, request);
        }
    }

    /// The range may be unlocked: by ILOCK, or directly.
    fn release(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        if self.forwards {
            self.unlock(queue, commands, request);
        } else {
            let ilock = self.groups.ilock.first;
            self.send(queue, ilock, Step::Unlock.of(request, 0));
        }
    }

    fn unlock(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        let mut granted = std::mem::take(&mut self.granted);
        self.tables
            .unlock(queue.now(), commands, request, &mut granted);
        for request in granted.drain(..) {
            self.locked(queue, commands, request);
        }
        self.granted = granted;
    }

    /// The medium is through with a command: to CACHE first, if that takes what a read has brought.
    pub(super) fn ended(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        if std::mem::take(&mut commands.state(request).fills) {
            return self.send_to_cache(queue, commands, request, Step::Fill);
        }
        self.tables.end(commands, request);
        self.finish(queue, commands, request);
    }

    /// To LOG, and to NVMQ to complete it.
    fn finish(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        let state = *commands.state(request);
        if state.keeps_lock {
            self.release(queue, commands, request);
        }
        if self.journals && commands.opcode(request) == Opcode::Write {
            let pages = commands.work(request);
            self.send(queue, self.groups.log, Step::Journal.of(request, pages));
        }
        let job = Step::Complete.of(request, state.keeps_lock.into());
        self.send(queue, state.thread, job);
    }

    /// Garbage collection has moved pages: to BGC.
    pub(super) fn collected(&mut self, queue: &mut Events, pages: u64) {
        self.send(queue, self.groups.bgc, Step::Collect.of(0, pages));
    }
}
