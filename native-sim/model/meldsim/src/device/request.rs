//! The record of a command: all that the device knows of it, from admission to completion.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

use super::NamespaceStats;
use crate::engine::{Duration, Instant, Slab};
use crate::nvme::zone::ZoneAction;
use crate::nvme::{Completion, Hint, NamespaceId, Opcode, Status};

/// Where a command is on its way through the device, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stage {
    /// It waits in its submission queue.
    #[default]
    Queued,
    /// The controller fetches it.
    Fetch,
    /// Its data cross the link to the device.
    Transfer,
    /// The firmware works on it.
    Firmware,
    /// It waits for the write buffer to take all of it.
    Admission,
    /// The medium, the controller or the link to the host works on it.
    Medium,
    /// The firmware works on its completion.
    Completion,
    /// It has completed; its record is free.
    Completed,
}

/// The pages of a range of logical blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageRange {
    /// The NVM set.
    pub(super) set: u32,
    /// The namespace's number in the set.
    pub(super) space: u32,
    pub(super) first: u64,
    pub(super) end: u64,
    /// The first page is covered only in part.
    pub(super) partial_first: bool,
    /// The last page is covered only in part.
    pub(super) partial_last: bool,
    /// Codewords of the first page, of 4 KiB, that lie before the range, and of the last that lie behind it.
    pub(super) skipped: [u8; 2],
}

/// Log2 of the bytes of the host's data that a read can move over the bus at least.
pub(super) const CODEWORD_SHIFT: u32 = 12;

impl PageRange {
    pub(super) fn pages(&self) -> u64 {
        self.end - self.first
    }

    /// The pages that are covered as a whole.
    pub(super) fn whole(&self) -> (u64, u64) {
        let first = self.first + u64::from(self.partial_first);
        let end = self.end - u64::from(self.partial_last);
        (first, end.max(first))
    }

    /// Whether a page is covered only in part.
    pub(super) fn is_partial(&self, page: u64) -> bool {
        (self.partial_first && page == self.first) || (self.partial_last && page + 1 == self.end)
    }
}

/// What the data of a read take on the link to the host.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outbound {
    pub(super) page: Duration,
    /// Of the command, with the first of its pages.
    pub(super) command: Duration,
    /// Pages that come from the controller, in one part.
    pub(super) from_controller: u64,
}

/// What a medium has done for a command.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    /// Pages of a read have come to the controller and go over the link: as many of its parts.
    Pages { request: u32, pages: u8 },
    /// The controller has all it needs for a part of the command, which takes its latency.
    Taken { request: u32 },
    /// All parts are done.
    Done { request: u32 },
}

/// A command on its way. It owns no memory of its own: a record is taken and freed by the million.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Request {
    pub(super) stage: Stage,
    pub(super) opcode: Opcode,
    pub(super) status: Status,
    /// What the completion returns.
    pub(super) result: u64,
    pub(super) hint: Hint,
    /// The submission queue it came from.
    pub(super) queue: u16,
    pub(super) tag: u64,
    pub(super) nsid: NamespaceId,
    pub(super) submitted: Instant,
    /// The byte of the namespace it starts at.
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) range: PageRange,
    /// Pages, latencies and programs that it waits for on the medium.
    pub(super) parts: u64,
    /// The first page of its range that is not issued or not in the write buffer.
    pub(super) next: u64,
    /// Where the mapping is cached: the first page whose entry has not been looked up.
    pub(super) mapped: u64,
    /// A read that is issued in segments, one after the other.
    pub(super) is_divided: bool,
    /// Pages of a segment.
    pub(super) segment: u64,
    /// Pages of the present segment that are on their way from flash.
    pub(super) in_flight: u64,
    /// When a write came to the write buffer.
    pub(super) admitted: Instant,
    /// There is room on the medium for all of a write.
    pub(super) has_room: bool,
    /// Its NVM set is not idle before it has completed.
    pub(super) keeps_awake: bool,
    /// It is a read whose data cross a link to the host.
    pub(super) is_sent: bool,
    pub(super) outbound: Outbound,
    pub(super) zone: ZoneStep,
}

/// What a command does to zones beyond writing to them. Frontiers are those of active zones, bit by bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ZoneStep {
    #[default]
    None,
    /// It asks for this.
    Manage(ZoneAction),
    /// It asks for this of all zones.
    ManageAll(ZoneAction),
    /// It writes, which may open it or fill it.
    Write { opens: bool, fills: bool },
    /// They are padded.
    Pad { slots: u16 },
    /// Data of zones, some of which have frontiers, are forgotten: so many logical blocks.
    Reset { slots: u16, written: u64 },
}

/// The frontiers of a set of them, in order.
pub(super) fn frontiers(slots: u16) -> impl Iterator<Item = u8> {
    (0..16).filter(move |slot| slots >> slot & 1 != 0)
}

