//! One timeline of a Spark application down to flash: what Spark's tasks read, the DataNodes that served it, and their devices.
//!
//! ```text
//!   DataNodes   meld-timeline-*.jsonl.gz --datanode--> reads, requests, waits --+
//!               meld-timeline-*.records  --Recorded--> commands, spans ---------+--> join --tracks, Perfetto--> file
//!   Spark       *.spark.jsonl.gz         --spark-----> stages, tasks, reads ----+
//! ```
//!
//! All lie on one axis: nanoseconds of the wall since the first of them. A device's times are put there by its clock: in real
//! time it follows the wall, slower by the dilation.
//!
//! What belongs together is found by what both sides know. A request of a DataNode and a command of its device have the same
//! namespace, range and order. A read of a task and one of a DataNode have the same block, and overlap in time.

mod datanode;
mod lines;
mod names;
mod spark;

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use thiserror::Error;

use self::datanode::DataNode;
use self::spark::Application;
use meldsim::timeline::{CommandRecord, Record};
use meldsim::{Instant, Opcode};
use meldsim_timeline::{Annotation, Clock, Form, Lanes, Perfetto, Recorded, RecordsError, Tracks};

pub use self::names::Names;

/// Why timelines cannot be joined.
#[derive(Debug, Error)]
pub enum JoinError {
    /// The folder has nothing of a DataNode.
    #[error("\"{0}\" has no meld-timeline-*.jsonl.gz; hdfs meld -timeline fetch brings them")]
    Nothing(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("\"{0}\": {1}")]
    Io(PathBuf, #[source] io::Error),
    /// A line says something else than it should.
    #[error("\"{0}\", line {1}: {2}; fetch the file again")]
    Line(PathBuf, u64, String),
    /// Records of a device.
    #[error("\"{0}\": it {1}")]
    Records(PathBuf, #[source] RecordsError),
}

/// What was joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Joined {
    /// DataNodes with their devices.
    pub datanodes: u64,
    /// Devices whose records are there.
    pub devices: u64,
    /// Reads of blocks that clients made, from the opening of a stream to its end.
    pub block_reads: u64,
    /// Of these, the ones that are a task's.
    pub task_reads: u64,
    /// Tasks.
    pub tasks: u64,
    /// Requests of DataNodes to their devices while these were recorded.
    pub requests: u64,
    /// Of these, the ones whose command is there.
    pub joined_requests: u64,
    /// Commands of the devices.
    pub commands: u64,
    /// What readers waited for their devices, in seconds.
    pub waited_seconds: f64,
    /// Of that, what tasks waited.
    pub task_waited_seconds: f64,
    /// Older records that had to make room.
    pub lost: u64,
    /// What a reader of the file should know.
    pub notes: Vec<String>,
}

impl Joined {
    /// As a JSON object, with the fields' names.
    pub fn to_json(&self) -> String {
        // Numbers and strings: there is nothing that JSON could not hold.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Joins what is in a folder, into a file for Perfetto.
///
/// # Errors
///
/// [`JoinError`].
pub fn join(folder: &Path, output: &Path, names: &Names) -> Result<Joined, JoinError> {
    let (datanodes, applications) = read(folder)?;
    let file = File::create(output).map_err(|error| JoinError::Io(output.into(), error))?;
    let mut join = Join::new(BufWriter::new(file), names, &datanodes, &applications);
    join.spark(&applications);
    for datanode in &datanodes {
        join.datanode(datanode, folder)?;
    }
    join.finish()
        .map_err(|error| JoinError::Io(output.into(), error))
}

fn read(folder: &Path) -> Result<(Vec<DataNode>, Vec<Application>), JoinError> {
    let unreadable = |error| JoinError::Io(folder.into(), error);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    let (mut datanodes, mut applications) = (Vec::new(), Vec::new());
    for path in &paths {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        if name.ends_with(".spark.jsonl.gz") || name.ends_with(".spark.jsonl") {
            applications.push(Application::read(path)?);
        } else if name.contains("meld-timeline-") && name.ends_with(".jsonl.gz") {
            datanodes.push(DataNode::read(path)?);
        }
    }
    if datanodes.is_empty() {
        return Err(JoinError::Nothing(folder.into()));
    }
    Ok((datanodes, applications))
}

/// A read of a task, as far as others look for it.
struct TaskRead {
    begin: u64,
    end: u64,
    flow: u64,
}

/// The flows of commands, and when they were submitted, by the volume and ticket of their requests.
type Commands = HashMap<(u32, i64), (u64, u64)>;

/// The requests to a device whose commands are to be found: by namespace, first byte and bytes, the oldest first.
struct Wanted {
    requests: HashMap<(u32, u64, u64), VecDeque<usize>>,
    count: u64,
}

struct Join<'a, W: Write> {
    output: GzEncoder<W>,
    error: Option<io::Error>,
    perfetto: Perfetto,
    tracks: Tracks,
    names: &'a Names,
    /// Nanoseconds since the epoch at which the axis begins.
    zero: u64,
    task_reads: HashMap<(String, i64), Vec<TaskRead>>,
    next_flow: u64,
    joined: Joined,
}

/// Flows between hosts; those of devices are below.
const HOST_FLOWS: u64 = 1 << 63;

impl<'a, W: Write> Join<'a, W> {
    fn new(
        output: W,
        names: &'a Names,
        datanodes: &[DataNode],
        applications: &[Application],
    ) -> Join<'a, W> {
        let begins = datanodes.iter().map(|datanode| datanode.header.begin_ns);
        let zero = begins
            .chain(applications.iter().filter_map(Application::begin_ns))
            .min();
        Join {
            output: GzEncoder::new(output, Compression::fast()),
            error: None,
            perfetto: Perfetto::default(),
            tracks: Tracks::default(),
            names,
            zero: zero.unwrap_or_default(),
            task_reads: HashMap::new(),
            next_flow: HOST_FLOWS,
            joined: Joined::default(),
        }
    }

