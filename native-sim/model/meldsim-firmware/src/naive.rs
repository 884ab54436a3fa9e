//! Naive firmware: every core does whole commands on shared memory, each structure of which has one
//! lock.
//!
//! In: fetched commands, finished steps of the cores, what the medium is through with. Out: actions.

use std::collections::VecDeque;

use meldsim::policy::firmware::{Fetched, Firmware, Outbox, Usage};
use meldsim::{Duration, Instant, Opcode, profile};

use super::command::{Costs, Design, Job, NIL, Step};
use super::tables::Tables;

/// What is shared: submission queues, index lock, burst buffer, mapping.
const STRUCTURES: usize = 4;

/// The lock of a shared structure: first come, first served.
#[derive(Clone, Debug)]
struct Lock {
    /// The core that has it.
    holder: u32,
    /// The core that had it last, in whose cache it is.
    last: u32,
    waiting: VecDeque<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Core {
    running: Option<Job>,
    waits_since: Instant,
    /// What its job takes.
    time: Duration,
}

/// Cores that take whole commands from a common queue.
#[derive(Debug)]
pub(super) struct Naive {
    costs: Costs,
    cores: Vec<Core>,
    locks: [Lock; STRUCTURES],
    /// Cores without a command, the last one to become idle at the end.
    idle: Vec<u32>,
    waiting: VecDeque<Job>,
    pub(super) tables: Tables,
    journals: bool,
}

/// The lock under which a step is done.
fn lock_of(step: Step) -> Option<usize> {
    match step {
        Step::Fetch => Some(0),
        Step::Lock | Step::Unlock => Some(1),
        Step::Buffer => Some(2),
        Step::Translate | Step::Collect | Step::Journal => Some(3),
        Step::Parse | Step::Dispatch | Step::Fill | Step::Complete => None,
        Step::Compose | Step::ComposeWrite | Step::Layer => None,
    }
}

impl Naive {
    pub(super) fn new(firmware: &profile::Firmware) -> Naive {
        let lock = Lock {
            holder: NIL,
            last: NIL,
            waiting: VecDeque::new(),
        };
        Naive {
            costs: Costs::new(Design::Naive, firmware, 1),
            cores: vec![Core::default(); firmware.cores as usize],
            locks: std::array::from_fn(|_| lock.clone()),
            idle: (0..firmware.cores).rev().collect(),
            waiting: VecDeque::new(),
            tables: Tables::new(firmware),
            journals: firmware.journal,
        }
    }

    /// A new job for any core.
    fn assign(&mut self, outbox: &mut Outbox, job: Job) {
        match self.idle.pop() {
            Some(core) => self.begin(outbox, core, job),
            None => self.waiting.push_back(job),
        }
    }

    /// A core begins a step, once it has the lock for it.
    fn begin(&mut self, outbox: &mut Outbox, core: u32, job: Job) {
        let state = &mut self.cores[core as usize];
        state.running = Some(job);
        state.waits_since = outbox.now;
        match lock_of(job.step) {
            Some(lock) if self.locks[lock].holder != NIL => {
                self.locks[lock].waiting.push_back(core)
            }
            Some(lock) => self.enter(outbox, core, lock),
            None => self.work(outbox, core, Duration::ZERO),
        }
    }

    /// The core has the lock.
    fn enter(&mut self, outbox: &mut Outbox, core: u32, lock: usize) {
        let lock = &mut self.locks[lock];
        lock.holder = core;
        let last = std::mem::replace(&mut lock.last, core);
        let handover = match last == core || last == NIL {
            true => Duration::ZERO,
            false => self.costs.handover,
        };
        self.work(outbox, core, handover);
    }

    /// The core does its step, once its cache has the lock.
    fn work(&mut self, outbox: &mut Outbox, core: u32, handover: Duration) {
        let state = &mut self.cores[core as usize];
        let Some(job) = state.running else { return };
        let waited = outbox.now - state.waits_since;
        self.tables.counted.spin += waited;
        self.tables.counted.usage.lock_wait += waited;
        state.time = outbox.wake(core, handover + self.costs.of(job.step, job.pages));
    }

