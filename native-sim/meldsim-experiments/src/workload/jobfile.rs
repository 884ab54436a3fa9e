//! Job files in fio's syntax: `[global]`, sections, `key=value`, comments after `;` or `#`. Text comes in, [`Job`]s go out,
//! and a job's options as a result shows them.

use meldsim::profile::nearest;
use thiserror::Error;

use super::distribution::{Distribution, parse_distribution};
use super::job::{BlockShare, Job, PATTERNS, PRIORITIES, Rate, parse_read_pattern};
use super::placement::{DataPlacement, parse_placement_ids};
use super::quantity::{name_of, parse_bytes, parse_count, parse_name, parse_time, parse_time_in};
use meldsim::engine::Duration;

/// The options of a job, in the order in which they are documented. Some have a second name.
const OPTIONS: &str = "rw, bs, bssplit, iodepth, size, io_size, offset, filename, runtime, time_based, ramp_time, \
                       startdelay, stonewall, numjobs, group_reporting, rwmixread, rwmixwrite, random_distribution, \
                       norandommap, randseed, rate, rate_iops, rate_process, thinktime, thinktime_blocks, \
                       read_pattern, dataplacement, plids, nvm_set, queue_priority";
const SECOND_NAMES: [&str; 3] = ["readwrite", "blocksize", "io_limit"];
/// Whether requests under a rate arrive at random.
const RATE_PROCESSES: [(&str, bool); 2] = [("linear", false), ("poisson", true)];

