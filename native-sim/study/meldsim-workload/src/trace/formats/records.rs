//! Traces of records of one size, with the lowest byte first: libCacheSim's oracleGeneral, which are accesses to objects, and
//! CloudPhysics' vscsi of virtual disks, in two versions.

use std::io::{self, BufRead, Write};

use super::{Context, SECTOR_BYTES, checked, in_bytes};
use crate::error::TraceError;
use crate::trace::record::{Op, Record};
use crate::trace::text::Lines;

/// Bytes of a record, and where it has what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    bytes: usize,
    /// And its bytes.
    time: (usize, usize),
    sector: usize,
    length: usize,
    /// SCSI's code, before the version; without one each record reads.
    command: Option<usize>,
}

impl Places {
    const fn new(
        bytes: usize,
        time: (usize, usize),
        sector: usize,
        length: usize,
        command: Option<usize>,
    ) -> Places {
        Places {
            bytes,
            time,
            sector,
            length,
            command,
        }
    }
}

/// Time in seconds, object, its size, the number of the next access to it.
const ORACLE: Places = Places::new(24, (0, 4), 4, 12, None);
const NEXT: usize = 16;
/// Of version 1 and 2.
const VSCSI: [Places; 2] = [
    Places::new(32, (24, 8), 16, 4, Some(12)),
    Places::new(40, (24, 8), 16, 8, Some(0)),
];

fn part(record: &[u8], at: usize, bytes: usize) -> u64 {
    let part = record[at..at + bytes].iter().rev();
    part.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Whether a file begins with accesses: times that do not go back, sizes, and next accesses that come later or never.
pub(in crate::trace) fn is_oracle(head: &[u8]) -> bool {
    let mut last = 0;
    let mut records = head.chunks_exact(ORACLE.bytes).take(64).enumerate();
    head.len() >= ORACLE.bytes
        && records.all(|(number, record)| {
            let (time, next) = (part(record, 0, 4), part(record, NEXT, 8) as i64);
            let fits = time >= last && (next == -1 || next > number as i64);
            last = time;
            fits && part(record, ORACLE.length, 4) <= 1 << 30
        })
}

/// Which version of vscsi a file is of, if it is of one: its first records say so.
pub(in crate::trace) fn vscsi_version(head: &[u8]) -> Option<usize> {
    let is_of = |version: &usize| {
        let places = &VSCSI[version - 1];
        let says = |record: &[u8]| {
            let command = places.command.unwrap_or_default();
            part(record, command, 2) <= 0xFF && part(record, command + 2, 2) >> 8 == *version as u64
        };
        head.len() >= places.bytes && head.chunks_exact(places.bytes).take(16).all(says)
    };
    [2, 1].into_iter().find(is_of)
}

pub(super) fn read<R: BufRead>(
    lines: &mut Lines<R>,
    context: &mut Context,
) -> Result<Option<Record>, TraceError> {
    let places = match context.vscsi_version {
        None => ORACLE,
        Some(version) => VSCSI[version - 1],
    };
    let mut record = [0; 40];
    while lines.read_bytes(&mut record[..places.bytes])? {
        let field = |at, bytes| part(&record, at, bytes);
        // Of 6, 10, 12 and 16 bytes.
        let op = match places.command.map(|at| field(at, 2)) {
            None | Some(0x08 | 0x28 | 0xA8 | 0x88) => Op::Read,
            Some(0x0A | 0x2A | 0xAA | 0x8A) => Op::Write,
            Some(0x35 | 0x91) => Op::Flush,
            Some(_) => {
                context.passed_over.others += 1;
                continue;
            }
        };
        let length = field(places.length, 4);
        if op.moves_data() && length == 0 {
            context.passed_over.empty += 1;
            continue;
        }
        let volume = context.volumes.index("trace", "volume");
        let Some(volume) = volume.map_err(|fault| lines.fault(fault))? else {
            continue;
        };
        let time_ps =
            u128::from(field(places.time.0, places.time.1)) * u128::from(context.clock.unit.ps());
        let mut sector = field(places.sector, 8);
        if places.command.is_none() {
            // Objects of a block trace are named by their first sector; what is no address is a hash of a name.
            sector %= u64::MAX / SECTOR_BYTES - (1 << 32);
        }
        let record = in_bytes("sector", sector, SECTOR_BYTES).and_then(|offset| {
            let range = match op {
                Op::Flush => (0, 0),
                _ => (offset, length),
            };
            checked(context.record(volume, time_ps, op, range), "length")
        });
        return record.map_err(|fault| lines.fault(fault));
    }
    Ok(None)
}

/// In oracleGeneral, whose next access is not known to who writes record by record; or in version 1 of vscsi.
pub(super) fn write(out: &mut Vec<u8>, record: &Record, is_vscsi: bool) -> io::Result<()> {
    let (places, unit_ps) = match is_vscsi {
        true => (VSCSI[0], 1_000_000),
        false => (ORACLE, 1_000_000_000_000),
    };
    let mut bytes = [0; 40];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    let time = (record.arrival.as_ps() / unit_ps).to_le_bytes();
    put(places.time.0, &time[..places.time.1]);
    put(places.sector, &(record.offset / SECTOR_BYTES).to_le_bytes());
    put(places.length, &(record.length as u32).to_le_bytes());
    match places.command {
        None => put(NEXT, &(-1i64).to_le_bytes()),
        Some(at) => put(
            at,
            &[if record.op == Op::Read { 0x28 } else { 0x2A }, 0, 0, 1],
        ),
    }
    out.write_all(&bytes[..places.bytes])
}
