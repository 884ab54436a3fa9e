//! The array of dies behind one data path, chunk by chunk.

use std::collections::VecDeque;

use super::die::{Die, Next};
use super::path::Path;
use crate::engine::{Event, EventQueue, Slab, Time};
use crate::profile::Xpoint;

/// What can happen in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// An access is the next of its command.
    Issue(u32),
    /// A die can take the first access that waits for it.
    Die(u32),
    /// A die has done an access.
    Done(u32),
    /// An access has passed the data path.
    Passed(u32),
}

/// A chunk, read or written for a command, as a whole or in part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// The command it belongs to.
    pub(crate) request: u32,
    /// The chunk's number on the device.
    pub(crate) chunk: u64,
    /// Bytes of it that the command covers.
    pub(crate) bytes: u32,
    pub(crate) is_write: bool,
}

/// What the array did since it was built.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ArrayCounts {
    pub(crate) chunk_reads: u64,
    pub(crate) chunk_writes: u64,
    /// Chunks accessed only in part.
    pub(crate) partial_accesses: u64,
    /// Time accesses waited for a sector buffer, summed over them.
    pub(crate) buffer_wait: Time,
}

/// What operations take.
#[derive(Clone, Copy, Debug)]
struct Times {
    read: Time,
    write: Time,
    read_interval: Time,
    write_interval: Time,
    sector: Time,
    /// Of the controller, which every access passes once.
    controller: Time,
}

#[derive(Debug)]
pub(crate) struct Array {
    times: Times,
    chunk_bytes: u32,
    dies: Vec<Die>,
    path: Path,
    accesses: Slab<Access>,
    free_buffers: u32,
    /// Accesses that wait for a sector buffer, since when.
    for_buffer: VecDeque<(u32, Time)>,
    counts: ArrayCounts,
    /// Operations of each die: reads, writes.
    die_counts: Vec<[u64; 2]>,
}

impl Array {
    pub(crate) fn new(xpoint: &Xpoint, controller: Time) -> Array {
        let dies = xpoint.dies as usize;
        Array {
            times: Times {
                read: xpoint.read,
                write: xpoint.write,
                read_interval: xpoint.read_interval,
                write_interval: xpoint.write_interval,
                sector: xpoint.sector_time,
                controller,
            },
            chunk_bytes: xpoint.chunk_size.0 as u32,
            dies: (0..dies).map(|_| Die::default()).collect(),
            path: Path::new(xpoint),
            accesses: Slab::new(),
            free_buffers: xpoint.sector_buffers,
            for_buffer: VecDeque::new(),
            counts: ArrayCounts::default(),
            die_counts: vec![[0; 2]; dies],
        }
    }

    /// The die of a chunk: the chunk's number modulo the dies.
    #[inline]
    pub(crate) fn die_of(&self, chunk: u64) -> u32 {
        (chunk % self.dies.len() as u64) as u32
    }

    /// Takes an access, which begins at `at`.
    #[inline]
    pub(crate) fn submit(&mut self, queue: &mut EventQueue<Event>, access: Access, at: Time) {
        let access = self.accesses.insert(access);
        if at > queue.now() {
            queue.schedule(at, Event::Xpoint(Step::Issue(access)));
        } else {
            self.issue(queue, access);
        }
    }

    /// Goes on after an event. Returns the access that has ended with it, if one has.
    #[inline]
    pub(crate) fn step(&mut self, queue: &mut EventQueue<Event>, step: Step) -> Option<Access> {
        match step {
            Step::Issue(index) => self.issue(queue, index),
            Step::Die(die) => {
                self.dies[die as usize].look();
                self.run_die(queue, die);
            }
            Step::Done(index) => {
                let access = self.accesses[index];
                if access.is_write {
                    return Some(self.end(queue, index));
                }
                let end = self.path.transfer(queue.now(), access.bytes, false);
                queue.schedule(end, Event::Xpoint(Step::Passed(index)));
            }
            Step::Passed(index) => {
                if !self.accesses[index].is_write {
                    return Some(self.end(queue, index));
                }
                self.enqueue(queue, index);
            }
        }
        None
    }