/// What is wrong with a job file, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}: {key}: {message}; {remedy}")]
pub struct JobFileError {
    /// The file's name as the caller knows it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The option or section.
    pub key: String,
    /// What was found.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

/// The jobs of `text`, each starting from `defaults` and the `[global]` section. `file` is only named in errors.
///
/// # Errors
///
/// The first line that is no job's, or the section of a job that cannot run.
pub fn parse_job_file(file: &str, text: &str, defaults: &Job) -> Result<Vec<Job>, JobFileError> {
    let error = |line, key: &str, message: &str, remedy: &str| JobFileError {
        file: file.to_owned(),
        line,
        key: key.to_owned(),
        message: message.to_owned(),
        remedy: remedy.to_owned(),
    };
    let mut global = defaults.clone();
    let mut jobs: Vec<(usize, Job)> = Vec::new();
    let mut in_global = false;
    let mut at = 1;
    for (index, raw) in text.lines().enumerate() {
        at = index + 1;
        let line = raw.trim();
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        if let Some(section) = line.strip_prefix('[') {
            let name = section.strip_suffix(']').filter(|name| !name.is_empty());
            let Some(name) = name else {
                return Err(error(at, line, "is not a section", "write it as [name]"));
            };
            in_global = name == "global";
            if !in_global {
                let name = name.to_owned();
                jobs.push((
                    at,
                    Job {
                        name,
                        ..global.clone()
                    },
                ));
            }
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let (key, value) = (key.trim(), value.trim());
        let job = match jobs.last_mut() {
            _ if in_global => &mut global,
            Some((_, job)) => job,
            None => {
                let message = "stands before any section";
                return Err(error(at, key, message, "put [global] or [name] above it"));
            }
        };
        set(job, key, value).map_err(|text| {
            let parts = text.split_once("; ");
            let (message, remedy) = parts.unwrap_or((&text, "correct the value"));
            error(at, key, message, remedy)
        })?;
    }
    if jobs.is_empty() {
        let remedy = "add a section such as [job1]";
        return Err(error(at, "(file)", "has no job", remedy));
    }
    for (at, job) in &jobs {
        job.validate().map_err(|wrong| {
            let key = format!("[{}] {}", job.name, wrong.key);
            error(*at, &key, &wrong.message, &wrong.remedy)
        })?;
    }
    Ok(jobs.into_iter().map(|(_, job)| job).collect())
}

/// Sets an option. An error is what was found and, after a semicolon, the remedy.
fn set(job: &mut Job, key: &str, value: &str) -> Result<(), String> {
    match key {
        "rw" | "readwrite" => job.rw = value.parse()?,
        "bs" | "blocksize" => job.block_bytes = parse_bytes(value)?,
        "bssplit" => job.block_split = parse_block_split(value)?,
        "size" => job.size_bytes = parse_bytes(value)?,
        "io_size" | "io_limit" => job.io_bytes = Some(parse_bytes(value)?),
        "offset" => job.offset_bytes = parse_bytes(value)?,
        "filename" => job.file = Some(value.to_owned()),
        "runtime" => job.runtime = Some(parse_time(value)?),
        "ramp_time" => job.ramp_time = parse_time(value)?,
        "startdelay" => job.start_delay = parse_time(value)?,
        "iodepth" => job.iodepth = number(value)?,
        "numjobs" => job.numjobs = number(value)?,
        "group_reporting" => job.group_reporting = flag(value)?,
        "rwmixread" => job.rwmixread = number(value)?,
        "rwmixwrite" => job.rwmixread = 100u32.wrapping_sub(number(value)?),
        "random_distribution" => job.distribution = parse_distribution(value)?,
        "norandommap" => {
            if flag(value)? && job.distribution == Distribution::Once {
                job.distribution = Distribution::Uniform;
            }
        }
        "randseed" => job.seed = number(value)?,
        "rate" => {
            let rates = by_direction(value, parse_bytes)?;
            [job.rate_read, job.rate_write] = rates.map(|rate| rate.map(Rate::Bytes));
        }
        "rate_iops" => {
            let rates = by_direction(value, parse_count)?;
            [job.rate_read, job.rate_write] = rates.map(|rate| rate.map(Rate::Requests));
        }
        "rate_process" => job.poisson = parse_name(value, &RATE_PROCESSES)?,
        "thinktime" => job.think_time = parse_time_in(value, "us")?,
        "thinktime_blocks" => job.think_blocks = number(value)?,
        "dataplacement" => job.data_placement = DataPlacement::parse(value)?,
        "plids" => job.placement_ids = parse_placement_ids(value)?,
        "nvm_set" => job.nvm_set = Some(number(value)?),
        "queue_priority" => job.queue_priority = parse_name(value, &PRIORITIES)?,
        "time_based" => job.time_based = flag(value)?,
        "stonewall" => job.stonewall = flag(value)?,
        "read_pattern" => job.read_pattern = parse_read_pattern(value)?,
        // Options of fio about files, processes and engines.
        "ioengine" | "direct" | "buffered" | "directory" | "thread" | "invalidate"
        | "create_on_open" | "fallocate" | "gtod_reduce" | "refill_buffers" | "randrepeat"
        | "name" => {
            return Err("has no meaning on a simulated device; remove the line".to_owned());
        }
        _ => {
            let known = OPTIONS.split(", ").chain(SECOND_NAMES);
            return Err(match nearest(key, known) {
                Some(known) => format!("is not a known option; did you mean {known}?"),
                None => format!("is not a known option; known options are {OPTIONS}"),
            });
        }
    }
    Ok(())
}

/// The options of a job as a result shows them: those that say what it does, and those that differ from fio's defaults.
pub(super) fn options(job: &Job) -> Vec<(&'static str, String)> {
    let is_shown = |key, differs: bool| match key {
        "rw" | "iodepth" | "size" | "randseed" => true,
        "bs" => job.block_split.is_empty(),
        "rwmixread" => job.rw.reads() && job.rw.writes(),
        _ => differs,
    };
    let defaults = texts(&Job::new("")).into_iter();
    let both = texts(job).into_iter().zip(defaults);
    both.filter(|(option, default)| is_shown(option.0, option != default))
        .map(|(option, _)| option)
        .collect()
}

/// Every option as text.
fn texts(job: &Job) -> [(&'static str, String); 30] {
    let shares = job.block_split.iter();
    let shares = shares.map(|share| format!("{}/{}", share.bytes, share.percent));
    let flag = |value| u8::from(value).to_string();
    let time = |time: Duration| format!("{}ns", time.as_ns());
    [
        ("rw", job.rw.to_string()),
        ("bs", job.block_bytes.to_string()),
        ("bssplit", list(shares, ":")),
        ("iodepth", job.iodepth.to_string()),
        ("size", job.size_bytes.to_string()),
        ("io_size", list(job.io_bytes, "")),
        ("offset", job.offset_bytes.to_string()),
        ("filename", list(job.file.as_ref(), "")),
        ("runtime", list(job.runtime.map(time), "")),
        ("time_based", flag(job.time_based)),
        ("ramp_time", time(job.ramp_time)),
        ("startdelay", time(job.start_delay)),
        ("stonewall", flag(job.stonewall)),
        ("numjobs", job.numjobs.to_string()),
        ("group_reporting", flag(job.group_reporting)),
        ("rwmixread", job.rwmixread.to_string()),
        ("random_distribution", job.distribution.to_string()),
        ("randseed", job.seed.to_string()),
        ("rate_read", rate(job.rate_read, Rate::Bytes)),
        ("rate_iops_read", rate(job.rate_read, Rate::Requests)),
        ("rate_write", rate(job.rate_write, Rate::Bytes)),
        ("rate_iops_write", rate(job.rate_write, Rate::Requests)),
        ("rate_process", name_of(&job.poisson, &RATE_PROCESSES)),
        ("thinktime", time(job.think_time)),
        ("thinktime_blocks", job.think_blocks.to_string()),
        ("nvm_set", list(job.nvm_set, "")),
        ("queue_priority", name_of(&job.queue_priority, &PRIORITIES)),
        ("read_pattern", name_of(&job.read_pattern, &PATTERNS)),
        ("dataplacement", job.data_placement.name().to_owned()),
        ("plids", list(&job.placement_ids, ",")),
    ]
}

/// Values with `separator` between them; one of them, or none.
fn list<T: ToString>(values: impl IntoIterator<Item = T>, separator: &str) -> String {
    let texts = values.into_iter().map(|value| value.to_string());
    texts.collect::<Vec<_>>().join(separator)
}

/// The rate if it is of that kind.
fn rate(rate: Option<Rate>, kind: fn(u64) -> Rate) -> String {
    let of_kind = rate.filter(|rate| *rate == kind(rate.per_second()));
    list(of_kind.map(Rate::per_second), "")
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        format!("is \"{text}\", which is not a whole number in range; write one such as 32")
    })
}

fn flag(text: &str) -> Result<bool, String> {
    match text {
        "" | "1" => Ok(true),
        "0" => Ok(false),
        _ => Err(format!("is \"{text}\"; use 1 or 0")),
    }
}

/// fio's `read,write`: one value is for both directions, an empty one for none.
fn by_direction(
    text: &str,
    parse: impl Fn(&str) -> Result<u64, String>,
) -> Result<[Option<u64>; 2], String> {
    let value = |text: &str| match text.trim() {
        "" => Ok(None),
        text => parse(text).map(Some),
    };
    match text.split_once(',') {
        None => parse(text).map(|both| [Some(both); 2]),
        Some((read, write)) => Ok([value(read)?, value(write)?]),
    }
}

/// fio's `size/percent:size/percent`; what is left of 100 percent is shared among the sizes without one.
fn parse_block_split(text: &str) -> Result<Vec<BlockShare>, String> {
    let wrong = || {
        format!(
            "is \"{text}\", which is not SIZE/PERCENT:...; write one such as 4k/60:64k/40, for both directions"
        )
    };
    let mut shares = Vec::new();
    let mut open = Vec::new();
    for part in text.split(':') {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let bytes = parse_bytes(size).map_err(|_| wrong())?;
        if percent.is_empty() {
            open.push(shares.len());
        }
        let percent = match percent {
            "" => 0,
            percent => percent.parse::<u8>().map_err(|_| wrong())?.into(),
        };
        shares.push(BlockShare { bytes, percent });
    }
    let given: u32 = shares.iter().map(|share| share.percent).sum();
    let left = 100u32.saturating_sub(given);
    let count = open.len() as u32;
    for (nth, index) in open.into_iter().enumerate() {
        // What does not divide goes to the first.
        shares[index].percent = left / count + u32::from((nth as u32) < left % count);
    }
    Ok(shares)
}

#[cfg(test)]
mod tests {
    use super::super::job::ReadWrite;
    use super::*;
    use meldsim::nvme::Pattern;

