//! The firmware stage: the controller's cores, before a command's start on the medium and after its end.

use super::Stats;
use super::request::Requests;
use crate::engine::{EventQueue, Instant, TotalTime};
use crate::event::Event;
use crate::policy::firmware::{Action, Fetched, Firmware, Outbox, Pages};
use crate::profile::{Profile, ProfileError};

/// Firmware that takes time.
#[derive(Debug)]
pub(super) struct FirmwareStage {
    pub(super) firmware: Box<dyn Firmware>,
    pub(super) outbox: Outbox,
    /// Exchanged for the list in the outbox by every event.
    pub(super) actions: Vec<Action>,
    /// Pages that garbage collection had moved when the firmware last accounted for them.
    pages_moved: u64,
}

impl FirmwareStage {
    /// None for ideal firmware.
    pub(super) fn new(profile: &Profile) -> Result<Option<Box<FirmwareStage>>, ProfileError> {
        let firmware = profile.make(profile.firmware.design, profile)?;
        Ok((!firmware.is_ideal()).then(|| {
            Box::new(FirmwareStage {
                firmware,
                outbox: Outbox::default(),
                actions: Vec::new(),
                pages_moved: 0,
            })
        }))
    }

    /// Calls the firmware, and schedules what it waits for.
    #[inline]
    pub(super) fn call(
        &mut self,
        queue: &mut EventQueue<Event>,
        call: impl FnOnce(&mut dyn Firmware, &mut Outbox),
    ) {
        self.outbox.now = queue.now();
        call(&mut *self.firmware, &mut self.outbox);
        for (time, number) in self.outbox.wakes.drain(..) {
            queue.schedule(time, Event::Firmware(number));
        }
    }

    /// The controller has fetched a command.
    pub(super) fn accept(&mut self, queue: &mut EventQueue<Event>, requests: &Requests, id: u32) {
        let request = &requests[id];
        let range = request.range;
        let ranges = || requests.ranges(id);
        let pages = Pages {
            // Spaces are numbered anew in each set.
            volume: range.set << 20 ^ range.space,
            first: ranges().map(|range| range.first).min().unwrap_or(0),
            end: ranges().map(|range| range.end).max().unwrap_or(0),
        };
        let command = Fetched {
            request: id,
            opcode: request.opcode,
            queue: request.queue,
            pages,
            is_partial: range.partial_first || range.partial_last,
        };
        self.call(queue, |firmware, outbox| firmware.accept(command, outbox));
    }

    /// Garbage collection has moved so many pages since the device was built.
    pub(super) fn collected(&mut self, queue: &mut EventQueue<Event>, pages_moved: u64) {
        if pages_moved > self.pages_moved {
            let pages = pages_moved - self.pages_moved;
            self.pages_moved = pages_moved;
            self.call(queue, |firmware, outbox| firmware.collected(pages, outbox));
        }
    }

    /// Adds what the firmware counts.
    pub(super) fn stats(&self, now: Instant, counted: Stats) -> Stats {
        let usage = self.firmware.usage(now);
        let [nvmq, ilock, cache, trans, fcmd, bgc, log] = usage.busy.map(TotalTime::as_counter);
        Stats {
            firmware_cores: usage.cores.into(),
            firmware_nvmq_busy_ps: nvmq,
            firmware_ilock_busy_ps: ilock,
            firmware_cache_busy_ps: cache,
            firmware_trans_busy_ps: trans,
            firmware_fcmd_busy_ps: fcmd,
            firmware_bgc_busy_ps: bgc,
            firmware_log_busy_ps: log,
            firmware_lock_wait_ps: usage.lock_wait.as_counter(),
            firmware_lock_conflicts: usage.lock_conflicts,
            firmware_messages: usage.messages,
            firmware_cache_hits: usage.cache_hits,
            firmware_cache_bypasses: usage.cache_bypasses,
            firmware_energy_nj: usage.energy_nj,
            ..counted
        }
    }
}
