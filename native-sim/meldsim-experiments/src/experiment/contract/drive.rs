//! Closed loops whose requests are made one by one.

use super::super::burst::ExperimentError;
use super::super::load::Tally;
use meldsim::device::Device;
use meldsim::nvme::{Command, Status};

/// How many requests a loop keeps outstanding and how many it makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) depth: u64,
    /// Requests that complete before any counts.
    pub(crate) warm_up: u64,
    /// Requests that count.
    pub(crate) requests: u64,
}

impl Loop {
    /// A loop that is warm after each place of its queue was used twice.
    pub(crate) fn new(depth: u64, requests: u64) -> Loop {
        Loop {
            depth,
            warm_up: 2 * depth,
            requests,
        }
    }

    /// Runs the loop; `next` makes its n-th request.
    pub(crate) fn run(
        self,
        device: &mut Device,
        next: impl FnMut(u64) -> Command,
    ) -> Result<Tally, ExperimentError> {
        let moments = self.run_moments(device, 1, next)?;
        Ok(moments.into_iter().next().unwrap_or_default())
    }

    /// Runs the loop on and on for so many moments, each of [`Loop::requests`].
    pub(crate) fn run_moments(
        self,
        device: &mut Device,
        moments: usize,
        mut next: impl FnMut(u64) -> Command,
    ) -> Result<Vec<Tally>, ExperimentError> {
        let lba_bytes = device.profile().controller.lba_size.0;
        let (mut submitted, mut completed) = (0, 0);
        let mut submit = |device: &mut Device| {
            let command = next(submitted);
            submitted += 1;
            // The tag tells the bytes.
            let tag = u64::from(command.nlb) * lba_bytes;
            device.submit(&Command { tag, ..command })
        };
        for _ in 0..self.depth {
            submit(device)?;
        }
        let mut counted_from = device.now();
        let mut tallies = Vec::new();
        let mut tally = Tally::default();
        while tallies.len() < moments {
            if !device.run_until_completion() {
                return Err(ExperimentError::Incomplete(None));
            }
            while let Some(done) = device.pop_completion() {
                if done.status != Status::Success {
                    return Err(ExperimentError::Incomplete(Some(done)));
                }
                completed += 1;
                submit(device)?;
                if completed <= self.warm_up {
                    counted_from = done.completed;
                    continue;
                }
                tally.latency.record(done.latency());
                tally.requests += 1;
                tally.bytes += done.tag;
                tally.elapsed = done.completed - counted_from;
                if tally.requests == self.requests {
                    counted_from = done.completed;
                    tallies.push(std::mem::take(&mut tally));
                }
            }
        }
        drain(device);
        Ok(tallies)
    }
}

/// Lets what is outstanding complete, so that the next loop begins on an idle device.
fn drain(device: &mut Device) {
    while device.run_until_completion() {
        while device.pop_completion().is_some() {}
    }
}
