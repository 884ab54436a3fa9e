//! libCacheSim's oracleGeneral: accesses to objects, in records of 24 bytes, with the lowest byte first.

use std::io::{self, BufRead, Write};

use super::{Context, SECTOR_BYTES};
use crate::error::{Fault, TraceError};
use crate::trace::record::{Op, Record};
use crate::trace::text::Lines;

/// Time in seconds, object, its size, the number of the next access to it.
const RECORD_BYTES: usize = 24;

fn fields(record: &[u8; RECORD_BYTES]) -> (u32, u64, u32, i64) {
    let part = |at: usize, bytes: usize| {
        let part = record[at..at + bytes].iter().rev();
        part.fold(0u64, |number, byte| number << 8 | u64::from(*byte))
    };
    (
        part(0, 4) as u32,
        part(4, 8),
        part(12, 4) as u32,
        part(16, 8) as i64,
    )
}

/// Whether a file begins with such records: times that do not go back, sizes, and next accesses that come later or never.
pub(in crate::trace) fn fits(head: &[u8]) -> bool {
    let mut last = 0;
    let mut records = 0;
    for (number, record) in head.chunks_exact(RECORD_BYTES).take(64).enumerate() {
        let Ok(record) = record.try_into() else {
            return false;
        };
        let (time, _, size, next) = fields(record);
        if time < last || size > 1 << 30 || !(next == -1 || next > number as i64) {
            return false;
        }
        (last, records) = (time, records + 1);
    }
    records > 0
}

/// An access is a read: the format has no other. Objects of a block trace are named by their first sector.
pub(super) fn read<R: BufRead>(
    lines: &mut Lines<R>,
    context: &mut Context,
) -> Result<Option<Record>, TraceError> {
    let mut record = [0; RECORD_BYTES];
    loop {
        if !lines.read_bytes(&mut record)? {
            return Ok(None);
        }
        let (time, object, size, _) = fields(&record);
        if size == 0 {
            context.passed_over.empty += 1;
            continue;
        }
        let fault = |fault: Fault| lines.fault(fault);
        let ends = u64::MAX / SECTOR_BYTES - (1 << 32);
        // What is no address is a hash of a name.
        let offset = object % ends * SECTOR_BYTES;
        let Some(volume) = context.volumes.index("trace", "volume").map_err(fault)? else {
            continue;
        };
        let time_ps = u128::from(time) * u128::from(context.clock.unit.ps());
        let range = (offset, u64::from(size));
        return Ok(Some(context.record(volume, time_ps, Op::Read, range)));
    }
}

/// The next access to an object is not known to who writes line by line.
pub(super) fn write(out: &mut Vec<u8>, record: &Record) -> io::Result<()> {
    let seconds = record.arrival.as_ps() / 1_000_000_000_000;
    out.write_all(&(seconds as u32).to_le_bytes())?;
    out.write_all(&(record.offset / SECTOR_BYTES).to_le_bytes())?;
    out.write_all(&(record.length as u32).to_le_bytes())?;
    out.write_all(&(-1i64).to_le_bytes())
}
