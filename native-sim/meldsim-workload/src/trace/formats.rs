//! Recorded requests, and the formats in which they are written.
//!
//! | format | a line |
//! | --- | --- |
//! | `mqsim` | `arrival-ns device first-sector sectors op`, with op 0 for a write and 1 for a read; sectors of 512 B |
//! | `msr` | `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, timestamps in 100 ns, Type Read or Write; these names may head it |
//! | `meld` | `time_ns,volume,block,offset,length,op,pattern,client[,directory]` after the lines `# meld-trace 3` and of the columns' names |
//!
//! A block trace of hdfs-meld has one line for each request of a block file on a DataNode's volume, in version 1, 2 or 3:
//!
//! ```text
//! # meld-trace 3
//! time_ns,volume,block,offset,length,op,pattern,client,directory
//! 1000,vol0,1073741825,0,65536,read,sequential,client,16386
//! ```
//!
//! `time_ns` counts from any moment; `volume` names a volume, without commas; `block` is the block's identifier; `offset` and
//! `length` are bytes of the block; `op` is `read`, `write`, `flush` or `delete` (the last two with offset and length 0),
//! or, since version 2, `truncate` (the offset is the block's new length) or `open` (a reader got the block's file, and its
//! reads are not recorded); `pattern` is `sequential`, `random` or `none`; `client` says for whom, such as `client`, `replication`, `balancer` or
//! `scanner`, and `directory`, since version 3 and where the columns name it, in which directory the block's file is: any number, 0 where that is
//! not known. Neither is needed to replay; both tell groups of blocks apart. Lines that begin with `#` are comments.

use std::str::FromStr;

use super::text::{Fields, MEND, Separator};
use crate::error::Fault;
use crate::job::parse_read_pattern;
use crate::quantity::choice;
use meldsim::Duration;
use meldsim::nvme::Pattern;
use meldsim::profile::excerpt;

/// The formats of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceFormat {
    /// MQSim's.
    Mqsim,
    /// Microsoft Research Cambridge's.
    Msr,
    /// hdfs-meld's.
    Meld,
}

/// What a record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// Reading a range.
    Read,
    /// Writing a range.
    Write,
    /// Making what was written durable.
    Flush,
    /// Giving up a whole block.
    Delete,
    /// Giving up what a block has from the offset on.
    Truncate,
    /// Handing a block's file to a reader whose reads are not recorded.
    Open,
}

/// What a record's range lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extent {
    /// The volume itself.
    Volume,
    /// A block of HDFS with this identifier: it lies wherever the device has room.
    Block(u64),
}

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Since the first record of the trace.
    pub arrival: Duration,
    /// The volume, an index of [`TraceReader::volumes`](super::TraceReader::volumes).
    pub volume: usize,
    /// What the range lies in.
    pub extent: Extent,
    /// First byte of the range, from the extent's start.
    pub offset: u64,
    /// Bytes of the range; 0 where none is moved.
    pub length: u64,
    /// The operation.
    pub op: Op,
    /// How the data is said to be read; `None` where the trace does not say.
    pub pattern: Option<Pattern>,
    /// For whom, an index of [`TraceReader::clients`](super::TraceReader::clients); `None` where the trace does not say.
    pub client: Option<usize>,
    /// The directory of the block's file; 0 where the trace does not say.
    pub directory: u64,
}

impl FromStr for TraceFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<TraceFormat, String> {
        use TraceFormat::{Meld, Mqsim, Msr};
        choice(text, &[("mqsim", Mqsim), ("msr", Msr), ("meld", Meld)])
    }
}

/// Most volumes of a trace.
const VOLUMES_MAX: usize = 1024;
/// Most clients that are told apart; further ones count as the last.
const CLIENTS_MAX: usize = 64;

/// What the records so far have said about those to come: the volumes in the order they were met, and the first time.
#[derive(Clone, Debug, Default)]
pub(super) struct Volumes {
    pub(super) names: Vec<String>,
    /// Host and disk, where these identify a volume.
    disks: Vec<(String, u64)>,
    /// The volume of the record before: mostly that of the next, too.
    last: usize,
    first_ticks: Option<u64>,
    pub(super) clients: Vec<String>,
    /// Whether lines name the directory.
    pub(super) directories: bool,
}

