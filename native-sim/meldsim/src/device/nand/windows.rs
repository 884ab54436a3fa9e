//! Windows of the NVM sets of a NAND medium, and what they do to its garbage collection.

use super::NandMedium;
use crate::device::DeviceError;
use crate::device::front::Front;
use crate::device::request::Work;
use crate::engine::{Event, Time};
use crate::nand::{Owner, Timing};
use crate::nvme::wire::sets::{PredictableLatencyConfig, PredictableLatencyLog};
use crate::nvme::{Opcode, Window, WindowError};
use crate::profile::Profile;

/// The unit of the reads of a deterministic window.
const READ_BYTES: u64 = 4096;

impl NandMedium {
    pub(in crate::device) fn random_read_typical(profile: &Profile) -> Time {
        let timing = Timing::new(profile);
        let pages = profile.timing.read.len() as u64;
        let senses: Time = profile.timing.read.iter().copied().sum();
        timing.command + Time::from_ps(senses.as_ps() / pages) + timing.page_transfer
    }

    /// Bytes of a wordline.
    pub(in crate::device) fn optimal_write_bytes(&self) -> u64 {
        self.geometry.page_bytes * u64::from(self.geometry.pages_per_wordline)
    }

    pub(in crate::device) fn configure_windows(
        &mut self,
        front: &mut Front,
        set: u32,
        enable: bool,
        config: PredictableLatencyConfig,
    ) {
        let windows = &mut self.sets[set as usize].windows;
        windows.configure(enable, config, front.now());
        self.follow_window(front, set);
    }

    pub(in crate::device) fn window(&self, set: u32) -> (Window, PredictableLatencyConfig) {
        let windows = &self.sets[set as usize].windows;
        (windows.window(), windows.config())
    }

    pub(in crate::device) fn enter_window(
        &mut self,
        front: &mut Front,
        set: u32,
        deterministic: bool,
    ) -> Result<(), DeviceError> {
        let windows = &mut self.sets[set as usize].windows;
        windows
            .enter(deterministic, front.now())
            .map_err(|error| match error {
                WindowError::NotEnabled => DeviceError::WindowsDisabled { set },
                WindowError::NotEarned => DeviceError::WindowNotEarned { set },
            })?;
        self.follow_window(front, set);
        Ok(())
    }

    pub(in crate::device) fn latency_log(
        &mut self,
        set: u32,
        now: Time,
        retain: bool,
    ) -> PredictableLatencyLog {
        self.sets[set as usize].windows.log(now, retain)
    }

    /// Takes a command that begins off the budget of its set's window.
    #[inline]
    pub(super) fn account(&mut self, front: &mut Front, work: &Work) {
        if !matches!(work.opcode, Opcode::Read | Opcode::Write) {
            return;
        }
        let set = work.range.set;
        if self.sets[set as usize].windows.alternate(front.now()) {
            self.follow_window(front, set);
        }
        if self.sets[set as usize].windows.window() == Window::Deterministic {
            self.account_window(front, work);
        }
    }

    fn account_window(&mut self, front: &mut Front, work: &Work) {
        let (reads, writes) = match work.opcode {
            Opcode::Read => (work.bytes.div_ceil(READ_BYTES), 0),
            _ => (0, work.bytes.div_ceil(self.optimal_write_bytes())),
        };
        let (set, now) = (work.range.set, front.now());
        if self.sets[set as usize].windows.account(reads, writes, now) {
            self.follow_window(front, set);
        }
    }

    /// The time of a deterministic window may be up.
    pub(super) fn window_due(&mut self, front: &mut Front, set: u32) {
        if self.sets[set as usize].windows.expire(front.now()) {
            self.follow_window(front, set);
        }
    }

    /// The set could not put off its garbage collection any longer.
    #[inline]
    pub(super) fn note_excursion(&mut self, front: &mut Front, set: u32) {
        let of = &mut self.sets[set as usize];
        if of.ftl.take_excursion() && of.windows.excursion(front.now()) {
            self.follow_window(front, set);
        }
    }

    /// The set's garbage collection does as the window says.
    fn follow_window(&mut self, front: &mut Front, set: u32) {
        let windows = &self.sets[set as usize].windows;
        if let Some(deadline) = windows.deadline() {
            front.queue.schedule(deadline, Event::Window(set));
        }
        let deterministic = windows.window() == Window::Deterministic;
        self.sets[set as usize].ftl.set_deterministic(deterministic);
        if !deterministic {
            self.pump(front, set, Owner::gc(set));
        }
    }
}
