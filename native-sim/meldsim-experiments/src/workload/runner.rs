//! Runs jobs on a device, all at once or one group after another.
//!
//! ```text
//!   Job x numjobs --> Running: its requests, its pace --commands--> load driver --> Device
//!                     its tallies <-----------------completions---------'
//! ```

use std::ops::{ControlFlow, Range};

use super::error::RunError;
use super::job::{Job, JobError};
use super::placement::Placement;
use super::requests::{Pace, Request, Requests, Submitted};
use super::result::{DeviceResult, Fill, JobResult, RunResult, Span};
use super::room::{self, Sharing};
use super::series::Series;
use super::tally::{Ended, Tally};
use crate::load::{Failure, Load, Next, PROGRESS_EVERY, Stream, Turn, drive};
use meldsim::device::{Device, Precondition, QueueId};
use meldsim::nvme::{Command, Completion, Directive, NamespaceId};
use meldsim::profile::Profile;
use meldsim::{Duration, Instant};

/// A device with its jobs' namespaces, and their data in place.
#[derive(Debug)]
pub struct Runner {
    device: Device,
    jobs: Vec<Running>,
    series: Option<Series>,
    /// Pages that preconditioning overwrote.
    overwritten_pages: u64,
}

impl Runner {
    /// Builds the device and gives each job, or each file that jobs share, a namespace. What a job will read is preloaded:
    /// placed on the flash with the job's read pattern, in no simulated time.
    ///
    /// # Errors
    ///
    /// A profile, job or namespace that is impossible, or data that does not fit.
    pub fn new(profile: &Profile, jobs: &[Job]) -> Result<Runner, RunError> {
        let mut device = Device::new(profile)?;
        for job in jobs {
            job.validate()
                .and_then(|()| fits_device(profile, job))
                .map_err(|error| RunError::Job {
                    job: job.name.clone(),
                    error,
                })?;
        }
        let mut running = Vec::new();
        let mut files: Vec<(String, NamespaceId)> = Vec::new();
        for (section, job) in jobs.iter().enumerate() {
            for clone in job.clones() {
                // Without a file, equal jobs have files of their own, as in fio.
                let file = clone.file.clone();
                let known = files.iter().find(|(name, _)| Some(name) == file.as_ref());
                let shared = known.map(|(_, nsid)| *nsid);
                let nsid = match shared {
                    Some(nsid) => nsid,
                    None => {
                        let sharing = jobs.iter().filter(|other| other.file == file);
                        let bytes = match &file {
                            None => clone.end_bytes(),
                            Some(_) => sharing.map(Job::end_bytes).max().unwrap_or(0),
                        };
                        let nsid = create_namespace(&mut device, &clone, bytes)?;
                        files.extend(file.map(|file| (file, nsid)));
                        nsid
                    }
                };
                running.push(Running::new(&mut device, clone, section, nsid)?);
            }
        }
        room::check(&device, &by_namespace(&running))?;
        for (index, job) in running.iter().enumerate() {
            let is_shared = job.job.file.is_some();
            let used = is_shared && running[..index].iter().any(|other| other.nsid == job.nsid);
            job.preload(&mut device, used)?;
        }
        Ok(Runner {
            device,
            jobs: running,
            series: None,
            overwritten_pages: 0,
        })
    }

    /// Also collects what happens in each `interval`. A run of more than 1024 intervals makes them longer.
    pub fn with_time_series(mut self, interval: Duration) -> Runner {
        self.series = Some(Series::new(interval, self.jobs.len()));
        self
    }

    /// Puts the device into the state after a long past (see [`Device::precondition`]). What the jobs will read and that
    /// past did not leave is preloaded again.
    ///
    /// # Errors
    ///
    /// A state that the device cannot be in, or data that does not fit.
    pub fn precondition(mut self, precondition: &Precondition) -> Result<Runner, RunError> {
        room::check_past(&self.device, &by_namespace(&self.jobs), precondition)?;
        self.device.precondition(precondition)?;
        self.overwritten_pages = Fill::overwritten_pages(&self.device, precondition);
        for running in &self.jobs {
            running.preload(&mut self.device, true)?;
        }
        Ok(self)
    }