    /// What the core does next for the same command.
    fn after(&mut self, outbox: &mut Outbox, job: Job) -> Option<Job> {
        let request = job.request;
        if matches!(job.step, Step::Collect | Step::Journal) {
            return None;
        }
        let command = &self.tables.commands[request];
        let (opcode, count) = (command.fetched.opcode, command.work());
        let (step, pages) = match job.step {
            Step::Fetch => (Step::Parse, 0),
            Step::Parse if opcode == Opcode::Flush => (Step::Compose, 0),
            Step::Parse => (Step::Lock, 0),
            Step::Lock if !self.tables.lock(outbox.now, request) => return None,
            Step::Lock => (Step::Buffer, count),
            Step::Buffer if opcode == Opcode::Read => match self.tables.serve(outbox, request) {
                true => (Step::Unlock, 0),
                false => (Step::Translate, count),
            },
            Step::Buffer => {
                self.tables.change(request);
                (Step::Translate, count)
            }
            Step::Translate => (Step::Compose, count),
            Step::Compose if !self.tables.start(outbox, request) => return None,
            Step::Compose => (Step::Unlock, 0),
            Step::Unlock => {
                self.unlock(outbox, request);
                return None;
            }
            Step::Complete => {
                self.tables.complete(outbox, request);
                return None;
            }
            Step::Dispatch | Step::Fill | Step::ComposeWrite | Step::Layer => return None,
            Step::Collect | Step::Journal => return None,
        };
        Some(step.of(request, pages))
    }

    fn unlock(&mut self, outbox: &mut Outbox, request: u32) {
        let mut granted = self.tables.unlock(outbox, request);
        for request in granted.drain(..) {
            let pages = self.tables.commands[request].work();
            self.assign(outbox, Step::Buffer.of(request, pages));
        }
        self.tables.granted = granted;
    }
}

impl Firmware for Naive {
    fn accept(&mut self, command: Fetched, outbox: &mut Outbox) {
        self.tables.insert(command);
        self.assign(outbox, Step::Fetch.of(command.request, 0));
    }

    /// What a core does. Its only thread has its number.
    fn running(&self, core: u32) -> Option<(u32, &'static str, Duration)> {
        let state = self.cores.get(core as usize)?;
        let job = state.running?;
        Some((core, job.step.thread_type().name(), state.time))
    }

    fn step(&mut self, core: u32, outbox: &mut Outbox) {
        let state = &mut self.cores[core as usize];
        let time = state.time;
        let Some(job) = state.running.take() else {
            return;
        };
        self.tables.counted.count(job.step, time);
        self.tables.counted.issued += time;
        if let Some(lock) = lock_of(job.step) {
            self.locks[lock].holder = NIL;
            if let Some(next) = self.locks[lock].waiting.pop_front() {
                self.enter(outbox, next, lock);
            }
        }
        if let Some(next) = self.after(outbox, job) {
            self.begin(outbox, core, next);
        } else if let Some(next) = self.waiting.pop_front() {
            self.begin(outbox, core, next);
        } else {
            self.idle.push(core);
        }
    }

    fn ended(&mut self, request: u32, outbox: &mut Outbox) {
        self.tables.end(request);
        let command = self.tables.commands[request];
        if command.keeps_lock {
            self.assign(outbox, Step::Unlock.of(request, 0));
        }
        if self.journals && command.fetched.opcode == Opcode::Write {
            self.assign(outbox, Step::Journal.of(request, command.work()));
        }
        self.assign(outbox, Step::Complete.of(request, 0));
    }

    fn collected(&mut self, pages: u64, outbox: &mut Outbox) {
        self.assign(outbox, Step::Collect.of(0, pages));
    }

    fn usage(&self, now: Instant) -> Usage {
        self.tables.counted.usage(&self.tables.section, now)
    }
}
