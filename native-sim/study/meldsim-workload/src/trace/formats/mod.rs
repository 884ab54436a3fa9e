//! The formats of traces: what tells each from the others, and how a line of it, or what stands for one, becomes a record.
//!
//! | format | a line | who has it |
//! | --- | --- | --- |
//! | `mqsim` | `arrival-ns device first-sector sectors op`, op 0 writes, 1 reads | MQSim |
//! | `disksim` | `arrival-ms device block blocks flags`, bit 0 of the flags reads | DiskSim |
//! | `msr` | `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, in 100 ns and bytes | Microsoft Research Cambridge |
//! | `alibaba` | `device_id,opcode,offset,length,timestamp`, in us and bytes | Alibaba 2020 |
//! | `tencent` | `Timestamp,Offset,Size,IOType,VolumeID`, in s and sectors; 0 reads | Tencent, SNIA 27917 |
//! | `systor` | `Timestamp,Response,IOType,LUN,Offset,Size`, in s and bytes | SYSTOR '17, SNIA 4964 |
//! | `spc` | `ASU,LBA,Size,Opcode,Timestamp`, in blocks of 512 B, bytes and s | Storage Performance Council, UMass |
//! | `fiu` | `ts pid process lba size op major minor md5`, in ns and sectors | FIU, SNIA 390 and 391 |
//! | `fio` | `[timestamp] filename action [offset length]` below `fio version 2 iolog` or `3`, in us and bytes | fio |
//! | `blkparse` | what `blkparse` prints | Linux |
//! | `blktrace` | records of 48 bytes, what `blktrace` writes | Linux |
//! | `ftrace` | events `block_rq_issue` and its kin, as `trace`, `trace-cmd report` and `perf script` print them | Linux |
//! | `biosnoop` | `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)` | bcc |
//! | `fiolog` | `time, value, data direction, block size, offset`, in ms and bytes | fio |
//! | `etw` | `DiskRead, TimeStamp, ..., ByteOffset, IOSize, ElapsedTime, DiskNum`, in us and bytes | Windows, SNIA 158 |
//! | `vscsi` | records of 32 or 40 bytes, in us | CloudPhysics |
//! | `oraclegeneral` | records of 24 bytes: time in s, object, size, next access | libCacheSim |
//! | `meld` | `time_ns,volume,block,offset,length,op,pattern,client[,directory]` below `# meld-trace 3` | hdfs-meld |
//!
//! A sector is 512 B. A table of one's own is described by its [`Columns`].

mod block_layer;
mod columns;
mod iolog;
mod meld;
mod ops;
mod records;
mod table;

use std::io::{self, BufRead};
use std::str::FromStr;

use super::record::{Op, Record};
use super::text::Lines;
use super::time::{Clock, TimeUnit};
use super::volumes::Volumes;
use crate::error::{Fault, TraceError};
use crate::quantity::choice;
use columns::Layout;
use table::Table;

pub(super) use block_layer::{Action, byte_order};
pub use meld::HEADER;
pub(super) use meld::{MAGIC, read_header};
pub(super) use records::{is_oracle, vscsi_version};
pub use table::Columns;

/// The formats of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceFormat {
    /// MQSim's.
    Mqsim,
    /// DiskSim's, in text.
    Disksim,
    /// Microsoft Research Cambridge's.
    Msr,
    /// Alibaba's of 2020.
    Alibaba,
    /// Tencent's.
    Tencent,
    /// That of the SYSTOR '17 traces.
    Systor,
    /// The Storage Performance Council's.
    Spc,
    /// Florida International University's.
    Fiu,
    /// fio's iologs.
    Fio,
    /// What blkparse prints.
    Blkparse,
    /// What blktrace writes.
    Blktrace,
    /// Linux's tracepoints of block devices.
    Ftrace,
    /// What bcc's biosnoop prints.
    Biosnoop,
    /// fio's logs of latencies, with offsets.
    Fiolog,
    /// Windows' events, as xperf prints them.
    Etw,
    /// CloudPhysics'.
    Vscsi,
    /// libCacheSim's.
    OracleGeneral,
    /// hdfs-meld's.
    Meld,
    /// A table of one's own, whose columns are described.
    Described,
}

