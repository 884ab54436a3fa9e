//! A job: what one loop of requests does.

use std::fmt::{self, Display};
use std::str::FromStr;

use thiserror::Error;

use super::options::{DataPlacement, Exit, Flow, LatencyTarget, Repeat, SteadyState, Strided};
use super::quantity::{name_of, parse_name};
use meldsim::engine::Duration;
use meldsim::nvme::{MAX_STREAMS, Pattern, Priority};
use meldsim_drive::Distribution;

/// Direction and order of a job's requests, in fio's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadWrite {
    /// Sequential reads.
    #[default]
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
        if text.contains("trim") {
            return Err(format!(
                "is \"{text}\": jobs do not deallocate; use a read or a write, or a trace, which can"
            ));
        }
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
    /// Share of the requests, in percent; of a range of sizes, 1 each.
    pub percent: u32,
}

/// A loop of requests. Closed unless it has a rate: `iodepth` requests are outstanding until `io_bytes` have been
/// transferred or `runtime` is over. With a rate it is open: requests arrive at that rate whatever the device does, and
/// wait when `iodepth` are outstanding. [`Job::new`] has fio's defaults; the default here is 0 everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// Its name, the section's in a job file.
    pub name: String,
    /// Direction and order.
    pub rw: ReadWrite,
    /// Bytes of a request.
    pub block_bytes: u64,
    /// Several sizes of requests in place of `block_bytes`; none when empty.
    pub block_split: Vec<BlockShare>,
    /// Sizes of writes, where those are not as of reads; the same when empty.
    pub write_block_split: Vec<BlockShare>,
    /// Random requests begin at multiples of this; of the smallest request when not given.
    pub align_bytes: Option<u64>,
    /// Requests outstanding. Range 1 to 65536.
    pub iodepth: u32,
    /// First byte of the job's region.
    pub offset_bytes: u64,
    /// What equal jobs' regions begin later than the one before.
    pub offset_increment_bytes: u64,
    /// Bytes of the job's region.
    pub size_bytes: u64,
    /// Bytes to transfer unless `time_based`; the region's size when not given.
    pub io_bytes: Option<u64>,
    /// Times that it transfers its bytes. Range 1 and above.
    pub loops: u32,
    /// It ends after so many requests, if it has not by then.
    pub most_requests: Option<u64>,
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
    /// Sequential requests skip so many bytes, or with a negative number go back.
    pub step_bytes: i64,
    /// Random requests that follow one another.
    pub repeat: Option<Repeat>,
    /// Requests stay in a zone for a while, then go on to the next.
    pub strided: Option<Strided>,
    /// Seed of random order and mix.
    pub seed: u64,
    /// Cap on reads.
    pub rate_read: Option<Rate>,
    /// Cap on writes.
    pub rate_write: Option<Rate>,
    /// Whether requests under a cap arrive at random (a Poisson process) and not at equal distances.
    pub poisson: bool,
    /// The job ends when it reads more slowly.
    pub min_rate_read: Option<Rate>,
    /// The job ends when it writes more slowly.
    pub min_rate_write: Option<Rate>,
    /// Time over which that is measured.
    pub rate_cycle: Duration,
    /// Its share of the requests of jobs that flow together.
    pub flow: Option<Flow>,
    /// Looks for the queue depth that keeps latencies below a bound.
    pub latency_target: Option<LatencyTarget>,
    /// Ends when its speed has become steady.
    pub steady_state: Option<SteadyState>,
    /// Pause after every `think_blocks` requests, when those are complete.
    pub think_time: Duration,
    /// Requests between two pauses. Range 1 and above.
    pub think_blocks: u32,
    /// How the data is said to be read, when it is written and when it is preloaded.
    pub read_pattern: Pattern,
    /// How the writes say which data belongs together.
    pub data_placement: DataPlacement,
    /// The streams that the writes go to in turn, range 1 to 16 each; or reclaim unit handles, range 0 to 15, all of the device
    /// when empty.
    pub placement_ids: Vec<u16>,
    /// Jobs with the same file share a namespace; without, the job has one of its own.
    pub file: Option<String>,
    /// NVM set of the job's namespace; the sets in turn when not given.
    pub nvm_set: Option<u32>,
    /// Priority of the job's submission queue under weighted round robin; every job has a queue of its own.
    pub queue_priority: Priority,
    /// Start when the jobs before it have ended.
    pub stonewall: bool,
    /// Start when the jobs of this name have ended.
    pub wait_for: Option<String>,
    /// Which jobs end when this one does.
    pub exit: Exit,
    /// It begins a new group of those that `exit` ends together; so does `stonewall`.
    pub new_group: bool,
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

