//! Job files in fio's syntax: `[global]`, sections, `key=value`, comments after `;` or `#`, `include`, `${VARIABLES}`. Text
//! comes in, [`Job`]s go out, and what was passed over.
//!
//! ```text
//!   lines --> Draft of a section, from [global]'s as it stands --finish--> Job
//!               `--> foreign: what becomes of fio's other options and engines, which the page names
//! ```

mod draft;
mod foreign;
mod grammar;
pub(crate) mod mistakes;
mod show;
#[cfg(test)]
mod tests;

use std::fmt::{self, Display};
use std::io;

use thiserror::Error;

use super::job::{Job, JobError};
use super::settings::JOB;
use draft::{Draft, INCLUDE, OWN_ENGINE, SEVERAL_FILES, follows};
pub use foreign::is_own_engine;
use meldsim::engine::Duration;
use meldsim::profile::{excerpt, list_mistakes, shortened};
pub(super) use show::options;

/// Why options are passed over, each reason with the options of which it is one.
pub fn reasons(passed_over: &[String]) -> Vec<(&'static str, Vec<&str>)> {
    let mut reasons: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for option in passed_over {
        // What is of a job says its reason itself.
        let of_job = match option.as_str() {
            SEVERAL_FILES => "they are parts of one namespace, one after the other",
            option if option.ends_with(OWN_ENGINE) => "its library is not here",
            _ => "there they have no effect",
        };
        let reason = foreign::reason(option).unwrap_or(of_job);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, options)) => options.push(option),
            None => reasons.push((reason, vec![option])),
        }
    }
    reasons
}

/// Deepest inclusion of files in files, and how many files are included in all.
const DEPTH_MAX: usize = 16;
const INCLUDES_MAX: usize = 1000;
/// Bytes of a job file and all that it includes.
const TEXT_MAX: usize = 16 << 20;
/// Jobs of a file, `numjobs` of each section: as many as fio has.
const JOBS_MAX: u32 = Job::NUMJOBS_MAX;
/// A file with so many mistakes is not read on.
const MISTAKES_MAX: usize = 10_000;
/// What options on the command line are called in place of a file.
pub const COMMAND_LINE: &str = "(command line)";
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
    /// What is read before it: options of fio's command line, in lines as of a job file. What the file says goes before them.
    pub before: &'a str,
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
        before: "",
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
            includes: 0,
            text_bytes: 0,
            is_over: false,
            passed_over: Vec::new(),
            errors: Vec::new(),
        };
        reading.lines(COMMAND_LINE, self.before, 0);
        reading.section = Section::None;
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
    includes: usize,
    text_bytes: usize,
    /// It is too much: the rest is not looked at.
    is_over: bool,
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

    /// The same, of what is too much: nothing after it is read.
    fn end(&mut self, file: &str, line: usize, key: &str, text: &str) {
        self.is_over = true;
        self.wrong(file, line, key, text);
    }

    fn lines(&mut self, file: &str, text: &str, depth: usize) {
        // Some editors write a mark that says UTF-8, which no one sees.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        self.text_bytes += text.len();
        if self.text_bytes > TEXT_MAX {
            let bytes = self.text_bytes;
            let text = format!(
                "brings the text to {bytes} B; {TEXT_MAX} B is the most, with all that is included"
            );
            return self.end(file, 1, "(file)", &text);
        }
        for (index, raw) in text.lines().enumerate() {
            let at = index + 1;
            if self.is_over || self.errors.len() >= MISTAKES_MAX {
                return;
            }
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
        if self.drafts.len() == JOBS_MAX as usize {
            let text = format!("is one job more than {JOBS_MAX}, the most of a file; write fewer");
            return self.end(self.file.name, at, &excerpt(name), &text);
        }
        self.section = Section::Job;
        let mut draft = self.global.clone();
        let given = &mut draft.job.given;
        given.global = std::mem::take(&mut given.own);
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
        self.includes += 1;
        if depth == DEPTH_MAX || self.includes > INCLUDES_MAX {
            let text = format!(
                "is one file too many, or too deep; include up to {INCLUDES_MAX} files, {DEPTH_MAX} in each other, and none in itself"
            );
            return self.end(file, at, INCLUDE, &text);
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
        let draft = match self.section {
            Section::Global => &mut self.global,
            Section::Job => match self.drafts.last_mut() {
                Some((_, draft)) => draft,
                None => return,
            },
            Section::Skipped | Section::None => return,
        };
        let set = match KEYWORDS.iter().find(|keyword| value.contains(*keyword)) {
            Some(keyword) => Err(format!(
                "has {keyword}, which is of this machine; write the number"
            )),
            None => draft.set(key, &expanded),
        };
        if set.is_ok() {
            draft.job.given.set(key, &expanded);
        }
        if draft.verifies_not {
            // What was said of comparing before means nothing.
            let refused = std::mem::take(&mut draft.refused);
            let (of_verify, others) = refused
                .into_iter()
                .partition(|key| foreign::is_of_verify(key));
            draft.refused = others;
            let of_verify: Vec<String> = of_verify;
            self.errors.retain(|error| !of_verify.contains(&error.key));
        }
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
                draft.files.clear();
            }
            draft.job.given.set(key, value);
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
        // The files of each job, with its line.
        let mut lists: Vec<(usize, Vec<String>)> = Vec::new();
        let mut threads = 0u32;
        // With the line and the name of the first section, and how many more have the same.
        let mut mistakes: Vec<(usize, String, JobError, u32)> = Vec::new();
        for (at, mut draft) in std::mem::take(&mut self.drafts) {
            self.lay_over(at, &mut draft);
            let limits = draft.job.runtime.into_iter().chain(file.runtime);
            draft.job.runtime = limits.min();
            let (name, refused) = (draft.job.name.clone(), draft.refused.clone());
            let files = draft.files.clone();
            let all = threads.saturating_add(draft.job.numjobs);
            if all > JOBS_MAX && draft.job.numjobs <= JOBS_MAX {
                let key = format!("[{}] numjobs", excerpt(&name));
                let text =
                    format!("brings the jobs of the file to {all}; use {JOBS_MAX} at most, as fio");
                self.wrong(file.name, at, &key, &text);
                break;
            }
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
            lists.push((at, files));
            names.push(name);
        }
        // A file that is one of several for one job has no place of its own for another.
        let shares = |files: &[String], other: &[String]| {
            files != other && files.iter().any(|file| other.contains(file))
        };
        let apart = lists.iter().enumerate().find_map(|(index, (at, files))| {
            let before = lists[..index].iter();
            let before = before
                .zip(&names)
                .find(|((_, other), _)| shares(files, other));
            Some((*at, &names[index], before?.1))
        });
        if let Some((at, name, other)) = apart {
            let key = format!("[{}] filename", excerpt(name));
            let text = format!(
                "is in part that of [{other}], which has other files beside it; give both the same files, or a job to each file"
            );
            self.wrong(file.name, at, &key, &text);
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
