//! A job: what one loop of requests does.

use std::fmt::{self, Display};
use std::str::FromStr;

use thiserror::Error;

use super::distribution::Distribution;
use super::placement::{DataPlacement, STREAMS};
use super::quantity::{name_of, parse_name};
use meldsim::engine::Duration;
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

impl Display for ReadWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name_of(self, &ReadWrite::NAMES))
    }
}

impl FromStr for ReadWrite {
    type Err = String;

    fn from_str(text: &str) -> Result<ReadWrite, String> {
        parse_name(text, &ReadWrite::NAMES)
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

impl Rate {
    /// Bytes or requests a simulated second.
    pub(super) fn per_second(self) -> u64 {
        let (Rate::Bytes(per_second) | Rate::Requests(per_second)) = self;
        per_second
    }
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
    pub runtime: Option<Duration>,
    /// Go round again when everything was transferred, until `runtime` is over.
    pub time_based: bool,
    /// What is submitted in this time from the start is not counted.
    pub ramp_time: Duration,
    /// Start that much later.
    pub start_delay: Duration,
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
    pub think_time: Duration,
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
            ramp_time: Duration::ZERO,
            start_delay: Duration::ZERO,
            rwmixread: 50,
            distribution: Distribution::Once,
            seed: 1,
            rate_read: None,
            rate_write: None,
            poisson: false,
            think_time: Duration::ZERO,
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
        self.block_sizes().min().unwrap_or(self.block_bytes)
    }

    /// Bytes of its largest request.
    pub fn largest_block_bytes(&self) -> u64 {
        self.block_sizes().max().unwrap_or(self.block_bytes)
    }

    fn block_sizes(&self) -> impl Iterator<Item = u64> {
        self.block_split.iter().map(|share| share.bytes)
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
    ///
    /// # Errors
    ///
    /// The first option that makes it impossible, and the remedy.
    pub fn validate(&self) -> Result<(), JobError> {
        let check = |fine: bool, key, message: &dyn Display, remedy: &dyn Display| match fine {
            true => Ok(()),
            false => Err(JobError {
                key,
                message: message.to_string(),
                remedy: remedy.to_string(),
            }),
        };
        let given = self.size_bytes > 0;
        check(
            given,
            "size",
            &"is missing or 0",
            &"give one, such as size=1g",
        )?;
        let unit = self.unit_bytes();
        check(unit > 0, "bs", &"is 0", &"use a size such as bs=4k")?;
        let percent: u32 = self.block_split.iter().map(|share| share.percent).sum();
        check(
            self.block_split.is_empty() || percent == 100,
            "bssplit",
            &format_args!("has percentages that add up to {percent}"),
            &"let them add up to 100",
        )?;
        let offset = self.offset_bytes;
        check(
            offset % unit == 0,
            "offset",
            &format_args!("of {offset} B is not a multiple of the smallest block"),
            &format_args!("use a multiple of {unit} B"),
        )?;
        let block = self.largest_block_bytes();
        for (key, bytes) in [("size", self.size_bytes), ("io_size", self.total_bytes())] {
            let message = format!("of {bytes} B is less than a block of {block} B");
            check(bytes >= block, key, &message, &"use at least one block")?;
        }
        let (depth, most) = (self.iodepth, Job::IODEPTH_MAX);
        check(
            (1..=most).contains(&depth),
            "iodepth",
            &format_args!("is {depth}"),
            &format_args!("use 1 to {most}"),
        )?;
        check(
            self.rwmixread <= 100,
            "rwmixread",
            &format_args!("is {}", self.rwmixread),
            &"use a percentage, 0 to 100",
        )?;
        check(
            self.runtime != Some(Duration::ZERO),
            "runtime",
            &"is 0",
            &"use a time such as runtime=100ms, or leave it out",
        )?;
        let rates = [self.rate_read, self.rate_write];
        check(
            rates.iter().flatten().all(|rate| rate.per_second() > 0),
            "rate",
            &"is 0",
            &"use a rate such as rate_iops=10k or rate=100m, or leave it out",
        )?;
        check(
            self.think_blocks > 0,
            "thinktime_blocks",
            &"is 0",
            &"use 1 or more, or leave thinktime out",
        )?;
        let (jobs, most) = (self.numjobs, Job::NUMJOBS_MAX);
        check(
            (1..=most).contains(&jobs),
            "numjobs",
            &format_args!("is {jobs}"),
            &format_args!("use 1 to {most}"),
        )?;
        check(
            self.distribution == Distribution::Once || self.rw.is_random(),
            "random_distribution",
            &format_args!("is set, but rw={} is sequential", self.rw),
            &"use randread, randwrite or randrw",
        )?;
        let ids = &self.placement_ids;
        check(
            (self.data_placement == DataPlacement::None) == ids.is_empty(),
            if ids.is_empty() {
                "plids"
            } else {
                "dataplacement"
            },
            &"is missing",
            &"give both, such as dataplacement=streams and plids=1",
        )?;
        if let Some(id) = ids.iter().find(|id| !STREAMS.contains(id)) {
            check(
                false,
                "plids",
                &format_args!("has stream {id}"),
                &"use 1 to 16",
            )?;
        }
        check(
            !self.poisson || rates != [None, None],
            "rate_process",
            &"needs a rate",
            &"add one, such as rate_iops=10k",
        )?;
        check(
            !self.time_based || self.runtime.is_some(),
            "time_based",
            &"needs an end",
            &"add runtime, such as runtime=100ms",
        )
    }
}

/// The names of read patterns in job files and on the command line.
pub(super) const PATTERNS: [(&str, Pattern); 3] = [
    ("sequential", Pattern::Sequential),
    ("random", Pattern::Random),
    ("none", Pattern::None),
];

/// The read pattern of that name: `sequential`, `random` or `none`.
///
/// # Errors
///
/// What `text` is, and the names there are.
pub fn parse_read_pattern(text: &str) -> Result<Pattern, String> {
    parse_name(text, &PATTERNS)
}

/// The names of queue priorities in job files.
pub(super) const PRIORITIES: [(&str, Priority); 4] = [
    ("urgent", Priority::Urgent),
    ("high", Priority::High),
    ("medium", Priority::Medium),
    ("low", Priority::Low),
];
