//! The beginning of a trace: what format it has, and in what unit its times are.

use std::io::{self, BufRead, Read};

use super::formats::{Action, Context, MAGIC, TraceFormat, byte_order, is_oracle};
use super::time::TimeUnit;
use crate::error::Fault;
use meldsim::profile::excerpt;

/// That much of a trace is looked at.
const HEAD_BYTES: u64 = 1 << 16;
/// So many of its lines.
const LINES: usize = 64;

/// What a trace without them needs.
pub(super) const RECORDS: &str = "give a trace with records";

/// Nothing is in the trace that could be replayed.
pub(super) fn without_records() -> Fault {
    Fault::new("(file)", "has no request to replay", RECORDS)
}

/// The first bytes of a trace.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) bytes: Vec<u8>,
    /// Whether there are more.
    is_cut: bool,
}

/// What files of other kinds begin with, what they are, and what reads them.
const OTHERS: [(usize, &[u8], &str, &str); 8] = [
    (
        0,
        &[0x28, 0xB5, 0x2F, 0xFD],
        "compressed by zstd",
        "pipe it: zstd -dc FILE | meldsim ... -",
    ),
    (
        0,
        b"BZh",
        "compressed by bzip2",
        "pipe it: bzip2 -dc FILE | meldsim ... -",
    ),
    (
        0,
        &[0xFD, b'7', b'z', b'X', b'Z'],
        "compressed by xz",
        "pipe it: xz -dc FILE | meldsim ... -",
    ),
    (
        0,
        &[0x04, 0x22, 0x4D, 0x18],
        "compressed by lz4",
        "pipe it: lz4 -dc FILE | meldsim ... -",
    ),
    (
        0,
        b"PK\x03\x04",
        "a zip archive",
        "unpack it, and give a file of it",
    ),
    (
        257,
        b"ustar",
        "a tar archive",
        "unpack it: tar -xOf FILE | meldsim ... -",
    ),
    (0, b"PAR1", "a Parquet file", "export it as text"),
    (
        0,
        &[0x89, b'H', b'D', b'F'],
        "an HDF5 file",
        "export it as text",
    ),
];

impl Head {
    pub(super) fn read(input: &mut impl BufRead) -> io::Result<Head> {
        let mut bytes = Vec::new();
        let read = input.take(HEAD_BYTES).read_to_end(&mut bytes);
        // The reader comes to the same fault at its line.
        if let (Err(error), true) = (read, bytes.is_empty()) {
            return Err(error);
        }
        let is_cut = bytes.len() as u64 == HEAD_BYTES;
        Ok(Head { bytes, is_cut })
    }

    /// Lines with records, as far as they are whole.
    fn lines(&self) -> impl Iterator<Item = &str> + Clone {
        let whole = match self.is_cut {
            true => self
                .bytes
                .iter()
                .rposition(|byte| *byte == b'\n')
                .unwrap_or(0),
            false => self.bytes.len(),
        };
        let lines = self.bytes[..whole].split(|byte| *byte == b'\n');
        lines
            .filter_map(|line| std::str::from_utf8(line).ok())
            .map(|line| line.trim().trim_start_matches('\u{feff}'))
            .filter(|line| !line.is_empty() && (!line.starts_with('#') || line.starts_with(MAGIC)))
    }

    /// The format that most of the first lines have.
    pub(super) fn format(&self) -> Result<TraceFormat, Fault> {
        let is_of = |(at, magic, ..): &&(usize, &[u8], &str, &str)| {
            self.bytes
                .get(*at..)
                .is_some_and(|bytes| bytes.starts_with(magic))
        };
        if let Some((_, _, what, remedy)) = OTHERS.iter().find(is_of) {
            return Err(Fault::new("(file)", format!("is {what}"), *remedy));
        }
        if byte_order(&self.bytes).is_some() {
            return Ok(TraceFormat::Blktrace);
        }
        if self.bytes.contains(&0) && is_oracle(&self.bytes) {
            return Ok(TraceFormat::OracleGeneral);
        }
        let first = self.lines().next().unwrap_or_default();
        for named in [TraceFormat::Meld, TraceFormat::Fio] {
            if named.fits(first) {
                return Ok(named);
            }
        }
        // Columns' names have commas and no numbers.
        let is_names =
            |line: &str| line.contains(',') && !line.contains(|c: char| c.is_ascii_digit());
        if !self.is_cut && self.lines().all(is_names) {
            return Err(without_records());
        }
        let votes = |format: &TraceFormat| {
            self.lines()
                .take(LINES)
                .filter(|line| format.fits(line))
                .count()
        };
        // Of equal ones the first.
        let most = TraceFormat::all().map(|format| (votes(&format), format));
        let most = most.reduce(|most, next| if next.0 > most.0 { next } else { most });
        most.filter(|(votes, _)| *votes > 0)
            .map(|(_, format)| format)
            .ok_or_else(|| {
                let names: Vec<&str> = TraceFormat::all().map(TraceFormat::name).collect();
                let message = format!("is of no known format: \"{}\"", excerpt(first));
                let remedy = format!("say which with --trace-format: {}", names.join(", "));
                Fault::new("line", message, remedy)
            })
    }

    /// What the first records say of all: columns, which step of a request counts, the unit of time. Returns whether that is
    /// another unit than the format's.
    pub(super) fn prepare(&self, format: TraceFormat, context: &mut Context) -> bool {
        context.clock.unit = format.time_unit();
        match format {
            TraceFormat::Blktrace => {
                context.big_endian = byte_order(&self.bytes).unwrap_or_default();
                context.action = Action::of_records(&self.bytes, context.big_endian);
            }
            TraceFormat::Blkparse => context.action = Action::of_lines(self.lines()),
            _ => {}
        }
        let mut records = self
            .lines()
            .filter(|line| !format.is_aside(line, &mut context.clone()));
        if !format.is_binary() {
            format.begin(records.next().unwrap_or_default(), context);
        }
        let times: Vec<u64> = {
            let lines = self.lines().take(LINES);
            lines.filter_map(|line| format.whole_time(line)).collect()
        };
        let other: Option<TimeUnit> = format.time_unit().inferred(&times);
        context.clock.unit = other.unwrap_or(context.clock.unit);
        other.is_some()
    }
}
