//! Predictable latency: the windows of the NVM sets, and what the sets did for the host.

use super::request::Work;
use super::{Device, DeviceError, PageRange};
use crate::engine::{Event, Time};
use crate::nand::{Owner, Timing};
use crate::nvme::wire::sets::{PredictableLatencyConfig, PredictableLatencyLog};
use crate::nvme::{NamespaceId, Opcode, Window, WindowError};

/// The unit of the reads of a deterministic window.
const READ_BYTES: u64 = 4096;

/// What a set did since the device was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetUsage {
    /// Reads begun.
    pub read_commands: u64,
    /// Bytes of these.
    pub read_bytes: u64,
    /// Writes begun.
    pub write_commands: u64,
    /// Bytes of these.
    pub written_bytes: u64,
    /// Bytes programmed, for the host and for garbage collection.
    pub programmed_bytes: u64,
}

impl Device {
    /// Bytes the host can fill in an NVM set.
    pub fn set_capacity_bytes(&self, set: u32) -> u64 {
        let set = self.sets.get(set as usize);
        set.map_or(0, |set| set.ftl.capacity() * self.geometry.page_bytes)
    }

    /// What an NVM set did; nothing for one that does not exist.
    pub fn set_usage(&self, set: u32) -> SetUsage {
        self.sets
            .get(set as usize)
            .map_or_else(Default::default, |set| {
                let ftl = set.ftl.stats();
                let pages = ftl.host_pages_programmed + ftl.gc_pages_moved + ftl.padded_pages;
                SetUsage {
                    programmed_bytes: pages * self.geometry.page_bytes,
                    ..set.usage
                }
            })
    }

    /// What a read of one page takes on an idle device, on average over the pages of a wordline.
    pub fn random_read_typical(&self) -> Time {
        let timing = Timing::new(&self.profile);
        let pages = self.profile.timing.read.len() as u64;
        let senses: Time = self.profile.timing.read.iter().copied().sum();
        timing.command + Time::from_ps(senses.as_ps() / pages) + timing.page_transfer
    }

    /// Bytes of a write that fills a wordline: the optimal write size of an NVM set.
    pub fn optimal_write_bytes(&self) -> u64 {
        self.geometry.page_bytes * u64::from(self.geometry.pages_per_wordline)
    }

    /// Logical blocks of a namespace that hold data; in whole pages.
    pub fn allocated_lbas(&self, nsid: NamespaceId) -> u64 {
        let Some(namespace) = self.namespace(nsid) else {
            return 0;
        };
        let (size_lbas, lba_bytes) = (namespace.size_lbas, namespace.lba_bytes);
        let Ok((range, _)) = self.pages(nsid, 0, size_lbas) else {
            return 0;
        };
        let PageRange {
            set, space, end, ..
        } = range;
        let ftl = &self.sets[set as usize].ftl;
        let mapped = end - ftl.unmapped_pages(space, 0, end);
        (mapped * self.geometry.page_bytes / lba_bytes).min(size_lbas)
    }

    /// Enables or disables predictable latency mode for an NVM set, as Feature 13h does.
    pub fn configure_windows(
        &mut self,
        set: u32,
        enable: bool,
        config: PredictableLatencyConfig,
    ) -> Result<(), DeviceError> {
        let now = self.now();
        self.known_set(set)?;
        let windows = &mut self.sets[set as usize].windows;
        windows.configure(enable, config, now);
        self.follow_window(set);
        Ok(())
    }

    /// The window an NVM set is in, and what is to be reported of it.
    pub fn window(&self, set: u32) -> Result<(Window, PredictableLatencyConfig), DeviceError> {
        self.known_set(set)?;
        let windows = &self.sets[set as usize].windows;
        Ok((windows.window(), windows.config()))
    }

    /// Moves an NVM set to the deterministic window, or out of it, as Feature 14h does. In the
    /// deterministic window the set collects no garbage unless writes leave it no choice; the window
    /// ends by itself when its budget (`[predictable_latency]`) is used up.
    pub fn enter_window(&mut self, set: u32, deterministic: bool) -> Result<(), DeviceError> {
        let now = self.now();
        self.known_set(set)?;
        let windows = &mut self.sets[set as usize].windows;
        windows
            .enter(deterministic, now)
            .map_err(|error| match error {
                WindowError::NotEnabled => DeviceError::WindowsDisabled { set },
                WindowError::NotEarned => DeviceError::WindowNotEarned { set },
            })?;
        self.follow_window(set);
        Ok(())
    }

    /// The Predictable Latency log page of an NVM set. Events are cleared unless `retain`.
    pub fn latency_log(
        &mut self,
        set: u32,
        retain: bool,
    ) -> Result<PredictableLatencyLog, DeviceError> {
        let now = self.now();
        self.known_set(set)?;
        Ok(self.sets[set as usize].windows.log(now, retain))
    }

    fn known_set(&self, set: u32) -> Result<(), DeviceError> {
        let sets = self.sets();
        match set < sets {
            true => Ok(()),
            false => Err(DeviceError::UnknownSet { set, sets }),
        }
    }

    /// Counts a command that begins, and takes it off the budget of its set's window.
    #[inline]
    pub(super) fn account(&mut self, work: &Work) {
        let now = self.queue.now();
        let set = &mut self.sets[work.range.set as usize];
        let usage = &mut set.usage;
        match work.opcode {
            Opcode::Read => {
                usage.read_commands += 1;
                usage.read_bytes += work.bytes;
            }
            Opcode::Write => {
                usage.write_commands += 1;
                usage.written_bytes += work.bytes;
            }
            Opcode::Deallocate | Opcode::Flush => return,
        }
        if set.windows.alternate(now) {
            self.follow_window(work.range.set);
        }
        if self.sets[work.range.set as usize].windows.window() == Window::Deterministic {
            self.account_window(work);
        }
    }

    fn account_window(&mut self, work: &Work) {
        let (reads, writes) = match work.opcode {
            Opcode::Read => (work.bytes.div_ceil(READ_BYTES), 0),
            _ => (0, work.bytes.div_ceil(self.optimal_write_bytes())),
        };
        let (set, now) = (work.range.set, self.queue.now());
        if self.sets[set as usize].windows.account(reads, writes, now) {
            self.follow_window(set);
        }
    }

    /// The time of a deterministic window may be up.
    pub(super) fn window_due(&mut self, set: u32) {
        let now = self.queue.now();
        if self.sets[set as usize].windows.expire(now) {
            self.follow_window(set);
        }
    }

    /// The set could not put off its garbage collection any longer.
    #[inline]
    pub(super) fn note_excursion(&mut self, set: u32) {
        let now = self.queue.now();
        let of = &mut self.sets[set as usize];
        if of.ftl.take_excursion() && of.windows.excursion(now) {
            self.follow_window(set);
        }
    }

    /// The set's garbage collection does as the window says.
    fn follow_window(&mut self, set: u32) {
        let windows = &self.sets[set as usize].windows;
        if let Some(deadline) = windows.deadline() {
            self.queue.schedule(deadline, Event::Window(set));
        }
        let deterministic = windows.window() == Window::Deterministic;
        self.sets[set as usize].ftl.set_deterministic(deterministic);
        if !deterministic {
            self.pump(set, Owner::gc(set));
        }
    }
}
