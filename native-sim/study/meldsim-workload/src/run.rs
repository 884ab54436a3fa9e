//! One run of a workload on a fresh device, as `meldsim run` does it; and such a run as a program asks for it, in JSON:
//! what `meldsim_run` of the C ABI takes. Its keys are named as the flags of `meldsim run`, and their values are written
//! as there.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};
use thiserror::Error;

use super::error::{RunError, TraceError};
use super::job::{Job, JobError, parse_read_pattern};
use super::jobfile::{JobFile, JobFileErrors, Surroundings};
use super::limit::{Limit, Load};
use super::past::Past;
use super::result::RunResult;
use super::runner::Runner;
use super::settings::Settings;
use super::trace::{
    Beyond, Columns, Replay, ReplayMode, ReplayOptions, TimeUnit, TraceFormat, TraceReader,
    parse_speedup,
};
use meldsim::device::{Aging, Device};
use meldsim::engine::Duration;
use meldsim::nvme::Pattern;
use meldsim::policy;
use meldsim::profile::{Kind, Profile, ProfileErrors, Sources};
use meldsim::timeline::Timeline;

/// How far a [`Run`] is.
#[derive(Clone, Copy, Debug)]
pub enum Reached<'a> {
    /// The device is put into the state of its past.
    Past(&'a Aging),
    /// This share of the jobs is done, 0 to 1.
    Jobs(f64),
    /// Somewhere in a trace, whose length only its reader's owner knows.
    Trace,
}

/// A workload and the device that it runs on.
pub struct Run<R> {
    /// The device.
    pub profile: Profile,
    /// Where its numbers come from.
    pub sources: Sources,
    /// What it is asked for.
    pub workload: Workload<R>,
    /// Interval of the run over time, if that is asked for.
    pub interval: Option<Duration>,
    /// What is told what the device does, if that is asked for.
    pub timeline: Option<Box<dyn Timeline>>,
    /// On how many threads jobs may run: see [`Runner::with_threads`].
    pub threads: NonZeroUsize,
}

/// Where requests come from.
#[derive(Debug)]
pub enum Workload<R> {
    /// Jobs, on a device with that past.
    Jobs(Vec<Job>, Option<Past>),
    /// A recorded trace.
    Trace(Box<TraceReader<R>>, ReplayOptions),
}

impl<R: BufRead> Run<R> {
    /// Runs it to its end, or until `progress` breaks off. That gets now and then how far the run is.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from running, or ends it early.
    pub fn run(
        self,
        progress: impl FnMut(Reached<'_>) -> ControlFlow<()>,
    ) -> Result<RunResult, RunError> {
        policy::caught(|| self.run_unguarded(progress))?
    }

    fn run_unguarded(
        self,
        mut progress: impl FnMut(Reached<'_>) -> ControlFlow<()>,
    ) -> Result<RunResult, RunError> {
        let load = self.workload.load();
        let mut result = match self.workload {
            Workload::Jobs(jobs, past) => {
                let mut runner = Runner::new(&self.profile, &jobs)?.with_threads(self.threads);
                if let Some(past) = &past {
                    runner =
                        runner.precondition_until(past, |aging| progress(Reached::Past(aging)))?;
                }
                if let Some(interval) = self.interval {
                    runner = runner.with_time_series(interval);
                }
                if let Some(timeline) = self.timeline {
                    runner = runner.with_timeline(timeline)?;
                }
                runner.run_until(|share| progress(Reached::Jobs(share)))?
            }
            Workload::Trace(reader, options) => {
                let mut replay = Replay::new(&self.profile, *reader, options)?;
                if let Some(interval) = self.interval {
                    replay = replay.with_time_series(interval);
                }
                if let Some(timeline) = self.timeline {
                    replay = replay.with_timeline(timeline)?;
                }
                replay.run_until(|aging| progress(aging.map_or(Reached::Trace, Reached::Past)))?
            }
        };
        result.limit = Some(Limit::of(
            &result.device.run,
            load,
            &self.profile,
            &self.sources,
        ));
        Ok(result)
    }
}

impl<R> Workload<R> {
    fn load(&self) -> Load {
        match self {
            Workload::Jobs(jobs, _) => Load::of_jobs(jobs),
            Workload::Trace(_, options) => options.load(),
        }
    }
}

/// What to run on which device, and how the result names it.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// What the result names as its command: best the line of `meldsim run` that repeats it.
    pub command: String,
    /// Name of a built-in profile, or a profile's text in TOML.
    pub profile: String,
    /// Laid over the profile and the jobs, in this order: `KEY=VALUE`, `job.OPTION=VALUE`.
    #[serde(default, deserialize_with = "settings")]
    pub set: Settings,
    /// State of the device before the run: `fill=100,random=75,skew=zipf:0.9`.
    #[serde(default, deserialize_with = "parsed")]
    pub precondition: Option<Past>,
    /// Either jobs or a trace.
    pub workload: RequestedWorkload,
}

/// Where the requests come from.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestedWorkload {
    /// A job file.
    Job(JobText),
    /// A recorded trace.
    Trace(TraceFile),
}

