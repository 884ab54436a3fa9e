//! How busy each channel and each die was.

use super::Device;
use crate::engine::Time;

/// Busy times since the device was built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Utilisation {
    /// How long each channel's bus was held.
    pub channels_busy: Vec<Time>,
    /// How long each die was busy, from command to idle; those of channel 0 first.
    pub dies_busy: Vec<Time>,
}

impl Device {
    /// How busy each channel and each die was up to [`Device::now`].
    pub fn utilisation(&self) -> Utilisation {
        let now = self.now();
        Utilisation {
            channels_busy: self.flash.channels_busy(now).collect(),
            dies_busy: self.flash.dies_busy(now).collect(),
        }
    }
}
