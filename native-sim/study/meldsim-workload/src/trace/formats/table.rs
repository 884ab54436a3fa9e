//! The columns of a trace in text, whatever names them: its format, its header, or who gives it.

use std::borrow::Cow;
use std::str::FromStr;

use super::ops::Ops;
use super::{Context, SECTOR_BYTES, checked, in_bytes};
use crate::error::Fault;
use crate::quantity::parse_bytes;
use crate::trace::record::{Op, Record};
use crate::trace::text::{Fields, MEND, Separator, is_digits};
use crate::trace::time::TimeUnit;
use meldsim::profile::excerpt;

/// What is called so by who published it, and what it is.
pub(super) type Column = (&'static str, Role);

#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    Time,
    /// Of two, a volume is both.
    Volume,
    /// The same, and no number.
    Host,
    /// The same, and a number.
    Number,
    /// In units of so many bytes.
    Offset(u64),
    Length(u64),
    Op(Ops),
    /// Not needed; written as this.
    Unused(&'static str),
    /// The same, perhaps of several words.
    Words(&'static str),
}

impl Role {
    /// Whether a record needs it.
    pub(super) fn counts(self) -> bool {
        !matches!(self, Role::Unused(_) | Role::Words(_))
    }

    /// Whether a column of this name can be nothing else.
    pub(super) fn is_called(self, name: &str) -> bool {
        let names = match self {
            Role::Time => "time timestamp ts arrival arrival_time",
            Role::Volume | Role::Host | Role::Number => {
                "dev device device_id disk disk_number diskno host hostname volume volume_id vol lun asu unit major minor"
            }
            Role::Op(_) => "op opcode type iotype io_type operation rw r/w",
            Role::Offset(1) => "offset offset_bytes address",
            Role::Offset(_) => "offset lba sector block first_sector",
            Role::Length(1) => "size length len bytes size_bytes",
            Role::Length(_) => "size length len sectors blocks",
            Role::Unused(_) | Role::Words(_) => return true,
        };
        let mut names = names.split(' ');
        names.any(|known| known.eq_ignore_ascii_case(name.trim()))
    }
}

/// Where a line has what.
#[derive(Clone, Debug)]
pub(in crate::trace) struct Table {
    pub(super) separator: Separator,
    pub(super) columns: Vec<Column>,
    /// Whether more may follow that mean nothing here.
    pub(super) more: bool,
    /// What stands for a read and for a write, if that was said.
    pub(super) words: Option<[String; 2]>,
}

impl Default for Table {
    fn default() -> Table {
        Table {
            separator: Separator::Blanks,
            columns: Vec::new(),
            more: false,
            words: None,
        }
    }
}

impl Table {
    /// Each field of a line with its column, as far as both go.
    pub(super) fn fields<'a>(
        &self,
        line: &'a str,
    ) -> impl Iterator<Item = (&'static str, Role, &'a str)> + use<'_, 'a> {
        let mut fields = Fields::new(line, self.separator);
        let columns = self.columns.iter().enumerate();
        columns.map_while(move |(at, (name, role))| {
            let text = match role {
                Role::Words(_) => self.pass_words(&mut fields, at).ok()?,
                _ => fields.text(name).ok()?,
            };
            Some((*name, *role, text))
        })
    }

    /// Passes over words up to where the columns behind this one can begin; returns the first. Where none can, one word.
    fn pass_words<'a>(&self, fields: &mut Fields<'a>, at: usize) -> Result<&'a str, Fault> {
        let begins = |fields: &Fields<'a>| {
            let mut fields = fields.clone();
            let mut columns = self.columns[at + 1..].iter().take(3);
            columns.all(|(name, role)| {
                let text = fields.text(name).unwrap_or_default();
                match role {
                    Role::Offset(_) | Role::Length(_) => is_digits(text),
                    Role::Op(ops) => ops.known(text).is_some(),
                    _ => !text.is_empty(),
                }
            })
        };
        let first = fields.text(self.columns[at].0)?;
        let mut ahead = fields.clone();
        loop {
            if begins(&ahead) {
                *fields = ahead;
                return Ok(first);
            }
            if ahead.text("").is_err() {
                return Ok(first);
            }
        }
    }

    /// Whether a line has the columns' names, which may stand wherever files were joined.
    pub(in crate::trace) fn is_header(&self, line: &str) -> bool {
        let may_be = |first: u8| first.is_ascii_alphabetic() || b"\",;\t|".contains(&first);
        if !line.bytes().next().is_some_and(may_be) {
            return false;
        }
        let is_name = |text: &str| text.starts_with(|first: char| first.is_ascii_alphabetic());
        let mut named = [false; 2];
        for (_, role, text) in self.fields(line) {
            match role {
                Role::Time => named[0] = is_name(text),
                Role::Offset(_) => named[1] = is_name(text),
                _ => {}
            }
        }
        named == [true; 2]
    }

    /// The whole number that a line has for its time.
    pub(in crate::trace) fn whole_time(&self, line: &str) -> Option<u64> {
        let mut fields = self.fields(line);
        let (.., text) = fields.find(|(_, role, _)| matches!(role, Role::Time))?;
        text.split('.').next()?.parse().ok()
    }

    /// How to sort lines by their times.
    pub(in crate::trace) fn sorted(&self) -> Option<String> {
        let at = 1 + self
            .columns
            .iter()
            .position(|(_, role)| matches!(role, Role::Time))?;
        Some(match self.separator {
            Separator::Char(separator) => format!("sort -s -t '{separator}' -k {at},{at}g"),
            Separator::Blanks => format!("sort -s -k {at},{at}g"),
        })
    }
}

