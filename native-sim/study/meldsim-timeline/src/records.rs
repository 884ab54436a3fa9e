//! Records as bytes: what a device that serves a cluster keeps of its latest past, and what becomes a timeline elsewhere.
//!
//! ```text
//!   device --Record--> Recording: a ring of bytes --write_to--> file --Recorded::read--> replay --Record-->
//! ```
//!
//! A file is compressed by gzip. It has a line that says what it is, the profile, how many records were lost, and the records:
//! each begins with its length, and is a tuple in the format of `postcard`. Times are in picoseconds.

use std::collections::{HashSet, VecDeque};
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::writer::times;
use meldsim::profile::Profile;
use meldsim::timeline::{
    ArraySpan, BusSpan, BusUse, BusySpan, Collection, CommandRecord, CoreSpan, Gauge, Level, Part,
    Purpose, Record, Timeline, Work,
};
use meldsim::{Duration, Instant, NamespaceId, Opcode, Status};

/// What a file begins with; the number is the format's version.
const MAGIC: &[u8] = b"meldsim records 3\n";
/// More than the largest ring.
const FILE_MAX: u64 = 2 << 30;
/// Types of threads: more than any device has.
const THREAD_TYPES_MAX: usize = 64;
const THREAD_TYPE_BYTES: usize = 64;

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
        let mut head = MAGIC.to_vec();
        put(&mut head, &(profile.to_toml(), ring.lost));
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
        let (text, lost) = take::<(&str, u64)>(&mut rest).ok_or(RecordsError::Format)?;
        let profile = Profile::from_toml(text);
        let profile = profile.map_err(|errors| RecordsError::Profile(errors.to_string()))?;
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
    let (length, after) = rest.split_first_chunk()?;
    let (bytes, after) = after.split_at_checked(u16::from_le_bytes(*length).into())?;
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
        if self.0.len() == THREAD_TYPES_MAX || name.len() > THREAD_TYPE_BYTES {
            return None;
        }
        let lasting: &'static str = Box::leak(name.to_owned().into_boxed_str());
        self.0.insert(lasting);
        Some(lasting)
    }
}

const BUS: u8 = 1;
const ARRAY: u8 = 2;
const BUSY: u8 = 3;
const CORE: u8 = 4;
const COLLECTION: u8 = 5;
const LEVEL: u8 = 6;
const COMMAND: u8 = 7;

/// What has a number, here and where a page shows it.
pub(super) const BUS_USES: [BusUse; 3] = [BusUse::Command, BusUse::DataOut, BusUse::DataIn];
const PURPOSES: [Purpose; 4] = [
    Purpose::Host,
    Purpose::Collection,
    Purpose::Buffer,
    Purpose::Mapping,
];
pub(super) const WORKS: [Work; 9] = [
    Work::Sense(0),
    Work::Sense(1),
    Work::Sense(2),
    Work::Sense(TOP_PAGE),
    Work::MeldedSense,
    Work::Program,
    Work::Erase,
    Work::Copyback,
    Work::Suspended,
];
/// Pages of a wordline from this on have one name.
const TOP_PAGE: u8 = 3;

/// The number of a work.
pub(super) fn number_of(work: Work) -> u8 {
    let number = WORKS.iter().position(|other| *other == work);
    number.map_or(TOP_PAGE, |number| number as u8)
}

/// The number of a gauge, and its set.
pub(super) fn gauge(of: Gauge) -> (u8, u32) {
    match of {
        Gauge::Outstanding => (0, 0),
        Gauge::WriteBuffer(set) => (1, set),
        Gauge::FreeSuperblocks(set) => (2, set),
    }
}

fn put(to: &mut Vec<u8>, value: &impl Serialize) {
    // Memory takes whatever comes, and numbers and texts are what it can hold.
    let _ = postcard::to_io(value, to);
}

fn take<'a, T: Deserialize<'a>>(rest: &mut &'a [u8]) -> Option<T> {
    let (value, after) = postcard::take_from_bytes(rest).ok()?;
    *rest = after;
    Some(value)
}

