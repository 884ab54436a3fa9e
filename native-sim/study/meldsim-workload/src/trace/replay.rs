//! Replays a trace on a device: one stream, open at the recorded arrivals or closed.

use std::io::BufRead;
use std::ops::ControlFlow;

use super::groups::{Groups, Origin};
use super::options::{Assignment, ReplayMode, ReplayOptions};
use super::place::Volume;
use super::reader::TraceReader;
use super::record::{Extent, Op, Record};
use crate::error::{Fault, RunError, TraceError};
use crate::requests::Submitted;
use crate::result::series::Series;
use crate::result::{
    Before, DeviceResult, Fill, HostPathResult, JobResult, Preconditioned, RunResult, Span,
    TraceSummary,
};
use meldsim::device::{Aging, Device, QueueId};
use meldsim::nvme::{Command, Completion};
use meldsim::profile::{Kind, Profile, excerpt};
use meldsim::timeline::Timeline;
use meldsim::{Duration, Instant};
use meldsim_host::{
    Direction, Failure, Load, Next, PROGRESS_EVERY, Stream, Tally, Turn, directive, drive,
};
use meldsim_timeline::end_of;

/// Most volumes of a trace on a device.
const VOLUMES_MAX: usize = 1024;

/// A trace and the device that it is replayed on.
#[derive(Debug)]
pub struct Replay<R> {
    device: Device,
    reader: TraceReader<R>,
    options: ReplayOptions,
    series: Option<Series>,
    groups: Option<Groups>,
}

impl<R: BufRead> Replay<R> {
    /// Builds the device.
    ///
    /// # Errors
    ///
    /// A profile of an impossible device.
    pub fn new(
        profile: &Profile,
        reader: TraceReader<R>,
        options: ReplayOptions,
    ) -> Result<Replay<R>, RunError> {
        // A plan is by group, so groups are told apart.
        let groups = (!options.plan.is_empty()).then(Groups::new);
        Ok(Replay {
            device: Device::new(profile)?,
            reader,
            options,
            series: None,
            groups,
        })
    }

    /// Also collects what happens in each `interval`. A run of more than 1024 intervals makes them longer.
    pub fn with_time_series(mut self, interval: Duration) -> Replay<R> {
        self.series = Some(Series::new(interval, 0));
        self
    }

    /// The device also tells a timeline what it does.
    ///
    /// # Errors
    ///
    /// A device that has none.
    pub fn with_timeline(mut self, timeline: Box<dyn Timeline>) -> Result<Replay<R>, RunError> {
        self.device
            .set_timeline(Some(timeline))
            .map_err(RunError::Timeline)?;
        Ok(self)
    }

    /// Also says what each group of blocks got: those of a directory, or of a client where no directory is named.
    pub fn with_groups(mut self) -> Replay<R> {
        self.groups = Some(Groups::new());
        self
    }

    /// Replays the trace to its end. `progress` is called now and then.
    ///
    /// # Errors
    ///
    /// A line that cannot be read or replayed, a request that the device refuses, or a defect of the model.
    pub fn run(self, mut progress: impl FnMut()) -> Result<RunResult, RunError> {
        self.run_until(|_| {
            progress();
            ControlFlow::Continue(())
        })
    }