/// In the order in which they are tried.
const NAMES: [(&str, TraceFormat); 18] = [
    ("mqsim", TraceFormat::Mqsim),
    ("disksim", TraceFormat::Disksim),
    ("msr", TraceFormat::Msr),
    ("alibaba", TraceFormat::Alibaba),
    ("tencent", TraceFormat::Tencent),
    ("systor", TraceFormat::Systor),
    ("spc", TraceFormat::Spc),
    ("fiu", TraceFormat::Fiu),
    ("fio", TraceFormat::Fio),
    ("blkparse", TraceFormat::Blkparse),
    ("blktrace", TraceFormat::Blktrace),
    ("ftrace", TraceFormat::Ftrace),
    ("biosnoop", TraceFormat::Biosnoop),
    ("fiolog", TraceFormat::Fiolog),
    ("etw", TraceFormat::Etw),
    ("vscsi", TraceFormat::Vscsi),
    ("oraclegeneral", TraceFormat::OracleGeneral),
    ("meld", TraceFormat::Meld),
];

impl FromStr for TraceFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<TraceFormat, String> {
        choice(text, &NAMES)
    }
}

/// What lines so far have said that counts for those to come.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub(super) clock: Clock,
    pub(super) volumes: Volumes,
    pub(super) clients: Vec<String>,
    pub(super) passed_over: PassedOver,
    /// Where a line has what, of a format with columns.
    pub(super) table: Table,
    /// Of meld: whether lines name the directory.
    directories: bool,
    /// Of fio: version 2 has no times, and waits instead.
    waited_ps: Option<u128>,
    /// Of the block layer: what counts as a request.
    pub(super) action: Action,
    /// Of blktrace: as the machine that wrote it.
    pub(super) big_endian: bool,
    /// Of vscsi.
    pub(super) vscsi_version: Option<usize>,
}

/// What a trace has besides requests that are replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassedOver {
    /// Reads and writes of no bytes.
    pub empty: u64,
    /// Lines of something else: files opened, other steps of a request, requests without a direction.
    pub others: u64,
}

impl TraceFormat {
    /// All of them.
    pub fn all() -> impl Iterator<Item = TraceFormat> {
        NAMES.iter().map(|(_, format)| *format)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        let named = NAMES.iter().find(|(_, format)| *format == self);
        named.map_or("described", |(name, _)| name)
    }

    /// What it counts time in, unless a trace is in another unit.
    pub fn time_unit(self) -> TimeUnit {
        match self {
            TraceFormat::Fio | TraceFormat::Vscsi => TimeUnit::Us,
            TraceFormat::OracleGeneral | TraceFormat::Blkparse | TraceFormat::Ftrace => TimeUnit::S,
            TraceFormat::Blktrace | TraceFormat::Meld => TimeUnit::Ns,
            other => other
                .layout()
                .map_or(TimeUnit::default(), |layout| layout.unit),
        }
    }

    /// Whether it is records of bytes, not lines of text.
    pub fn is_binary(self) -> bool {
        matches!(
            self,
            TraceFormat::Blktrace | TraceFormat::OracleGeneral | TraceFormat::Vscsi
        )
    }

    /// Whether a line looks as one of this format.
    pub(super) fn fits(self, line: &str) -> bool {
        match self {
            TraceFormat::Fio => iolog::version(line).is_some(),
            TraceFormat::Blkparse => block_layer::fits(line),
            TraceFormat::Ftrace => block_layer::event(line).is_some(),
            TraceFormat::Meld => line.starts_with(MAGIC),
            other => other.layout().is_some_and(|layout| layout.fits(line)),
        }
    }

    /// Whether one line tells it, since no other kind of file has such.
    pub(super) fn is_unmistakable(self) -> bool {
        matches!(
            self,
            TraceFormat::Blkparse | TraceFormat::Ftrace | TraceFormat::Etw
        )
    }

    /// Whether a line has no record: a comment, or the columns' names, which may stand wherever files were joined.
    pub(super) fn is_aside(self, line: &str, context: &mut Context) -> bool {
        line.trim().is_empty()
            || line.starts_with('#')
            || match self {
                TraceFormat::Meld => context.take_columns(line),
                TraceFormat::Fio => context.take_version(line),
                _ => context.table.is_header(line),
            }
    }

    /// The record of a line; `None` if it has none that is read.
    pub(super) fn parse(self, line: &str, context: &mut Context) -> Result<Option<Record>, Fault> {
        let record = match self {
            TraceFormat::Meld => meld::parse(line, context),
            TraceFormat::Fio => iolog::parse(line, context),
            TraceFormat::Blkparse => block_layer::parse(line, context),
            TraceFormat::Ftrace => block_layer::parse_event(line, context),
            _ => table::parse(line, context),
        };
        let empty = |record: &Record| record.op.moves_data() && record.length == 0;
        if self != TraceFormat::Meld && matches!(&record, Ok(Some(record)) if empty(record)) {
            context.passed_over.empty += 1;
            return Ok(None);
        }
        record
    }

