//! Job files in fio's syntax: `[global]`, sections, `key=value`, comments after `;` or `#`, `include`, `${VARIABLES}`. Text
//! comes in, [`Job`]s go out, and what was passed over.
//!
//! ```text
//!   lines --> Draft of a section, from [global]'s as it stands --finish--> Job
//!               `--> foreign: options and engines of fio without meaning here, and refused ones
//! ```

mod draft;
mod foreign;
mod show;

use std::fmt::{self, Display};
use std::io;

use thiserror::Error;

use super::job::{Job, JobError};
use super::settings::JOB;
pub use draft::is_job_option;
use draft::{Draft, INCLUDE, KNOWN, OWN_ENGINE, follows};
use meldsim::engine::Duration;
use meldsim::profile::{excerpt, list_mistakes, shortened};
pub(super) use show::options;

/// Why options are passed over, each reason with the options of which it is one.
pub fn reasons(passed_over: &[String]) -> Vec<(&'static str, Vec<&str>)> {
    let mut reasons: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for option in passed_over {
        // What is of a job says its reason itself.
        let of_job = match option.ends_with(OWN_ENGINE) {
            true => "its library is not here",
            false => "there they have no effect",
        };
        let reason = foreign::reason(option).unwrap_or(of_job);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, options)) => options.push(option),
            None => reasons.push((reason, vec![option])),
        }
    }
    reasons
}

/// Deepest inclusion of files in files.
const DEPTH_MAX: usize = 16;
/// fio's words for what differs from machine to machine.
const KEYWORDS: [&str; 3] = ["$pagesize", "$mb_memory", "$ncpus"];

/// One thing wrong with a job file, and where.
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

/// Everything wrong with a job file, in the order of its lines, one per line when displayed; of very much, the first lines.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct JobFileErrors(pub Vec<JobFileError>);

impl Display for JobFileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list_mistakes(f, "", &self.0)
    }
}

/// What a job file refers to besides its own text.
pub trait Surroundings {
    /// The value of an environment variable.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// The text of a file that is included.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    fn read(&self, _path: &str) -> io::Result<String> {
        Err(io::Error::other("nothing can be included here"))
    }

    /// Bytes of the device, for jobs without a size.
    fn capacity_bytes(&self) -> Option<u64> {
        None
    }

    /// From the start of a zone of the device to that of the next, in bytes; none without zones.
    fn zone_bytes(&self) -> Option<u64> {
        None
    }
}

/// Nothing: no variables, no files, no device.
#[derive(Clone, Copy, Debug)]
pub struct NoSurroundings;

impl Surroundings for NoSurroundings {}

/// A job file and how to read it.
#[derive(Clone, Copy)]
pub struct JobFile<'a> {
    /// Its name, for errors.
    pub name: &'a str,
    /// What is in it.
    pub text: &'a str,
    /// What each job starts from.
    pub defaults: &'a Job,
    /// Only these sections; all when empty.
    pub sections: &'a [String],
    /// Options and their values that go before what each section says.
    pub options: &'a [(String, String)],
    /// Every job ends by then, at the latest.
    pub runtime: Option<Duration>,
    /// What it refers to.
    pub surroundings: &'a dyn Surroundings,
}

/// What a job file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobList {
    /// The jobs, each of which can run.
    pub jobs: Vec<Job>,
    /// Options of fio that a simulated device gives no meaning, by name, in the order in which they were met.
    pub passed_over: Vec<String>,
}

/// The jobs of `text`, each starting from `defaults` and the `[global]` section, without surroundings. `file` is only named in
/// errors.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn parse_job_file(file: &str, text: &str, defaults: &Job) -> Result<JobList, JobFileErrors> {
    let file = JobFile {
        name: file,
        text,
        defaults,
        sections: &[],
        options: &[],
        runtime: None,
        surroundings: &NoSurroundings,
    };
    file.parse()
}

impl JobFile<'_> {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn parse(&self) -> Result<JobList, JobFileErrors> {
        let mut reading = Reading {
            file: *self,
            global: Draft::new(self.defaults.clone(), self.surroundings.zone_bytes()),
            drafts: Vec::new(),
            section: Section::None,
            found: vec![false; self.sections.len()],
            passed_over: Vec::new(),
            errors: Vec::new(),
        };
        reading.lines(self.name, self.text, 0);
        reading.finish()
    }
}