pub(super) fn parse(line: &str, context: &mut Context) -> Result<Option<Record>, Fault> {
    let table = &context.table;
    let mut fields = Fields::new(line, table.separator);
    let (mut time_ps, mut offset, mut length) = (0, 0, 0);
    let mut op = None;
    let mut volume: Option<Cow<'_, str>> = None;
    let mut field = "";
    let mut is_request = true;
    for (at, (name, role)) in table.columns.iter().enumerate() {
        match role {
            Role::Unused(_) => {
                // Some have nothing there, also at the end of a line.
                let _ = fields.text(name);
                continue;
            }
            Role::Words(_) => {
                table.pass_words(&mut fields, at)?;
                continue;
            }
            _ => {}
        }
        let text = fields.text(name)?;
        match role {
            Role::Time => time_ps = context.clock.read(name, text)?,
            // A flush has none in what biosnoop prints.
            Role::Offset(_) if table.more && ["-1", NO_SECTOR].contains(&text) => {
                is_request = op == Some(Op::Flush);
            }
            Role::Offset(unit) => offset = in_bytes(name, whole(name, text)?, *unit)?,
            Role::Length(unit) => {
                field = name;
                length = in_bytes(name, whole(name, text)?, *unit)?;
            }
            Role::Op(ops) => {
                op = match &table.words {
                    Some([read, _]) if read == text => Some(Op::Read),
                    Some([_, write]) if write == text => Some(Op::Write),
                    _ => ops.parse(name, text)?,
                };
                if op.is_none() {
                    return context.other();
                }
            }
            Role::Volume | Role::Host | Role::Number if text.is_empty() => {
                return Err(Fault::new(name, "is blank", MEND));
            }
            Role::Volume | Role::Host | Role::Number => {
                volume = Some(match volume {
                    None => Cow::Borrowed(text),
                    Some(first) => joined(line, &first, text),
                });
            }
            Role::Unused(_) | Role::Words(_) => {}
        }
    }
    if !table.more {
        fields.end()?;
    }
    let Some(op) = op.filter(|_| is_request) else {
        return context.other();
    };
    let volume = volume.as_deref().unwrap_or("trace");
    let Some(volume) = context.volumes.index(volume, "volume")? else {
        return Ok(None);
    };
    let range = if op == Op::Flush {
        (0, 0)
    } else {
        (offset, length)
    };
    checked(context.record(volume, time_ps, op, range), field)
}

/// What a sector without a number is printed as, beside -1.
const NO_SECTOR: &str = "18446744073709551615";

fn whole(field: &'static str, text: &str) -> Result<u64, Fault> {
    Fields::new(text, Separator::COMMA).number(field)
}

/// Two parts of a line as one name: what stands between them, where they are neighbours.
fn joined<'a>(line: &'a str, first: &str, last: &str) -> Cow<'a, str> {
    let at = |text: &str| (text.as_ptr() as usize).wrapping_sub(line.as_ptr() as usize);
    match line.get(at(first)..at(last).wrapping_add(last.len())) {
        Some(both) if both.len() == first.len() + 1 + last.len() => Cow::Borrowed(both),
        _ => Cow::Owned(format!("{first}.{last}")),
    }
}