/// A job file.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobText {
    /// The file's name as the caller knows it, for errors.
    pub name: String,
    /// What is in it.
    pub text: String,
    /// Seed of jobs that set no `randseed`.
    #[serde(default)]
    pub seed: Option<u64>,
    /// What it includes: texts of files, by the paths that it gives.
    #[serde(default)]
    pub includes: BTreeMap<String, String>,
    /// The `${VARIABLES}` that it may name. None is taken from the environment.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
}

/// A trace and how to replay it.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// The file's name as the caller knows it, for errors.
    pub name: String,
    /// Where the file is.
    pub path: String,
    /// A format's name, such as `msr`; else its first lines tell.
    #[serde(default, deserialize_with = "parsed")]
    pub format: Option<TraceFormat>,
    /// Its columns, of a table of one's own: `time:us,op,offset:512B,length`.
    #[serde(default, deserialize_with = "parsed")]
    pub columns: Option<Columns>,
    /// Unit of its times, such as `us`; else that of the format, or as its first times tell.
    #[serde(default, deserialize_with = "parsed")]
    pub time_unit: Option<TimeUnit>,
    /// The only volumes to replay.
    #[serde(default)]
    pub volume: Vec<String>,
    /// `open` or `closed`.
    #[serde(default, deserialize_with = "parsed")]
    pub replay: Option<ReplayMode>,
    /// Requests outstanding at most.
    #[serde(default)]
    pub iodepth: Option<u32>,
    /// Arrivals come that much faster: `2.5`.
    #[serde(default, deserialize_with = "speedup")]
    pub speedup: Option<u64>,
    /// `wrap` or `refuse`.
    #[serde(default, deserialize_with = "parsed")]
    pub beyond: Option<Beyond>,
    /// `sequential`, `random` or `none`.
    #[serde(default, deserialize_with = "read_pattern")]
    pub read_pattern: Option<Pattern>,
}

