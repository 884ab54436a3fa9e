//! A job while its section is read: what is said of it so far, option by option.

use super::super::direction::by_direction;
use super::super::distribution::{Distribution, parse_distribution};
use super::super::job::{BlockSizes, GENERATORS, Job, JobError, PRIORITIES, parse_read_pattern};
use super::super::options::{
    DataPlacement, EXITS, Exit, Flow, LatencyTarget, PLACEMENTS, Repeat, SteadyState, Strided,
    ZonedBlock,
};
use super::super::placement::parse_placement_ids;
use super::super::quantity::{
    Amount, parse_bytes, parse_name, parse_number, parse_time, parse_time_in,
};
use super::Surroundings;
use super::foreign::{self, Engine, Foreign};
use super::grammar::{
    bytes_a_second, flag, parse_block_range, parse_block_split, parse_percentiles, percentile,
    requests_a_second, share,
};
use crate::declared::{first_name, job_options};
use meldsim::engine::Duration;
use meldsim::profile::nearest;

/// The word before the name of a file whose lines stand in its place.
pub(super) const INCLUDE: &str = "include";
/// How an engine that is a library of the user's is called.
pub(super) const OWN_ENGINE: &str = "an engine of your own";
/// What is noted of a job with more files than one.
pub(super) const SEVERAL_FILES: &str = "several files of a job";
/// Whether requests under a rate arrive at random.
const RATE_PROCESSES: [(&str, bool); 2] = [("linear", false), ("poisson", true)];
/// What `sync` may say; only a flush of each write is meant by all but the first.
const SYNCS: [(&str, bool); 5] = [
    ("none", false),
    ("0", false),
    ("1", true),
    ("sync", true),
    ("dsync", true),
];
/// What `zonemode` may say.
const ZONE_MODES: [(&str, ZoneMode); 3] = [
    ("none", ZoneMode::None),
    ("strided", ZoneMode::Strided),
    ("zbd", ZoneMode::Device),
];
/// Streams that Linux 4.13 to 5.17 gave to the lifetimes of data.
const WRITE_HINTS: [(&str, u16); 6] = [
    ("none", 0),
    ("not-set", 0),
    ("short", 1),
    ("medium", 2),
    ("long", 3),
    ("extreme", 4),
];

/// What zones a job has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ZoneMode {
    #[default]
    None,
    /// Parts of its region.
    Strided,
    /// Those of the device.
    Device,
}

/// What is said of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) job: Job,
    /// Sizes of reads, writes and trims, as `bs`, `bsrange` and `bssplit` say.
    bytes: [Option<u64>; 3],
    ranges: [Option<BlockSizes>; 3],
    splits: [Option<BlockSizes>; 3],
    size: Option<Amount>,
    io_size: Option<Amount>,
    offset: Option<Amount>,
    offset_align: Option<u64>,
    offset_increment: Option<Amount>,
    file_bytes: Option<u64>,
    /// What stands after the colon of `rw`.
    modifier: String,
    identical: bool,
    /// The engine is a library of the user's.
    has_own_engine: bool,
    /// Its options.
    engine_options: Vec<String>,
    /// `fdp=1`, which says `dataplacement=fdp`.
    is_fdp: bool,
    zone_mode: ZoneMode,
    zoned: ZonedBlock,
    strided: Strided,
    zone_bytes: Option<u64>,
    device_zone: Option<u64>,
    flow: Flow,
    exit_all: bool,
    exit: Exit,
    latency_target: LatencyTarget,
    /// The duration, the ramp and the interval.
    steady_times: [Option<Duration>; 3],
    /// The engine has one request outstanding.
    is_synchronous: bool,
    has_engine: bool,
    /// The engine has no files.
    is_null: bool,
    write_hint: u16,
    no_map: Option<bool>,
    fills_device: bool,
    serializes: bool,
    /// By name; a job without has `nrfiles` of its own.
    pub(super) files: Vec<String>,
    own_files: Option<u64>,
    /// `do_verify=0`: what is written is not read.
    pub(super) verifies_not: bool,
    is_direct: bool,
    /// Options whose lines were refused.
    pub(super) refused: Vec<String>,
}