    fn parse(text: &str) -> Result<Vec<Job>, String> {
        parse_job_file("a.fio", text, &Job::new("")).map_err(|error| error.to_string())
    }

    #[test]
    fn sections_inherit_from_global_as_it_stands() {
        let jobs = parse(
            "; a comment\n[global]\nbs=64k\nsize=1g\nrandseed=7\n\n[one]\nrw=randread\niodepth=32\n\
             # another\n[two]\nrw=write\nread_pattern=sequential\nruntime=250ms\nstonewall\n",
        )
        .unwrap();
        assert_eq!(jobs.len(), 2);
        assert_eq!(jobs[0].name, "one");
        assert_eq!(
            (jobs[0].rw, jobs[0].iodepth, jobs[0].seed),
            (ReadWrite::RandRead, 32, 7)
        );
        assert_eq!((jobs[1].block_bytes, jobs[1].iodepth), (65_536, 1));
        assert_eq!(jobs[1].runtime, Some(Duration::from_ms(250)));
        assert!(jobs[1].stonewall && !jobs[0].stonewall);
        assert_eq!(jobs[1].read_pattern, Pattern::Sequential);
    }

    #[test]
    fn every_option_sets_what_it_says() {
        let base = parse("[j]\nsize=1m\nrw=randrw").unwrap();
        for (line, changed) in [
            ("bssplit=4k/10:64k/50:32k/40", "block_split"),
            ("io_size=2m", "io_bytes"),
            ("offset=64k", "offset_bytes"),
            ("filename=shared", "file"),
            ("ramp_time=1ms", "ramp_time"),
            ("startdelay=2ms", "start_delay"),
            ("numjobs=4", "numjobs"),
            ("group_reporting", "group_reporting"),
            ("rwmixwrite=10", "rwmixread: 90"),
            ("random_distribution=zipf:0.9", "Zipf"),
            ("norandommap", "Uniform"),
            ("rate=1m,500k", "rate_read: Some(Bytes(1048576))"),
            ("rate=,500k", "rate_write: Some(Bytes(512000))"),
            ("rate_iops=20k", "rate_write: Some(Requests(20000))"),
            ("rate=1m\nrate_process=poisson", "poisson: true"),
            ("thinktime=50", "think_time: Duration(50000000)"),
            ("thinktime_blocks=8", "think_blocks: 8"),
            ("nvm_set=2", "nvm_set: Some(2)"),
            (
                "dataplacement=streams\nplids=1,3-4",
                "data_placement: Streams, placement_ids: [1, 3, 4]",
            ),
            ("queue_priority=high", "queue_priority: High"),
        ] {
            let jobs = parse(&format!("[j]\nsize=1m\nrw=randrw\n{line}\n")).unwrap();
            assert_ne!(jobs, base, "{line}");
            let text = format!("{:?}", jobs[0]);
            assert!(text.contains(changed), "{line}: {text}");
        }
    }

