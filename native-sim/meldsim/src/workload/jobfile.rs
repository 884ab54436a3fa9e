//! Job files in fio's syntax: `[global]`, sections, `key=value`, comments after `;` or `#`.

use thiserror::Error;

use super::job::{Job, ReadWrite, parse_read_pattern};
use super::quantity::{parse_bytes, parse_time};
use super::suggest::nearest;

/// The options of a job, in the order in which they are documented.
const KEYS: [&str; 12] = [
    "rw",
    "bs",
    "iodepth",
    "size",
    "runtime",
    "time_based",
    "rwmixread",
    "randseed",
    "read_pattern",
    "stonewall",
    "readwrite",
    "blocksize",
];

/// Options of fio about files, processes and engines, which a simulated device does not have.
const MEANINGLESS: [&str; 12] = [
    "ioengine",
    "direct",
    "buffered",
    "filename",
    "directory",
    "thread",
    "group_reporting",
    "invalidate",
    "create_on_open",
    "fallocate",
    "norandommap",
    "gtod_reduce",
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
        "size" => job.size_bytes = parse_bytes(value).map_err(split)?,
        "runtime" => job.runtime = Some(parse_time(value).map_err(split)?),
        "iodepth" => job.iodepth = number(value).map_err(split)?,
        "rwmixread" => job.rwmixread = number(value).map_err(split)?,
        "randseed" => job.seed = number(value).map_err(split)?,
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
                None => format!("known options are {}", KEYS[..10].join(", ")),
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
    use crate::engine::Time;
    use crate::nvme::Pattern;

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
                "[j]\nread_pattern=seq\n",
                "a.fio:2: read_pattern: is \"seq\", which is unknown; use sequential, random or none",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), expected);
        }
        let unknown = parse("[j]\nzonesize=4k\n").unwrap_err();
        assert!(
            unknown.contains("known options are rw, bs, iodepth"),
            "{unknown}"
        );
    }
}