impl Draft {
    /// `device_zone` is the size of the device's zones, if it has any.
    pub(super) fn new(job: Job, device_zone: Option<u64>) -> Draft {
        Draft {
            job,
            device_zone,
            exit: Exit::Group,
            ..Draft::default()
        }
    }

    /// Bytes, a part, or fio's `4z`: so many zones of the device.
    fn amount(&self, text: &str) -> Result<Amount, String> {
        let Some(zones) = text.strip_suffix(['z', 'Z']) else {
            return text.parse();
        };
        let zone = self.device_zone.ok_or_else(|| {
            format!("is \"{text}\", zones, and the device has none; write bytes, or take a profile with zones")
        })?;
        let bytes = parse_number::<u64>(zones)?.checked_mul(zone);
        bytes
            .map(Amount::Bytes)
            .ok_or_else(|| format!("is \"{text}\", which is too large; use fewer zones"))
    }

    /// Sets an option; gives whether it was passed over. An error is what was found and, after a semicolon, the remedy.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let key = first_name(key);
        let job = &mut self.job;
        match key {
            "rw" => {
                let (kind, modifier) = value.split_once(':').unwrap_or((value, ""));
                job.rw = kind.parse()?;
                modifier.clone_into(&mut self.modifier);
            }
            "rw_sequencer" => {
                self.identical = parse_name(value, &[("sequential", false), ("identical", true)])?;
            }
            "bs" => merge(&mut self.bytes, by_direction(value, parse_bytes)?),
            "bssplit" => merge(&mut self.splits, by_direction(value, parse_block_split)?),
            "bsrange" => {
                merge(&mut self.ranges, by_direction(value, parse_block_range)?);
            }
            "bs_is_seq_rand" => job.sizes_by_order = flag(value)?,
            "blockalign" => {
                let align = by_direction(value, parse_bytes)?;
                job.align_bytes = Some(align.map(Option::unwrap_or_default));
            }
            "size" => self.size = Some(self.amount(value)?),
            "filesize" => self.file_bytes = Some(parse_bytes(value)?),
            "io_size" => self.io_size = Some(self.amount(value)?),
            "number_ios" => job.most_requests = Some(parse_number(value)?),
            "loops" => job.loops = parse_number(value)?,
            "offset" => self.offset = Some(self.amount(value)?),
            "offset_align" => self.offset_align = Some(parse_bytes(value)?),
            "offset_increment" => self.offset_increment = Some(self.amount(value)?),
            // As in fio, another line has more files.
            "filename" => {
                for name in file_names(value) {
                    if !self.files.contains(&name) {
                        self.files.push(name);
                    }
                }
            }
            "nrfiles" => {
                self.own_files = Some(parse_number(value)?).filter(|files| *files > 0);
            }
            "direct" | "buffered" => {
                self.is_direct = flag(value).unwrap_or(true) == (key == "direct");
                return Ok(true);
            }
            "do_verify" => {
                self.verifies_not = !flag(value)?;
                return Ok(true);
            }
            _ if self.verifies_not && foreign::is_of_verify(key) => return Ok(true),
            "name" => value.clone_into(&mut job.name),
            // None at all is no limit.
            "runtime" => {
                job.runtime = Some(parse_time(value)?).filter(|time| *time > Duration::ZERO);
            }
            "ramp_time" => job.ramp_time = parse_time(value)?,
            "startdelay" => job.start_delay = parse_time(value)?,
            "iodepth" => job.iodepth = parse_number(value)?,
            "iodepth_low" => {
                job.iodepth_low = Some(parse_number(value)?).filter(|depth| *depth > 0);
            }
            "iodepth_batch_complete_min" => {
                job.complete_min = parse_number::<u32>(value)?.max(1);
            }
            "iodepth_batch" | "iodepth_batch_submit" => {
                job.submit_batch = parse_number(value)?;
                return Ok(true);
            }
            "ioengine" => {
                let engine = foreign::engine(value)?;
                self.has_own_engine = foreign::is_own_engine(value);
                job.queues = engine == Engine::Queued;
                self.is_synchronous = engine == Engine::Synchronous;
                self.is_null = engine == Engine::Null;
                self.has_engine = true;
                return Ok(true);
            }
            "numjobs" => job.numjobs = parse_number(value)?,
            "group_reporting" => job.group_reporting = flag(value)?,
            "rwmixread" => job.rwmixread = parse_number(value)?,
            "rwmixwrite" => {
                let reads = 100u32.checked_sub(parse_number(value)?);
                job.rwmixread =
                    reads.ok_or_else(|| format!("is {value}; use a percentage, 0 to 100"))?;
            }
            "random_distribution" => job.distribution = parse_distribution(value)?,
            "norandommap" => self.no_map = Some(flag(value)?),
            "fill_device" => self.fills_device = flag(value)?,
            "serialize_overlap" => self.serializes = flag(value)?,
            "random_generator" => job.generator = parse_name(value, &GENERATORS)?,
            "randseed" => {
                job.seed = parse_number(value)?;
                job.new_order = true;
            }
            "randrepeat" => job.random_repeat = flag(value)?,
            "allrandrepeat" => job.all_random_repeat = flag(value)?,
            "percentage_random" => {
                let percents = by_direction(value, parse_number)?;
                job.random_percent = percents.map(|percent| percent.unwrap_or(100));
            }
            "fsync" => job.fsync = parse_number(value)?,
            "fdatasync" => job.fdatasync = parse_number(value)?,
            "end_fsync" | "fsync_on_close" => job.end_fsync |= flag(value)?,
            "sync" => job.sync_writes = parse_name(value, &SYNCS)?,
            "write_hint" => self.write_hint = parse_name(value, &WRITE_HINTS)?,
            // Results look them up as they were given.
            "clat_percentiles" | "lat_percentiles" | "slat_percentiles" => drop(flag(value)?),
            "percentile_list" => job.percentiles = parse_percentiles(value)?,
            "zonemode" => {
                self.zone_mode = parse_name(value, &ZONE_MODES)?;
            }
            "zonecapacity" => self.zoned.capacity_bytes = parse_bytes(value)?,
            "max_open_zones" => self.zoned.max_open = parse_number(value)?,
            "job_max_open_zones" => self.zoned.job_max_open = parse_number(value)?,
            "zone_reset_threshold" => self.zoned.reset_threshold = share(value)?,
            "zone_reset_frequency" => self.zoned.reset_frequency = share(value)?,
            "read_beyond_wp" => self.zoned.read_beyond = flag(value)?,
            "zonerange" => self.strided.range_bytes = parse_bytes(value)?,
            "zonesize" => self.zone_bytes = Some(parse_bytes(value)?),
            "zoneskip" => self.strided.skip_bytes = parse_bytes(value)?,
            "rate" => {
                [job.rate_read, job.rate_write, job.rate_trim] = bytes_a_second(value)?;
            }
            "rate_iops" => {
                [job.rate_read, job.rate_write, job.rate_trim] = requests_a_second(value)?;
            }
            "rate_min" => {
                [job.min_rate_read, job.min_rate_write, _] = bytes_a_second(value)?;
            }
            "rate_iops_min" => {
                [job.min_rate_read, job.min_rate_write, _] = requests_a_second(value)?;
            }
            "rate_cycle" => job.rate_cycle = parse_time_in(value, "ms")?,
            "rate_process" => job.poisson = parse_name(value, &RATE_PROCESSES)?,
            "flow" => self.flow.weight = parse_number(value)?,
            "flow_id" => self.flow.id = parse_number(value)?,
            "flow_sleep" => self.flow.sleep = parse_time_in(value, "us")?,
            "latency_target" => self.latency_target.target = parse_time_in(value, "us")?,
            "latency_window" => self.latency_target.window = parse_time_in(value, "us")?,
            "latency_percentile" => self.latency_target.percentile = percentile(value)?,
            "latency_run" => self.latency_target.run = flag(value)?,
            "steadystate" => job.steady_state = Some(SteadyState::parse(value)?),
            "ss_dur" => self.steady_times[0] = Some(parse_time(value)?),
            "ss_ramp" => self.steady_times[1] = Some(parse_time(value)?),
            "ss_interval" => {
                self.steady_times[2] = Some(parse_time(value)?);
            }
            "thinktime" => job.think_time = parse_time_in(value, "us")?,
            "thinktime_blocks" => job.think_blocks = parse_number(value)?,
            "dataplacement" => {
                job.data_placement = parse_name(value, &PLACEMENTS)?;
            }
            "fdp" => self.is_fdp = flag(value)?,
            "plids" => job.placement_ids = parse_placement_ids(value)?,
            "nvm_set" => job.nvm_set = Some(parse_number(value)?),
            "queue_priority" => job.queue_priority = parse_name(value, &PRIORITIES)?,
            "time_based" => job.time_based = flag(value)?,
            "stonewall" => job.stonewall = flag(value)?,
            "wait_for" => job.wait_for = Some(value.to_owned()),
            "exitall" => self.exit_all = flag(value)?,
            "exit_what" => self.exit = parse_name(value, &EXITS)?,
            "new_group" => job.new_group = flag(value)?,
            "read_pattern" => job.read_pattern = parse_read_pattern(value)?,
            // As in fio, what it does not know itself is the engine's.
            _ if self.has_own_engine
                && foreign::option(key, value).is_none()
                && nearest_known(key).is_none() =>
            {
                self.engine_options.push(format!("{key} of {OWN_ENGINE}"));
            }
            _ => return other(key, value),
        }
        Ok(false)
    }

    /// The job, and what was passed over for it.
    pub(super) fn finish(
        self,
        surroundings: &dyn Surroundings,
    ) -> Result<(Job, Vec<String>), JobError> {
        let mut job = self.job.clone();
        let mut passed_over = Vec::new();
        if self.has_own_engine {
            passed_over.push("ioengine".to_owned());
        }
        passed_over.extend(self.engine_options.iter().cloned());
        let files = self.own_files.filter(|_| self.files.is_empty());
        let files = files.unwrap_or(self.files.len() as u64).max(1);
        if files > 1 {
            if self.offset.is_some() {
                let text = "is of each of several files, which are parts of one namespace here; remove it, or write a job for each file";
                return Err(JobError::new("offset", text));
            }
            passed_over.push(SEVERAL_FILES.to_owned());
        }
        if !self.files.is_empty() {
            job.file = Some(self.files.join(":"));
        }
        let file_bytes = self.file_bytes.map(|bytes| bytes.saturating_mul(files));
        job.widens = !self.is_direct && (self.is_synchronous || !self.has_engine);
        job.block_sizes = self.block_sizes(&mut job.block_bytes);
        if self.write_hint > 0 && job.data_placement == DataPlacement::None {
            job.data_placement = DataPlacement::Streams;
            job.placement_ids = vec![self.write_hint];
        }
        if !self.modifier.is_empty() {
            modify(&mut job, &self.modifier, self.identical)
                .map_err(|text| JobError::new("rw", &text))?;
        }
        if self.is_fdp {
            if job.data_placement == DataPlacement::Streams {
                let text = "is 1 with dataplacement=streams; remove one of them";
                return Err(JobError::new("fdp", text));
            }
            job.data_placement = DataPlacement::Fdp;
        }
        if self.zone_bytes.is_some() && self.zone_mode == ZoneMode::None {
            let text = "has no zones to be of; add zonemode=strided, or zonemode=zbd";
            return Err(JobError::new("zonesize", text));
        }
        if self.zone_mode == ZoneMode::Device {
            if self.strided.skip_bytes > 0 {
                let text = "leaves out zones of the device, which jobs here do not; remove it";
                return Err(JobError::new("zoneskip", text));
            }
            job.zoned = Some(ZonedBlock {
                zone_bytes: self.zone_bytes.unwrap_or(0),
                ..self.zoned
            });
        }
        if self.zone_mode == ZoneMode::Strided {
            let zone = self.zone_bytes.unwrap_or(0);
            let range = match self.strided.range_bytes {
                0 => zone,
                range => range,
            };
            job.strided = Some(Strided {
                range_bytes: range,
                size_bytes: zone,
                ..self.strided
            });
        }
        job.flow = (self.flow.weight > 0).then_some(self.flow);
        if self.exit_all {
            job.exit = self.exit;
        }
        let has_target = self.latency_target.target > Duration::ZERO;
        job.latency_target = has_target.then_some(self.latency_target);
        if let Some(steady) = &mut job.steady_state {
            let [window, ramp, interval] = self.steady_times;
            steady.window = window.unwrap_or(steady.window);
            steady.ramp_time = ramp.unwrap_or(steady.ramp_time);
            steady.interval = interval.unwrap_or(steady.interval);
        }
        if self.is_synchronous && job.iodepth > 1 {
            job.iodepth = 1;
            passed_over.push("iodepth of a synchronous engine".to_owned());
        }
        if self.no_map == Some(true) && job.distribution == Distribution::Once {
            job.distribution = Distribution::Uniform;
        }
        if self.serializes && job.iodepth > 1 && (job.rw.writes() || job.rw.trims()) {
            let text = "holds back requests that overlap, which jobs here do not; remove it, or use iodepth=1";
            return Err(JobError::new("serialize_overlap", text));
        }
        // What is sequential chooses no blocks.
        if !job.rw.is_random() {
            if ![Distribution::Once, Distribution::Uniform].contains(&job.distribution) {
                passed_over.push("random_distribution of a sequential job".to_owned());
            }
            job.distribution = Distribution::Once;
        }
        // What percentages are of, and what is used when no size is said: the file if its size is, else the device.
        let whole = |key| {
            let device = || surroundings.capacity_bytes();
            let text = "is a part of the device, whose size is not known here; give it in bytes";
            let known = file_bytes.or_else(device);
            known.ok_or_else(|| JobError::new(key, text))
        };
        let unit = job.unit_bytes().max(1);
        let in_bytes = |amount: Option<Amount>, key, plain: u64| match amount {
            None => Ok((plain, false)),
            Some(Amount::Bytes(bytes)) => Ok((bytes, false)),
            // None at all is no part.
            Some(Amount::Percent(0)) => Ok((0, false)),
            Some(part) => Ok((part.of(whole(key)?), true)),
        };
        let (offset, offset_is_part) = in_bytes(self.offset, "offset", job.offset_bytes)?;
        let increment = job.offset_increment_bytes;
        let (increment, is_part) = in_bytes(self.offset_increment, "offset_increment", increment)?;
        (job.offset_bytes, job.offset_increment_bytes) = (offset, increment);
        if offset_is_part || is_part {
            job.offset_align_bytes = self.offset_align.unwrap_or(unit).max(1);
        }
        let first = job.offset_of(0);
        let is_of_file = job.file.is_some() || file_bytes.is_some() || self.fills_device;
        match (self.size, file_bytes) {
            (Some(Amount::Bytes(bytes)), None) => job.size_bytes = bytes,
            (Some(Amount::Bytes(bytes)), Some(file)) => {
                job.size_bytes = file.saturating_sub(first);
                job.within_bytes = Some(file);
                job.pass_bytes = Some(bytes).filter(|bytes| *bytes < job.size_bytes);
            }
            (Some(part), _) => {
                let (whole, all) = (whole("size")?, part == Amount::Percent(100));
                let size = part.of(whole).min(whole.saturating_sub(first));
                job.size_bytes = if all { size } else { size - size % unit };
                job.within_bytes = Some(whole);
            }
            (None, _) if job.size_bytes == 0 && is_of_file => {
                let whole = whole("size")?;
                job.size_bytes = whole.saturating_sub(first);
                job.within_bytes = Some(whole);
            }
            (None, _) => {}
        }
        if self.is_null && file_bytes.is_some() {
            // As in fio, `size` is the file's where the engine has none, and without `size` it has no end.
            job.file_bytes = match self.size {
                Some(Amount::Bytes(bytes)) => job.within_bytes.max(Some(bytes)),
                _ if job.strided.is_some() => None,
                _ => Some(u64::MAX),
            };
        }
        match self.io_size {
            None => {}
            Some(Amount::Bytes(bytes)) => job.io_bytes = Some(bytes).filter(|bytes| *bytes > 0),
            Some(Amount::Percent(percent)) => {
                job.pass_percent = Some(percent).filter(|part| *part > 0)
            }
        }
        Ok((job, passed_over))
    }

    /// Sizes by direction, where they are not all one size; that size otherwise.
    fn block_sizes(&self, plain: &mut u64) -> Option<[BlockSizes; 3]> {
        let sizes = [0, 1, 2].map(|index| {
            let own = BlockSizes::of(self.bytes[index].unwrap_or(*plain));
            let range = self.ranges[index].clone().unwrap_or(own);
            // As in fio, shares go before a range and a size, wherever they stand.
            self.splits[index].clone().unwrap_or(range)
        });
        let one = BlockSizes::of(sizes[0].least);
        if sizes.iter().all(|other| *other == one) {
            *plain = one.least;
            return None;
        }
        Some(sizes)
    }
}