    /// The next record of a binary trace; `None` after the last.
    pub(super) fn read<R: BufRead>(
        self,
        lines: &mut Lines<R>,
        context: &mut Context,
    ) -> Result<Option<Record>, TraceError> {
        match self {
            TraceFormat::Blktrace => block_layer::read(lines, context),
            _ => records::read(lines, context),
        }
    }

    /// What stands before the first record.
    pub(super) fn header(self) -> &'static str {
        match self {
            TraceFormat::Meld => HEADER,
            TraceFormat::Fio => iolog::HEADER,
            other => other.layout().map_or("", Layout::header),
        }
    }

    /// Whether it can say what a record of a volume asks for.
    pub(super) fn has(self, op: Op) -> bool {
        match op {
            Op::Read => true,
            Op::Write => self != TraceFormat::OracleGeneral,
            Op::Flush | Op::Trim => {
                matches!(
                    self,
                    TraceFormat::Fio
                        | TraceFormat::Blkparse
                        | TraceFormat::Blktrace
                        | TraceFormat::Ftrace
                )
            }
            Op::Delete | Op::Truncate | Op::Open => false,
        }
    }

    /// The bytes of which its offsets and lengths are multiples.
    pub(super) fn alignment_bytes(self) -> u64 {
        match self {
            TraceFormat::Fio | TraceFormat::Meld => 1,
            TraceFormat::Blkparse
            | TraceFormat::Blktrace
            | TraceFormat::Ftrace
            | TraceFormat::Vscsi
            | TraceFormat::OracleGeneral => SECTOR_BYTES,
            other => other.layout().map_or(1, Layout::alignment_bytes),
        }
    }

    /// Appends a record of a volume that this format [has](TraceFormat::has), `number`th of its trace.
    pub(super) fn write(
        self,
        out: &mut Vec<u8>,
        record: &Record,
        written: &Written<'_>,
    ) -> io::Result<()> {
        match self {
            TraceFormat::Blktrace => block_layer::write(out, record, written),
            TraceFormat::OracleGeneral => records::write(out, record, false),
            TraceFormat::Fio => iolog::write(out, record, written),
            TraceFormat::Blkparse => block_layer::print(out, record, written),
            TraceFormat::Ftrace => block_layer::print_event(out, record, written),
            TraceFormat::Vscsi => records::write(out, record, true),
            TraceFormat::Meld => meld::write(out, record, written),
            other => match other.layout() {
                Some(layout) => layout.write(out, record, written),
                None => Ok(()),
            },
        }
    }
}

/// What a record is written with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written<'a> {
    pub(super) volume: &'a str,
    /// Of the record's client.
    pub(super) client: &'a str,
    /// Of the record, from 1.
    pub(super) number: u64,
    /// Whether no record of the volume was written before.
    pub(super) is_new_volume: bool,
}

impl Written<'_> {
    /// The volume as two numbers, as `8.0` is.
    fn device(&self, record: &Record) -> (u32, u32) {
        let numbers = self.volume.split_once('.');
        let numbers = numbers.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        // The major number of block devices that have none of their own.
        numbers.unwrap_or((259, record.volume as u32))
    }

    /// The volume as a number.
    fn volume_number(&self, record: &Record) -> u64 {
        self.volume.parse().unwrap_or(record.volume as u64)
    }
}

/// What block devices count in.
const SECTOR_BYTES: u64 = 512;

impl Context {
    /// A record of a volume, its time in picoseconds of the trace's own.
    fn record(
        &mut self,
        volume: usize,
        time_ps: u128,
        op: Op,
        (offset, length): (u64, u64),
    ) -> Record {
        Record {
            arrival: self.clock.arrival(time_ps),
            volume,
            extent: super::record::Extent::Volume,
            offset,
            length,
            op,
            pattern: None,
            client: None,
            directory: 0,
        }
    }

    fn other(&mut self) -> Result<Option<Record>, Fault> {
        self.passed_over.others += 1;
        Ok(None)
    }
}

/// So many units of `unit_bytes`.
fn in_bytes(field: &'static str, count: u64, unit_bytes: u64) -> Result<u64, Fault> {
    count.checked_mul(unit_bytes).ok_or_else(|| {
        let message = format!("is {count}, which is more than 2^64 B");
        Fault::new(field, message, super::text::MEND)
    })
}

/// Refuses a range that ends where no device has an address.
fn checked(record: Record, field: &'static str) -> Result<Option<Record>, Fault> {
    match record.offset.checked_add(record.length) {
        Some(_) => Ok(Some(record)),
        None => Err(Fault::new(field, "ends beyond 2^64 B", super::text::MEND)),
    }
}
