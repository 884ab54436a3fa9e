//! Records as short as they can be, for a page: numbers of variable length (LEB128), one record after the other.
//!
//! The page's script reads them (`report/timeline.js`), so both say the same. A record is its kind, its numbers, and the
//! commands that it is for. Times are in picoseconds; a start is the difference from the start of the record before, with its
//! sign in the lowest bit.
//!
//! ```text
//!   0 bus         channel die use       start length commands
//!   1 array       channel die work purpose planes  start length commands
//!   2 busy die    channel die           start length
//!   3 core        core thread           start length
//!   4 collection  set lane valid pages  start length
//!   5 level       gauge set value       start
//!   6 command     number slot opcode nsid offset bytes queue status melded-reads page-reads parts... behind purpose
//!                                       start length
//!   7 device      channels dies-a-channel
//! ```

use super::writer::Form;
use meldsim::profile::Profile;
use meldsim::timeline::{BusUse, Gauge, Purpose, Record, Work};
use meldsim::{Instant, Opcode};

/// More would not fit into the 64 MiB that a timeline may take.
const MOST_SLICES: u64 = 1_200_000;

/// Types of threads, by number in the page.
const THREADS: [&str; 7] = ["NVMQ", "ILOCK", "CACHE", "TRANS", "FCMD", "BGC", "LOG"];

/// Makes the bytes of records.
#[derive(Debug, Default)]
pub(super) struct Compact {
    lasting: Vec<u8>,
    events: Vec<u8>,
    /// Of the record before.
    start: u64,
}

impl Compact {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.events.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.events.push(value as u8);
    }

    fn numbers<const N: usize>(&mut self, values: [u64; N]) {
        for value in values {
            self.number(value);
        }
    }

    fn start(&mut self, start: Instant) {
        let start = start.as_ps();
        self.number(start.abs_diff(self.start) << 1 | u64::from(start < self.start));
        self.start = start;
    }

    fn times(&mut self, start: Instant, end: Instant) {
        self.start(start);
        self.number(end.as_ps() - start.as_ps());
    }

    fn commands(&mut self, commands: &[u64]) {
        self.number(commands.len() as u64);
        for &command in commands {
            self.number(command);
        }
    }
}

fn work(work: Work) -> u64 {
    match work {
        Work::Sense(page) => u64::from(page.min(3)),
        Work::MeldedSense => 4,
        Work::Program => 5,
        Work::Erase => 6,
        Work::Copyback => 7,
        Work::Suspended => 8,
    }
}

fn purpose(purpose: Purpose) -> u64 {
    match purpose {
        Purpose::Host => 0,
        Purpose::Collection => 1,
        Purpose::Buffer => 2,
    }
}

impl Form for Compact {
    const MOST_SLICES: u64 = MOST_SLICES;

    fn begin(&mut self, profile: &Profile, _name: &str) {
        self.events.clear();
        let geometry = &profile.geometry;
        self.numbers([
            7,
            u64::from(geometry.channels),
            u64::from(geometry.dies_per_channel),
        ]);
        self.lasting = std::mem::take(&mut self.events);
    }

    fn encode(&mut self, record: &Record<'_>) -> u64 {
        self.lasting.clear();
        self.events.clear();
        match record {
            Record::Bus(span) => {
                let what = match span.what {
                    BusUse::Command => 0,
                    BusUse::DataOut => 1,
                    BusUse::DataIn => 2,
                };
                self.numbers([0, u64::from(span.channel), u64::from(span.die), what]);
                self.times(span.start, span.end);
                self.commands(span.commands);
            }
            Record::Array(span) => {
                let (channel, die) = (u64::from(span.channel), u64::from(span.die));
                let what = [work(span.work), purpose(span.purpose)];
                self.numbers([1, channel, die, what[0], what[1], u64::from(span.planes)]);
                self.times(span.start, span.end);
                self.commands(span.commands);
            }
            Record::Busy(span) => {
                self.numbers([2, u64::from(span.channel), u64::from(span.die)]);
                self.times(span.start, span.end);
                return 0;
            }
            Record::Core(span) => {
                let thread = THREADS.iter().position(|name| *name == span.thread.1);
                let thread = thread.unwrap_or(THREADS.len());
                self.numbers([3, u64::from(span.core), thread as u64]);
                self.times(span.start, span.end);
            }
            Record::Collection(span) => {
                let (set, lane) = (u64::from(span.set), u64::from(span.log));
                let (valid, pages) = (u64::from(span.valid_pages), u64::from(span.pages));
                self.numbers([4, set, lane, valid, pages]);
                self.times(span.start, span.end);
            }
            Record::Level(level) => {
                let (gauge, set) = match level.of {
                    Gauge::Outstanding => (0, 0),
                    Gauge::WriteBuffer(set) => (1, set),
                    Gauge::FreeSuperblocks(set) => (2, set),
                };
                self.numbers([5, gauge, u64::from(set), level.value]);
                self.start(level.at);
                return 0;
            }
            Record::Command(command) => {
                let opcode = match command.opcode {
                    Opcode::Read => 0,
                    Opcode::Write => 1,
                    Opcode::Deallocate => 2,
                    Opcode::Flush => 3,
                };
                self.numbers([6, command.number, u64::from(command.slot), opcode]);
                self.numbers([u64::from(command.nsid.0), command.start_byte, command.bytes]);
                self.numbers([u64::from(command.queue), u64::from(command.status.0)]);
                self.numbers([command.melded_reads, command.page_reads].map(u64::from));
                self.numbers(command.parts.map(|part| part.as_ps()));
                let behind = command.behind;
                let behind = behind.map_or([0; 2], |(of, whose)| [1 + work(of), purpose(whose)]);
                self.numbers(behind);
                self.times(command.submitted, command.completed);
            }
            _ => return 0,
        }
        1
    }

    fn lasting(&self) -> &[u8] {
        &self.lasting
    }

    fn events(&self) -> &[u8] {
        &self.events
    }
}
