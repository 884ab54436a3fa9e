//! Replays a trace on a device.

use std::io::BufRead;

use super::error::Fault;
use super::options::{ReplayMode, ReplayOptions};
use super::place::Volume;
use super::reader::TraceReader;
use super::{Extent, Op, Record};
use crate::workload::result::{DeviceResult, JobResult, RunResult, Span, TraceSummary};
use crate::workload::runner::{PROGRESS_EVERY, RunError};
use crate::workload::series::Series;
use crate::workload::tally::{Ended, Tally};
use meldsim::device::{Device, DeviceError};
use meldsim::engine::Time;
use meldsim::nvme::{Command, Completion, Directive, Pattern, Status};
use meldsim::profile::Profile;

/// A trace on its way through a device.
#[derive(Debug)]
pub struct Replay<R> {
    device: Device,
    reader: TraceReader<R>,
    options: ReplayOptions,
    volumes: Vec<Option<Volume>>,
    tallies: Vec<[Tally; 2]>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    last_arrival: Time,
    last_completion: Time,
    series: Option<Series>,
    summary: TraceSummary,
    completions: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    arrived: Time,
    volume: usize,
    bytes: u64,
    op: Op,
}

impl<R: BufRead> Replay<R> {
    /// Builds the device.
    pub fn new(
        profile: &Profile,
        reader: TraceReader<R>,
        options: ReplayOptions,
    ) -> Result<Replay<R>, RunError> {
        Ok(Replay::on(Device::new(profile)?, reader, options))
    }

    /// As [`Replay::new`], on a device that may have been used before.
    pub fn on(device: Device, reader: TraceReader<R>, options: ReplayOptions) -> Replay<R> {
        Replay {
            last_arrival: device.now(),
            last_completion: device.now(),
            device,
            reader,
            options,
            volumes: Vec::new(),
            tallies: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            series: None,
            summary: TraceSummary::default(),
            completions: 0,
        }
    }

    /// Also collects what happens in each `interval`. A run of more than 1024 intervals makes them longer.
    pub fn with_time_series(mut self, interval: Time) -> Replay<R> {
        self.series = Some(Series::new(interval, 0));
        self
    }

    /// Replays the trace to its end. `progress` is called now and then.
    pub fn run(mut self, mut progress: impl FnMut()) -> Result<RunResult, RunError> {
        let start = self.device.now();
        while let Some(record) = self.reader.next_record()? {
            self.summary.records += 1;
            let arrival = self.arrival(start, &record);
            self.wait_until(arrival)?;
            while self.outstanding() >= self.options.iodepth as usize {
                self.advance(Time::MAX)?;
            }
            let arrived = match self.options.mode {
                ReplayMode::Open => arrival,
                ReplayMode::Closed => self.device.now(),
            };
            self.submit(&record, arrived)?;
            if self.summary.records % PROGRESS_EVERY == 0 {
                progress();
            }
        }
        while self.outstanding() > 0 {
            self.advance(Time::MAX)?;
        }
        let span = Span {
            start,
            end: self.last_completion,
        };
        let device = DeviceResult::of(&self.device);
        let names = self.reader.volumes();
        let depth = match self.options.mode {
            ReplayMode::Open => self.slots.len() as u32,
            ReplayMode::Closed => self.options.iodepth,
        };
        let tallies = self.tallies.into_iter().zip(names);
        let jobs = tallies.map(|([read, write], name)| {
            JobResult::new(
                name.clone(),
                self.options.describe(),
                depth,
                span,
                read,
                write,
            )
        });
        Ok(RunResult {
            jobs: jobs.collect(),
            series: self
                .series
                .map(|series| series.result(names, &device.stats)),
            device,
            trace: Some(self.summary),
        })
    }

