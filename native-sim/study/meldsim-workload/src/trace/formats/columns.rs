//! Formats whose lines have fixed columns: a table of them, and what writes and recognises any.

use std::io::{self, Write};

use super::ops::Ops;
use super::table::{Column, Role, Table};
use super::{SECTOR_BYTES, TraceFormat, Written};
use crate::trace::record::Record;
use crate::trace::text::{Fields, Separator, is_digits, number};
use crate::trace::time::TimeUnit;

/// What a line is made of.
pub(in crate::trace) struct Layout {
    separator: Separator,
    columns: &'static [Column],
    /// Columns that every line has.
    least: usize,
    /// Whether more may follow that mean nothing here.
    more: bool,
    /// Whether times have decimals: what tells DiskSim's lines from MQSim's.
    decimals: bool,
    pub(super) unit: TimeUnit,
    /// No trace begins before, in `unit`: what tells a clock on the wall from any other number.
    since: u64,
    header: &'static str,
}

const MQSIM: Layout = Layout {
    separator: Separator::Blanks,
    columns: &[
        ("arrival time", Role::Time),
        // All requests go to one device.
        ("device", Role::Unused("0")),
        ("first sector", Role::Offset(SECTOR_BYTES)),
        ("sectors", Role::Length(SECTOR_BYTES)),
        ("op", Role::Op(Ops::Reads)),
    ],
    least: 5,
    more: false,
    decimals: false,
    unit: TimeUnit::Ns,
    since: 0,
    header: "",
};

const DISKSIM: Layout = Layout {
    columns: &[
        ("arrival time", Role::Time),
        ("device", Role::Number),
        ("block", Role::Offset(SECTOR_BYTES)),
        ("blocks", Role::Length(SECTOR_BYTES)),
        ("flags", Role::Op(Ops::Flags)),
    ],
    decimals: true,
    unit: TimeUnit::Ms,
    ..MQSIM
};

/// Narayanan, Donnelly, Rowstron, FAST'08, as SNIA distributes them (387).
const MSR: Layout = Layout {
    separator: Separator::COMMA,
    columns: &[
        ("Timestamp", Role::Time),
        ("Hostname", Role::Host),
        ("DiskNumber", Role::Number),
        ("Type", Role::Op(Ops::Names(["Read", "Write"]))),
        ("Offset", Role::Offset(1)),
        ("Size", Role::Length(1)),
        ("ResponseTime", Role::Unused("0")),
    ],
    least: 6,
    unit: TimeUnit::Ns100,
    ..MQSIM
};

/// The README of github.com/alibaba/block-traces.
const ALIBABA: Layout = Layout {
    columns: &[
        ("device_id", Role::Volume),
        ("opcode", Role::Op(Ops::Names(["R", "W"]))),
        ("offset", Role::Offset(1)),
        ("length", Role::Length(1)),
        ("timestamp", Role::Time),
    ],
    least: 5,
    unit: TimeUnit::Us,
    ..MSR
};

/// The README of SNIA 27917.
const TENCENT: Layout = Layout {
    columns: &[
        ("Timestamp", Role::Time),
        ("Offset", Role::Offset(SECTOR_BYTES)),
        ("Size", Role::Length(SECTOR_BYTES)),
        ("IOType", Role::Op(Ops::Writes)),
        ("VolumeID", Role::Volume),
    ],
    unit: TimeUnit::S,
    // 1990.
    since: 631_152_000,
    header: "Timestamp,Offset,Size,IOType,VolumeID\n",
    ..ALIBABA
};

/// The README of SNIA 4964.
const SYSTOR: Layout = Layout {
    columns: &[
        ("Timestamp", Role::Time),
        ("Response", Role::Unused("0.000000000")),
        ("IOType", Role::Op(Ops::Names(["R", "W"]))),
        ("LUN", Role::Volume),
        ("Offset", Role::Offset(1)),
        ("Size", Role::Length(1)),
    ],
    least: 6,
    header: "Timestamp,Response,IOType,LUN,Offset,Size\n",
    decimals: true,
    since: 0,
    ..TENCENT
};

