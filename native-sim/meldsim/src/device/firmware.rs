//! The device's firmware: between the host's fetch of a command and its start on the medium, and back.

use super::front::Front;
use super::request::Work;
use super::{Device, Stats};
use crate::engine::Time;
use crate::firmware::{Action, Arrival, Firmware, Pages};
use crate::nvme::Opcode;
use crate::profile::{Firmware as Section, Profile};

/// Firmware that takes time, and what the commands in its hands are about.
#[derive(Debug)]
pub(super) struct Seam {
    firmware: Firmware,
    /// By request.
    works: Vec<Work>,
    /// Pages that garbage collection had moved when the firmware was last told.
    pages_moved: u64,
    /// Reused by every event.
    actions: Vec<Action>,
}

impl Seam {
    /// None for ideal firmware.
    pub(super) fn new(profile: &Profile) -> Option<Box<Seam>> {
        let firmware = Firmware::new(&profile.firmware)?;
        Some(Box::new(Seam {
            firmware,
            works: Vec::new(),
            pages_moved: 0,
            actions: Vec::new(),
        }))
    }
}

impl Front {
    /// Gives a command to the firmware; false when it is ideal.
    #[inline]
    pub(super) fn accept(&mut self, request: u32, work: &Work) -> bool {
        let Some(seam) = &mut self.seam else {
            return false;
        };
        let index = request as usize;
        if index >= seam.works.len() {
            seam.works.resize(index + 1, *work);
        }
        seam.works[index] = *work;
        let range = &work.range;
        let (mut first, mut end) = (range.first, range.end);
        if work.opcode == Opcode::Deallocate {
            for range in self.host.further_ranges(request) {
                (first, end) = (first.min(range.first), end.max(range.end));
            }
        }
        let arrival = Arrival {
            request,
            opcode: work.opcode,
            pages: Pages {
                // Spaces are numbered anew in each set.
                volume: range.set << 20 ^ range.space,
                first,
                end,
            },
            is_partial: range.partial_first || range.partial_last,
            queue: u32::from(work.queue),
        };
        seam.firmware.accept(&mut self.queue, &arrival);
        true
    }

    /// Tells the firmware that the medium is through with a command; false when it is ideal.
    #[inline]
    pub(super) fn hand_back(&mut self, request: u32) -> bool {
        match &mut self.seam {
            None => false,
            Some(seam) => {
                seam.firmware.ended(&mut self.queue, request);
                true
            }
        }
    }

    /// A core of the firmware has finished what it did.
    pub(super) fn step_firmware(&mut self, core: u32) {
        if let Some(seam) = &mut self.seam {
            seam.firmware.step(&mut self.queue, core);
        }
    }

    /// Adds what the firmware counts.
    pub(super) fn firmware_stats(&self, counted: Stats) -> Stats {
        let Some(seam) = &self.seam else {
            return counted;
        };
        let usage = seam.firmware.usage();
        let [nvmq, ilock, cache, trans, fcmd, bgc, log] = usage.busy.map(Time::as_ps);
        let section = &self.profile.firmware;
        Stats {
            firmware_cores: u64::from(section.cores),
            firmware_nvmq_busy_ps: nvmq,
            firmware_ilock_busy_ps: ilock,
            firmware_cache_busy_ps: cache,
            firmware_trans_busy_ps: trans,
            firmware_fcmd_busy_ps: fcmd,
            firmware_bgc_busy_ps: bgc,
            firmware_log_busy_ps: log,
            firmware_lock_wait_ps: usage.lock_wait.as_ps(),
            firmware_lock_conflicts: usage.lock_conflicts,
            firmware_messages: usage.messages,
            firmware_cache_hits: usage.cache_hits,
            firmware_cache_bypasses: usage.cache_bypasses,
            firmware_energy_nj: energy_nj(section, usage.active(), self.now()),
            ..counted
        }
    }

    /// The data of a read come from the burst buffer.
    fn serve(&mut self, request: u32, work: &Work) {
        self.requests.expect(request, 1);
        self.expect_from_controller(request, work.range.pages());
        self.after_controller_latency(request);
    }
}

impl Device {
    /// Does what the firmware wants done, and tells it what garbage collection has done.
    pub(super) fn obey_firmware(&mut self) {
        loop {
            let Some(seam) = &mut self.front.seam else {
                return;
            };
            let moved = self.medium.pages_moved();
            if moved > seam.pages_moved {
                let pages = u32::try_from(moved - seam.pages_moved).unwrap_or(u32::MAX);
                seam.pages_moved = moved;
                seam.firmware.collected(&mut self.front.queue, pages);
            }
            let mut actions = std::mem::take(&mut seam.actions);
            seam.firmware.take_actions(&mut actions);
            if actions.is_empty() {
                seam.actions = actions;
                return;
            }
            for action in actions.drain(..) {
                self.act(action);
            }
            if let Some(seam) = &mut self.front.seam {
                seam.actions = actions;
            }
        }
    }

    fn act(&mut self, action: Action) {
        let Some(seam) = &self.front.seam else {
            return;
        };
        match action {
            Action::Start(request) => {
                let work = seam.works[request as usize];
                self.start(request, work);
            }
            Action::Serve(request) => {
                let work = seam.works[request as usize];
                self.front.count(&work);
                self.front.serve(request, &work);
            }
            Action::Complete(request) => self.front.complete(request),
        }
    }
}

/// Energy of the cores up to `now`, for some of which they were `active`, summed over cores.
fn energy_nj(section: &Section, active: Time, now: Time) -> u64 {
    let idle = (now * u64::from(section.cores)).saturating_sub(active);
    let of = |time: Time, pj_a_second: u64| {
        u128::from(time.as_ps()) * u128::from(pj_a_second) / 1_000_000_000_000_000
    };
    let core = &section.core;
    (of(active, core.active_energy.0) + of(idle, core.idle_energy.0)) as u64
}