impl Volumes {
    fn index(&mut self, name: &str) -> Result<usize, Fault> {
        if self.names.get(self.last).is_none_or(|last| last != name) {
            self.last = match self.names.iter().position(|known| known == name) {
                Some(index) => index,
                None => self.add(name.to_owned(), "volume")?,
            };
        }
        Ok(self.last)
    }

    /// The volume of a host's disk, without making its name for every line.
    fn index_of_disk(&mut self, host: &str, disk: u64) -> Result<usize, Fault> {
        let is = |known: &(String, u64)| known.1 == disk && known.0 == host;
        if !self.disks.get(self.last).is_some_and(is) {
            self.last = match self.disks.iter().position(is) {
                Some(index) => index,
                None => {
                    let index = self.add(format!("{host}.{disk}"), "DiskNumber")?;
                    self.disks.push((host.to_owned(), disk));
                    index
                }
            };
        }
        Ok(self.last)
    }

    fn client(&mut self, name: &str) -> usize {
        let known = self.clients.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            if self.clients.len() < CLIENTS_MAX {
                self.clients.push(name.to_owned());
            }
            self.clients.len() - 1
        })
    }

    /// The time since the first record.
    fn arrival(&mut self, ticks: u64, ps_per_tick: u64) -> Duration {
        let first = *self.first_ticks.get_or_insert(ticks);
        Duration::from_ps(ticks.saturating_sub(first).saturating_mul(ps_per_tick))
    }

    fn add(&mut self, name: String, field: &'static str) -> Result<usize, Fault> {
        if self.names.len() == VOLUMES_MAX {
            let message = format!("is \"{}\", one more than {VOLUMES_MAX}", excerpt(&name));
            return Err(Fault::new(field, message, "split the trace by volume"));
        }
        self.names.push(name);
        Ok(self.names.len() - 1)
    }
}

impl Record {
    /// Refuses an impossible length, which the format calls `field`.
    fn checked(self, field: &'static str) -> Result<Record, Fault> {
        if matches!(self.op, Op::Read | Op::Write) && self.length == 0 {
            return Err(Fault::new(field, "is 0", "remove the line"));
        }
        match self.offset.checked_add(self.length) {
            Some(_) => Ok(self),
            None => Err(Fault::new(field, "ends beyond 2^64 B", MEND)),
        }
    }
}

impl TraceFormat {
    /// Whether a line names the columns. One may stand at every place where files were joined.
    pub(super) fn is_header(self, line: &str, volumes: &mut Volumes) -> bool {
        match self {
            TraceFormat::Mqsim => false,
            TraceFormat::Msr => {
                let start = line.get(..MSR_HEADER.len());
                start.is_some_and(|start| start.eq_ignore_ascii_case(MSR_HEADER))
            }
            TraceFormat::Meld => volumes.take_columns(line),
        }
    }

    /// A line of this format.
    pub(super) fn parse(self, line: &str, volumes: &mut Volumes) -> Result<Record, Fault> {
        match self {
            TraceFormat::Mqsim => parse_mqsim(line, volumes),
            TraceFormat::Msr => parse_msr(line, volumes),
            TraceFormat::Meld => parse_meld(line, volumes),
        }
    }
}

const SECTOR_BYTES: u64 = 512;

/// `arrival-ns device first-sector sectors op`, separated by blanks.
fn parse_mqsim(line: &str, volumes: &mut Volumes) -> Result<Record, Fault> {
    let mut fields = Fields::new(line, Separator::Blanks);
    let arrival = fields.number("arrival time")?;
    // All requests go to one device.
    fields.number("device")?;
    let sector = fields.number("first sector")?;
    let sectors = fields.number("sectors")?;
    let op = match fields.text("op")? {
        "0" => Op::Write,
        "1" => Op::Read,
        other => {
            let other = excerpt(other);
            let message = format!("is \"{other}\", which is neither 0 (write) nor 1 (read)");
            return Err(Fault::new("op", message, MEND));
        }
    };
    fields.end()?;
    let bytes = |sectors: u64, field| {
        let message = || format!("is {sectors}, which is more than 2^64 B");
        let bytes = sectors.checked_mul(SECTOR_BYTES);
        bytes.ok_or_else(|| Fault::new(field, message(), MEND))
    };
    let record = Record {
        arrival: volumes.arrival(arrival, 1_000),
        volume: volumes.index("trace")?,
        extent: Extent::Volume,
        offset: bytes(sector, "first sector")?,
        length: bytes(sectors, "sectors")?,
        op,
        pattern: None,
        client: None,
        directory: 0,
    };
    record.checked("sectors")
}