    /// Runs all jobs to their ends. `progress` gets now and then the share of the work that is done, 0 to 1.
    ///
    /// # Errors
    ///
    /// A request that the device refuses, or a defect of the model.
    pub fn run(mut self, mut progress: impl FnMut(f64)) -> Result<RunResult, RunError> {
        let before = self.device.stats();
        let mut first = 0;
        while first < self.jobs.len() {
            let rest = &self.jobs[first + 1..];
            let group = 1 + rest.iter().take_while(|next| !next.job.stonewall).count();
            self.run_group(first..first + group, &mut progress)?;
            first += group;
        }
        let device = DeviceResult::of(&self.device, &before, self.overwritten_pages);
        let names: Vec<String> = self.jobs.iter().map(|job| job.job.name.clone()).collect();
        let series = self
            .series
            .map(|series| series.result(&names, &device.stats));
        Ok(RunResult {
            jobs: results(&self.jobs),
            device,
            series,
            groups: Vec::new(),
            trace: None,
        })
    }

    /// Runs jobs that start together.
    fn run_group(
        &mut self,
        group: Range<usize>,
        progress: &mut impl FnMut(f64),
    ) -> Result<(), RunError> {
        let now = self.device.now();
        for job in &mut self.jobs[group.clone()] {
            job.begin(now);
        }
        let stream = |job: &Running| Stream::new(job.queue, job.job.iodepth);
        let streams: Vec<Stream> = self.jobs[group.clone()].iter().map(stream).collect();
        let mut load = Group {
            jobs: &mut self.jobs,
            first: group.start,
            series: self.series.as_mut(),
            completions: 0,
            progress,
        };
        drive(&mut self.device, streams, &mut load)?;
        Ok(())
    }
}

/// Jobs that run at once.
struct Group<'a, F> {
    /// All jobs.
    jobs: &'a mut [Running],
    /// The first of the group.
    first: usize,
    series: Option<&'a mut Series>,
    completions: u64,
    progress: F,
}

impl<F: FnMut(f64)> Load for Group<'_, F> {
    type Request = Submitted;
    type Error = RunError;

    fn next(&mut self, device: &mut Device, turn: Turn) -> Result<Next<Submitted>, RunError> {
        let job = &mut self.jobs[self.first + turn.stream];
        Ok(job.next(device.now(), turn.outstanding))
    }

    fn completed(
        &mut self,
        stream: usize,
        request: Submitted,
        completion: &Completion,
    ) -> Result<ControlFlow<()>, RunError> {
        let index = self.first + stream;
        let ended = request.ended(completion);
        self.jobs[index].completed(&ended);
        if let Some(series) = &mut self.series {
            series.record(index, &ended);
        }
        self.completions += 1;
        if self.completions % PROGRESS_EVERY == 0 {
            let shares = self.jobs.iter().map(|job| job.share_done(ended.completed));
            let share = shares.sum::<f64>() / self.jobs.len() as f64;
            (self.progress)(share);
        }
        Ok(ControlFlow::Continue(()))
    }

    fn sample(&mut self, device: &Device) -> Instant {
        let series = self.series.as_mut();
        series.map_or(Instant::MAX, |series| series.keep_up(device))
    }

    fn failed(&self, failure: Failure<Submitted>) -> RunError {
        match failure {
            Failure::Refused(stream, _, error) => {
                RunError::of(&self.jobs[self.first + stream].job.name)(error)
            }
            Failure::Stuck { outstanding } => RunError::Stuck { outstanding },
        }
    }
}

