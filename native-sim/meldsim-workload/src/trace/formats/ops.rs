//! How the columns of a trace tell reads from writes.

use crate::error::Fault;
use crate::trace::record::Op;
use crate::trace::text::MEND;
use meldsim::profile::excerpt;

/// How reads and writes are told apart.
#[derive(Clone, Copy)]
pub(super) enum Ops {
    /// Names, written as these, or SCSI's operation codes. Blank: not known.
    Names([&'static str; 2]),
    /// 1 reads, 0 writes.
    Reads,
    /// 0 reads, 1 writes.
    Writes,
    /// The lowest bit reads.
    Flags,
}

impl Ops {
    pub(super) fn parse(self, field: &'static str, text: &str) -> Result<Option<Op>, Fault> {
        let op = match (self, text) {
            (Ops::Names(_), "") => return Ok(None),
            (Ops::Reads, "1") | (Ops::Writes, "0") => Some(Op::Read),
            (Ops::Reads, "0") | (Ops::Writes, "1") => Some(Op::Write),
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
            Ops::Writes => "is neither 0 (read) nor 1 (write)",
            Ops::Flags => "is not a hexadecimal number",
        };
        let message = || format!("is \"{}\", which {which}", excerpt(text));
        op.map(Some)
            .ok_or_else(|| Fault::new(field, message(), MEND))
    }

    pub(super) fn name(self, op: Op) -> &'static str {
        let reads = op == Op::Read;
        match self {
            Ops::Names([read, write]) => {
                if reads {
                    read
                } else {
                    write
                }
            }
            Ops::Reads | Ops::Flags => {
                if reads {
                    "1"
                } else {
                    "0"
                }
            }
            Ops::Writes => {
                if reads {
                    "0"
                } else {
                    "1"
                }
            }
        }
    }
}

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