    /// When the record is there to be submitted. Time does not go back.
    fn arrival(&mut self, start: Time, record: &Record) -> Time {
        if self.options.mode == ReplayMode::Closed {
            return self.device.now();
        }
        let ps = u128::from(record.arrival.as_ps()) * 1_000_000
            / u128::from(self.options.speedup.max(1));
        let arrival = start + Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX));
        self.summary.out_of_order += u64::from(arrival < self.last_arrival);
        self.last_arrival = self.last_arrival.max(arrival);
        self.last_arrival
    }

    fn wait_until(&mut self, time: Time) -> Result<(), RunError> {
        if time > Device::LAST_SUBMISSION {
            let message =
                "lies beyond the device's last simulated day, 106 days after the first record";
            let fault = Fault::new("arrival time", message, "split the trace, or use --speedup");
            return Err(self.reader.fault(fault).into());
        }
        while self.device.now() < time {
            self.advance(time)?;
        }
        Ok(())
    }

    /// Lets the device work until something completes or the limit is there.
    fn advance(&mut self, limit: Time) -> Result<(), RunError> {
        let outstanding = self.outstanding();
        let mut stop = limit;
        if let Some(series) = &mut self.series {
            if self.device.now() >= series.next_sample() {
                series.sample(&self.device.stats());
            }
            if outstanding > 0 {
                stop = stop.min(series.next_sample());
            }
        }
        if !self.device.run_until_completion_or(stop) && stop == Time::MAX {
            return Err(RunError::Stuck { outstanding });
        }
        while let Some(completion) = self.device.pop_completion() {
            self.complete(&completion);
        }
        Ok(())
    }

    fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn submit(&mut self, record: &Record, arrived: Time) -> Result<(), RunError> {
        let index = record.volume;
        while self.volumes.len() <= index {
            self.volumes.push(None);
            self.tallies.push(Default::default());
        }
        let chunk_bytes = self.stripe_bytes();
        let volume = match &mut self.volumes[index] {
            Some(volume) => volume,
            unknown => {
                let volume = Volume::new(&mut self.device, record.extent, chunk_bytes)
                    .map_err(|error| refused(&self.reader, index, error))?;
                if let Some(precondition) = &self.options.precondition {
                    if index > 0 || record.extent != Extent::Volume {
                        let message = "is not the one volume that preconditioning would fill";
                        let remedy = "leave --precondition out";
                        let fault = Fault::new("volume", message, remedy);
                        return Err(self.reader.fault(fault).into());
                    }
                    self.device.precondition(precondition)?;
                }
                unknown.insert(volume)
            }
        };
        let pattern = self.options.override_pattern.or(record.pattern);
        let pattern = pattern.unwrap_or(self.options.read_pattern);
        let directive = match pattern {
            Pattern::None => Directive::NONE,
            pattern => Directive::read_pattern(pattern),
        };
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        let (nsid, tag) = (volume.nsid, u64::from(slot));
        let command = match record.op {
            Op::Read | Op::Write => {
                let range = volume
                    .range(record, self.options.beyond, &mut self.summary)
                    .map_err(|fault| self.reader.fault(fault))?;
                if record.op == Op::Write {
                    Command::write(nsid, range.slba, range.nlb, directive, tag)
                } else {
                    let room = volume
                        .preload(&mut self.device, range, directive, &mut self.summary)
                        .map_err(|error| refused(&self.reader, index, error))?;
                    self.summary.without_room += u64::from(!room);
                    Command::read(nsid, range.slba, range.nlb, tag)
                }
            }
            Op::Flush => {
                self.summary.count(record.op);
                Command::flush(nsid, tag)
            }
            Op::Delete | Op::Truncate | Op::Open => {
                let range = match (record.op, record.extent) {
                    (Op::Delete, Extent::Block(block)) => volume.delete(block),
                    (Op::Truncate, Extent::Block(block)) => volume.truncate(block, record.offset),
                    _ => None,
                };
                self.summary.count(record.op);
                match range.filter(|range| range.nlb > 0) {
                    Some(range) => Command::deallocate(nsid, range.slba, range.nlb, tag),
                    None => {
                        // Nothing of the block is there that the trace had touched.
                        self.give_back(slot);
                        return Ok(());
                    }
                }
            }
        };
        let entry = Slot {
            arrived,
            volume: index,
            bytes: record.length,
            op: record.op,
        };
        match self.slots.get_mut(slot as usize) {
            Some(free) => *free = entry,
            None => self.slots.push(entry),
        }
        self.device
            .submit(&command)
            .map_err(|error| refused(&self.reader, index, error))
    }

    fn give_back(&mut self, slot: u32) {
        if (slot as usize) < self.slots.len() {
            self.free.push(slot);
        }
    }

    fn complete(&mut self, completion: &Completion) {
        let slot = self.slots[completion.tag as usize];
        self.free.push(completion.tag as u32);
        self.last_completion = completion.completed;
        self.completions += 1;
        if !matches!(slot.op, Op::Read | Op::Write) {
            return;
        }
        let ended = Ended {
            arrived: slot.arrived,
            submitted: completion.submitted,
            completed: completion.completed,
            bytes: slot.bytes,
            write: slot.op == Op::Write,
            failed: completion.status != Status::Success,
        };
        self.tallies[slot.volume][usize::from(ended.write)].record(&ended);
        if let Some(series) = &mut self.series {
            series.record(slot.volume, &ended);
        }
    }

    /// Bytes of one wordline of every plane, in whole logical blocks.
    fn stripe_bytes(&self) -> u64 {
        let lba_bytes = self.device.profile().controller.lba_size.0;
        self.device.stripe_bytes().next_multiple_of(lba_bytes)
    }
}

fn refused<R>(reader: &TraceReader<R>, volume: usize, error: DeviceError) -> RunError
where
    R: BufRead,
{
    RunError::Device {
        job: reader.volumes().get(volume).cloned().unwrap_or_default(),
        error,
    }
}