/// What is said anew; the rest stays as it was.
fn merge<T>(known: &mut [Option<T>; 3], said: [Option<T>; 3]) {
    for (known, said) in known.iter_mut().zip(said) {
        *known = said.or(known.take());
    }
}

/// Mistakes of a job, by their keys, and the options besides those that may be what is wrong.
const CAUSES: [(&str, &str); 12] = [
    (
        "size",
        "filesize, fill_device, filename, nrfiles, offset, bs, bssplit, bsrange",
    ),
    ("io_size", "size, filesize, bs, bssplit, bsrange"),
    ("offset", "size, offset_increment, numjobs"),
    ("time_based", "runtime"),
    ("rate_process", "rate, rate_iops"),
    ("plids", "dataplacement, fdp"),
    ("dataplacement", "fdp, plids"),
    ("fdp", "dataplacement"),
    ("zonesize", "zonerange, bs, bssplit, bsrange"),
    ("ss_dur", "ss_interval"),
    ("wait_for", "name"),
    ("rwmixread", "rwmixwrite"),
];

/// Whether a job's mistake may follow from an option that was refused, and so has no value.
pub(super) fn follows(mistake: &str, option: &str) -> bool {
    let option = first_name(option);
    let causes = CAUSES.iter().filter(|(key, _)| *key == mistake);
    let mut causes = causes.flat_map(|(_, options)| options.split(", "));
    // Of a file that was not included it is not known what is in it.
    mistake == option || option == INCLUDE || causes.any(|cause| cause == option)
}

