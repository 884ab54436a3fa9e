//! One job while it runs.

use super::job::{Job, JobError};
use super::pace::Pace;
use super::placement::Placement;
use super::requests::{Request, Requests};
use super::result::{JobResult, Span};
use super::runner::RunError;
use super::tally::{Ended, Tally};
use meldsim::device::{Device, QueueId};
use meldsim::engine::Time;
use meldsim::nvme::{Command, Completion, Directive, NamespaceId, Status};

#[derive(Debug)]
pub(super) struct Running {
    pub(super) job: Job,
    /// Which of the jobs as they were given; equal jobs share it.
    pub(super) section: usize,
    nsid: NamespaceId,
    queue: QueueId,
    lba_bytes: u64,
    placement: Placement,
    requests: Requests,
    /// The next request, when its time has not come.
    next: Option<Request>,
    pace: Pace,
    /// Requests outstanding, by slot.
    slots: Vec<Slot>,
    free: Vec<u32>,
    start: Time,
    /// What is submitted before this is not counted.
    counted_from: Time,
    last_completion: Time,
    /// Requests since the last pause.
    since_pause: u32,
    paused_until: Time,
    /// The wake-up that was asked for last.
    wake: Option<Time>,
    ended: bool,
    done_bytes: u64,
    read: Tally,
    write: Tally,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    arrived: Time,
    bytes: u64,
    write: bool,
}

/// Refuses a job whose requests the device could not take.
pub(super) fn fits_device(device: &Device, job: &Job) -> Result<(), JobError> {
    let lba_bytes = device.profile().controller.lba_size.0;
    let key = if job.block_split.is_empty() {
        "bs"
    } else {
        "bssplit"
    };
    let split = job.block_split.iter().map(|share| share.bytes);
    for bytes in split.chain([job.block_bytes]) {
        if bytes % lba_bytes != 0 {
            return Err(JobError {
                key,
                message: format!("of {bytes} B is not a multiple of the device's logical block"),
                remedy: format!("use a multiple of {lba_bytes} B"),
            });
        }
        if u32::try_from(bytes / lba_bytes).is_err() {
            return Err(JobError {
                key,
                message: format!("of {bytes} B is too large for one command"),
                remedy: "use a smaller block and a higher iodepth".to_owned(),
            });
        }
    }
    Ok(())
}

impl Running {
    /// Preloads what the job will read; `used` says that others may have preloaded some of it.
    pub(super) fn new(
        device: &mut Device,
        job: Job,
        section: usize,
        nsid: NamespaceId,
        used: bool,
    ) -> Result<Running, RunError> {
        let lba_bytes = device.profile().controller.lba_size.0;
        let queue = device
            .create_queue(job.iodepth, job.queue_priority)
            .map_err(|error| RunError::Device {
                job: job.name.clone(),
                error,
            })?;
        let running = Running {
            section,
            nsid,
            queue,
            lba_bytes,
            placement: Placement::new(job.read_pattern, &job.placement_ids),
            requests: Requests::new(&job),
            next: None,
            pace: Pace::new(&job, Time::ZERO),
            slots: Vec::new(),
            free: Vec::new(),
            start: Time::ZERO,
            counted_from: Time::ZERO,
            last_completion: Time::ZERO,
            since_pause: 0,
            paused_until: Time::ZERO,
            wake: None,
            ended: false,
            done_bytes: 0,
            read: Tally::default(),
            write: Tally::default(),
            job,
        };
        running.preload(device, used)?;
        Ok(running)
    }

    /// Puts in place what the job will read; only what is missing when `used` says that some of it may be there.
    pub(super) fn preload(&self, device: &mut Device, used: bool) -> Result<(), RunError> {
        let job = &self.job;
        if !job.rw.reads() {
            return Ok(());
        }
        let slba = job.offset_bytes / self.lba_bytes;
        let nlb = job.end_bytes() / self.lba_bytes - slba;
        let directive = self.placement.directive();
        let placed = match used {
            false => device.preload(self.nsid, slba, nlb, directive),
            true => {
                let placed = device.preload_unmapped(self.nsid, slba, nlb, directive);
                placed.map(|_| ())
            }
        };
        placed.map_err(|error| RunError::Device {
            job: job.name.clone(),
            error,
        })
    }

    /// The job's group begins now.
    pub(super) fn begin(&mut self, now: Time) {
        self.start = now + self.job.start_delay;
        self.counted_from = self.start + self.job.ramp_time;
        self.last_completion = self.counted_from;
        self.paused_until = self.start;
        self.pace = Pace::new(&self.job, self.start);
        self.slots = vec![Slot::default(); self.job.iodepth as usize];
        self.free = (0..self.job.iodepth).rev().collect();
    }

