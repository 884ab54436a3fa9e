//! What a DataNode recorded: who read which block, what was asked of which device for it, and what was waited for.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Deserialize;

use super::JoinError;
use super::lines::{self, Line};

#[derive(Debug, Default, Deserialize)]
pub(super) struct Header {
    meld_timeline: u32,
    pub(super) datanode: String,
    pub(super) host: String,
    pub(super) begin_ns: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Other {
    Device(Device),
    Clock(Clock),
    Volume(Volume),
    Read(Read),
    Request(Request),
    Wait(Wait),
    Lost(Lost),
}

#[derive(Debug, Deserialize)]
pub(super) struct Device {
    n: u32,
    pub(super) name: String,
    /// The name of its file of records.
    pub(super) records: Option<String>,
    /// Why it has none.
    pub(super) problem: Option<String>,
}

/// The device's time was `sim_ps` at `ns`, and goes on so many times slower; 0 where it does not follow the wall.
#[derive(Debug, Deserialize)]
pub(super) struct Clock {
    pub(super) device: u32,
    pub(super) sim_ps: u64,
    pub(super) ns: u64,
    pub(super) dilation: f64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Volume {
    n: u32,
    pub(super) device: u32,
    pub(super) nsid: u32,
}

/// A stream of a block, from its opening to its end.
#[derive(Debug, Deserialize)]
pub(super) struct Read {
    pub(super) reader: u64,
    pub(super) pool: String,
    pub(super) block: i64,
    pub(super) client: String,
    pub(super) kind: String,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// A reader asked the device for something, maybe ahead.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    reader: u64,
    pub(super) volume: u32,
    pub(super) ticket: i64,
    pub(super) ns: u64,
    pub(super) start_byte: u64,
    pub(super) bytes: u64,
}

/// A reader waited for what somebody had asked for.
#[derive(Debug, Deserialize)]
pub(super) struct Wait {
    reader: u64,
    pub(super) volume: u32,
    pub(super) ticket: i64,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
}

/// Records that had to make room for later ones.
#[derive(Debug, Deserialize)]
struct Lost {
    records: u64,
}

/// The file of one DataNode.
#[derive(Debug, Default)]
pub(super) struct DataNode {
    pub(super) header: Header,
    pub(super) lost: u64,
    pub(super) devices: BTreeMap<u32, Device>,
    pub(super) clocks: Vec<Clock>,
    pub(super) volumes: HashMap<u32, Volume>,
    /// In the order in which they were made.
    pub(super) requests: Vec<Request>,
    pub(super) reads: Vec<Read>,
    waits: Vec<Wait>,
    requests_by_reader: HashMap<u64, Vec<usize>>,
    waits_by_reader: HashMap<u64, Vec<usize>>,
}

impl DataNode {
    pub(super) fn read(path: &Path) -> Result<DataNode, JoinError> {
        let mut node = DataNode::default();
        lines::each(path, |line| node.add(line))?;
        lines::check_found(path, node.header.meld_timeline)?;
        node.reads.sort_by_key(|read| (read.begin_ns, read.reader));
        node.clocks.sort_by_key(|clock| clock.sim_ps);
        node.requests.sort_by_key(|request| request.ns);
        let readers = node.requests.iter().map(|request| request.reader);
        node.requests_by_reader = lines::places(readers);
        node.waits_by_reader = lines::places(node.waits.iter().map(|wait| wait.reader));
        Ok(node)
    }

    fn add(&mut self, line: Line<Header, Other>) -> Result<(), String> {
        match line {
            Line::Header(header) => {
                lines::check(header.meld_timeline)?;
                lines::check_name(&header.datanode)?;
                self.header = header;
            }
            Line::Other(Other::Device(device)) => {
                device
                    .records
                    .as_deref()
                    .map_or(Ok(()), lines::check_name)?;
                self.devices.insert(device.n, device);
            }
            Line::Other(Other::Clock(clock)) => self.clocks.push(clock),
            Line::Other(Other::Volume(volume)) => {
                self.volumes.insert(volume.n, volume);
            }
            Line::Other(Other::Read(read)) if read.begin_ns <= read.end_ns => self.reads.push(read),
            Line::Other(Other::Wait(wait)) if wait.begin_ns <= wait.end_ns => self.waits.push(wait),
            Line::Other(Other::Lost(lost)) => self.lost += lost.records,
            Line::Other(Other::Request(request)) => self.requests.push(request),
            Line::Other(_) => return Err("it ends before it begins".to_owned()),
        }
        Ok(())
    }

    pub(super) fn requests_of(&self, reader: u64) -> impl Iterator<Item = &Request> {
        let found = self.requests_by_reader.get(&reader);
        found.into_iter().flatten().map(|&at| &self.requests[at])
    }

    pub(super) fn waits_of(&self, reader: u64) -> impl Iterator<Item = &Wait> + Clone {
        let found = self.waits_by_reader.get(&reader);
        found.into_iter().flatten().map(|&at| &self.waits[at])
    }
}
