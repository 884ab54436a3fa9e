//! A device: built from a profile, commands in, completions out.

mod error;
mod stats;

pub use error::DeviceError;
pub use stats::Stats;

use crate::engine::Time;
use crate::nvme::{Command, Completion, Directive, Namespace, NamespaceId};
use crate::profile::{Profile, ProfileErrors};

/// A simulated SSD. It is deterministic, does no I/O and knows no wall clock.
#[derive(Debug)]
pub struct Device {
    profile: Profile,
    now: Time,
    namespaces: Vec<Namespace>,
}

impl Device {
    /// Builds the device; refuses a profile that describes an impossible one.
    pub fn new(profile: &Profile) -> Result<Device, ProfileErrors> {
        profile.validate()?;
        Ok(Device {
            profile: profile.clone(),
            now: Time::ZERO,
            namespaces: Vec::new(),
        })
    }

    /// The profile it was built from.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Creates a namespace of `size_bytes`. It is thin: its size may exceed the device's capacity.
    pub fn create_namespace(&mut self, size_bytes: u64) -> Result<NamespaceId, DeviceError> {
        let _ = size_bytes;
        Ok(NamespaceId(1))
    }

    /// The namespace, if it exists.
    pub fn namespace(&self, nsid: NamespaceId) -> Option<&Namespace> {
        self.namespaces.get((nsid.0 as usize).wrapping_sub(1))
    }

    /// The current simulated time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Submits a command at [`Device::now`].
    pub fn submit(&mut self, command: &Command) -> Result<(), DeviceError> {
        let _ = command;
        Ok(())
    }

    /// Places data as if it had been written long since. Takes no simulated time.
    pub fn preload(
        &mut self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
        directive: Directive,
    ) -> Result<(), DeviceError> {
        let _ = (nsid, slba, nlb, directive);
        Ok(())
    }

    /// When something happens next, if anything will.
    pub fn next_event(&self) -> Option<Time> {
        None
    }

    /// Moves time to `time`, processing every event up to and including it.
    pub fn advance_to(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    /// The next completion, in the order in which commands completed.
    pub fn pop_completion(&mut self) -> Option<Completion> {
        None
    }

    /// Commands submitted and not completed.
    pub fn outstanding(&self) -> usize {
        0
    }

    /// Counters up to [`Device::now`].
    pub fn stats(&self) -> Stats {
        Stats::default()
    }
}