/// SPC Trace File Format Specification 1.0.1; blocks of 512 B as in the traces of UMass.
const SPC: Layout = Layout {
    columns: &[
        ("ASU", Role::Number),
        ("LBA", Role::Offset(SECTOR_BYTES)),
        ("Size", Role::Length(1)),
        ("Opcode", Role::Op(Ops::Names(["R", "W"]))),
        ("Timestamp", Role::Time),
    ],
    least: 5,
    more: true,
    header: "",
    ..SYSTOR
};

/// The READMEs of SNIA 390 and 391.
const FIU: Layout = Layout {
    separator: Separator::Blanks,
    columns: &[
        ("ts", Role::Time),
        ("pid", Role::Unused("0")),
        ("process", Role::Words("trace")),
        ("lba", Role::Offset(SECTOR_BYTES)),
        ("size", Role::Length(SECTOR_BYTES)),
        ("op", Role::Op(Ops::Names(["R", "W"]))),
        ("major", Role::Number),
        ("minor", Role::Number),
        ("md5", Role::Unused("0")),
    ],
    least: 8,
    decimals: false,
    unit: TimeUnit::Ns,
    ..SPC
};

/// biosnoop of bcc, in Python or in C; with `-Q` and `-P` its header names more columns.
const BIOSNOOP: Layout = Layout {
    separator: Separator::Blanks,
    columns: &[
        ("TIME(s)", Role::Time),
        ("COMM", Role::Words("trace")),
        ("PID", Role::Unused("0")),
        ("DISK", Role::Volume),
        ("T", Role::Op(Ops::Letters)),
        ("SECTOR", Role::Offset(SECTOR_BYTES)),
        ("BYTES", Role::Length(1)),
        ("LAT(ms)", Role::Unused("0")),
    ],
    least: 7,
    header: "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n",
    ..SPC
};

/// What xperf's dumper prints of events, as in SNIA's traces of Microsoft's servers (158).
const ETW: Layout = Layout {
    columns: &[
        ("DiskRead", Role::Op(Ops::Events)),
        ("TimeStamp", Role::Time),
        ("Process Name", Role::Unused("trace (0)")),
        ("ThreadID", Role::Unused("0")),
        ("IrpPtr", Role::Unused("0x0")),
        ("ByteOffset", Role::Offset(1)),
        ("IOSize", Role::Length(1)),
        ("ElapsedTime", Role::Unused("0")),
        ("DiskNum", Role::Number),
    ],
    least: 9,
    decimals: false,
    unit: TimeUnit::Us,
    header: "DiskRead,TimeStamp,Process Name ( PID),ThreadID,IrpPtr,ByteOffset,IOSize,ElapsedTime,DiskNum\n",
    ..SPC
};

/// What fio's `write_lat_log` and its kin write with `log_offset=1`.
const FIOLOG: Layout = Layout {
    columns: &[
        ("time", Role::Time),
        ("value", Role::Unused("0")),
        ("data direction", Role::Op(Ops::Directions)),
        ("block size", Role::Length(1)),
        ("offset", Role::Offset(1)),
        ("command priority", Role::Unused("0")),
    ],
    // Without offsets: such a log is known, to be refused with its remedy.
    least: 4,
    decimals: false,
    unit: TimeUnit::Ms,
    ..SPC
};

impl TraceFormat {
    /// The columns of a format that has such.
    pub(in crate::trace) fn layout(self) -> Option<&'static Layout> {
        Some(match self {
            TraceFormat::Mqsim => &MQSIM,
            TraceFormat::Disksim => &DISKSIM,
            TraceFormat::Msr => &MSR,
            TraceFormat::Alibaba => &ALIBABA,
            TraceFormat::Tencent => &TENCENT,
            TraceFormat::Systor => &SYSTOR,
            TraceFormat::Spc => &SPC,
            TraceFormat::Fiu => &FIU,
            TraceFormat::Biosnoop => &BIOSNOOP,
            TraceFormat::Etw => &ETW,
            TraceFormat::Fiolog => &FIOLOG,
            _ => return None,
        })
    }
}