/// Refuses a job whose requests the device could not take.
fn fits_device(profile: &Profile, job: &Job) -> Result<(), JobError> {
    let lba_bytes = profile.controller.lba_size.0;
    let key = match job.block_split.is_empty() {
        true => "bs",
        false => "bssplit",
    };
    let split = job.block_split.iter().map(|share| share.bytes);
    for bytes in split.chain([job.block_bytes]) {
        let (message, remedy) = if bytes % lba_bytes != 0 {
            let remedy = format!("use a multiple of {lba_bytes} B");
            ("not a multiple of the device's logical block", remedy)
        } else if u32::try_from(bytes / lba_bytes).is_err() {
            let remedy = "use a smaller block and a higher iodepth";
            ("too large for one command", remedy.to_owned())
        } else {
            continue;
        };
        let message = format!("of {bytes} B is {message}");
        return Err(JobError {
            key,
            message,
            remedy,
        });
    }
    Ok(())
}

fn by_namespace(jobs: &[Running]) -> Sharing<'_> {
    let mut sharing = Sharing::new();
    for running in jobs {
        let together = sharing.entry(running.nsid).or_default();
        together.push(&running.job);
    }
    sharing
}

fn create_namespace(device: &mut Device, job: &Job, bytes: u64) -> Result<NamespaceId, RunError> {
    let lba_bytes = device.profile().controller.lba_size.0;
    let bytes = bytes
        .checked_next_multiple_of(lba_bytes)
        .unwrap_or(u64::MAX);
    let created = match job.nvm_set {
        Some(set) => device.create_namespace_in(set, bytes),
        None => device.create_namespace(bytes),
    };
    created.map_err(RunError::of(&job.name))
}

/// One result a job; equal jobs that report as a group are added up.
fn results(jobs: &[Running]) -> Vec<JobResult> {
    let together = |first: &Running, next: &Running| {
        first.job.group_reporting && next.section == first.section
    };
    jobs.chunk_by(together).map(Running::result).collect()
}

/// One job while it runs.
#[derive(Debug)]
struct Running {
    job: Job,
    /// Which of the jobs as they were given; equal jobs share it.
    section: usize,
    nsid: NamespaceId,
    queue: QueueId,
    lba_bytes: u64,
    placement: Placement,
    requests: Requests,
    /// The next request, when its time has not come.
    next: Option<Request>,
    pace: Pace,
    start: Instant,
    /// What is submitted before this is not counted.
    counted_from: Instant,
    last_completion: Instant,
    /// Requests since the last pause.
    since_pause: u32,
    paused_until: Instant,
    /// Its time is over.
    is_over: bool,
    done_bytes: u64,
    /// Reads, writes.
    tallies: [Tally; 2],
}

impl Running {
    fn new(
        device: &mut Device,
        job: Job,
        section: usize,
        nsid: NamespaceId,
    ) -> Result<Running, RunError> {
        let queue = device.create_queue(job.iodepth, job.queue_priority);
        let queue = queue.map_err(RunError::of(&job.name))?;
        Ok(Running {
            section,
            nsid,
            queue,
            lba_bytes: device.profile().controller.lba_size.0,
            placement: Placement::new(job.read_pattern, &job.placement_ids),
            requests: Requests::new(&job),
            next: None,
            pace: Pace::new(&job, Instant::START),
            start: Instant::START,
            counted_from: Instant::START,
            last_completion: Instant::START,
            since_pause: 0,
            paused_until: Instant::START,
            is_over: false,
            done_bytes: 0,
            tallies: Default::default(),
            job,
        })
    }

    /// Puts in place what the job will read; only what is missing when `used` says that some of it may be there.
    fn preload(&self, device: &mut Device, used: bool) -> Result<(), RunError> {
        let job = &self.job;
        if !job.rw.reads() {
            return Ok(());
        }
        let slba = job.offset_bytes / self.lba_bytes;
        let nlb = job.end_bytes() / self.lba_bytes - slba;
        let directive = self.placement.directive();
        let placed = match used {
            false => device.preload(self.nsid, slba, nlb, directive),
            true => device
                .preload_unmapped(self.nsid, slba, nlb, directive)
                .map(|_| ()),
        };
        placed.map_err(RunError::of(&job.name))
    }

