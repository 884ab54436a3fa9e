//! A job: what one loop of requests does.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::distribution::Distribution;
use super::placement::{DataPlacement, STREAMS};
use meldsim::engine::Time;
use meldsim::nvme::{Pattern, Priority};

/// Direction and order of a job's requests, in fio's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadWrite {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential, reads and writes mixed.
    ReadWrite,
    /// Random, reads and writes mixed.
    RandReadWrite,
}

impl ReadWrite {
    const NAMES: [(&'static str, ReadWrite); 7] = [
        ("read", ReadWrite::Read),
        ("write", ReadWrite::Write),
        ("randread", ReadWrite::RandRead),
        ("randwrite", ReadWrite::RandWrite),
        ("rw", ReadWrite::ReadWrite),
        ("randrw", ReadWrite::RandReadWrite),
        ("readwrite", ReadWrite::ReadWrite),
    ];

    /// Whether blocks come in random order.
    pub fn is_random(self) -> bool {
        matches!(
            self,
            ReadWrite::RandRead | ReadWrite::RandWrite | ReadWrite::RandReadWrite
        )
    }

    /// Whether some requests are reads.
    pub fn reads(self) -> bool {
        !matches!(self, ReadWrite::Write | ReadWrite::RandWrite)
    }

    /// Whether some requests are writes.
    pub fn writes(self) -> bool {
        !matches!(self, ReadWrite::Read | ReadWrite::RandRead)
    }
}

impl fmt::Display for ReadWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = ReadWrite::NAMES.iter().find(|(_, value)| value == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FromStr for ReadWrite {
    type Err = String;

    fn from_str(text: &str) -> Result<ReadWrite, String> {
        match ReadWrite::NAMES.iter().find(|(name, _)| *name == text) {
            Some((_, value)) => Ok(*value),
            None => Err(format!(
                "is \"{text}\", which is unknown; use read, write, randread, randwrite, rw or randrw"
            )),
        }
    }
}

/// A cap on one direction's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Bytes a simulated second.
    Bytes(u64),
    /// Requests a simulated second.
    Requests(u64),
}

/// A size of request and how often it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShare {
    /// Bytes of such a request.
    pub bytes: u64,
    /// Share of the requests.
    pub percent: u32,
}

/// A loop of requests. Closed unless it has a rate: `iodepth` requests are outstanding until `io_bytes` have been
/// transferred or `runtime` is over. With a rate it is open: requests arrive at that rate whatever the device does, and
/// wait when `iodepth` are outstanding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its name, the section's in a job file.
    pub name: String,
    /// Direction and order.
    pub rw: ReadWrite,
    /// Bytes of a request.
    pub block_bytes: u64,
    /// Several sizes of requests in place of `block_bytes`; none when empty.
    pub block_split: Vec<BlockShare>,
    /// Requests outstanding. Range 1 to 65536.
    pub iodepth: u32,
    /// First byte of the job's region.
    pub offset_bytes: u64,
    /// Bytes of the job's region.
    pub size_bytes: u64,
    /// Bytes to transfer unless `time_based`; the region's size when not given.
    pub io_bytes: Option<u64>,
    /// No request is submitted after this much simulated time, not counting `ramp_time`.
    pub runtime: Option<Time>,
    /// Go round again when everything was transferred, until `runtime` is over.
    pub time_based: bool,
    /// What is submitted in this time from the start is not counted.
    pub ramp_time: Time,
    /// Start that much later.
    pub start_delay: Time,
    /// Percentage of reads when mixed.
    pub rwmixread: u32,
    /// Which blocks random requests touch.
    pub distribution: Distribution,
    /// Seed of random order and mix.
    pub seed: u64,
    /// Cap on reads.
    pub rate_read: Option<Rate>,
    /// Cap on writes.
    pub rate_write: Option<Rate>,
    /// Whether requests under a cap arrive at random (a Poisson process) and not at equal distances.
    pub poisson: bool,
    /// Pause after every `think_blocks` requests, when those are complete.
    pub think_time: Time,
    /// Requests between two pauses. Range 1 and above.
    pub think_blocks: u32,
    /// How the data is said to be read, when it is written and when it is preloaded.
    pub read_pattern: Pattern,
    /// How the writes say which data belongs together.
    pub data_placement: DataPlacement,
    /// With streams: those the writes go to in turn. Range 1 to 16 each.
    pub placement_ids: Vec<u16>,
    /// Jobs with the same file share a namespace; without, the job has one of its own.
    pub file: Option<String>,
    /// NVM set of the job's namespace; the sets in turn when not given.
    pub nvm_set: Option<u32>,
    /// Priority of the job's submission queue under weighted round robin; every job has a queue of its own.
    pub queue_priority: Priority,
    /// Start when the jobs before it have ended.
    pub stonewall: bool,
    /// Equal jobs that run at once, with seeds of their own. Range 1 to 256.
    pub numjobs: u32,
    /// Whether the equal jobs' results are added up.
    pub group_reporting: bool,
}

