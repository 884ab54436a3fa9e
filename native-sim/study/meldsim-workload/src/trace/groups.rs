//! The blocks of a trace in groups: those of a directory, or where the trace does not name it, those that a client
//! brought. Comes in: the records in order, and the requests that have ended. Goes out: what each group's readers did.
//!
//! ```text
//!   block --first record--> group         a read --begins where one ended--> the same run
//! ```

use std::collections::BTreeMap;

use super::record::{Extent, Op, Record};
use crate::result::group::{Group, RANDOM_BELOW_BYTES};
use meldsim::Instant;
use meldsim::nvme::Pattern;
use meldsim_host::{Direction, Ended};

/// Most groups that are told apart; the last one has all others.
const GROUPS_MAX: usize = 64;
/// Most runs of a block that may go on.
const RUNS_MAX: usize = 64;
/// Intervals of a trace; when there would be more, each two become one.
const INTERVALS_MAX: usize = 64;

/// Where a request came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    group: usize,
    block: BlockKey,
    /// The record's number.
    record: u64,
}

/// Volume and block; of requests on the volume itself, all of it.
type BlockKey = (usize, Option<u64>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum GroupKey {
    Directory(u64),
    Client(usize),
    Volume(usize),
}

/// Reads of a block each of which begins where another one ended.
#[derive(Clone, Copy, Debug)]
struct ReadRun {
    last_start: u64,
    end: u64,
    bytes: u64,
    reads: u64,
}

#[derive(Clone, Debug, Default)]
struct Block {
    group: usize,
    runs: Vec<ReadRun>,
    /// Reads outstanding, and since when there are any.
    outstanding: u64,
    since: Instant,
}

/// Groups and blocks as the trace comes by. Memory grows with the blocks that live at one time.
#[derive(Debug)]
pub(super) struct Groups {
    keys: BTreeMap<GroupKey, usize>,
    groups: Vec<Group>,
    blocks: BTreeMap<BlockKey, Block>,
    records_per_interval: u64,
}

impl Groups {
    pub(super) fn new() -> Groups {
        Groups {
            keys: BTreeMap::new(),
            groups: Vec::new(),
            blocks: BTreeMap::new(),
            records_per_interval: 1,
        }
    }

    /// The group of a record's block: the one it was first seen in, until a record names its directory.
    pub(super) fn of(&mut self, record: &Record, volumes: &[String], clients: &[String]) -> usize {
        let key = key(record);
        let known = self.blocks.get(&key).map(|block| block.group);
        let group = match known {
            Some(group) if record.directory == 0 => group,
            _ => self.group(record, volumes, clients),
        };
        self.blocks.entry(key).or_default().group = group;
        group
    }

    fn group(&mut self, record: &Record, volumes: &[String], clients: &[String]) -> usize {
        let key = match (record.directory, record.client) {
            (0, Some(client)) => GroupKey::Client(client),
            (0, None) => GroupKey::Volume(record.volume),
            (directory, _) => GroupKey::Directory(directory),
        };
        if let Some(group) = self.keys.get(&key) {
            return *group;
        }
        if self.groups.len() == GROUPS_MAX {
            self.groups[GROUPS_MAX - 1].name = "others".to_owned();
            return GROUPS_MAX - 1;
        }
        let group = self.groups.len();
        self.keys.insert(key, group);
        self.groups.push(Group {
            name: match key {
                GroupKey::Directory(directory) => format!("directory {directory}"),
                GroupKey::Client(client) => format!("client {}", clients[client]),
                GroupKey::Volume(volume) => format!("volume {}", volumes[volume]),
            },
            read_ps: vec![0; INTERVALS_MAX],
            write_ps: vec![0; INTERVALS_MAX],
            ..Group::default()
        });
        group
    }

    /// The record, the `number`th, is submitted.
    pub(super) fn submitted(
        &mut self,
        group: usize,
        record: &Record,
        number: u64,
        now: Instant,
    ) -> Origin {
        let block = key(record);
        let of = &mut self.groups[group];
        let moves_data = matches!(record.op, Op::Read | Op::Write);
        of.sequential_hints += u64::from(moves_data && record.pattern == Some(Pattern::Sequential));
        if record.op == Op::Read {
            let state = self.blocks.entry(block).or_default();
            of.random_reads += state.read(record);
            if state.outstanding == 0 {
                state.since = now;
            }
            state.outstanding += 1;
        }
        Origin {
            group,
            block,
            record: number,
        }
    }

    /// The block of this record is gone.
    pub(super) fn deleted(&mut self, record: &Record) {
        let block = key(record);
        if let Some(state) = self.blocks.get(&block) {
            if state.outstanding == 0 {
                self.groups[state.group].random_reads += state.random_reads();
                self.blocks.remove(&block);
            }
        }
    }

    /// A read or a write has ended.
    pub(super) fn ended(&mut self, origin: Origin, ended: &Ended) {
        let latency_ps = u128::from((ended.completed - ended.arrived).as_ps());
        let interval = self.interval(origin.record);
        let group = &mut self.groups[origin.group];
        if ended.direction == Direction::Write {
            group.writes += 1;
            group.written_bytes += ended.bytes;
            group.write_ps[interval] += latency_ps;
            return;
        }
        group.reads += 1;
        group.read_bytes += ended.bytes;
        group.read_ps[interval] += latency_ps;
        let outstanding_ps = u128::from((ended.completed - ended.begun).as_ps());
        group.outstanding_byte_ps += outstanding_ps * u128::from(ended.bytes);
        if let Some(block) = self.blocks.get_mut(&origin.block) {
            block.outstanding -= 1;
            if block.outstanding == 0 {
                group.reader_ps += u128::from((ended.completed - block.since).as_ps());
            }
        }
    }

    /// The interval of a record. It depends on nothing but the records' number, so those of two replays are the same.
    fn interval(&mut self, record: u64) -> usize {
        while record / self.records_per_interval >= INTERVALS_MAX as u64 {
            self.records_per_interval *= 2;
            for group in &mut self.groups {
                for sums in [&mut group.read_ps, &mut group.write_ps] {
                    let pairs: Vec<u128> = sums.chunks(2).map(|pair| pair.iter().sum()).collect();
                    *sums = pairs;
                    sums.resize(INTERVALS_MAX, 0);
                }
            }
        }
        (record / self.records_per_interval) as usize
    }

    /// The groups in the order in which the trace named them.
    pub(super) fn result(mut self) -> Vec<Group> {
        for block in self.blocks.values() {
            self.groups[block.group].random_reads += block.random_reads();
        }
        self.groups
    }
}

impl Block {
    /// Takes a read into the run that it continues. Returns the random reads of a run that has to go.
    fn read(&mut self, record: &Record) -> u64 {
        let end = record.offset + record.length;
        // What is read ends at a page, and what follows begins where the reader was: they may overlap.
        let continues = |run: &ReadRun| {
            run.last_start < record.offset && record.offset <= run.end && run.end < end
        };
        if let Some(at) = self.runs.iter().rposition(continues) {
            let mut run = self.runs.remove(at);
            run.bytes += end - run.end;
            run.reads += 1;
            run.last_start = record.offset;
            run.end = end;
            self.runs.push(run);
            return 0;
        }
        let gone = (self.runs.len() == RUNS_MAX).then(|| self.runs.remove(0));
        self.runs.push(ReadRun {
            last_start: record.offset,
            end,
            bytes: record.length,
            reads: 1,
        });
        gone.map_or(0, |run| run.random_reads())
    }

    fn random_reads(&self) -> u64 {
        self.runs.iter().map(ReadRun::random_reads).sum()
    }
}

impl ReadRun {
    fn random_reads(&self) -> u64 {
        match self.bytes < RANDOM_BELOW_BYTES {
            true => self.reads,
            false => 0,
        }
    }
}

fn key(record: &Record) -> BlockKey {
    let block = match record.extent {
        Extent::Volume => None,
        Extent::Block(block) => Some(block),
    };
    (record.volume, block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::Duration;

    fn read(offset: u64, length: u64) -> Record {
        Record {
            arrival: Duration::ZERO,
            volume: 0,
            extent: Extent::Block(7),
            offset,
            length,
            op: Op::Read,
            pattern: None,
            client: Some(0),
            directory: 0,
        }
    }

    fn random_percent(reads: impl IntoIterator<Item = Record>) -> f64 {
        let mut groups = Groups::new();
        let (volumes, clients) = (["v".to_owned()], ["c".to_owned()]);
        for (number, record) in reads.into_iter().enumerate() {
            let group = groups.of(&record, &volumes, &clients);
            let origin = groups.submitted(group, &record, number as u64, Instant::START);
            groups.ended(
                origin,
                &Ended {
                    arrived: Instant::START,
                    begun: Instant::START,
                    submitted: Instant::START,
                    completed: Instant::START + Duration::from_us(10),
                    bytes: record.length,
                    direction: Direction::Read,
                    failed: false,
                },
            );
        }
        let result = groups.result();
        assert_eq!(result.len(), 1);
        assert_eq!(result[0].name, "client c");
        assert_eq!(
            result[0].read_ps.iter().sum::<u128>(),
            u128::from(result[0].reads) * 10_000_000
        );
        result[0].random_percent()
    }

    #[test]
    fn reads_that_go_on_are_not_random() {
        let scan = |from: u64| (0..64).map(move |n| read(from + n * 65_536, 65_536));
        assert_eq!(random_percent(scan(0)), 0.0);
        // Two interleaved scans of one block.
        let two = scan(0).zip(scan(8 << 20)).flat_map(|(a, b)| [a, b]);
        assert_eq!(random_percent(two), 0.0);
        // Requests that end at a page and go on where the reader was.
        let ragged = (0..100).map(|n| read(n * 60_000, 65_536));
        assert_eq!(random_percent(ragged), 0.0);
        let points = (0..400u64).map(|n| read((n * 7919 % 4096) * 65_536, 16_384));
        assert_eq!(random_percent(points), 100.0);
        let mixed = scan(0).chain((0..64).map(|n| read((64 << 20) - n * 65_536, 4096)));
        assert_eq!(random_percent(mixed), 50.0);
    }

    #[test]
    fn a_block_joins_its_directory_when_that_is_known() {
        let mut groups = Groups::new();
        let (volumes, clients) = (["v".to_owned()], ["c".to_owned()]);
        let known = Record {
            directory: 16_386,
            ..read(0, 4096)
        };
        assert_eq!(groups.of(&read(0, 4096), &volumes, &clients), 0);
        assert_eq!(groups.of(&known, &volumes, &clients), 1);
        assert_eq!(groups.of(&read(0, 4096), &volumes, &clients), 1);
        for directory in 1..200 {
            let other = Record {
                directory,
                extent: Extent::Block(directory),
                ..read(0, 4096)
            };
            assert!(groups.of(&other, &volumes, &clients) < GROUPS_MAX);
        }
        let result = groups.result();
        assert_eq!(result.len(), GROUPS_MAX);
        assert_eq!(result[1].name, "directory 16386");
        assert_eq!(result[GROUPS_MAX - 1].name, "others");
    }
}
