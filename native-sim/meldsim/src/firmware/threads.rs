//! Threads with inboxes on cores that serve them in turn.

use std::collections::VecDeque;

use super::cost::Costs;
use super::step::Job;
use super::usage::FirmwareUsage;
use crate::engine::{Event, EventQueue, Time};

/// More background jobs than this do not wait until the cores idle: the backlog is bounded.
const BACKLOG: usize = 4096;

#[derive(Debug)]
struct Thread {
    core: u32,
    inbox: VecDeque<Job>,
    /// It waits for an answer, and does nothing until it comes.
    is_blocked: bool,
    /// It runs when no other thread of its core can.
    yields: bool,
}

#[derive(Debug)]
struct Core {
    threads: Vec<u32>,
    /// Where in `threads` to look first.
    turn: usize,
    running: Option<(u32, Job)>,
}

/// Threads and the cores they are bound to.
#[derive(Debug)]
pub(super) struct Threads {
    threads: Vec<Thread>,
    cores: Vec<Core>,
}

impl Threads {
    pub(super) fn new(cores: u32) -> Threads {
        let core = || Core {
            threads: Vec::new(),
            turn: 0,
            running: None,
        };
        Threads {
            threads: Vec::new(),
            cores: (0..cores).map(|_| core()).collect(),
        }
    }

    /// Adds a thread; threads are numbered in the order of adding.
    pub(super) fn add(&mut self, core: u32, yields: bool) {
        self.cores[core as usize]
            .threads
            .push(self.threads.len() as u32);
        self.threads.push(Thread {
            core,
            inbox: VecDeque::new(),
            is_blocked: false,
            yields,
        });
    }

    pub(super) fn core_of(&self, thread: u32) -> u32 {
        self.threads[thread as usize].core
    }

    /// Jobs that a thread still has to finish.
    #[inline]
    pub(super) fn waiting(&self, thread: u32) -> usize {
        let Thread { core, inbox, .. } = &self.threads[thread as usize];
        let running = self.cores[*core as usize].running;
        inbox.len() + usize::from(running.is_some_and(|(running, _)| running == thread))
    }

    /// Puts a job into the inbox of a thread.
    #[inline]
    pub(super) fn post(
        &mut self,
        queue: &mut EventQueue<Event>,
        costs: &Costs,
        thread: u32,
        job: Job,
    ) {
        let to = &mut self.threads[thread as usize];
        to.inbox.push_back(job);
        let core = to.core;
        self.run(queue, costs, core);
    }

    /// The thread does nothing until it is answered.
    pub(super) fn block(&mut self, thread: u32) {
        self.threads[thread as usize].is_blocked = true;
    }

    /// The answer that a blocked thread waits for: its next job.
    pub(super) fn answer(
        &mut self,
        queue: &mut EventQueue<Event>,
        costs: &Costs,
        thread: u32,
        job: Job,
    ) {
        let to = &mut self.threads[thread as usize];
        to.is_blocked = false;
        to.inbox.push_front(job);
        let core = to.core;
        self.run(queue, costs, core);
    }

    /// The job that a core has finished. [`Threads::run`] gives it the next one.
    #[inline]
    pub(super) fn finish(
        &mut self,
        core: u32,
        costs: &Costs,
        usage: &mut FirmwareUsage,
    ) -> Option<(u32, Job)> {
        let (thread, job) = self.cores[core as usize].running.take()?;
        usage.work(job.step.whose(), costs.of(job.step, job.pages));
        Some((thread, job))
    }

    /// Begins the next job of an idle core.
    #[inline]
    pub(super) fn run(&mut self, queue: &mut EventQueue<Event>, costs: &Costs, core: u32) {
        if self.cores[core as usize].running.is_some() {
            return;
        }
        let Some(place) = self.choose(core) else {
            return;
        };
        let running = &mut self.cores[core as usize];
        let thread = running.threads[place];
        running.turn = if place + 1 < running.threads.len() {
            place + 1
        } else {
            0
        };
        running.running = self.threads[thread as usize]
            .inbox
            .pop_front()
            .map(|job| (thread, job));
        if let Some((_, job)) = running.running {
            // Work that takes no time at all would never let time pass.
            let time = costs.of(job.step, job.pages).max(Time::from_ps(1));
            queue.schedule(queue.now() + time, Event::Firmware(core));
        }
    }

    /// Whose turn it is, as a place among the core's threads.
    #[inline]
    fn choose(&self, core: u32) -> Option<usize> {
        let Core { threads, turn, .. } = &self.cores[core as usize];
        let mut yielding = None;
        for offset in 0..threads.len() {
            let place = match turn + offset {
                place if place < threads.len() => place,
                place => place - threads.len(),
            };
            let thread = &self.threads[threads[place] as usize];
            if thread.is_blocked || thread.inbox.is_empty() {
                continue;
            }
            if !thread.yields || thread.inbox.len() > BACKLOG {
                return Some(place);
            }
            yielding = yielding.or(Some(place));
        }
        yielding
    }
}
