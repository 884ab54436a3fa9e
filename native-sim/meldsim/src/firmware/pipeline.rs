//! The pipeline; many-layered firmware is one of two stages.
//!
//! ```text
//!  queue-gather                trans-apply            flash-scatter
//!  NVMQ --> NVMQ --> ILOCK --> NVMQ --> CACHE --> TRANS --> FCMD --> medium --> NVMQ
//!  fetch    parse    lock      dispatch  buffer   translate compose             complete
//! ```

use super::arrival::{Action, Arrival};
use super::cost::Costs;
use super::group::Groups;
use super::step::{Job, Step};
use super::tables::Tables;
use super::threads::Threads;
use crate::engine::{Event, EventQueue};
use crate::nvme::Opcode;
use crate::profile::{Firmware, FirmwareDesign};

/// Threads that send messages.
#[derive(Debug)]
pub(crate) struct Pipeline {
    threads: Threads,
    costs: Costs,
    groups: Groups,
    pub(super) tables: Tables,
    pub(super) actions: Vec<Action>,
    is_layered: bool,
    /// Any NVMQ thread parses what one has fetched.
    splits: bool,
    /// Who overlaps another is forwarded, and who is through unlocks directly.
    forwards: bool,
    /// NVMQ reads the buffer's table.
    bypasses: bool,
    journals: bool,
    /// Reused by every unlock.
    granted: Vec<u32>,
}

impl Pipeline {
    pub(super) fn new(firmware: &Firmware) -> Pipeline {
        let is_layered = firmware.design == FirmwareDesign::ManyLayered;
        let costs = Costs::new(firmware);
        let (groups, threads) = Groups::new(firmware, &costs);
        Pipeline {
            threads,
            costs,
            groups,
            tables: Tables::new(firmware.cache_pages),
            actions: Vec::new(),
            is_layered,
            splits: firmware.dynamic_serialization && !is_layered,
            forwards: firmware.lock_forwarding || is_layered,
            bypasses: firmware.cache_bypass && !is_layered,
            journals: firmware.journal,
            granted: Vec::new(),
        }
    }

    #[inline]
    fn post(
        &mut self,
        queue: &mut EventQueue<Event>,
        thread: u32,
        step: Step,
        request: u32,
        pages: u32,
    ) {
        let job = Job {
            request,
            pages,
            step,
        };
        self.threads.post(queue, &self.costs, thread, job);
    }

    #[inline]
    fn send(
        &mut self,
        queue: &mut EventQueue<Event>,
        thread: u32,
        step: Step,
        request: u32,
        pages: u32,
    ) {
        self.tables.usage.messages += 1;
        self.post(queue, thread, step, request, pages);
    }

    /// A submission queue is one NVMQ thread's to fetch from.
    pub(super) fn accept(&mut self, queue: &mut EventQueue<Event>, arrival: &Arrival) {
        self.tables.arrive(arrival);
        let thread = self.groups.nvmq.of(u64::from(arrival.queue));
        self.tables.flight_mut(arrival.request).thread = thread;
        self.post(queue, thread, Step::Fetch, arrival.request, 0);
    }

    /// A core has finished its job.
    pub(super) fn step(&mut self, queue: &mut EventQueue<Event>, core: u32) {
        let usage = &mut self.tables.usage;
        if let Some((thread, job)) = self.threads.finish(core, &self.costs, usage) {
            self.after(queue, thread, job);
        }
        self.threads.run(queue, &self.costs, core);
    }

    fn after(&mut self, queue: &mut EventQueue<Event>, thread: u32, job: Job) {
        let request = job.request;
        match job.step {
            Step::Fetch if self.splits => {
                let thread = self.least_loaded();
                self.tables.flight_mut(request).thread = thread;
                self.send(queue, thread, Step::Parse, request, 0);
            }
            Step::Fetch | Step::Parse => self.parsed(queue, thread, request),
            Step::Lock => {
                if self.tables.lock(queue.now(), request) {
                    self.locked(queue, request);
                } else {
                    // The owner's thread has it wait, or ILOCK itself.
                    self.tables.usage.messages += u64::from(self.forwards);
                }
            }
            Step::Dispatch => self.dispatched(queue, request),
            Step::Buffer => self.buffered(queue, request),
            Step::Translate => {
                // The first of its pages that are this thread's.
                let first = self.tables.flight(request).pages.first;
                let page = first + self.groups.trans.distance(first, thread);
                let thread = self.groups.fcmd.of(page);
                self.send(queue, thread, Step::Compose, request, job.pages);
            }
            Step::Compose | Step::Layer => self.composed(queue, request),
            Step::Unlock => self.unlock(queue, request),
            Step::Complete => {
                if self.tables.complete(request) {
                    self.actions.push(Action::Complete(request));
                }
            }
            Step::Collect | Step::Journal => {}
        }
    }

    /// The NVMQ thread with the least to do.
    #[inline]
    fn least_loaded(&self) -> u32 {
        let nvmq = self.groups.nvmq;
        let least = nvmq
            .threads()
            .min_by_key(|&thread| self.threads.waiting(thread));
        least.unwrap_or(nvmq.first)
    }

