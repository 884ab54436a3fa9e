//! What one open device consists of: the model's device, its tickets, and who moves its time.
//!
//! Everything here is under the device's lock; see [`monitor`](crate::monitor).

use std::time::{Duration, Instant};

use meldsim::{Device, Duration as Simulated, Opcode, Status};
use meldsim_stats::LatencyHistogram;
use meldsim_timeline::Recording;

use crate::clock::{Clock, Deadline};
use crate::error::{Failure, MELDSIM_ERR_CLOSED};
use crate::monitor::Guarded;
use crate::ring::Ring;
use crate::tickets::Tickets;

/// In the tag of a command that came through the ring; the rest is its ticket there.
pub(crate) const OF_RING: u64 = 1 << 63;

/// To read the wall clock costs as much as to simulate a small request, so in account mode a wait
/// reads it once in this many completions. As many pass before a timeout, so that a caller that polls
/// makes progress.
const COMPLETIONS_PER_READING: u32 = 16;

/// The error of a fault that a [`FaultCheck`] strikes with.
pub const ERR_INJECTED: i32 = -12;
/// Runs at the begin of a call on a device: it may panic, fail with a text, or not return.
pub type FaultCheck = Box<dyn FnMut() -> Result<(), String> + Send>;

/// Who moves simulated time.
#[derive(Clone, Copy)]
pub(crate) enum Executive {
    /// A caller that waits runs the engine on its own thread, as far as it needs.
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
    pub(crate) ring: Option<Ring>,
    pub(crate) executive: Executive,
    /// What the device did, where it is being kept.
    pub(crate) recording: Option<Recording>,
    /// Set by tests only.
    pub(crate) fault_check: Option<FaultCheck>,
    /// Threads that wait for room to submit.
    pub(crate) room_waiters: u32,
    /// Something has happened that a thread waits for.
    news: bool,
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
            ring: None,
            executive: Executive::Account,
            recording: None,
            fault_check: None,
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

    /// The begin of a call that tests can make fail.
    pub(crate) fn check_fault(&mut self) -> Result<(), Failure> {
        match &mut self.fault_check {
            None => Ok(()),
            Some(check) => check().map_err(|text| Failure::new(ERR_INJECTED, text)),
        }
    }

    /// Hands completions to their tickets.
    pub(crate) fn collect(&mut self) {
        while let Some(completion) = self.device.pop_completion() {
            match completion.opcode {
                Opcode::Read => self.latencies[0].record(completion.latency()),
                Opcode::Write | Opcode::Append => self.latencies[1].record(completion.latency()),
                Opcode::Deallocate | Opcode::Flush | Opcode::ManageZone => {}
            }
            let awaited = match &mut self.ring {
                Some(ring) if completion.tag & OF_RING != 0 => {
                    let outcome = match completion.status {
                        Status::SUCCESS => Ok(completion.latency().as_ps()),
                        status => Err(Failure::of_command(status)),
                    };
                    ring.complete(completion.tag & !OF_RING, outcome);
                    false
                }
                _ => self.tickets.complete(&completion),
            };
            self.news |= awaited || self.room_waiters > 0;
        }
    }

    /// The latency that `quantile` (0 to 1) of the reads, or of the writes, did not exceed; zero when
    /// there were none.
    pub(crate) fn latency(&self, writes: bool, quantile: f64) -> Simulated {
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

    /// The ring of the device.
    pub(crate) fn attached(&mut self) -> Result<&mut Ring, Failure> {
        self.ring
            .as_mut()
            .ok_or_else(|| Failure::argument("the device has no ring; call meldsim_ring_attach"))
    }

    /// Account mode: runs the engine until a command of the ring has completed, at most for so long.
    pub(crate) fn wait_in_ring(&mut self, ticket: u64, timeout_ns: u64) -> Result<(), Failure> {
        let mut deadline = Deadline::after_ns(timeout_ns);
        let mut unread = 0;
        loop {
            let is_paced = matches!(self.executive, Executive::RealTime(_));
            let ring = self.attached()?;
            if !ring.shared.is_pending(ticket) || ring.has_failed(ticket) {
                return Ok(());
            }
            if is_paced {
                // The wall clock moves time: nobody waits for it any more.
                ring.shared.end(ticket, 0);
                return Ok(());
            }
            self.step(&mut deadline, &mut unread)?;
        }
    }

    /// Account mode: runs the engine to the next completion. `unread` counts completions since the
    /// wall clock was read.
    pub(crate) fn step(
        &mut self,
        deadline: &mut Deadline,
        unread: &mut u32,
    ) -> Result<(), Failure> {
        *unread += 1;
        if *unread > COMPLETIONS_PER_READING {
            *unread = 1;
            deadline.left()?;
        }
        if !self.device.run_until_completion() {
            return Err(self.stuck());
        }
        self.collect();
        Ok(())
    }

    /// Real-time mode: how long a thread that waits sleeps at most. A leader sleeps until the next
    /// event is due.
    pub(crate) fn sleep_limit(
        &self,
        clock: &Clock,
        deadline: &mut Deadline,
        is_led: bool,
    ) -> Result<Option<Duration>, Failure> {
        let left = deadline.left()?;
        if is_led {
            return Ok(left);
        }
        let event = self.device.next_event().ok_or_else(|| self.stuck())?;
        let due = clock.wall_of(event).map_or(Duration::MAX, |due| {
            due.saturating_duration_since(Instant::now())
        });
        let limit = due.max(clock.quantum);
        Ok(Some(limit.min(left.unwrap_or(Duration::MAX))))
    }

    /// Real-time mode: how long to sleep until the next event is due.
    pub(crate) fn until_due(&self) -> Option<Duration> {
        let (due, quantum) = self.due()?;
        Some(due.saturating_duration_since(Instant::now()).max(quantum))
    }

    /// Real-time mode: when the next event is due, with the time that a sleep may be too long.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.due().map(|(due, quantum)| due + quantum)
    }

    /// Real-time mode: when the next event is due, and the shortest sleep.
    pub(crate) fn due(&self) -> Option<(Instant, Duration)> {
        let Executive::RealTime(clock) = &self.executive else {
            return None;
        };
        let due = clock.wall_of(self.device.next_event()?)?;
        Some((due, clock.quantum))
    }

    /// Runs the device until it is idle: nothing is outstanding, and what was written is programmed but
    /// for wordlines that still lack pages. Else programs that were only accounted would be paced after
    /// a change of mode.
    pub(crate) fn drain(&mut self) {
        while let Some(next) = self.device.next_event() {
            self.device.advance_to(next);
            self.collect();
        }
    }

    /// A command is outstanding and nothing is scheduled: a defect of the model, reported instead of
    /// hanging.
    fn stuck(&self) -> Failure {
        Failure::panic(format!(
            "{} commands are outstanding and no event is scheduled",
            self.device.outstanding()
        ))
    }
}

impl Guarded for State {
    fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }
}
