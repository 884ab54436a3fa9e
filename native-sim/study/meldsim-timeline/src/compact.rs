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

use super::proto::varint;
use super::records::{gauge, number_of};
use super::writer::Form;
use meldsim::profile::Profile;
use meldsim::timeline::Record;
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
    fn number(&mut self, value: u64) {
        varint(&mut self.events, value);
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
                let (channel, die) = (u64::from(span.channel), u64::from(span.die));
                self.numbers([0, channel, die, span.what as u64]);
                self.times(span.start, span.end);
                self.commands(span.commands);
            }
            Record::Array(span) => {
                let (channel, die) = (u64::from(span.channel), u64::from(span.die));
                let (work, planes) = (number_of(span.work).into(), span.planes.into());
                self.numbers([1, channel, die, work, span.purpose as u64, planes]);
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
                let (gauge, set) = gauge(level.of);
                self.numbers([5, gauge.into(), set.into(), level.value]);
                self.start(level.at);
                return 0;
            }
            Record::Command(command) => {
                let opcode = match command.opcode {
                    Opcode::Read => 0,
                    Opcode::Write => 1,
                    Opcode::Deallocate => 2,
                    Opcode::Flush => 3,
                    Opcode::ManageZone => 4,
                    Opcode::Append => 5,
                };
                self.numbers([6, command.number, u64::from(command.slot), opcode]);
                self.numbers([u64::from(command.nsid.0), command.start_byte, command.bytes]);
                self.numbers([u64::from(command.queue), u64::from(command.status.0)]);
                self.numbers([command.melded_reads, command.page_reads].map(u64::from));
                self.numbers(command.parts.map(|part| part.as_ps()));
                let numbers = |(of, whose)| [1 + u64::from(number_of(of)), whose as u64];
                self.numbers(command.behind.map_or([0; 2], numbers));
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