    /// As [`Replay::run`], until `progress` breaks off. Then the result is that of what was read by then. While the device is
    /// put into the state of its past, `progress` gets how far that is.
    ///
    /// # Errors
    ///
    /// As [`Replay::run`].
    pub fn run_until(
        self,
        progress: impl FnMut(Option<&Aging>) -> ControlFlow<()>,
    ) -> Result<RunResult, RunError> {
        let mut device = self.device;
        let before = Before::of(&device);
        let start = device.now();
        let stream = Stream::new(QueueId::default(), self.options.iodepth);
        let mut records = Records {
            reader: self.reader,
            options: self.options,
            start,
            next: None,
            volumes: Vec::new(),
            tallies: Vec::new(),
            last_arrival: start,
            last_completion: start,
            series: self.series,
            groups: self.groups,
            summary: TraceSummary::default(),
            precondition: None,
            overwritten_pages: 0,
            is_partial: false,
            is_over: false,
            progress,
        };
        let most_outstanding = drive(&mut device, [stream], &mut records);
        let most_outstanding = most_outstanding.map_err(|error| error.explained(&device))?;
        let passed_over = records.reader.passed_over();
        records.summary.empty = passed_over.empty;
        records.summary.others = passed_over.others;
        records.summary.out_of_order += match records.options.mode {
            ReplayMode::Open => records.reader.early(),
            ReplayMode::Closed => 0,
        };
        records.summary.doubt = records.doubt();
        let options = records.options;
        let depth = match options.mode {
            ReplayMode::Open => most_outstanding as u32,
            ReplayMode::Closed => options.iodepth,
        };
        let span = Span {
            start,
            end: records.last_completion,
        };
        end_of(&mut device);
        let host_path = HostPathResult::of(&device);
        let device = DeviceResult::of(&device, &before, records.overwritten_pages);
        let names = records.reader.volumes();
        let tallies = records.tallies.into_iter().zip(names);
        let duration = span.end.saturating_since(span.start);
        let jobs = tallies.map(|(tallies, name)| JobResult {
            name: name.clone(),
            options: options.describe(),
            iodepth: depth,
            ..JobResult::new(span, tallies.map(|tally| tally.over(duration)))
        });
        Ok(RunResult {
            jobs: jobs.collect(),
            series: records
                .series
                .map(|series| series.result(names, &device.stats)),
            host_path,
            precondition: records.precondition,
            device,
            groups: records.groups.map_or_else(Vec::new, Groups::result),
            trace: Some(records.summary),
            is_partial: records.is_partial,
            ..RunResult::default()
        })
    }
}

/// A request that moves data.
#[derive(Clone, Copy, Debug)]
struct Moving {
    submitted: Submitted,
    origin: Option<Origin>,
}

/// The records of a trace as a load.
struct Records<R, F> {
    reader: TraceReader<R>,
    options: ReplayOptions,
    start: Instant,
    /// The next record and its arrival, when that has not come.
    next: Option<(Record, Instant)>,
    volumes: Vec<Volume>,
    /// Of each volume: reads, writes.
    /// Of each volume, by direction.
    tallies: Vec<[Tally; 4]>,
    last_arrival: Instant,
    last_completion: Instant,
    series: Option<Series>,
    groups: Option<Groups>,
    summary: TraceSummary,
    precondition: Option<Preconditioned>,
    overwritten_pages: u64,
    /// It was broken off: no record is read any more.
    is_partial: bool,
    /// What comes arrives after the run's end.
    is_over: bool,
    progress: F,
}

impl<R: BufRead, F: FnMut(Option<&Aging>) -> ControlFlow<()>> Load for Records<R, F> {
    /// The volume, and what is known of a request that moves data.
    type Request = (usize, Option<Moving>);
    type Error = RunError;

    fn next(
        &mut self,
        device: &mut Device,
        turn: Turn,
    ) -> Result<Next<(usize, Option<Moving>)>, RunError> {
        // What completes now is not outstanding any more when a record arrives now.
        if turn.unseen + turn.deferred > 0 {
            return Ok(Next::Wait);
        }
        let now = device.now();
        let end = self
            .options
            .runtime
            .map_or(Instant::MAX, |runtime| self.start + runtime);
        loop {
            let next = match self.next.take() {
                None => self.read(now)?,
                next => next,
            };
            let Some((record, arrived)) = next else {
                return Ok(Next::Wait);
            };
            if arrived > end {
                self.is_over = true;
                return Ok(Next::Wait);
            }
            if now > end {
                self.summary.unserved += 1;
                continue;
            }
            if arrived > now {
                self.next = next;
                return Ok(Next::At(arrived));
            }
            let group = self.group(&record);
            let assigned = group.and_then(|group| self.options.plan.get(group).copied());
            if assigned == Some(Assignment::Elsewhere) {
                continue;
            }
            if let Some(command) = self.command(device, &record, assigned)? {
                let moves_data = matches!(record.op, Op::Read | Op::Write);
                let number = self.summary.records - 1;
                let groups = self.groups.as_mut().filter(|_| moves_data).zip(group);
                let origin =
                    groups.map(|(groups, group)| groups.submitted(group, &record, number, now));
                let moving = moves_data.then_some(Moving {
                    submitted: Submitted {
                        arrived,
                        begun: now,
                        bytes: record.length,
                        direction: match record.op {
                            Op::Write => Direction::Write,
                            _ => Direction::Read,
                        },
                        ends_write: false,
                        zone: 0,
                    },
                    origin,
                });
                return Ok(Next::Submit(command, (record.volume, moving)));
            }
        }
    }

