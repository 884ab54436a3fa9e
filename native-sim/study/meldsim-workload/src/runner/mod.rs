//! Runs jobs on a device, all at once or one group after another.
//!
//! ```text
//!   Job x numjobs --> Running: its requests, its pace --commands--> Group, host --> Device
//!                     its tallies <-----------------completions----------------'
//! ```

mod account;
mod adapt;
mod apart;
mod batch;
mod group;
pub(crate) mod list;
mod running;
mod window;
mod zoned;

use std::io;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};

use super::error::RunError;
use super::job::{Job, JobError};
use super::past::Past;
use super::result::{
    Before, DeviceResult, Fill, HostPathResult, JobResult, Preconditioned, RunResult,
};
use super::room::{self, Sharing};
use crate::result::series::Series;
use group::Group;
use meldsim::device::{Aging, Device, Stats, Utilisation};
use meldsim::nvme::NamespaceId;
use meldsim::profile::{Kind, Profile};
use meldsim::timeline::Timeline;
use meldsim::{Duration, Instant};
use meldsim_host::{Direction, Next, Stream, Turn, drive};
use meldsim_timeline::end_of;
use running::Running;
use zoned::Zoned;

/// Of a job: its section, its group, the section that it waits for, and how its region was rounded.
type Place = (usize, usize, Option<usize>, Option<String>);

/// A device with its jobs' namespaces, and their data in place.
#[derive(Debug)]
pub struct Runner {
    device: Device,
    jobs: Vec<Running>,
    series: Option<Series>,
    precondition: Option<Preconditioned>,
    memory_bytes: u64,
    /// Pages that preconditioning overwrote.
    overwritten_pages: u64,
    /// On how many it may run.
    threads: NonZeroUsize,
}

impl Runner {
    /// Builds the device and gives each job, or each file that jobs share, a namespace. What a job will read is preloaded:
    /// placed on the flash with the job's read pattern, in no simulated time. That is when the job starts; before all of them
    /// where those before it might leave no room.
    ///
    /// # Errors
    ///
    /// A profile, job or namespace that is impossible, or data that does not fit.
    pub fn new(profile: &Profile, jobs: &[Job]) -> Result<Runner, RunError> {
        let mut device = Device::new(profile)?;
        let fitted = jobs.iter().map(|job| {
            job.validate()
                .and_then(|()| fits_device(profile, job))
                .and_then(|()| in_zones(profile, job))
                .map_err(|error| RunError::Job {
                    job: job.name.clone(),
                    error,
                })
        });
        let jobs = &fitted.collect::<Result<Vec<Job>, RunError>>()?;
        // A zoned device has one namespace, which all jobs share.
        let file_of = |job: &Job| match profile.has_zones() {
            true => Some(String::new()),
            false => job.file.clone(),
        };
        let mut placed: Vec<(Job, NamespaceId, Place)> = Vec::new();
        let mut files: Vec<(String, NamespaceId)> = Vec::new();
        let mut group = 0;
        for (section, job) in jobs.iter().enumerate() {
            let waits_for = waits_for(&jobs[..section], job)?;
            for mut clone in job.clones() {
                let rounded = to_whole_zones(&mut clone).map_err(|error| RunError::Job {
                    job: clone.name.clone(),
                    error,
                })?;
                // Without a file, equal jobs have files of their own, as in fio.
                let file = file_of(&clone);
                let known = files.iter().find(|(name, _)| Some(name) == file.as_ref());
                let shared = known.map(|(_, nsid)| *nsid);
                let nsid = match shared {
                    Some(nsid) => nsid,
                    None => {
                        let sharing = jobs.iter().filter(|other| file_of(other) == file);
                        let ends = sharing.flat_map(Job::clones).map(|job| job.reach_bytes());
                        let bytes = match &file {
                            None => clone.reach_bytes(),
                            Some(_) => ends.max().unwrap_or(0),
                        };
                        let nsid = create_namespace(&mut device, &clone, bytes)?;
                        files.extend(file.map(|file| (file, nsid)));
                        nsid
                    }
                };
                let is_first = placed.is_empty();
                group += usize::from(!is_first && (clone.stonewall || clone.new_group));
                placed.push((clone, nsid, (section, group, waits_for, rounded)));
            }
        }
        // What cannot be is refused before it takes memory.
        let jobs_of = || placed.iter().map(|(job, nsid, _)| (*nsid, job));
        room::check(&device, &by_namespace(jobs_of()))?;
        let memory_bytes = room::check_memory(&device, jobs_of())?;
        let mut running = Vec::new();
        for (job, nsid, (section, group, waits_for, rounded)) in placed {
            let mut job = Running::new(&mut device, job, section, nsid)?;
            (job.group, job.waits_for, job.rounded) = (group, waits_for, rounded);
            running.push(job);
        }
        let later: Vec<bool> = (0..running.len())
            .map(|index| is_placed_later(&device, &running, index))
            .collect();
        let mut used: Vec<NamespaceId> = Vec::new();
        for (job, _) in running.iter_mut().zip(later).filter(|(_, later)| !later) {
            let is_used = file_of(&job.job).is_some() && used.contains(&job.nsid);
            used.push(job.nsid);
            job.preload(&mut device, is_used)?;
        }
        Ok(Runner {
            device,
            jobs: running,
            series: None,
            precondition: None,
            memory_bytes,
            overwritten_pages: 0,
            threads: NonZeroUsize::MIN,
        })
    }

