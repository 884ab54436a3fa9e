//! The threads of the pipeline: how many there are of each type, their inboxes, and the cores that
//! serve them in turn.
//!
//! A core of one hardware thread does a job after the other, from the message that brings it to its end.
//! With more, so many threads of a core are at their jobs at a time. They share the core: one of them, or
//! several, issue instructions, first come, first served. One whose message is on its way does not need it.
//!
//! ```text
//!   a slot is a core's nth thread that issues: n * cores + core
//!   events 0..slots               what is issued in a slot has ended
//!   events slots..slots + threads a thread has its message, and waits for its core
//! ```

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;

use meldsim::policy::firmware::Outbox;
use meldsim::profile::{Firmware, FirmwareBinding};
use meldsim::{Duration, Instant};

use super::command::{Costs, Counted, Job, Step, ThreadType};

/// More background jobs than this do not wait until the cores idle: the backlog is bounded.
const BACKLOG: usize = 4096;

/// The threads of a type, numbered one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) first: u32,
    pub(super) count: u32,
}

impl Group {
    /// The thread that is responsible for a number.
    #[inline]
    pub(super) fn of(self, number: u64) -> u32 {
        self.first + (number % u64::from(self.count)) as u32
    }

    /// How far behind a number the next one is for which `thread` is responsible.
    #[inline]
    pub(super) fn distance(self, number: u64, thread: u32) -> u64 {
        let count = u64::from(self.count);
        (u64::from(thread - self.first) + count - number % count) % count
    }

    fn threads(self) -> Range<u32> {
        self.first..self.first + self.count
    }
}

/// The threads of all types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Groups {
    pub(super) nvmq: Group,
    pub(super) ilock: Group,
    pub(super) cache: Group,
    /// TRANS, or the layered firmware of each part of the addresses.
    pub(super) trans: Group,
    pub(super) fcmd: Group,
    pub(super) bgc: u32,
    pub(super) log: u32,
}

/// The types of the path of a command.
const PATH: [ThreadType; 5] = [
    ThreadType::Nvmq,
    ThreadType::Ilock,
    ThreadType::Cache,
    ThreadType::Trans,
    ThreadType::Fcmd,
];

impl Groups {
    /// Counts the threads and binds them to cores.
    pub(super) fn new(is_layered: bool, firmware: &Firmware, costs: &Costs) -> (Groups, Threads) {
        let threads = &firmware.threads;
        let counts = match is_layered {
            true => [1, 0, 0, firmware.cores.max(2) - 1, 0],
            // Ranges in several index locks could overlap.
            false => [threads.nvmq, 1, threads.cache, threads.trans, threads.fcmd],
        };
        let mut loads = Vec::new();
        let [nvmq, ilock, cache, trans, fcmd] = PATH.map(|of| {
            let count = counts[of as usize];
            let load = costs.load(of, firmware.cache_bypass);
            let first = loads.len() as u32;
            let each = Duration::from_ps(load.as_ps() / u64::from(count.max(1)));
            loads.extend((0..count).map(|_| each));
            Group { first, count }
        });
        // The thread of the only submission queue in use has at least that to fetch.
        let fetching = &mut loads[nvmq.first as usize];
        *fetching = costs.of(Step::Fetch, 0).max(*fetching);
        let mut threads = Threads::new(firmware);
        let cores = match firmware.binding {
            FirmwareBinding::Filled => fill(0..loads.len() as u32, firmware),
            _ => spread(&loads, firmware.cores),
        };
        for core in cores {
            threads.add(core, false);
        }
        let bgc = loads.len() as u32;
        // Spread, BGC and LOG share the cores of the last NVMQ threads: the first fetches from queue 0.
        let last = u64::from(nvmq.count) - 1;
        let beside = |number| threads.threads[nvmq.of(number) as usize].core;
        let cores = match firmware.binding {
            FirmwareBinding::Filled => fill(bgc..bgc + 2, firmware),
            _ => vec![beside(last), beside(last.saturating_sub(1))],
        };
        for core in cores {
            threads.add(core, firmware.background_scheduling);
        }
        let groups = Groups {
            nvmq,
            ilock,
            cache,
            trans,
            fcmd,
            bgc,
            log: bgc + 1,
        };
        (groups, threads)
    }
}

