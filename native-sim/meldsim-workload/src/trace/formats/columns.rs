//! Formats whose lines have fixed columns: a table of them, and what reads, writes and recognises any.

use std::io::{self, Write};

use super::ops::{Ops, named};
use super::{Context, SECTOR_BYTES, TraceFormat, Written, checked, in_bytes};
use crate::error::Fault;
use crate::trace::record::Record;
use crate::trace::text::{Fields, MEND, Separator, is_digits, number};
use crate::trace::time::TimeUnit;

/// What a line is made of.
pub(super) struct Layout {
    separator: Separator,
    columns: &'static [Column],
    /// Columns that every line has.
    least: usize,
    /// Whether more may follow that mean nothing here.
    more: bool,
    /// Whether times have decimals: what tells DiskSim's lines from MQSim's.
    decimals: bool,
    pub(super) unit: TimeUnit,
    header: &'static str,
}

/// What is called so by who published it, and what it is.
type Column = (&'static str, Role);

#[derive(Clone, Copy)]
enum Role {
    Time,
    /// Of two in a row, a volume is both.
    Volume,
    /// In units of so many bytes.
    Offset(u64),
    Length(u64),
    Op(Ops),
    /// Not needed; written as this.
    Unused(&'static str),
    /// The same, perhaps of several words.
    Words(&'static str),
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
    header: "",
};

const DISKSIM: Layout = Layout {
    columns: &[
        ("arrival time", Role::Time),
        ("device", Role::Volume),
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
    separator: Separator::Comma,
    columns: &[
        ("Timestamp", Role::Time),
        ("Hostname", Role::Volume),
        ("DiskNumber", Role::Volume),
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
    ..TENCENT
};

/// SPC Trace File Format Specification 1.0.1; blocks of 512 B as in the traces of UMass.
const SPC: Layout = Layout {
    columns: &[
        ("ASU", Role::Volume),
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
        ("major", Role::Volume),
        ("minor", Role::Volume),
        ("md5", Role::Unused("0")),
    ],
    least: 8,
    decimals: false,
    unit: TimeUnit::Ns,
    ..SPC
};

impl TraceFormat {
    /// The columns of a format that has such.
    pub(super) fn layout(self) -> Option<&'static Layout> {
        Some(match self {
            TraceFormat::Mqsim => &MQSIM,
            TraceFormat::Disksim => &DISKSIM,
            TraceFormat::Msr => &MSR,
            TraceFormat::Alibaba => &ALIBABA,
            TraceFormat::Tencent => &TENCENT,
            TraceFormat::Systor => &SYSTOR,
            TraceFormat::Spc => &SPC,
            TraceFormat::Fiu => &FIU,
            _ => return None,
        })
    }
}

impl Layout {
    /// Each field of a line with its column, as far as both go.
    fn fields<'a>(&self, line: &'a str) -> impl Iterator<Item = (Role, &'a str)> + use<'_, 'a> {
        let mut fields = Fields::new(line, self.separator);
        self.columns.iter().map_while(move |(name, role)| {
            let text = match role {
                Role::Words(_) => words(&mut fields, line, name).ok()?,
                _ => fields.text(name).ok()?,
            };
            Some((*role, text))
        })
    }

    pub(super) fn fits(&self, line: &str) -> bool {
        let columns = Fields::new(line, self.separator).count();
        let shapes = self.fields(line).all(|(role, text)| match role {
            Role::Time => is_decimal(text),
            Role::Offset(_) | Role::Length(_) => number(text).is_some(),
            Role::Op(Ops::Names(_)) => text.is_empty() || named(text).is_some(),
            Role::Op(Ops::Flags) => text.bytes().all(|byte| byte.is_ascii_hexdigit()),
            Role::Op(_) => is_digits(text),
            Role::Volume => !text.is_empty(),
            Role::Unused(_) | Role::Words(_) => true,
        });
        let most = if self.more {
            usize::MAX
        } else {
            self.columns.len()
        };
        // What tells DiskSim's lines from MQSim's.
        let is_between_blanks = self.separator == Separator::Blanks;
        let time = self.fields(line).next().map_or("", |(_, text)| text);
        let decimals = !is_between_blanks || time.contains('.') == self.decimals;
        shapes && (self.least..=most).contains(&columns) && decimals
    }

    pub(super) fn whole_time(&self, line: &str) -> Option<u64> {
        let mut fields = self.fields(line);
        let (_, text) = fields.find(|(role, _)| matches!(role, Role::Time))?;
        text.split('.').next()?.parse().ok()
    }

    /// How many of the columns a line has.
    pub(super) fn columns_of(&self, line: &str) -> usize {
        match self.fits(line) {
            true => self.fields(line).count(),
            false => self.columns.len(),
        }
    }

    /// Whether a line has the columns' names, those that were published or others.
    pub(super) fn is_header(&self, line: &str) -> bool {
        let Some(first) = line.bytes().next().filter(u8::is_ascii_alphabetic) else {
            return false;
        };
        let mut fields = self.fields(line);
        let published = self.columns[0].0.as_bytes()[0].eq_ignore_ascii_case(&first)
            && fields
                .next()
                .is_some_and(|(_, text)| text.eq_ignore_ascii_case(self.columns[0].0));
        published
            || self.fields(line).all(|(role, text)| match role {
                Role::Op(Ops::Names(_)) => named(text).is_none(),
                _ => text.starts_with(|first: char| first.is_ascii_alphabetic()),
            })
    }

    pub(super) fn parse(&self, line: &str, context: &mut Context) -> Result<Option<Record>, Fault> {
        let mut fields = Fields::new(line, self.separator);
        let (mut time_ps, mut offset, mut length) = (0, 0, 0);
        let (mut op, mut volume, mut named_volume) = (None, None, "");
        let mut field = "";
        for (name, role) in self.columns.iter().take(context.columns) {
            match role {
                Role::Time => time_ps = context.clock.read(name, fields.text(name)?)?,
                Role::Offset(unit) => offset = in_bytes(name, fields.number(name)?, *unit)?,
                Role::Length(unit) => {
                    field = name;
                    length = in_bytes(name, fields.number(name)?, *unit)?;
                }
                Role::Op(ops) => op = ops.parse(name, fields.text(name)?)?,
                Role::Volume => {
                    let text = fields.text(name)?;
                    if text.is_empty() {
                        return Err(Fault::new(name, "is blank", MEND));
                    }
                    named_volume = spanning(line, volume, text);
                    volume = Some(named_volume);
                }
                Role::Unused(_) => {
                    fields.text(name)?;
                }
                Role::Words(_) => {
                    words(&mut fields, line, name)?;
                }
            }
        }
        if !self.more {
            fields.end()?;
        }
        let Some(op) = op else {
            return context.other();
        };
        if volume.is_none() {
            named_volume = "trace";
        }
        let Some(volume) = context.volumes.index(named_volume, "volume")? else {
            return Ok(None);
        };
        checked(context.record(volume, time_ps, op, (offset, length)), field)
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
            .filter(|(_, role)| matches!(role, Role::Volume))
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
                (_, Separator::Comma) => line.push(b','),
                (_, Separator::Blanks) => line.push(b' '),
            }
            match role {
                Role::Time => self.write_time(line, record.arrival.as_ps())?,
                Role::Volume => match volume_parts.next() {
                    // What others read as a number is one.
                    Some(part) if volumes == 1 && !is_digits(part) => {
                        write!(line, "{}", written.volume_number(record))?;
                    }
                    Some(part) => line.extend_from_slice(part.as_bytes()),
                    None => {}
                },
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

/// From where `first` begins to where `last` ends, both of them parts of `line`.
fn spanning<'a>(line: &'a str, first: Option<&'a str>, last: &'a str) -> &'a str {
    let Some(first) = first else { return last };
    let at = |text: &str| text.as_ptr() as usize - line.as_ptr() as usize;
    &line[at(first)..at(last) + last.len()]
}

/// Words up to two numbers in a row.
fn words<'a>(fields: &mut Fields<'a>, line: &'a str, name: &'static str) -> Result<&'a str, Fault> {
    let first = fields.text(name)?;
    let mut last = first;
    while fields
        .peek()
        .is_some_and(|(next, after)| !(is_digits(next) && is_digits(after)))
    {
        last = fields.text(name)?;
    }
    Ok(spanning(line, Some(first), last))
}

fn is_decimal(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}