    fn completed(
        &mut self,
        _: &Device,
        _: usize,
        (volume, moving): (usize, Option<Moving>),
        completion: &Completion,
    ) -> Result<ControlFlow<()>, RunError> {
        self.last_completion = completion.completed;
        if let Some(Moving { submitted, origin }) = moving {
            let ended = submitted.ended(completion);
            self.tallies[volume][ended.direction as usize].record(&ended);
            if let Some(series) = &mut self.series {
                series.record(volume, &ended);
            }
            if let Some((groups, origin)) = self.groups.as_mut().zip(origin) {
                groups.ended(origin, &ended);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn sample(&mut self, device: &Device) -> Instant {
        let series = self.series.as_mut();
        series.map_or(Instant::MAX, |series| series.keep_up(device))
    }

    fn failed(&self, failure: Failure<(usize, Option<Moving>)>) -> RunError {
        match failure {
            Failure::Refused(_, (volume, _), error) => {
                RunError::of(&self.reader.volumes()[volume])(error)
            }
            Failure::Stuck { outstanding } => RunError::Stuck { outstanding },
        }
    }
}

impl<R: BufRead, F: FnMut(Option<&Aging>) -> ControlFlow<()>> Records<R, F> {
    /// The next record, and when it is there to be submitted. Time does not go back.
    fn read(&mut self, now: Instant) -> Result<Option<(Record, Instant)>, TraceError> {
        if self.is_partial || self.is_over {
            return Ok(None);
        }
        let Some(record) = self.reader.next_record()? else {
            return Ok(None);
        };
        self.summary.records += 1;
        if self.summary.records % PROGRESS_EVERY == 0 {
            self.is_partial = (self.progress)(None).is_break();
        }
        if self.options.mode == ReplayMode::Closed {
            return Ok(Some((record, now)));
        }
        let ps = u128::from(record.arrival.as_ps()) * 1_000_000
            / u128::from(self.options.speedup.max(1));
        let arrival = self.start + Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX));
        self.summary.out_of_order += u64::from(arrival < self.last_arrival);
        self.last_arrival = self.last_arrival.max(arrival);
        if self.last_arrival > Device::LAST_SUBMISSION {
            let message =
                "lies beyond the device's last simulated day, 106 days after the first record";
            let fault = Fault::new("arrival time", message, "split the trace, or use --speedup");
            return Err(self.reader.fault(fault));
        }
        Ok(Some((record, self.last_arrival)))
    }

    /// The group of the record's block, where groups are told apart.
    fn group(&mut self, record: &Record) -> Option<usize> {
        let groups = self.groups.as_mut()?;
        let (volumes, clients) = (self.reader.volumes(), self.reader.clients());
        let group = groups.of(record, volumes, clients);
        if record.op == Op::Delete {
            groups.deleted(record);
        }
        Some(group)
    }

    /// What the record asks of the device; `None` if it gives up what was never there.
    fn command(
        &mut self,
        device: &mut Device,
        record: &Record,
        assigned: Option<Assignment>,
    ) -> Result<Option<Command>, RunError> {
        let index = record.volume;
        // The volumes before it may have been left out.
        while index >= self.volumes.len() {
            self.add_volume(device, record)?;
        }
        let volume = &mut self.volumes[index];
        let nsid = volume.nsid;
        let pattern = match assigned {
            Some(Assignment::Laid(pattern)) => Some(pattern),
            _ => self.options.override_pattern.or(record.pattern),
        };
        let directive = directive(pattern.unwrap_or(self.options.read_pattern));
        self.summary.count(record.op);
        let given_up = match (record.op, record.extent) {
            (Op::Read | Op::Write, _) => {
                let range = volume
                    .range(record, self.options.beyond, &mut self.summary)
                    .map_err(|fault| self.reader.fault(fault))?;
                if record.op == Op::Write {
                    let write = Command::write(nsid, range.slba, range.nlb, directive, 0);
                    return Ok(Some(write));
                }
                let preloaded = volume.preload(device, range, directive, &mut self.summary);
                let room = preloaded.map_err(RunError::of(&self.reader.volumes()[index]))?;
                self.summary.without_room += u64::from(!room);
                return Ok(Some(Command::read(nsid, range.slba, range.nlb, 0)));
            }
            (Op::Flush, _) => return Ok(Some(Command::flush(nsid, 0))),
            (Op::Trim, _) => volume
                .trim(record, self.options.beyond, &mut self.summary)
                .map_err(|fault| self.reader.fault(fault))?,
            (Op::Delete, Extent::Block(block)) => volume.delete(block),
            (Op::Truncate, Extent::Block(block)) => volume.truncate(block, record.offset),
            _ => None,
        };
        let given_up = given_up.filter(|range| range.nlb > 0);
        Ok(given_up.map(|range| Command::deallocate(nsid, range.slba, range.nlb, 0)))
    }

    /// What about the times of the trace makes no sense, as it was recorded.
    fn doubt(&self) -> Option<String> {
        let span = self.last_arrival.saturating_since(self.start);
        let ps = u128::from(span.as_ps()) * u128::from(self.options.speedup) / 1_000_000;
        let span = Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX));
        let is_open = self.options.mode == ReplayMode::Open;
        self.reader.doubt(self.summary.records, span, is_open)
    }

    /// Gives the record's volume, of which it is the first, a namespace.
    fn add_volume(&mut self, device: &mut Device, record: &Record) -> Result<(), RunError> {
        if self.volumes.len() == VOLUMES_MAX {
            let name = &self.reader.volumes()[record.volume];
            let message = format!("is \"{}\", one more than {VOLUMES_MAX}", excerpt(name));
            let fault = Fault::new("volume", message, "choose some with --volume");
            return Err(self.reader.fault(fault).into());
        }
        if device.profile().has_zones() {
            let message = "has no zones, and those of the device are written in order";
            let fault = Fault::new("volume", message, "take a profile without zones");
            return Err(self.reader.fault(fault).into());
        }
        let volume = Volume::new(device, record.extent);
        let volume = volume.map_err(RunError::of(&self.reader.volumes()[record.volume]))?;
        if let Some(past) = &self.options.precondition {
            if record.volume > 0 || record.extent != Extent::Volume {
                let message = "is not the one volume that preconditioning would fill";
                let fault = Fault::new("volume", message, "leave --precondition out");
                return Err(self.reader.fault(fault).into());
            }
            let writers = std::iter::once((volume.nsid, None));
            past.apply(device, writers, |aging| (self.progress)(Some(aging)))?;
            let is_flash = device.profile().kind == Kind::Nand;
            self.precondition = is_flash.then(|| Preconditioned::of(device, past.to_string()));
            self.overwritten_pages = Fill::overwritten_pages(device, &past.precondition);
        }
        self.volumes.push(volume);
        self.tallies.push(Default::default());
        Ok(())
    }
}

impl TraceSummary {
    /// Counts a record that moves no data.
    fn count(&mut self, op: Op) {
        match op {
            Op::Read | Op::Write => {}
            Op::Flush => self.flushes += 1,
            Op::Trim => self.trims += 1,
            Op::Delete => self.deletions += 1,
            Op::Truncate => self.truncations += 1,
            Op::Open => self.opens += 1,
        }
    }
}
