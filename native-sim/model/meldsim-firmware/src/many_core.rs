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
//! between threads, and actions. The functions below are in the order of the path.

use meldsim::policy::firmware::{Fetched, Firmware, Outbox, Usage};
use meldsim::{Duration, Instant, Opcode, Profile};

use super::command::{Costs, Design, Job, Step};
use super::tables::Tables;
use super::threads::{Groups, Threads};

/// Threads that send messages.
#[derive(Debug)]
pub(super) struct Pipeline {
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
}

impl Pipeline {
    pub(super) fn new(design: Design, profile: &Profile) -> Pipeline {
        let is_layered = design == Design::ManyLayered;
        let firmware = &profile.firmware;
        let costs = Costs::new(design, firmware, profile.program_pages());
        let (groups, threads) = Groups::new(is_layered, firmware, &costs);
        Pipeline {
            threads,
            costs,
            groups,
            tables: Tables::new(firmware),
            is_layered,
            splits: firmware.dynamic_serialization && !is_layered,
            forwards: firmware.lock_forwarding || is_layered,
            bypasses: firmware.cache_bypass && !is_layered,
            fills: firmware.cache_fill && !firmware.cache_bypass && !is_layered,
            journals: firmware.journal,
        }
    }

    /// Sends a thread a message: its next job.
    #[inline]
    fn send(&mut self, outbox: &mut Outbox, thread: u32, job: Job) {
        self.tables.counted.usage.messages += 1;
        self.threads.post(outbox, &self.costs, thread, job);
    }

    /// What follows a job of a thread.
    fn after(&mut self, outbox: &mut Outbox, thread: u32, job: Job) {
        let request = job.request;
        match job.step {
            Step::Fetch if self.splits => {
                let thread = self.threads.least_loaded(self.groups.nvmq);
                self.tables.commands[request].thread = thread;
                self.send(outbox, thread, Step::Parse.of(request, 0));
            }
            Step::Fetch | Step::Parse => self.parsed(outbox, thread, request),
            Step::Lock => self.lock(outbox, request),
            Step::Dispatch => self.dispatched(outbox, request),
            Step::Buffer => self.buffer(outbox, request),
            Step::Translate => self.translated(outbox, thread, job),
            Step::Compose | Step::ComposeWrite | Step::Layer => {
                self.composed(outbox, request);
            }
            Step::Fill => {
                self.tables.fill(request);
                self.finish(outbox, request);
            }
            Step::Unlock => self.unlock(outbox, request),
            Step::Complete => self.tables.complete(outbox, request),
            Step::Collect | Step::Journal => {}
        }
    }

    /// NVMQ: to ILOCK, or straight to FCMD without a range to lock.
    fn parsed(&mut self, outbox: &mut Outbox, thread: u32, request: u32) {
        if self.tables.commands[request].fetched.pages.count() == 0 {
            self.scatter(outbox, request, 0);
        } else if self.is_layered {
            if self.tables.lock(outbox.now, request) {
                self.locked(outbox, request);
            }
        } else {
            if !self.forwards {
                self.threads.block(thread);
            }
            let ilock = self.groups.ilock.first;
            self.send(outbox, ilock, Step::Lock.of(request, 0));
        }
    }

    /// ILOCK.
    fn lock(&mut self, outbox: &mut Outbox, request: u32) {
        if self.tables.lock(outbox.now, request) {
            self.locked(outbox, request);
        } else {
            // Forwarding is a message to the owner's thread, which has the command wait.
            self.tables.counted.usage.messages += u64::from(self.forwards);
        }
    }

    /// The command owns its range: back to NVMQ.
    fn locked(&mut self, outbox: &mut Outbox, request: u32) {
        if self.is_layered {
            return self.buffer(outbox, request);
        }
        let command = &self.tables.commands[request];
        let pages = match self.bypasses && command.fetched.opcode == Opcode::Read {
            true => command.work(),
            false => 0,
        };
        let thread = command.thread;
        let job = Step::Dispatch.of(request, pages);
        if self.forwards {
            self.send(outbox, thread, job);
        } else {
            self.tables.counted.usage.messages += 1;
            self.threads.answer(outbox, &self.costs, thread, job);
        }
    }

    /// NVMQ: to CACHE, unless it has looked the pages up itself.
    fn dispatched(&mut self, outbox: &mut Outbox, request: u32) {
        if self.bypasses && self.tables.commands[request].fetched.opcode == Opcode::Read {
            self.tables.counted.usage.cache_bypasses += 1;
            return self.buffer(outbox, request);
        }
        self.send_to_cache(outbox, request, Step::Buffer);
    }

    /// To a CACHE thread by the address, in commands of this size: aligned ones would all have the same by the page.
    fn send_to_cache(&mut self, outbox: &mut Outbox, request: u32, step: Step) {
        let command = &self.tables.commands[request];
        let pages = command.work();
        let thread = self.groups.cache.of(command.fetched.pages.first / pages);
        self.send(outbox, thread, step.of(request, pages));
    }

