//! hdfs-meld's block traces, versions 1 and 2: one line for each request of a block file on a DataNode's volume.
//!
//! ```text
//! # meld-trace 2
//! time_ns,volume,block,offset,length,op,pattern,client
//! 1000,vol0,1073741825,0,65536,read,sequential,client
//! ```
//!
//! `time_ns` counts from any moment; `volume` names a volume, without commas; `block` is the block's identifier; `offset` and
//! `length` are bytes of the block; `op` is `read`, `write`, `flush` or `delete` (the last two with offset and length 0),
//! or, since version 2, `truncate` (the offset is the block's new length) or `open` (somebody got the block's file and reads it
//! unseen); `pattern` is `sequential`, `random` or `none`; `client` says for whom, such as `client`, `replication`, `balancer` or
//! `scanner`, and is not needed to replay. Lines that begin with `#` are comments.

use super::error::Fault;
use super::fields::{Fields, Separator, excerpt};
use super::reader::{RawRecord, Volumes};
use super::{Extent, Op};
use crate::workload::job::parse_read_pattern;

/// The two lines with which a block trace of this version begins.
pub const HEADER: &str = "# meld-trace 2\ntime_ns,volume,block,offset,length,op,pattern,client\n";

/// What the first line begins with.
pub(super) const MAGIC: &str = "# meld-trace ";
/// Versions that can be read. What 1 says, 2 says in the same words.
pub(super) const VERSIONS: [&str; 2] = ["1", "2"];
pub(super) const COLUMNS: &str = "time_ns,volume,block,offset,length,op,pattern,client";

pub(super) fn parse(line: &str, volumes: &mut Volumes) -> Result<RawRecord, Fault> {
    let mut fields = Fields::new(line, Separator::Comma);
    let ticks = fields.number("time_ns")?;
    let volume = fields.text("volume")?;
    let block = fields.number("block")?;
    let offset = fields.number("offset")?;
    let length = fields.number("length")?;
    let op = match fields.text("op")? {
        "read" => Op::Read,
        "write" => Op::Write,
        "flush" => Op::Flush,
        "delete" => Op::Delete,
        "truncate" => Op::Truncate,
        "open" => Op::Open,
        other => {
            let message = format!("is \"{}\", which is unknown", excerpt(other));
            return Err(Fault::new(
                "op",
                message,
                "use read, write, flush, delete, truncate or open",
            ));
        }
    };
    let pattern = parse_read_pattern(fields.text("pattern")?).map_err(|text| {
        let (message, remedy) = text
            .split_once("; ")
            .unwrap_or((&text, "correct the value"));
        Fault::new("pattern", excerpt(message), remedy)
    })?;
    fields.text("client")?;
    fields.end()?;
    Ok(RawRecord {
        ticks,
        ps_per_tick: 1_000,
        volume: volumes.index(volume)?,
        extent: Extent::Block(block),
        offset,
        length,
        length_field: "length",
        op,
        pattern: Some(pattern),
    })
}
