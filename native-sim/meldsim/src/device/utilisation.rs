//! How busy each part was, and what each die did.

use super::Device;
use super::medium::Medium;
use crate::engine::Time;

/// Busy times and counts since the device was built. Dies and packages are in the order of channels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Utilisation {
    /// The time all of it refers to.
    pub elapsed: Time,
    /// How long each channel's bus was held.
    pub channels_busy: Vec<Time>,
    /// How long at least one die of each package (way) was busy.
    pub packages_busy: Vec<Time>,
    /// How long each die was busy, from command to idle.
    pub dies_busy: Vec<Time>,
    /// How long each die's planes were in use, summed over them.
    pub planes_busy: Vec<Time>,
    /// Pages each die read: those sensed alone, and those that somebody had asked for of wordlines
    /// sensed as a whole.
    pub pages_read: Vec<u64>,
    /// Pages each die programmed from the bus.
    pub pages_programmed: Vec<u64>,
    /// Blocks each die erased.
    pub blocks_erased: Vec<u64>,
    /// Planes of a die.
    pub planes_per_die: u32,
}

impl Utilisation {
    /// The mean share of the time that channels were busy, 0 to 1.
    pub fn channel_share(&self) -> f64 {
        self.share(&self.channels_busy, 1)
    }

    /// The mean share of the time that packages were idle, 0 to 1.
    pub fn package_idle_share(&self) -> f64 {
        1.0 - self.share(&self.packages_busy, 1)
    }

    /// The mean share of the time that dies were idle, 0 to 1.
    pub fn die_idle_share(&self) -> f64 {
        1.0 - self.share(&self.dies_busy, 1)
    }

    /// The mean share of the time that planes were idle, 0 to 1.
    pub fn plane_idle_share(&self) -> f64 {
        1.0 - self.share(&self.planes_busy, self.planes_per_die)
    }

    fn share(&self, busy: &[Time], each: u32) -> f64 {
        let whole = self.elapsed.as_secs_f64() * busy.len() as f64 * f64::from(each);
        if whole == 0.0 {
            return 0.0;
        }
        busy.iter().map(|time| time.as_secs_f64()).sum::<f64>() / whole
    }
}

impl Device {
    /// How busy each part was up to [`Device::now`].
    pub fn utilisation(&self) -> Utilisation {
        let now = self.now();
        match &self.medium {
            Medium::Nand(nand) => nand.utilisation(now),
            Medium::Xpoint(xpoint) => xpoint.utilisation(now),
        }
    }
}
