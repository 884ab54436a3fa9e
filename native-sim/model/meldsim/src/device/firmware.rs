//! The firmware stage: the controller's cores, before a command's start on the medium and after its end.

use super::Stats;
use super::request::Requests;
use crate::engine::{Instant, TotalTime};
use crate::firmware::{Action, CommandState, Commands, Events, Firmware, Pages};
use crate::nvme::Opcode;
use crate::profile::{Firmware as Section, Profile};
use crate::timeline::CoreSpan;

impl Commands for Requests {
    #[inline]
    fn opcode(&self, id: u32) -> Opcode {
        self[id].opcode
    }

    #[inline]
    fn pages(&self, id: u32) -> Pages {
        let range = self[id].range;
        let (mut first, mut end) = (range.first, range.end);
        for more in self.ranges(id) {
            first = first.min(more.first);
            end = end.max(more.end);
        }
        // Spaces are numbered anew in each set.
        let volume = range.set << 20 ^ range.space;
        Pages { volume, first, end }
    }

    #[inline]
    fn is_partial(&self, id: u32) -> bool {
        let range = &self[id].range;
        range.partial_first || range.partial_last
    }

    #[inline]
    fn queue(&self, id: u32) -> u16 {
        self[id].queue
    }

    #[inline]
    fn state(&mut self, id: u32) -> &mut CommandState {
        &mut self[id].firmware
    }
}

/// Firmware that takes time.
#[derive(Debug)]
pub(super) struct FirmwareStage {
    firmware: Firmware,
    /// Pages that garbage collection had moved when the firmware last accounted for them.
    pages_moved: u64,
    /// Reused by every event.
    actions: Vec<Action>,
}

impl FirmwareStage {
    /// None for ideal firmware.
    pub(super) fn new(profile: &Profile) -> Option<Box<FirmwareStage>> {
        let firmware = Firmware::new(&profile.firmware, profile.program_pages())?;
        Some(Box::new(FirmwareStage {
            firmware,
            pages_moved: 0,
            actions: Vec::new(),
        }))
    }

    /// The controller has fetched a command.
    #[inline]
    pub(super) fn accept(&mut self, queue: &mut Events, requests: &mut Requests, id: u32) {
        self.firmware.accept(queue, requests, id);
    }

    /// The medium is through with a command.
    #[inline]
    pub(super) fn ended(&mut self, queue: &mut Events, requests: &mut Requests, id: u32) {
        self.firmware.ended(queue, requests, id);
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

    /// A core has finished what it did.
    pub(super) fn step(&mut self, queue: &mut Events, requests: &mut Requests, core: u32) {
        self.firmware.step(queue, requests, core);
    }

    /// Garbage collection has moved so many pages since the device was built.
    pub(super) fn collected(&mut self, queue: &mut Events, pages_moved: u64) {
        if pages_moved > self.pages_moved {
            let pages = pages_moved - self.pages_moved;
            self.pages_moved = pages_moved;
            self.firmware.collected(queue, pages);
        }
    }

    /// What it wants done, in order, in a list to be [given back](FirmwareStage::give_back).
    pub(super) fn take_actions(&mut self) -> Vec<Action> {
        let mut actions = std::mem::take(&mut self.actions);
        self.firmware.take_actions(&mut actions);
        actions
    }

    pub(super) fn give_back(&mut self, actions: Vec<Action>) {
        self.actions = actions;
    }

    /// Adds what the firmware counts.
    pub(super) fn stats(&self, section: &Section, now: Instant, counted: Stats) -> Stats {
        let usage = self.firmware.usage();
        let [nvmq, ilock, cache, trans, fcmd, bgc, log] = usage.busy.map(TotalTime::as_counter);
        Stats {
            firmware_cores: u64::from(section.cores),
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
            firmware_energy_nj: energy_nj(section, usage.issued, usage.spin, now),
            ..counted
        }
    }
}

/// Energy of the cores up to `now`. Threads have `issued` for some of it, as many as fill a core side by side, and cores
/// have waited for locks.
fn energy_nj(section: &Section, issued: TotalTime, spin: TotalTime, now: Instant) -> u64 {
    let whole_ps = u128::from(now.as_ps()) * u128::from(section.cores);
    let of =
        |time_ps: u128, pj_a_second: u64| time_ps * u128::from(pj_a_second) / 1_000_000_000_000_000;
    let core = &section.core;
    let active_ps = issued.as_ps() / u128::from(core.issues) + spin.as_ps();
    let idle_ps = whole_ps.saturating_sub(active_ps);
    (of(active_ps, core.active_energy.0) + of(idle_ps, core.idle_energy.0)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Duration;

    #[test]
    fn energy_is_that_of_all_cores_however_long() {
        let mut section = Section {
            cores: 8,
            ..Section::default()
        };
        let seconds = 100 * 86_400;
        let time = Duration::from_ms(1_000) * seconds;
        let now = Instant::START + time;
        let nj = |pj_a_second: u64, cores: u64| pj_a_second / 1_000 * seconds * cores;
        let core = &section.core;
        let none = TotalTime::default();
        let idle = energy_nj(&section, none, none, now);
        assert_eq!(idle, nj(core.idle_energy.0, 8));
        let expected = nj(core.active_energy.0, 6) + nj(core.idle_energy.0, 2);
        let of = |section: &Section, threads| {
            let issued = vec![time; threads].into_iter().sum();
            energy_nj(section, issued, time.into(), now)
        };
        assert_eq!(of(&section, 5), expected);
        // Two threads that issue side by side are one core at work.
        section.core.issues = 2;
        assert_eq!(of(&section, 10), expected);
    }
}
