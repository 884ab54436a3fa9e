//! The beginning of a trace: what format it has, and in what unit its times are.

use std::io::{self, BufRead, Read};

use super::formats::{
    Action, Columns, Context, MAGIC, TraceFormat, byte_order, is_oracle, vscsi_version,
};
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

const UTF_16: &str = "pipe it: iconv -f UTF-16 -t UTF-8 FILE | meldsim ... -";
/// How a table says what it is.
const DESCRIBE: &str = "describe its columns, such as --trace-columns time:us,op,offset,length";

/// What files of other kinds begin with, what they are, and what reads them.
const OTHERS: [(usize, &[u8], &str, &str); 11] = [
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
    (0, &[0xFF, 0xFE], "text in UTF-16", UTF_16),
    (0, &[0xFE, 0xFF], "text in UTF-16", UTF_16),
    (
        0,
        b"trace-cmd",
        "what trace-cmd records",
        "pipe it: trace-cmd report FILE | meldsim ... -",
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

    /// Lines with records, as far as they are whole, and their numbers.
    fn numbered(&self) -> impl Iterator<Item = (u64, &str)> + Clone {
        let whole = match self.is_cut {
            true => self
                .bytes
                .iter()
                .rposition(|byte| *byte == b'\n')
                .unwrap_or(0),
            false => self.bytes.len(),
        };
        let lines = self.bytes[..whole].split(|byte| *byte == b'\n');
        (1..)
            .zip(lines)
            .filter_map(|(number, line)| Some((number, std::str::from_utf8(line).ok()?)))
            .map(|(number, line)| (number, line.trim_start_matches('\u{feff}')))
            .map(|(number, line)| (number, line.trim_matches([' ', '\r'])))
            .filter(|(_, line)| {
                !line.trim().is_empty() && (!line.starts_with('#') || line.starts_with(MAGIC))
            })
    }

    fn lines(&self) -> impl Iterator<Item = &str> + Clone {
        self.numbered().map(|(_, line)| line)
    }

    /// The format that a header names, or most of the first lines have. A fault has its line's number.
    pub(super) fn format(&self) -> Result<TraceFormat, (u64, Fault)> {
        let is_of = |(at, magic, ..): &&(usize, &[u8], &str, &str)| {
            self.bytes
                .get(*at..)
                .is_some_and(|bytes| bytes.starts_with(magic))
        };
        if let Some((_, _, what, remedy)) = OTHERS.iter().find(is_of) {
            return Err((1, Fault::new("(file)", format!("is {what}"), *remedy)));
        }
        if byte_order(&self.bytes).is_some() {
            return Ok(TraceFormat::Blktrace);
        }
        if self.bytes.contains(&0) {
            if vscsi_version(&self.bytes).is_some() {
                return Ok(TraceFormat::Vscsi);
            }
            if is_oracle(&self.bytes) {
                return Ok(TraceFormat::OracleGeneral);
            }
        }
        let first = self.lines().next().unwrap_or_default();
        for named in [TraceFormat::Meld, TraceFormat::Fio] {
            if named.fits(first) {
                return Ok(named);
            }
        }
        // Columns' names have separators and no numbers.
        let is_names = |line: &str| {
            line.contains([',', ';', '\t']) && !line.contains(|c: char| c.is_ascii_digit())
        };
        if !self.is_cut && self.lines().all(is_names) {
            return Err((1, without_records()));
        }
        let layouts = || TraceFormat::all().filter_map(|format| Some((format, format.layout()?)));
        let mut named = layouts()
            .filter(|(_, layout)| self.lines().any(|line| layout.named_by(line).is_some()));
        if let Some((format, _)) = named.next() {
            return Ok(format);
        }
        let lines = || {
            self.numbered()
                .filter(|(_, line)| !is_names(line))
                .take(LINES)
        };
        let votes = |format: &TraceFormat| lines().filter(|(_, line)| format.fits(line)).count();
        // Of equal ones the first.
        let most = TraceFormat::all().map(|format| (votes(&format), format));
        let most = most.reduce(|most, next| if next.0 > most.0 { next } else { most });
        let is_one = |(votes, format): &(usize, TraceFormat)| {
            *votes > 0 && (format.is_unmistakable() || 2 * votes >= lines().count())
        };
        let (number, line) = lines().next().unwrap_or((1, first));
        let Some((_, format)) = most.filter(is_one) else {
            let names: Vec<&str> = TraceFormat::all().map(TraceFormat::name).collect();
            let remedy = format!(
                "{DESCRIBE}; or say which with --trace-format: {}",
                names.join(", ")
            );
            let mut message = format!("is of no known format: \"{}\"", excerpt(line));
            let shapes = layouts().filter_map(|(format, layout)| {
                layout.shape(line).err().map(|shape| (shape, format))
            });
            let nearest = shapes.max_by_key(|((alike, ..), _)| *alike);
            if let Some(((_, name, text), format)) = nearest.filter(|((alike, ..), _)| *alike > 1) {
                let text = excerpt(text);
                message += &format!(
                    "; the nearest is {}, but for \"{text}\" as {name}",
                    format.name()
                );
            }
            return Err((number, Fault::new("line", message, remedy)));
        };
        let names = first != line && is_names(first);
        match format
            .layout()
            .filter(|layout| names && layout.contradicts(first))
        {
            None => Ok(format),
            Some(layout) => {
                let name = format.name();
                let message = format!(
                    "are \"{}\"; the lines look like {name}, whose columns are \"{}\"",
                    excerpt(first),
                    layout.names()
                );
                let remedy = format!("{DESCRIBE}; or say --trace-format {name}");
                Err((1, Fault::new("columns", message, remedy)))
            }
        }
    }

    /// Refuses what has not what every trace of a format needs.
    fn check(&self, format: TraceFormat) -> Result<(), Fault> {
        let without_offset = |line: &str| {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            matches!(fields[..], [_, _, _, _] | [_, _, _, _, "0" | "1"])
                || fields.get(4).is_some_and(|fifth| fifth.starts_with("0x"))
        };
        match format == TraceFormat::Fiolog && self.lines().all(without_offset) {
            true => {
                let remedy = "record it again with log_offset=1";
                Err(Fault::new(
                    "offset",
                    "is in no line of this log of fio's",
                    remedy,
                ))
            }
            false => Ok(()),
        }
    }

    /// What the first records say of all: columns, which step of a request counts, the unit of time. Returns whether that is
    /// another unit than the format's.
    pub(super) fn prepare(
        &self,
        format: TraceFormat,
        columns: Option<&Columns>,
        context: &mut Context,
    ) -> Result<bool, Fault> {
        self.check(format)?;
        context.clock.unit = format.time_unit();
        match format {
            TraceFormat::Blktrace => {
                context.big_endian = byte_order(&self.bytes).unwrap_or_default();
                context.action = Action::of_records(&self.bytes, context.big_endian);
            }
            TraceFormat::Vscsi => context.vscsi_version = vscsi_version(&self.bytes).or(Some(1)),
            TraceFormat::Blkparse | TraceFormat::Ftrace => {
                context.action = Action::of_lines(self.lines());
            }
            _ => {}
        }
        if let Some(columns) = columns {
            context.table = columns.table(self.lines())?;
            context.clock.unit = columns.unit;
            return Ok(false);
        }
        let Some(layout) = format.layout() else {
            return Ok(false);
        };
        context.table = layout.table(self.lines());
        let lines = self.lines().filter(|line| !context.table.is_header(line));
        let times = lines
            .take(LINES)
            .filter_map(|line| context.table.whole_time(line));
        let other: Option<TimeUnit> = format.time_unit().inferred(&times.collect::<Vec<u64>>());
        context.clock.unit = other.unwrap_or(context.clock.unit);
        Ok(other.is_some())
    }
}