/// Timestamps are Windows file times: 100 ns.
const PS_PER_TICK: u64 = 100_000;
/// What a line with the columns' names begins with.
const MSR_HEADER: &str = "Timestamp,";

/// The traces of Microsoft Research Cambridge (Narayanan, Donnelly, Rowstron: FAST'08), as SNIA distributes them:
/// `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
fn parse_msr(line: &str, volumes: &mut Volumes) -> Result<Record, Fault> {
    let mut fields = Fields::new(line, Separator::Comma);
    let ticks = fields.number("Timestamp")?;
    let host = fields.text("Hostname")?;
    let disk = fields.number("DiskNumber")?;
    let op = match fields.text("Type")? {
        kind if kind.eq_ignore_ascii_case("read") => Op::Read,
        kind if kind.eq_ignore_ascii_case("write") => Op::Write,
        other => {
            let message = format!("is \"{}\", which is neither Read nor Write", excerpt(other));
            return Err(Fault::new("Type", message, MEND));
        }
    };
    let offset = fields.number("Offset")?;
    let length = fields.number("Size")?;
    // How long the server took: not needed, but a line without it is cut off.
    fields.number("ResponseTime")?;
    fields.end()?;
    let record = Record {
        arrival: volumes.arrival(ticks, PS_PER_TICK),
        volume: volumes.index_of_disk(host, disk)?,
        extent: Extent::Volume,
        offset,
        length,
        op,
        pattern: None,
        client: None,
        directory: 0,
    };
    record.checked("Size")
}

/// The two lines with which a block trace begins.
pub const HEADER: &str =
    "# meld-trace 3\ntime_ns,volume,block,offset,length,op,pattern,client,directory\n";

/// What the first line begins with.
pub(super) const MAGIC: &str = "# meld-trace ";
/// Versions that can be read. What one says, later ones say in the same words.
pub(super) const VERSIONS: [&str; 3] = ["1", "2", "3"];
pub(super) const COLUMNS: &str = "time_ns,volume,block,offset,length,op,pattern,client";
const DIRECTORY: &str = ",directory";

impl Volumes {
    /// Whether a line has the columns' names; lines after it have those columns.
    pub(super) fn take_columns(&mut self, line: &str) -> bool {
        let more = line.strip_prefix(COLUMNS);
        if let Some(more) = more.filter(|more| more.is_empty() || *more == DIRECTORY) {
            self.directories = !more.is_empty();
            return true;
        }
        false
    }
}

fn parse_meld(line: &str, volumes: &mut Volumes) -> Result<Record, Fault> {
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
            let remedy = "use read, write, flush, delete, truncate or open";
            return Err(Fault::new("op", message, remedy));
        }
    };
    let pattern = parse_read_pattern(fields.text("pattern")?).map_err(|text| {
        let (message, remedy) = text
            .split_once("; ")
            .unwrap_or((&text, "correct the value"));
        Fault::new("pattern", excerpt(message), remedy)
    })?;
    let client = fields.text("client")?;
    let directory = match volumes.directories {
        true => fields.number("directory")?,
        false => 0,
    };
    fields.end()?;
    let record = Record {
        arrival: volumes.arrival(ticks, 1_000),
        volume: volumes.index(volume)?,
        extent: Extent::Block(block),
        offset,
        length,
        op,
        pattern: Some(pattern),
        client: Some(volumes.client(client)),
        directory,
    };
    record.checked("length")
}