fn encode(record: &Record<'_>, to: &mut Vec<u8>) {
    let (start, end) = times(record);
    let times = (start.as_ps(), end.saturating_since(start).as_ps());
    match record {
        Record::Bus(span) => {
            let place = (span.channel, span.die, span.what as u8);
            put(to, &(BUS, times, place, span.commands));
        }
        Record::Array(span) => {
            let place = (span.channel, span.die, span.planes);
            let what = (number_of(span.work), span.purpose as u8);
            put(to, &(ARRAY, times, place, what, span.commands));
        }
        Record::Busy(span) => {
            put(to, &(BUSY, times, span.channel, span.die));
        }
        Record::Core(span) => {
            put(to, &(CORE, times, span.core, span.thread));
        }
        Record::Collection(span) => {
            let pages = (span.valid_pages, span.pages);
            put(
                to,
                &(
                    COLLECTION,
                    times,
                    span.set,
                    span.log,
                    span.superblock,
                    pages,
                ),
            );
        }
        Record::Level(level) => {
            put(to, &(LEVEL, times, gauge(level.of), level.value));
        }
        Record::Command(of) => {
            let what = (of.number, of.slot, of.tag, of.opcode as u8, of.nsid.0);
            let how = (of.start_byte, of.bytes, of.queue, of.status.0);
            let reads = (of.melded_reads, of.page_reads);
            let parts = of.parts.map(Duration::as_ps);
            let behind = of.behind.map(|(of, whose)| (number_of(of), whose as u8));
            put(to, &(COMMAND, times, what, how, reads, parts, behind));
        }
        // Kinds that this version does not know are left out.
        _ => {}
    }
}

/// The one of that number.
fn one<T: Copy>(of: &[T], number: u8) -> Option<T> {
    of.get(usize::from(number)).copied()
}

fn list<'a>(rest: &mut &[u8], commands: &'a mut Vec<u64>) -> Option<&'a [u64]> {
    *commands = take(rest)?;
    Some(commands)
}

fn instant(ps: u64) -> Option<Instant> {
    let instant = Instant::from_ps(ps);
    (instant < Instant::MAX).then_some(instant)
}

fn decode<'a>(
    rest: &mut &[u8],
    commands: &'a mut Vec<u64>,
    names: &mut Names,
) -> Option<Record<'a>> {
    let (kind, (start, length)) = take::<(u8, (u64, u64))>(rest)?;
    let (start, end) = (instant(start)?, instant(start.checked_add(length)?)?);
    let record = match kind {
        BUS => Record::Bus(BusSpan {
            channel: take(rest)?,
            die: take(rest)?,
            what: one(&BUS_USES, take(rest)?)?,
            start,
            end,
            commands: list(rest, commands)?,
        }),
        ARRAY => Record::Array(ArraySpan {
            channel: take(rest)?,
            die: take(rest)?,
            planes: take(rest)?,
            work: one(&WORKS, take(rest)?)?,
            purpose: one(&PURPOSES, take(rest)?)?,
            start,
            end,
            commands: list(rest, commands)?,
        }),
        BUSY => Record::Busy(BusySpan {
            channel: take(rest)?,
            die: take(rest)?,
            start,
            end,
        }),
        CORE => Record::Core(CoreSpan {
            core: take(rest)?,
            thread: (take(rest)?, names.lasting(take(rest)?)?),
            start,
            end,
        }),
        COLLECTION => Record::Collection(Collection {
            set: take(rest)?,
            log: take(rest)?,
            superblock: take(rest)?,
            valid_pages: take(rest)?,
            pages: take(rest)?,
            start,
            end,
        }),
        LEVEL => Record::Level(Level {
            of: match take::<(u8, u32)>(rest)? {
                (0, _) => Gauge::Outstanding,
                (1, set) => Gauge::WriteBuffer(set),
                (2, set) => Gauge::FreeSuperblocks(set),
                _ => return None,
            },
            at: start,
            value: take(rest)?,
        }),
        COMMAND => Record::Command(CommandRecord {
            number: take(rest)?,
            slot: take(rest)?,
            tag: take(rest)?,
            opcode: Opcode::from_u8(take(rest)?)?,
            nsid: NamespaceId(take(rest)?),
            start_byte: take(rest)?,
            bytes: take(rest)?,
            queue: take(rest)?,
            status: Status(take(rest)?),
            melded_reads: take(rest)?,
            page_reads: take(rest)?,
            submitted: start,
            completed: end,
            parts: take::<[u64; Part::COUNT]>(rest)?.map(Duration::from_ps),
            behind: match take(rest)? {
                None => None,
                Some((work, purpose)) => Some((one(&WORKS, work)?, one(&PURPOSES, purpose)?)),
            },
        }),
        _ => return None,
    };
    rest.is_empty().then_some(record)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

    use super::*;
    use proptest::prelude::*;

    fn samples(at: Instant, value: u64, commands: &[u64]) -> Vec<Record<'_>> {
        let end = at + Duration::from_ps(value % 1_000_000_007);
        let (channel, die) = (value as u32 % 32, value as u32 % 8);
        let mut records: Vec<Record<'_>> = WORKS
            .into_iter()
            .map(|work| {
                Record::Array(ArraySpan {
                    channel,
                    die,
                    planes: value as u16,
                    work,
                    purpose: PURPOSES[value as usize % 3],
                    start: at,
                    end,
                    commands,
                })
            })
            .collect();
        for what in BUS_USES {
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
