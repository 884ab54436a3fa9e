//! The firmware in front of a medium of fixed latency.

mod consistency;
mod scaling;

use std::collections::BTreeMap;

use meldsim::policy::firmware::{Action, Fetched, Firmware, Outbox, Pages, Usage};
use meldsim::profile::{Firmware as Section, FirmwareBinding};
use meldsim::{Duration, Instant, Opcode, Profile};

use super::buffer::BurstBuffer;
use super::command::Design;
use super::many_core::Pipeline;
use super::naive::Naive;
use super::tables::Tables;

/// What happened to the tables of the firmware.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// What reads found in the buffer: request, page, write.
    found: Vec<(u32, u64, u32)>,
    /// Requests in the order in which they got their ranges.
    order: Vec<u32>,
}

impl Record {
    pub(super) fn lock(&mut self, request: u32) {
        self.order.push(request);
    }

    pub(super) fn lookup(&mut self, request: u32, pages: &Pages, buffer: &BurstBuffer) {
        for page in pages.first..pages.end {
            let write = buffer.read(pages.volume, page);
            self.found.extend(write.map(|write| (request, page, write)));
        }
    }
}

/// A command of a test: what to do with which pages, from which submission queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) opcode: Opcode,
    pub(super) first: u64,
    pub(super) pages: u64,
    pub(super) queue: u16,
}

impl Order {
    pub(super) fn read(first: u64, pages: u64) -> Order {
        Order {
            opcode: Opcode::Read,
            first,
            pages,
            queue: 0,
        }
    }

    pub(super) fn write(first: u64, pages: u64) -> Order {
        Order {
            opcode: Opcode::Write,
            ..Order::read(first, pages)
        }
    }

    fn range(&self) -> std::ops::Range<u64> {
        self.first..self.first + self.pages
    }
}

/// Firmware of any design.
#[derive(Debug)]
pub(super) enum Any {
    Naive(Box<Naive>),
    Pipeline(Box<Pipeline>),
}

impl Any {
    fn get(&mut self) -> &mut dyn Firmware {
        match self {
            Any::Naive(naive) => &mut **naive,
            Any::Pipeline(pipeline) => &mut **pipeline,
        }
    }

