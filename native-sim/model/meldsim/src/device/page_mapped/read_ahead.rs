//! Read-ahead: what a run of reads is about to ask for is read before it does.
//!
//! ```text
//!   a read that begins where one of the last ended --note--> a run
//!   take: its pages that were read ahead come from the controller, at once or when they have arrived
//!   plan: behind it, the next chunk is read, so that up to `controller.read_ahead` is at hand or on its way
//!   a write or a deallocation of pages that were read ahead --forget--> the run has none
//! ```
//!
//! Only a read that goes on with a run is served from what was read ahead for it. The memory is bounded: [`RUNS`] of a set,
//! each with as much as the profile says, and with what a read of it takes.

use super::{Map, NandMedium};
use crate::device::request::{Outcome, Requests};
use crate::engine::EventQueue;
use crate::event::Event;
use crate::nand::Owner;

/// Runs that are followed at a time.
const RUNS: usize = 8;
/// Chunks of a run that are at hand or on their way.
const CHUNKS: usize = 4;
/// Ends of reads that are remembered, by a hash of where they are: a power of two. A run whose last read is longer ago is none
/// any more: in time somebody reads each page.
const ENDS: usize = 64;
/// Reads in order that are a run, and no coincidence.
const IN_ORDER: u8 = 3;
const _: () = assert!(RUNS * CHUNKS <= Owner::CHUNKS as usize);

/// What is read ahead in an NVM set.
#[derive(Debug)]
pub(super) struct ReadAhead {
    /// How far to read ahead.
    pages: u64,
    ends: [End; ENDS],
    runs: [Run; RUNS],
    /// The first so many of them are runs.
    begun: usize,
    /// Reads so far: the time of [`Run::used`].
    clock: u64,
    /// Pages that were read ahead.
    pub(super) pages_read: u64,
}

/// Where a read ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    space: u32,
    byte: u64,
    /// Reads in order up to it, fewer than [`IN_ORDER`].
    reads: u8,
}

#[derive(Debug, Default)]
struct Run {
    space: u32,
    /// Where its last read ended.
    byte: u64,
    /// The first page that was never asked for.
    ahead: u64,
    /// How far to read ahead next, at most: more and more, as what was no run wastes little then.
    window: u64,
    used: u64,
    chunks: [Chunk; CHUNKS],
}

/// Pages of flash that were read ahead together.
#[derive(Debug, Default)]
struct Chunk {
    first: u64,
    end: u64,
    /// Those that have not arrived.
    in_flight: u64,
    is_failed: bool,
    /// Requests that wait for them, and for which pages.
    waiting: Vec<(u32, u64, u64)>,
}

impl Chunk {
    /// Serves no more reads; those that wait are served yet.
    fn forget(&mut self) {
        (self.first, self.end) = (0, 0);
    }
}

impl Run {
    fn is_on_its_way(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.in_flight > 0)
    }

    fn forget(&mut self) {
        self.chunks.iter_mut().for_each(Chunk::forget);
        (self.ahead, self.window) = (0, 0);
    }
}

impl ReadAhead {
    /// That of a set, if it reads so many pages ahead.
    pub(super) fn of(pages: u64) -> Option<Box<ReadAhead>> {
        let none = End {
            space: u32::MAX,
            byte: 0,
            reads: 0,
        };
        (pages > 0).then(|| {
            Box::new(ReadAhead {
                pages,
                ends: [none; ENDS],
                runs: Default::default(),
                begun: 0,
                clock: 0,
                pages_read: 0,
            })
        })
    }