impl Request {
    /// How many bytes of a page of its range are its own, and how many a page has.
    pub(super) fn bytes_of(&self, page: u64, page_bytes: u64) -> (u32, u32) {
        let (first, end) = (page * page_bytes, (page + 1) * page_bytes);
        let from = self.start.max(first);
        let bytes = end.min(self.start + self.bytes).saturating_sub(from);
        (bytes as u32, page_bytes as u32)
    }
}

impl Request {
    /// Parts are done; true with the last of them.
    #[inline]
    pub(super) fn finish_parts(&mut self, parts: u64) -> bool {
        debug_assert!(self.parts >= parts, "a request finished more than it has");
        self.parts -= parts;
        self.parts == 0
    }
}

/// How long at least one of a kind of command was outstanding.
#[derive(Clone, Debug, Default)]
struct Activity {
    outstanding: u64,
    since: Instant,
    total: Duration,
    /// When that was, if somebody will ask: from when to when, in order.
    spans: Option<Vec<(Instant, Instant)>>,
}

impl Activity {
    #[inline(always)]
    fn start(&mut self, now: Instant) {
        if self.outstanding == 0 {
            self.since = now;
        }
        self.outstanding += 1;
    }

    #[inline(always)]
    fn end(&mut self, now: Instant) {
        self.outstanding -= 1;
        if self.outstanding == 0 {
            self.total += now - self.since;
            if let Some(spans) = &mut self.spans {
                add_span(spans, (self.since, now));
            }
        }
    }

    fn total(&self, now: Instant) -> Duration {
        if self.outstanding == 0 {
            self.total
        } else {
            self.total + (now - self.since)
        }
    }

    /// That of several devices, all of them at `now`: how long a command was outstanding on any. It is known of those that
    /// keep spans.
    fn joined<'a>(parts: impl Iterator<Item = &'a Activity>, now: Instant) -> Activity {
        let (mut outstanding, mut all) = (0, Vec::new());
        for part in parts {
            outstanding += part.outstanding;
            all.extend(part.spans.iter().flatten().copied());
            all.extend((part.outstanding > 0).then_some((part.since, now)));
        }
        all.sort_unstable();
        let mut spans = Vec::new();
        all.into_iter().for_each(|span| add_span(&mut spans, span));
        Activity {
            outstanding,
            since: now,
            total: spans.iter().map(|(from, to)| *to - *from).sum(),
            spans: None,
        }
    }
}

/// Adds a span of time to others, none of which begins after it.
fn add_span(spans: &mut Vec<(Instant, Instant)>, (from, to): (Instant, Instant)) {
    match spans.last_mut() {
        Some((_, end)) if *end >= from => *end = to.max(*end),
        _ => spans.push((from, to)),
    }
}

/// The commands on their way, by number, and how much of their time overlaps.
#[derive(Debug)]
pub(super) struct Requests {
    records: Slab<Request>,
    /// Ranges of deallocations beyond the first, by number.
    more_ranges: BTreeMap<u32, Box<[PageRange]>>,
    /// What the medium has reported and nobody has taken.
    pub(super) outcomes: Vec<Outcome>,
    all: Activity,
    reads: Activity,
    /// What the commands of each namespace did, by its identifier less 1.
    namespaces: Vec<NamespaceStats>,
}

impl Requests {
    pub(super) fn new() -> Requests {
        Requests {
            records: Slab::new(),
            more_ranges: BTreeMap::new(),
            outcomes: Vec::new(),
            all: Activity::default(),
            reads: Activity::default(),
            namespaces: Vec::new(),
        }
    }

    /// Those of a device with so many namespaces, which will be [joined](Requests::join) with others.
    pub(super) fn with_spans(namespaces: usize) -> Requests {
        let activity = || Activity {
            spans: Some(Vec::new()),
            ..Activity::default()
        };
        Requests {
            all: activity(),
            reads: activity(),
            namespaces: vec![NamespaceStats::default(); namespaces],
            ..Requests::new()
        }
    }

