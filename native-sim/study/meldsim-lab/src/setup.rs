//! What an experiment varies of a profile, and how long its bus takes.

use std::fmt;
use std::str::FromStr;

use meldsim::Duration;
use meldsim::profile::{ByteSize, MeldedPartialRead, Profile, TransferRate};
use meldsim_stats::bytes;

/// The speed of a channel's bus, written `800x8`: mega-transfers a second and bits a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusSpeed {
    /// Mega-transfers a second.
    pub mts: u64,
    /// Bits a transfer.
    pub bits: u32,
}

impl fmt::Display for BusSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.mts, self.bits)
    }
}

impl FromStr for BusSpeed {
    type Err = String;

    fn from_str(text: &str) -> Result<BusSpeed, String> {
        let parts = text.split_once('x');
        let speed = parts.and_then(|(mts, bits)| {
            Some(BusSpeed {
                mts: mts.parse().ok()?,
                bits: bits.parse().ok()?,
            })
        });
        speed.ok_or_else(|| {
            format!("is \"{text}\", which is not a bus; write mega-transfers a second and bits, such as 800x8")
        })
    }
}

/// One device of a design space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Channels.
    pub channels: u32,
    /// Dies that share a channel.
    pub dies_per_channel: u32,
    /// Data bytes of a page.
    pub page_bytes: u64,
    /// The channel's bus.
    pub bus: BusSpeed,
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (channels, dies, page, bus) = (
            self.channels,
            self.dies_per_channel,
            bytes(self.page_bytes),
            self.bus,
        );
        write!(f, "{channels} x {dies} dies, pages of {page}, bus {bus}")
    }
}

impl Setup {
    /// `base` with this geometry and bus. A partly read melded wordline is read whole, as in the published cells.
    pub fn profile(&self, base: &Profile) -> Profile {
        let mut profile = base.clone();
        profile.geometry.channels = self.channels;
        profile.geometry.dies_per_channel = self.dies_per_channel;
        profile.geometry.page_size = ByteSize(self.page_bytes);
        profile.controller.capacity = ByteSize(0);
        profile.bus.rate = TransferRate(self.bus.mts);
        profile.bus.width_bits = self.bus.bits;
        profile.ftl.melded_partial_read = MeldedPartialRead::WholeWordline;
        // A logical block larger than the page would make every access a partial one.
        let lba_bytes = profile.controller.lba_size.0.min(self.page_bytes);
        profile.controller.lba_size = ByteSize(lba_bytes);
        profile
    }
}

/// In microseconds.
pub(super) fn us(time: Duration) -> f64 {
    time.as_ps() as f64 / 1e6
}

/// Microseconds that a byte takes on a channel's bus.
pub(super) fn bus_us(profile: &Profile) -> f64 {
    8.0 / (profile.bus.rate.0 as f64 * f64::from(profile.bus.width_bits))
}

/// Bytes that a page is on a channel's bus, with its spare area.
pub(super) fn bus_bytes(profile: &Profile) -> f64 {
    f64::from(profile.bus.bytes_per_4kib) * profile.geometry.page_size.0 as f64 / 4096.0
}
