//! NVM sets that share nothing that takes time: a device each for the time of a run, so that they may be simulated at once.
//!
//! ```text
//!   device --split_sets--> a device like it for each set, which has that set's state
//!                              commands of namespaces of that set, on any thread
//!   device <--join_sets--- all of them: what the device has counted
//! ```
//!
//! What the sets do does not depend on each other, and neither does it on whether they are apart: counters and busy times are
//! those of the device in one piece, to the last digit.

use super::inspect::Utilisation;
use super::request::Requests;
use super::{Device, Stats};
use crate::engine::Instant;
use crate::profile::{BufferScope, SetLayout};

impl Device {
    /// Whether its NVM sets share nothing that takes time, and there are several: each has channels of its own (`vertical`)
    /// and a part of the write buffer, and neither the host interface, the link, the DRAM nor the firmware limits anything.
    pub fn has_independent_sets(&self) -> bool {
        let (sets, controller) = (&self.profile.sets, &self.profile.controller);
        self.sets() > 1
            && sets.layout == SetLayout::Vertical
            && sets.write_buffer == BufferScope::Local
            && self.is_ideal
            // How a read is divided depends on the commands of all sets.
            && controller.halved_read_depth == 0
    }

    /// Takes the NVM sets apart, if they are independent, nothing has been simulated yet and nobody follows a timeline: a
    /// device for each, in order, with all namespaces and queues of this one. It takes commands to the namespaces of its set;
    /// this one takes none from here on. Each device has tables of all blocks: memory for them is needed once for each set.
    /// Also, 16 bytes are kept for each time that nothing, or no read, was outstanding on a set.
    pub fn split_sets(&mut self) -> Option<Vec<Device>> {
        let is_fresh = self.now() == Instant::START
            && self.queue.next_time().is_none()
            && self.outstanding() == 0
            && self.completions.is_empty();
        if !is_fresh || !self.has_independent_sets() || self.medium.recorder().is_some() {
            return None;
        }
        let sets = self.usage.len();
        let split = |set| {
            let mut part = Device::new(&self.profile).ok()?;
            part.namespaces.clone_from(&self.namespaces);
            part.hil.add_queues_of(&self.hil);
            part.requests = Requests::with_spans(self.namespaces().len());
            part.medium.exchange_set(&mut self.medium, set);
            Some(part)
        };
        (0..sets).map(split).collect()
    }

    /// What the device has counted and how busy its parts were, of the devices that its NVM sets were taken apart to, in order.
    /// They have to have come to the same time. The device still takes no commands.
    pub fn join_sets(&mut self, mut parts: Vec<Device>) -> (Stats, Utilisation) {
        let now = parts.iter().map(Device::now).max();
        self.queue.advance_clock(now.unwrap_or(Instant::START));
        for (set, part) in parts.iter_mut().enumerate() {
            self.usage[set] = part.usage[set];
            self.medium.exchange_set(&mut part.medium, set);
        }
        let requests = parts.iter().map(|part| &part.requests);
        self.requests.join(requests, self.queue.now());
        (self.stats(), self.utilisation())
    }
}