    /// Adds what the commands of several devices have done that are at `now`, and that each have the same namespaces. There
    /// were none here.
    pub(super) fn join<'a>(
        &mut self,
        parts: impl Iterator<Item = &'a Requests> + Clone,
        now: Instant,
    ) {
        self.all = Activity::joined(parts.clone().map(|part| &part.all), now);
        self.reads = Activity::joined(parts.clone().map(|part| &part.reads), now);
        for part in parts {
            for (all, of) in self.namespaces.iter_mut().zip(&part.namespaces) {
                *all = all.plus(of);
            }
        }
    }

    /// The next namespace may have commands.
    pub(super) fn add_namespace(&mut self) {
        self.namespaces.push(NamespaceStats::default());
    }

    /// What the commands of a namespace, which exists, have done.
    pub(super) fn stats_of(&self, nsid: NamespaceId) -> &NamespaceStats {
        &self.namespaces[nsid.0 as usize - 1]
    }

    #[inline]
    pub(super) fn stats_of_mut(&mut self, nsid: NamespaceId) -> &mut NamespaceStats {
        &mut self.namespaces[nsid.0 as usize - 1]
    }

    /// A command, and what the commands of its namespace have done.
    #[inline(always)]
    pub(super) fn with_stats(&mut self, id: u32) -> (&mut Request, &mut NamespaceStats) {
        let request = &mut self.records[id];
        debug_assert!(request.stage != Stage::Completed, "a free record");
        let stats = &mut self.namespaces[request.nsid.0 as usize - 1];
        (request, stats)
    }

    /// What the commands of all namespaces have done.
    pub(super) fn stats(&self) -> NamespaceStats {
        let none = NamespaceStats::default();
        self.namespaces.iter().fold(none, |all, of| all.plus(of))
    }

    /// Takes a command that is submitted now; gives its number.
    #[inline(always)]
    pub(super) fn insert(&mut self, make: impl FnOnce() -> Request) -> u32 {
        let id = self.records.insert_with(make);
        let Request {
            opcode,
            nsid,
            submitted,
            bytes,
            ..
        } = self.records[id];
        self.all.start(submitted);
        let stats = self.stats_of_mut(nsid);
        stats.outstanding_commands += 1;
        match opcode {
            Opcode::Read => {
                stats.read_commands += 1;
                stats.host_read_bytes += bytes;
                self.reads.start(submitted);
            }
            Opcode::Write | Opcode::Append => {
                stats.write_commands += 1;
                stats.host_written_bytes += bytes;
            }
            Opcode::Deallocate => stats.deallocate_commands += 1,
            Opcode::Flush => stats.flush_commands += 1,
            Opcode::ManageZone => {}
        }
        id
    }

    /// The command, a deallocation, has more ranges.
    pub(super) fn add_ranges(&mut self, id: u32, ranges: Box<[PageRange]>) {
        self.more_ranges.insert(id, ranges);
    }

    /// The ranges of a command: one, unless it is a deallocation.
    #[inline]
    pub(super) fn ranges(&self, id: u32) -> impl Iterator<Item = &PageRange> {
        let more = self.more_ranges.get(&id);
        std::iter::once(&self[id].range).chain(more.into_iter().flatten())
    }

    /// Ends a command: its record is free for another.
    #[inline(always)]
    pub(super) fn complete(&mut self, id: u32, now: Instant) -> Completion {
        let (request, stats) = self.with_stats(id);
        request.stage = Stage::Completed;
        let completion = Completion {
            tag: request.tag,
            opcode: request.opcode,
            status: request.status,
            result: request.result,
            submitted: request.submitted,
            completed: now,
        };
        stats.outstanding_commands -= 1;
        stats.failed_commands += u64::from(!completion.status.is_success());
        let add = |sum: &mut u64| *sum = sum.wrapping_add(completion.latency().as_ps());
        match completion.opcode {
            Opcode::Read => {
                add(&mut stats.read_latency_ps);
                self.reads.end(now);
            }
            Opcode::Write | Opcode::Append => add(&mut stats.write_latency_ps),
            Opcode::Deallocate | Opcode::Flush | Opcode::ManageZone => {}
        }
        if !self.more_ranges.is_empty() {
            self.more_ranges.remove(&id);
        }
        self.records.remove(id);
        self.all.end(now);
        completion
    }

    /// A part of a command is done on the medium.
    #[inline]
    pub(super) fn part_done(&mut self, id: u32) {
        if self[id].finish_parts(1) {
            self.outcomes.push(Outcome::Done { request: id });
        }
    }

    /// Pages have come from the medium: of a read, for the host; of a write, to be merged.
    #[inline(always)]
    pub(super) fn pages_read(&mut self, id: u32, pages: u8) {
        let request = &mut self[id];
        if request.is_sent {
            self.outcomes.push(Outcome::Pages { request: id, pages });
        } else if request.finish_parts(u64::from(pages)) {
            self.outcomes.push(Outcome::Done { request: id });
        }
    }

    /// Where the command of a number is, if there ever was one.
    #[inline]
    pub(super) fn stage(&self, id: u32) -> Option<Stage> {
        let records = self.records.iter().as_slice();
        Some(records.get(id as usize)?.stage)
    }

    pub(super) fn outstanding(&self) -> usize {
        self.records.len()
    }

    /// The commands that have not completed.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Request> {
        let records = self.records.iter();
        records.filter(|request| request.stage != Stage::Completed)
    }

    /// Time with at least one command outstanding.
    pub(super) fn active(&self, now: Instant) -> Duration {
        self.all.total(now)
    }

    /// Time with at least one read outstanding.
    pub(super) fn read_active(&self, now: Instant) -> Duration {
        self.reads.total(now)
    }
}

impl Index<u32> for Requests {
    type Output = Request;
    #[inline]
    fn index(&self, id: u32) -> &Request {
        debug_assert!(self.records[id].stage != Stage::Completed, "a free record");
        &self.records[id]
    }
}

impl IndexMut<u32> for Requests {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Request {
        debug_assert!(self.records[id].stage != Stage::Completed, "a free record");
        &mut self.records[id]
    }
}
