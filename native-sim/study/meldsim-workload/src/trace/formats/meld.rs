//! A block trace of hdfs-meld: one line for each request of a block file on a DataNode's volume, in version 1, 2 or 3.
//!
//! ```text
//! # meld-trace 3
//! time_ns,volume,block,offset,length,op,pattern,client,directory
//! 1000,vol0,1073741825,0,65536,read,sequential,client,16386
//! ```
//!
//! `time_ns` counts from any moment; `volume` names a volume, without commas; `block` is the block's identifier; `offset` and
//! `length` are bytes of the block; `op` is `read`, `write`, `flush` or `delete` (the last two with offset and length 0),
//! or, since version 2, `truncate` (the offset is the block's new length) or `open` (a reader got the block's file, and its
//! reads are not recorded); `pattern` is `sequential`, `random` or `none`; `client` says for whom, such as `client`, `replication`, `balancer` or
//! `scanner`, and `directory`, since version 3 and where the columns name it, in which directory the block's file is: any number, 0 where that is
//! not known. Neither is needed to replay; both tell groups of blocks apart. Lines that begin with `#` are comments.

use std::io::{self, BufRead, Write};

use super::{Context, Written, checked};
use crate::error::{Fault, TraceError};
use crate::job::parse_read_pattern;
use crate::trace::record::{Extent, Op, Record};
use crate::trace::text::{Fields, Lines, Separator};
use meldsim::nvme::Pattern;
use meldsim::profile::excerpt;

/// The two lines with which a block trace begins.
pub const HEADER: &str =
    "# meld-trace 3\ntime_ns,volume,block,offset,length,op,pattern,client,directory\n";

/// What the first line begins with.
pub(in crate::trace) const MAGIC: &str = "# meld-trace ";
/// Versions that can be read. What one says, later ones say in the same words.
const VERSIONS: [&str; 3] = ["1", "2", "3"];
const COLUMNS: &str = "time_ns,volume,block,offset,length,op,pattern,client";
const DIRECTORY: &str = ",directory";
/// Most clients that are told apart; further ones count as the last.
const CLIENTS_MAX: usize = 64;

const OPS: [(&str, Op); 6] = [
    ("read", Op::Read),
    ("write", Op::Write),
    ("flush", Op::Flush),
    ("delete", Op::Delete),
    ("truncate", Op::Truncate),
    ("open", Op::Open),
];

impl Context {
    /// Whether a line has the columns' names; lines after it have those columns.
    pub(super) fn take_columns(&mut self, line: &str) -> bool {
        let more = line.strip_prefix(COLUMNS);
        if let Some(more) = more.filter(|more| more.is_empty() || *more == DIRECTORY) {
            self.directories = !more.is_empty();
            return true;
        }
        false
    }

    fn client(&mut self, name: &str) -> usize {
        let known = self.clients.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            if self.clients.len() < CLIENTS_MAX {
                self.clients.push(name.to_owned());
            }
            self.clients.len() - 1
        })
    }
}

/// Checks the two lines before the first record.
pub(in crate::trace) fn read_header<R: BufRead>(
    lines: &mut Lines<R>,
    context: &mut Context,
) -> Result<(), TraceError> {
    let header = format!("begin the file with \"{}\"", HEADER.replace('\n', "\\n"));
    lines.read()?;
    let first = lines.text()?;
    let Some(version) = first.strip_prefix(MAGIC) else {
        let message = format!("is \"{}\", not the header of a block trace", excerpt(first));
        return Err(lines.fault(Fault::new("header", message, header)));
    };
    if !VERSIONS.contains(&version) {
        let message = format!("is {}, which this version cannot read", excerpt(version));
        let remedy = format!("record it again in version {}", VERSIONS.join(" or "));
        return Err(lines.fault(Fault::new("version", message, remedy)));
    }
    while lines.read()? && lines.text()?.starts_with('#') {}
    let line = lines.text()?;
    if !context.take_columns(line) {
        let message = format!("are \"{}\"", excerpt(line));
        return Err(lines.fault(Fault::new("columns", message, header)));
    }
    Ok(())
}

pub(super) fn parse(line: &str, context: &mut Context) -> Result<Option<Record>, Fault> {
    let mut fields = Fields::new(line, Separator::COMMA);
    let time_ps = context.clock.read("time_ns", fields.text("time_ns")?)?;
    let volume = fields.text("volume")?;
    let block = fields.number("block")?;
    let offset = fields.number("offset")?;
    let length = fields.number("length")?;
    let name = fields.text("op")?;
    let Some((_, op)) = OPS.iter().find(|(known, _)| *known == name) else {
        let message = format!("is \"{}\", which is unknown", excerpt(name));
        let remedy = "use read, write, flush, delete, truncate or open";
        return Err(Fault::new("op", message, remedy));
    };
    let pattern = parse_read_pattern(fields.text("pattern")?).map_err(|text| {
        let (message, remedy) = text
            .split_once("; ")
            .unwrap_or((&text, "correct the value"));
        Fault::new("pattern", excerpt(message), remedy)
    })?;
    let client = fields.text("client")?;
    let directory = match context.directories {
        true => fields.number("directory")?,
        false => 0,
    };
    fields.end()?;
    if op.moves_data() && length == 0 {
        return Err(Fault::new("length", "is 0", "remove the line"));
    }
    let Some(volume) = context.volumes.index(volume, "volume")? else {
        return Ok(None);
    };
    let client = Some(context.client(client));
    let record = Record {
        extent: Extent::Block(block),
        pattern: Some(pattern),
        client,
        directory,
        ..context.record(volume, time_ps, *op, (offset, length))
    };
    checked(record, "length")
}

pub(super) fn write(line: &mut Vec<u8>, record: &Record, written: &Written<'_>) -> io::Result<()> {
    let block = match record.extent {
        Extent::Block(block) => block,
        Extent::Volume => 0,
    };
    let op = OPS.iter().find(|(_, op)| *op == record.op);
    let pattern = match record.pattern {
        Some(Pattern::Sequential) => "sequential",
        Some(Pattern::Random) => "random",
        _ => "none",
    };
    writeln!(
        line,
        "{},{},{block},{},{},{},{pattern},{},{}",
        record.arrival.as_ps() / 1000,
        written.volume,
        record.offset,
        record.length,
        op.map_or("", |(name, _)| name),
        written.client,
        record.directory,
    )
}