/// The core of each thread: the heaviest first, each to the core with the least to do.
fn spread(loads: &[Duration], cores: u32) -> Vec<u32> {
    let mut order: Vec<usize> = (0..loads.len()).collect();
    order.sort_by_key(|&thread| Reverse(loads[thread]));
    let mut sums = vec![Duration::ZERO; cores as usize];
    let mut bound = vec![0; loads.len()];
    for thread in order {
        let least = (0..sums.len()).min_by_key(|&core| sums[core]).unwrap_or(0);
        sums[least] += loads[thread];
        bound[thread] = least as u32;
    }
    bound
}

/// The core of each thread: the hardware threads of a core, then those of the next.
fn fill(threads: Range<u32>, firmware: &Firmware) -> Vec<u32> {
    let core = |thread| thread / firmware.core.threads % firmware.cores;
    threads.map(core).collect()
}

#[derive(Debug)]
struct Thread {
    core: u32,
    inbox: VecDeque<Job>,
    /// It waits for an answer, and does nothing until it comes.
    is_blocked: bool,
    /// It runs when no other thread of its core can.
    yields: bool,
    /// It is at a job.
    is_busy: bool,
    /// The job that its message brings.
    arriving: Option<Job>,
}

#[derive(Debug, Default)]
struct Core {
    threads: Vec<u32>,
    /// The index in `threads` that is served next.
    turn: usize,
    /// Threads at a job.
    busy: u32,
    /// Jobs that wait for others of the core to be issued.
    ready: VecDeque<(u32, Job)>,
    /// Up to when its time at work is counted, while threads are at jobs.
    counted_until: Instant,
}

/// Threads and the cores they are bound to.
#[derive(Debug)]
pub(super) struct Threads {
    threads: Vec<Thread>,
    cores: Vec<Core>,
    /// What is issued in each slot.
    slots: Vec<Option<(u32, Job)>>,
    /// Hardware threads of a core.
    ways: u32,
}

impl Threads {
    fn new(firmware: &Firmware) -> Threads {
        let (cores, ways) = (firmware.cores, firmware.core.threads);
        let slots = cores * firmware.core.issues.min(ways);
        Threads {
            threads: Vec::new(),
            cores: (0..cores).map(|_| Core::default()).collect(),
            slots: vec![None; slots as usize],
            ways,
        }
    }

    /// Adds a thread; threads are numbered in the order of adding.
    fn add(&mut self, core: u32, yields: bool) {
        let number = self.threads.len() as u32;
        self.cores[core as usize].threads.push(number);
        self.threads.push(Thread {
            core,
            inbox: VecDeque::new(),
            is_blocked: false,
            yields,
            is_busy: false,
            arriving: None,
        });
    }

    /// The thread of a group with the fewest jobs to finish.
    #[inline]
    pub(super) fn least_loaded(&self, group: Group) -> u32 {
        let jobs = |thread: &u32| {
            let Thread { inbox, is_busy, .. } = &self.threads[*thread as usize];
            inbox.len() + usize::from(*is_busy)
        };
        group.threads().min_by_key(jobs).unwrap_or(group.first)
    }

    /// Puts a job into the inbox of a thread.
    #[inline]
    pub(super) fn post(&mut self, outbox: &mut Outbox, costs: &Costs, thread: u32, job: Job) {
        let to = &mut self.threads[thread as usize];
        to.inbox.push_back(job);
        let core = to.core;
        self.run(outbox, costs, core);
    }

    /// The thread does nothing until it is answered.
    pub(super) fn block(&mut self, thread: u32) {
        self.threads[thread as usize].is_blocked = true;
    }

    /// The answer that a blocked thread waits for: its next job.
    pub(super) fn answer(&mut self, outbox: &mut Outbox, costs: &Costs, thread: u32, job: Job) {
        let to = &mut self.threads[thread as usize];
        to.is_blocked = false;
        to.inbox.push_front(job);
        let core = to.core;
        self.run(outbox, costs, core);
    }

