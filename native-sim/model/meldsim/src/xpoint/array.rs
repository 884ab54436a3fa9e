//! The array of dies behind one data path, chunk by chunk.
//!
//! In: accesses of chunks, and the array's own events. Out: the accesses that have ended. What a die
//! does next is [`Die`]'s; when data have crossed is [`DataPath`]'s.

use std::collections::VecDeque;

use crate::engine::{Duration, EventQueue, Instant, Slab, TotalTime};
use crate::event::{Event, XpointStep};
use crate::profile::Xpoint;

/// The queue that the array has its events in.
type Events = EventQueue<Event>;

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
    pub(crate) buffer_wait: TotalTime,
}

#[derive(Debug)]
pub(crate) struct Array {
    /// The times that operations take.
    times: Xpoint,
    /// Of the controller, which every access passes once.
    controller: Duration,
    dies: Vec<Die>,
    path: DataPath,
    accesses: Slab<Access>,
    free_buffers: u32,
    /// Accesses that wait for a sector buffer, since when.
    for_buffer: VecDeque<(u32, Instant)>,
    counts: ArrayCounts,
    /// Operations of each die: reads, writes.
    die_counts: Vec<[u64; 2]>,
}

impl Array {
    pub(crate) fn new(xpoint: &Xpoint, controller: Duration) -> Array {
        let dies = xpoint.dies as usize;
        Array {
            times: xpoint.clone(),
            controller,
            dies: (0..dies).map(|_| Die::default()).collect(),
            path: DataPath::new(xpoint),
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
    pub(crate) fn submit(&mut self, queue: &mut Events, access: Access, at: Instant) {
        let access = self.accesses.insert(access);
        if at > queue.now() {
            schedule(queue, at, XpointStep::Issue(access));
        } else {
            self.issue(queue, access);
        }
    }

    /// Goes on after an event. Returns the access that has ended with it, if one has.
    #[inline]
    pub(crate) fn step(&mut self, queue: &mut Events, step: XpointStep) -> Option<Access> {
        match step {
            XpointStep::Issue(index) => self.issue(queue, index),
            XpointStep::Die(die) => {
                self.dies[die as usize].has_event = false;
                self.run_die(queue, die);
            }
            XpointStep::Done(index) if self.accesses[index].is_write => {
                return Some(self.end(queue, index));
            }
            XpointStep::Done(index) => self.transfer(queue, index),
            XpointStep::Passed(index) if !self.accesses[index].is_write => {
                return Some(self.end(queue, index));
            }
            XpointStep::Passed(index) => self.enqueue(queue, index),
        }
        None
    }

    /// An access begins; one that covers its chunk only in part needs a sector buffer.
    fn issue(&mut self, queue: &mut Events, index: u32) {
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
    fn begin(&mut self, queue: &mut Events, index: u32) {
        if self.accesses[index].is_write {
            self.transfer(queue, index);
        } else {
            self.enqueue(queue, index);
        }
    }

    /// The data of an access cross the data path.
    #[inline]
    fn transfer(&mut self, queue: &mut Events, index: u32) {
        let Access {
            bytes, is_write, ..
        } = self.accesses[index];
        let end = self.path.transfer(queue.now(), bytes, is_write);
        schedule(queue, end, XpointStep::Passed(index));
    }

    #[inline]
    fn enqueue(&mut self, queue: &mut Events, index: u32) {
        let chunk = self.accesses[index].chunk;
        let die = self.die_of(chunk);
        self.dies[die as usize].waiting.push_back((index, chunk));
        self.run_die(queue, die);
    }

    /// Starts what the die can take.
    fn run_die(&mut self, queue: &mut Events, number: u32) {
        let now = queue.now();
        loop {
            match self.dies[number as usize].next(now) {
                Next::Nothing => return,
                Next::Wait(until) => {
                    schedule(queue, until, XpointStep::Die(number));
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
                    let done = now + time + self.after_die(&access) + self.controller;
                    schedule(queue, done, XpointStep::Done(index));
                }
            }
        }
    }

    /// How long an access takes its die, and its chunk. A chunk written in part is read, merged in
    /// the sector buffer and written (read-modify-write).
    #[inline]
    fn operation(&self, access: &Access) -> (Duration, Duration) {
        let times = &self.times;
        match (access.is_write, self.is_partial(access)) {
            (false, _) => (times.read_interval, times.read),
            (true, false) => (times.write_interval, times.write),
            (true, true) => (
                times.read_interval + times.write_interval,
                times.read + times.sector_time + times.write,
            ),
        }
    }

    /// What a read in part takes in its sector buffer; its chunk is free meanwhile.
    #[inline]
    fn after_die(&self, access: &Access) -> Duration {
        match !access.is_write && self.is_partial(access) {
            true => self.times.sector_time,
            false => Duration::ZERO,
        }
    }

    /// The access has ended; its sector buffer, if it has one, goes to the next.
    #[inline]
    fn end(&mut self, queue: &mut Events, index: u32) -> Access {
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
        u64::from(access.bytes) < self.times.chunk_size.0
    }

    pub(crate) fn counts(&self) -> ArrayCounts {
        self.counts
    }

    /// Reads and writes of chunks on each die.
    pub(crate) fn die_counts(&self) -> &[[u64; 2]] {
        &self.die_counts
    }

    /// Time the data path was in use.
    pub(crate) fn path_busy(&self, now: Instant) -> Duration {
        self.path.line.busy(now)
    }

    /// Time each die was taken.
    pub(crate) fn dies_busy(&self, now: Instant) -> impl Iterator<Item = Duration> + '_ {
        self.dies.iter().map(move |die| die.line.busy(now))
    }

    /// Bytes of memory that everything on its way takes.
    pub(crate) fn memory(&self) -> u64 {
        let accesses = self.accesses.len() * size_of::<Access>();
        (accesses + self.dies.len() * size_of::<Die>()) as u64
    }
}

#[inline]
fn schedule(queue: &mut Events, at: Instant, step: XpointStep) {
    queue.schedule(at, Event::Xpoint(step));
}

/// What is taken by one after the other: when it is free, and how long it was taken in all.
#[derive(Debug, Default)]
struct Line {
    free_at: Instant,
    total: Duration,
}

impl Line {
    /// Takes it for so long, once it is free. Returns when it is free again.
    #[inline]
    fn take(&mut self, now: Instant, length: Duration) -> Instant {
        self.free_at = self.free_at.max(now) + length;
        self.total += length;
        self.free_at
    }

    /// Time it was taken: what is taken ahead follows without a gap.
    fn busy(&self, now: Instant) -> Duration {
        self.total - self.free_at.saturating_since(now)
    }
}

/// A chunk that is being read or written.
#[derive(Clone, Copy, Debug)]
struct Held {
    chunk: u64,
    until: Instant,
}

/// A memory die and what waits for it, in order of arrival. It takes one operation after another, and
/// several overlap if on different chunks.
#[derive(Debug, Default)]
struct Die {
    /// Accesses and their chunks.
    waiting: VecDeque<(u32, u64)>,
    line: Line,
    /// Few: as many operations as overlap.
    held: Vec<Held>,
    /// An event comes when the first that waits can start.
    has_event: bool,
}

/// What a die does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Starts this access.
    Start(u32),
    /// Cannot start anything before this time.
    Wait(Instant),
    /// Has nothing to do, or an event of its own.
    Nothing,
}

impl Die {
    #[inline]
    fn next(&mut self, now: Instant) -> Next {
        if self.has_event {
            return Next::Nothing;
        }
        let Some(&(access, chunk)) = self.waiting.front() else {
            return Next::Nothing;
        };
        self.held.retain(|held| held.until > now);
        let held = self.held.iter().find(|held| held.chunk == chunk);
        let free_at = self.line.free_at;
        let at = held.map_or(free_at, |held| held.until.max(free_at));
        if at > now {
            self.has_event = true;
            return Next::Wait(at);
        }
        self.waiting.pop_front();
        Next::Start(access)
    }

