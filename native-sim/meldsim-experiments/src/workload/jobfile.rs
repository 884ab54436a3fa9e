//! Job files in fio's syntax: `[global]`, sections, `key=value`, comments after `;` or `#`.

use meldsim::profile::nearest;
use thiserror::Error;

use super::distribution::{Distribution, parse_distribution};
use super::job::{BlockShare, Job, Rate, ReadWrite, parse_priority, parse_read_pattern};
use super::placement::{DataPlacement, parse_placement_ids};
use super::quantity::{parse_bytes, parse_count, parse_time, parse_time_in};

/// The options of a job, in the order in which they are documented; a second name for the same option comes after all.
const KEYS: [&str; 33] = [
    "rw",
    "bs",
    "bssplit",
    "iodepth",
    "size",
    "io_size",
    "offset",
    "filename",
    "runtime",
    "time_based",
    "ramp_time",
    "startdelay",
    "stonewall",
    "numjobs",
    "group_reporting",
    "rwmixread",
    "rwmixwrite",
    "random_distribution",
    "norandommap",
    "randseed",
    "rate",
    "rate_iops",
    "rate_process",
    "thinktime",
    "thinktime_blocks",
    "read_pattern",
    "dataplacement",
    "plids",
    "nvm_set",
    "queue_priority",
    "readwrite",
    "blocksize",
    "io_limit",
];

/// Options of fio about files, processes and engines, which a simulated device does not have.
const MEANINGLESS: [&str; 12] = [
    "ioengine",
    "direct",
    "buffered",
    "directory",
    "thread",
    "invalidate",
    "create_on_open",
    "fallocate",
    "gtod_reduce",
    "refill_buffers",
    "randrepeat",
    "name",
];

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
pub fn parse_job_file(file: &str, text: &str, defaults: &Job) -> Result<Vec<Job>, JobFileError> {
    let mut global = defaults.clone();
    let mut jobs: Vec<(usize, Job)> = Vec::new();
    let mut in_global = false;
    let mut last_line = 1;
    for (index, raw) in text.lines().enumerate() {
        let at = Place {
            file,
            line: index + 1,
        };
        last_line = at.line;
        let line = raw.trim();
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        if let Some(section) = line.strip_prefix('[') {
            let Some(name) = section.strip_suffix(']').filter(|name| !name.is_empty()) else {
                return Err(at.error(line, "is not a section", "write it as [name]"));
            };
            in_global = name == "global";
            if !in_global {
                let job = Job {
                    name: name.to_owned(),
                    ..global.clone()
                };
                jobs.push((at.line, job));
            }
            continue;
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim(), value.trim()),
            None => (line, ""),
        };
        let target = match jobs.last_mut() {
            _ if in_global => &mut global,
            Some((_, job)) => job,
            None => {
                return Err(at.error(
                    key,
                    "stands before any section",
                    "put [global] or [name] above it",
                ));
            }
        };
        set(target, &at, key, value)?;
    }
    if jobs.is_empty() {
        let at = Place {
            file,
            line: last_line,
        };
        return Err(at.error("(file)", "has no job", "add a section such as [job1]"));
    }
    for (line, job) in &jobs {
        let at = Place { file, line: *line };
        job.validate().map_err(|error| {
            at.error(
                &format!("[{}] {}", job.name, error.key),
                &error.message,
                &error.remedy,
            )
        })?;
    }
    Ok(jobs.into_iter().map(|(_, job)| job).collect())
}