/// Why a request cannot be served.
#[derive(Debug, Error)]
pub enum RequestError {
    /// It is not JSON, or has keys or values that are not those of a request.
    #[error("request: {0}")]
    Malformed(String),
    /// The profile, or a setting.
    #[error(transparent)]
    Profile(#[from] ProfileErrors),
    /// The job file.
    #[error(transparent)]
    JobFile(#[from] JobFileErrors),
    /// An option of the replay.
    #[error(transparent)]
    Option(#[from] JobError),
    /// The trace's file.
    #[error("{name}: cannot be read: {error}; give the path of a trace")]
    Unreadable {
        /// Its name as the caller knows it.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// The run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The result is beyond JSON: a defect.
    #[error("the result cannot be written: {0}")]
    Result(#[from] serde_json::Error),
}

impl From<TraceError> for RequestError {
    fn from(error: TraceError) -> RequestError {
        RunError::from(error).into()
    }
}

impl RunRequest {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// Where the text is no request, and why.
    pub fn from_json(text: &str) -> Result<RunRequest, RequestError> {
        let malformed = |error: &dyn ToString| RequestError::Malformed(error.to_string());
        let mut json = serde_json::Deserializer::from_str(text);
        let request = serde_path_to_error::deserialize(&mut json);
        let request = request.map_err(|error| malformed(&error))?;
        json.end().map_err(|error| malformed(&error))?;
        Ok(request)
    }

    /// Runs it and gives what `meldsim run --format json` prints; `open` opens a trace of that path.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the profile, the job file or the trace, or ends the run early.
    pub fn run<R: BufRead>(
        self,
        open: impl FnOnce(&str) -> io::Result<R>,
    ) -> Result<String, RequestError> {
        let text = match Profile::builtin_text(&self.profile) {
            Some(text) => text,
            None => {
                // What has no key may be meant for a name, and the error says which there are.
                if !self.profile.contains('=') {
                    Profile::builtin(&self.profile)?;
                }
                &self.profile
            }
        };
        let profile = Profile::from_toml_with(text, &self.set.profile)?;
        let name = profile.name.clone();
        let mut passed_over = Vec::new();
        let workload = match self.workload {
            RequestedWorkload::Job(job) => {
                let defaults = Job::new("").with_seed(job.seed);
                let file = JobFile {
                    name: &job.name,
                    text: &job.text,
                    defaults: &defaults,
                    before: "",
                    sections: &[],
                    options: &self.set.job,
                    runtime: None,
                    surroundings: &OfRequest(&profile, &job),
                };
                let list = file.parse()?;
                passed_over = list.passed_over;
                Workload::Jobs(list.jobs, self.precondition)
            }
            RequestedWorkload::Trace(trace) => {
                if let Some((option, _)) = self.set.job.first() {
                    let text = format!("{option} is of jobs, and a trace has none; remove it");
                    return Err(JobError::new("set", &text).into());
                }
                let options = trace.options(self.precondition)?;
                let input = open(&trace.path).map_err(|error| RequestError::Unreadable {
                    name: trace.name.clone(),
                    error,
                })?;
                let reader = match &trace.columns {
                    Some(columns) => TraceReader::described(&trace.name, input, columns)?,
                    None => TraceReader::new(&trace.name, input, trace.format)?,
                };
                let mut reader = reader.with_volumes(&trace.volume);
                if let Some(unit) = trace.time_unit {
                    reader = reader.with_time_unit(unit);
                }
                Workload::Trace(Box::new(reader), options)
            }
        };
        let run = Run {
            sources: Sources::of(text, &self.set.profile),
            profile,
            workload,
            interval: None,
            timeline: None,
            threads: NonZeroUsize::MIN,
        };
        let mut result = run.run(|_| ControlFlow::Continue(()))?;
        result.passed_over = passed_over;
        Ok(result.to_json(&self.command, &name)?)
    }
}

/// What a job file of a request may refer to: what the request has, and how large the device is.
struct OfRequest<'a>(&'a Profile, &'a JobText);

impl Surroundings for OfRequest<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.1.variables.get(name).cloned()
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let text = self.1.includes.get(path).cloned();
        text.ok_or_else(|| io::Error::other("the request does not have it among its includes"))
    }

    fn capacity_bytes(&self) -> Option<u64> {
        // What is wrong with a profile is told where it runs.
        capacity_bytes(self.0).ok()
    }

    fn zone_bytes(&self) -> Option<u64> {
        self.0.zone_bytes()
    }
}

/// Bytes that a namespace of the device can hold.
///
/// # Errors
///
/// What is impossible in the profile.
pub fn capacity_bytes(profile: &Profile) -> Result<u64, ProfileErrors> {
    let device = Device::new(profile)?;
    if let Some(bytes) = device.max_zoned_bytes() {
        return Ok(bytes);
    }
    Ok(match profile.kind {
        Kind::Nand => (0..device.sets())
            .map(|set| device.set_capacity_bytes(set))
            .min()
            .unwrap_or(0),
        Kind::Xpoint => profile.xpoint.capacity.0,
    })
}

impl TraceFile {
    fn options(&self, precondition: Option<Past>) -> Result<ReplayOptions, JobError> {
        let default = ReplayOptions::default();
        let mode = self.replay.unwrap_or(default.mode);
        let options = ReplayOptions {
            mode,
            iodepth: self.iodepth.unwrap_or(mode.default_iodepth()),
            speedup: self.speedup.unwrap_or(default.speedup),
            beyond: self.beyond.unwrap_or(default.beyond),
            read_pattern: self.read_pattern.unwrap_or(default.read_pattern),
            precondition,
            ..default
        };
        options.validate()?;
        Ok(options)
    }
}

fn text<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).map(Some).map_err(D::Error::custom)
}

fn parsed<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err = String>,
{
    text(deserializer, str::parse)
}

fn speedup<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    text(deserializer, parse_speedup)
}

fn read_pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Pattern>, D::Error> {
    text(deserializer, parse_read_pattern)
}