    fn ns(&self, since_epoch: u64) -> u64 {
        since_epoch.saturating_sub(self.zero)
    }

    fn flow(&mut self) -> u64 {
        self.next_flow += 1;
        self.next_flow
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.output.write_all(bytes).err();
        }
    }

    fn write_tracks(&mut self) {
        let bytes = self.tracks.take();
        self.write(&bytes);
    }

    /// Stages, and tasks with their reads, of Spark applications.
    fn spark(&mut self, applications: &[Application]) {
        self.perfetto.names();
        let names = self.perfetto.lasting().to_vec();
        self.write(&names);
        for application in applications {
            let name = self.names.show("application", &application.header.name);
            let root = self.tracks.root(&format!("Spark {name}"));
            let stages = self.tracks.child(root, "stages");
            let mut lanes = Lanes::new("stage");
            for stage in &application.stages {
                let times = (self.ns(stage.begin_ns), self.ns(stage.end_ns));
                let track = lanes.track(&mut self.tracks, stages, times);
                let title = format!(
                    "stage {}: {}",
                    stage.id,
                    self.names.show("stage", &stage.name)
                );
                self.tracks.slice(track, &title, times, &[], &[]);
            }
            self.tasks(application, root);
            if application.dropped > 0 {
                let note = format!("Spark left {} reads out", application.dropped);
                self.joined.notes.push(note);
            }
            self.write_tracks();
        }
    }

    fn tasks(&mut self, application: &Application, root: u64) {
        let tasks = self.tracks.child(root, "tasks");
        let mut executors: HashMap<&str, (u64, Lanes)> = HashMap::new();
        for task in &application.tasks {
            self.joined.tasks += 1;
            let times = (self.ns(task.begin_ns), self.ns(task.end_ns));
            let title = self.names.show("executor", &task.executor);
            let (parent, lanes) = executors.entry(&task.executor).or_insert_with(|| {
                let parent = self.tracks.child(tasks, &format!("executor {title}"));
                (parent, Lanes::new("core"))
            });
            let track = lanes.track(&mut self.tracks, *parent, times);
            let stage = task.stage.unsigned_abs();
            let title = format!("task {} of stage {}", task.index, task.stage);
            let annotations = [Annotation::number("stage", stage)];
            self.tracks.slice(track, &title, times, &[], &annotations);
            for read in application.reads_of(task.id) {
                let flow = self.flow();
                let times = (self.ns(read.begin_ns), self.ns(read.end_ns));
                let path = self.names.show("path", &read.path);
                let annotations = [
                    Annotation::text("path", &path),
                    Annotation::number("block", read.block.unsigned_abs()),
                    Annotation::number("offset", read.offset),
                    Annotation::number("bytes", read.bytes),
                    Annotation::number("waited for HDFS, ns", read.waited_ns),
                ];
                self.tracks
                    .slice(track, "read block", times, &[flow], &annotations);
                let block = (read.pool.clone(), read.block);
                self.task_reads.entry(block).or_default().push(TaskRead {
                    begin: times.0,
                    end: times.1,
                    flow,
                });
            }
        }
    }