/// What makes a job impossible: the key, what was found, the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {message}; {remedy}")]
pub struct JobError {
    /// The option: `iodepth`.
    pub key: &'static str,
    /// What was found: `is 0`.
    pub message: String,
    /// What to do: `use 1 to 65536`.
    pub remedy: String,
}

impl Job {
    /// Most requests outstanding.
    pub const IODEPTH_MAX: u32 = 65_536;
    /// Most equal jobs at once.
    pub const NUMJOBS_MAX: u32 = 256;

    /// A job with fio's defaults: sequential 4 KiB reads at depth 1, of nothing yet.
    pub fn new(name: impl Into<String>) -> Job {
        Job {
            name: name.into(),
            rw: ReadWrite::Read,
            block_bytes: 4096,
            block_split: Vec::new(),
            iodepth: 1,
            offset_bytes: 0,
            size_bytes: 0,
            io_bytes: None,
            runtime: None,
            time_based: false,
            ramp_time: Time::ZERO,
            start_delay: Time::ZERO,
            rwmixread: 50,
            distribution: Distribution::Once,
            seed: 1,
            rate_read: None,
            rate_write: None,
            poisson: false,
            think_time: Time::ZERO,
            think_blocks: 1,
            read_pattern: Pattern::None,
            data_placement: DataPlacement::None,
            placement_ids: Vec::new(),
            file: None,
            nvm_set: None,
            queue_priority: Priority::Medium,
            stonewall: false,
            numjobs: 1,
            group_reporting: false,
        }
    }

    /// Bytes of its smallest request, of which all its offsets are multiples.
    pub fn unit_bytes(&self) -> u64 {
        let sizes = self.block_split.iter().map(|share| share.bytes);
        sizes.min().unwrap_or(self.block_bytes)
    }

    /// Bytes of its largest request.
    pub fn largest_block_bytes(&self) -> u64 {
        let sizes = self.block_split.iter().map(|share| share.bytes);
        sizes.max().unwrap_or(self.block_bytes)
    }

    /// Smallest requests in its region.
    pub fn units(&self) -> u64 {
        self.size_bytes / self.unit_bytes().max(1)
    }

    /// Bytes it transfers unless it is `time_based`.
    pub fn total_bytes(&self) -> u64 {
        let unit = self.unit_bytes().max(1);
        self.io_bytes.unwrap_or(self.size_bytes) / unit * unit
    }

