//! The firmware stage: the controller's cores, before a command's start on the medium and after its end.

use super::Stats;
use super::request::Requests;
use crate::engine::{EventQueue, Instant, TotalTime};
use crate::event::Event;
use crate::policy::firmware::{Action, Fetched, Firmware, Outbox, Pages};
use crate::profile::{Profile, ProfileError};
use crate::timeline::CoreSpan;

/// The queue that the cores have their events in.
type Events = EventQueue<Event>;

/// Firmware that takes time.
#[derive(Debug)]
pub(super) struct FirmwareStage {
    firmware: Box<dyn Firmware>,
    outbox: Outbox,
    /// Pages that garbage collection had moved when the firmware last accounted for them.
    pages_moved: u64,
    /// Exchanged for the list in the outbox by every event.
    actions: Vec<Action>,
}

impl FirmwareStage {
    /// None for ideal firmware.
    pub(super) fn new(profile: &Profile) -> Result<Option<Box<FirmwareStage>>, ProfileError> {
        let firmware = profile.make(profile.firmware.design, profile)?;
        Ok((!firmware.is_ideal()).then(|| {
            Box::new(FirmwareStage {
                firmware,
                outbox: Outbox::default(),
                pages_moved: 0,
                actions: Vec::new(),
            })
        }))
    }

    /// Calls the firmware, and schedules what it waits for.
    #[inline]
    fn call(&mut self, queue: &mut Events, call: impl FnOnce(&mut dyn Firmware, &mut Outbox)) {
        self.outbox.now = queue.now();
        call(&mut *self.firmware, &mut self.outbox);
        for (time, number) in self.outbox.wakes.drain(..) {
            queue.schedule(time, Event::Firmware(number));
        }
    }

    /// The controller has fetched a command.
    pub(super) fn accept(&mut self, queue: &mut Events, requests: &Requests, id: u32) {
        let request = &requests[id];
        let range = request.range;
        let pages = requests
            .ranges(id)
            .fold((range.first, range.end), |all, more| {
                (all.0.min(more.first), all.1.max(more.end))
            });
        let pages = Pages {
            // Spaces are numbered anew in each set.
            volume: range.set << 20 ^ range.space,
            first: pages.0,
            end: pages.1,
        };
        let mut command = Fetched::new(id, request.opcode, pages);
        command.queue = request.queue;
        command.is_partial = range.partial_first || range.partial_last;
        self.call(queue, |firmware, outbox| firmware.accept(command, outbox));
    }

    /// The medium is through with a command.
    pub(super) fn ended(&mut self, queue: &mut Events, id: u32) {
        self.call(queue, |firmware, outbox| firmware.ended(id, outbox));
    }

    /// What a core has been at until now.
    pub(super) fn running(&self, core: u32, now: Instant) -> Option<CoreSpan> {
        let (thread, name, time) = self.firmware.running(core)?;
        Some(CoreSpan {
            core,
            thread: (thread, name),
            start: Instant::from_ps(now.as_ps() - time.as_ps()),
            end: now,
        })
    }

    /// The time has come that it waited for.
    pub(super) fn step(&mut self, queue: &mut Events, number: u32) {
        self.call(queue, |firmware, outbox| firmware.step(number, outbox));
    }

    /// Garbage collection has moved so many pages since the device was built.
    pub(super) fn collected(&mut self, queue: &mut Events, pages_moved: u64) {
        if pages_moved > self.pages_moved {
            let pages = pages_moved - self.pages_moved;
            self.pages_moved = pages_moved;
            self.call(queue, |firmware, outbox| firmware.collected(pages, outbox));
        }
    }

    /// What it wants done, in order, in a list to be [given back](FirmwareStage::give_back).
    pub(super) fn take_actions(&mut self) -> Vec<Action> {
        std::mem::swap(&mut self.actions, &mut self.outbox.actions);
        std::mem::take(&mut self.actions)
    }

    pub(super) fn give_back(&mut self, actions: Vec<Action>) {
        self.actions = actions;
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
