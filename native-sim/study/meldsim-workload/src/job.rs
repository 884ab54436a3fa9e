//! A job: what one loop of requests does.

use std::fmt::{self, Display};
use std::str::FromStr;

use thiserror::Error;

use super::distribution::Distribution;
use super::options::{
    DataPlacement, Exit, Flow, LatencyTarget, Repeat, SteadyState, Strided, ZonedBlock,
};
use super::quantity::{Amount, name_of, parse_name};
use crate::declared::first_name;
use meldsim::engine::Duration;
use meldsim::nvme::{Pattern, Priority};
use meldsim_host::Direction;

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
    /// Sequential deallocations.
    Trim,
    /// Random deallocations.
    RandTrim,
    /// Sequential: each block is deallocated, then written.
    TrimWrite,
    /// The same of random blocks.
    RandTrimWrite,
}

impl ReadWrite {
    const NAMES: [(&'static str, ReadWrite); 11] = [
        ("read", ReadWrite::Read),
        ("write", ReadWrite::Write),
        ("randread", ReadWrite::RandRead),
        ("randwrite", ReadWrite::RandWrite),
        ("rw", ReadWrite::ReadWrite),
        ("randrw", ReadWrite::RandReadWrite),
        ("trim", ReadWrite::Trim),
        ("randtrim", ReadWrite::RandTrim),
        ("trimwrite", ReadWrite::TrimWrite),
        ("randtrimwrite", ReadWrite::RandTrimWrite),
        ("readwrite", ReadWrite::ReadWrite),
    ];

    /// Whether blocks come in random order.
    pub fn is_random(self) -> bool {
        use ReadWrite::{RandRead, RandReadWrite, RandTrim, RandTrimWrite, RandWrite};
        matches!(
            self,
            RandRead | RandWrite | RandReadWrite | RandTrim | RandTrimWrite
        )
    }

    /// Whether some requests are reads.
    pub fn reads(self) -> bool {
        use ReadWrite::{RandRead, RandReadWrite, Read};
        matches!(self, Read | RandRead | RandReadWrite | ReadWrite::ReadWrite)
    }

    /// Whether some requests are writes.
    pub fn writes(self) -> bool {
        !matches!(
            self,
            ReadWrite::Read | ReadWrite::RandRead | ReadWrite::Trim | ReadWrite::RandTrim
        )
    }

    /// Whether some requests are deallocations.
    pub fn trims(self) -> bool {
        use ReadWrite::{RandTrim, RandTrimWrite, Trim, TrimWrite};
        matches!(self, Trim | RandTrim | TrimWrite | RandTrimWrite)
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
    /// Share of the requests, in percent.
    pub percent: u32,
}

/// Sizes of one direction's requests: multiples of the least, up to the most, or those that are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSizes {
    /// Bytes of the smallest request.
    pub least: u64,
    /// Bytes of the largest request.
    pub most: u64,
    /// The sizes with their shares; all multiples as often when empty.
    pub split: Vec<BlockShare>,
}

impl BlockSizes {
    /// All of one size.
    pub fn of(bytes: u64) -> BlockSizes {
        BlockSizes {
            least: bytes,
            most: bytes,
            split: Vec::new(),
        }
    }

    /// These sizes with their shares.
    pub fn split(split: Vec<BlockShare>) -> BlockSizes {
        let bytes = || split.iter().map(|share| share.bytes);
        BlockSizes {
            least: bytes().min().unwrap_or(0),
            most: bytes().max().unwrap_or(0),
            split,
        }
    }
}

/// What random blocks are drawn with: fio's `random_generator`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// Numbers of 32 bits; of 64 where there are more blocks.
    #[default]
    Tausworthe,
    /// A shift register that needs no map.
    Lfsr,
    /// Numbers of 64 bits.
    Tausworthe64,
}

