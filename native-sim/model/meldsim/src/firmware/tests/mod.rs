//! The firmware in front of a medium of fixed latency.

mod consistency;
mod scaling;

use std::collections::BTreeMap;

use super::buffer::BurstBuffer;
use super::{Action, CommandState, Commands, Events, Firmware, Pages};
use crate::engine::{Duration, EventQueue, Instant};
use crate::event::Event;
use crate::nvme::Opcode;
use crate::profile::{Firmware as Section, FirmwareBinding, FirmwareDesign};

/// Pages that a transaction of the flash programs.
const PROGRAM_PAGES: u64 = 4;

/// What happened to the tables of the firmware.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// What reads found in the buffer: request, page, write.
    found: Vec<(u32, u64, u32)>,
    /// Requests in the order in which they got their ranges.
    order: Vec<u32>,
}

impl Record {
    pub(super) fn new() -> Record {
        Record::default()
    }

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
    pub(super) state: CommandState,
}

impl Order {
    pub(super) fn read(first: u64, pages: u64) -> Order {
        Order {
            opcode: Opcode::Read,
            first,
            pages,
            queue: 0,
            state: CommandState::default(),
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

impl Commands for Vec<Order> {
    fn opcode(&self, request: u32) -> Opcode {
        self[request as usize].opcode
    }

    fn pages(&self, request: u32) -> Pages {
        let std::ops::Range { start, end } = self[request as usize].range();
        Pages {
            volume: 0,
            first: start,
            end,
        }
    }

    fn is_partial(&self, _request: u32) -> bool {
        false
    }

    fn queue(&self, request: u32) -> u16 {
        self[request as usize].queue
    }

    fn state(&mut self, request: u32) -> &mut CommandState {
        &mut self[request as usize].state
    }
}

/// Firmware and a medium that has the data of a write when it is through with it, and gives a read the
/// data it has when the read begins: the worst case for the firmware.
pub(super) struct Bench {
    pub(super) queue: Events,
    pub(super) firmware: Firmware,
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
    pub(super) fn new(section: &Section, latency: Duration) -> Bench {
        Bench {
            queue: EventQueue::new(0),
            firmware: Firmware::new(section, PROGRAM_PAGES).expect("not ideal"),
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
        self.firmware
            .accept(&mut self.queue, &mut self.orders, request);
        request
    }

    /// Handles the next event, if there is one.
    pub(super) fn step(&mut self) -> bool {
        let Some(event) = self.queue.pop_until(Instant::MAX) else {
            return false;
        };
        match event {
            Event::Firmware(core) => {
                self.firmware.step(&mut self.queue, &mut self.orders, core);
            }
            Event::Controller(request) => {
                let order = self.orders[request as usize];
                if order.opcode == Opcode::Write {
                    let pages = order.range().map(|page| (page, request));
                    self.medium.extend(pages);
                }
                self.firmware
                    .ended(&mut self.queue, &mut self.orders, request);
            }
            other => panic!("{other:?}"),
        }
        let mut actions = Vec::new();
        self.firmware.take_actions(&mut actions);
        for action in actions {
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
                    for &(of, page, write) in &self.firmware.tables_mut().record.found {
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
                        .tables_mut()
                        .record
                        .found
                        .retain(|&(of, ..)| of != request);
                }
                self.queue
                    .schedule(self.queue.now() + self.latency, Event::Controller(request));
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
            self.firmware.tables_mut().index.len(),
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

/// Every design and every combination of optimisations.
pub(super) fn sections(cores: u32, cache_pages: u32) -> Vec<Section> {
    let plain = |design| Section {
        design,
        cores,
        cache_pages,
        ..Section::default()
    };
    let mut sections = vec![
        plain(FirmwareDesign::Naive),
        plain(FirmwareDesign::ManyLayered),
    ];
    for ways in [2, 4] {
        let mut section = plain(FirmwareDesign::ManyLayered);
        section.core.threads = ways;
        sections.push(section.clone());
        section.design = FirmwareDesign::Pipeline;
        sections.push(section.clone());
        section.optimise(false);
        sections.push(section);
    }
    for base in 0..2 {
        let mut section = plain(FirmwareDesign::Pipeline);
        (section.core.threads, section.core.issues) = (4, 2);
        section.binding = FirmwareBinding::Filled;
        section.optimise(base == 0);
        (section.cache_bypass, section.cache_fill) = (false, true);
        sections.push(section);
    }
    for bits in 0..16u32 {
        let is_on = |bit: u32| bits >> bit & 1 == 1;
        sections.push(Section {
            dynamic_serialization: is_on(0),
            lock_forwarding: is_on(1),
            cache_bypass: is_on(2),
            background_scheduling: is_on(3),
            ..plain(FirmwareDesign::Pipeline)
        });
    }
    sections
}