    /// An access begins; one that covers its chunk only in part needs a sector buffer.
    fn issue(&mut self, queue: &mut EventQueue<Event>, index: u32) {
        if self.is_partial(&self.accesses[index]) {
            self.counts.partial_accesses += 1;
            if self.free_buffers == 0 {
                self.for_buffer.push_back((index, queue.now()));
                return;
            }
            self.free_buffers -= 1;
        }
        self.begin(queue, index);
    }

    #[inline]
    fn begin(&mut self, queue: &mut EventQueue<Event>, index: u32) {
        let access = self.accesses[index];
        if access.is_write {
            let end = self.path.transfer(queue.now(), access.bytes, true);
            queue.schedule(end, Event::Xpoint(Step::Passed(index)));
        } else {
            self.enqueue(queue, index);
        }
    }

    #[inline]
    fn enqueue(&mut self, queue: &mut EventQueue<Event>, index: u32) {
        let chunk = self.accesses[index].chunk;
        let die = self.die_of(chunk);
        self.dies[die as usize].enqueue(index, chunk);
        self.run_die(queue, die);
    }

    /// Starts what the die can take.
    fn run_die(&mut self, queue: &mut EventQueue<Event>, number: u32) {
        let now = queue.now();
        loop {
            match self.dies[number as usize].next(now) {
                Next::Nothing => return,
                Next::Wait(until) => {
                    queue.schedule(until, Event::Xpoint(Step::Die(number)));
                    return;
                }
                Next::Start(index) => {
                    let access = self.accesses[index];
                    let (interval, time) = self.operation(&access);
                    self.dies[number as usize].start(now, access.chunk, interval, time);
                    let reads_first = !access.is_write || self.is_partial(&access);
                    let [reads, writes] = &mut self.die_counts[number as usize];
                    *reads += u64::from(reads_first);
                    *writes += u64::from(access.is_write);
                    self.counts.chunk_reads += u64::from(reads_first);
                    self.counts.chunk_writes += u64::from(access.is_write);
                    let done = now + time + self.after_die(&access) + self.times.controller;
                    queue.schedule(done, Event::Xpoint(Step::Done(index)));
                }
            }
        }
    }

    /// How long an access takes its die, and its chunk. A chunk written in part is read, merged in
    /// the sector buffer and written (read-modify-write).
    #[inline]
    fn operation(&self, access: &Access) -> (Time, Time) {
        let times = &self.times;
        match (access.is_write, self.is_partial(access)) {
            (false, _) => (times.read_interval, times.read),
            (true, false) => (times.write_interval, times.write),
            (true, true) => (
                times.read_interval + times.write_interval,
                times.read + times.sector + times.write,
            ),
        }
    }

    /// What a read in part takes in its sector buffer; its chunk is free meanwhile.
    #[inline]
    fn after_die(&self, access: &Access) -> Time {
        match !access.is_write && self.is_partial(access) {
            true => self.times.sector,
            false => Time::ZERO,
        }
    }

    /// The access has ended; its sector buffer, if it has one, goes to the next.
    #[inline]
    fn end(&mut self, queue: &mut EventQueue<Event>, index: u32) -> Access {
        let access = self.accesses[index];
        self.accesses.remove(index);
        if self.is_partial(&access) {
            match self.for_buffer.pop_front() {
                Some((next, since)) => {
                    self.counts.buffer_wait += queue.now() - since;
                    self.begin(queue, next);
                }
                None => self.free_buffers += 1,
            }
        }
        access
    }

    #[inline]
    fn is_partial(&self, access: &Access) -> bool {
        access.bytes < self.chunk_bytes
    }

    pub(crate) fn counts(&self) -> ArrayCounts {
        self.counts
    }

    /// Reads and writes of chunks on each die.
    pub(crate) fn die_counts(&self) -> &[[u64; 2]] {
        &self.die_counts
    }

    /// Time the data path was in use.
    pub(crate) fn path_busy(&self, now: Time) -> Time {
        self.path.busy(now)
    }

    /// Time each die was taken.
    pub(crate) fn dies_busy(&self, now: Time) -> impl Iterator<Item = Time> + '_ {
        self.dies.iter().map(move |die| die.busy(now))
    }

    /// Bytes of memory that everything on its way takes.
    pub(crate) fn memory(&self) -> u64 {
        let accesses = self.accesses.len() * size_of::<Access>();
        (accesses + self.dies.len() * size_of::<Die>()) as u64
    }
}
