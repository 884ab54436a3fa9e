//! Runs jobs on a device: closed loops, all at once or one group after another.

use thiserror::Error;

use super::job::{Job, JobError};
use super::offsets::Offsets;
use super::result::{DeviceResult, JobResult, RunResult, Tally};
use crate::device::{Device, DeviceError};
use crate::engine::Time;
use crate::nvme::{Command, Directive, NamespaceId, Pattern, Status};
use crate::profile::{Profile, ProfileErrors};

/// Completions between two reports of progress.
const PROGRESS_EVERY: u64 = 16_384;

/// Why jobs cannot run.
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
    /// Commands are outstanding and no event is scheduled: a defect of the model.
    #[error("{outstanding} commands are outstanding and nothing will happen")]
    Stuck {
        /// How many.
        outstanding: usize,
    },
}

/// A device with a namespace for each job, and its data in place.
#[derive(Debug)]
pub struct Runner {
    device: Device,
    jobs: Vec<Loop>,
}

/// One job while it runs.
#[derive(Debug)]
struct Loop {
    job: Job,
    nsid: NamespaceId,
    lbas_per_block: u32,
    directive: Directive,
    offsets: Offsets,
    /// For each request outstanding, whether it is a write.
    writes: Vec<bool>,
    start: Time,
    end: Time,
    done: u64,
    read: Tally,
    write: Tally,
}

impl Runner {
    /// Builds the device and gives each job a namespace. What a job will read is preloaded: placed on the flash with the
    /// job's read pattern, in no simulated time.
    pub fn new(profile: &Profile, jobs: &[Job]) -> Result<Runner, RunError> {
        let mut device = Device::new(profile)?;
        let jobs = jobs
            .iter()
            .map(|job| Loop::new(&mut device, job))
            .collect::<Result<Vec<Loop>, RunError>>()?;
        Ok(Runner { device, jobs })
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
        Ok(RunResult {
            jobs: self.jobs.iter().map(Loop::result).collect(),
            device: DeviceResult(self.device.stats()),
        })
    }

    fn run_group(
        &mut self,
        group: std::ops::Range<usize>,
        progress: &mut impl FnMut(f64),
    ) -> Result<(), RunError> {
        let mut completions = 0u64;
        for index in group {
            let depth = self.jobs[index].job.iodepth as usize;
            let running = &mut self.jobs[index];
            running.start = self.device.now();
            running.end = running.start;
            running.writes = vec![false; depth];
            for slot in 0..depth {
                if !running.submit(&mut self.device, index, slot)? {
                    break;
                }
            }
        }
        while self.device.outstanding() > 0 {
            if !self.device.run_until_completion() {
                return Err(RunError::Stuck {
                    outstanding: self.device.outstanding(),
                });
            }
            while let Some(completion) = self.device.pop_completion() {
                let (index, slot) = untag(completion.tag);
                let running = &mut self.jobs[index];
                running.record(
                    slot,
                    completion.status,
                    completion.submitted,
                    completion.completed,
                );
                running.submit(&mut self.device, index, slot)?;
                completions += 1;
                if completions % PROGRESS_EVERY == 0 {
                    progress(self.share_done());
                }
            }
        }
        Ok(())
    }

    fn share_done(&self) -> f64 {
        let shares = self
            .jobs
            .iter()
            .map(|running| running.share_done(self.device.now()));
        shares.sum::<f64>() / self.jobs.len().max(1) as f64
    }
}

impl Loop {
    fn new(device: &mut Device, job: &Job) -> Result<Loop, RunError> {
        let refused = |error| RunError::Job {
            job: job.name.clone(),
            error,
        };
        job.validate().map_err(refused)?;
        let lba_bytes = device.profile().controller.lba_size.0;
        if job.block_bytes % lba_bytes != 0 {
            return Err(refused(JobError {
                key: "bs",
                message: format!(
                    "of {} B is not a multiple of the device's logical block",
                    job.block_bytes
                ),
                remedy: format!("use a multiple of {lba_bytes} B"),
            }));
        }
        let lbas_per_block = u32::try_from(job.block_bytes / lba_bytes).map_err(|_| {
            refused(JobError {
                key: "bs",
                message: format!("of {} B is too large for one command", job.block_bytes),
                remedy: "use a smaller block and a higher iodepth".to_owned(),
            })
        })?;
        let directive = match job.read_pattern {
            Pattern::None => Directive::NONE,
            pattern => Directive::read_pattern(pattern),
        };
        let refused = |error| RunError::Device {
            job: job.name.clone(),
            error,
        };
        let size_bytes = job.blocks() * job.block_bytes;
        let nsid = device.create_namespace(size_bytes).map_err(refused)?;
        if job.rw.reads() {
            device
                .preload(nsid, 0, size_bytes / lba_bytes, directive)
                .map_err(refused)?;
        }
        Ok(Loop {
            job: job.clone(),
            nsid,
            lbas_per_block,
            directive,
            offsets: Offsets::new(job),
            writes: Vec::new(),
            start: Time::ZERO,
            end: Time::ZERO,
            done: 0,
            read: Tally::default(),
            write: Tally::default(),
        })
    }

    /// Submits the next request in `slot`; false when there is none any more.
    fn submit(&mut self, device: &mut Device, index: usize, slot: usize) -> Result<bool, RunError> {
        let elapsed = device.now().saturating_sub(self.start);
        if self.job.runtime.is_some_and(|runtime| elapsed >= runtime) {
            return Ok(false);
        }
        let Some(request) = self.offsets.next() else {
            return Ok(false);
        };
        self.writes[slot] = request.write;
        let (slba, nlb) = (
            request.block * u64::from(self.lbas_per_block),
            self.lbas_per_block,
        );
        let tag = tag(index, slot);
        let command = match request.write {
            false => Command::read(self.nsid, slba, nlb, tag),
            true => Command::write(self.nsid, slba, nlb, self.directive, tag),
        };
        device.submit(&command).map_err(|error| RunError::Device {
            job: self.job.name.clone(),
            error,
        })?;
        Ok(true)
    }

    fn record(&mut self, slot: usize, status: Status, submitted: Time, completed: Time) {
        let tally = match self.writes[slot] {
            false => &mut self.read,
            true => &mut self.write,
        };
        match status {
            Status::Success => tally.succeeded += 1,
            Status::CapacityExceeded => tally.failed += 1,
        }
        tally.latency.record(completed - submitted);
        self.done += 1;
        self.end = completed;
    }

    fn share_done(&self, now: Time) -> f64 {
        let by_requests = self.done as f64 / self.job.blocks().max(1) as f64;
        let by_time = self.job.runtime.map_or(0.0, |runtime| match self.done {
            0 => 0.0,
            _ => now.saturating_sub(self.start).as_secs_f64() / runtime.as_secs_f64(),
        });
        let share = if self.job.time_based {
            by_time
        } else {
            by_requests.max(by_time)
        };
        share.min(1.0)
    }

    fn result(&self) -> JobResult {
        JobResult::new(
            &self.job,
            self.end.saturating_sub(self.start),
            &self.read,
            &self.write,
        )
    }
}

fn tag(index: usize, slot: usize) -> u64 {
    (index as u64) << 32 | slot as u64
}

fn untag(tag: u64) -> (usize, usize) {
    ((tag >> 32) as usize, (tag & 0xFFFF_FFFF) as usize)
}