impl JobError {
    /// `text` is what was found and, after a semicolon, the remedy.
    pub(super) fn new(key: &'static str, text: &str) -> JobError {
        let (message, remedy) = text.rsplit_once("; ").unwrap_or((text, ""));
        JobError {
            key,
            message: message.to_owned(),
            remedy: remedy.to_owned(),
        }
    }
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
            block_bytes: 4096,
            iodepth: 1,
            loops: 1,
            rwmixread: 50,
            seed: 1,
            rate_cycle: Duration::from_ms(1000),
            think_blocks: 1,
            queue_priority: Priority::Medium,
            numjobs: 1,
            ..Job::default()
        }
    }

    /// Bytes of its smallest request. Offsets are multiples of it, or of `align_bytes`.
    pub fn unit_bytes(&self) -> u64 {
        self.block_sizes().min().unwrap_or(self.block_bytes)
    }

    /// Bytes of its largest request.
    pub fn largest_block_bytes(&self) -> u64 {
        self.block_sizes().max().unwrap_or(self.block_bytes)
    }

    /// All sizes of its requests.
    pub(super) fn block_sizes(&self) -> impl Iterator<Item = u64> {
        let alone = self.block_split.is_empty().then_some(self.block_bytes);
        let shares = self.block_split.iter().chain(&self.write_block_split);
        alone.into_iter().chain(shares.map(|share| share.bytes))
    }

    /// Smallest requests in its region.
    pub fn units(&self) -> u64 {
        self.size_bytes / self.unit_bytes().max(1)
    }

    /// Bytes it transfers unless it is `time_based`.
    pub fn total_bytes(&self) -> u64 {
        let unit = self.unit_bytes().max(1);
        let once = self.io_bytes.unwrap_or(self.size_bytes) / unit * unit;
        once.saturating_mul(u64::from(self.loops))
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
            offset_bytes: u64::from(index)
                .saturating_mul(self.offset_increment_bytes)
                .saturating_add(self.offset_bytes),
            // The first waits for all before it, the others start with it.
            stonewall: self.stonewall && index == 0,
            new_group: self.new_group && index == 0,
            ..self.clone()
        })
    }

    /// Whether it submits at times of its own: after a delay, with pauses, or at a rate.
    pub(super) fn has_times(&self) -> bool {
        let has_rate = self.rate_read.is_some() || self.rate_write.is_some();
        has_rate || self.start_delay > Duration::ZERO || self.think_time > Duration::ZERO
    }

    /// Refuses a job that cannot run.
    ///
    /// # Errors
    ///
    /// The first option that makes it impossible, and the remedy.
    pub fn validate(&self) -> Result<(), JobError> {
        self.mistakes().into_iter().next().map_or(Ok(()), Err)
    }

    /// Everything that makes the job impossible.
    pub fn mistakes(&self) -> Vec<JobError> {
        let mut mistakes = Vec::new();
        let mut wrong = |key, text: &str| mistakes.push(JobError::new(key, text));
        let given = self.size_bytes > 0;
        if !given {
            wrong("size", "is missing or 0; give one, such as size=1g");
        }
        let unit = self.unit_bytes();
        if unit == 0 {
            wrong("bs", "is 0; use a size such as bs=4k");
        }
        let last = u64::from(self.numjobs).saturating_sub(1);
        let last = self.offset_increment_bytes.checked_mul(last);
        let last = last.and_then(|last| last.checked_add(self.offset_bytes));
        let end = last.and_then(|last| last.checked_add(self.size_bytes));
        if end.is_none() {
            let text = "brings the region to where no device has an address; use a smaller one";
            wrong("offset", text);
        }
        let block = self.largest_block_bytes();
        let once = self.io_bytes.unwrap_or(self.size_bytes);
        let mut sizes = [("size", self.size_bytes), ("io_size", once)].into_iter();
        if let Some((key, bytes)) = sizes.find(|(_, bytes)| given && *bytes < block) {
            let text =
                format!("of {bytes} B is less than a block of {block} B; use at least one block");
            wrong(key, &text);
        }
        let (is_0, or_out) = (Some(0), "is 0; use 1 or more, or leave it out");
        if self.align_bytes == is_0 {
            let text = "is 0; use a size such as blockalign=4k, or leave it out";
            wrong("blockalign", text);
        }
        if self.loops == 0 {
            wrong("loops", or_out);
        }
        if self.most_requests == is_0 {
            wrong("number_ios", or_out);
        }
        let (depth, most) = (self.iodepth, Job::IODEPTH_MAX);
        if !(1..=most).contains(&depth) {
            wrong("iodepth", &format!("is {depth}; use 1 to {most}"));
        }
        let percent = self.rwmixread;
        if percent > 100 {
            let text = format!("is {percent}; use a percentage, 0 to 100");
            wrong("rwmixread", &text);
        }
        if self.runtime == Some(Duration::ZERO) {
            let text = "is 0; use a time such as runtime=100ms, or leave it out";
            wrong("runtime", text);
        }
        let rates = [self.rate_read, self.rate_write];
        if rates.iter().flatten().any(|rate| rate.per_second() == 0) {
            let text = "is 0; use a rate such as rate_iops=10k or rate=100m, or leave it out";
            wrong("rate", text);
        }
        if self.rate_cycle == Duration::ZERO {
            let text = "is 0; use milliseconds such as rate_cycle=1000, or leave it out";
            wrong("rate_cycle", text);
        }
        if self.think_blocks == 0 {
            let text = "is 0; use 1 or more, or leave thinktime out";
            wrong("thinktime_blocks", text);
        }
        let (jobs, most) = (self.numjobs, Job::NUMJOBS_MAX);
        if !(1..=most).contains(&jobs) {
            wrong("numjobs", &format!("is {jobs}; use 1 to {most}"));
        }
        if self.distribution != Distribution::Once && !self.rw.is_random() {
            let remedy = "use randread, randwrite or randrw";
            let text = format!("is set, but rw={} is sequential; {remedy}", self.rw);
            wrong("random_distribution", &text);
        }
        let ids = &self.placement_ids;
        let missing = match self.data_placement {
            DataPlacement::None if !ids.is_empty() => Some("dataplacement"),
            DataPlacement::Streams if ids.is_empty() => Some("plids"),
            _ => None,
        };
        if let Some(key) = missing {
            let text = "is missing; give both, such as dataplacement=streams and plids=1";
            wrong(key, text);
        }
        let (what, range) = match self.data_placement {
            DataPlacement::Fdp => ("handle", 0..=MAX_STREAMS - 1),
            _ => ("stream", 1..=MAX_STREAMS),
        };
        if let Some(id) = ids.iter().find(|id| !range.contains(id)) {
            let (first, last) = range.into_inner();
            wrong("plids", &format!("has {what} {id}; use {first} to {last}"));
        }
        if self.poisson && rates == [None, None] {
            let text = "needs a rate; add one, such as rate_iops=10k";
            wrong("rate_process", text);
        }
        if self.time_based && self.runtime.is_none() {
            let text = "needs an end; add runtime, such as runtime=100ms";
            wrong("time_based", text);
        }
        if let Some(zone) = &self.strided {
            let range = zone.range_bytes;
            if range < unit || zone.size_bytes == 0 {
                let text =
                    format!("of {range} B holds no block of {unit} B; use at least one block");
                wrong("zonesize", &text);
            }
        }
        let target = self.latency_target.as_ref();
        if target.is_some_and(|target| target.window == Duration::ZERO) {
            let text = "is missing or 0; give one, such as latency_window=5s";
            wrong("latency_window", text);
        }
        if let Some(steady) = &self.steady_state {
            let (window, every) = (steady.window, steady.interval);
            let whole = every >= SteadyState::SHORTEST && window.as_ps() % every.as_ps() == 0;
            let fits = window > every && window.as_ps() / every.as_ps() <= SteadyState::MOST;
            if !(whole && fits) {
                let text = "is missing, or not 2 to 4096 times ss_interval, which is 1 us at least; give one, such as ss_dur=10s";
                wrong("ss_dur", text);
            }
        }
        mistakes
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
