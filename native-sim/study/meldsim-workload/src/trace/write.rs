//! Writes records in any of the formats.

use std::collections::HashMap;
use std::io::{self, Write};

use super::formats::{TraceFormat, Written};
use super::place::SLOT_BYTES;
use super::record::{Extent, Op, Record};

/// Written at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// What a format has no words for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Records left out.
    pub records: u64,
    /// Requests made larger until they began and ended at a sector.
    pub widened: u64,
}

/// Writes a trace record by record. Blocks of HDFS become ranges of a volume, 1 GiB for each, where the format has no blocks; and
/// each GiB of a volume becomes a block where it has nothing else.
#[derive(Debug)]
pub struct TraceWriter<W> {
    out: W,
    format: TraceFormat,
    buffer: Vec<u8>,
    number: u64,
    /// Whether something of the volume was written.
    seen: Vec<bool>,
    /// Which GiB a block has. Only looked up, so that its order is never seen.
    slots: HashMap<(usize, u64), u64>,
    lost: Lost,
}

impl<W: Write> TraceWriter<W> {
    /// Writes what stands before the first record.
    pub fn new(out: W, format: TraceFormat) -> TraceWriter<W> {
        TraceWriter {
            out,
            format,
            buffer: format.header().as_bytes().to_vec(),
            number: 0,
            seen: Vec::new(),
            slots: HashMap::new(),
            lost: Lost::default(),
        }
    }

    /// Writes a record of the volume and the client of these names.
    ///
    /// # Errors
    ///
    /// What keeps it from being written.
    pub fn write(&mut self, record: &Record, volume: &str, client: &str) -> io::Result<()> {
        let written = match self.format {
            TraceFormat::Meld => self.write_blocks(record, volume, client)?,
            _ => match self.on_volume(record) {
                Some(record) => self.write_range(&record, volume, client)?,
                None => false,
            },
        };
        self.lost.records += u64::from(!written);
        if self.buffer.len() >= BUFFER_BYTES {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Writes what is still to be written, and says what was lost.
    ///
    /// # Errors
    ///
    /// What keeps it from being written.
    pub fn finish(mut self) -> io::Result<Lost> {
        self.out.write_all(&self.buffer)?;
        self.out.flush()?;
        Ok(self.lost)
    }

    /// A record as one of blocks; false if it cannot be.
    fn write_blocks(&mut self, record: &Record, volume: &str, client: &str) -> io::Result<bool> {
        match (record.extent, record.op) {
            (Extent::Block(_), _) | (_, Op::Flush) => self.push(record, volume, client)?,
            // No device takes a larger request, and each GiB of it would be a record.
            (_, Op::Read | Op::Write) if record.length <= SLOT_BYTES => {
                let (mut offset, end) = (record.offset, record.offset + record.length);
                while offset < end {
                    let block = offset / SLOT_BYTES;
                    let length = (end - offset).min(SLOT_BYTES - offset % SLOT_BYTES);
                    let part = Record {
                        extent: Extent::Block(block),
                        offset: offset % SLOT_BYTES,
                        length,
                        ..*record
                    };
                    self.push(&part, volume, client)?;
                    offset += length;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A record as one of the volume; `None` if it asks for nothing there.
    fn on_volume(&mut self, record: &Record) -> Option<Record> {
        let Extent::Block(block) = record.extent else {
            return Some(*record);
        };
        let next = self.slots.len() as u64;
        let slot = *self.slots.entry((record.volume, block)).or_insert(next);
        let first = slot * SLOT_BYTES;
        let (op, offset, length) = match record.op {
            Op::Delete => (Op::Trim, 0, SLOT_BYTES),
            Op::Truncate => (
                Op::Trim,
                record.offset,
                SLOT_BYTES.saturating_sub(record.offset),
            ),
            Op::Open => return None,
            op => (op, record.offset, record.length),
        };
        Some(Record {
            extent: Extent::Volume,
            offset: first.checked_add(offset)?,
            length,
            op,
            ..*record
        })
    }

    /// Writes a record of the volume; false if the format has no words for it.
    fn write_range(&mut self, record: &Record, volume: &str, client: &str) -> io::Result<bool> {
        let alignment = self.format.alignment_bytes();
        let start = record.offset / alignment * alignment;
        let end = record.offset.saturating_add(record.length);
        let Some(end) = end.checked_next_multiple_of(alignment) else {
            return Ok(false);
        };
        let fits = !self.format.is_binary() || u32::try_from(end - start).is_ok();
        if !self.format.has(record.op) || !fits {
            return Ok(false);
        }
        let length = if record.op == Op::Flush {
            0
        } else {
            end - start
        };
        self.lost.widened += u64::from(record.op != Op::Flush && length != record.length);
        let record = Record {
            offset: start,
            length,
            ..*record
        };
        self.push(&record, volume, client)?;
        Ok(true)
    }

    fn push(&mut self, record: &Record, volume: &str, client: &str) -> io::Result<()> {
        self.number += 1;
        if self.seen.len() <= record.volume {
            self.seen.resize(record.volume + 1, false);
        }
        let written = Written {
            volume,
            client,
            number: self.number,
            is_new_volume: !std::mem::replace(&mut self.seen[record.volume], true),
        };
        self.format.write(&mut self.buffer, record, &written)
    }
}
