//! Runs jobs on a device, all at once or one group after another.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use thiserror::Error;

use super::job::{Job, JobError};
use super::result::{DeviceResult, JobResult, RunResult};
use super::running::Running;
use super::series::Series;
use super::trace::TraceError;
use meldsim::device::{Device, DeviceError, Precondition};
use meldsim::engine::Time;
use meldsim::nvme::NamespaceId;
use meldsim::profile::{Profile, ProfileErrors};

/// Completions between two reports of progress.
pub(super) const PROGRESS_EVERY: u64 = 16_384;

/// Why a workload cannot run.
#[derive(Debug, Error)]
pub enum RunError {
    /// The profile describes an impossible device.
    #[error(transparent)]
    Profile(#[from] ProfileErrors),
    /// A job is impossible by itself, or on this device.
    #[error("job {job}: {error}")]
    Job {
        /// The job's name.
        job: String,
        /// What is wrong with it.
        error: JobError,
    },
    /// The device refuses a job's data or a request.
    #[error("job {job}: {error}")]
    Device {
        /// The job's name.
        job: String,
        /// The refusal.
        error: DeviceError,
    },
    /// A trace cannot be read or replayed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The device cannot be brought into the state asked for.
    #[error("precondition: {0}")]
    Precondition(#[from] DeviceError),
    /// Commands are outstanding and no event is scheduled: a defect of the model.
    #[error("{outstanding} commands are outstanding and nothing will happen")]
    Stuck {
        /// How many.
        outstanding: usize,
    },
}

/// A device with its jobs' namespaces, and their data in place.
#[derive(Debug)]
pub struct Runner {
    device: Device,
    jobs: Vec<Running>,
    series: Option<Series>,
}

impl Runner {
    /// Builds the device and gives each job, or each file that jobs share, a namespace. What a job will read is preloaded:
    /// placed on the flash with the job's read pattern, in no simulated time.
    pub fn new(profile: &Profile, jobs: &[Job]) -> Result<Runner, RunError> {
        Runner::on(Device::new(profile)?, jobs)
    }

    /// As [`Runner::new`], on a device that may have been used before. Times count from the device's present time.
    pub fn on(mut device: Device, jobs: &[Job]) -> Result<Runner, RunError> {
        let refused = |job: &Job, error| RunError::Job {
            job: job.name.clone(),
            error,
        };
        for job in jobs {
            job.validate().map_err(|error| refused(job, error))?;
            super::running::fits_device(&device, job).map_err(|error| refused(job, error))?;
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
                        let bytes = match &file {
                            None => clone.end_bytes(),
                            Some(_) => {
                                let sharing = jobs.iter().filter(|other| other.file == file);
                                sharing.map(Job::end_bytes).max().unwrap_or(0)
                            }
                        };
                        let nsid = create_namespace(&mut device, &clone, bytes)?;
                        files.extend(file.map(|file| (file, nsid)));
                        nsid
                    }
                };
                running.push(Running::new(
                    &mut device,
                    clone,
                    section,
                    nsid,
                    shared.is_some(),
                )?);
            }
        }
        Ok(Runner {
            device,
            jobs: running,
            series: None,
        })
    }

    /// Also collects what happens in each `interval`. A run of more than 1024 intervals makes them longer.
    pub fn with_time_series(mut self, interval: Time) -> Runner {
        self.series = Some(Series::new(interval, self.jobs.len()));
        self
    }

    /// Puts the device into the state after a long past (see [`Device::precondition`]). What the jobs will read and that
    /// past did not leave is preloaded again.
    pub fn precondition(mut self, precondition: &Precondition) -> Result<Runner, RunError> {
        self.device.precondition(precondition)?;
        for running in &self.jobs {
            running.preload(&mut self.device, true)?;
        }
        Ok(self)
    }

    /// Runs all jobs to their ends. `progress` is told now and then which share of the work is done, 0 to 1.
    pub fn run(mut self, mut progress: impl FnMut(f64)) -> Result<RunResult, RunError> {
        let mut first = 0;
        while first < self.jobs.len() {
            let rest = &self.jobs[first + 1..];
            let group = 1 + rest.iter().take_while(|next| !next.job.stonewall).count();
            self.run_group(first..first + group, &mut progress)?;
            first += group;
        }
        let device = DeviceResult::of(&self.device);
        let names: Vec<String> = self.jobs.iter().map(|job| job.job.name.clone()).collect();
        let series = self
            .series
            .map(|series| series.result(&names, &device.stats));
        Ok(RunResult {
            jobs: results(&self.jobs),
            device,
            series,
            trace: None,
        })
    }

    fn run_group(
        &mut self,
        group: std::ops::Range<usize>,
        progress: &mut impl FnMut(f64),
    ) -> Result<(), RunError> {
        let mut wakes: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::new();
        for index in group {
            self.jobs[index].begin(self.device.now());
            self.go_on(index, &mut wakes)?;
        }
        let mut completions = 0u64;
        loop {
            let wake = wakes.peek().map(|Reverse((time, _))| *time);
            if let (Some(time), Some(Reverse((_, index)))) = (wake, wakes.peek()) {
                if time <= self.device.now() {
                    let index = *index;
                    wakes.pop();
                    self.go_on(index, &mut wakes)?;
                    continue;
                }
            }
            let outstanding = self.device.outstanding();
            if outstanding == 0 && wake.is_none() {
                return Ok(());
            }
            let mut limit = wake.unwrap_or(Time::MAX);
            if let Some(series) = &mut self.series {
                if self.device.now() >= series.next_sample() {
                    series.sample(&self.device.stats());
                }
                if outstanding > 0 {
                    limit = limit.min(series.next_sample());
                }
            }
            if !self.device.run_until_completion_or(limit) {
                if limit == Time::MAX {
                    return Err(RunError::Stuck { outstanding });
                }
                continue;
            }
            while let Some(completion) = self.device.pop_completion() {
                let (index, ended) = Running::ended(&mut self.jobs, &completion);
                if let Some(series) = &mut self.series {
                    series.record(index, &ended);
                }
                self.go_on(index, &mut wakes)?;
                completions += 1;
                if completions % PROGRESS_EVERY == 0 {
                    progress(self.share_done());
                }
            }
        }
    }

    /// Lets a job submit what it can, and notes when it can go on by itself.
    fn go_on(
        &mut self,
        index: usize,
        wakes: &mut BinaryHeap<Reverse<(Time, usize)>>,
    ) -> Result<(), RunError> {
        if let Some(time) = self.jobs[index].submit(&mut self.device, index)? {
            wakes.push(Reverse((time, index)));
        }
        Ok(())
    }

    fn share_done(&self) -> f64 {
        let now = self.device.now();
        let shares = self.jobs.iter().map(|running| running.share_done(now));
        shares.sum::<f64>() / self.jobs.len().max(1) as f64
    }
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
    created.map_err(|error| RunError::Device {
        job: job.name.clone(),
        error,
    })
}

/// One result a job; equal jobs that report as a group are added up.
fn results(jobs: &[Running]) -> Vec<JobResult> {
    let mut results = Vec::new();
    let mut rest = jobs;
    while let Some(first) = rest.first() {
        let together =
            |other: &&Running| first.job.group_reporting && other.section == first.section;
        let count = 1 + rest[1..].iter().take_while(together).count();
        results.push(Running::result(&rest[..count]));
        rest = &rest[count..];
    }
    results
}
