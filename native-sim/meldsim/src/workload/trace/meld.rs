//! hdfs-meld's block traces, version 1: one line for each request of a block file on a DataNode's volume.
//!
//! ```text
//! # meld-trace 1
//! time_ns,volume,block,offset,length,op,pattern,client
//! 1000,vol0,1073741825,0,65536,read,sequential,client
//! ```
//!
//! `time_ns` counts from any moment; `volume` names a volume, without commas; `block` is the block's identifier; `offset` and
//! `length` are bytes of the block; `op` is `read`, `write`, `flush` or `delete` (the last two with offset and length 0);
//! `pattern` is `sequential`, `random` or `none`; `client` says for whom, such as `client`, `replication`, `balancer` or
//! `scanner`, and is not needed to replay. Lines that begin with `#` are comments.

use super::error::Fault;
use super::fields::{Fields, Separator, excerpt};
use super::reader::{RawRecord, Volumes};
use super::{Extent, Op};
use crate::workload::job::parse_read_pattern;

/// The two lines with which a block trace of this version begins.
pub const HEADER: &str = "# meld-trace 1\ntime_ns,volume,block,offset,length,op,pattern,client\n";

/// What the first line begins with.
pub(super) const MAGIC: &str = "# meld-trace ";
pub(super) const VERSION: &str = "1";
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
        other => {
            let message = format!("is \"{}\", which is unknown", excerpt(other));
            return Err(Fault::new(
                "op",
                message,
                "use read, write, flush or delete",
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
