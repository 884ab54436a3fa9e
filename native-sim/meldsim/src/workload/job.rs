//! A job: what one closed loop of requests does.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::engine::Time;
use crate::nvme::Pattern;

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

/// One closed loop: `iodepth` requests are outstanding until `size_bytes` have been transferred or `runtime` is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its name, the section's in a job file.
    pub name: String,
    /// Direction and order.
    pub rw: ReadWrite,
    /// Bytes of a request.
    pub block_bytes: u64,
    /// Requests outstanding. Range 1 to 65536.
    pub iodepth: u32,
    /// Bytes of the job's own namespace, and bytes it transfers unless `time_based`.
    pub size_bytes: u64,
    /// No request is submitted after this much simulated time.
    pub runtime: Option<Time>,
    /// Go round again when everything was transferred, until `runtime` is over.
    pub time_based: bool,
    /// Percentage of reads when mixed.
    pub rwmixread: u32,
    /// Seed of random order and mix.
    pub seed: u64,
    /// How the data is said to be read, when it is written and when it is preloaded.
    pub read_pattern: Pattern,
    /// Start when the jobs before it have ended.
    pub stonewall: bool,
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

    /// A job with fio's defaults: sequential 4 KiB reads at depth 1, of nothing yet.
    pub fn new(name: impl Into<String>) -> Job {
        Job {
            name: name.into(),
            rw: ReadWrite::Read,
            block_bytes: 4096,
            iodepth: 1,
            size_bytes: 0,
            runtime: None,
            time_based: false,
            rwmixread: 50,
            seed: 1,
            read_pattern: Pattern::None,
            stonewall: false,
        }
    }

    /// Requests of `block_bytes` in one pass over the job's namespace.
    pub fn blocks(&self) -> u64 {
        self.size_bytes / self.block_bytes.max(1)
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
        if self.block_bytes == 0 {
            return refuse("bs", "is 0".to_owned(), "use a size such as bs=4k");
        }
        if self.size_bytes < self.block_bytes {
            let message = format!(
                "of {} B is less than a block of {} B",
                self.size_bytes, self.block_bytes
            );
            return refuse("size", message, "use at least one block");
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
