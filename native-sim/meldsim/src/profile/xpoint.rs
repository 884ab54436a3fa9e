//! `[xpoint]`: an address-mapped device of 3D XPoint memory, and what a profile of its kind has.

use serde::{Deserialize, Serialize};

use super::firmware::Firmware;
use super::host::Host;
use super::units::{ByteSize, DataRate};
use super::validate::Checker;
use super::{Profile, ProfileError, ProfileErrors};
use crate::engine::Time;

/// `kind`: what a device is made of. Sections and keys of the other kind are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Flash behind a translation layer.
    #[default]
    Nand,
    /// 3D XPoint memory, mapped by address.
    Xpoint,
}

impl Kind {
    /// As it is written in a profile.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Nand => "nand",
            Kind::Xpoint => "xpoint",
        }
    }

    /// Sections, and keys of shared sections, that only a device of the other kind has.
    pub(super) const fn foreign(self) -> &'static [&'static str] {
        match self {
            Kind::Nand => &["xpoint"],
            Kind::Xpoint => &[
                "geometry",
                "bus",
                "timing",
                "commands",
                "energy",
                "controller.write_buffer",
                "controller.write_cache",
                "controller.read_segment",
                "controller.halved_read_depth",
                "controller.reads_before_program",
                "ftl",
                "sets",
                "gc",
                "predictable_latency",
            ],
        }
    }
}

/// `[xpoint]`: memory dies in an array like RAID 0, and what they share. Consecutive chunks lie on
/// consecutive dies; a chunk's die follows from its address alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Xpoint {
    /// Bytes the device holds. Unit: size; 1MiB to 1024TiB; default 260GiB.
    pub capacity: ByteSize,
    /// Dies that consecutive chunks lie on: the interleaving degree. Unit: count; range 1 to 256; default 7 \[P\].
    pub dies: u32,
    /// Bytes of a chunk. Unit: size; a power of two from 512B to 64KiB; default 4KiB \[P\].
    pub chunk_size: ByteSize,
    /// From the start of a read of a chunk to its data; until then nothing else is done to that
    /// chunk. Unit: time; range 1ns to 1ms; default 5us \[F\].
    pub read: Time,
    /// The same for a write. Unit: time; range 1ns to 1ms; default 5us \[F\].
    pub write: Time,
    /// From one read of a die to its next operation, on another chunk. Unit: time; a 64th of `read`
    /// to `read`; default 2us \[F\].
    pub read_interval: Time,
    /// From one write of a die to its next operation. Unit: time; a 64th of `write` to `write`;
    /// default 2us \[F\].
    pub write_interval: Time,
    /// From one chunk of a command to its next. Unit: time; range 0 to 1ms; default 2us \[F\].
    pub issue_interval: Time,
    /// Buffers in which a chunk is held that a command covers only in part. Unit: count; range 1
    /// to 65536; default 8 \[F\].
    pub sector_buffers: u32,
    /// What passing through a sector buffer takes, besides the die. Unit: time; range 0 to 1ms;
    /// default 2us \[F\].
    pub sector_time: Time,
    /// Rate of the controller's data path for reads: one for both directions. Unit: data rate; range
    /// 1MB/s to 1000GB/s; default 2.4GB/s \[F\].
    pub read_rate: DataRate,
    /// The same for writes. Unit: data rate; range 1MB/s to 1000GB/s; default 2.3GB/s \[F\].
    pub write_rate: DataRate,
}

impl Default for Xpoint {
    fn default() -> Xpoint {
        Xpoint {
            capacity: ByteSize(260 << 30),
            dies: 7,
            chunk_size: ByteSize(4 << 10),
            read: Time::from_us(5),
            write: Time::from_us(5),
            read_interval: Time::from_us(2),
            write_interval: Time::from_us(2),
            issue_interval: Time::from_us(2),
            sector_buffers: 8,
            sector_time: Time::from_us(2),
            read_rate: DataRate(2_400_000_000),
            write_rate: DataRate(2_300_000_000),
        }
    }
}

impl Xpoint {
    /// Operations of a die that overlap at most.
    const MOST_OVERLAPPING: u64 = 64;

    /// As of a device of the other kind.
    pub(super) fn is_default(&self) -> bool {
        *self == Xpoint::default()
    }

    pub(super) fn check(&self, checker: &mut Checker) {
        let capacity = ByteSize(1 << 20)..=ByteSize(1 << 50);
        checker.range("xpoint.capacity", &self.capacity, capacity);
        checker.range("xpoint.dies", &self.dies, 1..=256);
        checker.power_of_two("xpoint.chunk_size", self.chunk_size);
        let most = Time::from_ms(1);
        for (operation, time, interval) in [
            ("read", self.read, self.read_interval),
            ("write", self.write, self.write_interval),
        ] {
            let key = format!("xpoint.{operation}");
            checker.range(&key, &time, Time::from_ns(1)..=most);
            let key = format!("{key}_interval");
            let least = Time::from_ps(time.as_ps().div_ceil(Xpoint::MOST_OVERLAPPING));
            checker.range(&key, &interval, least..=time);
        }
        let any = Time::ZERO..=most;
        checker.range("xpoint.issue_interval", &self.issue_interval, any.clone());
        checker.range("xpoint.sector_buffers", &self.sector_buffers, 1..=65_536);
        checker.range("xpoint.sector_time", &self.sector_time, any);
        let rates = DataRate(1_000_000)..=DataRate(1_000_000_000_000);
        checker.range("xpoint.read_rate", &self.read_rate, rates.clone());
        checker.range("xpoint.write_rate", &self.write_rate, rates);
    }
}

/// A profile of kind `xpoint`, as it is written.
#[derive(Serialize)]
pub(super) struct XpointFile<'a> {
    name: &'a str,
    description: &'a str,
    kind: Kind,
    xpoint: &'a Xpoint,
    controller: XpointController,
    host: &'a Host,
    firmware: &'a Firmware,
}

/// The keys of `[controller]` that matter for it.
#[derive(Serialize)]
struct XpointController {
    lba_size: ByteSize,
    latency: Time,
}

impl Profile {
    pub(super) fn as_xpoint_file(&self) -> XpointFile<'_> {
        XpointFile {
            name: &self.name,
            description: &self.description,
            kind: self.kind,
            xpoint: &self.xpoint,
            controller: XpointController {
                lba_size: self.controller.lba_size,
                latency: self.controller.latency,
            },
            host: &self.host,
            firmware: &self.firmware,
        }
    }

    /// Refuses a profile of another kind than `kind`, for what makes no sense for it.
    pub fn require(&self, kind: Kind) -> Result<(), ProfileErrors> {
        if self.kind == kind {
            return Ok(());
        }
        let message = format!("is \"{}\" in profile {}", self.kind.name(), self.name);
        let remedy = format!("use a profile of kind \"{}\"", kind.name());
        Err(ProfileError::new("kind", message, remedy).into())
    }
}