fn set(job: &mut Job, at: &Place<'_>, key: &str, value: &str) -> Result<(), JobFileError> {
    // Messages of value parsers are "what was found; remedy".
    let split = |text: String| {
        let (message, remedy) = text
            .split_once("; ")
            .unwrap_or((&text, "correct the value"));
        at.error(key, message, remedy)
    };
    match key {
        "rw" | "readwrite" => job.rw = value.parse::<ReadWrite>().map_err(split)?,
        "bs" | "blocksize" => job.block_bytes = parse_bytes(value).map_err(split)?,
        "bssplit" => job.block_split = parse_block_split(value).map_err(split)?,
        "size" => job.size_bytes = parse_bytes(value).map_err(split)?,
        "io_size" | "io_limit" => job.io_bytes = Some(parse_bytes(value).map_err(split)?),
        "offset" => job.offset_bytes = parse_bytes(value).map_err(split)?,
        "filename" => job.file = Some(value.to_owned()),
        "runtime" => job.runtime = Some(parse_time(value).map_err(split)?),
        "ramp_time" => job.ramp_time = parse_time(value).map_err(split)?,
        "startdelay" => job.start_delay = parse_time(value).map_err(split)?,
        "iodepth" => job.iodepth = number(value).map_err(split)?,
        "numjobs" => job.numjobs = number(value).map_err(split)?,
        "group_reporting" => job.group_reporting = flag(value).map_err(split)?,
        "rwmixread" => job.rwmixread = number(value).map_err(split)?,
        "rwmixwrite" => job.rwmixread = 100u32.wrapping_sub(number(value).map_err(split)?),
        "random_distribution" => job.distribution = parse_distribution(value).map_err(split)?,
        "norandommap" => {
            if flag(value).map_err(split)? && job.distribution == Distribution::Once {
                job.distribution = Distribution::Uniform;
            }
        }
        "randseed" => job.seed = number(value).map_err(split)?,
        "rate" => {
            let rates = by_direction(value, parse_bytes).map_err(split)?;
            [job.rate_read, job.rate_write] = rates.map(|rate| rate.map(Rate::Bytes));
        }
        "rate_iops" => {
            let rates = by_direction(value, parse_count).map_err(split)?;
            [job.rate_read, job.rate_write] = rates.map(|rate| rate.map(Rate::Requests));
        }
        "rate_process" => {
            job.poisson = match value {
                "linear" => false,
                "poisson" => true,
                _ => {
                    let text = format!("is \"{value}\", which is unknown; use linear or poisson");
                    return Err(split(text));
                }
            }
        }
        "thinktime" => job.think_time = parse_time_in(value, "us").map_err(split)?,
        "thinktime_blocks" => job.think_blocks = number(value).map_err(split)?,
        "dataplacement" => job.data_placement = DataPlacement::parse(value).map_err(split)?,
        "plids" => job.placement_ids = parse_placement_ids(value).map_err(split)?,
        "nvm_set" => job.nvm_set = Some(number(value).map_err(split)?),
        "queue_priority" => job.queue_priority = parse_priority(value).map_err(split)?,
        "time_based" => job.time_based = flag(value).map_err(split)?,
        "stonewall" => job.stonewall = flag(value).map_err(split)?,
        "read_pattern" => job.read_pattern = parse_read_pattern(value).map_err(split)?,
        _ if MEANINGLESS.contains(&key) => {
            return Err(at.error(
                key,
                "has no meaning on a simulated device",
                "remove the line",
            ));
        }
        _ => {
            let remedy = match nearest(key, KEYS) {
                Some(known) => format!("did you mean {known}?"),
                None => format!("known options are {}", KEYS[..30].join(", ")),
            };
            return Err(at.error(key, "is not a known option", &remedy));
        }
    }
    Ok(())
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

struct Place<'a> {
    file: &'a str,
    line: usize,
}

impl Place<'_> {
    fn error(&self, key: &str, message: &str, remedy: &str) -> JobFileError {
        JobFileError {
            file: self.file.to_owned(),
            line: self.line,
            key: key.to_owned(),
            message: message.to_owned(),
            remedy: remedy.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::engine::Time;
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
        assert_eq!(jobs[1].runtime, Some(Time::from_ms(250)));
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
            ("thinktime=50", "think_time: Time(50000000)"),
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
}
