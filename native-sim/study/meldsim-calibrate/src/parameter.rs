//! What of a drive is looked for: keys of a profile, with their ranges, what of the measured depends on them, and what tells them.

use meldsim::Duration;
use meldsim::policy::pacing::PacingPolicy;
use meldsim::profile::{ByteSize, DataRate, Profile, TransferRate};

/// One key of a profile, or what several are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Key {
    /// Dies on each channel.
    Dies,
    /// Sensing of the pages of that place on a wordline.
    Read(usize),
    /// Transfers a second on a channel.
    BusRate,
    /// Bytes a second on the link.
    LinkRate,
    /// What a command costs the controller.
    CommandCost,
    /// The controller's latency.
    Latency,
    /// Programming a wordline.
    Program,
    /// What is collected at a time: a block of every plane.
    Superblock,
    /// Flash beyond what the host sees, as a share of that.
    Spare,
    /// How long a program goes on before a read stops it.
    Phase,
    /// What resuming takes.
    Resume,
    /// Reads before a program that waits.
    ReadsFirst,
    /// What collection frees while the host waits; 0: they take turns.
    Burst,
}

/// What a device is asked for, as far as parameters differ in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Reads,
    Writes,
    Mixed,
}

impl Load {
    /// Of cells of that kind.
    pub(super) fn of(kind: &str) -> Load {
        match kind {
            "read_latency_by_depth" => Load::Reads,
            "latency_by_offered_rate" | "mixed_read_write" => Load::Mixed,
            _ => Load::Writes,
        }
    }
}

impl Key {
    /// All, of pages of a wordline the first.
    pub(super) const ALL: [Key; 13] = [
        Key::Dies,
        Key::Read(0),
        Key::BusRate,
        Key::LinkRate,
        Key::CommandCost,
        Key::Latency,
        Key::Program,
        Key::Superblock,
        Key::Spare,
        Key::Phase,
        Key::Resume,
        Key::ReadsFirst,
        Key::Burst,
    ];

    /// The key of the profile.
    pub(super) fn name(self) -> String {
        match self {
            Key::Dies => "geometry.dies_per_channel".to_owned(),
            Key::Read(page) => format!("timing.read[{page}]"),
            Key::BusRate => "bus.rate".to_owned(),
            Key::LinkRate => "host.link_rate".to_owned(),
            Key::CommandCost => "host.command_cost".to_owned(),
            Key::Latency => "controller.latency".to_owned(),
            Key::Program => "timing.program".to_owned(),
            Key::Spare => "geometry.blocks_per_plane".to_owned(),
            Key::Superblock => "geometry.wordlines_per_block".to_owned(),
            Key::Phase => "commands.suspend_phase".to_owned(),
            Key::Resume => "commands.resume_time".to_owned(),
            Key::ReadsFirst => "controller.reads_before_program".to_owned(),
            Key::Burst => "gc.burst_size".to_owned(),
        }
    }

    /// What the profile's text has for it.
    pub(super) fn own(self, profile: &Profile) -> Option<String> {
        let profile = serde_json::to_value(profile).ok()?;
        let pointer = format!("/{}", self.name().replace(['.', '['], "/").replace(']', ""));
        let value = profile.pointer(&pointer)?;
        Some(
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        )
    }

