//! The NVM sets of a device (a medium that knows no sets is one), and the windows of their predictable latency mode.

use super::request::Request;
use super::{Device, DeviceError};
use crate::engine::Duration;
use crate::nvme::wire::sets::{PredictableLatencyConfig, PredictableLatencyLog};
use crate::nvme::{NamespaceId, Opcode, Window};

/// What an NVM set did since the device was built.
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
    /// Bytes programmed, for whatever.
    pub programmed_bytes: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl SetUsage {
    /// Counts a command that begins on the medium.
    #[inline(always)]
    pub(super) fn count(&mut self, request: &Request) {
        match request.opcode {
            Opcode::Read => {
                self.read_commands += 1;
                self.read_bytes += request.bytes;
            }
            Opcode::Write | Opcode::Append => {
                self.write_commands += 1;
                self.written_bytes += request.bytes;
            }
            Opcode::Deallocate | Opcode::Flush | Opcode::ManageZone => {}
        }
    }
}

/// What an NVM set holds and has done, since the device was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetInfo {
    /// Logical pages that can hold data at one time.
    pub capacity_pages: u64,
    /// Logical pages that hold data.
    pub mapped_pages: u64,
    /// Erased blocks.
    pub free_blocks: u64,
    /// Pages programmed for the host.
    pub host_pages_programmed: u64,
    /// Pages moved by garbage collection.
    pub gc_pages_moved: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Pages that `ftl.placement` sent to a frontier for which there was no superblock: they went to frontier 0.
    pub pages_without_frontier: u64,
    /// Pages that it sent to a frontier beyond the last: they went there.
    pub pages_beyond_frontiers: u64,
}

/// NVM sets.
impl Device {
    /// What an NVM set holds and has done, if it exists.
    pub fn set_info(&self, set: u32) -> Option<SetInfo> {
        self.medium.set_info(set)
    }

    /// Whether there are superblocks to collect of which the policy `gc.victim` names none: then collection stands still.
    pub fn names_no_victim(&self) -> bool {
        self.medium.names_no_victim()
    }

    /// NVM sets of the device; they are numbered from 0.
    pub fn sets(&self) -> u32 {
        self.usage.len() as u32
    }

    /// The NVM set a namespace is in, if it exists.
    pub fn set_of(&self, nsid: NamespaceId) -> Option<u32> {
        let space = self.namespaces.space(nsid);
        space.ok().map(|(set, _)| set)
    }

    pub(super) fn known_set(&self, set: u32) -> Result<(), DeviceError> {
        let sets = self.sets();
        match set < sets {
            true => Ok(()),
            false => Err(DeviceError::UnknownSet { set, sets }),
        }
    }

    /// Bytes the host can fill in an NVM set.
    pub fn set_capacity_bytes(&self, set: u32) -> u64 {
        let pages = self.set_info(set).map_or(0, |info| info.capacity_pages);
        pages * self.medium.page_bytes()
    }

    /// What an NVM set did; nothing for one that does not exist.
    pub fn set_usage(&self, set: u32) -> SetUsage {
        let Some(&usage) = self.usage.get(set as usize) else {
            return SetUsage::default();
        };
        let (programmed_bytes, erases) = self.medium.programmed(set);
        SetUsage {
            programmed_bytes,
            erases,
            ..usage
        }
    }

    /// Write amplification of uniform random overwrites of what the set holds now, by the closed form for large blocks (Desnoyers,
    /// SYSTOR'12). `None` where nothing is held, or there is no flash.
    pub fn uniform_write_amplification(&self, set: u32) -> Option<f64> {
        self.medium.uniform_write_amplification(set)
    }

    /// Bytes of a set that can be programmed before more is emptied, where collection has to keep that up; in steady state they
    /// stay as many. `None` while superblocks are free that collection would not keep, and where nothing is collected.
    pub fn kept_room(&self, set: u32) -> Option<u64> {
        // Zones are reset by the host.
        let is_collected = !self.profile().has_zones();
        self.medium.kept_room(set).filter(|_| is_collected)
    }

    /// Logical blocks of a namespace that hold data; in whole pages.
    pub fn allocated_lbas(&self, nsid: NamespaceId) -> u64 {
        let Some(namespace) = self.namespace(nsid) else {
            return 0;
        };
        let (size_lbas, lba_bytes) = (namespace.size_lbas, namespace.lba_bytes);
        let Ok((range, _)) = self.namespaces.pages(nsid, 0, size_lbas) else {
            return 0;
        };
        let mapped = self.medium.allocated_pages(range);
        (mapped * self.medium.page_bytes() / lba_bytes).min(size_lbas)
    }

    /// Bytes of memory that the medium's state takes: mapping, blocks, buffers.
    pub fn memory(&self) -> u64 {
        self.medium.memory()
    }
}

/// Predictable latency mode.
impl Device {
    /// What a read of one page takes on an idle device, on average over the pages of a wordline.
    pub fn random_read_typical(&self) -> Duration {
        self.medium.random_read_typical(&self.profile)
    }

    /// Bytes of a write that fills a wordline: the optimal write size of an NVM set.
    pub fn optimal_write_bytes(&self) -> u64 {
        self.medium.optimal_write_bytes()
    }

    /// Bytes of one wordline of every plane, or of one chunk of every die.
    pub fn stripe_bytes(&self) -> u64 {
        self.medium.stripe_bytes()
    }

    /// Enables or disables predictable latency mode for an NVM set, as Feature 13h does.
    pub fn configure_windows(
        &mut self,
        set: u32,
        enable: bool,
        config: PredictableLatencyConfig,
    ) -> Result<(), DeviceError> {
        self.known_set(set)?;
        let queue = &mut self.queue;
        self.medium.configure_windows(queue, set, enable, config)?;
        self.take_outcomes();
        Ok(())
    }

    /// The window an NVM set is in, and what is to be reported of it.
    pub fn window(&self, set: u32) -> Result<(Window, PredictableLatencyConfig), DeviceError> {
        self.known_set(set)?;
        Ok(self.medium.window(set))
    }

    /// Moves an NVM set to the deterministic window, or out of it, as Feature 14h does. In the
    /// deterministic window the set collects no garbage unless writes leave it no choice; the window
    /// ends by itself when its budget (`[predictable_latency]`) is used up.
    pub fn enter_window(&mut self, set: u32, deterministic: bool) -> Result<(), DeviceError> {
        self.known_set(set)?;
        let queue = &mut self.queue;
        let entered = self.medium.enter_window(queue, set, deterministic);
        self.take_outcomes();
        entered
    }

    /// The Predictable Latency log page of an NVM set. Events are cleared unless `retain`.
    pub fn latency_log(
        &mut self,
        set: u32,
        retain: bool,
    ) -> Result<PredictableLatencyLog, DeviceError> {
        let now = self.now();
        self.known_set(set)?;
        self.medium.latency_log(set, now, retain)
    }
}