fn settings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Settings, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let mut settings = Settings::default();
    for text in texts {
        settings.add(&text).map_err(D::Error::custom)?;
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::policy::firmware::{Action, Fetched, Firmware, Outbox};

    const JOB: &str = r#""workload": {"job": {"name": "x.fio", "text": "[one]\nsize=64k\n"}}"#;

    fn run(rest: &str) -> Result<String, String> {
        let text = format!(r#"{{"command": "me", "profile": "melded-tlc-8x8", {rest}}}"#);
        let none = |_: &str| io::Result::<&[u8]>::Err(io::ErrorKind::NotFound.into());
        RunRequest::from_json(&text)
            .and_then(|request| request.run(none))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_asked_for_is_run() {
        let plain = run(JOB).expect("a result");
        assert!(plain.starts_with("{\n  \"command\": \"me\""), "{plain}");
        assert_eq!(run(JOB), Ok(plain.clone()));
        // A part of the device, whose size the profile says.
        let small = r#""set": ["geometry.blocks_per_plane=16", "geometry.wordlines_per_block=4"]"#;
        let part = run(&format!("{small}, {}", JOB.replace("64k", "1%"))).expect("a result");
        assert!(part.contains("\"total_ios\""), "{part}");
        let direct = run(&JOB.replace("64k", "64k\\ndirect=1")).expect("a result");
        assert!(
            direct.contains("\"passed_over\": [\n    \"direct\""),
            "{direct}"
        );
        for other in [
            r#""set": ["timing.read=[\"60us\", \"60us\", \"60us\"]"]"#,
            r#""precondition": "fill=100""#,
            r#""set": ["job.bs=16k"]"#,
        ] {
            let changed = run(&format!("{other}, {JOB}")).expect("a result");
            assert_ne!(changed, plain, "{other}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let trace = |options: &str| {
            format!(r#""workload": {{"trace": {{"name": "t", "path": "/t"{options}}}}}"#)
        };
        for (rest, said) in [
            (r#""colour": 1"#.to_owned(), "unknown field `colour`"),
            (r#""set": []"#.to_owned(), "missing field `workload`"),
            (format!(r#""set": ["x"], {JOB}"#), "is no setting"),
            (
                format!(r#""set": ["ftl.x=1"], {JOB}"#),
                "ftl.x: is not a key",
            ),
            (format!(r#""precondition": "full", {JOB}"#), "precondition"),
            (JOB.replace("64k", "64q"), "x.fio:2: size"),
            (JOB.replace("64k", "64k\\nfiletype=x"), "x.fio:3: filetype"),
            (trace(""), "t: cannot be read"),
            (
                format!(r#""set": ["job.bs=4k"], {}"#, trace("")),
                "set: bs is of jobs, and a trace has none",
            ),
            (trace(r#", "iodepth": 0"#), "iodepth: is 0; use 1 to 65536"),
            (trace(r#", "speedup": "0""#), "workload.trace.speedup"),
            (trace(r#", "replay": "ajar""#), "use open or closed"),
            (trace(r#", "seed": 1"#), "unknown field `seed`"),
        ] {
            let error = run(&rest).expect_err(&rest);
            assert!(error.contains(said), "{rest}: {error}");
        }
        let nameless = RunRequest::from_json(&format!(
            r#"{{"command": "me", "profile": "melted", {JOB}}}"#
        ));
        let open = |_: &str| io::Result::<&[u8]>::Err(io::ErrorKind::NotFound.into());
        let error = nameless
            .expect("a request")
            .run(open)
            .expect_err("no such profile");
        assert!(
            error.to_string().contains("use one of melded-tlc-8x8"),
            "{error}"
        );
    }

    /// Takes 3 us for each command before the medium.
    #[derive(Debug)]
    struct Fixed;

    impl Firmware for Fixed {
        fn accept(&mut self, command: Fetched, outbox: &mut Outbox) {
            outbox.wake(command.request, Duration::from_us(3));
        }

        fn step(&mut self, request: u32, outbox: &mut Outbox) {
            outbox.actions.push(Action::Start(request));
        }
    }

    #[test]
    fn firmware_of_another_crate_is_run() {
        policy::register::<dyn Firmware>(policy::Policy {
            name: "fixed",
            about: "takes 3 us for each command",
            make: |_, _| Ok(Box::new(Fixed)),
        });
        let time_us = |rest: &str| {
            let result = run(&format!("{rest}{JOB}")).expect("a result");
            let json: serde_json::Value = serde_json::from_str(&result).expect("JSON");
            json["jobs"][0]["job_runtime_us"].as_f64().expect("a time")
        };
        // 16 reads, one after the other.
        let longer = time_us(r#""set": ["firmware.design=fixed"], "#) - time_us("");
        assert!((longer - 48.0).abs() < 0.01, "{longer}");
    }
}
