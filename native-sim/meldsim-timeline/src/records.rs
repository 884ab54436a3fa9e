//! Records as bytes: what a device that serves a cluster keeps of its latest past, and what becomes a timeline elsewhere.
//!
//! ```text
//!   device --Record--> Recording: a ring of bytes --write_to--> file --Recorded::read--> replay --Record-->
//! ```
//!
//! A file is compressed by gzip. It has a line that says what it is, the profile, how many records were lost, and the records:
//! each begins with its length. Numbers are varints, times are in picoseconds.

use std::collections::{HashSet, VecDeque};
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use thiserror::Error;

use meldsim::profile::Profile;
use meldsim::timeline::{
    ArraySpan, BusSpan, BusUse, BusySpan, Collection, CommandRecord, CoreSpan, Gauge, Level, Part,
    Purpose, Record, Timeline, Work,
};
use meldsim::{Duration, Instant, NamespaceId, Opcode, Status};

/// What a file begins with; the number is the format's version.
const MAGIC: &[u8] = b"meldsim records 1\n";
/// More than the largest ring.
const FILE_MAX: u64 = 2 << 30;
/// The longest profile that is read.
const PROFILE_MAX: u64 = 1 << 20;
/// Commands of a span, types of threads: more than any device has.
const LIST_MAX: u64 = 1 << 16;
const THREAD_TYPES_MAX: usize = 64;
const THREAD_TYPE_BYTES: u64 = 64;

/// Keeps the latest records of a device, in bounded memory. All clones are the same.
#[derive(Clone, Debug)]
pub struct Recording(Arc<Mutex<Ring>>);

#[derive(Debug)]
struct Ring {
    bytes: VecDeque<u8>,
    capacity: usize,
    records: u64,
    lost: u64,
    /// The record that is being put in. Reused.
    record: Vec<u8>,
}

/// What a recording had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Records that are there.
    pub records: u64,
    /// Older ones that had to make room.
    pub lost: u64,
}

impl Recording {
    /// Nothing yet; at most so many bytes later.
    pub fn new(capacity: usize) -> Recording {
        Recording(Arc::new(Mutex::new(Ring {
            bytes: VecDeque::new(),
            capacity,
            records: 0,
            lost: 0,
            record: Vec::new(),
        })))
    }

    /// Writes a file of what there is.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_to(&self, profile: &Profile, output: impl Write) -> io::Result<Kept> {
        let ring = self.ring();
        let mut output = GzEncoder::new(output, Compression::fast());
        let profile = profile.to_toml();
        let mut head = MAGIC.to_vec();
        number(&mut head, profile.len() as u64);
        head.extend_from_slice(profile.as_bytes());
        number(&mut head, ring.lost);
        output.write_all(&head)?;
        let (older, newer) = ring.bytes.as_slices();
        output.write_all(older)?;
        output.write_all(newer)?;
        output.finish()?.flush()?;
        Ok(Kept {
            records: ring.records,
            lost: ring.lost,
        })
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Timeline for Recording {
    fn record(&mut self, record: &Record<'_>) {
        self.ring().push(record);
    }
}

impl Ring {
    fn push(&mut self, record: &Record<'_>) {
        self.record.clear();
        encode(record, &mut self.record);
        if self.record.is_empty() {
            return;
        }
        let Ok(length) = u16::try_from(self.record.len()) else {
            // A span of ten thousand commands: there is no such device.
            self.lost += 1;
            return;
        };
        let needed = self.record.len() + 2;
        while !self.bytes.is_empty() && self.bytes.len() + needed > self.capacity {
            self.drop_oldest();
        }
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(self.record.iter());
        self.records += 1;
    }