/// Where the options of a line go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Global,
    /// The last draft.
    Job,
    /// Nowhere: it was not asked for.
    Skipped,
}

/// A job file while it is read.
struct Reading<'a> {
    file: JobFile<'a>,
    global: Draft,
    /// With the line of its section.
    drafts: Vec<(usize, Draft)>,
    section: Section,
    /// Of the sections that are asked for, those that were met.
    found: Vec<bool>,
    passed_over: Vec<String>,
    errors: Vec<JobFileError>,
}

impl Reading<'_> {
    /// `text` is what was found and, after a semicolon, the remedy.
    fn wrong(&mut self, file: &str, line: usize, key: &str, text: &str) {
        let parts = text.split_once("; ");
        let (message, remedy) = parts.unwrap_or((text, "correct the value"));
        self.errors.push(JobFileError {
            file: file.to_owned(),
            line,
            key: key.to_owned(),
            message: shortened(message),
            remedy: shortened(remedy),
        });
    }

    fn lines(&mut self, file: &str, text: &str, depth: usize) {
        // Some editors write a mark that says UTF-8, which no one sees.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, raw) in text.lines().enumerate() {
            let at = index + 1;
            // As in fio, a comment may follow an option.
            let line = raw.split([';', '#']).next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            if let Some(section) = line.strip_prefix('[') {
                let name = section.strip_suffix(']').filter(|name| !name.is_empty());
                match name {
                    Some(_) if depth > 0 => {
                        let text = "stands in an included file; put sections into the job file";
                        self.wrong(file, at, &excerpt(line), text);
                    }
                    Some(name) => self.begin(at, name),
                    None => {
                        let text = "is not a section; write it as [name]";
                        self.wrong(file, at, &excerpt(line), text);
                    }
                }
                continue;
            }
            let include = line.strip_prefix(INCLUDE);
            if let Some(path) = include.filter(|rest| rest.starts_with([' ', '\t'])) {
                self.include(file, at, path.trim(), depth);
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            self.option(file, at, key.trim(), value.trim());
        }
    }

    fn begin(&mut self, at: usize, name: &str) {
        if name == "global" {
            self.section = Section::Global;
            return;
        }
        let wanted = self.file.sections.iter().position(|other| other == name);
        if let Some(wanted) = wanted {
            self.found[wanted] = true;
        } else if !self.file.sections.is_empty() {
            self.section = Section::Skipped;
            return;
        }
        self.section = Section::Job;
        let mut draft = self.global.clone();
        // A name in [global] is that of all jobs.
        if draft.job.name == self.file.defaults.name {
            name.clone_into(&mut draft.job.name);
        }
        self.drafts.push((at, draft));
    }

    fn include(&mut self, file: &str, at: usize, path: &str, depth: usize) {
        if self.section == Section::Skipped {
            return;
        }
        if depth == DEPTH_MAX {
            let text = "is included too deep; include less";
            return self.wrong(file, at, INCLUDE, text);
        }
        match self.file.surroundings.read(path) {
            Ok(text) => self.lines(path, &text, depth + 1),
            Err(error) => {
                let text =
                    format!("of \"{path}\" fails, {error}; give the path of a text file in UTF-8");
                self.wrong(file, at, INCLUDE, &text);
                if let Some(draft) = self.draft() {
                    draft.refused.push(INCLUDE.to_owned());
                }
            }
        }
    }

    fn option(&mut self, file: &str, at: usize, key: &str, value: &str) {
        let (expanded, unset) = self.expand(value);
        if self.section == Section::None {
            // One such line is enough to say.
            self.section = Section::Skipped;
            let text = "stands before any section; put [global] or [name] above it, or give a trace with --trace";
            return self.wrong(file, at, &excerpt(key), text);
        }
        let Some(draft) = self.draft() else {
            return;
        };
        let set = match KEYWORDS.iter().find(|keyword| value.contains(*keyword)) {
            Some(keyword) => Err(format!(
                "has {keyword}, which is of this machine; write the number"
            )),
            None => draft.set(key, &expanded),
        };
        let text = match (set, unset) {
            (Ok(false), _) => return,
            (Ok(true), _) => return self.pass_over(key.to_owned()),
            (Err(_), Some(name)) => {
                let name = excerpt(&name);
                format!("has ${{{name}}}, which is not set; set {name} in the environment")
            }
            (Err(text), None) => text,
        };
        draft.refused.push(key.to_owned());
        // The list is long, and told once.
        let is_told = |error: &JobFileError| error.remedy.starts_with(KNOWN);
        let text = match text.split_once(KNOWN) {
            Some((said, _)) if self.errors.iter().any(is_told) => said.to_owned() + "remove it",
            _ => text,
        };
        self.wrong(file, at, &excerpt(key), &text);
    }

    /// What the options of this line are of.
    fn draft(&mut self) -> Option<&mut Draft> {
        match self.section {
            Section::Global => Some(&mut self.global),
            Section::Job => self.drafts.last_mut().map(|(_, draft)| draft),
            Section::Skipped | Section::None => None,
        }
    }

    fn pass_over(&mut self, what: String) {
        if !self.passed_over.contains(&what) {
            self.passed_over.push(what);
        }
    }

    /// The value with its `${VARIABLES}` as they are in the environment, and one that is not there: it stands for nothing.
    fn expand(&self, value: &str) -> (String, Option<String>) {
        let (mut out, mut unset) = (String::new(), None);
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else {
                break;
            };
            out += before;
            match self.file.surroundings.variable(name) {
                Some(value) => out += &value,
                None => unset = Some(name.to_owned()),
            }
            rest = after;
        }
        (out + rest, unset)
    }

    /// Sets the options that go before what a section says. What is wrong with one is told once.
    fn lay_over(&mut self, at: usize, draft: &mut Draft) {
        let file = self.file;
        for (key, value) in file.options {
            if key == "filename" {
                // It goes before the section's, and not beside it.
                draft.job.file = None;
            }
            match draft.set(key, value) {
                Ok(false) => {}
                Ok(true) => self.pass_over(key.clone()),
                Err(text) => {
                    draft.refused.push(key.clone());
                    let key = format!("{JOB}{}", excerpt(key));
                    if !self.errors.iter().any(|error| error.key == key) {
                        self.wrong(file.name, at, &key, &text);
                    }
                }
            }
        }
    }

    /// Makes jobs of the drafts.
    fn finish(mut self) -> Result<JobList, JobFileErrors> {
        let file = self.file;
        let sections = file.sections.iter().zip(&self.found);
        for (name, _) in sections.filter(|(_, found)| !**found) {
            self.errors.push(JobFileError {
                file: file.name.to_owned(),
                line: 1,
                key: "(file)".to_owned(),
                message: format!("has no section [{name}]"),
                remedy: "name one that it has".to_owned(),
            });
        }
        if self.drafts.is_empty() && self.errors.is_empty() {
            let lines = file.text.lines().count().max(1);
            let text = "has no job; add a section such as [job1]";
            self.wrong(file.name, lines, "(file)", text);
        }
        let (mut jobs, mut names) = (Vec::new(), Vec::new());
        let mut threads = 0u32;
        // With the line and the name of the first section, and how many more have the same.
        let mut mistakes: Vec<(usize, String, JobError, u32)> = Vec::new();
        for (at, mut draft) in std::mem::take(&mut self.drafts) {
            self.lay_over(at, &mut draft);
            let limits = draft.job.runtime.into_iter().chain(file.runtime);
            draft.job.runtime = limits.min();
            let (name, refused) = (draft.job.name.clone(), draft.refused.clone());
            let of_job = match draft.finish(file.surroundings) {
                Ok((mut job, passed_over)) => {
                    job.thread = threads.saturating_add(1);
                    threads = threads.saturating_add(job.numjobs);
                    let mut of_job = job.mistakes();
                    of_job.extend(unknown_wait(&names, &job));
                    passed_over
                        .into_iter()
                        .for_each(|what| self.pass_over(what));
                    jobs.push(job);
                    of_job
                }
                Err(mistake) => vec![mistake],
            };
            for mistake in of_job {
                if refused.iter().any(|option| follows(mistake.key, option)) {
                    continue;
                }
                match mistakes
                    .iter_mut()
                    .find(|(_, _, known, _)| *known == mistake)
                {
                    Some((.., more)) => *more += 1,
                    None => mistakes.push((at, name.clone(), mistake, 0)),
                }
            }
            names.push(name);
        }
        for (at, name, mistake, more) in mistakes {
            let key = format!("[{}] {}", excerpt(&name), mistake.key);
            let (message, remedy) = (mistake.message, mistake.remedy);
            let text = match more {
                0 => format!("{message}; {remedy}"),
                1 => format!("{message}, as in one more section; {remedy}"),
                more => format!("{message}, as in {more} more sections; {remedy}"),
            };
            self.wrong(file.name, at, &key, &text);
        }
        match self.errors.is_empty() {
            true => Ok(JobList {
                jobs,
                passed_over: self.passed_over,
            }),
            false => {
                self.errors.sort_by_key(|error| error.line);
                Err(JobFileErrors(self.errors))
            }
        }
    }
}