impl Layout {
    /// The columns of a trace: as a header names them, in whatever order, or as they are without one.
    pub(in crate::trace) fn table<'a>(
        &self,
        lines: impl Iterator<Item = &'a str> + Clone,
    ) -> Table {
        if let Some(table) = lines.clone().find_map(|line| self.named_by(line)) {
            return table;
        }
        let mut table = Table {
            separator: self.separator,
            columns: self.columns.to_vec(),
            more: self.more,
            ..Table::default()
        };
        let first = lines.clone().find(|line| !table.is_header(line));
        let first = first.unwrap_or_default();
        table.separator = self.separator_of(first);
        if self.shape(first).is_ok() {
            table.columns.truncate(table.fields(first).count());
        }
        table
    }

    /// Tables are exported with other separators than commas, too.
    fn separator_of(&self, line: &str) -> Separator {
        match self.separator {
            Separator::Blanks => Separator::Blanks,
            separator => Some(Separator::of(line))
                .filter(|of| *of != Separator::Blanks)
                .unwrap_or(separator),
        }
    }

    /// The columns as a header names them; `None` of a line that does not name all that count.
    pub(in crate::trace) fn named_by(&self, line: &str) -> Option<Table> {
        // No name begins so, and most lines do.
        if line.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        let separator = self.separator_of(line);
        let unknown = ("column", Role::Unused(""));
        let known = |name: &str| {
            let mut columns = self.columns.iter();
            let known = columns.find(|(known, _)| plain(known).eq(plain(name)));
            *known.unwrap_or(&unknown)
        };
        let columns: Vec<Column> = Fields::new(line, separator).all().map(known).collect();
        let mut needed = self.columns.iter().filter(|(_, role)| role.counts());
        let all = needed.all(|(name, _)| columns.iter().any(|(known, _)| known == name));
        all.then(|| Table {
            separator,
            columns,
            // Names are not always all there.
            more: self.more,
            ..Table::default()
        })
    }

    /// What a line of names says that this format does not: names in other places, or in other units.
    pub(in crate::trace) fn contradicts(&self, line: &str) -> bool {
        let names = Fields::new(line, self.separator_of(line)).all();
        let mut columns = self.columns.iter().zip(names);
        columns.any(|((known, role), name)| {
            role.counts() && !plain(known).eq(plain(name)) && !role.is_called(name)
        })
    }

    pub(in crate::trace) fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(",")
    }

    pub(super) fn fits(&self, line: &str) -> bool {
        self.shape(line).is_ok()
    }

    /// Whether a line looks as one of this format: else how many columns do, and what is wrong with the next.
    pub(in crate::trace) fn shape<'a>(
        &self,
        line: &'a str,
    ) -> Result<(), (usize, &'static str, &'a str)> {
        let table = Table {
            separator: self.separator_of(line),
            columns: self.columns.to_vec(),
            more: self.more,
            ..Table::default()
        };
        let mut seen = 0;
        for (name, role, text) in table.fields(line) {
            let fits = match role {
                Role::Time => {
                    let has_decimals = match self.separator {
                        Separator::Blanks => text.contains('.'),
                        Separator::Char(_) => text.trim_end_matches(".0").contains(['.', 'e']),
                    };
                    let is_exported = self.decimals && text.contains('.');
                    is_decimal(text)
                        && (has_decimals == self.decimals || is_exported)
                        && (self.since == 0 || number(text).is_some_and(|time| time >= self.since))
                }
                Role::Offset(_) => number(text).is_some(),
                // What block devices move is whole sectors.
                Role::Length(unit) => {
                    number(text).is_some_and(|length| unit > 1 || length % SECTOR_BYTES == 0)
                }
                Role::Op(ops @ Ops::Names(_)) => text.is_empty() || ops.known(text).is_some(),
                Role::Op(ops) => ops.known(text).is_some(),
                Role::Volume => !text.is_empty(),
                Role::Number => is_digits(text),
                Role::Host => text.starts_with(|first: char| !first.is_ascii_digit()),
                Role::Unused(_) | Role::Words(_) => true,
            };
            if !fits {
                return Err((seen, name, text));
            }
            seen += 1;
        }
        if seen < self.least {
            let (name, _) = self.columns[seen];
            return Err((seen, name, ""));
        }
        let count = Fields::new(line, table.separator).all().count();
        match self.more || count <= self.columns.len() {
            true => Ok(()),
            false => Err((seen, "line", line)),
        }
    }

    pub(super) fn header(&self) -> &'static str {
        self.header
    }

    pub(super) fn alignment_bytes(&self) -> u64 {
        let units = self.columns.iter().map(|(_, role)| match role {
            Role::Offset(unit) | Role::Length(unit) => *unit,
            _ => 1,
        });
        units.max().unwrap_or(1)
    }

    pub(super) fn write(
        &self,
        line: &mut Vec<u8>,
        record: &Record,
        written: &Written<'_>,
    ) -> io::Result<()> {
        let volumes = self
            .columns
            .iter()
            .filter(|(_, role)| matches!(role, Role::Volume | Role::Host | Role::Number))
            .count();
        let mut volume_parts = match (volumes, written.volume.rsplit_once('.')) {
            (2, Some((host, disk))) if is_digits(disk) => [host, disk],
            (2, _) => [written.volume, "0"],
            _ => [written.volume, ""],
        }
        .into_iter();
        for (index, (_, role)) in self.columns.iter().enumerate() {
            match (index, self.separator) {
                (0, _) => {}
                (_, Separator::Char(_)) => line.push(b','),
                (_, Separator::Blanks) => line.push(b' '),
            }
            match role {
                Role::Time => self.write_time(line, record.arrival.as_ps())?,
                Role::Volume | Role::Host | Role::Number => {
                    let part = volume_parts.next().unwrap_or_default();
                    let is_number = part.starts_with(|first: char| first.is_ascii_digit());
                    match role {
                        // A host is known by its name.
                        Role::Host if is_number => write!(line, "dev{part}")?,
                        // What others read as a number is one.
                        Role::Host => write!(line, "{part}")?,
                        _ if is_digits(part) => write!(line, "{part}")?,
                        _ => write!(line, "{}", written.volume_number(record))?,
                    }
                }
                Role::Offset(unit) => write!(line, "{}", record.offset / unit)?,
                Role::Length(unit) => write!(line, "{}", record.length / unit)?,
                Role::Op(ops) => line.extend_from_slice(ops.name(record.op).as_bytes()),
                Role::Unused(text) | Role::Words(text) => {
                    line.extend_from_slice(text.as_bytes());
                }
            }
        }
        line.push(b'\n');
        Ok(())
    }

    /// In whole units, or to the nanosecond.
    fn write_time(&self, line: &mut Vec<u8>, ps: u64) -> io::Result<()> {
        let unit_ps = self.unit.ps();
        match (self.decimals, self.unit) {
            (false, _) => write!(line, "{}", ps / unit_ps),
            (true, TimeUnit::Ms) => write!(line, "{}.{:06}", ps / unit_ps, ps % unit_ps / 1000),
            (true, _) => write!(line, "{}.{:09}", ps / unit_ps, ps % unit_ps / 1000),
        }
    }
}

/// A name without what differs between those who write it: case, blanks, a unit in parentheses.
fn plain(name: &str) -> impl Iterator<Item = char> + '_ {
    let name = name.split('(').next().unwrap_or_default();
    let letters = name.chars().filter(|letter| letter.is_ascii_alphanumeric());
    letters.map(|letter| letter.to_ascii_lowercase())
}

fn is_decimal(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
}