    /// CACHE, or NVMQ in its place: a read is served or goes to the medium, all else changes the buffer.
    fn buffer(&mut self, outbox: &mut Outbox, request: u32) {
        if self.tables.commands[request].fetched.opcode != Opcode::Read {
            self.tables.change(request);
        } else if self.tables.serve(outbox, request) {
            return self.release(outbox, request);
        } else if self.fills {
            // What is put into the buffer then is not older than what is written meanwhile.
            let command = &mut self.tables.commands[request];
            (command.keeps_lock, command.fills) = (true, true);
        }
        let pages = self.tables.commands[request].work();
        self.scatter(outbox, request, pages);
    }

    /// To the TRANS threads whose addresses the pages are. What has no pages needs no translation.
    fn scatter(&mut self, outbox: &mut Outbox, request: u32, pages: u64) {
        let first = self.tables.commands[request].fetched.pages.first;
        let (group, step) = match pages {
            _ if self.is_layered => (self.groups.trans, Step::Layer),
            0 => (self.groups.fcmd, Step::Compose),
            _ => (self.groups.trans, Step::Translate),
        };
        let parts = u64::from(group.count).min(pages.max(1));
        self.tables.commands[request].parts = parts as u32;
        for part in 0..parts {
            // Every `group.count`-th page, from this one on.
            let share = (pages + u64::from(group.count) - 1 - part) / u64::from(group.count);
            self.send(outbox, group.of(first + part), step.of(request, share));
        }
    }

    /// TRANS: to the FCMD thread of the first of its pages that are this thread's.
    fn translated(&mut self, outbox: &mut Outbox, thread: u32, job: Job) {
        let command = &self.tables.commands[job.request];
        let first = command.fetched.pages.first;
        let page = first + self.groups.trans.distance(first, thread);
        let step = match command.fetched.opcode {
            Opcode::Write => Step::ComposeWrite,
            _ => Step::Compose,
        };
        let job = step.of(job.request, job.pages);
        self.send(outbox, self.groups.fcmd.of(page), job);
    }

    /// FCMD: a part is composed; with the last one the command begins on the medium.
    fn composed(&mut self, outbox: &mut Outbox, request: u32) {
        let command = &mut self.tables.commands[request];
        command.parts -= 1;
        if command.parts == 0 && self.tables.start(outbox, request) {
            self.release(outbox, request);
        }
    }

    /// The range may be unlocked: by ILOCK, or directly.
    fn release(&mut self, outbox: &mut Outbox, request: u32) {
        if self.forwards {
            self.unlock(outbox, request);
        } else {
            let ilock = self.groups.ilock.first;
            self.send(outbox, ilock, Step::Unlock.of(request, 0));
        }
    }

    fn unlock(&mut self, outbox: &mut Outbox, request: u32) {
        let mut granted = self.tables.unlock(outbox, request);
        for request in granted.drain(..) {
            self.locked(outbox, request);
        }
        self.tables.granted = granted;
    }

    /// To LOG, and to NVMQ to complete it.
    fn finish(&mut self, outbox: &mut Outbox, request: u32) {
        let command = self.tables.commands[request];
        if command.keeps_lock {
            self.release(outbox, request);
        }
        if self.journals && command.fetched.opcode == Opcode::Write {
            let job = Step::Journal.of(request, command.work());
            self.send(outbox, self.groups.log, job);
        }
        let job = Step::Complete.of(request, command.keeps_lock.into());
        self.send(outbox, command.thread, job);
    }
}

impl Firmware for Pipeline {
    /// NVMQ: a submission queue is one thread's to fetch from.
    fn accept(&mut self, command: Fetched, outbox: &mut Outbox) {
        let thread = self.groups.nvmq.of(u64::from(command.queue));
        self.tables.insert(command);
        self.tables.commands[command.request].thread = thread;
        let job = Step::Fetch.of(command.request, 0);
        self.threads.post(outbox, &self.costs, thread, job);
    }

    fn running(&self, core: u32) -> Option<(u32, &'static str, Duration)> {
        let (thread, job, time) = self.threads.running(core, &self.costs)?;
        let time = time.max(Duration::from_ps(1));
        Some((thread, job.step.thread_type().name(), time))
    }

    /// A core has finished its job, or a thread has its message.
    fn step(&mut self, event: u32, outbox: &mut Outbox) {
        let (counted, now) = (&mut self.tables.counted, outbox.now);
        let (core, finished) = self.threads.finish(event, &self.costs, counted, now);
        if let Some((thread, job)) = finished {
            self.after(outbox, thread, job);
        }
        self.threads.run(outbox, &self.costs, core);
    }

    /// The medium is through with a command: to CACHE first, if that takes what a read has brought.
    fn ended(&mut self, request: u32, outbox: &mut Outbox) {
        if std::mem::take(&mut self.tables.commands[request].fills) {
            return self.send_to_cache(outbox, request, Step::Fill);
        }
        self.tables.end(request);
        self.finish(outbox, request);
    }

    /// Garbage collection has moved pages: to BGC.
    fn collected(&mut self, pages: u64, outbox: &mut Outbox) {
        self.send(outbox, self.groups.bgc, Step::Collect.of(0, pages));
    }

    fn usage(&self, now: Instant) -> Usage {
        self.tables.counted.usage(&self.tables.section, now)
    }
}