/// What is wrong with the name of a job that is waited for: it must be that of one job above.
fn unknown_wait(names: &[String], job: &Job) -> Option<JobError> {
    let other = job.wait_for.as_ref()?;
    let is_known = names.iter().filter(|name| *name == other).count() == 1;
    let text = format!("is \"{other}\", and not the one job of that name above; name such a job");
    (!is_known).then(|| JobError::new("wait_for", &text))
}

#[cfg(test)]
mod tests {
    use super::super::job::ReadWrite;
    use super::*;
    use meldsim::engine::Duration;
    use meldsim::nvme::Pattern;

    fn parse(text: &str) -> Result<Vec<Job>, String> {
        let list = parse_job_file("a.fio", text, &Job::new(""));
        list.map(|list| list.jobs)
            .map_err(|error| error.to_string())
    }

    /// A device of 1 GiB, one variable and one file to include.
    struct Around;

    impl Surroundings for Around {
        fn variable(&self, name: &str) -> Option<String> {
            (name == "BS").then(|| "64k".to_owned())
        }

        fn read(&self, path: &str) -> io::Result<String> {
            match path {
                "more.fio" => Ok("iodepth=7\nthread\n".to_owned()),
                "bad.fio" => Ok("\n[section]\niodpeth=7\n".to_owned()),
                "round.fio" => Ok("include round.fio\n".to_owned()),
                _ => Err(io::ErrorKind::NotFound.into()),
            }
        }