    fn end_at(&mut self, space: u32, byte: u64) -> &mut End {
        let hash = (byte >> 9).wrapping_add(u64::from(space) << 40);
        // Fibonacci hashing: Knuth, The Art of Computer Programming, 6.4.
        let hash = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - ENDS.trailing_zeros());
        &mut self.ends[hash as usize]
    }

    /// There is a read of bytes `start..end`. Returns the run that it goes on with.
    fn note(&mut self, space: u32, start: u64, end: u64) -> Option<u8> {
        self.clock += 1;
        let since = self.clock.saturating_sub(ENDS as u64);
        let goes_on = |run: &Run| (run.space, run.byte) == (space, start) && run.used > since;
        if let Some(run) = self.runs[..self.begun].iter().position(goes_on) {
            return Some(self.go_on(run, space, end));
        }
        let last = *self.end_at(space, start);
        let reads = match (last.space, last.byte) == (space, start) {
            true => last.reads + 1,
            false => 1,
        };
        if reads == IN_ORDER {
            let run = self.begin()?;
            return Some(self.go_on(run, space, end));
        }
        let byte = end;
        *self.end_at(space, end) = End { space, byte, reads };
        None
    }

    /// The place of another run; none when all have something on its way.
    fn begin(&mut self) -> Option<usize> {
        if self.begun < RUNS {
            self.begun += 1;
            return Some(self.begun - 1);
        }
        let free = (0..RUNS).filter(|&run| !self.runs[run].is_on_its_way());
        let run = free.min_by_key(|&run| self.runs[run].used)?;
        self.runs[run].forget();
        Some(run)
    }

    fn go_on(&mut self, run: usize, space: u32, byte: u64) -> u8 {
        let of = &mut self.runs[run];
        (of.space, of.byte, of.used) = (space, byte, self.clock);
        run as u8
    }

    /// Where to read ahead for a run whose last read is of pages `first..end`: which chunk, and from which page to which.
    fn plan(&mut self, run: u8, first: u64, end: u64) -> Option<(u8, u64, u64)> {
        let of = &mut self.runs[usize::from(run)];
        let from = of.ahead.max(end);
        // Not page by page: half of it at least.
        if from - end > of.window / 2 {
            return None;
        }
        let is_free = |chunk: &Chunk| chunk.in_flight == 0 && chunk.end <= first;
        let chunk = of.chunks.iter().position(is_free)?;
        of.window = (2 * of.window.max(end - first)).min(self.pages);
        Some((run * CHUNKS as u8 + chunk as u8, from, end + of.window))
    }

    /// What was read ahead of these pages is no longer true.
    pub(super) fn forget(&mut self, space: u32, first: u64, end: u64) {
        for run in &mut self.runs {
            let overlaps = |chunk: &Chunk| chunk.first < end && first < chunk.end;
            if run.space == space && run.chunks.iter().any(overlaps) {
                run.forget();
            }
        }
    }

    pub(super) fn forget_all(&mut self) {
        self.runs.iter_mut().for_each(Run::forget);
    }

    fn chunk(&mut self, chunk: u8) -> (&mut Chunk, u32) {
        let run = &mut self.runs[usize::from(chunk) / CHUNKS];
        (&mut run.chunks[usize::from(chunk) % CHUNKS], run.space)
    }
}

impl<M: Map> NandMedium<M> {
    /// Begins a read where there is read-ahead: what was not read ahead is read, and then what comes behind it.
    pub(super) fn read_in_run(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        id: u32,
    ) {
        let request = &requests[id];
        let (range, start) = (request.range, request.start);
        let Some(ahead) = &mut self.sets[range.set as usize].ahead else {
            return self.read_on_demand(queue, requests, id);
        };
        let run = ahead.note(range.space, start, start + request.bytes);
        if let Some(run) = run {
            self.take(requests, id, run);
        }
        if requests[id].next < range.end {
            self.read_on_demand(queue, requests, id);
        } else if let Some(recorder) = self.flash.recorder() {
            recorder.operations_begin(id, queue.now());
        }
        if let Some(run) = run {
            self.read_ahead(queue, range.set, (run, range.first, range.end));
        }
    }