    fn drop_oldest(&mut self) {
        let length = u16::from_le_bytes([self.bytes[0], self.bytes[1]]);
        self.bytes.drain(..usize::from(length) + 2);
        self.records -= 1;
        self.lost += 1;
    }
}

/// Why a file of records cannot be read.
#[derive(Debug, Error)]
pub enum RecordsError {
    /// The file itself.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is something else, or of another version.
    #[error("is no file of records of this version; hdfs meld -timeline stop makes one")]
    Format,
    /// Its profile is none.
    #[error("has a profile that this version does not know: {0}")]
    Profile(String),
    /// A record makes no sense.
    #[error("is damaged in record {0}; fetch it again")]
    Damaged(u64),
}

/// A file of records.
#[derive(Debug)]
pub struct Recorded {
    /// The device's.
    pub profile: Profile,
    /// Records that had to make room for those that are there.
    pub lost: u64,
    records: Vec<u8>,
}

impl Recorded {
    /// Reads a file whole: no more than the ring held.
    ///
    /// # Errors
    ///
    /// [`RecordsError`], but for damaged records.
    pub fn read(input: impl Read) -> Result<Recorded, RecordsError> {
        let mut bytes = Vec::new();
        GzDecoder::new(input)
            .take(FILE_MAX)
            .read_to_end(&mut bytes)?;
        let mut rest = bytes.strip_prefix(MAGIC).ok_or(RecordsError::Format)?;
        let length = take(&mut rest).filter(|&length| length <= PROFILE_MAX);
        let text = length.and_then(|length| bytes_of(&mut rest, length as usize));
        let text = text.and_then(|text| std::str::from_utf8(text).ok());
        let text = text.ok_or(RecordsError::Format)?;
        let profile = Profile::from_toml(text);
        let profile = profile.map_err(|errors| RecordsError::Profile(errors.to_string()))?;
        let lost = take(&mut rest).ok_or(RecordsError::Format)?;
        let records = rest.to_vec();
        Ok(Recorded {
            profile,
            lost,
            records,
        })
    }