    fn parsed(&mut self, queue: &mut EventQueue<Event>, thread: u32, request: u32) {
        if self.tables.flight(request).pages.count() == 0 {
            self.scatter(queue, request, 0);
        } else if self.is_layered {
            if self.tables.lock(queue.now(), request) {
                self.locked(queue, request);
            }
        } else {
            if !self.forwards {
                self.threads.block(thread);
            }
            self.send(queue, self.groups.ilock.first, Step::Lock, request, 0);
        }
    }

    /// The command owns its range.
    fn locked(&mut self, queue: &mut EventQueue<Event>, request: u32) {
        let flight = self.tables.flight(request);
        let looks = self.bypasses && flight.opcode == Opcode::Read;
        let pages = if looks {
            flight.pages.count() as u32
        } else {
            0
        };
        let thread = flight.thread;
        if self.is_layered {
            self.buffered(queue, request);
        } else if self.forwards {
            self.send(queue, thread, Step::Dispatch, request, pages);
        } else {
            self.tables.usage.messages += 1;
            let job = Job {
                request,
                pages,
                step: Step::Dispatch,
            };
            self.threads.answer(queue, &self.costs, thread, job);
        }
    }

    fn dispatched(&mut self, queue: &mut EventQueue<Event>, request: u32) {
        let flight = *self.tables.flight(request);
        if self.bypasses && flight.opcode == Opcode::Read {
            self.tables.usage.cache_bypasses += 1;
            return self.looked(queue, request);
        }
        let thread = self.groups.cache.of(flight.pages.first);
        self.send(queue, thread, Step::Buffer, request, flight.work());
    }

    fn buffered(&mut self, queue: &mut EventQueue<Event>, request: u32) {
        if self.tables.flight(request).opcode == Opcode::Read {
            return self.looked(queue, request);
        }
        self.tables.change(request);
        self.gathered(queue, request);
    }

    /// The table has been looked at for a read.
    fn looked(&mut self, queue: &mut EventQueue<Event>, request: u32) {
        if self.tables.look(request) {
            self.actions.push(Action::Serve(request));
            self.let_go(queue, request);
        } else {
            self.gathered(queue, request);
        }
    }

    fn gathered(&mut self, queue: &mut EventQueue<Event>, request: u32) {
        let pages = self.tables.flight(request).work();
        self.scatter(queue, request, u64::from(pages));
    }

    /// To the threads whose addresses the pages are. What has no pages needs no translation.
    fn scatter(&mut self, queue: &mut EventQueue<Event>, request: u32, pages: u64) {
        let first = self.tables.flight(request).pages.first;
        let (group, step) = match pages {
            _ if self.is_layered => (self.groups.trans, Step::Layer),
            0 => (self.groups.fcmd, Step::Compose),
            _ => (self.groups.trans, Step::Translate),
        };
        let parts = u64::from(group.count).min(pages.max(1));
        self.tables.flight_mut(request).parts = parts as u32;
        for part in 0..parts {
            // Every `group.count`-th page, from this one on.
            let share = (pages + u64::from(group.count) - 1 - part) / u64::from(group.count);
            self.send(queue, group.of(first + part), step, request, share as u32);
        }
    }

    /// A part is composed; with the last one the command begins on the medium.
    fn composed(&mut self, queue: &mut EventQueue<Event>, request: u32) {
        let flight = self.tables.flight_mut(request);
        flight.parts -= 1;
        if flight.parts == 0 {
            let stays_locked = flight.holds || !flight.is_locked;
            self.actions.push(Action::Start(request));
            if !stays_locked {
                self.let_go(queue, request);
            }
        }
    }

    /// The range may be unlocked.
    fn let_go(&mut self, queue: &mut EventQueue<Event>, request: u32) {
        if self.forwards {
            self.unlock(queue, request);
        } else {
            self.send(queue, self.groups.ilock.first, Step::Unlock, request, 0);
        }
    }

    fn unlock(&mut self, queue: &mut EventQueue<Event>, request: u32) {
        let mut granted = std::mem::take(&mut self.granted);
        if self.tables.unlock(queue.now(), request, &mut granted) {
            self.actions.push(Action::Complete(request));
        }
        for request in granted.drain(..) {
            self.locked(queue, request);
        }
        self.granted = granted;
    }

    /// The medium is through with a command.
    pub(super) fn ended(&mut self, queue: &mut EventQueue<Event>, request: u32) {
        self.tables.end(request);
        let flight = *self.tables.flight(request);
        if flight.holds {
            self.let_go(queue, request);
        }
        if self.journals && flight.opcode == Opcode::Write {
            let pages = flight.pages.count() as u32;
            self.send(queue, self.groups.log, Step::Journal, request, pages);
        }
        self.send(
            queue,
            flight.thread,
            Step::Complete,
            request,
            u32::from(flight.holds),
        );
    }

    /// Garbage collection has moved pages.
    pub(super) fn collected(&mut self, queue: &mut EventQueue<Event>, pages: u32) {
        self.send(queue, self.groups.bgc, Step::Collect, 0, pages);
    }
}
