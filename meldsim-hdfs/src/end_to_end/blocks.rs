//! Readers of blocks beside a writer of blocks, on a host that takes its time with what it has read.
//!
//! ```text
//!   read ahead    |===|===|===|===|            the device
//!   a reader         |..h..|..h..|  wait  |..h..|     packet by packet, each once it has come
//! ```
//!
//! A reader comes to a page, which may let it request more, waits until all up to that page has come, and at a packet's end
//! is busy for the host's time. What is requested ahead goes on meanwhile. The writer keeps to a rate as long as the device does.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::read_ahead::{Extent, PAGE_BYTES, ReadAhead, Requested};
use meldsim::device::{Device, QueueId};
use meldsim::nvme::{Command, Completion, Directive, NamespaceId, Status};
use meldsim::{Duration, Instant};
use meldsim_host::{Failure, Load, LoadError, Next, Stream, Turn, drive};

/// An HDFS packet: a reader takes one at a time.
const PACKET_BYTES: u64 = 64 << 10;
/// What a writer hands over at a time.
const WRITE_BYTES: u64 = 1 << 20;
/// Writes outstanding at most.
const WRITE_DEPTH: u64 = 16;
/// Where the writer begins anew: more than a device buffers.
const WRITTEN_BYTES: u64 = 2 << 30;

/// Readers of their own blocks, all on one device, and a writer beside them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    pub(super) block_bytes: u64,
    pub(super) read_ahead: ReadAhead,
    pub(super) readers: u64,
    /// One after the other, of each reader.
    pub(super) blocks_each: u64,
    /// What the host takes for a packet between two reads.
    pub(super) host_time: Duration,
    /// The writer hands something over so often, if the device can; none without it.
    pub(super) write_every: Option<Duration>,
    /// How long the writer is alone.
    pub(super) writer_leads: Duration,
}

/// What came of it, while there were readers.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlocksTally {
    /// All readers together.
    pub(super) read_mib_s: f64,
    pub(super) written_mib_s: f64,
    /// The part of their time in which readers waited for the device.
    pub(super) waiting_share: f64,
}

impl Blocks {
    /// Bytes that a reader takes at a time.
    pub(super) const PACKET_BYTES: u64 = PACKET_BYTES;
    /// Bytes of a writer's request.
    pub(super) const WRITE_BYTES: u64 = WRITE_BYTES;
    /// A writer's requests outstanding at most.
    pub(super) const WRITE_DEPTH: u64 = WRITE_DEPTH;

    /// Runs on a fresh device, on which blocks lie and are written as `directive` says.
    pub(super) fn run(
        self,
        device: &mut Device,
        directive: Directive,
    ) -> Result<BlocksTally, LoadError> {
        let profile = device.profile();
        let lba_bytes = profile.controller.lba_size.0;
        let page_bytes = profile.geometry.page_size.0;
        let extent = Extent {
            block_bytes: self.block_bytes,
            page_bytes,
            wordline_bytes: page_bytes * profile.timing.read.len() as u64,
        };
        let place_bytes = self.block_bytes.next_multiple_of(extent.wordline_bytes);
        let read_bytes = place_bytes * self.readers * self.blocks_each;
        let nsid = device.create_namespace(read_bytes + WRITTEN_BYTES)?;
        if read_bytes > 0 {
            device.preload(nsid, 0, read_bytes / lba_bytes, directive)?;
        }
        let begin = Instant::START + self.writer_leads;
        let readers = (0..self.readers).map(|number| Reader {
            place: number * self.blocks_each * place_bytes,
            blocks_left: self.blocks_each,
            ..Reader::new(&self, extent, begin)
        });
        let mut load = Running {
            readers: readers.collect(),
            left: self.readers as usize,
            blocks: self,
            extent,
            place_bytes,
            lba_bytes,
            nsid,
            directive,
            written_at: read_bytes,
            writes: 0,
            written_bytes: 0,
            begin,
        };
        let reads = (0..self.readers).map(|_| Stream::new(QueueId::default(), u64::MAX));
        let writer = self.write_every.map(|_| WRITE_DEPTH);
        let writer = writer.map(|depth| Stream::new(QueueId::default(), depth));
        drive(device, reads.chain(writer), &mut load)?;
        Ok(load.tally())
    }
}

struct Reader {
    requested: Requested,
    /// Where the block lies.
    place: u64,
    blocks_left: u64,
    /// The next page it comes to.
    at: u64,
    /// Where the last request ends that the device got.
    submitted: u64,
    /// Where requests end, the oldest first, and whether they have come.
    under_way: VecDeque<(u64, bool)>,
    /// All before this has come.
    arrived: u64,
    busy_until: Instant,
    waits_since: Option<Instant>,
    waited: Duration,
    ended: Option<Instant>,
}