    /// An operation on `chunk` starts: the die is taken for `interval`, the chunk for `time`.
    #[inline]
    fn start(&mut self, now: Instant, chunk: u64, interval: Duration, time: Duration) {
        self.line.take(now, interval);
        let until = now + time;
        self.held.push(Held { chunk, until });
    }
}

/// The controller's data path: one for both directions, data one after the other.
#[derive(Debug)]
struct DataPath {
    /// What a byte takes, in picoseconds times 2^20.
    read_byte: u64,
    write_byte: u64,
    line: Line,
}

const SCALE: u32 = 20;

impl DataPath {
    fn new(xpoint: &Xpoint) -> DataPath {
        let byte = |rate: u64| ((1_000_000_000_000u128 << SCALE) / u128::from(rate.max(1))) as u64;
        DataPath {
            read_byte: byte(xpoint.read_rate.0),
            write_byte: byte(xpoint.write_rate.0),
            line: Line::default(),
        }
    }

    /// When data that are ready now have passed.
    #[inline]
    fn transfer(&mut self, now: Instant, bytes: u32, is_write: bool) -> Instant {
        let byte = match is_write {
            true => self.write_byte,
            false => self.read_byte,
        };
        let ps = (u128::from(byte) * u128::from(bytes)) >> SCALE;
        self.line.take(now, Duration::from_ps(ps as u64))
    }
}