    /// The reads of a DataNode with their waits, and its devices.
    fn datanode(&mut self, datanode: &DataNode, folder: &Path) -> Result<(), JoinError> {
        self.joined.datanodes += 1;
        self.joined.lost += datanode.lost;
        // Which command each request became.
        let mut commands = HashMap::new();
        for (number, device) in &datanode.devices {
            let Some(file) = &device.records else {
                let problem = device.problem.as_deref().unwrap_or("nothing was recorded");
                let name = self.names.show("device", &device.name);
                self.joined
                    .notes
                    .push(format!("device {name} has no timeline: {problem}"));
                continue;
            };
            let path = folder.join(format!("{}-{file}", datanode.header.datanode));
            let opened = File::open(&path).map_err(|error| JoinError::Io(path.clone(), error))?;
            let recorded = Recorded::read(opened);
            let recorded = recorded.map_err(|error| JoinError::Records(path.clone(), error))?;
            self.device(datanode, *number, &recorded, &mut commands)
                .map_err(|error| JoinError::Records(path, error))?;
        }
        self.reads(datanode, &commands);
        Ok(())
    }

    fn device(
        &mut self,
        datanode: &DataNode,
        number: u32,
        recorded: &Recorded,
        commands: &mut Commands,
    ) -> Result<(), RecordsError> {
        let device = &datanode.devices[&number];
        self.joined.devices += 1;
        self.joined.lost += recorded.lost;
        let clock = self.clock(datanode, number);
        let host = self.names.show("host", &datanode.header.host);
        let name = self.names.show("device", &device.name);
        self.perfetto.set_clock(clock.clone());
        let title = format!("device {name} of {host} ({})", recorded.profile.name);
        self.perfetto.begin(&recorded.profile, &title);
        let tracks = self.perfetto.lasting().to_vec();
        self.write(&tracks);
        let mut wanted = Wanted::new(datanode, number, recorded, &clock, self.zero)?;
        self.joined.requests += wanted.count;
        recorded.replay(|record| {
            self.perfetto.encode(record);
            if let Record::Command(command) = record {
                self.joined.commands += 1;
                if let Some(request) = wanted.take(command) {
                    let request = &datanode.requests[request];
                    let flow = self.perfetto.flow_of(command.number);
                    let command = (flow, clock.at(command.submitted));
                    commands.insert((request.volume, request.ticket), command);
                    self.joined.joined_requests += 1;
                }
            }
            if self.error.is_none() {
                let bytes = self.output.write_all(self.perfetto.lasting());
                self.error = bytes
                    .and_then(|()| self.output.write_all(self.perfetto.events()))
                    .err();
            }
        })?;
        Ok(())
    }

    /// How a device's time lies on the axis; said in words on the device's track, too.
    fn clock(&mut self, datanode: &DataNode, number: u32) -> Clock {
        let device = &datanode.devices[&number];
        let mut clock = Clock::default();
        let pieces = datanode.clocks.iter();
        for piece in pieces.filter(|piece| piece.device == number) {
            let follows = piece.dilation > 0.0;
            let dilation = if follows { piece.dilation } else { 1.0 };
            let at = self.ns(piece.ns);
            clock.push(Instant::from_ps(piece.sim_ps), at, dilation);
            let (name, from) = (self.names.show("device", &device.name), at as f64 / 1e9);
            self.joined.notes.push(match follows {
                true => format!(
                    "device {name}: from {from:.6} s on a second of the device takes {dilation:.3} s here"
                ),
                false => format!(
                    "device {name}: in account mode its time has no place here; its tracks show it from {from:.6} s on"
                ),
            });
        }
        clock
    }