    /// The core whose event this is, and the job that it has finished, if that is what has happened.
    /// [`Threads::run`] gives it the next one.
    #[inline]
    pub(super) fn finish(
        &mut self,
        event: u32,
        costs: &Costs,
        counted: &mut Counted,
        now: Instant,
    ) -> (u32, Option<(u32, Job)>) {
        let slots = self.slots.len() as u32;
        if event >= slots {
            let thread = event - slots;
            let Thread { core, arriving, .. } = &mut self.threads[thread as usize];
            let job = arriving.take().map(|job| (thread, job));
            self.cores[*core as usize].ready.extend(job);
            return (*core, None);
        }
        let finished = self.slots[event as usize].take();
        let number = match self.ways {
            1 => event,
            _ => event % self.cores.len() as u32,
        };
        if let Some((thread, job)) = finished {
            let core = &mut self.cores[number as usize];
            self.threads[thread as usize].is_busy = false;
            core.busy -= 1;
            counted.count(job.step, now - core.counted_until);
            counted.issued += costs.instructions(job);
            core.counted_until = now;
        }
        (number, finished)
    }

    /// What is issued in a slot: the thread and its job, and how long that takes.
    pub(super) fn running(&self, slot: u32, costs: &Costs) -> Option<(u32, Job, Duration)> {
        let (thread, job) = (*self.slots.get(slot as usize)?)?;
        Some((thread, job, costs.issued(job, self.ways)))
    }

    /// Begins the next jobs of a core that has hardware threads for them, and issues one.
    #[inline]
    pub(super) fn run(&mut self, outbox: &mut Outbox, costs: &Costs, core: u32) {
        if self.ways > 1 {
            self.receive(outbox, costs, core);
            let slots = (core as usize..self.slots.len()).step_by(self.cores.len());
            for slot in slots {
                if self.slots[slot].is_none() {
                    let Some((thread, job)) = self.cores[core as usize].ready.pop_front() else {
                        return;
                    };
                    self.slots[slot] = Some((thread, job));
                    outbox.wake(slot as u32, costs.issued(job, self.ways));
                }
            }
            return;
        }
        if self.slots[core as usize].is_some() {
            return;
        }
        if let Some((thread, job)) = self.next_job(core, outbox.now) {
            self.slots[core as usize] = Some((thread, job));
            outbox.wake(core, costs.issued(job, self.ways));
        }
    }

    /// Hardware threads without a job take the next ones: their messages are on their way.
    fn receive(&mut self, outbox: &mut Outbox, costs: &Costs, core: u32) {
        while self.cores[core as usize].busy < self.ways {
            let Some((thread, job)) = self.next_job(core, outbox.now) else {
                return;
            };
            let message = costs.message(job.step);
            if message > Duration::ZERO {
                self.threads[thread as usize].arriving = Some(job);
                outbox.wake(self.slots.len() as u32 + thread, message);
            } else {
                self.cores[core as usize].ready.push_back((thread, job));
            }
        }
    }

    /// Takes the next job of a core's threads.
    #[inline]
    fn next_job(&mut self, core: u32, now: Instant) -> Option<(u32, Job)> {
        let index = self.choose(core)?;
        let state = &mut self.cores[core as usize];
        let thread = state.threads[index];
        state.turn = match index + 1 {
            next if next < state.threads.len() => next,
            _ => 0,
        };
        let of = &mut self.threads[thread as usize];
        let job = of.inbox.pop_front()?;
        of.is_busy = true;
        if state.busy == 0 {
            state.counted_until = now;
        }
        state.busy += 1;
        Some((thread, job))
    }

    /// The thread that a core serves next, as an index among the core's threads.
    #[inline]
    fn choose(&self, core: u32) -> Option<usize> {
        let Core { threads, turn, .. } = &self.cores[core as usize];
        let mut yielding = None;
        for offset in 0..threads.len() {
            let index = match turn + offset {
                index if index < threads.len() => index,
                index => index - threads.len(),
            };
            let thread = &self.threads[threads[index] as usize];
            if thread.is_blocked || thread.is_busy || thread.inbox.is_empty() {
                continue;
            }
            if !thread.yields || thread.inbox.len() > BACKLOG {
                return Some(index);
            }
            yielding = yielding.or(Some(index));
        }
        yielding
    }
}