    /// In words, with the unit of its value.
    pub(super) const fn about(self) -> &'static str {
        match self {
            Key::Dies => "dies on each channel",
            Key::Read(_) => "sensing a page, us",
            Key::BusRate => "channel, MT/s",
            Key::LinkRate => "link to the host, GB/s",
            Key::CommandCost => "fetching a command, us",
            Key::Latency => "controller, us",
            Key::Program => "programming a wordline, us",
            Key::Spare => "spare flash, of the capacity",
            Key::Superblock => "superblock, MiB",
            Key::Phase => "a program goes on before a read, us",
            Key::Resume => "resuming a program, us",
            Key::ReadsFirst => "reads before a program that waits",
            Key::Burst => "freed while the host waits, MiB; 0: credit",
        }
    }

    /// What to measure when it is not identifiable.
    pub(super) const fn measured_by(self) -> &'static str {
        match self {
            Key::Dies => "4 KiB random reads at depths 1 to 256, until the drive is the limit",
            Key::Read(_) => "4 KiB random reads at depth 1, with percentiles",
            Key::BusRate => "random reads of 4, 16 and 128 KiB at depth 1",
            Key::LinkRate => "128 KiB random reads at depths up to 32",
            Key::CommandCost => "4 KiB random reads at depths up to 256",
            Key::Latency => "4 KiB writes at a low rate, with their median",
            Key::Program => "a sequential fill of the drive",
            Key::Spare => "steady uniform 4 KiB writes over the whole drive, and over a part of it",
            Key::Superblock => "random zones of 1 GiB and of 8 GiB overwritten in order",
            Key::Phase => "4 KiB reads at depth 1 beside writes at a rate, with percentiles",
            Key::Resume => "the highest rate of writes beside reads, and the highest without reads",
            Key::ReadsFirst => "4 KiB reads at depths 16 and 128 beside writes at a rate",
            Key::Burst => "4 KiB writes over the rate, with p99 of writes",
        }
    }

    /// The least and the most that is tried.
    pub(super) const fn range(self) -> (f64, f64) {
        match self {
            Key::Dies => (1.0, 64.0),
            Key::Read(_) => (3.0, 500.0),
            Key::BusRate => (100.0, 6_400.0),
            Key::LinkRate => (0.0, 64.0),
            Key::CommandCost => (0.0, 50.0),
            Key::Latency => (0.1, 100.0),
            Key::Program => (50.0, 30_000.0),
            Key::Spare => (0.015, 3.0),
            Key::Superblock => (16.0, 65_536.0),
            Key::Phase => (2.0, 5_000.0),
            Key::Resume => (1.0, 5_000.0),
            Key::ReadsFirst => (1.0, 16.0),
            Key::Burst => (0.0, 256.0),
        }
    }

    /// The values among which one is chosen; nothing of what is continuous.
    pub(super) const fn options(self) -> &'static [f64] {
        match self {
            Key::Dies => &[1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0],
            Key::ReadsFirst => &[1.0, 2.0, 3.0, 4.0],
            Key::Burst => &[0.0, 2.0, 6.0, 16.0],
            _ => &[],
        }
    }

    /// Whether what is measured under that load depends on it.
    pub(super) const fn matters(self, load: Load) -> bool {
        match (self, load) {
            (
                Key::Dies
                | Key::Read(_)
                | Key::BusRate
                | Key::LinkRate
                | Key::CommandCost
                | Key::Latency,
                _,
            ) => true,
            (_, Load::Reads) => false,
            (Key::Program | Key::Spare | Key::Superblock | Key::ReadsFirst | Key::Burst, _) => true,
            (Key::Phase | Key::Resume, Load::Writes) => false,
            (Key::Phase | Key::Resume, Load::Mixed) => true,
        }
    }

    /// The value that a profile has for a drive of that capacity.
    pub(super) fn of(self, profile: &Profile, capacity_bytes: f64) -> f64 {
        let us = |time: Duration| time.as_ps() as f64 / 1e6;
        match self {
            Key::Dies => f64::from(profile.geometry.dies_per_channel),
            Key::Read(page) => us(profile.timing.read[page]),
            Key::BusRate => profile.bus.rate.0 as f64,
            Key::LinkRate => profile.host.link_rate.0 as f64 / 1e9,
            Key::CommandCost => us(profile.host.command_cost),
            Key::Latency => us(profile.controller.latency),
            Key::Program => us(profile.timing.program),
            Key::Spare => {
                let blocks = f64::from(profile.geometry.blocks_per_plane);
                blocks * superblock_bytes(profile) / capacity_bytes - 1.0
            }
            Key::Superblock => superblock_bytes(profile) / MIB,
            Key::Phase => us(profile.commands.suspend_phase),
            Key::Resume => us(profile.commands.resume_time),
            Key::ReadsFirst => f64::from(profile.controller.reads_before_program),
            Key::Burst => match profile.gc.pacing.as_str() {
                "burst" => profile.gc.burst_size.0 as f64 / MIB,
                _ => 0.0,
            },
        }
    }

    /// Sets it. The order of the keys is that in which they are to be set.
    pub(super) fn set(self, profile: &mut Profile, capacity_bytes: f64, value: f64) {
        let us = |value: f64| Duration::from_ns((value * 1e3).round() as u64);
        match self {
            Key::Dies => profile.geometry.dies_per_channel = value as u32,
            Key::Read(page) => profile.timing.read[page] = us(value),
            Key::BusRate => profile.bus.rate = TransferRate(value.round() as u64),
            Key::LinkRate => profile.host.link_rate = DataRate((value * 1e9).round() as u64),
            Key::CommandCost => profile.host.command_cost = us(value),
            Key::Latency => profile.controller.latency = us(value),
            Key::Program => profile.timing.program = us(value),
            Key::Spare => {
                let blocks = (1.0 + value) * capacity_bytes / superblock_bytes(profile);
                profile.geometry.blocks_per_plane = (blocks.round() as u32).max(16);
            }
            Key::Superblock => {
                let row = superblock_bytes(profile) / wordlines(profile);
                let wordlines = (value * MIB / row).round();
                profile.geometry.wordlines_per_block = (wordlines as u32).clamp(2, 1 << 16);
            }
            Key::Phase => profile.commands.suspend_phase = us(value),
            Key::Resume => profile.commands.resume_time = us(value),
            Key::ReadsFirst => profile.controller.reads_before_program = value as u32,
            Key::Burst if value > 0.0 => {
                profile.gc.pacing = PacingPolicy::named("burst");
                profile.gc.burst_size = ByteSize((value * MIB) as u64);
            }
            Key::Burst => profile.gc.pacing = PacingPolicy::named("credit"),
        }
    }
}

