//! A job while its section is read: what is said of it so far, option by option.

use super::super::distribution::{parse_distribution, shares};
use super::super::job::{BlockShare, Job, JobError, PRIORITIES, Rate, parse_read_pattern};
use super::super::options::{
    DataPlacement, EXITS, Exit, Flow, LatencyTarget, PLACEMENTS, Repeat, SteadyState, Strided,
};
use super::super::placement::parse_placement_ids;
use super::super::quantity::{
    Amount, parse_bytes, parse_count, parse_decimal, parse_name, parse_number, parse_time,
    parse_time_in,
};
use super::Surroundings;
use super::foreign::{self, Foreign};
use meldsim::engine::Duration;
use meldsim::profile::nearest;
use meldsim_drive::Distribution;

/// The options of a job, in the order in which they are documented.
const OPTIONS: &str = "rw, bs, bsrange, bssplit, blockalign, iodepth, size, filesize, io_size, number_ios, loops, offset, \
                       offset_increment, filename, runtime, time_based, ramp_time, startdelay, stonewall, wait_for, \
                       exitall, exit_what, new_group, numjobs, group_reporting, rwmixread, rwmixwrite, rw_sequencer, \
                       random_distribution, norandommap, randseed, zonemode, zonerange, zonesize, zoneskip, rate, \
                       rate_iops, rate_process, rate_min, rate_iops_min, rate_cycle, flow, flow_id, flow_sleep, \
                       latency_target, latency_window, latency_percentile, latency_run, steadystate, ss_dur, ss_ramp, \
                       ss_interval, thinktime, thinktime_blocks, name, ioengine, read_pattern, dataplacement, plids, \
                       fdp, nvm_set, queue_priority";
/// Second names, and those that fio wants in full.
const SECOND_NAMES: &str = "readwrite, blocksize, blocksize_range, ba, io_limit, file_size, timeout, wait_for_previous, \
                            ratemin, ratecycle, data_placement, fdp_pli, ss, steadystate_duration, steadystate_ramp_time, \
                            steadystate_check_interval";
/// Whether requests under a rate arrive at random.
pub(super) const RATE_PROCESSES: [(&str, bool); 2] = [("linear", false), ("poisson", true)];
/// Most sizes of a `bsrange`.
const SIZES_MAX: u64 = 1024;

/// What is said of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) job: Job,
    /// Sizes of writes where they are said apart.
    write_bytes: Option<u64>,
    size: Option<Amount>,
    offset: Option<Amount>,
    file_bytes: Option<u64>,
    /// What stands after the colon of `rw`.
    modifier: String,
    identical: bool,
    /// `fdp=1`, which says `dataplacement=fdp`.
    is_fdp: bool,
    is_strided: bool,
    strided: Strided,
    zone_bytes: Option<u64>,
    flow: Flow,
    exit_all: bool,
    exit: Exit,
    latency_target: LatencyTarget,
    /// The duration, the ramp and the interval.
    steady_times: [Option<Duration>; 3],
    /// The engine has one request outstanding.
    is_synchronous: bool,
    /// Options whose lines were refused.
    pub(super) refused: Vec<String>,
}

impl Draft {
    pub(super) fn new(job: Job) -> Draft {
        Draft {
            job,
            exit: Exit::Group,
            ..Draft::default()
        }
    }