    /// Gives a read the first of its pages as far as they were read ahead for its run.
    fn take(&mut self, requests: &mut Requests, id: u32, run: u8) {
        let (request, stats) = requests.with_stats(id);
        let end = match M::HAS_PAGES {
            true => request.mapped,
            false => request.range.end,
        };
        let Some(ahead) = &mut self.sets[request.range.set as usize].ahead else {
            return;
        };
        let chunks = &mut ahead.runs[usize::from(run)].chunks;
        let (mut next, mut arrived) = (request.next, 0);
        while let Some(chunk) = chunks
            .iter_mut()
            .find(|chunk| next < end && (chunk.first..chunk.end).contains(&next))
        {
            let pages = chunk.end.min(end) - next;
            match chunk.in_flight {
                0 => arrived += pages,
                _ => {
                    request.parts += 1;
                    chunk.waiting.push((id, next, pages));
                }
            }
            next += pages;
        }
        stats.read_ahead_hits += next - request.next;
        request.next = next;
        if arrived > 0 {
            request.parts += 1;
            request.outbound.from_controller += arrived;
            requests.outcomes.push(Outcome::Taken { request: id });
        }
    }

    /// Reads the next chunk of a run whose last read is of pages `first..end`, if it is time to.
    fn read_ahead(
        &mut self,
        queue: &mut EventQueue<Event>,
        set: u32,
        (run, first, end): (u8, u64, u64),
    ) {
        let of = &mut self.sets[set as usize];
        let Some(ahead) = &mut of.ahead else {
            return;
        };
        let Some((index, from, to)) = ahead.plan(run, first, end) else {
            return;
        };
        let space = ahead.runs[usize::from(run)].space;
        let to = from + of.ftl.pages_on_flash(space, from, to);
        // What is missing of a cached mapping is left to the read that asks for it.
        let Ok(pages @ 1..) = of.map.look(space, from..to) else {
            return;
        };
        let owner = Owner::ahead(set, index);
        let pages = from..from + pages;
        let (end, none) = (pages.end, [0, 0]);
        let read = of
            .ftl
            .read(&mut self.flash, queue, space, pages, none, owner);
        ahead.pages_read += read.flash;
        ahead.runs[usize::from(run)].ahead = end;
        let (chunk, _) = ahead.chunk(index);
        (chunk.first, chunk.end) = (from, end);
        (chunk.in_flight, chunk.is_failed) = (read.flash, false);
    }

    /// A command is about to change what the pages of its ranges hold.
    pub(super) fn forget_ahead(&mut self, requests: &Requests, id: u32) {
        for range in requests.ranges(id) {
            if let Some(ahead) = &mut self.sets[range.set as usize].ahead {
                ahead.forget(range.space, range.first, range.end);
            }
        }
    }

    /// Pages that were read ahead, so many, have come from flash, or could not be read.
    pub(super) fn came_ahead(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        (set, chunk): (u32, u8),
        (pages, is_failed): (u8, bool),
    ) {
        let of = &mut self.sets[set as usize];
        let Some(ahead) = &mut of.ahead else {
            return;
        };
        let (chunk, space) = ahead.chunk(chunk);
        chunk.in_flight -= u64::from(pages);
        chunk.is_failed |= is_failed;
        if chunk.in_flight > 0 {
            return;
        }
        if chunk.is_failed {
            chunk.forget();
        }
        for (id, first, pages) in chunk.waiting.drain(..) {
            let (request, stats) = requests.with_stats(id);
            if !chunk.is_failed {
                request.outbound.from_controller += pages;
                requests.outcomes.push(Outcome::Taken { request: id });
                continue;
            }
            // Those that can be read are told from the others by being read again.
            let (range, owner) = (first..first + pages, Owner::request(id));
            let read = of
                .ftl
                .read(&mut self.flash, queue, space, range, [0, 0], owner);
            stats.read_ahead_hits -= pages;
            stats.host_pages_read += read.flash;
            stats.buffer_page_reads += read.buffered;
            stats.unmapped_page_reads += read.unmapped;
            request.parts += read.flash;
            request.in_flight += read.flash;
            request.outbound.from_controller += read.buffered + read.unmapped;
            requests.outcomes.push(Outcome::Taken { request: id });
        }
    }
}