pub(super) const MIB: f64 = 1_048_576.0;

fn wordlines(profile: &Profile) -> f64 {
    f64::from(profile.geometry.wordlines_per_block)
}

/// Dies that can be programmed at once.
pub(super) fn planes(profile: &Profile) -> f64 {
    let geometry = &profile.geometry;
    f64::from(geometry.channels * geometry.dies_per_channel * geometry.planes_per_die)
}

/// Bytes of a wordline.
pub(super) fn wordline_bytes(profile: &Profile) -> f64 {
    (profile.timing.read.len() as u64 * profile.geometry.page_size.0) as f64
}

fn superblock_bytes(profile: &Profile) -> f64 {
    planes(profile) * wordline_bytes(profile) * wordlines(profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_there() {
        let mut profile = Profile::builtin("7450-pro").unwrap();
        let capacity = 960e9;
        let keys = [
            (Key::Dies, 8.0),
            (Key::Superblock, 1_000.0),
            (Key::Spare, 0.17),
            (Key::Read(1), 61.5),
            (Key::BusRate, 800.0),
            (Key::LinkRate, 3.2),
            (Key::CommandCost, 1.1),
            (Key::Latency, 4.25),
            (Key::Program, 900.5),
            (Key::Phase, 80.0),
            (Key::Resume, 77.0),
            (Key::ReadsFirst, 3.0),
            (Key::Burst, 6.0),
        ];
        for (key, value) in keys {
            key.set(&mut profile, capacity, value);
        }
        for (key, value) in keys {
            let is = key.of(&profile, capacity);
            assert!((is / value - 1.0).abs() < 0.003, "{key:?}: {is}, {value}");
        }
        profile.validate().unwrap();
    }
}