    /// Sets an option; gives whether it was passed over. An error is what was found and, after a semicolon, the remedy.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let job = &mut self.job;
        match key {
            "rw" | "readwrite" => {
                let (kind, modifier) = value.split_once(':').unwrap_or((value, ""));
                job.rw = kind.parse()?;
                modifier.clone_into(&mut self.modifier);
            }
            "rw_sequencer" => {
                self.identical = parse_name(value, &[("sequential", false), ("identical", true)])?;
            }
            "bs" | "blocksize" => {
                let [read, write] = by_direction(value, parse_bytes)?;
                job.block_bytes = read.unwrap_or(4096);
                self.write_bytes = Some(write.unwrap_or(4096));
            }
            "bssplit" => {
                let [read, write] = by_direction(value, parse_block_split)?;
                set_sizes(job, read, write);
            }
            "bsrange" | "blocksize_range" => {
                let [read, write] = by_direction(value, parse_block_range)?;
                set_sizes(job, read, write);
            }
            "blockalign" | "ba" => job.align_bytes = by_direction(value, parse_bytes)?[0],
            "size" => self.size = Some(value.parse()?),
            "filesize" | "file_size" => self.file_bytes = Some(parse_bytes(value)?),
            "io_size" | "io_limit" => job.io_bytes = Some(parse_bytes(value)?),
            "number_ios" => job.most_requests = Some(parse_number(value)?),
            "loops" => job.loops = parse_number(value)?,
            "offset" => self.offset = Some(value.parse()?),
            "offset_increment" => job.offset_increment_bytes = parse_bytes(value)?,
            "filename" => job.file = Some(parse_file_name(value)?),
            "name" => value.clone_into(&mut job.name),
            "runtime" | "timeout" => job.runtime = Some(parse_time(value)?),
            "ramp_time" => job.ramp_time = parse_time(value)?,
            "startdelay" => job.start_delay = parse_time(value)?,
            "iodepth" => job.iodepth = parse_number(value)?,
            "ioengine" => {
                self.is_synchronous = !foreign::engine_queues(value)?;
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
            "norandommap" => {
                if flag(value)? && job.distribution == Distribution::Once {
                    job.distribution = Distribution::Uniform;
                }
            }
            "randseed" => job.seed = parse_number(value)?,
            "zonemode" => {
                if value == "zbd" {
                    return Err(
                        "is \"zbd\", and the simulated device has no zones; use none or strided"
                            .to_owned(),
                    );
                }
                self.is_strided = parse_name(value, &[("none", false), ("strided", true)])?;
            }
            "zonerange" => self.strided.range_bytes = parse_bytes(value)?,
            "zonesize" => self.zone_bytes = Some(parse_bytes(value)?),
            "zoneskip" => self.strided.skip_bytes = parse_bytes(value)?,
            "rate" => [job.rate_read, job.rate_write] = bytes_a_second(value)?,
            "rate_iops" => [job.rate_read, job.rate_write] = requests_a_second(value)?,
            "rate_min" | "ratemin" => {
                [job.min_rate_read, job.min_rate_write] = bytes_a_second(value)?;
            }
            "rate_iops_min" => {
                [job.min_rate_read, job.min_rate_write] = requests_a_second(value)?;
            }
            "rate_cycle" | "ratecycle" => job.rate_cycle = parse_time_in(value, "ms")?,
            "rate_process" => job.poisson = parse_name(value, &RATE_PROCESSES)?,
            "flow" => self.flow.weight = parse_number(value)?,
            "flow_id" => self.flow.id = parse_number(value)?,
            "flow_sleep" => self.flow.sleep = parse_time_in(value, "us")?,
            "latency_target" => self.latency_target.target = parse_time_in(value, "us")?,
            "latency_window" => self.latency_target.window = parse_time_in(value, "us")?,
            "latency_percentile" => self.latency_target.percentile = percentile(value)?,
            "latency_run" => self.latency_target.run = flag(value)?,
            "steadystate" | "ss" => job.steady_state = Some(SteadyState::parse(value)?),
            "ss_dur" | "steadystate_duration" => self.steady_times[0] = Some(parse_time(value)?),
            "ss_ramp" | "steadystate_ramp_time" => self.steady_times[1] = Some(parse_time(value)?),
            "ss_interval" | "steadystate_check_interval" => {
                self.steady_times[2] = Some(parse_time(value)?);
            }
            "thinktime" => job.think_time = parse_time_in(value, "us")?,
            "thinktime_blocks" => job.think_blocks = parse_number(value)?,
            "dataplacement" | "data_placement" => {
                job.data_placement = parse_name(value, &PLACEMENTS)?;
            }
            "fdp" => self.is_fdp = flag(value)?,
            "plids" | "fdp_pli" => job.placement_ids = parse_placement_ids(value)?,
            "nvm_set" => job.nvm_set = Some(parse_number(value)?),
            "queue_priority" => job.queue_priority = parse_name(value, &PRIORITIES)?,
            "time_based" => job.time_based = flag(value)?,
            "stonewall" | "wait_for_previous" => job.stonewall = flag(value)?,
            "wait_for" => job.wait_for = Some(value.to_owned()),
            "exitall" => self.exit_all = flag(value)?,
            "exit_what" => self.exit = parse_name(value, &EXITS)?,
            "new_group" => job.new_group = flag(value)?,
            "read_pattern" => job.read_pattern = parse_read_pattern(value)?,
            _ => return other(key, value),
        }
        Ok(false)
    }

