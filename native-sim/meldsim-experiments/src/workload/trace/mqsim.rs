//! MQSim's traces: `arrival-ns device first-sector sectors op`, separated by blanks.

use super::error::Fault;
use super::fields::{Fields, Separator};
use super::reader::{RawRecord, Volumes};
use super::{Extent, Op};

const SECTOR_BYTES: u64 = 512;

pub(super) fn parse(line: &str, volumes: &mut Volumes) -> Result<RawRecord, Fault> {
    let mut fields = Fields::new(line, Separator::Blanks);
    let arrival = fields.number("arrival time")?;
    // The simulator has one device, and does not look at the number either.
    fields.number("device")?;
    let sector = fields.number("first sector")?;
    let sectors = fields.number("sectors")?;
    let op = match fields.text("op")? {
        "0" => Op::Write,
        "1" => Op::Read,
        other => {
            let message = format!("is \"{other}\", which is neither 0 (write) nor 1 (read)");
            return Err(Fault::new("op", message, "mend or remove the line"));
        }
    };
    fields.end()?;
    let bytes = |sectors: u64, field| {
        let too_many = || {
            Fault::new(
                field,
                format!("is {sectors}, which is more than 2^64 B"),
                "mend or remove the line",
            )
        };
        sectors.checked_mul(SECTOR_BYTES).ok_or_else(too_many)
    };
    Ok(RawRecord {
        ticks: arrival,
        ps_per_tick: 1_000,
        volume: volumes.index("trace")?,
        extent: Extent::Volume,
        offset: bytes(sector, "first sector")?,
        length: bytes(sectors, "sectors")?,
        length_field: "sectors",
        op,
        pattern: None,
    })
}