    /// Tells all records again, in the order in which the device told them.
    ///
    /// # Errors
    ///
    /// [`RecordsError::Damaged`], after those before it.
    pub fn replay(&self, mut to: impl FnMut(&Record<'_>)) -> Result<(), RecordsError> {
        let mut rest = self.records.as_slice();
        let mut commands = Vec::new();
        let mut names = Names::default();
        let mut count = 0;
        while !rest.is_empty() {
            let record = split(&mut rest)
                .and_then(|mut bytes| decode(&mut bytes, &mut commands, &mut names));
            to(&record.ok_or(RecordsError::Damaged(count))?);
            count += 1;
        }
        Ok(())
    }
}

/// The bytes of the next record.
fn split<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = bytes_of(rest, 2)?;
    bytes_of(
        rest,
        usize::from(u16::from_le_bytes([length[0], length[1]])),
    )
}

/// The first so many bytes.
fn bytes_of<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

/// Types of threads by their names: few, and known for as long as the process lives, as those of a device are.
#[derive(Default)]
struct Names(HashSet<&'static str>);

impl Names {
    fn lasting(&mut self, name: &str) -> Option<&'static str> {
        if let Some(known) = self.0.get(name) {
            return Some(known);
        }
        if self.0.len() == THREAD_TYPES_MAX {
            return None;
        }
        let lasting: &'static str = Box::leak(name.to_owned().into_boxed_str());
        self.0.insert(lasting);
        Some(lasting)
    }
}

const BUS: u64 = 1;
const ARRAY: u64 = 2;
const BUSY: u64 = 3;
const CORE: u64 = 4;
const COLLECTION: u64 = 5;
const LEVEL: u64 = 6;
const COMMAND: u64 = 7;

fn number(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn numbers(to: &mut Vec<u8>, values: &[u64]) {
    for &value in values {
        number(to, value);
    }
}

fn times(to: &mut Vec<u8>, start: Instant, end: Instant) {
    number(to, start.as_ps());
    number(to, end.saturating_since(start).as_ps());
}

fn list(to: &mut Vec<u8>, values: &[u64]) {
    number(to, values.len() as u64);
    numbers(to, values);
}

fn encode(record: &Record<'_>, to: &mut Vec<u8>) {
    match record {
        Record::Bus(span) => {
            let what = match span.what {
                BusUse::Command => 0,
                BusUse::DataOut => 1,
                BusUse::DataIn => 2,
            };
            numbers(to, &[BUS, span.channel.into(), span.die.into(), what]);
            times(to, span.start, span.end);
            list(to, span.commands);
        }
        Record::Array(span) => {
            let (channel, die) = (span.channel.into(), span.die.into());
            let (work, purpose) = (of_work(span.work), of_purpose(span.purpose));
            numbers(
                to,
                &[ARRAY, channel, die, span.planes.into(), work, purpose],
            );
            times(to, span.start, span.end);
            list(to, span.commands);
        }
        Record::Busy(span) => {
            numbers(to, &[BUSY, span.channel.into(), span.die.into()]);
            times(to, span.start, span.end);
        }
        Record::Core(span) => {
            let (thread, kind) = span.thread;
            let length = kind.len() as u64;
            numbers(to, &[CORE, span.core.into(), thread.into(), length]);
            to.extend_from_slice(kind.as_bytes());
            times(to, span.start, span.end);
        }
        Record::Collection(span) => {
            let (set, lane, group) = (span.set.into(), span.log.into(), span.superblock.into());
            let (valid, pages) = (span.valid_pages.into(), span.pages.into());
            numbers(to, &[COLLECTION, set, lane, group, valid, pages]);
            times(to, span.start, span.end);
        }
        Record::Level(level) => {
            let (gauge, set) = match level.of {
                Gauge::Outstanding => (0, 0),
                Gauge::WriteBuffer(set) => (1, set.into()),
                Gauge::FreeSuperblocks(set) => (2, set.into()),
            };
            numbers(to, &[LEVEL, gauge, set, level.at.as_ps(), level.value]);
        }
        Record::Command(command) => of_command(command, to),
        // Kinds that this version does not know are left out.
        _ => {}
    }
}

fn of_command(command: &CommandRecord, to: &mut Vec<u8>) {
    numbers(
        to,
        &[
            COMMAND,
            command.number,
            command.slot.into(),
            command.tag,
            command.opcode as u64,
            command.nsid.0.into(),
            command.start_byte,
            command.bytes,
            command.queue.into(),
            u64::from(command.status.0),
            command.melded_reads.into(),
            command.page_reads.into(),
        ],
    );
    times(to, command.submitted, command.completed);
    for part in command.parts {
        number(to, part.as_ps());
    }
    match command.behind {
        None => number(to, 0),
        Some((work, purpose)) => numbers(to, &[1, of_work(work), of_purpose(purpose)]),
    }
}

/// Works but senses of single pages, which follow them.
const WORKS: [Work; 5] = [
    Work::MeldedSense,
    Work::Program,
    Work::Erase,
    Work::Copyback,
    Work::Suspended,
];

fn of_work(work: Work) -> u64 {
    match work {
        Work::Sense(page) => WORKS.len() as u64 + u64::from(page),
        other => (0..)
            .zip(WORKS)
            .find(|(_, work)| *work == other)
            .map_or(0, |(number, _)| number),
    }
}

fn work(number: u64) -> Option<Work> {
    match WORKS.get(number as usize) {
        Some(work) => Some(*work),
        None => u8::try_from(number - WORKS.len() as u64)
            .ok()
            .map(Work::Sense),
    }
}

fn of_purpose(purpose: Purpose) -> u64 {
    match purpose {
        Purpose::Host => 0,
        Purpose::Collection => 1,
        Purpose::Buffer => 2,
    }
}

fn purpose(number: u64) -> Option<Purpose> {
    match number {
        0 => Some(Purpose::Host),
        1 => Some(Purpose::Collection),
        2 => Some(Purpose::Buffer),
        _ => None,
    }
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes_of(rest, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn small<T: TryFrom<u64>>(rest: &mut &[u8]) -> Option<T> {
    T::try_from(take(rest)?).ok()
}

fn instant(ps: u64) -> Option<Instant> {
    let instant = Instant::from_ps(ps);
    (instant < Instant::MAX).then_some(instant)
}

fn span(rest: &mut &[u8]) -> Option<(Instant, Instant)> {
    let start = take(rest)?;
    let end = start.checked_add(take(rest)?)?;
    Some((instant(start)?, instant(end)?))
}

fn decode<'a>(
    rest: &mut &[u8],
    commands: &'a mut Vec<u64>,
    names: &mut Names,
) -> Option<Record<'a>> {
    let mut read_list = |rest: &mut &[u8]| {
        commands.clear();
        let length = take(rest).filter(|&length| length <= LIST_MAX)?;
        for _ in 0..length {
            commands.push(take(rest)?);
        }
        Some(())
    };
    let record = match take(rest)? {
        BUS => {
            let (channel, die) = (small(rest)?, small(rest)?);
            let what = match take(rest)? {
                0 => BusUse::Command,
                1 => BusUse::DataOut,
                2 => BusUse::DataIn,
                _ => return None,
            };
            let (start, end) = span(rest)?;
            read_list(rest)?;
            Record::Bus(BusSpan {
                channel,
                die,
                what,
                start,
                end,
                commands,
            })
        }
        ARRAY => {
            let (channel, die, planes) = (small(rest)?, small(rest)?, small(rest)?);
            let (work, purpose) = (work(take(rest)?)?, purpose(take(rest)?)?);
            let (start, end) = span(rest)?;
            read_list(rest)?;
            Record::Array(ArraySpan {
                channel,
                die,
                planes,
                work,
                purpose,
                start,
                end,
                commands,
            })
        }
        BUSY => {
            let (channel, die) = (small(rest)?, small(rest)?);
            let (start, end) = span(rest)?;
            Record::Busy(BusySpan {
                channel,
                die,
                start,
                end,
            })
        }
        CORE => {
            let (core, thread) = (small(rest)?, small(rest)?);
            let length = take(rest).filter(|&length| length <= THREAD_TYPE_BYTES)?;
            let kind = std::str::from_utf8(bytes_of(rest, length as usize)?).ok()?;
            let thread = (thread, names.lasting(kind)?);
            let (start, end) = span(rest)?;
            Record::Core(CoreSpan {
                core,
                thread,
                start,
                end,
            })
        }
        COLLECTION => {
            let (set, lane, group) = (small(rest)?, small(rest)?, small(rest)?);
            let (valid_pages, pages) = (small(rest)?, small(rest)?);
            let (start, end) = span(rest)?;
            Record::Collection(Collection {
                set,
                log: lane,
                superblock: group,
                valid_pages,
                pages,
                start,
                end,
            })
        }
        LEVEL => {
            let of = match (take(rest)?, small(rest)?) {
                (0, _) => Gauge::Outstanding,
                (1, set) => Gauge::WriteBuffer(set),
                (2, set) => Gauge::FreeSuperblocks(set),
                _ => return None,
            };
            let (at, value) = (instant(take(rest)?)?, take(rest)?);
            Record::Level(Level { of, at, value })
        }
        COMMAND => Record::Command(command(rest)?),
        _ => return None,
    };
    rest.is_empty().then_some(record)
}

fn command(rest: &mut &[u8]) -> Option<CommandRecord> {
    let (number, slot, tag) = (take(rest)?, small(rest)?, take(rest)?);
    let opcode = Opcode::from_u8(small(rest)?)?;
    let (nsid, start_byte, bytes) = (NamespaceId(small(rest)?), take(rest)?, take(rest)?);
    let queue = small(rest)?;
    let status = Status(small(rest)?);
    let (melded_reads, page_reads) = (small(rest)?, small(rest)?);
    let (submitted, completed) = span(rest)?;
    let mut parts = [Duration::ZERO; Part::COUNT];
    for part in &mut parts {
        *part = Duration::from_ps(take(rest)?);
    }
    let behind = match take(rest)? {
        0 => None,
        1 => Some((work(take(rest)?)?, purpose(take(rest)?)?)),
        _ => return None,
    };
    Some(CommandRecord {
        number,
        slot,
        tag,
        opcode,
        nsid,
        start_byte,
        bytes,
        queue,
        status,
        melded_reads,
        page_reads,
        submitted,
        completed,
        parts,
        behind,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

    use super::*;
    use proptest::prelude::*;

    fn samples(at: Instant, value: u64, commands: &[u64]) -> Vec<Record<'_>> {
        let end = at + Duration::from_ps(value % 1_000_000_007);
        let (channel, die) = (value as u32 % 32, value as u32 % 8);
        let works = [Work::Sense(value as u8 % 4)].into_iter().chain(WORKS);
        let mut records: Vec<Record<'_>> = works
            .map(|work| {
                Record::Array(ArraySpan {
                    channel,
                    die,
                    planes: value as u16,
                    work,
                    purpose: purpose(value % 3).unwrap(),
                    start: at,
                    end,
                    commands,
                })
            })
            .collect();
        for what in [BusUse::Command, BusUse::DataOut, BusUse::DataIn] {
            records.push(Record::Bus(BusSpan {
                channel,
                die,
                what,
                start: at,
                end,
                commands,
            }));
        }
        for of in [
            Gauge::Outstanding,
            Gauge::WriteBuffer(die),
            Gauge::FreeSuperblocks(channel),
        ] {
            records.push(Record::Level(Level { of, at, value }));
        }
        let thread = (die, ["FCMD", "NVMQ"][value as usize % 2]);
        records.push(Record::Busy(BusySpan {
            channel,
            die,
            start: at,
            end,
        }));
        records.push(Record::Core(CoreSpan {
            core: channel,
            thread,
            start: at,
            end,
        }));
        records.push(Record::Collection(Collection {
            set: 1,
            log: die,
            superblock: channel,
            valid_pages: 7,
            pages: u32::MAX,
            start: at,
            end,
        }));
        let behind = (value % 2 == 0).then_some((Work::Sense(2), Purpose::Collection));
        records.push(Record::Command(CommandRecord {
            number: value,
            slot: die,
            tag: u64::MAX,
            opcode: [Opcode::Read, Opcode::Flush, Opcode::Deallocate][value as usize % 3],
            nsid: NamespaceId(channel),
            start_byte: value,
            bytes: value / 2,
            queue: 3,
            status: Status::CAPACITY_EXCEEDED,
            melded_reads: 5,
            page_reads: 0,
            submitted: at,
            completed: end,
            parts: [Duration::from_ps(value); Part::COUNT],
            behind,
        }));
        records
    }

    fn file(recording: &Recording) -> Vec<u8> {
        let profile = Profile::builtin("melded-tlc-8x8").unwrap();
        let mut bytes = Vec::new();
        recording.write_to(&profile, &mut bytes).unwrap();
        bytes
    }

    fn replayed(bytes: &[u8]) -> Vec<String> {
        let mut told = Vec::new();
        let recorded = Recorded::read(bytes).unwrap();
        recorded
            .replay(|record| told.push(format!("{record:?}")))
            .unwrap();
        told
    }

    proptest! {
        #[test]
        fn what_was_recorded_is_told_again(
            ps in 0..u64::MAX / 2,
            value in any::<u64>(),
            commands in prop::collection::vec(any::<u64>(), 0..40),
        ) {
            let mut recording = Recording::new(1 << 20);
            let records = samples(Instant::from_ps(ps), value, &commands);
            for record in &records {
                recording.record(record);
            }
            let expected: Vec<String> = records.iter().map(|record| format!("{record:?}")).collect();
            prop_assert_eq!(replayed(&file(&recording)), expected);
        }

        #[test]
        fn the_latest_are_kept(capacity in 300_usize..4000, count in 1_u64..300) {
            let mut recording = Recording::new(capacity);
            for at in 0..count {
                let level = Level { of: Gauge::Outstanding, at: Instant::from_ps(at), value: at };
                recording.record(&Record::Level(level));
                prop_assert!(recording.ring().bytes.len() <= capacity);
            }
            let bytes = file(&recording);
            let told = replayed(&bytes);
            let lost = Recorded::read(bytes.as_slice()).unwrap().lost;
            prop_assert_eq!(told.len() as u64 + lost, count);
            let last = told.last().unwrap();
            prop_assert!(last.contains(&format!("value: {}", count - 1)), "{}", last);
        }

        #[test]
        fn damage_is_an_error_or_another_record(at in any::<prop::sample::Index>(), with in any::<u8>()) {
            let recorded = {
                let mut recording = Recording::new(1 << 20);
                for record in &samples(Instant::from_ps(5), 77, &[1, 2]) {
                    recording.record(record);
                }
                Recorded::read(file(&recording).as_slice()).unwrap()
            };
            let mut records = recorded.records.clone();
            let at = at.index(records.len());
            records[at] = with;
            let damaged = Recorded { records, ..recorded };
            // It ends, without a panic.
            let _ = damaged.replay(|_| {});
        }

        #[test]
        fn other_files_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Recorded::read(bytes.as_slice()).is_err());
            let mut compressed = GzEncoder::new(Vec::new(), Compression::fast());
            compressed.write_all(MAGIC).unwrap();
            compressed.write_all(&bytes).unwrap();
            prop_assert!(Recorded::read(compressed.finish().unwrap().as_slice()).is_err());
        }
    }
}
