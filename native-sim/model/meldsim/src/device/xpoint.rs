//! The XPoint medium: commands become accesses to chunks.

use super::Stats;
use super::inspect::{Location, Utilisation};
use super::medium::{Medium, Past, Report, Windowed};
use super::request::{Outcome, PageRange, Requests};
use super::sets::SetInfo;
use crate::engine::{Duration, EventQueue, Instant, TotalTime};
use crate::event::Event;
use crate::nvme::Opcode;
use crate::profile::{Profile, ProfileError};
use crate::xpoint::{Access, Array};

/// Namespaces can be as large as their chunks can be numbered without overflow.
const MAX_NAMESPACE_CHUNKS: u64 = 1 << 46;

/// Memory that is mapped by address. Namespaces lie one after the other; as what they hold is not
/// kept, they may be larger than the memory.
#[derive(Debug)]
pub(super) struct XpointMedium {
    array: Array,
    chunk_bytes: u64,
    issue_interval: Duration,
    capacity_chunks: u64,
    /// The first chunk of each namespace, and of the next.
    spaces: Vec<u64>,
}

impl Medium for XpointMedium {
    fn new(profile: &Profile) -> Result<XpointMedium, ProfileError> {
        let xpoint = &profile.xpoint;
        Ok(XpointMedium {
            array: Array::new(xpoint, profile.controller.latency),
            chunk_bytes: xpoint.chunk_size.0,
            issue_interval: xpoint.issue_interval,
            capacity_chunks: xpoint.capacity.0 / xpoint.chunk_size.0,
            spaces: vec![0],
        })
    }

    fn page_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    fn stripe_bytes(&self) -> u64 {
        self.chunk_bytes * self.array.die_counts().len() as u64
    }

    fn max_namespace_bytes(&self) -> u64 {
        MAX_NAMESPACE_CHUNKS * self.chunk_bytes
    }

    fn add_space(&mut self, _set: u32, size_bytes: u64) -> u32 {
        let space = self.spaces.len() as u32 - 1;
        let first = self.spaces[space as usize];
        self.spaces
            .push(first + size_bytes.div_ceil(self.chunk_bytes));
        space
    }

    #[inline]
    fn begin(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, id: u32) {
        let request = &mut requests[id];
        if !matches!(request.opcode, Opcode::Read | Opcode::Write) {
            // Nothing is buffered and nothing is mapped.
            request.parts += 1;
            requests.outcomes.push(Outcome::Taken { request: id });
            return;
        }
        let PageRange { first, end, .. } = request.range;
        let space = self.spaces[request.range.space as usize];
        request.parts += end - first;
        let stop = request.start + request.bytes;
        let mut at = queue.now();
        for chunk in first..end {
            let from = request.start.max(chunk * self.chunk_bytes);
            let to = stop.min((chunk + 1) * self.chunk_bytes);
            let access = Access {
                request: id,
                chunk: space + chunk,
                bytes: (to - from) as u32,
                is_write: request.opcode == Opcode::Write,
            };
            self.array.submit(queue, access, at);
            at += self.issue_interval;
        }
    }

    #[inline]
    fn process(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, event: Event) {
        let Event::Xpoint(step) = event else {
            debug_assert!(false, "{event:?} is not for this medium");
            return;
        };
        if let Some(ended) = self.array.step(queue, step) {
            requests.pages_read(ended.request, 1);
        }
    }
}

impl Past for XpointMedium {}

impl Windowed for XpointMedium {}

impl Report for XpointMedium {
    fn random_read_typical(&self, profile: &Profile) -> Duration {
        let xpoint = &profile.xpoint;
        let byte_ps = 1_000_000_000_000 / xpoint.read_rate.0.max(1);
        let path = Duration::from_ps(byte_ps.saturating_mul(xpoint.chunk_size.0));
        profile.host.command_cost + profile.controller.latency + xpoint.read + path
    }

    fn set_info(&self, set: u32) -> Option<SetInfo> {
        (set == 0).then(|| SetInfo {
            capacity_pages: self.capacity_chunks,
            mapped_pages: self.mapped(),
            host_pages_programmed: self.array.counts().chunk_writes,
            ..SetInfo::default()
        })
    }

    fn programmed(&self, _set: u32) -> (u64, u64) {
        (self.array.counts().chunk_writes * self.chunk_bytes, 0)
    }

    fn mapped_pages(&self, _set: u32, space: u32) -> (u64, u64) {
        let within = |of: usize| self.spaces[of].min(self.capacity_chunks);
        (within(space as usize + 1) - within(space as usize), 0)
    }

    // All of a namespace is there from the start, also what is beyond the memory's size.
    fn allocated_pages(&self, range: PageRange) -> u64 {
        range.pages()
    }

    fn memory(&self) -> u64 {
        self.array.memory()
    }

    fn stats(&self, now: Instant, counted: Stats) -> Stats {
        let counts = self.array.counts();
        Stats {
            chunk_reads: counts.chunk_reads,
            chunk_writes: counts.chunk_writes,
            partial_chunk_accesses: counts.partial_accesses,
            sector_buffer_wait_ps: counts.buffer_wait.as_counter(),
            channel_busy_ps: self.array.path_busy(now).as_ps(),
            die_busy_ps: self.array.dies_busy(now).sum::<TotalTime>().as_counter(),
            channels: 1,
            dies: self.array.die_counts().len() as u64,
            mapped_pages: self.mapped(),
            capacity_pages: self.capacity_chunks,
            ..counted
        }
    }

    fn utilisation(&self, now: Instant) -> Utilisation {
        let dies: Vec<Duration> = self.array.dies_busy(now).collect();
        let counts = self.array.die_counts();
        Utilisation {
            elapsed: now,
            channels_busy: vec![self.array.path_busy(now)],
            packages_busy: dies.clone(),
            planes_busy: dies.clone(),
            pages_read: counts.iter().map(|[reads, _]| *reads).collect(),
            pages_programmed: counts.iter().map(|[_, writes]| *writes).collect(),
            blocks_erased: vec![0; dies.len()],
            dies_busy: dies,
            planes_per_die: 1,
        }
    }

    fn locate(&self, range: PageRange) -> Location {
        let chunk = self.spaces[range.space as usize] + range.first;
        Location::Xpoint {
            die: self.array.die_of(chunk),
            chunk,
        }
    }
}

impl XpointMedium {
    /// Chunks of all namespaces, as far as there is room.
    fn mapped(&self) -> u64 {
        let chunks = self.spaces.last().copied().unwrap_or(0);
        chunks.min(self.capacity_chunks)
    }
}