impl Reader {
    fn new(blocks: &Blocks, extent: Extent, begin: Instant) -> Reader {
        Reader {
            requested: Requested::new(blocks.read_ahead, extent),
            place: 0,
            blocks_left: 0,
            at: 0,
            submitted: 0,
            under_way: VecDeque::new(),
            arrived: 0,
            busy_until: begin,
            waits_since: None,
            waited: Duration::ZERO,
            ended: None,
        }
    }
}

struct Running {
    blocks: Blocks,
    extent: Extent,
    place_bytes: u64,
    lba_bytes: u64,
    nsid: NamespaceId,
    directive: Directive,
    readers: Vec<Reader>,
    /// Readers that read.
    left: usize,
    /// Where the writer's blocks begin.
    written_at: u64,
    /// Handed over.
    writes: u64,
    /// Completed beside readers.
    written_bytes: u64,
    begin: Instant,
}

impl Running {
    fn tally(&self) -> BlocksTally {
        let ends = || self.readers.iter().filter_map(|reader| reader.ended);
        let last = ends().max().unwrap_or(self.begin);
        let elapsed = (last - self.begin).as_secs_f64();
        let bytes = self.readers.len() as u64 * self.blocks.blocks_each * self.blocks.block_bytes;
        let mib_s = |bytes: u64| bytes as f64 / f64::from(1 << 20) / elapsed;
        let waited: Duration = self.readers.iter().map(|reader| reader.waited).sum();
        let read: Duration = ends().map(|end| end - self.begin).sum();
        BlocksTally {
            read_mib_s: mib_s(bytes),
            written_mib_s: mib_s(self.written_bytes),
            waiting_share: waited.as_secs_f64() / read.as_secs_f64(),
        }
    }

    /// Goes on with the block until the device gets a request, the host is busy, or the reader waits.
    fn read(&mut self, index: usize, now: Instant) -> Next<u64> {
        let block_bytes = self.blocks.block_bytes;
        let reader = &mut self.readers[index];
        loop {
            if let Some(end) = reader.requested.pop() {
                let slba = (reader.place + reader.submitted) / self.lba_bytes;
                let nlb = (end - reader.submitted) / self.lba_bytes;
                reader.submitted = end;
                reader.under_way.push_back((end, false));
                let read = Command::read(self.nsid, slba, nlb as u32, 0);
                return Next::Submit(read, end);
            }
            if reader.ended.is_some() {
                return Next::Wait;
            }
            if now < reader.busy_until {
                return Next::At(reader.busy_until);
            }
            if reader.at >= block_bytes {
                reader.blocks_left -= 1;
                if reader.blocks_left == 0 {
                    reader.ended = Some(now);
                    self.left -= 1;
                    return Next::Wait;
                }
                *reader = Reader {
                    place: reader.place + self.place_bytes,
                    blocks_left: reader.blocks_left,
                    waited: reader.waited,
                    ..Reader::new(&self.blocks, self.extent, now)
                };
            }
            let from = reader.at - reader.at % PACKET_BYTES;
            let to = (from + PACKET_BYTES).min(block_bytes);
            if reader.waits_since.is_none() {
                reader.requested.come(reader.at, from, to);
            }
            if reader.arrived < (reader.at + PAGE_BYTES).min(block_bytes) {
                reader.waits_since.get_or_insert(now);
                match reader.requested.has_new() {
                    true => continue,
                    false => return Next::Wait,
                }
            }
            if let Some(since) = reader.waits_since.take() {
                reader.waited += now - since;
            }
            reader.at = (reader.at + PAGE_BYTES).min(block_bytes);
            if reader.at == to {
                reader.busy_until = now + self.blocks.host_time;
            }
        }
    }

    fn write(&mut self, now: Instant) -> Next<u64> {
        let Some(every) = self.blocks.write_every.filter(|_| self.left > 0) else {
            return Next::Wait;
        };
        let due = Instant::START + every * self.writes;
        if now < due {
            return Next::At(due);
        }
        let at = self.written_at + self.writes * WRITE_BYTES % WRITTEN_BYTES;
        self.writes += 1;
        let (slba, nlb) = (at / self.lba_bytes, WRITE_BYTES / self.lba_bytes);
        let write = Command::write(self.nsid, slba, nlb as u32, self.directive, 0);
        Next::Submit(write, WRITE_BYTES)
    }
}

impl Load for Running {
    /// Where a read ends in its block; the bytes of a write.
    type Request = u64;
    type Error = LoadError;

    fn next(&mut self, device: &mut Device, turn: Turn) -> Result<Next<u64>, LoadError> {
        Ok(match turn.stream < self.readers.len() {
            true => self.read(turn.stream, device.now()),
            false => self.write(device.now()),
        })
    }

