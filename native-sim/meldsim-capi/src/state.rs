//! What one open device consists of; everything here is under the session's mutex.

use meldsim::{Device, Duration, Opcode};
use meldsim_experiments::report::LatencyHistogram;

use crate::error::{Failure, MELDSIM_ERR_CLOSED};
use crate::fault::Fault;
use crate::realtime::Clock;
use crate::tickets::Tickets;

/// Who moves simulated time.
#[derive(Clone, Copy)]
pub(crate) enum Executive {
    /// Waiters run the engine as far as they need.
    Account,
    /// The scaled wall clock does.
    RealTime(Clock),
}

/// A device and all that callers hold on it.
pub(crate) struct State {
    pub(crate) device: Device,
    /// Of reads and of writes.
    latencies: Box<[LatencyHistogram; 2]>,
    pub(crate) tickets: Tickets,
    pub(crate) executive: Executive,
    pub(crate) fault: Option<Fault>,
    /// When the leading real-time waiter plans to wake; `None` when nobody leads.
    pub(crate) leader_wakes: Option<std::time::Instant>,
    /// Real-time waiters that rely on the leader.
    pub(crate) followers: u32,
    /// Threads waiting for room to submit.
    pub(crate) room_waiters: u32,
    /// A completion has arrived that a blocked thread waits for.
    pub(crate) news: bool,
    pub(crate) closed: bool,
    /// Why the device is out of service.
    pub(crate) failed: Option<String>,
}

impl State {
    pub(crate) fn new(device: Device) -> State {
        State {
            device,
            latencies: Box::default(),
            tickets: Tickets::default(),
            executive: Executive::Account,
            fault: None,
            leader_wakes: None,
            followers: 0,
            room_waiters: 0,
            news: false,
            closed: false,
            failed: None,
        }
    }

    /// Refuses service after close or a failure.
    pub(crate) fn usable(&self) -> Result<(), Failure> {
        if let Some(text) = &self.failed {
            return Err(Failure::panic(format!(
                "the device is out of service: {text}"
            )));
        }
        if self.closed {
            return Err(Failure::new(
                MELDSIM_ERR_CLOSED,
                "the device has been closed",
            ));
        }
        Ok(())
    }

    /// Lets an armed fault strike.
    pub(crate) fn count_call(&mut self) -> Result<(), Failure> {
        match &mut self.fault {
            None => Ok(()),
            Some(fault) => fault.call(),
        }
    }

    /// Hands completions to their tickets.
    pub(crate) fn collect(&mut self) {
        while let Some(completion) = self.device.pop_completion() {
            match completion.opcode {
                Opcode::Read => self.latencies[0].record(completion.latency()),
                Opcode::Write => self.latencies[1].record(completion.latency()),
                Opcode::Deallocate | Opcode::Flush => {}
            }
            self.news |= self.tickets.complete(&completion) || self.room_waiters > 0;
        }
    }

    /// The latency that `quantile` (0 to 1) of the reads, or of the writes, did not exceed; zero when there were none.
    pub(crate) fn latency(&self, writes: bool, quantile: f64) -> Duration {
        self.latencies[usize::from(writes)].quantile(quantile)
    }

    /// In real-time mode, brings simulated time up to the scaled wall clock.
    pub(crate) fn catch_up(&mut self) {
        if let Executive::RealTime(clock) = &self.executive {
            let now = clock.simulated_now();
            if now > self.device.now() {
                self.device.advance_to(now);
                self.collect();
            }
        }
    }

    /// A command is outstanding and nothing is scheduled: a defect of the model, reported instead of hanging.
    pub(crate) fn stuck(&self) -> Failure {
        Failure::panic(format!(
            "{} commands are outstanding and no event is scheduled",
            self.device.outstanding()
        ))
    }
}