    #[test]
    fn percentages_left_out_share_the_rest() {
        let jobs = parse("[j]\nsize=1m\nbssplit=4k/50:8k/:32k/\n").unwrap();
        let percents: Vec<u32> = jobs[0].block_split.iter().map(|b| b.percent).collect();
        assert_eq!(percents, [50, 25, 25]);
        assert_eq!(
            (jobs[0].unit_bytes(), jobs[0].largest_block_bytes()),
            (4096, 32_768)
        );
    }

    #[test]
    fn an_error_names_file_line_key_and_remedy() {
        for (text, expected) in [
            (
                "[j]\nsize=1m\niodpeth=4\n",
                "a.fio:3: iodpeth: is not a known option; did you mean iodepth?",
            ),
            (
                "[j]\nioengine=libaio\n",
                "a.fio:2: ioengine: has no meaning on a simulated device; remove the line",
            ),
            (
                "bs=4k\n",
                "a.fio:1: bs: stands before any section; put [global] or [name] above it",
            ),
            (
                "[j]\nsize=1m\niodepth=0\n",
                "a.fio:1: [j] iodepth: is 0; use 1 to 65536",
            ),
            (
                "[j]\n",
                "a.fio:1: [j] size: is missing or 0; give one, such as size=1g",
            ),
            ("[j\n", "a.fio:1: [j: is not a section; write it as [name]"),
            (
                "\n",
                "a.fio:1: (file): has no job; add a section such as [job1]",
            ),
            (
                "[j]\nsize=1m\nrate=fast\n",
                "a.fio:3: rate: is \"fast\", which is not a size; write a number and B, KiB, MiB, GiB or TiB, such as 4KiB or 4k",
            ),
            (
                "[j]\nsize=1m\nbssplit=4k/60:8k/60\n",
                "a.fio:1: [j] bssplit: has percentages that add up to 120; let them add up to 100",
            ),
            (
                "[j]\nsize=1m\nrandom_distribution=zipf\n",
                "a.fio:1: [j] random_distribution: is set, but rw=read is sequential; use randread, randwrite or randrw",
            ),
            (
                "[j]\nread_pattern=seq\n",
                "a.fio:2: read_pattern: is \"seq\", which is unknown; use sequential, random or none",
            ),
            (
                "[j]\ndataplacement=fdp\n",
                "a.fio:2: dataplacement: is \"fdp\", which is unknown; use none or streams",
            ),
            (
                "[j]\nsize=1m\ndataplacement=streams\n",
                "a.fio:1: [j] plids: is missing; give both, such as dataplacement=streams and plids=1",
            ),
            (
                "[j]\nsize=1m\nplids=1\n",
                "a.fio:1: [j] dataplacement: is missing; give both, such as dataplacement=streams and plids=1",
            ),
            (
                "[j]\nplids=0\n",
                "a.fio:2: plids: is \"0\"; write streams from 1 to 16, such as 1,3-5",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), expected);
        }
        let unknown = parse("[j]\nzonesize=4k\n").unwrap_err();
        assert!(
            unknown.contains("known options are rw, bs, bssplit, iodepth"),
            "{unknown}"
        );
    }

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let known = ["bs", "iodepth", "runtime", "read_pattern"];
        assert_eq!(nearest("iodpeth", known), Some("iodepth"));
        assert_eq!(nearest("read-pattern", known), Some("read_pattern"));
        assert_eq!(nearest("runtme", known), Some("runtime"));
        assert_eq!(nearest("zonesize", known), None);
    }
}