    /// Submits all that can be submitted now. Returns when to come again, if time alone will let it go on and nobody was
    /// asked for that time yet.
    pub(super) fn submit(
        &mut self,
        device: &mut Device,
        index: usize,
    ) -> Result<Option<Time>, RunError> {
        let now = device.now();
        let end = self.job.runtime.map(|runtime| self.counted_from + runtime);
        while !self.ended {
            if self.pauses() {
                if self.outstanding() > 0 {
                    return Ok(None);
                }
                self.since_pause = 0;
                self.paused_until = now + self.job.think_time;
            }
            let Some(&slot) = self.free.last() else {
                return Ok(None);
            };
            let Some(request) = self.next.take().or_else(|| self.requests.next()) else {
                self.ended = true;
                break;
            };
            let paced = self.pace.next(request.write);
            let due = paced.map_or(self.paused_until, |time| time.max(self.paused_until));
            if end.is_some_and(|end| due.max(now) >= end) {
                self.ended = true;
                break;
            }
            if due > now {
                self.next = Some(request);
                let asked = self.wake == Some(due);
                self.wake = Some(due);
                return Ok((!asked).then_some(due));
            }
            self.free.pop();
            self.pace.take(request.write, request.bytes);
            self.since_pause = self.since_pause.saturating_add(1);
            self.slots[slot as usize] = Slot {
                arrived: paced.unwrap_or(now),
                bytes: request.bytes,
                write: request.write,
            };
            self.submit_request(device, &request, tag(index, slot))?;
        }
        Ok(None)
    }

    fn pauses(&self) -> bool {
        self.job.think_time > Time::ZERO && self.since_pause >= self.job.think_blocks
    }

    fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn submit_request(
        &mut self,
        device: &mut Device,
        request: &Request,
        tag: u64,
    ) -> Result<(), RunError> {
        let slba = request.start / self.lba_bytes;
        // That it fits was checked for the largest request.
        let nlb = (request.bytes / self.lba_bytes) as u32;
        let command = match request.write {
            false => Command::read(self.nsid, slba, nlb, tag),
            true => {
                let write = Command::write(self.nsid, slba, nlb, Directive::NONE, tag);
                self.placement.hint(write)
            }
        };
        let submitted = device.submit_to(self.queue, &command);
        submitted.map_err(|error| RunError::Device {
            job: self.job.name.clone(),
            error,
        })
    }

    /// Takes a completion to its job; returns which, and the request.
    pub(super) fn ended(jobs: &mut [Running], completion: &Completion) -> (usize, Ended) {
        let (index, slot) = untag(completion.tag);
        let running = &mut jobs[index];
        let Slot {
            arrived,
            bytes,
            write,
        } = running.slots[slot as usize];
        running.free.push(slot);
        running.done_bytes += bytes;
        let ended = Ended {
            arrived,
            submitted: completion.submitted,
            completed: completion.completed,
            bytes,
            write,
            failed: completion.status != Status::Success,
        };
        if completion.submitted >= running.counted_from {
            let tally = if write {
                &mut running.write
            } else {
                &mut running.read
            };
            tally.record(&ended);
            running.last_completion = completion.completed;
        }
        (index, ended)
    }

    /// Which share of its work is done, 0 to 1.
    pub(super) fn share_done(&self, now: Time) -> f64 {
        let by_bytes = self.done_bytes as f64 / self.job.total_bytes().max(1) as f64;
        let by_time = self
            .job
            .runtime
            .map_or(0.0, |runtime| match self.done_bytes {
                0 => 0.0,
                _ => {
                    let length = (self.job.ramp_time + runtime).as_secs_f64();
                    now.saturating_sub(self.start).as_secs_f64() / length
                }
            });
        let share = if self.job.time_based {
            by_time
        } else {
            by_bytes.max(by_time)
        };
        share.min(1.0)
    }

    /// The result of a job, or of several as if they were one.
    pub(super) fn result(jobs: &[Running]) -> JobResult {
        let (mut read, mut write) = (Tally::default(), Tally::default());
        for running in jobs {
            read.merge(&running.read);
            write.merge(&running.write);
        }
        let first = &jobs[0];
        let start = jobs.iter().map(|running| running.counted_from).min();
        let end = jobs.iter().map(|running| running.last_completion).max();
        let span = Span {
            start: start.unwrap_or(Time::ZERO),
            end: end.unwrap_or(Time::ZERO),
        };
        JobResult::of_job(&first.job, jobs.len() > 1, span, read, write)
    }
}

fn tag(index: usize, slot: u32) -> u64 {
    (index as u64) << 32 | u64::from(slot)
}

fn untag(tag: u64) -> (usize, u32) {
    ((tag >> 32) as usize, (tag & 0xFFFF_FFFF) as u32)
}