/// The columns of a table of one's own.
///
/// Parsed from a list such as `time:us,-,op:0/1,offset:512B,length` of the columns in their order, or `time=start:s,op=kind,offset=lba:512B,length=bytes`
/// of columns that a header names. A time needs its unit; offsets and lengths are in bytes without one. `-` passes a column over.
#[derive(Clone, Debug)]
pub struct Columns {
    columns: Vec<(Column, Option<String>)>,
    pub(in crate::trace) unit: TimeUnit,
    words: Option<[String; 2]>,
}

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Columns, String> {
        let mut described = Columns {
            columns: Vec::new(),
            unit: TimeUnit::default(),
            words: None,
        };
        for part in text.split(',').map(str::trim) {
            let (role, at) = match part.split_once('=') {
                Some((role, at)) => (role, Some(at)),
                None => (part, None),
            };
            // The unit stands last: of a header's name, or of the role.
            let (role, at, unit) =
                match (at.and_then(|at| at.rsplit_once(':')), role.split_once(':')) {
                    (Some((at, unit)), _) => (role, Some(at), unit),
                    (None, Some((role, unit))) => (role, at, unit),
                    (None, None) => (role, at, ""),
                };
            let column = match role.trim() {
                "-" => ("column", Role::Unused("")),
                "time" if unit.is_empty() => {
                    return Err(format!(
                        "\"{part}\" has no unit; write one of ps, ns, 100ns, us, ms and s, such as {part}:us"
                    ));
                }
                "time" => {
                    described.unit = unit
                        .parse()
                        .map_err(|error| format!("\"{part}\": {error}"))?;
                    ("time", Role::Time)
                }
                "volume" => ("volume", Role::Volume),
                "op" => {
                    if let Some((read, write)) = unit.split_once('/') {
                        described.words = Some([read.to_owned(), write.to_owned()]);
                    }
                    ("op", Role::Op(Ops::Any))
                }
                "offset" => ("offset", Role::Offset(unit_bytes(part, unit)?)),
                "length" => ("length", Role::Length(unit_bytes(part, unit)?)),
                _ => {
                    return Err(format!(
                        "\"{part}\" is no column; use time, op, offset, length, volume, and - for others"
                    ));
                }
            };
            described
                .columns
                .push((column, at.map(|at| at.trim().to_owned())));
        }
        let has = |name: &&str| {
            described
                .columns
                .iter()
                .any(|((known, _), _)| known == name)
        };
        match ["time", "op", "offset", "length"]
            .iter()
            .find(|name| !has(name))
        {
            Some(missing) => Err(format!(
                "no column is {missing}; write all of time, op, offset and length, such as time:us,op,offset,length"
            )),
            None => Ok(described),
        }
    }
}

fn unit_bytes(part: &str, unit: &str) -> Result<u64, String> {
    match unit {
        "" | "B" | "bytes" => Ok(1),
        "sector" | "sectors" => Ok(SECTOR_BYTES),
        unit => parse_bytes(unit)
            .ok()
            .filter(|bytes| *bytes > 0)
            .ok_or_else(|| {
                format!("\"{part}\": \"{unit}\" is no unit; write bytes, such as 512B or 4KiB")
            }),
    }
}

impl Columns {
    /// The columns of a trace that begins with these lines.
    pub(in crate::trace) fn table<'a>(
        &self,
        mut lines: impl Iterator<Item = &'a str>,
    ) -> Result<Table, Fault> {
        let first = lines.next().unwrap_or_default();
        let separator = Separator::of(first);
        let names: Vec<&str> = Fields::new(first, separator).all().collect();
        let mut columns: Vec<Column> = Vec::new();
        for (at, (column, name)) in self.columns.iter().enumerate() {
            let at = match name {
                None => at,
                Some(name) => match names
                    .iter()
                    .position(|known| known.eq_ignore_ascii_case(name))
                {
                    Some(at) => at,
                    None => {
                        let message =
                            format!("are \"{}\", none is \"{}\"", excerpt(first), excerpt(name));
                        return Err(Fault::new(
                            "columns",
                            message,
                            "use the names of the first line, or none: the list's order",
                        ));
                    }
                },
            };
            if columns.len() <= at {
                columns.resize(at + 1, ("column", Role::Unused("")));
            }
            columns[at] = *column;
        }
        Ok(Table {
            separator,
            columns,
            more: true,
            words: self.words.clone(),
        })
    }
}