/// The names of `random_generator`.
pub(super) const GENERATORS: [(&str, Generator); 3] = [
    ("tausworthe", Generator::Tausworthe),
    ("lfsr", Generator::Lfsr),
    ("tausworthe64", Generator::Tausworthe64),
];

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
    /// Sizes of reads, writes and trims in place of `block_bytes`.
    pub block_sizes: Option<[BlockSizes; 3]>,
    /// Sequential requests have the sizes of reads, random ones those of writes.
    pub sizes_by_order: bool,
    /// Random reads, writes and trims begin at multiples of these; of the smallest request where it is 0.
    pub align_bytes: Option<[u64; 3]>,
    /// Requests outstanding. Range 1 to 65536.
    pub iodepth: u32,
    /// A full queue drains to so many requests before it is filled again; to one less than full when not given.
    pub iodepth_low: Option<u32>,
    /// Of a full queue, so many completions are taken at once. Range 1 and above.
    pub complete_min: u32,
    /// So many requests are submitted at once; 0 is `iodepth`. It takes no time here, and decides only what fio's leftover marks say.
    pub submit_batch: u32,
    /// Its engine has a queue, even if that is for one request.
    pub queues: bool,
    /// Its requests may begin and end within logical blocks, as those of a page cache's user: whole blocks are read and written.
    pub widens: bool,
    /// First byte of the job's region.
    pub offset_bytes: u64,
    /// What equal jobs' regions begin later than the one before.
    pub offset_increment_bytes: u64,
    /// Regions begin at the next multiple of this; anywhere when 0.
    pub offset_align_bytes: u64,
    /// Bytes of the job's region.
    pub size_bytes: u64,
    /// Where the regions of equal jobs end at the latest, as those of parts of a file do.
    pub within_bytes: Option<u64>,
    /// Where the file ends, if that is beyond `within_bytes`. No request ends beyond it.
    pub file_bytes: Option<u64>,
    /// Bytes to transfer in a pass; the region's size when not given.
    pub pass_bytes: Option<u64>,
    /// At most so many percent of the region in a pass.
    pub pass_percent: Option<u64>,
    /// Bytes to transfer unless `time_based`; those of a pass when not given.
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
    /// Requests go to zones of the device.
    pub zoned: Option<ZonedBlock>,
    /// Share of a random job's reads, writes and trims that are at random, in percent; the others follow one another.
    pub random_percent: [u32; 3],
    /// What random blocks are drawn with.
    pub generator: Generator,
    /// Seed of random order, mix and sizes.
    pub seed: u64,
    /// Blocks do not depend on the seed: fio's `randrepeat`.
    pub random_repeat: bool,
    /// Each pass touches blocks in an order of its own, as with fio's `randseed`.
    pub new_order: bool,
    /// Nothing random depends on the seed: fio's `allrandrepeat`.
    pub all_random_repeat: bool,
    /// Its number among all jobs of a file, from 1, which is part of every seed.
    pub thread: u32,
    /// A flush follows every so many writes; none when 0.
    pub fsync: u32,
    /// The same of `fdatasync`: to a device it is no other flush.
    pub fdatasync: u32,
    /// A flush ends each pass.
    pub end_fsync: bool,
    /// A flush is part of each write.
    pub sync_writes: bool,
    /// Cap on reads.
    pub rate_read: Option<Rate>,
    /// Cap on writes.
    pub rate_write: Option<Rate>,
    /// Cap on trims.
    pub rate_trim: Option<Rate>,
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
    /// Percentiles of latencies that results show, in millionths of a percent; fio's list when empty.
    pub percentiles: Vec<u64>,
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
    /// Equal jobs that run at once, with seeds of their own. Range 1 to 4096.
    pub numjobs: u32,
    /// Whether the equal jobs' results are added up.
    pub group_reporting: bool,
    /// Its options as they were written.
    pub given: Given,
}

/// Options as a job file has them, by fio's names, in their order. Jobs are alike in whichever words they were written.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Those of `[global]`, up to the job.
    pub global: Vec<(String, String)>,
    /// Those of its section, and what was laid over.
    pub own: Vec<(String, String)>,
}

impl PartialEq for Given {
    fn eq(&self, _: &Given) -> bool {
        true
    }
}

impl Eq for Given {}