    /// The requests of jobs in zones, one job after the other: each where it goes if the one before it has completed. `each` gets
    /// the job's name, the direction, the first byte and the bytes.
    ///
    /// # Errors
    ///
    /// Those of `each`, and of the device.
    pub(super) fn requests(
        mut self,
        most: u64,
        mut each: impl FnMut(usize, Direction, u64, u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let lba_bytes = self.device.profile().controller.lba_size.0;
        let Some(mut zoned) = Zoned::new(&self.device, self.jobs.len()) else {
            return Ok(());
        };
        for (stream, job) in self.jobs.iter_mut().enumerate() {
            job.preload(&mut self.device, true)
                .map_err(io::Error::other)?;
            zoned.refresh(&self.device);
            let mut now = Instant::START;
            job.begin(now);
            let turn = Turn {
                stream,
                outstanding: 0,
                unseen: 0,
                deferred: 0,
            };
            let mut left = most;
            while left > 0 {
                let (command, submitted) = match zoned.next(job, turn, now) {
                    Next::Submit(command, submitted) => (command, submitted),
                    Next::At(time) => {
                        now = time;
                        continue;
                    }
                    Next::Wait => break,
                };
                if zoned.completed(stream, &submitted) {
                    let start = command.slba * lba_bytes;
                    each(stream, submitted.direction, start, submitted.bytes)?;
                    left -= 1;
                    let ended = submitted.ended_at(now);
                    if !job.keeps(&submitted, &ended) {
                        job.completed(&ended);
                    }
                }
            }
        }
        Ok(())
    }

    /// Bytes of the host's memory that its jobs take at most, without what writes at random come to in a `runtime`.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Simulates NVM sets at once, on so many threads at most, where neither the device nor the jobs make one set wait for
    /// another (see [`Device::has_independent_sets`]). Each job goes on for its own completions only then: not at a time, as
    /// with a pause, a rate or an interval over time, and not for what others do. The result is the same, to the last digit.
    pub fn with_threads(mut self, threads: NonZeroUsize) -> Runner {
        self.threads = threads;
        self
    }

    /// Also collects what happens in each `interval`. A run of more than 1024 intervals makes them longer.
    pub fn with_time_series(mut self, interval: Duration) -> Runner {
        self.series = Some(Series::new(interval, self.jobs.len()));
        self
    }

    /// The device also tells a timeline what it does.
    ///
    /// # Errors
    ///
    /// A device that has none.
    pub fn with_timeline(mut self, timeline: Box<dyn Timeline>) -> Result<Runner, RunError> {
        self.device
            .set_timeline(Some(timeline))
            .map_err(RunError::Timeline)?;
        Ok(self)
    }

    /// Puts the device into the state after a long past (see [`Device::precondition`]); a skewed one touched the blocks that
    /// are popular with the jobs. What the jobs will read and that past did not leave is preloaded again.
    ///
    /// # Errors
    ///
    /// A state that the device cannot be in, or data that does not fit.
    pub fn precondition(self, past: &Past) -> Result<Runner, RunError> {
        self.precondition_until(past, |_| ControlFlow::Continue(()))
    }

    /// As [`Runner::precondition`]. A skewed past takes long: it ends when `progress` breaks off.
    ///
    /// # Errors
    ///
    /// As [`Runner::precondition`].
    pub fn precondition_until(
        mut self,
        past: &Past,
        progress: impl FnMut(&Aging) -> ControlFlow<()>,
    ) -> Result<Runner, RunError> {
        let sharing = by_namespace(placed(&self.jobs));
        room::check_past(&self.device, &sharing, &past.precondition)?;
        let writers = sharing.into_iter().flat_map(|(nsid, jobs)| {
            let mut writers = jobs;
            writers.retain(|job| job.rw.is_random() && job.rw.writes());
            let nobody = writers.is_empty().then_some((nsid, None));
            let writers = writers.into_iter().map(move |job| (nsid, Some(job)));
            nobody.into_iter().chain(writers)
        });
        past.apply(&mut self.device, writers, progress)?;
        let is_flash = self.device.profile().kind == Kind::Nand;
        self.precondition = is_flash.then(|| Preconditioned::of(&self.device, past.to_string()));
        self.overwritten_pages = Fill::overwritten_pages(&self.device, &past.precondition);
        for running in &mut self.jobs {
            running.preload(&mut self.device, true)?;
        }
        Ok(self)
    }

    /// Runs all jobs to their ends. `progress` gets now and then the share of the work that is done, 0 to 1.
    ///
    /// # Errors
    ///
    /// A request that the device refuses, or a defect of the model.
    pub fn run(self, mut progress: impl FnMut(f64)) -> Result<RunResult, RunError> {
        self.run_until(|share| {
            progress(share);
            ControlFlow::Continue(())
        })
    }

    /// As [`Runner::run`], until `progress` breaks off. Then the result is that of what was done.
    ///
    /// # Errors
    ///
    /// As [`Runner::run`].
    pub fn run_until(
        mut self,
        mut progress: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<RunResult, RunError> {
        let mut is_partial = false;
        let mut progress = |share| {
            let flow = progress(share);
            is_partial |= flow.is_break();
            flow
        };
        let before = Before::of(&self.device);
        let counted = match self.split() {
            Some(parts) => self.run_apart(parts, &mut progress)?,
            None => self.run_together(&mut progress)?,
        };
        // What none of the jobs counts is not counted here either.
        let begun = self.jobs.iter().filter_map(|job| job.before.as_deref());
        let all_ramp = self.jobs.iter().all(|job| job.before.is_some());
        let after_ramps = begun
            .min_by_key(|before| before.stats.now_ps)
            .filter(|_| all_ramp);
        let before = after_ramps.unwrap_or(&before);
        let device = DeviceResult::counted(&self.device, counted, before, self.overwritten_pages);
        let names: Vec<String> = self.jobs.iter().map(|job| job.job.name.clone()).collect();
        let series = self
            .series
            .map(|series| series.result(&names, &device.stats));
        Ok(RunResult {
            jobs: results(&self.jobs, &self.device),
            host_path: HostPathResult::of(&self.device),
            precondition: self.precondition,
            device,
            series,
            is_partial,
            ..RunResult::default()
        })
    }

    /// Runs all jobs on the device. Returns what that has counted, and how busy its parts were.
    fn run_together(
        &mut self,
        progress: &mut impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<(Stats, Utilisation), RunError> {
        let mut first = 0;
        while first < self.jobs.len() {
            let rest = &self.jobs[first + 1..];
            let group = 1 + rest.iter().take_while(|next| !next.job.stonewall).count();
            let range = first..first + group;
            let series = self.series.as_mut();
            let flow = run_group(
                &mut self.device,
                &mut self.jobs,
                range,
                series,
                &mut *progress,
            )?;
            if flow.is_break() {
                break;
            }
            first += group;
        }
        end_of(&mut self.device);
        // All that happens at the time of the last completion counts, whichever of the two is first.
        self.device.advance_to(self.device.now());
        Ok((self.device.stats(), self.device.utilisation()))
    }
}

/// Runs jobs that start together, those of `range`; breaks when nothing may follow them.
fn run_group(
    device: &mut Device,
    jobs: &mut [Running],
    range: Range<usize>,
    series: Option<&mut Series>,
    mut progress: impl FnMut(f64) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, RunError> {
    let now = device.now();
    let mut is_stopped = false;
    let progress = |share| {
        let flow = progress(share);
        is_stopped |= flow.is_break();
        flow
    };
    for job in &mut jobs[range.clone()] {
        if job.starts_at_once() && !job.is_placed {
            job.preload(device, true)?;
        }
    }
    let stream = |job: &Running| Stream::new(job.queue, job.job.iodepth);
    let streams: Vec<Stream> = jobs[range.clone()].iter().map(stream).collect();
    let zoned = Zoned::new(device, range.len());
    let mut group = Group::new(jobs, range, series, now, progress);
    let driven = match zoned {
        None => drive(device, streams, &mut group),
        Some(zoned) => drive(device, streams, &mut zoned.around(&mut group)),
    };
    driven.map_err(|error| error.explained(device))?;
    group.end_windows(device);
    let ends_all = group.ends_all();
    Ok(match ends_all || is_stopped {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
}

/// The section that `job` waits for, among those before it.
pub(super) fn waits_for(before: &[Job], job: &Job) -> Result<Option<usize>, RunError> {
    let Some(name) = &job.wait_for else {
        return Ok(None);
    };
    let section = before.iter().position(|other| other.name == *name);
    section.map(Some).ok_or_else(|| {
        let text = format!("is \"{name}\", and no job above has that name; name one that has");
        RunError::Job {
            job: job.name.clone(),
            error: JobError::new("wait_for", &text),
        }
    })
}

/// Refuses a job whose requests the device could not take.
fn fits_device(profile: &Profile, job: &Job) -> Result<(), JobError> {
    let lba_bytes = profile.controller.lba_size.0;
    let split = job.block_sizes.iter().flatten().flat_map(|sizes| {
        let shares = sizes.split.iter().map(|share| share.bytes);
        shares.chain([sizes.least, sizes.most])
    });
    let sizes = match job.block_sizes.is_some() {
        true => split.map(|bytes| ("bssplit", bytes)).collect(),
        false => vec![("bs", job.block_bytes)],
    };
    let align = job.align_bytes.unwrap_or_default();
    let zone = job.strided.as_ref();
    let places = [
        ("offset", job.offset_of(0)),
        match job.offset_align_bytes {
            0 => ("offset_increment", job.offset_increment_bytes),
            align => ("offset_align", align),
        },
        ("blockalign", align[0]),
        ("blockalign", align[1]),
        ("blockalign", align[2]),
        ("rw", job.step_bytes.unsigned_abs()),
        ("zonerange", zone.map_or(0, |zone| zone.range_bytes)),
        ("zoneskip", zone.map_or(0, |zone| zone.skip_bytes)),
    ];
    let widens = job.widens && !job.rw.trims() && !profile.has_zones();
    for (key, bytes) in sizes.into_iter().chain(places) {
        let (message, remedy) = if bytes % lba_bytes != 0 && !widens {
            let mut remedy = format!("use a multiple of {lba_bytes} B");
            if bytes % 512 == 0 {
                remedy += ", or format the device with --set controller.lba_size=512B";
            }
            ("not a multiple of the device's logical block", remedy)
        } else if key.starts_with("bs") && u32::try_from(bytes / lba_bytes + 1).is_err() {
            let remedy = "use a smaller block and a higher iodepth";
            ("too large for one command", remedy.to_owned())
        } else {
            continue;
        };
        let text = format!("of {bytes} B is {message}; {remedy}");
        return Err(JobError::new(key, &text));
    }
    Ok(())
}

/// The job with the zones of the device. Refuses one that does not go with them.
fn in_zones(profile: &Profile, job: &Job) -> Result<Job, JobError> {
    let mut job = job.clone();
    if !profile.has_zones() {
        return match job.zoned {
            None => Ok(job),
            Some(_) => {
                let text =
                    "is zbd, and the device has no zones; use a profile that has, such as zn540";
                Err(JobError::new("zonemode", text))
            }
        };
    }
    let (size, capacity) = (profile.zones.size.0, profile.zone_capacity().0);
    let wrong = |key, text: String| Err(JobError::new(key, &text));
    let Some(zoned) = &mut job.zoned else {
        return match job.rw.writes() || job.rw.trims() {
            false => Ok(job),
            true => wrong(
                "zonemode",
                "is not zbd, and zones of the device are written in order; add zonemode=zbd"
                    .to_owned(),
            ),
        };
    };
    for (key, given, is) in [
        ("zonesize", &mut zoned.zone_bytes, size),
        ("zonecapacity", &mut zoned.capacity_bytes, capacity),
    ] {
        if *given != 0 && *given != is {
            return wrong(
                key,
                format!("of {given} B is not the device's {is} B; leave it out"),
            );
        }
        *given = is;
    }
    if job.rw.trims() {
        if job.rw.writes() {
            return wrong(
                "rw",
                "trims what it writes, and a trim resets a zone; use trim or write".to_owned(),
            );
        }
        if job.block_sizes.is_some() || job.block_bytes != size {
            return wrong(
                "bs",
                format!("of a trim, which resets a zone, is not its size; use {size} B"),
            );
        }
    } else if job.largest_block_bytes() > capacity {
        return wrong(
            "bs",
            format!("is more than can be written of a zone; use {capacity} B at most"),
        );
    }
    Ok(job)
}

/// Fits the region of a job that writes or trims to whole zones, as fio does: its start goes up, its end down. Returns what that
/// did, in fio's words.
fn to_whole_zones(job: &mut Job) -> Result<Option<String>, JobError> {
    let Some(zoned) = job.zoned.filter(|_| job.rw.writes() || job.rw.trims()) else {
        return Ok(None);
    };
    let (zone, start, end) = (zoned.zone_bytes, job.offset_bytes, job.end_bytes());
    let first = start.next_multiple_of(zone);
    let size = (end / zone * zone).saturating_sub(first);
    if size == 0 {
        let text =
            format!("leaves no whole zone from {start} B to {end} B; use {zone} B for each zone");
        return Err(JobError::new("size", &text));
    }
    let mut rounded = Vec::new();
    if first > start {
        rounded.push(format!("rounded up offset from {start} to {first}"));
    }
    if first + size < end {
        let before = end - first;
        rounded.push(format!("rounded down io_size from {before} to {size}"));
    }
    (job.offset_bytes, job.size_bytes) = (first, size);
    job.pass_bytes = job.pass_bytes.filter(|bytes| *bytes < size);
    Ok((!rounded.is_empty()).then(|| rounded.join("; ")))
}

/// Whether what a job reads is placed when it starts, and others have run before.
fn is_placed_later(device: &Device, jobs: &[Running], index: usize) -> bool {
    let job = &jobs[index];
    let is_first = jobs[1..=index].iter().all(|job| !job.job.stonewall);
    if is_first && job.starts_at_once() {
        return false;
    }
    let all = by_namespace(placed(jobs));
    let earlier = by_namespace(placed(&jobs[..index]));
    room::is_later(device, &all, &earlier, (job.nsid, &job.job))
}

/// Jobs with their namespaces.
fn placed(jobs: &[Running]) -> impl Iterator<Item = (NamespaceId, &Job)> {
    jobs.iter().map(|running| (running.nsid, &running.job))
}

fn by_namespace<'a>(jobs: impl Iterator<Item = (NamespaceId, &'a Job)>) -> Sharing<'a> {
    let mut sharing = Sharing::new();
    for (nsid, job) in jobs {
        sharing.entry(nsid).or_default().push(job);
    }
    sharing
}

fn create_namespace(device: &mut Device, job: &Job, bytes: u64) -> Result<NamespaceId, RunError> {
    let lba_bytes = device.profile().controller.lba_size.0;
    let unit = device.profile().zone_bytes().unwrap_or(lba_bytes);
    let bytes = bytes.checked_next_multiple_of(unit).unwrap_or(u64::MAX);
    let created = match job.nvm_set {
        Some(set) => device.create_namespace_in(set, bytes),
        None => device.create_namespace(bytes),
    };
    created.map_err(RunError::of(&job.name))
}

/// One result a job; equal jobs that report as a group are added up.
fn results(jobs: &[Running], device: &Device) -> Vec<JobResult> {
    jobs.chunk_by(Running::reports_with)
        .map(|jobs| Running::result(jobs, device))
        .collect()
}
