//! One run of a workload on a fresh device: what `meldsim run` does.

use std::io::BufRead;

use super::job::Job;
use super::result::RunResult;
use super::runner::{RunError, Runner};
use super::trace::{Replay, ReplayOptions, TraceReader};
use crate::report::Document;
use meldsim::device::Precondition;
use meldsim::engine::Time;
use meldsim::profile::Profile;

/// A workload and the device that it runs on.
#[derive(Debug)]
pub struct Run<R> {
    /// The device.
    pub profile: Profile,
    /// What it is asked for.
    pub workload: Workload<R>,
    /// Interval of the run over time, if that is asked for.
    pub interval: Option<Time>,
}

/// Where requests come from.
#[derive(Debug)]
pub enum Workload<R> {
    /// Jobs, on a device with that past.
    Jobs(Vec<Job>, Option<Precondition>),
    /// A recorded trace.
    Trace(TraceReader<R>, ReplayOptions),
}

impl<R: BufRead> Run<R> {
    /// Runs it to its end. `progress` is told now and then which share of jobs is done, 0 to 1; of a trace, whose length
    /// only its owner knows, nothing.
    pub fn run(self, mut progress: impl FnMut(Option<f64>)) -> Result<RunResult, RunError> {
        match self.workload {
            Workload::Jobs(jobs, precondition) => {
                let mut runner = Runner::new(&self.profile, &jobs)?;
                if let Some(precondition) = &precondition {
                    runner = runner.precondition(precondition)?;
                }
                if let Some(interval) = self.interval {
                    runner = runner.with_time_series(interval);
                }
                runner.run(|share| progress(Some(share)))
            }
            Workload::Trace(reader, options) => {
                let mut replay = Replay::new(&self.profile, reader, options)?;
                if let Some(interval) = self.interval {
                    replay = replay.with_time_series(interval);
                }
                replay.run(|| progress(None))
            }
        }
    }
}

impl RunResult {
    /// The result as `meldsim run --format json` prints it: fio's shape, with the command that gave it.
    pub fn to_json(&self, command: &str, profile: &str) -> Result<String, serde_json::Error> {
        Document::new(command, profile, "simulated", self.to_fio_json()).to_json()
    }
}
