//! What the firmware has done.

use super::step::{TYPES, Type};
use crate::engine::Time;

/// Counters of the firmware since the device was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FirmwareUsage {
    /// Time cores worked as threads of each type: NVMQ, ILOCK, CACHE, TRANS, FCMD, BGC, LOG.
    pub(crate) busy: [Time; TYPES],
    /// Time that commands waited for a range, and cores for a lock of shared memory.
    pub(crate) lock_wait: Time,
    /// Time that cores did nothing but wait for a lock of shared memory.
    pub(crate) spin: Time,
    /// Commands that found their range locked.
    pub(crate) lock_conflicts: u64,
    /// Messages between threads.
    pub(crate) messages: u64,
    /// Reads that the burst buffer answered.
    pub(crate) cache_hits: u64,
    /// Reads that did not need a CACHE thread.
    pub(crate) cache_bypasses: u64,
}

impl FirmwareUsage {
    /// Time that cores were at work or waited at full power.
    pub(crate) fn active(&self) -> Time {
        self.busy.iter().copied().sum::<Time>() + self.spin
    }

    #[inline]
    pub(super) fn work(&mut self, of: Type, time: Time) {
        self.busy[of as usize] += time;
    }
}
