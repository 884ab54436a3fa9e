//! The traces of Microsoft Research Cambridge (Narayanan, Donnelly, Rowstron: FAST'08), as SNIA distributes them:
//! `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.

use super::error::Fault;
use super::fields::{Fields, Separator, excerpt};
use super::reader::{RawRecord, Volumes};
use super::{Extent, Op};

/// Timestamps are Windows file times: 100 ns.
const PS_PER_TICK: u64 = 100_000;

pub(super) fn parse(line: &str, volumes: &mut Volumes) -> Result<RawRecord, Fault> {
    let mut fields = Fields::new(line, Separator::Comma);
    let ticks = fields.number("Timestamp")?;
    let host = fields.text("Hostname")?;
    let disk = fields.number("DiskNumber")?;
    let op = match fields.text("Type")? {
        kind if kind.eq_ignore_ascii_case("read") => Op::Read,
        kind if kind.eq_ignore_ascii_case("write") => Op::Write,
        other => {
            let message = format!("is \"{}\", which is neither Read nor Write", excerpt(other));
            return Err(Fault::new("Type", message, "mend or remove the line"));
        }
    };
    let offset = fields.number("Offset")?;
    let length = fields.number("Size")?;
    // How long the server took: not needed, but a line without it is cut off.
    fields.number("ResponseTime")?;
    fields.end()?;
    Ok(RawRecord {
        ticks,
        ps_per_tick: PS_PER_TICK,
        volume: volumes.index_of_disk(host, disk)?,
        extent: Extent::Volume,
        offset,
        length,
        length_field: "Size",
        op,
        pattern: None,
    })
}