    pub(super) fn tables(&mut self) -> &mut Tables {
        match self {
            Any::Naive(naive) => &mut naive.tables,
            Any::Pipeline(pipeline) => &mut pipeline.tables,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Firmware(u32),
    Medium(u32),
}

/// Events by time, and in the order in which they were scheduled.
#[derive(Debug, Default)]
pub(super) struct Events {
    queue: BTreeMap<(Instant, u64), Event>,
    scheduled: u64,
    now: Instant,
}

impl Events {
    pub(super) fn now(&self) -> Instant {
        self.now
    }

    pub(super) fn next_time(&self) -> Option<Instant> {
        Some(self.queue.first_key_value()?.0.0)
    }

    pub(super) fn advance_clock(&mut self, time: Instant) {
        self.now = time;
    }

    fn schedule(&mut self, time: Instant, event: Event) {
        self.scheduled += 1;
        self.queue.insert((time, self.scheduled), event);
    }

    fn pop(&mut self) -> Option<Event> {
        let ((time, _), event) = self.queue.pop_first()?;
        self.now = time;
        Some(event)
    }
}

/// Firmware and a medium that has the data of a write when it is through with it, and gives a read the
/// data it has when the read begins: the worst case for the firmware.
pub(super) struct Bench {
    pub(super) queue: Events,
    pub(super) firmware: Any,
    outbox: Outbox,
    latency: Duration,
    /// By request; requests are numbered in the order of submission and not used again.
    pub(super) orders: Vec<Order>,
    /// The write of each page that the medium has.
    pub(super) medium: BTreeMap<u64, u32>,
    /// What each read gave: request, page, write.
    pub(super) given: Vec<(u32, u64, Option<u32>)>,
    /// Requests as they completed.
    pub(super) completed: Vec<u32>,
    pub(super) submitted_at: Vec<Instant>,
    pub(super) completed_at: BTreeMap<u32, Instant>,
}

impl Bench {
    pub(super) fn new((design, section): &(Design, Section), latency: Duration) -> Bench {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        profile.firmware = section.clone();
        Bench {
            queue: Events::default(),
            firmware: match design {
                Design::Naive => Any::Naive(Box::new(Naive::new(section))),
                _ => Any::Pipeline(Box::new(Pipeline::new(*design, &profile))),
            },
            outbox: Outbox::default(),
            latency,
            orders: Vec::new(),
            medium: BTreeMap::new(),
            given: Vec::new(),
            completed: Vec::new(),
            submitted_at: Vec::new(),
            completed_at: BTreeMap::new(),
        }
    }

    pub(super) fn submit(&mut self, order: Order) -> u32 {
        let request = self.orders.len() as u32;
        self.orders.push(order);
        self.submitted_at.push(self.queue.now());
        let pages = Pages {
            volume: 0,
            first: order.first,
            end: order.first + order.pages,
        };
        let mut command = Fetched::default();
        (command.request, command.opcode, command.pages) = (request, order.opcode, pages);
        command.queue = order.queue;
        self.call(|firmware, outbox| firmware.accept(command, outbox));
        request
    }

    fn call(&mut self, call: impl FnOnce(&mut dyn Firmware, &mut Outbox)) {
        self.outbox.now = self.queue.now();
        call(self.firmware.get(), &mut self.outbox);
        for (time, number) in self.outbox.wakes.drain(..) {
            self.queue.schedule(time, Event::Firmware(number));
        }
    }

    pub(super) fn usage(&mut self) -> Usage {
        let now = self.queue.now();
        self.firmware.get().usage(now)
    }

    /// Handles the next event, if there is one.
    pub(super) fn step(&mut self) -> bool {
        let Some(event) = self.queue.pop() else {
            return false;
        };
        match event {
            Event::Firmware(core) => {
                self.call(|firmware, outbox| firmware.step(core, outbox));
            }
            Event::Medium(request) => {
                let order = self.orders[request as usize];
                if order.opcode == Opcode::Write {
                    let pages = order.range().map(|page| (page, request));
                    self.medium.extend(pages);
                }
                self.call(|firmware, outbox| firmware.ended(request, outbox));
            }
        }
        for action in std::mem::take(&mut self.outbox.actions) {
            self.act(action);
        }
        true
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Start(request) | Action::Serve(request) => {
                let order = self.orders[request as usize];
                if order.opcode == Opcode::Read {
                    let mut found = BTreeMap::new();
                    for &(of, page, write) in &self.firmware.tables().record.found {
                        if of == request {
                            found.insert(page, write);
                        }
                    }
                    for page in order.range() {
                        let write = found.get(&page).or_else(|| self.medium.get(&page));
                        let write = write.copied().and_then(|write| self.source(write, page));
                        self.given.push((request, page, write));
                    }
                    self.firmware
                        .tables()
                        .record
                        .found
                        .retain(|&(of, ..)| of != request);
                }
                self.queue
                    .schedule(self.queue.now() + self.latency, Event::Medium(request));
            }
            Action::Complete(request) => {
                self.completed.push(request);
                self.completed_at.insert(request, self.queue.now());
            }
        }
    }

    /// The write whose data these are: what the buffer has may have been brought by a read.
    fn source(&self, request: u32, page: u64) -> Option<u32> {
        if self.orders[request as usize].opcode == Opcode::Write {
            return Some(request);
        }
        let mut given = self.given.iter();
        given.find(|given| (given.0, given.1) == (request, page))?.2
    }

    pub(super) fn run(&mut self) {
        while self.step() {}
        assert_eq!(
            self.completed.len(),
            self.orders.len(),
            "served is not submitted"
        );
        assert_eq!(
            self.firmware.tables().index.len(),
            0,
            "a range stays locked"
        );
    }

    /// Commands a second when `depth` of them are outstanding until `count` have completed.
    pub(super) fn rate(
        &mut self,
        depth: usize,
        count: usize,
        mut next: impl FnMut(u64) -> Order,
    ) -> f64 {
        for number in 0..depth {
            self.submit(next(number as u64));
        }
        let (mut seen, mut warm) = (0, Instant::START);
        while self.completed.len() < count && self.step() {
            while seen < self.completed.len() {
                seen += 1;
                if seen == count / 5 {
                    warm = self.queue.now();
                }
                self.submit(next(self.orders.len() as u64));
            }
        }
        let elapsed = (self.queue.now() - warm).as_secs_f64();
        (count - count / 5) as f64 / elapsed
    }
}

/// A design on so many cores.
pub(super) fn section(design: Design, cores: u32) -> (Design, Section) {
    let mut section = Section::default();
    section.cores = cores;
    (design, section)
}

/// Every design and every combination of optimisations.
pub(super) fn sections(cores: u32, cache_pages: u32) -> Vec<(Design, Section)> {
    let plain = |design| {
        let (design, mut section) = section(design, cores);
        section.cache_pages = cache_pages;
        (design, section)
    };
    let mut sections = vec![plain(Design::Naive), plain(Design::ManyLayered)];
    for ways in [2, 4] {
        for design in [Design::ManyLayered, Design::Pipeline] {
            let (_, mut section) = plain(design);
            section.core.threads = ways;
            sections.push((design, section));
        }
        let (_, mut section) = plain(Design::Pipeline);
        section.core.threads = ways;
        section.optimise(false);
        sections.push((Design::Pipeline, section));
    }
    for base in 0..2 {
        let (_, mut section) = plain(Design::Pipeline);
        (section.core.threads, section.core.issues) = (4, 2);
        section.binding = FirmwareBinding::Filled;
        section.optimise(base == 0);
        (section.cache_bypass, section.cache_fill) = (false, true);
        sections.push((Design::Pipeline, section));
    }
    for bits in 0..16u32 {
        let is_on = |bit: u32| bits >> bit & 1 == 1;
        let (_, mut section) = plain(Design::Pipeline);
        section.dynamic_serialization = is_on(0);
        section.lock_forwarding = is_on(1);
        section.cache_bypass = is_on(2);
        section.background_scheduling = is_on(3);
        sections.push((Design::Pipeline, section));
    }
    sections
}