        fn capacity_bytes(&self) -> Option<u64> {
            Some(1 << 30)
        }

        fn zone_bytes(&self) -> Option<u64> {
            Some(3 << 20)
        }
    }

    fn parse_around(text: &str, sections: &[&str]) -> Result<JobList, String> {
        let sections: Vec<String> = sections.iter().map(|name| (*name).to_owned()).collect();
        let file = JobFile {
            name: "a.fio",
            text,
            defaults: &Job::new(""),
            sections: &sections,
            options: &[],
            runtime: None,
            surroundings: &Around,
        };
        file.parse().map_err(|errors| errors.to_string())
    }

    #[test]
    fn unknown_options_are_those_of_an_engine_of_ones_own() {
        let text = "[a]\nsize=1m\nioengine=./mine.so\nmy_mounts=--mounts=6\n";
        let list = parse_job_file("a.fio", text, &Job::new("")).unwrap();
        assert_eq!(list.jobs[0].iodepth, 1);
        let told = reasons(&list.passed_over);
        assert!(
            told.contains(&(
                "its library is not here",
                vec!["my_mounts of an engine of your own"]
            )),
            "{told:?}"
        );
        // A slip of the pen is still one, and other engines have no such options.
        for (from, to, said) in [
            ("my_mounts", "iodeph", "did you mean iodepth?"),
            ("my_mounts", "verify_only", "asks for data to be compared"),
            ("./mine.so", "libaio", "my_mounts: is not a known option"),
        ] {
            let error = parse(&text.replace(from, to)).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn options_laid_over_are_as_if_each_section_ended_with_them() {
        let text = "[global]\nsize=1m\n[one]\niodepth=2\nioengine=psync\n[two]\nbs=64k\n";
        let laid = |text: &str, options: &[(&str, &str)]| {
            let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
            let options: Vec<_> = options.iter().map(own).collect();
            let file = JobFile {
                name: "a.fio",
                text,
                defaults: &Job::new(""),
                sections: &[],
                options: &options,
                runtime: None,
                surroundings: &NoSurroundings,
            };
            file.parse().map_err(|errors| errors.to_string())
        };
        let over = [("iodepth", "8"), ("bs", "16k"), ("ioengine", "libaio")];
        let files = laid("[a]\nsize=1m\nfilename=x\n", &[("filename", "y")]).unwrap();
        assert_eq!(files.jobs[0].file.as_deref(), Some("y"));
        let lines = "iodepth=8\nbs=16k\nioengine=libaio\n";
        let written = format!("{}{lines}", text.replace("[two]", &format!("{lines}[two]")));
        assert_eq!(laid(text, &over), laid(&written, &[]));
        // A mistake that a line makes is told of the file; one of an option that is laid over, once for all sections.
        let error = laid(text, &[("iodepth", "deep"), ("bz", "4k")]).unwrap_err();
        assert_eq!(error.lines().count(), 2, "{error}");
        assert!(
            error.contains("a.fio:3: job.iodepth: is \"deep\""),
            "{error}"
        );
        assert!(
            error.contains("job.bz: is not a known option; did you mean bs?"),
            "{error}"
        );
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
            (
                "bssplit=4k/10:64k/50:32k/40",
                "BlockShare { bytes: 65536, percent: 50 }",
            ),
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
            ("rate_iops=20k", "rate_write: Some(Requests(20480))"),
            ("rate=1m\nrate_process=poisson", "poisson: true"),
            ("thinktime=50", "think_time: Duration(50000000)"),
            ("thinktime_blocks=8", "think_blocks: 8"),
            ("nvm_set=2", "nvm_set: Some(2)"),
            (
                "dataplacement=streams\nplids=1,3-4",
                "data_placement: Streams, placement_ids: [1, 3, 4]",
            ),
            (
                "dataplacement=fdp",
                "data_placement: Fdp, placement_ids: []",
            ),
            (
                "fdp=1\nfdp_pli=0,2-3",
                "data_placement: Fdp, placement_ids: [0, 2, 3]",
            ),
            ("queue_priority=high", "queue_priority: High"),
            ("ioengine=./own.so", "queues: true"),
            (
                "bssplit=4k/29:8k/5.",
                "split: [BlockShare { bytes: 4096, percent: 29 }, BlockShare { bytes: 8192, percent: 5 }]",
            ),
            ("bs=8k,32k", "BlockSizes { least: 32768, most: 32768"),
            ("bssplit=8k/100,", "BlockSizes { least: 4096, most: 4096"),
            ("bsrange=4k-12k", "BlockSizes { least: 4096, most: 12288"),
            ("blockalign=64k", "align_bytes: Some([65536, 65536, 65536])"),
            ("percentage_random=50,,9", "random_percent: [50, 100, 9]"),
            ("random_generator=lfsr", "generator: Lfsr"),
            ("randrepeat=0", "random_repeat: false"),
            (
                "randseed=7",
                "seed: 7, random_repeat: true, new_order: true",
            ),
            (
                "fsync=4\nend_fsync=1",
                "fsync: 4, fdatasync: 0, end_fsync: true",
            ),
            ("sync=1", "sync_writes: true"),
            ("iodepth=8\niodepth_low=2", "iodepth_low: Some(2)"),
            (
                "write_hint=long",
                "data_placement: Streams, placement_ids: [3]",
            ),
            ("io_size=50%", "pass_percent: Some(50)"),
            (
                "percentile_list=99.9:25",
                "percentiles: [25000000, 99900000]",
            ),
            ("number_ios=9", "most_requests: Some(9)"),
            ("loops=(2*3)", "loops: 6"),
            ("offset_increment=1m", "offset_increment_bytes: 1048576"),
            (
                "rw=randrw:8\nrw_sequencer=identical",
                "Some(Repeat { requests: 8, identical: true })",
            ),
            ("rw=rw:-8k", "step_bytes: -8192"),
            ("timeout=60", "runtime: Some("),
            ("wait_for_previous", "stonewall: true"),
            ("exitall", "exit: Group"),
            ("exitall\nexit_what=all", "exit: All"),
            ("new_group", "new_group: true"),
            ("name=other", "name: \"other\""),
            (
                "zonemode=strided\nzonesize=8k\nzoneskip=4k",
                "range_bytes: 8192, size_bytes: 8192, skip_bytes: 4096",
            ),
            ("rate_min=1k", "min_rate_write: Some(Bytes(1024))"),
            ("rate_iops_min=5,", "min_rate_read: Some(Requests(5))"),
            ("rate_cycle=500", "rate_cycle: Duration(500000000000)"),
            (
                "flow=8\nflow_id=1\nflow_sleep=10",
                "id: 1, weight: 8, sleep: Duration(10000000)",
            ),
            (
                "latency_target=100\nlatency_window=1s\nlatency_percentile=99.9",
                "percentile: 99900000",
            ),
            (
                "ss=iops_slope:0.5%\nss_dur=10",
                "is_slope: true, limit: 500000, is_percent: true",
            ),
            ("iodepth=9\nioengine=libaio", "iodepth: 9"),
            ("filesize=2m", "pass_bytes: Some(1048576)"),
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
        let percents: Vec<u32> = jobs[0].block_sizes.as_ref().unwrap()[0]
            .split
            .iter()
            .map(|b| b.percent)
            .collect();
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
                "[j]\nsize=1m\nioengine=http\n",
                "a.fio:3: ioengine: is \"http\", which moves data over a network; use libaio or io_uring, or remove the line",
            ),
            (
                "bs=4k\n",
                "a.fio:1: bs: stands before any section; put [global] or [name] above it, or give a trace with --trace",
            ),
            (
                "0,usr,1,Read,0,4096\n1,usr,1,Read,0,4096\n[j]\nsize=1m\n",
                "a.fio:1: 0,usr,1,Read,0,4096: stands before any section; put [global] or [name] above it, or give a trace with --trace",
            ),
            (
                "[j]\nsize=1m\nfilename=a\nfilename=b\n",
                "a.fio:4: filename: is \"b\" besides \"a\", of which fio takes both, several files; remove one, or write a job for each",
            ),
            (
                "[j]\nsize=4z\n",
                "a.fio:2: size: is \"4z\", zones, and the device has none; write bytes, or take a profile with zones",
            ),
            (
                "[j]\nsize=1m\ndirect=1\nstonewall=yes\n",
                "a.fio:4: stonewall: is \"yes\"; use 1 or 0",
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
                "a.fio:3: bssplit: has percentages that add up to 120; let them add up to 100",
            ),
            (
                "[j]\nsize=1m\nread_pattern=seq\n",
                "a.fio:3: read_pattern: is \"seq\", which is unknown; use sequential, random or none",
            ),
            (
                "[j]\nsize=1m\ndataplacement=fast\n",
                "a.fio:3: dataplacement: is \"fast\", which is unknown; use none, streams or fdp",
            ),
            (
                "[j]\nsize=1m\ndataplacement=streams\n",
                "a.fio:1: [j] plids: is missing; give both, such as dataplacement=streams and plids=1",
            ),
            (
                "[j]\nsize=1m\nverify=crc32c\n",
                "a.fio:3: verify: asks for data to be compared, and the simulated device keeps none; remove it, and read in a job with stonewall",
            ),
            (
                "[j]\nsize=1m\nzonemode=zbd\nzone_reset_threshold=2\n",
                "a.fio:4: zone_reset_threshold: is \"2\"; use a number from 0 to 1, such as 0.1",
            ),
            (
                "[j]\nsize=4*$mb_memory\n[k]\nsize=1m\n",
                "a.fio:2: size: has $mb_memory, which is of this machine; write the number",
            ),
            (
                "[j]\nsize=1m\nfilename=/dev/a:/dev/b\n",
                "a.fio:3: filename: is \"/dev/a:/dev/b\", several files; write a job for each, and \\: for a colon in a name",
            ),
            (
                "[j]\nsize=1m\nwait_for=k\n[k]\nsize=1m\n",
                "a.fio:1: [j] wait_for: is \"k\", and not the one job of that name above; name such a job",
            ),
            (
                "[j]\nfilename=x\n",
                "a.fio:1: [j] size: is a part of the device, whose size is not known here; give it in bytes",
            ),
            (
                "[j]\nsize=1m\nlatency_target=10\nss=iops:1\nzonemode=strided\n",
                "a.fio:1: [j] zonesize: of 0 B holds no block of 4096 B; use at least one block\n\
                 a.fio:1: [j] latency_window: is missing or 0; give one, such as latency_window=5s\n\
                 a.fio:1: [j] ss_dur: is missing, or not 2 to 4096 times ss_interval, which is 1 us at least; give one, such as ss_dur=10s",
            ),
            (
                "[j]\nsize=1m\nzonesize=4k\n",
                "a.fio:1: [j] zonesize: has no zones to be of; add zonemode=strided, or zonemode=zbd",
            ),
            (
                "[j]\nsize=1m\nplids=1\n",
                "a.fio:1: [j] dataplacement: is missing; give both, such as dataplacement=streams and plids=1",
            ),
            (
                "[j]\nsize=1m\nplids=17\n",
                "a.fio:3: plids: is \"17\"; write streams from 1 to 16, or handles from 0, such as 1,3-5",
            ),
            (
                "[j]\nsize=1m\ndataplacement=streams\nplids=0\n",
                "a.fio:1: [j] plids: has stream 0; use 1 to 16",
            ),
            (
                "[j]\nsize=1m\ndataplacement=fdp\nplids=16\n",
                "a.fio:1: [j] plids: has handle 16; use 0 to 15",
            ),
            (
                "[j]\nsize=1m\ndataplacement=streams\nfdp=1\n",
                "a.fio:1: [j] fdp: is 1 with dataplacement=streams; remove one of them",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), expected);
        }
        let unknown = parse("[j]\nsize=1m\nfrobnicate=4k\nzzz\n").unwrap_err();
        assert!(
            unknown.ends_with("zzz: is not a known option; remove it"),
            "{unknown}"
        );
        assert!(
            unknown.contains("known options are rw, bs, bsrange, bssplit"),
            "{unknown}"
        );
    }

    #[test]
    fn all_mistakes_are_told_at_once_in_the_order_of_the_lines() {
        let errors =
            parse("[j]\nsize=1q\niodpeth=4\nioengine=rdma\n[k]\nsize=1m\niodepth=0\nverify=md5\n");
        let errors = errors.unwrap_err();
        let starts: Vec<&str> = errors
            .lines()
            .map(|line| line.split(": ").nth(1).unwrap())
            .collect();
        let expected = ["size", "iodpeth", "ioengine", "[k] iodepth", "verify"];
        assert_eq!(starts, expected, "{errors}");
    }

    #[test]
    fn what_has_no_meaning_is_passed_over_and_named_once() {
        let text = "[global]\nsize=1m\ndirect=1\nioengine=psync\niodepth=8\nverify=0\n[j]\ndirect=0\nthread ; fine\n";
        let list = parse_job_file("a.fio", text, &Job::new("")).unwrap();
        let sequential = "[j]\nsize=1m\nrandom_distribution=zipf\n[k]\nsize=1m\nnorandommap\n";
        let sequential = parse_job_file("a.fio", sequential, &Job::new("")).unwrap();
        assert_eq!(
            sequential.passed_over,
            ["random_distribution of a sequential job"]
        );
        let expected = [
            "direct",
            "ioengine",
            "verify",
            "thread",
            "iodepth of a synchronous engine",
        ];
        assert_eq!(list.passed_over, expected);
        assert_eq!(list.jobs[0].iodepth, 1);
        assert_eq!(
            parse("[j]\nsize=1m\nioengine=io_uring\niodepth=8\n").unwrap()[0].iodepth,
            8
        );
    }

    #[test]
    fn variables_stand_for_their_values_or_nothing() {
        let list = parse_around("[j]\nsize=1m\nbs=${BS}\nname=a${NONE}b\n", &[]).unwrap();
        assert_eq!(
            (list.jobs[0].block_bytes, list.jobs[0].name.as_str()),
            (65_536, "ab")
        );
        let error = parse_around("[j]\nsize=1m\nrw=${FIO_RW}\n", &[]).unwrap_err();
        let expected =
            "a.fio:3: rw: has ${FIO_RW}, which is not set; set FIO_RW in the environment";
        assert_eq!(error, expected);
    }

    #[test]
    fn files_are_included_and_named_in_their_errors() {
        let list = parse_around("[global]\nsize=1m\ninclude more.fio\n[j]\n", &[]).unwrap();
        assert_eq!(
            (list.jobs[0].iodepth, list.passed_over),
            (7, vec!["thread".to_owned()])
        );
        for (file, expected) in [
            ("none.fio", "a.fio:3: include: of \"none.fio\" fails"),
            (
                "bad.fio",
                "bad.fio:2: [section]: stands in an included file",
            ),
            (
                "bad.fio",
                "bad.fio:3: iodpeth: is not a known option; did you mean iodepth?",
            ),
            ("round.fio", "round.fio:1: include: is included too deep"),
        ] {
            let error = parse_around(&format!("[j]\nsize=1m\ninclude {file}\n"), &[]).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        // What would be in a file that is not there is not missed.
        for text in [
            "[j]\ninclude none.fio\n",
            "[global]\ninclude none.fio\n[j]\n[k]\n",
        ] {
            assert_eq!(parse_around(text, &[]).unwrap_err().lines().count(), 1);
        }
    }

    #[test]
    fn what_fio_takes_for_none_or_for_on_is_that() {
        let plain = parse("[j]\nsize=1m\nfilename=a\n").unwrap();
        for lines in [
            "runtime=0",
            "rate=0",
            "rate_iops=0,0",
            "file_service_type=random",
            "stonewall=0",
            "filename=a",
            "loops=(1k/1024)",
        ] {
            let text = format!("[j]\nsize=1m\nfilename=a\n{lines}\n");
            assert_eq!(parse(&text).unwrap(), plain, "{lines}");
        }
        assert!(parse("[j]\nsize=1m\nstonewall=10\n").unwrap()[0].stonewall);
    }

    #[test]
    fn only_the_sections_that_are_asked_for_count() {
        let text = "[global]\nsize=1m\n[a]\n[b]\niodpeth=1\n[c]\n";
        let names = |list: JobList| {
            list.jobs
                .into_iter()
                .map(|job| job.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            parse_around(text, &["c", "a"]).map(names),
            Ok(vec!["a".to_owned(), "c".to_owned()])
        );
        let error = parse_around(text, &["d"]).unwrap_err();
        assert_eq!(
            error,
            "a.fio:1: (file): has no section [d]; name one that it has"
        );
    }

    #[test]
    fn sizes_may_be_parts_of_the_device_or_of_the_file() {
        let region = |lines: &str| {
            let list = parse_around(&format!("[j]\n{lines}\n"), &[]).unwrap();
            (list.jobs[0].offset_bytes, list.jobs[0].size_bytes)
        };
        assert_eq!(region("filename=/dev/sda"), (0, 1 << 30));
        assert_eq!(
            region("filename=/dev/sda\noffset=1m"),
            (1 << 20, (1 << 30) - (1 << 20))
        );
        assert_eq!(region("size=25%\noffset=50%"), (1 << 29, 1 << 28));
        assert_eq!(region("filesize=4m"), (0, 4 << 20));
        assert_eq!(region("filesize=4m\noffset=25%"), (1 << 20, 3 << 20));
        assert_eq!(region("size=2z\noffset=1z"), (3 << 20, 6 << 20));
        let error = parse_around("[j]\nbs=4k\n", &[]).unwrap_err();
        assert_eq!(
            error,
            "a.fio:1: [j] size: is missing or 0; give one, such as size=1g"
        );
    }
}