    fn reads(&mut self, datanode: &DataNode, commands: &Commands) {
        let host = self.names.show("host", &datanode.header.host);
        let root = self.tracks.root(&format!("DataNode {host}"));
        let mut lanes = Lanes::new("reader");
        for read in &datanode.reads {
            let times = (self.ns(read.begin_ns), self.ns(read.end_ns));
            let track = lanes.track(&mut self.tracks, root, times);
            let waits = datanode.waits_of(read.reader);
            let waited: u64 = waits.clone().map(|wait| wait.end_ns - wait.begin_ns).sum();
            let mut flows = Vec::new();
            if read.kind == "client" {
                self.joined.block_reads += 1;
                self.joined.waited_seconds += waited as f64 / 1e9;
                if let Some(flow) = self.task_of(read, times) {
                    flows.push(flow);
                    self.joined.task_reads += 1;
                    self.joined.task_waited_seconds += waited as f64 / 1e9;
                }
            }
            let client = self.names.show("client", &read.client);
            let annotations = [
                Annotation::number("block", read.block.unsigned_abs()),
                Annotation::number("offset", read.offset),
                Annotation::number("bytes", read.bytes),
                Annotation::number("waited for the device, ns", waited),
                Annotation::text("for", &read.kind),
                Annotation::text("client", &client),
            ];
            self.tracks
                .slice(track, "read block", times, &flows, &annotations);
            for request in datanode.requests_of(read.reader) {
                let command = commands.get(&(request.volume, request.ticket));
                let annotations = [Annotation::number("bytes", request.bytes)];
                // The device's clock is known to microseconds: what came first is shown first.
                let latest = command.map_or(u64::MAX, |(_, at)| at.saturating_sub(1));
                let at = self.ns(request.ns).min(latest);
                let flow = command.map(|(flow, _)| *flow);
                self.tracks
                    .instant(track, "request", at, flow.as_slice(), &annotations);
            }
            for wait in waits {
                let command = commands.get(&(wait.volume, wait.ticket));
                let flow = command.map(|(flow, _)| *flow);
                let times = (self.ns(wait.begin_ns), self.ns(wait.end_ns));
                self.tracks
                    .slice(track, "wait", times, flow.as_slice(), &[]);
            }
            self.write_tracks();
        }
    }

    /// The flow from the task's read that a DataNode served: the one of the same block that overlaps most.
    fn task_of(&self, read: &datanode::Read, (begin, end): (u64, u64)) -> Option<u64> {
        let reads = self.task_reads.get(&(read.pool.clone(), read.block))?;
        let overlap = |task: &&TaskRead| end.min(task.end).saturating_sub(begin.max(task.begin));
        // A DataNode may begin a moment before the client's first call returns, never after its last.
        let best = reads
            .iter()
            .filter(|task| overlap(task) > 0)
            .max_by_key(|task| (overlap(task), u64::MAX - begin.abs_diff(task.begin)))?;
        Some(best.flow)
    }

    fn finish(mut self) -> io::Result<Joined> {
        match self.error.take() {
            Some(error) => Err(error),
            None => {
                self.output.finish()?.flush()?;
                Ok(self.joined)
            }
        }
    }
}

impl Wanted {
    /// The requests to a device since its oldest command that is there.
    fn new(
        datanode: &DataNode,
        device: u32,
        recorded: &Recorded,
        clock: &Clock,
        zero: u64,
    ) -> Result<Wanted, RecordsError> {
        let mut first = None;
        if recorded.lost > 0 {
            recorded.replay(|record| {
                if let (None, Record::Command(command)) = (first, record) {
                    first = Some(clock.at(command.submitted));
                }
            })?;
        }
        let mut wanted = Wanted {
            requests: HashMap::new(),
            count: 0,
        };
        // Where nothing was lost the first command may be that of the first request, which was put in earlier.
        let from = if recorded.lost > 0 {
            first.unwrap_or(u64::MAX)
        } else {
            0
        };
        for (at, request) in datanode.requests.iter().enumerate() {
            let volume = datanode.volumes.get(&request.volume);
            let is_there = request.ns.saturating_sub(zero) >= from;
            if let Some(volume) = volume.filter(|volume| is_there && volume.device == device) {
                let range = (volume.nsid, request.start_byte, request.bytes);
                wanted.requests.entry(range).or_default().push_back(at);
                wanted.count += 1;
            }
        }
        Ok(wanted)
    }

    /// The request that a command was submitted for.
    fn take(&mut self, command: &CommandRecord) -> Option<usize> {
        if command.opcode != Opcode::Read {
            return None;
        }
        let range = (command.nsid.0, command.start_byte, command.bytes);
        self.requests.get_mut(&range)?.pop_front()
    }
}
