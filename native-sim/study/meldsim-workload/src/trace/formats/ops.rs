//! How the columns of a trace tell reads from writes.

use super::block_layer::op as letters;
use crate::error::Fault;
use crate::trace::record::Op;
use crate::trace::text::{MEND, is_digits};
use meldsim::profile::excerpt;

/// How reads and writes are told apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ops {
    /// Names, written as these, or SCSI's operation codes. Blank: not known.
    Names([&'static str; 2]),
    /// 1 reads, 0 writes.
    Reads,
    /// 0 reads, 1 writes.
    Writes,
    /// The same, and 2 trims.
    Directions,
    /// The lowest bit reads.
    Flags,
    /// Letters as the block layer has them, such as `WS`; others are no request.
    Letters,
    /// Windows' events; others are no request.
    Events,
    /// Whatever tells that it is one.
    Any,
}

impl Ops {
    pub(super) fn parse(self, field: &'static str, text: &str) -> Result<Option<Op>, Fault> {
        let op = match (self, text) {
            (Ops::Names(_), "") => return Ok(None),
            (Ops::Reads, "1") | (Ops::Writes, "0") => Some(Op::Read),
            (Ops::Reads, "0") | (Ops::Writes, "1") => Some(Op::Write),
            (Ops::Letters | Ops::Events, _) => return Ok(self.known(text)),
            (Ops::Any | Ops::Directions, _) => self.known(text),
            (Ops::Flags, _) => u64::from_str_radix(text, 16)
                .ok()
                .map(|flags| match flags & 1 {
                    1 => Op::Read,
                    _ => Op::Write,
                }),
            _ => named(text),
        };
        let which = match self {
            Ops::Names(_) => "is neither Read nor Write",
            Ops::Reads => "is neither 0 (write) nor 1 (read)",
            Ops::Writes | Ops::Directions => "is neither 0 (read) nor 1 (write)",
            Ops::Flags => "is not a hexadecimal number",
            _ => "no one knows: name those of reads and writes, such as op:0/1",
        };
        let message = || format!("is \"{}\", which {which}", excerpt(text));
        op.map(Some)
            .ok_or_else(|| Fault::new(field, message(), MEND))
    }

    /// What a text asks for, if it looks as one of these; of numbers just that.
    pub(super) fn known(self, text: &str) -> Option<Op> {
        let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(text));
        let is_letters = text.bytes().all(|letter| b"RWDEFSMAN".contains(&letter));
        let letters = || {
            letters(text, true)
                .or(letters(text, false))
                .filter(|_| is_letters)
        };
        let is_hexadecimal = || text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match self {
            Ops::Names(_) => named(text),
            Ops::Letters => letters(),
            Ops::Events => EVENTS.contains(&text).then(|| named(&text[4..]))?,
            Ops::Any if is(&["trim", "discard", "unmap", "deallocate"]) => Some(Op::Trim),
            Ops::Any if is(&["flush", "sync", "fsync", "datasync"]) => Some(Op::Flush),
            Ops::Any => named(text).or_else(letters),
            Ops::Directions if text == "2" => Some(Op::Trim),
            Ops::Directions if text == "1" => Some(Op::Write),
            Ops::Directions | Ops::Writes => ["0", "1"].contains(&text).then_some(Op::Read),
            Ops::Reads => is_digits(text).then_some(Op::Read),
            Ops::Flags => is_hexadecimal().then_some(Op::Read),
        }
    }

    pub(super) fn name(self, op: Op) -> &'static str {
        let [read, write] = match self {
            Ops::Names(names) => names,
            Ops::Reads | Ops::Flags => ["1", "0"],
            Ops::Writes | Ops::Directions => ["0", "1"],
            Ops::Letters | Ops::Any => ["R", "W"],
            Ops::Events => EVENTS,
        };
        if op == Op::Read { read } else { write }
    }
}

const EVENTS: [&str; 2] = ["DiskRead", "DiskWrite"];

/// The operation of a name, or of SCSI's code for a read or a write of 6, 10, 12 or 16 bytes.
pub(super) fn named(text: &str) -> Option<Op> {
    const NAMES: [(Op, &[&str]); 2] = [
        (Op::Read, &["r", "read", "rs", "ra", "08", "28", "a8", "88"]),
        (Op::Write, &["w", "write", "ws", "0a", "2a", "aa", "8a"]),
    ];
    let text = text.strip_prefix("0x").unwrap_or(text);
    let is_named = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(text));
    NAMES
        .iter()
        .find(|(_, names)| is_named(names))
        .map(|(op, _)| *op)
}