    fn completed(
        &mut self,
        _: &Device,
        stream: usize,
        request: u64,
        done: &Completion,
    ) -> Result<ControlFlow<()>, LoadError> {
        if done.status != Status::SUCCESS {
            return Err(LoadError::Incomplete(Some(*done)));
        }
        let Some(reader) = self.readers.get_mut(stream) else {
            if done.completed >= self.begin && self.left > 0 {
                self.written_bytes += request;
            }
            return Ok(ControlFlow::Continue(()));
        };
        let oldest = &mut reader.under_way;
        let place = oldest.binary_search_by_key(&request, |(end, _)| *end);
        if let Some((_, has_come)) = place.ok().and_then(|place| oldest.get_mut(place)) {
            *has_come = true;
        }
        while let Some(&(end, true)) = oldest.front() {
            reader.arrived = end;
            oldest.pop_front();
        }
        Ok(ControlFlow::Continue(()))
    }

    fn failed(&self, failure: Failure<u64>) -> LoadError {
        failure.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::nvme::Pattern;
    use meldsim::profile::Profile;

    const BLOCKS: Blocks = Blocks {
        block_bytes: 128 << 20,
        read_ahead: ReadAhead::Adaptive {
            window_bytes: 16 << 20,
        },
        readers: 1,
        blocks_each: 1,
        host_time: Duration::ZERO,
        write_every: None,
        writer_leads: Duration::ZERO,
    };

    fn tally(blocks: Blocks, directive: Directive) -> BlocksTally {
        let profile = Profile::builtin("melded-tlc-8x8").unwrap();
        let mut device = Device::new(&profile).unwrap();
        let tally = blocks.run(&mut device, directive).unwrap();
        let reads = blocks.readers * blocks.blocks_each * blocks.block_bytes;
        assert_eq!(device.stats().host_read_bytes, reads, "{blocks:?}");
        tally
    }

    /// MiB/s, normal and melded.
    fn rates(read_ahead: ReadAhead) -> [f64; 2] {
        let directives = [
            Directive::NONE,
            Directive::read_pattern(Pattern::Sequential),
        ];
        let blocks = Blocks {
            read_ahead,
            ..BLOCKS
        };
        directives.map(|directive| tally(blocks, directive).read_mib_s.round())
    }

    /// The table of docs/explanation/windows.md, which the plugin's own windows give.
    #[test]
    fn reads_ahead_are_those_of_the_plugin() {
        assert_eq!(rates(BLOCKS.read_ahead), [2859.0, 4026.0]);
        for (read_ahead_kb, max_sectors_kb, advised, expected) in [
            (128, 1280, false, [2213.0, 1125.0]),
            (128, 512, true, [2472.0, 1724.0]),
            (128, 1280, true, [2394.0, 1878.0]),
            (128, 4096, true, [2877.0, 4050.0]),
            (512, 1280, false, [2876.0, 2761.0]),
            (512, 1280, true, [2509.0, 2618.0]),
            (1024, 1280, false, [2876.0, 4034.0]),
            (1024, 1280, true, [2723.0, 3140.0]),
            (2048, 1280, false, [2877.0, 4050.0]),
        ] {
            let found = rates(ReadAhead::Linux {
                read_ahead_bytes: read_ahead_kb << 10,
                max_request_bytes: max_sectors_kb << 10,
                advised,
            });
            assert_eq!(
                found, expected,
                "{read_ahead_kb} {max_sectors_kb} {advised}"
            );
        }
    }

    #[test]
    fn a_slow_host_waits_for_nothing_and_sets_the_rate() {
        let blocks = Blocks {
            host_time: Duration::from_us(100),
            ..BLOCKS
        };
        let tally = tally(blocks, Directive::NONE);
        let host_mib_s = 1e6 / 100.0 / 16.0;
        assert!(
            (tally.read_mib_s / host_mib_s - 1.0).abs() < 0.01,
            "{tally:?}"
        );
        assert!(tally.waiting_share < 0.01, "{tally:?}");
    }

    #[test]
    fn what_is_not_read_ahead_takes_the_times_of_both() {
        let seconds = |host_us| {
            let blocks = Blocks {
                read_ahead: ReadAhead::None {
                    request_bytes: 16 << 20,
                },
                host_time: Duration::from_us(host_us),
                ..BLOCKS
            };
            128.0 / tally(blocks, Directive::NONE).read_mib_s
        };
        let host = 128.0 * 16.0 * 50e-6;
        assert!((seconds(50) - seconds(0) - host).abs() < 1e-9);
    }

    #[test]
    fn readers_read_their_blocks_and_the_writer_keeps_its_rate() {
        let blocks = Blocks {
            block_bytes: (8 << 20) + 4096,
            readers: 3,
            blocks_each: 2,
            write_every: Some(Duration::from_ms(20)),
            writer_leads: Duration::from_ms(100),
            ..BLOCKS
        };
        tally(blocks, Directive::NONE);
        let beside = Blocks {
            blocks_each: 40,
            ..blocks
        };
        let written = tally(beside, Directive::NONE).written_mib_s;
        assert!((written / 50.0 - 1.0).abs() < 0.1, "{written}");
    }
}
