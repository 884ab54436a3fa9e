//! Naive firmware: every core does whole commands on shared memory, each structure of which has one
//! lock.
//!
//! In: fetched commands, finished steps of the cores, what the medium is through with. Out: the actions
//! in the tables.

use std::collections::VecDeque;

use super::command::{Commands, Costs, Events, Job, Step, run_core};
use super::tables::Tables;
use crate::engine::{Duration, Instant, NIL};
use crate::nvme::Opcode;
use crate::profile::Firmware;

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
pub(crate) struct Naive {
    costs: Costs,
    cores: Vec<Core>,
    locks: [Lock; STRUCTURES],
    /// Cores without a command, the last one to become idle at the end.
    idle: Vec<u32>,
    waiting: VecDeque<Job>,
    pub(super) tables: Tables,
    journals: bool,
    /// Reused by every unlock.
    granted: Vec<u32>,
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
    pub(super) fn new(firmware: &Firmware) -> Naive {
        let lock = Lock {
            holder: NIL,
            last: NIL,
            waiting: VecDeque::new(),
        };
        Naive {
            costs: Costs::new(firmware, 1),
            cores: vec![Core::default(); firmware.cores as usize],
            locks: std::array::from_fn(|_| lock.clone()),
            idle: (0..firmware.cores).rev().collect(),
            waiting: VecDeque::new(),
            tables: Tables::new(firmware.cache_pages),
            journals: firmware.journal,
            granted: Vec::new(),
        }
    }

    pub(super) fn accept(&mut self, queue: &mut Events, request: u32) {
        self.assign(queue, Step::Fetch.of(request, 0));
    }

    /// A new job for any core.
    fn assign(&mut self, queue: &mut Events, job: Job) {
        match self.idle.pop() {
            Some(core) => self.begin(queue, core, job),
            None => self.waiting.push_back(job),
        }
    }

    /// A core begins a step, once it has the lock for it.
    fn begin(&mut self, queue: &mut Events, core: u32, job: Job) {
        let state = &mut self.cores[core as usize];
        state.running = Some(job);
        state.waits_since = queue.now();
        match lock_of(job.step) {
            Some(lock) if self.locks[lock].holder != NIL => {
                self.locks[lock].waiting.push_back(core)
            }
            Some(lock) => self.enter(queue, core, lock),
            None => self.work(queue, core, Duration::ZERO),
        }
    }

    /// The core has the lock.
    fn enter(&mut self, queue: &mut Events, core: u32, lock: usize) {
        let lock = &mut self.locks[lock];
        lock.holder = core;
        let last = std::mem::replace(&mut lock.last, core);
        let handover = match last == core || last == NIL {
            true => Duration::ZERO,
            false => self.costs.handover,
        };
        self.work(queue, core, handover);
    }

    /// The core does its step, once its cache has the lock.
    fn work(&mut self, queue: &mut Events, core: u32, handover: Duration) {
        let state = &mut self.cores[core as usize];
        let Some(job) = state.running else { return };
        let waited = queue.now() - state.waits_since;
        self.tables.usage.spin += waited;
        self.tables.usage.lock_wait += waited;
        state.time = run_core(queue, core, handover + self.costs.of(job.step, job.pages));
    }

    /// What a core does. Its only thread has its number.
    pub(super) fn running(&self, core: u32) -> Option<(u32, &'static str, Duration)> {
        let state = self.cores.get(core as usize)?;
        let job = state.running?;
        Some((core, job.step.thread_type().name(), state.time))
    }

    /// A core has finished its step.
    pub(super) fn step(&mut self, queue: &mut Events, commands: &mut impl Commands, core: u32) {
        let state = &mut self.cores[core as usize];
        let time = state.time;
        let Some(job) = state.running.take() else {
            return;
        };
        self.tables.usage.count(job.step, time);
        self.tables.usage.issued += time;
        if let Some(lock) = lock_of(job.step) {
            self.locks[lock].holder = NIL;
            if let Some(next) = self.locks[lock].waiting.pop_front() {
                self.enter(queue, next, lock);
            }
        }
        if let Some(next) = self.after(queue, commands, job) {
            self.begin(queue, core, next);
        } else if let Some(next) = self.waiting.pop_front() {
            self.begin(queue, core, next);
        } else {
            self.idle.push(core);
        }
    }

    /// What the core does next for the same command.
    fn after(&mut self, queue: &mut Events, commands: &mut impl Commands, job: Job) -> Option<Job> {
        let request = job.request;
        if matches!(job.step, Step::Collect | Step::Journal) {
            return None;
        }
        let opcode = commands.opcode(request);
        let count = commands.work(request);
        let (step, pages) = match job.step {
            Step::Fetch => (Step::Parse, 0),
            Step::Parse if opcode == Opcode::Flush => (Step::Compose, 0),
            Step::Parse => (Step::Lock, 0),
            Step::Lock if !self.tables.lock(queue.now(), commands, request) => return None,
            Step::Lock => (Step::Buffer, count),
            Step::Buffer if opcode == Opcode::Read => match self.tables.serve(commands, request) {
                true => (Step::Unlock, 0),
                false => (Step::Translate, count),
            },
            Step::Buffer => {
                self.tables.change(commands, request);
                (Step::Translate, count)
            }
            Step::Translate => (Step::Compose, count),
            Step::Compose if !self.tables.start(commands, request) => return None,
            Step::Compose => (Step::Unlock, 0),
            Step::Unlock => {
                self.unlock(queue, commands, request);
                return None;
            }
            Step::Complete => {
                self.tables.complete(commands, request);
                return None;
            }
            Step::Dispatch | Step::Fill | Step::ComposeWrite | Step::Layer => return None,
            Step::Collect | Step::Journal => return None,
        };
        Some(step.of(request, pages))
    }

    fn unlock(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        let mut granted = std::mem::take(&mut self.granted);
        self.tables
            .unlock(queue.now(), commands, request, &mut granted);
        for request in granted.drain(..) {
            let pages = commands.work(request);
            self.assign(queue, Step::Buffer.of(request, pages));
        }
        self.granted = granted;
    }

    /// The medium is through with a command.
    pub(super) fn ended(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        self.tables.end(commands, request);
        if commands.state(request).keeps_lock {
            self.assign(queue, Step::Unlock.of(request, 0));
        }
        if self.journals && commands.opcode(request) == Opcode::Write {
            self.assign(queue, Step::Journal.of(request, commands.work(request)));
        }
        self.assign(queue, Step::Complete.of(request, 0));
    }

    /// Garbage collection has moved pages.
    pub(super) fn collected(&mut self, queue: &mut Events, pages: u64) {
        self.assign(queue, Step::Collect.of(0, pages));
    }
}