    /// The job, and what was passed over for it.
    pub(super) fn finish(
        self,
        surroundings: &dyn Surroundings,
    ) -> Result<(Job, Vec<String>), JobError> {
        let mut job = self.job;
        let mut passed_over = Vec::new();
        if job.block_split.is_empty() {
            let other = self.write_bytes.filter(|&bytes| bytes != job.block_bytes);
            let share = other.map(|bytes| BlockShare {
                bytes,
                percent: 100,
            });
            job.write_block_split.extend(share);
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
        if self.is_strided {
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
            let known = self.file_bytes.or_else(device);
            known.ok_or_else(|| JobError::new(key, text))
        };
        match self.offset {
            None => {}
            Some(Amount::Bytes(bytes)) => job.offset_bytes = bytes,
            Some(part) => {
                let bytes = part.of(whole("offset")?);
                let unit = job.unit_bytes().max(1);
                job.offset_bytes = bytes.checked_next_multiple_of(unit).unwrap_or(bytes);
            }
        }
        let is_of_file = job.file.is_some() || self.file_bytes.is_some();
        match self.size {
            Some(Amount::Bytes(bytes)) => job.size_bytes = bytes,
            Some(part) => job.size_bytes = part.of(whole("size")?),
            None if job.size_bytes == 0 && is_of_file => {
                job.size_bytes = whole("size")?.saturating_sub(job.offset_bytes);
            }
            None => {}
        }
        if let (Some(file), Some(_)) = (self.file_bytes, self.size) {
            job.io_bytes = job.io_bytes.or(Some(job.size_bytes));
            job.size_bytes = file.saturating_sub(job.offset_bytes);
        }
        Ok((job, passed_over))
    }
}

/// Mistakes of a job, by their keys, and the options besides those that may be what is wrong.
const CAUSES: [(&str, &str); 13] = [
    (
        "size",
        "filesize, file_size, offset, bs, blocksize, bssplit, bsrange, blocksize_range",
    ),
    (
        "io_size",
        "io_limit, size, filesize, file_size, bs, blocksize, bssplit, bsrange, blocksize_range",
    ),
    ("offset", "size, offset_increment, numjobs"),
    ("runtime", "timeout"),
    ("time_based", "runtime, timeout"),
    ("rate_process", "rate, rate_iops"),
    ("plids", "dataplacement, data_placement, fdp, fdp_pli"),
    ("dataplacement", "data_placement, fdp, plids, fdp_pli"),
    ("fdp", "dataplacement, data_placement"),
    (
        "zonesize",
        "zonerange, bs, blocksize, bssplit, bsrange, blocksize_range",
    ),
    (
        "ss_dur",
        "ss_interval, steadystate_duration, steadystate_check_interval",
    ),
    ("wait_for", "name"),
    ("rwmixread", "rwmixwrite"),
];

/// Whether a job's mistake may follow from an option that was refused, and so has no value.
pub(super) fn follows(mistake: &str, option: &str) -> bool {
    let causes = CAUSES.iter().filter(|(key, _)| *key == mistake);
    let mut causes = causes.flat_map(|(_, options)| options.split(", "));
    mistake == option || causes.any(|cause| cause == option)
}

/// An option that this program does not have.
fn other(key: &str, value: &str) -> Result<bool, String> {
    match foreign::option(key, value) {
        Some(Foreign::PassedOver) => Ok(true),
        Some(Foreign::Refused(reason)) => Err(reason),
        None => {
            let known = OPTIONS.split(", ").chain(SECOND_NAMES.split(", "));
            Err(match nearest(key, known.chain(foreign::options())) {
                Some(known) => format!("is not a known option; did you mean {known}?"),
                None => format!("is not a known option; known options are {OPTIONS}"),
            })
        }
    }
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

/// Sizes of reads and of writes; with none, of 4 KiB.
fn set_sizes(job: &mut Job, read: Option<Vec<BlockShare>>, write: Option<Vec<BlockShare>>) {
    let default = || {
        vec![BlockShare {
            bytes: 4096,
            percent: 100,
        }]
    };
    let (read, write) = (read.unwrap_or_else(default), write.unwrap_or_else(default));
    job.write_block_split = if write == read { Vec::new() } else { write };
    match read.as_slice() {
        // Of one size only.
        [one] if job.write_block_split.is_empty() && one.percent == 1 => {
            job.block_bytes = one.bytes;
            job.block_split.clear();
        }
        _ => job.block_split = read,
    }
}

/// The name of one file; fio writes `:` in it as `\:`.
fn parse_file_name(text: &str) -> Result<String, String> {
    let name = text.replace("\\:", "\0");
    if name.contains(':') {
        return Err(format!(
            "is \"{text}\", several files; write a job for each, and \\: for a colon in a name"
        ));
    }
    Ok(name.replace('\0', ":"))
}

fn flag(text: &str) -> Result<bool, String> {
    match text {
        "" | "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(format!("is \"{text}\"; use 1 or 0")),
    }
}