    /// First byte after its region.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes
            .saturating_add(self.units().saturating_mul(self.unit_bytes()))
    }

    /// The equal jobs it stands for.
    pub(super) fn clones(&self) -> impl Iterator<Item = Job> + '_ {
        (0..self.numjobs).map(|index| Job {
            name: match self.numjobs {
                1 => self.name.clone(),
                _ => format!("{}.{index}", self.name),
            },
            seed: self.seed.wrapping_add(u64::from(index)),
            // The first waits for all before it, the others start with it.
            stonewall: self.stonewall && index == 0,
            ..self.clone()
        })
    }

    /// Refuses a job that cannot run.
    pub fn validate(&self) -> Result<(), JobError> {
        let refuse = |key, message: String, remedy: &str| {
            Err(JobError {
                key,
                message,
                remedy: remedy.to_owned(),
            })
        };
        if self.size_bytes == 0 {
            return refuse(
                "size",
                "is missing or 0".to_owned(),
                "give one, such as size=1g",
            );
        }
        if self.unit_bytes() == 0 {
            return refuse("bs", "is 0".to_owned(), "use a size such as bs=4k");
        }
        let percent: u32 = self.block_split.iter().map(|share| share.percent).sum();
        if !self.block_split.is_empty() && percent != 100 {
            let message = format!("has percentages that add up to {percent}");
            return refuse("bssplit", message, "let them add up to 100");
        }
        let unit = self.unit_bytes();
        if self.offset_bytes % unit != 0 {
            let message = format!(
                "of {} B is not a multiple of the smallest block",
                self.offset_bytes
            );
            return refuse("offset", message, &format!("use a multiple of {unit} B"));
        }
        for (key, bytes) in [("size", self.size_bytes), ("io_size", self.total_bytes())] {
            if bytes < self.largest_block_bytes() {
                let message = format!(
                    "of {bytes} B is less than a block of {} B",
                    self.largest_block_bytes()
                );
                return refuse(key, message, "use at least one block");
            }
        }
        if !(1..=Job::IODEPTH_MAX).contains(&self.iodepth) {
            return refuse("iodepth", format!("is {}", self.iodepth), "use 1 to 65536");
        }
        if self.rwmixread > 100 {
            return refuse(
                "rwmixread",
                format!("is {}", self.rwmixread),
                "use a percentage, 0 to 100",
            );
        }
        if self.runtime == Some(Time::ZERO) {
            return refuse(
                "runtime",
                "is 0".to_owned(),
                "use a time such as runtime=100ms, or leave it out",
            );
        }
        for rate in [self.rate_read, self.rate_write].into_iter().flatten() {
            let (Rate::Bytes(per_second) | Rate::Requests(per_second)) = rate;
            if per_second == 0 {
                return refuse(
                    "rate",
                    "is 0".to_owned(),
                    "use a rate such as rate_iops=10k or rate=100m, or leave it out",
                );
            }
        }
        if self.think_blocks == 0 {
            return refuse(
                "thinktime_blocks",
                "is 0".to_owned(),
                "use 1 or more, or leave thinktime out",
            );
        }
        if !(1..=Job::NUMJOBS_MAX).contains(&self.numjobs) {
            return refuse("numjobs", format!("is {}", self.numjobs), "use 1 to 256");
        }
        if self.distribution != Distribution::Once && !self.rw.is_random() {
            return refuse(
                "random_distribution",
                format!("is set, but rw={} is sequential", self.rw),
                "use randread, randwrite or randrw",
            );
        }
        let ids = &self.placement_ids;
        if (self.data_placement == DataPlacement::None) != ids.is_empty() {
            let (key, message) = match ids.is_empty() {
                true => ("plids", "is missing"),
                false => ("dataplacement", "is missing"),
            };
            let remedy = "give both, such as dataplacement=streams and plids=1";
            return refuse(key, message.to_owned(), remedy);
        }
        if let Some(id) = ids.iter().find(|id| !STREAMS.contains(id)) {
            return refuse("plids", format!("has stream {id}"), "use 1 to 16");
        }
        if self.poisson && self.rate_read.is_none() && self.rate_write.is_none() {
            return refuse(
                "rate_process",
                "needs a rate".to_owned(),
                "add one, such as rate_iops=10k",
            );
        }
        if self.time_based && self.runtime.is_none() {
            return refuse(
                "time_based",
                "needs an end".to_owned(),
                "add runtime, such as runtime=100ms",
            );
        }
        Ok(())
    }
}

const PATTERNS: [(&str, Pattern); 3] = [
    ("sequential", Pattern::Sequential),
    ("random", Pattern::Random),
    ("none", Pattern::None),
];

/// The name of `pattern` in job files and on the command line.
pub(super) fn pattern_name(pattern: Pattern) -> &'static str {
    let name = PATTERNS.iter().find(|(_, value)| *value == pattern);
    name.map_or("", |(name, _)| name)
}

/// The read pattern of that name: `sequential`, `random` or `none`.
pub fn parse_read_pattern(text: &str) -> Result<Pattern, String> {
    match PATTERNS.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(*value),
        None => Err(format!(
            "is \"{text}\", which is unknown; use sequential, random or none"
        )),
    }
}

const PRIORITIES: [(&str, Priority); 4] = [
    ("urgent", Priority::Urgent),
    ("high", Priority::High),
    ("medium", Priority::Medium),
    ("low", Priority::Low),
];

/// The name of `priority` in job files.
pub(super) fn priority_name(priority: Priority) -> &'static str {
    let name = PRIORITIES.iter().find(|(_, value)| *value == priority);
    name.map_or("", |(name, _)| name)
}

/// The queue priority of that name.
pub(super) fn parse_priority(text: &str) -> Result<Priority, String> {
    match PRIORITIES.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(*value),
        None => Err(format!(
            "is \"{text}\", which is unknown; use urgent, high, medium or low"
        )),
    }
}