impl Given {
    /// Takes in an option; one that has no value is on.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        let key = first_name(key);
        let value = if value.is_empty() { "1" } else { value };
        self.own.retain(|(known, _)| known != key);
        self.own.push((key.to_owned(), value.to_owned()));
    }

    /// What is said of an option.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let mut all = self.own.iter().chain(&self.global);
        all.find(|(known, _)| known == key)
            .map(|(_, value)| value.as_str())
    }
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
    /// Most equal jobs at once, as in fio.
    pub const NUMJOBS_MAX: u32 = 4096;
    /// Most percentiles, and sizes with shares, that a job may list, as in fio.
    pub const PERCENTILES_MAX: usize = 20;
    pub(super) const SPLIT_MAX: usize = 64;
    /// fio's `randseed` where a job has none.
    pub const SEED: u64 = 0x89;

    /// A job with fio's defaults: sequential 4 KiB reads at depth 1, of nothing yet.
    pub fn new(name: impl Into<String>) -> Job {
        Job {
            name: name.into(),
            block_bytes: 4096,
            iodepth: 1,
            loops: 1,
            rwmixread: 50,
            complete_min: 1,
            submit_batch: 1,
            random_percent: [100; 3],
            seed: Job::SEED,
            random_repeat: true,
            thread: 1,
            rate_cycle: Duration::from_ms(1000),
            think_blocks: 1,
            queue_priority: Priority::Medium,
            numjobs: 1,
            ..Job::default()
        }
    }

    /// The same with a seed, if there is one, of all that is random.
    pub fn with_seed(self, seed: Option<u64>) -> Job {
        Job {
            seed: seed.unwrap_or(self.seed),
            random_repeat: seed.is_none() && self.random_repeat,
            ..self
        }
    }

    /// Bytes of its smallest request.
    pub fn unit_bytes(&self) -> u64 {
        let sizes = self.block_sizes.iter().flatten();
        sizes
            .map(|sizes| sizes.least)
            .min()
            .unwrap_or(self.block_bytes)
    }

    /// Bytes of its largest request.
    pub fn largest_block_bytes(&self) -> u64 {
        let sizes = self.block_sizes.iter().flatten();
        sizes
            .map(|sizes| sizes.most)
            .max()
            .unwrap_or(self.block_bytes)
    }

    /// Sizes of its reads, writes or trims.
    pub(super) fn block_sizes(&self, direction: Direction) -> BlockSizes {
        let sizes = self.block_sizes.as_ref();
        sizes.map_or_else(
            || BlockSizes::of(self.block_bytes),
            |sizes| sizes[direction as usize].clone(),
        )
    }

    /// Bytes of a pass.
    pub(super) fn pass_bytes(&self) -> u64 {
        let part = Amount::Percent(self.pass_percent.unwrap_or(100)).of(self.size_bytes);
        self.pass_bytes.unwrap_or(part).min(part)
    }

    /// Bytes it transfers unless it is `time_based`.
    pub fn total_bytes(&self) -> u64 {
        let unit = self.unit_bytes().max(1);
        let once = self.io_bytes.unwrap_or(self.pass_bytes()) / unit * unit;
        once.saturating_mul(u64::from(self.loops))
    }

    /// First byte after its region.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.size_bytes)
    }

    /// The byte behind the last that its file has: at least that of its region.
    pub(super) fn file_end_bytes(&self) -> u64 {
        let file = self.file_bytes.or(self.within_bytes);
        self.end_bytes().max(file.unwrap_or(0))
    }

    /// The byte behind the last that a request may touch, within the file: one that begins in the region may end beyond it, and
    /// zones of the job's own may lie beyond it.
    pub(super) fn reach_bytes(&self) -> u64 {
        let beyond = self.end_bytes().saturating_add(self.largest_block_bytes());
        match self.strided {
            Some(_) => self.file_end_bytes(),
            None => self.file_end_bytes().min(beyond),
        }
    }

    /// Whether random requests may meet a block again before all were met.
    pub(super) fn repeats_blocks(&self) -> bool {
        let is_aligned = |(index, align): (usize, &u64)| {
            let sizes = self.block_sizes(Direction::ALL[index]);
            [0, sizes.least].contains(align)
        };
        let align = self.align_bytes.as_ref().into_iter().flatten().enumerate();
        self.distribution != Distribution::Once || !align.into_iter().all(is_aligned)
    }

    /// Whether it has one request at a time, as fio's engines that do not queue.
    pub(super) fn is_synchronous(&self) -> bool {
        !self.queues && self.iodepth == 1
    }

    /// Whether random numbers have 64 bits.
    pub(super) fn is_long(&self) -> bool {
        let blocks = self.size_bytes / self.unit_bytes().max(1);
        match self.generator {
            Generator::Tausworthe => blocks > u32::MAX.into(),
            Generator::Tausworthe64 => true,
            Generator::Lfsr => false,
        }
    }

    /// The file's name as fio makes it.
    pub(super) fn file_name(&self) -> String {
        let own = || match self.numjobs {
            1 => format!("{}.0.0", self.name),
            _ => format!("{}.0", self.name),
        };
        self.file.clone().unwrap_or_else(own)
    }

    /// Where the region of one of the equal jobs begins.
    pub(super) fn offset_of(&self, index: u32) -> u64 {
        let increment = u64::from(index).saturating_mul(self.offset_increment_bytes);
        let offset = increment.saturating_add(self.offset_bytes);
        let align = self.offset_align_bytes.max(1);
        offset.checked_next_multiple_of(align).unwrap_or(offset)
    }

    /// The equal jobs it stands for.
    pub(super) fn clones(&self) -> impl Iterator<Item = Job> + '_ {
        (0..self.numjobs).map(|index| {
            let room = self.within_bytes.unwrap_or(u64::MAX);
            let size = self
                .size_bytes
                .min(room.saturating_sub(self.offset_of(index)));
            Job {
                name: match self.numjobs {
                    1 => self.name.clone(),
                    _ => format!("{}.{index}", self.name),
                },
                // As in fio, the second thread is that of the last of the equal jobs.
                thread: self
                    .thread
                    .saturating_add((self.numjobs - index) % self.numjobs),
                // As in fio, `randseed` does without `randrepeat` in all but the first.
                random_repeat: self.random_repeat && !(self.new_order && index > 0),
                offset_bytes: self.offset_of(index),
                size_bytes: size,
                pass_bytes: self.pass_bytes.filter(|bytes| *bytes < size),
                // The first waits for all before it, the others start with it.
                stonewall: self.stonewall && index == 0,
                new_group: self.new_group && index == 0,
                ..self.clone()
            }
        })
    }

    /// Whether it submits at times of its own: after a delay, with pauses, or at a rate.
    pub(super) fn has_times(&self) -> bool {
        let rates = [self.rate_read, self.rate_write, self.rate_trim];
        let has_rate = rates != [None; 3];
        has_rate || self.start_delay > Duration::ZERO || self.think_time > Duration::ZERO
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
