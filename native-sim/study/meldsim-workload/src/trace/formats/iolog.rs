//! fio's iologs, versions 2 and 3: what `write_iolog` writes.

use std::io::{self, Write};

use super::{Context, Written, checked};
use crate::error::Fault;
use crate::trace::record::{Op, Record};
use crate::trace::text::{Fields, Separator};
use meldsim::profile::excerpt;

pub(super) const HEADER: &str = "fio version 3 iolog\n";
/// What version 2 waits in.
const PS_PER_US: u128 = 1_000_000;

/// The version that a first line names.
pub(super) fn version(line: &str) -> Option<u32> {
    let version = line.strip_prefix("fio version ")?.strip_suffix(" iolog")?;
    version.parse().ok()
}

impl Context {
    /// Whether a line names the version; lines after it are of that.
    pub(super) fn take_version(&mut self, line: &str) -> bool {
        let version = version(line).filter(|version| [2, 3].contains(version));
        if let Some(version) = version {
            self.waited_ps = (version == 2).then_some(0);
        }
        version.is_some()
    }
}

/// `[timestamp] filename action [offset length]`.
pub(super) fn parse(line: &str, context: &mut Context) -> Result<Option<Record>, Fault> {
    if let Some(version) = version(line) {
        let message = format!("is {version}, which is unknown");
        return Err(Fault::new(
            "version",
            message,
            "write it with fio 1.17 or later: version 2 or 3",
        ));
    }
    let mut fields = Fields::new(line, Separator::Blanks);
    let time_ps = match context.waited_ps {
        Some(waited_ps) => waited_ps,
        None => context.clock.read("timestamp", fields.text("timestamp")?)?,
    };
    let file = fields.text("filename")?;
    let op = match fields.text("action")? {
        "read" => Op::Read,
        "write" => Op::Write,
        "trim" => Op::Trim,
        "sync" | "datasync" | "sync_file_range" | "syncfs" => Op::Flush,
        "wait" => {
            let waits_us = u128::from(fields.number("offset")?);
            if let Some(waited_ps) = &mut context.waited_ps {
                *waited_ps += waits_us * PS_PER_US;
            }
            return context.other();
        }
        "add" | "open" | "close" | "unlink" => return context.other(),
        other => {
            let message = format!("is \"{}\", which is unknown", excerpt(other));
            let remedy = "use read, write, trim, sync, datasync, wait, add, open or close";
            return Err(Fault::new("action", message, remedy));
        }
    };
    let range = match op {
        Op::Flush => (0, 0),
        _ => (fields.number("offset")?, fields.number("length")?),
    };
    if op != Op::Flush {
        fields.end()?;
    }
    let Some(volume) = context.volumes.index(file, "filename")? else {
        return Ok(None);
    };
    checked(context.record(volume, time_ps, op, range), "length")
}

pub(super) fn write(line: &mut Vec<u8>, record: &Record, written: &Written<'_>) -> io::Result<()> {
    let action = match record.op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        _ => "datasync",
    };
    if written.is_new_volume {
        writeln!(line, "0 {0} add\n0 {0} open", written.volume)?;
    }
    let us = u128::from(record.arrival.as_ps()) / PS_PER_US;
    writeln!(
        line,
        "{us} {} {action} {} {}",
        written.volume, record.offset, record.length
    )
}
