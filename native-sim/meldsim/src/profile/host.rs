//! `[host]`: the link to the host, and how the controller takes commands from its queues.

use serde::{Deserialize, Serialize};

use super::units::DataRate;
use super::validate::Checker;
use crate::engine::Time;

/// `[host]`. With all defaults the controller takes every command at once and the link takes no
/// time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// The link's rate in each direction: full duplex, data one after the other. Unit: data rate;
    /// range 0 (not limiting) or 1MB/s to 1000GB/s; default 0B/s \[F\].
    pub link_rate: DataRate,
    /// What a read or a write takes on the link besides its data, in the direction of the data: its
    /// entries and descriptors. Needs a `link_rate`. Unit: time; range 0 to 1ms; default 0ps \[F\].
    pub link_command_time: Time,
    /// What the controller takes to fetch and parse a command, one after the other. Unit: time;
    /// range 0 to 1ms; default 0ps \[F\].
    pub command_cost: Time,
    /// Commands the controller works on at a time; others wait in their queues. Unit: count; range
    /// 0 (no limit) to 65536; default 0 \[F\].
    pub commands_in_flight: u32,
    /// From which queue the next command comes. `round-robin` or `weighted-round-robin`; default
    /// `round-robin`.
    pub arbitration: QueueArbitration,
    /// Commands fetched from a queue before it is another's turn. Unit: count; a power of two from 1
    /// to 64, or 0 for no limit; default 1 \[A\].
    pub arbitration_burst: u32,
    /// Commands a round fetches from high priority queues. Unit: count; range 1 to 256; default 4 \[A\].
    pub high_weight: u32,
    /// The same for medium priority. Unit: count; range 1 to 256; default 2 \[A\].
    pub medium_weight: u32,
    /// The same for low priority. Unit: count; range 1 to 256; default 1 \[A\].
    pub low_weight: u32,
}

/// From which queue the next command comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueArbitration {
    /// Every queue in turn.
    #[default]
    RoundRobin,
    /// Urgent queues first, then high, medium and low priority by their weights.
    WeightedRoundRobin,
}

impl Default for Host {
    fn default() -> Host {
        Host {
            link_rate: DataRate(0),
            link_command_time: Time::ZERO,
            command_cost: Time::ZERO,
            commands_in_flight: 0,
            arbitration: QueueArbitration::default(),
            arbitration_burst: 1,
            high_weight: 4,
            medium_weight: 2,
            low_weight: 1,
        }
    }
}

impl Host {
    pub(super) fn check(&self, checker: &mut Checker) {
        if self.link_rate != DataRate(0) {
            let range = DataRate(1_000_000)..=DataRate(1_000_000_000_000);
            checker.range("host.link_rate", &self.link_rate, range);
        }
        let time = &self.link_command_time;
        checker.range(
            "host.link_command_time",
            time,
            Time::ZERO..=Time::from_ms(1),
        );
        if self.link_rate == DataRate(0) && self.link_command_time > Time::ZERO {
            let message = format!("is {time}, and the link takes no time");
            checker.refuse("host.link_command_time", message, "give host.link_rate");
        }
        let cost = &self.command_cost;
        checker.range("host.command_cost", cost, Time::ZERO..=Time::from_ms(1));
        let in_flight = &self.commands_in_flight;
        checker.range("host.commands_in_flight", in_flight, 0..=1 << 16);
        let burst = self.arbitration_burst;
        if burst != 0 && !(burst.is_power_of_two() && burst <= 64) {
            let message = format!("is {burst}");
            let remedy = "must be a power of two up to 64, or 0 for no limit";
            checker.refuse("host.arbitration_burst", message, remedy);
        }
        checker.range("host.high_weight", &self.high_weight, 1..=256);
        checker.range("host.medium_weight", &self.medium_weight, 1..=256);
        checker.range("host.low_weight", &self.low_weight, 1..=256);
    }
}