    /// The job's group begins now.
    fn begin(&mut self, now: Instant) {
        self.start = now + self.job.start_delay;
        self.counted_from = self.start + self.job.ramp_time;
        self.last_completion = self.counted_from;
        self.paused_until = self.start;
        self.pace = Pace::new(&self.job, self.start);
    }

    /// The next request, if there is one and its time has come.
    fn next(&mut self, now: Instant, outstanding: u64) -> Next<Submitted> {
        if self.is_over {
            return Next::Wait;
        }
        if self.job.think_time > Duration::ZERO && self.since_pause >= self.job.think_blocks {
            if outstanding > 0 {
                return Next::Wait;
            }
            self.since_pause = 0;
            self.paused_until = now + self.job.think_time;
        }
        let Some(request) = self.next.take().or_else(|| self.requests.next()) else {
            return Next::Wait;
        };
        let paced = self.pace.next(request.write);
        let due = paced.map_or(self.paused_until, |time| time.max(self.paused_until));
        let end = self.job.runtime.map(|runtime| self.counted_from + runtime);
        if end.is_some_and(|end| due.max(now) >= end) {
            self.is_over = true;
            return Next::Wait;
        }
        if due > now {
            self.next = Some(request);
            return Next::At(due);
        }
        self.pace.take(request.write, request.bytes);
        self.since_pause = self.since_pause.saturating_add(1);
        let submitted = Submitted {
            arrived: paced.unwrap_or(now),
            bytes: request.bytes,
            write: request.write,
        };
        Next::Submit(self.command(&request), submitted)
    }

    fn command(&mut self, request: &Request) -> Command {
        let slba = request.start / self.lba_bytes;
        // That it fits was checked for the largest request.
        let nlb = (request.bytes / self.lba_bytes) as u32;
        match request.write {
            false => Command::read(self.nsid, slba, nlb, 0),
            true => {
                let write = Command::write(self.nsid, slba, nlb, Directive::NONE, 0);
                self.placement.hint(write)
            }
        }
    }

    fn completed(&mut self, ended: &Ended) {
        self.done_bytes += ended.bytes;
        if ended.submitted >= self.counted_from {
            self.tallies[usize::from(ended.write)].record(ended);
            self.last_completion = ended.completed;
        }
    }

    /// Which share of its work is done, 0 to 1.
    fn share_done(&self, now: Instant) -> f64 {
        let by_bytes = self.done_bytes as f64 / self.job.total_bytes().max(1) as f64;
        let by_time = match self.job.runtime {
            Some(runtime) if self.done_bytes > 0 => {
                let length = (self.job.ramp_time + runtime).as_secs_f64();
                now.saturating_since(self.start).as_secs_f64() / length
            }
            _ => 0.0,
        };
        let share = match self.job.time_based {
            true => by_time,
            false => by_bytes.max(by_time),
        };
        share.min(1.0)
    }

    /// The result of a job, or of several as if they were one.
    fn result(jobs: &[Running]) -> JobResult {
        let mut tallies: [Tally; 2] = Default::default();
        for running in jobs {
            for (sum, tally) in tallies.iter_mut().zip(&running.tallies) {
                sum.merge(tally);
            }
        }
        let [read, write] = tallies;
        let start = jobs.iter().map(|running| running.counted_from).min();
        let end = jobs.iter().map(|running| running.last_completion).max();
        let span = Span {
            start: start.unwrap_or(Instant::START),
            end: end.unwrap_or(Instant::START),
        };
        JobResult::of_job(&jobs[0].job, jobs.len() > 1, span, read, write)
    }
}