/// An option that this program does not have.
fn other(key: &str, value: &str) -> Result<bool, String> {
    match foreign::option(key, value) {
        Some(Foreign::PassedOver) => Ok(true),
        Some(Foreign::Refused(reason)) => Err(reason),
        None => Err(match nearest_known(key) {
            _ if key.contains('.') => "is of one section; leave its name out for all jobs, or take that job alone with --section".to_owned(),
            Some(known) => format!("is not a known option; did you mean {known}?"),
            None => "is not a known option; remove it (native-sim/study/meldsim-workload/options.md lists those that are)".to_owned(),
        }),
    }
}

/// The option that may have been meant.
fn nearest_known(key: &str) -> Option<&'static str> {
    nearest(key, job_options())
}

/// What stands after the colon of `rw`: bytes to skip, or the number of requests that follow one another.
fn modify(job: &mut Job, text: &str, identical: bool) -> Result<(), String> {
    if job.rw.is_random() {
        let requests = parse_number(text)?;
        job.repeat = (requests > 1).then_some(Repeat {
            requests,
            identical,
        });
        return Ok(());
    }
    let (sign, bytes) = match text.strip_prefix('-') {
        Some(bytes) => (-1, bytes),
        None => (1, text),
    };
    let bytes = i64::try_from(parse_bytes(bytes)?).map_err(|_| "skips too much; use less")?;
    job.step_bytes = sign * bytes;
    Ok(())
}

/// The names of files; fio writes `:` between them, and `\:` in one.
fn file_names(text: &str) -> Vec<String> {
    let names = text.replace("\\:", "\0");
    let names = names.split(':').filter(|name| !name.is_empty());
    names.map(|name| name.replace('\0', ":")).collect()
}