fn percentile(text: &str) -> Result<u64, String> {
    let number = parse_decimal(text, LatencyTarget::ALL / 100);
    number
        .filter(|number| *number <= LatencyTarget::ALL)
        .ok_or_else(|| format!("is \"{text}\"; use a percentage such as 99.9"))
}

/// fio's `read,write,trim`: a value that no comma follows is for all that come after it, too; an empty one is for none.
fn by_direction<T: Clone>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<[Option<T>; 2], String> {
    let value = |text: &str| match text.trim() {
        "" => Ok(None),
        text => parse(text).map(Some),
    };
    let mut parts = text.splitn(3, ',');
    let read = parts.next().unwrap_or("");
    let Some(write) = parts.next() else {
        let both = parse(read)?;
        return Ok([Some(both.clone()), Some(both)]);
    };
    // There are no trims here.
    if let Some(trim) = parts.next() {
        value(trim)?;
    }
    Ok([value(read)?, value(write)?])
}

fn bytes_a_second(text: &str) -> Result<[Option<Rate>; 2], String> {
    Ok(by_direction(text, parse_bytes)?.map(|rate| rate.map(Rate::Bytes)))
}

fn requests_a_second(text: &str) -> Result<[Option<Rate>; 2], String> {
    Ok(by_direction(text, parse_count)?.map(|rate| rate.map(Rate::Requests)))
}

/// fio's `smallest-largest`: the multiples of the smallest, all as often.
fn parse_block_range(text: &str) -> Result<Vec<BlockShare>, String> {
    let wrong = || format!("is \"{text}\", which is not SIZE-SIZE; write one such as 4k-64k");
    let (first, last) = text
        .split_once('-')
        .or_else(|| text.split_once(':'))
        .ok_or_else(wrong)?;
    let ends = [first, last].map(|size| parse_bytes(size).ok());
    let [Some(first), Some(last)] = ends else {
        return Err(wrong());
    };
    let (first, last) = (first.min(last), first.max(last));
    let sizes = last.checked_div(first).ok_or_else(wrong)?;
    if sizes > SIZES_MAX {
        return Err(format!(
            "is \"{text}\", of {sizes} sizes; use a larger smallest size, for at most {SIZES_MAX}"
        ));
    }
    let shares = (1..=sizes).map(|times| BlockShare {
        bytes: first * times,
        percent: 1,
    });
    Ok(shares.collect())
}

/// fio's `size/percent:size/percent`; what is left of 100 percent is shared among the sizes without one.
fn parse_block_split(text: &str) -> Result<Vec<BlockShare>, String> {
    let wrong =
        || format!("is \"{text}\", which is not SIZE/PERCENT:...; write one such as 4k/60:64k/40");
    let (mut sizes, mut percents) = (Vec::new(), Vec::new());
    for part in text.split(':') {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        sizes.push(parse_bytes(size).map_err(|_| wrong())?);
        percents.push(match percent {
            "" => None,
            percent => Some(percent.parse::<u8>().map_err(|_| wrong())?.into()),
        });
    }
    let percents = shares(percents.into_iter());
    let given: u32 = percents.iter().sum();
    if given != 100 {
        return Err(format!(
            "has percentages that add up to {given}; let them add up to 100"
        ));
    }
    let shares = sizes.into_iter().zip(percents);
    Ok(shares
        .map(|(bytes, percent)| BlockShare { bytes, percent })
        .collect())
}
